"""everything.py PTOC SOURCE [STEP [SEED]]: formats every program of the tree, as it is and with its white space mangled.

Of each: the same tree (--emit=ast), the same comments and C bodies in the same order, and nothing to do the second time.
STEP: only one of so many of them.  Programs of examples/ and kernels/std/ and those of the language's definition have the usual layout already."""
import concurrent.futures
import functools
import os
import pathlib
import random
import re
import subprocess
import sys

PTOC, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
STEP = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SEED = sys.argv[4] if len(sys.argv) > 4 else "1"
COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.S)
failed = 0


# One program is looked at in several layouts, and all of them are formatted to one text: what has been asked about it is not asked again.
@functools.lru_cache(maxsize=64)
def run(text, *arguments):
    result = subprocess.run([PTOC, *arguments, "-"], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.returncode, result.stdout, result.stderr


def complain(path, what, *texts):
    global failed
    failed += 1
    print(f"{path}: {what}")
    for text in texts:
        print(text.decode(errors="replace"))


@functools.lru_cache(maxsize=64)
def pieces(text):
    """(token, what follows it), the C bodies whole."""
    _, dump, _ = run(text, "build", "--emit=tokens")
    starts = [0]
    for i, byte in enumerate(text):
        if byte == 10:
            starts.append(i + 1)
    tokens = []
    for line in dump.splitlines():
        place, kind = line.split(b" ")[:2]
        row, column = map(int, place.split(b":"))
        tokens.append((starts[row - 1] + column - 1, kind))
    result = [(b"", text[:tokens[0][0]])]
    for (begin, kind), (behind, _) in zip(tokens, tokens[1:]):
        part = text[begin:behind]
        if kind == b"c-body":
            end = len(text[:behind].rstrip()) - begin
            while part[end - 1:end] != b"}" or COMMENT.sub(lambda m: b"x" * len(m[0]), part)[end - 1:end] != b"}":
                end -= 1
        elif kind == b"string":
            end = re.match(rb'"(\\.|[^"\\])*"', part).end()
        elif kind in (b"word", b"name"):
            end = re.match(rb"\w+", part).end()
        elif kind in (b"int", b"float"):
            end = re.match(rb"0[xXbBoO]\w+|[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?\w*", part).end()
        else:
            end = re.match(rb"\.\.|\+:|->|=>|\|\||&&|<<=|>>=|<<|>>|[-+*/%&|^=!<>]=|.", part).end()
        result.append((part[:end], part[end:]))
    return result


def mangled(text, blanks):
    out = []
    for token, gap in pieces(text):
        out.append(token)
        comments = COMMENT.findall(gap)
        if not comments:
            out.append(blanks())
        for comment in comments:
            out.append(blanks() + comment + (b"\n" if comment.startswith(b"//") else b"") + blanks())
    return b"".join(out)


def bodies(text):
    return [part for part, _ in pieces(text) if part.startswith(b"{") and len(part) > 1]


def outside(text):
    for body in bodies(text):
        text = text.replace(body, b"{", 1)
    return re.sub(rb'"(\\.|[^"\\\n])*"', b'""', text)


def comments(text):
    return [c.rstrip() for _, gap in pieces(text) for c in COMMENT.findall(gap)]


def tree_of(text):
    code, tree, _ = run(text, "build", "--emit=ast")
    return code, re.sub(rb" @[0-9]+:[0-9]+", b"", tree)


def check(path, text, original):
    """The formatted text; the original has the same tokens, bodies and comments."""
    code, once, messages = run(text, "fmt")
    if code != 0:
        complain(path, "not formatted", messages)
        return None
    if tree_of(once) != tree_of(original):
        complain(path, "another tree", text, once)
    if bodies(once) != bodies(original):
        complain(path, "another C body", once)
    if comments(once) != comments(original):
        complain(path, "other comments", once)
    _, twice, _ = run(once, "fmt")
    if twice != once:
        complain(path, "changes when formatted again", once, twice)
    if max((len(line) for line in outside(once).split(b"\n")), default=0) > 130 and not re.search(rb'"[^"\n]{60}|//|\w{60}|"""', once):
        complain(path, "a line is too long", once)
    return once


def check_program(path, is_usual):
    """Was it a program?"""
    own = random.Random(f"{SEED} {path.name}")
    text = path.read_bytes()
    if tree_of(text)[0] != 0:
        return False
    once = check(path, text, text)
    if once is None:
        return False
    if is_usual and once != text:
        complain(path, "has not the usual layout", once)
    for blanks in (lambda: b" ", lambda: b"\n", lambda: own.choice([b" ", b"\n", b"   ", b"\t", b"\n\n\n", b" \r\n "])):
        check(f"{path} mangled", mangled(text, blanks), text)
    return True


def main():
    usual = sorted((SOURCE / "examples").rglob("*.pto")) + sorted((SOURCE / "kernels/std").rglob("*.pto"))
    paths = (usual + sorted((SOURCE / "test/lit").rglob("*.pto")))[::STEP]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        count = sum(pool.map(check_program, paths, [path in usual for path in paths]))
    print(f"{count} programs, {failed} complaints")
    sys.exit(failed > 0 or count * STEP < 50)


main()
