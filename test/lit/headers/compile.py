"""Compiles every public header alone, and the runtime's core, with each compiler that is installed."""
import glob, os, shutil, subprocess, sys

root = sys.argv[1]
include = os.path.join(root, "runtime", "include")
warnings = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
use = """#include <pto/{0}>
int use(void *a); int use(void *a) {{ return a != 0; }}
"""
macros = """#include <pto/pto_program.h>
int64_t use(PTORuntime *rt, const PTOKernel *k, float *A);
int64_t use(PTORuntime *rt, const PTOKernel *k, float *A)
{
    void *P = 0;
    const PTOTaskParam p[] = {PTO_INPUT(A, 3, PTO_STRIDED(PTO_F32, (64, 64), (512, 1))), PTO_OUTPUT(&P, 0, PTO_ARRAY(PTO_F32, 64, 64)),
                              PTO_INOUT(A, 1, 65536), PTO_SCALAR(1.0f), PTO_SCALAR(true), PTO_PRIORITY(3), PTO_NAME("x")};
    return pto_submit_task(rt, k, p, 7);
}
"""
# What C++ can say of a submit; a call that is inlined, and one that is not.
plus = """#include <pto/pto_program.h>
int64_t use(PTORuntime *rt, const PTOKernel *k, void *A, int32_t n);
int64_t use(PTORuntime *rt, const PTOKernel *k, void *A, int32_t n)
{
    PTOTaskParam p[2] = {};
    p[0].kind = PTO_PARAM_INOUT;
    p[0].buffer = A;
    p[0].bytes = 64;
    p[1].kind = PTO_PARAM_SCALAR;
    int64_t (*call)(PTORuntime *, const PTOKernel *, const PTOTaskParam *, int32_t) = &pto_submit_task;
    return pto_submit_task(rt, k, p, 2) + pto_submit_task(rt, k, p, n) + call(rt, k, p, 1);
}
"""

def compile(command, text, what):
    result = subprocess.run(command + ["-I", include, "-"], input=text, text=True, capture_output=True)
    if result.returncode:
        sys.exit(f"{what}: {' '.join(command)}\n{result.stderr}")

count = 0
headers = sorted(os.path.basename(h) for h in glob.glob(os.path.join(include, "pto", "*.h")))
c = [x for x in ("gcc", "clang", "clang-14", "aarch64-linux-gnu-gcc") if shutil.which(x)]
if not c:
    sys.exit("no C compiler")
for compiler in c:
    for header in headers:
        compile([compiler, "-std=c11", "-xc", "-pedantic", *warnings], use.format(header), header)
        count += 1
    compile([compiler, "-std=c11", "-xc", *warnings], macros, "the parameter macros")
for compiler in [x for x in ("g++", "clang++") if shutil.which(x)]:
    for header in headers:
        compile([compiler, "-std=c++17", "-xc++", *warnings], use.format(header), header)
        count += 1
    compile([compiler, "-std=c++17", "-xc++", "-O2", *warnings], plus, "a submit in C++")
if shutil.which("aarch64-linux-gnu-gcc"):
    for source in glob.glob(os.path.join(root, "runtime", "core", "*.c")):
        with open(source) as f:
            compile(["aarch64-linux-gnu-gcc", "-std=c11", "-D_GNU_SOURCE", "-xc", "-I", os.path.dirname(source), *warnings], f.read(), source)
print(count, "compilations of headers")
