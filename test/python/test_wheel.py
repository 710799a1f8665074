#!/usr/bin/python3
"""test_wheel.py PREFIX SOURCE - `python -m build` makes a wheel, which calls a program that is built already where there is no compiler.

Exit code  0: it does; 1: no, with the command that failed.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

prefix, source = sys.argv[1], pathlib.Path(sys.argv[2])
folder = tempfile.TemporaryDirectory(prefix="pto-wheel-")
work = pathlib.Path(folder.name)


def run(*command, **more):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PTO", "PYTHON"))}
    done = subprocess.run([str(word) for word in command], cwd=work, env={**environment, **more}, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} gave {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


shutil.copytree(source / "python", work / "source/python", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
shutil.copytree(source / "runtime/include", work / "source/runtime/include")
run(sys.executable, "-m", "build", "--no-isolation", "--outdir", work / "made", work / "source/python")
version = run(f"{prefix}/bin/ptoc", "--version").split()[1]
wheel, = (work / "made").glob("*.whl")
archive, = (work / "made").glob("*.tar.gz")
if f"-{version}-py3" not in wheel.name or f"-{version}.tar" not in archive.name:
    sys.exit(f"{wheel.name}, {archive.name}: not version {version}")
shutil.unpack_archive(wheel, work / "site", "zip")
run(f"{prefix}/bin/ptoc", "build", "--emit=so", "--no-cache", source / "examples/vadd.pto", "-o", work / "vadd.so")
(work / "empty").mkdir()
text = "import numpy, ptoc; x = numpy.ones(4, 'f4'); print(numpy.asarray(ptoc.load('./vadd.so').vadd(x, x, n=4)).tolist())"
try:
    import numpy  # noqa: F401
    said = run(sys.executable, "-B", "-c", text, PATH=str(work / "empty"), PTO_PREFIX=prefix, PYTHONPATH=str(work / "site"))
    if said != "[2.0, 2.0, 2.0, 2.0]\n":
        sys.exit(said)
except ImportError:
    pass
print(wheel.name)
