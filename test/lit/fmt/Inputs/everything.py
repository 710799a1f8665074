"""everything.py PTOC SOURCE [STEP [SEED]]: formats every program of the tree, as it is and with its white space mangled.

Of each: the same tree (--emit=ast), the same comments and C bodies in the same order, and nothing to do the second time.
STEP: only one of so many of the tests' programs.  Programs of examples/ and kernels/std/ and those of the language's definition have the usual layout already."""
import concurrent.futures
import functools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PTOC, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
STEP = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SEED = sys.argv[4] if len(sys.argv) > 4 else "1"
COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.S)
failed = 0


# One program is looked at in several layouts, and all of them are formatted to one text: what has been asked about it is not asked again.
@functools.lru_cache(maxsize=4096)
def run(text, *arguments):
    result = subprocess.run([PTOC, *arguments, "-"], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.returncode, result.stdout, result.stderr


def complain(path, what, *texts):
    global failed
    failed += 1
    print(f"{path}: {what}")
    for text in texts:
        print(text.decode(errors="replace"))


@functools.lru_cache(maxsize=4096)
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


def formatted(texts):
    """What `ptoc fmt` makes of each text; None where it made nothing of one.  Some processes format all of them."""
    texts = sorted(set(texts))
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, f"{i}.pto") for i in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_bytes(text)
        shares = [share for share in (files[i::os.cpu_count()] for i in range(os.cpu_count())) if share]
        started = [subprocess.Popen([PTOC, "fmt", *share], stderr=subprocess.PIPE) for share in shares]
        failures = [process.communicate()[1] for process in started]
        if not any(failures) and not any(process.returncode for process in started):
            return {text: file.read_bytes() for file, text in zip(files, texts)}
    results = {}
    for text in texts:  # one at a time, to see which
        code, once, messages = run(text, "fmt")
        results[text] = once if code == 0 else None
        if code != 0:
            complain("a text", "not formatted", messages, text)
    return results


def check(path, text, original, once, twice):
    """The formatted text has the same tree, bodies and comments as the original."""
    if tree_of(once) != tree_of(original):
        complain(path, "another tree", text, once)
    if bodies(once) != bodies(original):
        complain(path, "another C body", once)
    if comments(once) != comments(original):
        complain(path, "other comments", once)
    if twice != once:
        complain(path, "changes when formatted again", once, twice)
    if max((len(line) for line in outside(once).split(b"\n")), default=0) > 130 and not re.search(rb'"[^"\n]{60}|//|\w{60}|"""', once):
        complain(path, "a line is too long", once)


def layouts(path):
    """The text of a program, and the same with three kinds of white space; () of a file that is no program."""
    own = random.Random(f"{SEED} {path.name}")
    text = path.read_bytes()
    if tree_of(text)[0] != 0:
        return ()
    kinds = (lambda: b" ", lambda: b"\n", lambda: own.choice([b" ", b"\n", b"   ", b"\t", b"\n\n\n", b" \r\n "]))
    return (text, *(mangled(text, blanks) for blanks in kinds))


def main():
    usual = sorted((SOURCE / "examples").rglob("*.pto")) + sorted((SOURCE / "kernels/std").rglob("*.pto"))
    paths = usual + sorted((SOURCE / "test/lit").rglob("*.pto"))[::STEP]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = [(path, texts) for path, texts in zip(paths, pool.map(layouts, paths)) if texts]
        once = formatted(text for _, texts in programs for text in texts)
        twice = formatted(text for text in once.values() if text is not None)

        def check_program(path, texts):
            if path in usual and once[texts[0]] != texts[0]:
                complain(path, "does not have the usual layout", once[texts[0]])
            for text in texts:
                if once[text] is not None:
                    check(path if text == texts[0] else f"{path} mangled", text, texts[0], once[text], twice[once[text]])
        list(pool.map(check_program, *zip(*programs)))
    print(f"{len(programs)} programs, {failed} complaints")
    sys.exit(failed > 0 or len(programs) < 50)


main()
