"""Makes what the stub of test/ascend needs to run a program: its kernels as an object, and the map that names them.

usage: ascend_kernels.py PTOC PROGRAM.pto FOLDER [--status]

FOLDER/kernels.so has one function of the argument block for each kernel of the program (`ptoc build --emit=kernels`), FOLDER/map.ini the map
for --kernels.  --status: kernels say in the last word of their arguments whether they failed.
"""
import os
import re
import shlex
import subprocess
import sys


def words(path):
    with open(path, encoding="utf-8") as f:
        return f.read().split()


def main():
    args = [a for a in sys.argv[1:] if a != "--status"]
    ptoc, program, folder = args
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(ptoc)))
    os.makedirs(folder, exist_ok=True)
    source, target = os.path.join(folder, "kernels.c"), os.path.join(folder, "kernels.so")
    text = subprocess.run([ptoc, "build", "--emit=kernels", program], check=True, capture_output=True, text=True).stdout
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    subprocess.run(shlex.split(os.environ.get("CC", "cc")) + ["-std=c11", "-O0", "-g", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared",
                   "-I" + os.path.join(prefix, "include")] + words(os.path.join(prefix, "share/pto/cflags")) + [source, "-o", target,
                   os.path.join(prefix, "lib/libpto_kernels.a"), "-Wl,--as-needed,-rpath," + os.path.join(prefix, "lib"),
                   os.path.join(prefix, "lib/libpto.so")] + words(os.path.join(prefix, "share/pto/kernel-libs")) + words(os.path.join(prefix, "share/pto/ldflags")), check=True)
    names = re.findall(r"^int device_(\w+)\(.*\)$", text, re.M)
    with open(os.path.join(folder, "map.ini"), "w", encoding="utf-8") as f:
        for name in names:
            f.write("[%s]\nobject = kernels.so\nfunction = device_%s\n%s\n" % (name, name, "status = yes\n" if "--status" in sys.argv else ""))


main()
