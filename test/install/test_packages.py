#!/usr/bin/python3
"""test_packages.py BUILD SOURCE CPACK CC - the Debian packages, unpacked into an empty root, and used there.

Exit code  0: they work; 1: no, with the command that failed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

build, source, cpack, cc = sys.argv[1:]
folder = tempfile.TemporaryDirectory(prefix="pto-packages-")
work = pathlib.Path(folder.name)
root = work / "root"
NEEDS = {"libpto1": ["libc6"], "libpto-dev": ["libpto1 (= "], "ptoc": ["libpto-dev (= ", "gcc"], "python3-ptoc": ["ptoc (>= ", "python3"],
         "ptoc-doc": []}


def run(*command, said=False, **more):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PTO", "PYTHON"))}
    environment.update(PATH=f"{root}/usr/bin:{os.environ['PATH']}", CC=cc, XDG_CACHE_HOME=str(work / "cache"))
    environment.update(more)
    done = subprocess.run([str(word) for word in command], cwd=work, env=environment, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} gave {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + (done.stderr if said else "")


run(cpack, "--config", f"{build}/CPackConfig.cmake", "-G", "DEB", "-B", work / "made")
packages = {run("dpkg-deb", "-f", path, "Package").strip(): path for path in (work / "made").glob("*.deb")}
if sorted(packages) != sorted(NEEDS):
    sys.exit(f"packages: {sorted(packages)}")
files = {}
for name, path in packages.items():
    depends = run("dpkg-deb", "-f", path, "Depends")
    for need in NEEDS[name]:
        if need not in depends:
            sys.exit(f"{name} does not depend on {need}: {depends}")
    for line in run("dpkg-deb", "-c", path).splitlines():
        if not line.startswith("d"):
            file = line.split(None, 5)[5].split(" -> ")[0]
            if files.setdefault(file, name) != name:
                sys.exit(f"{file} is in {name} and in {files[file]}")
    run("dpkg-deb", "-x", path, root)
run("ptoc", "run", f"{source}/examples/vadd.pto", "--input", "x=iota", "--input", "y=iota", "--set", "n=8", "--check")
pathlib.Path(work / "silu.pto").write_text('import "std/nn.pto" as nn;\nexport orch main(in x: f32[8, 8], out y: f32[8, 8]) { nn.silu(x, out y); }\n')
if any("/lib/pto/kernels/" in file for file in files):
    said = run("ptoc", "run", "-v", work / "silu.pto", "--input", "x=iota", CC="cc", said=True)
    if "-DPTO_ONLY_LEVEL=BASE" not in said and f"{root}/usr/lib/pto/kernels/" not in said:
        sys.exit(f"a kernel of std/ is compiled:\n{said}")
try:
    import numpy  # noqa: F401
    python = f"import ptoc; print(ptoc.compile({source + '/examples/vadd.pto'!r}))"
    run(sys.executable, "-B", "-c", python, PYTHONPATH=f"{root}/usr/lib/python3/dist-packages")
except ImportError:
    pass
print(f"{len(files)} files in {len(packages)} packages")
