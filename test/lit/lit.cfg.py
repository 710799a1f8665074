# lit.cfg.py - how the tests of this folder are run.
# A test is one file for one idea; its RUN lines may use
#   %ptoc      the compiler of this build            %pto-cc    C compiler with warnings as errors, links the runtime
#   %cxx-check, %cxx-object, %cxx-module   C++, warnings as errors: compile only, or an object, or a shared one
#   %cxx-library              the library that objects of C++ need
#   %gcc-check, %clang-check   compile only, warnings as errors, by name of the compiler (feature: clang)
#   %calls     for CC: a submit is a call, which takes the C compiler half the time of inlining it; for optimized programs of many submits
#              that are about something else
#   %shared-cc for CC: where shared objects are built or loaded
#   %python    Debian's Python, with numpy           %examples  the examples folder     %inputs  test/lit/Inputs
#   %scripts   the scripts folder                    %source    the top folder
#   %stub, %stub-old   the folders with the stub of CANN's library, for LD_LIBRARY_PATH (test/ascend)
#   %prefix    the build folder laid out like an installation   %sanitize  asan, tsan or nothing
#   %million   a count of iterations: 1000000, or 50000 where a sanitizer makes each slow; %twenty of programs: 10 there; %step: of
#              the programs of the tests every so-manieth: 3, that of PTO_CORPUS_EVERY, or 20 there
#   %once      an option of check_rejects.py: a sanitizer sees each wrong program once
#   %mutants   a count of mutants: 300, or 60 where a sanitizer makes each slow
#   %levels    an option of `ptoc build`: kernels have every level, or that of this machine alone where a sanitizer makes each long to compile
#   FileCheck, not, split-file                       %s %S %t %T as in LLVM
# A test that only looks at what a program does builds it with `%ptoc build -O0`, which takes the C compiler an eighth of the time.  What
# optimized code does is seen by the suites examples, oracle and results, and by the tests of kernels in index notation.
# Features to REQUIRE: clang, gdb, dot, vim, asan, tsan, tiny, plain (no sanitizer and not tiny), debug-information (of our libraries),
# small-disk (a test may mount one), objects-ahead (kernels of std/ are compiled, not in the tests of mutants).
import os
import shutil
import subprocess

import lit.formats
import lit.util

config.name = "ptoc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".pto", ".test", ".c"]
config.excludes = ["Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.pto_source, "test", "lit")
config.test_exec_root = config.pto_exec_root

prefix = config.pto_prefix
ptoc = os.path.join(prefix, "bin", "ptoc")
strict = "-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I%s" % os.path.join(prefix, "include")
clang = shutil.which("clang-14") or shutil.which("clang")

# Longer names first: lit replaces in order.
config.substitutions += [
    ("%pto-cc", os.path.join(config.pto_exec_root, "pto-cc")),
    ("%ptoc", ptoc),
    ("%gcc-check", "gcc " + strict),
    ("%clang-check", "%s %s" % (clang or "clang", strict)),
    ("%cxx-check", config.pto_cxx + " -std=c++17 -Wall -Wextra -Werror -fsyntax-only"),
    ("%cxx-object", config.pto_cxx + " -std=c++17 -Wall -Wextra -Werror -fPIC -c"),
    ("%cxx-library", subprocess.run(config.pto_cxx.split() + ["-print-file-name=libstdc++.so"], capture_output=True, text=True, check=True).stdout.strip()),
    ("%cxx-module", config.pto_cxx + " -std=c++17 -Wall -Wextra -Werror -ffp-contract=off -g -fPIC -shared " + config.pto_sanitize_flags),
    ("%shared-cc", config.pto_shared_cc),
    ("%calls", config.pto_cc + " -DPTO_CALL_SUBMITS=1"),
    ("%python", config.pto_python),
    ("%examples", os.path.join(config.pto_source, "examples")),
    ("%inputs", os.path.join(config.test_source_root, "Inputs")),
    ("%scripts", os.path.join(config.pto_source, "scripts")),
    ("%source", config.pto_source),
    ("%seeds", os.path.join(config.pto_exec_root, "..", "fuzz", "seeds")),
    ("%stub-old", os.path.join(prefix, "test", "ascend", "old")),
    ("%stub", os.path.join(prefix, "test", "ascend", "new")),
    ("%prefix", prefix),
    ("%million", "50000" if config.pto_sanitize else "1000000"),
    ("%twenty", "10" if config.pto_sanitize else "20"),
    ("%once", "--once" if config.pto_sanitize else ""),
    ("%mutants", "60" if config.pto_sanitize else "300"),
    ("%levels", "--cpu=native" if config.pto_sanitize else ""),
    ("%step", "20" if config.pto_sanitize else os.environ.get("PTO_CORPUS_EVERY", "3")),
    ("%sanitize", "asan" if "address" in config.pto_sanitize else "tsan" if "thread" in config.pto_sanitize else ""),
]

environment = config.environment
environment["PATH"] = os.pathsep.join([config.pto_llvm_tools, environment["PATH"]])
environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"
environment["CC"] = config.pto_cc       # a sanitized library links only with the compiler that made it
if config.pto_linker:
    environment["COMPILER_PATH"] = config.pto_linker  # test/CMakeLists.txt; a test of what the linker does says COMPILER_PATH=/usr/bin
environment["NO_COLOR"] = "1"
environment["XDG_CACHE_HOME"] = os.path.join(config.pto_exec_root, "cache")  # kernels of std/ are compiled once for all tests
environment.update({name: os.environ[name] for name in ("PTO_CORPUS_EVERY", "PTO_RANDOM", "PTO_SEED") if name in os.environ})  # larger runs
environment["OPENBLAS_NUM_THREADS"] = "1"  # as in ./dev test
environment["LC_ALL"] = "C.UTF-8"
environment["PYTHONDONTWRITEBYTECODE"] = "1"
environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
environment["TSAN_OPTIONS"] = "halt_on_error=1"

features = config.available_features
for feature, program in (("clang", clang), ("gdb", "gdb"), ("dot", "dot")):
    if program and shutil.which(program):
        features.add(feature)
if shutil.which("vim") and "+syntax" in os.popen("vim --version </dev/null").read():
    features.add("vim")
if shutil.which("unshare") and os.system("unshare -rm mount -t tmpfs tmpfs /mnt 2>/dev/null") == 0:
    features.add("small-disk")
if config.pto_linker:
    features.add("gold")
with open(os.path.join(prefix, "share", "pto", "kernel-libs")) as libraries:
    if "blas" in libraries.read():
        features.add("blas")
if "address" in config.pto_sanitize:
    features.add("asan")
if "thread" in config.pto_sanitize:
    features.add("tsan")
if config.pto_tiny:
    features.add("tiny")
if not config.pto_sanitize and not config.pto_tiny:
    features.add("plain")
if "PTO_MUTANTS" not in os.environ:
    features.add("objects-ahead")
if config.pto_debug_information:
    features.add("debug-information")

# A hang is a failure.  lit needs psutil to kill what a test started, and psutil needs /proc.
try:
    if lit.util.killProcessAndChildrenIsSupported()[0]:
        lit_config.maxIndividualTestTime = int(os.environ.get("PTO_LIT_SECONDS", 300))
except OSError:
    lit_config.warning("no /proc: a test that hangs is stopped only by ctest")
