"""compile_all.py PTOC INCLUDE FOLDER PATHS... - what ptoc accepts gives C that gcc and clang compile without a word.

PATHS are .pto files, or folders of them or of texts without a name's end, as a fuzzer keeps them.  Every n-th is taken, n of PTO_CORPUS_EVERY
(default 8).  A kernel's C body is its author's: texts whose bodies are meant to be wrong say "nowhere", and of texts that a fuzzer made those
with bodies are left out by PTO_CORPUS_BODIES=0.  Imports are found as from the file's folder, and std/.  Prints how many were accepted; exit 1 and the messages where a compiler
said anything, or where ptoc ended other than with 0 or 1."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Inputs"))
import clang_once  # pylint: disable=wrong-import-position

ptoc, include, folder = sys.argv[1:4]
every = int(os.environ.get("PTO_CORPUS_EVERY", "8"))
folder = pathlib.Path(folder)
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)


bodies = os.environ.get("PTO_CORPUS_BODIES", "1") != "0"
BODY = re.compile(rb"kernel[^;{]*\{", re.S)


def is_left_out(text):
    return b"nowhere" in text or (not bodies and BODY.search(text) is not None)


def texts():
    found = []
    for name in sys.argv[4:]:
        path = pathlib.Path(name)
        if path.is_file():
            found.append(path)
        else:
            found += sorted(p for p in path.rglob("*") if p.is_file() and (p.suffix == ".pto" or len(p.name) in (16, 40) and "." not in p.name))
    return [p for p in found[::every] if not is_left_out(p.read_bytes())]


def generate(job):
    number, path = job
    out = folder / f"{number}.c"
    done = subprocess.run([ptoc, "build", "-w", "--emit=c", "--no-line", str(path), "-o", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in (0, 1):
        return path, None, f"ptoc ended with {done.returncode}: {done.stderr[-500:].decode(errors='replace')}"
    return path, out if done.returncode == 0 else None, None


def compile(job):
    compiler, files = job
    driver = [compiler, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I" + include]
    command = clang_once.command(driver, files) if "clang" in compiler else driver + [str(f) for f in files]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return compiler, done.stdout.decode(errors="replace")


wrong = 0
accepted = {}
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    looked = 0
    for path, out, message in pool.map(generate, enumerate(texts())):
        looked += 1
        if message:
            wrong += 1
            print(f"{path}: {message}")
        if out:
            accepted[out] = path
    compilers = [c for c in ("gcc", "clang", "clang-14") if shutil.which(c)][:2]
    files = list(accepted)
    jobs = [(c, files[i:i + 50]) for c in compilers for i in range(0, len(files), 50)]
    for compiler, text in pool.map(compile, jobs):
        if text:
            wrong += 1
            print(compiler, text[:3000])
for out, path in accepted.items():
    if wrong:
        print(f"{out} is from {path}")
print(f"{looked} texts, {len(accepted)} accepted, compiled by {' and '.join(compilers)}: {wrong} wrong")
sys.exit(wrong > 0 or not accepted or len(compilers) < 2)
