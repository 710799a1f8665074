#!/usr/bin/python3
"""test_install.py BUILD SOURCE CMAKE CC CXX - what is installed, used outside of the source tree.

Idea       `cmake --install` into a new folder, which is then the only one that anything finds: a project of CMake, pkg-config with C and
           with every standard of C++, Python.
Exit code  0: all of it works; 1: no, with the command that failed.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

build, source, cmake, cc, cxx = sys.argv[1:]
folder = tempfile.TemporaryDirectory(prefix="pto-install-")
work = pathlib.Path(folder.name)
prefix = work / "prefix"
environment = {key: value for key, value in os.environ.items() if not key.startswith(("PTO", "PYTHON"))}
environment.update(PATH=f"{prefix}/bin:{environment['PATH']}", PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig", CC=cc, CXX=cxx,
                   XDG_CACHE_HOME=str(work / "cache"))


def run(*command, cwd=work, good=True, **more):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env={**environment, **more}, text=True, capture_output=True)
    if (done.returncode == 0) != good:
        sys.exit(f"{' '.join(map(str, command))} gave {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, not {wanted!r}")


run(cmake, "--install", build, "--prefix", prefix)
for path in ["bin/ptoc", "lib/libpto.so.1", "lib/libpto.a", "include/pto/pto.hpp", "lib/pkgconfig/pto.pc", "share/pto/std/sparse.pto",
             "share/bash-completion/completions/ptoc", "share/zsh/vendor-completions/_ptoc", "share/fish/vendor_completions.d/ptoc.fish", "share/vim/vimfiles/syntax/pto.vim",
             "share/doc/ptoc/c-api.md", "share/man/man1/ptoc-run.1", "share/doc/ptoc/embedding.md", "share/doc/ptoc/examples/bgemm.pto"]:
    if not (prefix / path).exists():
        sys.exit(f"{path} is not installed")
text = [path for path in prefix.rglob("*") if path.suffix in (".cmake", ".pc", ".py") and build in path.read_text()]
expect("files that name the build folder", text, [])

# Objects of kernels of std/: the build has them where `cc` is a compiler and no sanitizer is in, and what was installed elsewhere finds them.
ahead = pathlib.Path(build) / "lib/pto/kernels"
if ahead.exists() and any(ahead.iterdir()):
    (work / "silu.pto").write_text('import "std/nn.pto" as nn;\nexport orch main(in x: f32[8, 8], out y: f32[8, 8]) { nn.silu(x, out y); }\n')
    said = run("ptoc", "run", "-v", work / "silu.pto", "--input", "x=iota", CC="cc")
    if "-DPTO_ONLY_LEVEL=BASE" not in said and f"{prefix}/lib/pto/kernels/" not in said:
        sys.exit(f"a kernel of std/ is compiled:\n{said}")

# A project of CMake.
shutil.copytree(pathlib.Path(source) / "consumer", work / "consumer")
generator = ["-G", "Ninja"] if shutil.which("ninja") else []
run(cmake, "-S", work / "consumer", "-B", work / "made", *generator, f"-DCMAKE_PREFIX_PATH={prefix}")
run(cmake, "--build", work / "made")
expect("linked", run(work / "made/linked"), "11 22 33 44\n")
expect("whole", run(work / "made/whole"), "1 1\n")
expect("host", run(work / "made/host", work / "made/loaded.so", work / "made/sparse.so"), "ok\n")
program = ["--input", "x=iota", "--dim", "M=1", "--dim", "N=3"]
before = run(work / "made/program", *program)
(work / "consumer/factor.pto").write_text("const FACTOR = 3.0;\n")
run(cmake, "--build", work / "made")
expect("linked, when a module has changed", run(work / "made/linked"), "16 32 48 64\n")
if run(work / "made/program", *program) == before:
    sys.exit("the program was not made again when a module had changed")
(work / "consumer/CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(x C)\nfind_package(pto 2.0 REQUIRED)\n")
if "version" not in run(cmake, "-S", work / "consumer", "-B", work / "newest", *generator, f"-DCMAKE_PREFIX_PATH={prefix}", good=False):
    sys.exit("find_package(pto 2.0) is not refused for its version")

# A compiler of two words, as `ccache gcc` is one.
two = work / "two"
two.mkdir()
(two / "one.pto").write_text("export orch half(x: f64) -> f64 { return x / 2.0; }\n")
(two / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(x C)\nfind_package(pto 1.0 REQUIRED)\npto_add_object(one one.pto)\n")
run(cmake, "-S", two, "-B", two / "made", *generator, f"-DCMAKE_PREFIX_PATH={prefix}", CC=f"/usr/bin/env {cc}")
run(cmake, "--build", two / "made", CC=f"/usr/bin/env {cc}")

# pkg-config.
flags = run("pkg-config", "--cflags", "--libs", "pto").split() + [f"-Wl,-rpath,{prefix}/lib"]
expect("the version of pkg-config", run("pkg-config", "--modversion", "pto").strip().split(".")[0], "1")
run(cc, work / "consumer/whole.c", "-o", work / "whole", *flags)
expect("whole by pkg-config", run(work / "whole"), "1 1\n")
(work / "consumer/factor.pto").write_text("const FACTOR = 2.0;\n")
for name in ("scale", "sparse"):
    run("ptoc", "build", "--emit=so", "--no-cache", work / f"consumer/{name}.pto", "-o", work / f"{name}.so")
(work / "empty.cpp").write_text("")
for standard in ("11", "14", "17", "20", "23"):
    if subprocess.run([cxx, f"-std=c++{standard}", "-fsyntax-only", work / "empty.cpp"], capture_output=True).returncode == 0:
        run(cxx, f"-std=c++{standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", work / "consumer/host.cpp", "-o", work / "host", *flags)
        expect(f"host, C++{standard}", run(work / "host", work / "scale.so", work / "sparse.so"), "ok\n")

# Generated code refuses a library of another major version when it starts.
shutil.copytree(prefix / "include", work / "newer", symlinks=False)
header = work / "newer/pto/pto_version.h"
header.write_text(header.read_text().replace("PTO_VERSION_MAJOR 1", "PTO_VERSION_MAJOR 2"))
run("ptoc", "build", "--emit=c", work / "consumer/scale.pto", "-o", work / "scale.c")
for include, good in (("prefix/include", True), ("newer", False)):
    run(cc, "-I", work / include, work / "scale.c", "-o", work / "scale", f"-L{prefix}/lib", "-lpto", "-lm", f"-Wl,-rpath,{prefix}/lib")
    if ("was compiled for another version of libpto" in run(work / "scale", *program, good=good)) == good:
        sys.exit("the major version is not looked at when a program starts")

# Python.
python = """import ptoc, numpy as np
x = np.arange(4, dtype="f4").reshape(2, 2)
print(np.asarray(ptoc.compile("consumer/scale.pto").main(x)).tolist(), ptoc.__file__)
ptr, idx, val = np.array([0, 1, 2]), np.array([2, 0]), np.array([5, 6], "f4")
a = ptoc.sparse_of("csr", (2, 3), [ptr, idx, val])
made = ptoc.load("sparse.so").product(a, a.T.convert("csr"))
print(made.format, made.nnz, [np.asarray(x).tolist() for x in made])"""
try:
    import numpy  # noqa: F401
    found = run(sys.executable, "-B", "-c", python, PYTHONPATH=f"{prefix}/lib/python3/dist-packages")
    expect("Python", found, f"[[0.0, 2.0], [4.0, 6.0]] {prefix}/lib/python3/dist-packages/ptoc/__init__.py\n"
           "csr 2 [[0, 1, 2], [0, 1], [25.0, 36.0]]\n")
except ImportError:
    pass
print("ok")
