"""Compiles every public header alone, the macros that make parameters, and the runtime's core, with each compiler that is installed and
for each standard of C and C++ that it knows; and runs what the macros make, in C and in C++."""
import glob, os, re, shutil, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))
import clang_once

root, prefix, can_link = sys.argv[1], sys.argv[2], sys.argv[3] == ""
include = os.path.join(root, "runtime", "include")
uses = os.path.join(root, "test", "lit", "headers", "Inputs", "uses.c")
warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
check = ["-fsyntax-only"]
use = """#include <pto/{0}>
int use(void *a); int use(void *a) {{ return a != 0; }}
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
# The extents of a PTOParam would be gone: no PTOTaskParam is made of one.
wrong = """#include <pto/pto_runtime.h>
int64_t use(PTORuntime *rt, const PTOKernel *k, void *A);
int64_t use(PTORuntime *rt, const PTOKernel *k, void *A)
{
    const PTOTaskParam p[] = {PTO_INPUT(A, 0, PTO_ARRAY(PTO_F32, 64, 64))};
    return pto_submit_task(rt, k, p, 1);
}
"""

# As many strides as extents, or none of it compiles.
lists = """#include <pto/pto_runtime.h>
int64_t use(PTORuntime *rt, const PTOKernel *k, void *A, int64_t n);
int64_t use(PTORuntime *rt, const PTOKernel *k, void *A, int64_t n)
{{
    const PTOParam p[] = {{PTO_INOUT_PART(A, 0, PTO_STRIDED(PTO_F32, (n, 2), ({0})), PTO_PART(0, (n, 2), ({1})))}};
    return pto_submit_task(rt, k, p, 1);
}}
"""

def refuse_lists(command):
    compile(command, lists.format("2, 1", "2, 1"), "as many strides as extents")
    for strides in (("2", "2, 1"), ("2, 1, 1", "2, 1"), ("2, 1", "2"), ("2, 1", "2, 1, 1")):
        result = subprocess.run([*command, *warnings, *check, "-I", include, "-"], input=lists.format(*strides), text=True,
                                capture_output=True)
        if result.returncode == 0 or not re.search("as many strides as extents|array size is negative", result.stderr):
            sys.exit(f"{' '.join(command)} took the strides {strides}\n{result.stderr}")

def run(command, text, what):
    result = subprocess.run(command, input=text, text=True, capture_output=True)
    if result.returncode:
        sys.exit(f"{what}: {' '.join(command)} gave {result.returncode}\n{result.stderr}")
    return result.stdout

def compile(command, text, what):
    run(command + warnings + check + ["-I", include, "-"], text, what)

def compile_each(command, texts):
    """texts: (text, what it is)."""
    if not command[0].startswith("clang"):
        for text, what in texts:
            compile(command, text, what)
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, what.replace("/", "_") + ".h") for _, what in texts]
        for file, (text, _) in zip(files, texts):
            with open(file, "w") as f:
                f.write(text)
        run(clang_once.command([*command, *warnings, *check, "-I", include], files), "", "headers")

def standards(compiler, language, names):
    known = [s for s in names if subprocess.run([compiler, f"-std={s}", f"-x{language}", *check, "-"], input="int x;", text=True,
                                               capture_output=True).returncode == 0]
    return known or sys.exit(f"{compiler} knows no standard of {language}")

def link_and_run(compiler, standard, language):
    program = os.path.join(os.getcwd(), f"uses.{os.getpid()}")
    with open(os.path.join(prefix, "share", "pto", "ldflags")) as f:
        flags = f.read().split()
    for option in ("-O0", "-O2", "-O2 -DPTO_CALL_SUBMITS"):
        run([compiler, f"-std={standard}", *option.split(), *warnings, "-I", include, f"-x{language}", uses, "-xnone", "-o", program,
             "-L", os.path.join(prefix, "lib"), "-lpto_runtime", *flags], "", "the macros, linked")
        printed = run([program], "", f"the macros in {compiler} -std={standard} {option}")
        if printed != "0.5\n0.25\n":
            sys.exit(f"{compiler} -std={standard}: {printed}")
    os.remove(program)

def throw_and_run(compiler):
    program = os.path.join(os.getcwd(), f"throws.{os.getpid()}")
    with open(os.path.join(prefix, "share", "pto", "ldflags")) as f:
        flags = f.read().split()
    source = os.path.join(os.path.dirname(uses), "throws.cc")
    for option in ("-O0", "-O2", "-O2 -DPTO_CALL_SUBMITS"):
        run([compiler, "-std=c++11", *option.split(), *warnings, "-I", include, source, "-o", program, "-L", os.path.join(prefix, "lib"),
             "-lpto_runtime", *flags], "", "kernels that throw, linked")
        if run([program], "", f"kernels that throw, {compiler} {option}") != "ok\n":
            sys.exit(f"{compiler} {option}: kernels that throw")
    os.remove(program)

count = 0
headers = sorted(os.path.relpath(h, os.path.join(include, "pto")) for h in glob.glob(os.path.join(include, "pto", "**", "*.h"), recursive=True))
def installed(*names):
    """Each compiler once, by the first of its names."""
    found = {os.path.realpath(shutil.which(name)): name for name in reversed(names) if shutil.which(name)}
    return [name for name in names if name in found.values()]

c = installed("gcc", "clang", "clang-14", "aarch64-linux-gnu-gcc")
plus_plus = installed("g++", "clang++")
if not c or not plus_plus:
    sys.exit("no compiler for C or C++")
with open(uses) as f:
    macros = f.read()
every = "".join(f"#include <pto/{header}>\n" for header in headers)
for compiler in c:
    compile_each([compiler, "-std=c11", "-xc"], [(use.format(header), header) for header in headers])
    count += len(headers)
    known = standards(compiler, "c", ("c11", "c17", "c23", "c2x"))
    for standard in known:
        compile([compiler, f"-std={standard}", "-xc"], macros, "the parameter macros")
        count += 1
    refuse_lists([compiler, f"-std={known[0]}", "-xc"])
    if can_link and compiler in ("gcc", "clang"): link_and_run(compiler, known[0], "c")
for compiler in plus_plus:
    known = standards(compiler, "c++", ("c++11", "c++14", "c++17", "c++20", "c++23", "c++2b"))
    for standard in known: # what a header lacks alone does not depend on the standard
        texts = [(use.format(header), header) for header in headers] if standard == known[0] else [(every, "all headers")]
        compile_each([compiler, f"-std={standard}", "-xc++"], texts)
        compile([compiler, f"-std={standard}", "-xc++"], macros, "the parameter macros in C++")
        compile([compiler, f"-std={standard}", "-xc++", "-O2"], plus, "a submit in C++")
        count += len(texts) + 2
    refuse_lists([compiler, f"-std={known[0]}", "-xc++"])
    refused = subprocess.run([compiler, "-std=c++17", "-xc++", *check, "-I", include, "-"], input=wrong, text=True, capture_output=True)
    if refused.returncode == 0 or "operator PTOTaskParam" not in refused.stderr:
        sys.exit(f"{compiler} made a PTOTaskParam of a PTOParam\n{refused.stderr}")
    if can_link:
        link_and_run(compiler, known[0], "c++")
        link_and_run(compiler, known[-1], "c++")
        throw_and_run(compiler)
if shutil.which("aarch64-linux-gnu-gcc"):
    runtime = os.path.join(root, "runtime")
    sources = [s for s in glob.glob(os.path.join(runtime, "**", "*.c"), recursive=True) if "/wire/mpi" not in s]  # needs MPI of that machine
    if len(sources) < 50:
        sys.exit(f"only {len(sources)} files of the runtime were found")
    options = ["-std=c11", "-D_GNU_SOURCE", "-I", runtime, "-I", os.path.join(prefix, "runtime", "generated"), "-Wall", "-Wextra", "-Werror", *check, "-I", include]
    clang = [name for name in c if name.startswith("clang")][:1]  # all files in one process; the headers of the C library are the cross compiler's
    if clang:
        run(clang_once.command([*clang, "--target=aarch64-linux-gnu", *options], sources), "", "the runtime for ARM")
    else:
        run(["aarch64-linux-gnu-gcc", *options, *sources], "", "the runtime for ARM")
print(count, "compilations of headers")
