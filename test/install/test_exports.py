#!/usr/bin/python3
"""test_exports.py BUILD SOURCE CC [--renew] - what a program that was built before depends on: the names that libpto.so exports, and the
sizes of the structs that programs share with it.

Idea       exports.txt has both; a name that goes, or a size that changes, breaks programs of this major version, a new name does not.
           --renew writes it.  All names begin with pto_, and a process that opens the library late needs no room in its static block of
           thread-local variables, which may be full.
Exit code  0: all of exports.txt is there; 1: no, with what is not.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

build, source, cc = sys.argv[1:4]
STRUCTS = ["PTOConfig", "PTOTaskParam", "PTOArg", "PTOKernel", "PTOView", "PTOPlace", "PTOResult", "PTOScalar", "PTOForeign", "PTODetached",
           "PTODescription", "PTOSparseDescription", "PTOArgument", "PTOFormal", "PTOProgramParam", "PTOSignature", "PTOProgram", "PTOEntry",
           "PTOCall", "PTOGivenView", "PTOSite", "PTOFastPath"]

symbols = subprocess.run(["nm", "-D", "--defined-only", f"{build}/lib/libpto.so"], check=True, text=True, capture_output=True).stdout
names = sorted(line.split()[-1] for line in symbols.splitlines() if line.split()[-2] != "A")
strange = [name for name in names if not name.startswith("pto_") or not name.endswith("@@PTO_1")]
if strange:
    sys.exit(f"libpto.so exports {strange}")
if "STATIC_TLS" in subprocess.run(["readelf", "-d", f"{build}/lib/libpto.so"], check=True, text=True, capture_output=True).stdout:
    sys.exit("libpto.so has thread-local variables of the model initial-exec, which a late dlopen may refuse")
with tempfile.TemporaryDirectory() as folder:
    text = "#include <pto/pto_call.h>\n#include <pto/pto_program.h>\n#include <pto/pto_sparse.h>\n#include <stdio.h>\nint main(void)\n{\n"
    text += "".join(f'    printf("sizeof {struct} %zu\\n", sizeof({struct}));\n' for struct in STRUCTS)
    pathlib.Path(folder, "sizes.c").write_text(text + "    return 0;\n}\n")
    subprocess.run([cc, "-I", f"{build}/include", "sizes.c", "-o", "sizes"], check=True, cwd=folder)
    sizes = subprocess.run(["./sizes"], check=True, cwd=folder, text=True, capture_output=True).stdout.splitlines()
# Kernels of std/, whose names end in a type, are called by the programs of the same ptoc only.
found = [name.split("@")[0] for name in names if not re.search(r"_[fiu](16|32|64)@", name)] + sizes
recorded = pathlib.Path(source, "exports.txt")
if "--renew" in sys.argv:
    recorded.write_text("\n".join(found) + "\n")
gone = [line for line in recorded.read_text().splitlines() if line not in found]
if gone:
    changed = [line for line in found if line.startswith("sizeof")]
    sys.exit("\n".join(["not any more:", *gone, "now:", *changed, f"{__file__} BUILD SOURCE CC --renew records it, for another major version"]))
print(f"{len(found)} lines, {len(set(found) - set(recorded.read_text().splitlines()))} of them new")
