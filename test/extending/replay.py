"""replay.py SOURCE FOLDER CC LLVM_TOOLS - do the recipes of docs/extending.md lead where they say?

Idea       A paragraph of the page that begins with a file and what to do with it, `FILE`, a new file | at its end | behind the line with
           `TEXT`, is an instruction, and the block of code after it is what to write.  All of them are applied to a copy of the sources,
           the copy is built without its tests, and what the recipes promise is looked at.
Exit code  0: they do; 1: no, with a sentence.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

MOST_FILES = {"A warning": 4, "A kernel": 2, "A statistic": 2}  # what a newcomer touches, docs/errors.md included
INSTRUCTION = re.compile(r"^`([^`]+)`, (?:(a new file)|(at its end)|behind the line with `([^`]+)`)[^\n]*\n(?:[^`\n][^\n]*\n|`(?!``)[^\n]*\n)*"
                         r"\n(````?)\w*\n(.*?)^\5$", re.M | re.S)


def fail(text):
    sys.exit("docs/extending.md: " + text)


def run(command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    return done.returncode, done.stdout


def must(command, wanted="", **how):
    """The command succeeds, and prints what is wanted."""
    code, said = run(command, **how)
    if code != 0 or wanted not in said:
        fail("%s\nexit code %d%s:\n%s" % (command, code, ", without %r" % wanted if wanted else "", said[-4000:]))
    return said


def recipes(page):
    """(section, file, where, text) of each instruction; where: None for a new file, "" for its end, or what the line before it has."""
    without_blocks = re.sub(r"^(````?)\w*\n.*?^\1$", lambda block: " " * len(block.group()), page, flags=re.M | re.S)
    for found in INSTRUCTION.finditer(page):
        file, is_new, at_end, anchor, _, text = found.groups()
        title = re.findall(r"^## (.*)", without_blocks[:found.start()], re.M)[-1]
        yield title, file, None if is_new else "" if at_end else anchor, text


def apply(root, file, where, text):
    path = root / file
    if where is None:
        if path.exists():
            fail("%s is said to be new, and is there" % file)
        path.write_text(text)
        return
    lines = path.read_text().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if where and where in line]
    if where and len(at) != 1:
        fail("%d lines of %s have '%s', one is meant" % (len(at), file, where))
    at = at[0] + 1 if where else len(lines)
    path.write_text("".join(lines[:at] + ["\n"] * (not where) + [text] + lines[at:]))


def run_lines(root, build, scratch, file, tools):
    """A lit test, without lit: the RUN lines of a file."""
    path = root / file
    lines = re.findall(r"^// RUN: (.*)", path.read_text(), re.M)
    for line in lines or fail("%s has no RUN line" % file):
        for word, meaning in (("%ptoc", build / "bin" / "ptoc"), ("%python", sys.executable), ("%s", path), ("%t", scratch / path.name)):
            line = line.replace(word, str(meaning))
        must(["bash", "-c", "set -o pipefail; " + line], env=dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"], CC=CC, NO_COLOR="1"))


PROGRAM = """import "std/nn.pto" as nn;
kernel one(out a: f32[1]) on vector cost 0 { a[0] = 1; }
export orch main(in x: f32[4, 4], out y: f32[4, 4]) {
  let a: f32[1];
  one(out a);
  print await a[0];
  let b: f32[4, 4];
  nn.leaky_relu(x, out b);
  nn.leaky_relu(b, out y);
}
"""


def check_results(root, build, scratch):
    ptoc, program, built = str(build / "bin" / "ptoc"), scratch / "program.pto", str(scratch / "program")
    program.write_text(PROGRAM)
    warned = must([ptoc, "check", str(program)], "warning[W12]: kernel 'one' costs nothing")
    if warned.count("warning") != 1:
        fail("more than one warning:\n" + warned)
    must([ptoc, "check", "-Wno-W12", "-Werror", str(program)])
    must([ptoc, "explain", "W12"], "W12: cost of nothing")
    must([sys.executable, str(root / "scripts" / "check_explain.py"), str(build), str(root), str(scratch / "explain")])
    must([ptoc, "build", "-w", "--plan=apart", str(program), "-o", built], env=dict(os.environ, CC=CC))
    for engine in ("serial", "threads", "process"):
        must([built, "--input", "x=ones", "--stats", "--engine", engine], "Largest buffer: 64 bytes")
    must([built, "--input", "x=ones", "--report", str(scratch / "r.html")])
    if "<th>largest buffer</th><td>64 bytes</td>" not in (scratch / "r.html").read_text():
        fail("the page of --report has no largest buffer")


def main():
    global CC
    source, folder, CC, tools = sys.argv[1:]
    source, scratch = pathlib.Path(source), pathlib.Path(folder)
    shutil.rmtree(scratch, ignore_errors=True)
    root, build = scratch / "source", scratch / "build"
    shutil.copytree(source, root, symlinks=True, ignore=lambda at, names: [n for n in names if n in ("build", ".git") and at == str(source)])
    touched, tests = {}, []
    for title, file, where, text in recipes((source / "docs" / "extending.md").read_text()):
        apply(root, file, where, text)
        touched.setdefault(title, set()).add(file)
        tests += [file] if file.startswith("test/lit/") else []
    before = (root / "docs" / "errors.md").read_text()
    must([sys.executable, "scripts/check_docs.py", ".", "--write"], cwd=root)
    if (root / "docs" / "errors.md").read_text() != before:
        touched["A warning"].add("docs/errors.md")
    for title, most in MOST_FILES.items():
        if not 0 < len(touched.get(title, ())) <= most:
            fail("'%s' touches %s; %d files at most" % (title, sorted(touched.get(title, ())), most))
    # A build type that is not declared has no flags, and kernels/CMakeLists.txt leaves it without -O3: what counts here is how long the
    # build takes.
    must(["cmake", "-S", str(root), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Quick", "-DBUILD_TESTING=OFF", "-DCMAKE_C_COMPILER=" + CC])
    must(["cmake", "--build", str(build), "--target", "ptoc", "pto_runtime", "pto_kernels"])
    for file in tests:
        run_lines(root, build, scratch, file, tools)
    check_results(root, build, scratch)
    shutil.rmtree(scratch)
    print("%d files of %d recipes" % (sum(map(len, touched.values())), len(touched)))


main()
