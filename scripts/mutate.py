"""Small mistakes in good programs: what the compiler says to a program that was right until one token changed.

usage: mutate.py PREFIX [--count N] [--seed S] [--jobs J] [--keep FOLDER] [--cc gcc,clang] FILE-OR-FOLDER...

Takes every program that the compiler accepts, changes one token (deletes, doubles, swaps, replaces it, changes a number, drops a
marker, swaps two arguments, renames one use), and asks of the compiler: it ends in time and with exit code 0 or 1; every message is
an object of --diag=json with a place inside its file; no message says "not supported"; one mistake raises at most MOST errors; and
what is still accepted gives C that every C compiler takes silently.  PREFIX is a build folder.  The same seed gives the same mutants.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys

MOST = 6
SECONDS = 60

TOKEN = re.compile(r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<number>\d[\w]*(?:\.\d\w*)?(?:[eE][+-]\d+)?)
                       |(?P<name>[A-Za-z_]\w*)|(?P<mark>\.\.|\+:|->|=>|==|!=|<=|>=|&&|\|\||.)""", re.S | re.X)
C_PIECE = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|.""", re.S)
MARKERS = ["in", "out", "inout", "acc", "own", "host"]
WORDS = ["let", "var", "view", "for", "in", "out", "inout", "acc", "own", "if", "else", "while", "return", "break", "await", "drop", "step",
         "tiled", "as", "true", "false", "f32", "i64", "x", ";", ",", "(", ")", "[", "]", "{", "}", "=", "==", "+", "-", "*", "/", "%", "<",
         "..", "+:", ":", ".", "->", "@", "0", "1", "-1", "\"s\"", "9223372036854775807", "1.5"]


def end_of_body(text, at):
    depth = 0
    for match in C_PIECE.finditer(text, at):
        depth += {"{": 1, "}": -1}.get(match.group(0), 0)
        if depth == 0:
            return match.end()
    return len(text)


def tokens_of(text):
    """(text, kind) of every token; a C body and what stands between tokens are one token each that is never changed."""
    found, at, in_kernel = [], 0, False
    while at < len(text):
        match = TOKEN.match(text, at)
        piece, kind = match.group(0), match.lastgroup
        if in_kernel and piece == "{":
            piece, kind = text[at:end_of_body(text, at)], "space"
        if kind in ("name", "mark", "space"):
            in_kernel = piece == "kernel" or (in_kernel and piece != ";" and not (kind == "space" and piece.startswith("{")))
        found.append([piece, kind])
        at += len(piece)
    return found


def mutant_of(rng, text):
    tokens = tokens_of(text)
    real = [i for i, (_, kind) in enumerate(tokens) if kind != "space"]
    if len(real) < 3:
        return None, ""
    i = rng.choice(real)
    piece, kind = tokens[i]
    how = rng.choice(["delete", "double", "swap", "replace", "word", "number", "marker", "arguments", "rename", "letter"])
    if how == "delete":
        tokens[i][0] = ""
    elif how == "double":
        tokens[i][0] = piece + " " + piece
    elif how == "swap":
        k = real[(real.index(i) + 1) % len(real)]
        tokens[i][0], tokens[k][0] = tokens[k][0], tokens[i][0]
    elif how == "replace":
        tokens[i][0] = tokens[rng.choice(real)][0]
    elif how == "word":
        tokens[i][0] = rng.choice(WORDS)
    elif how == "number":
        numbers = [k for k in real if tokens[k][1] == "number"]
        if not numbers:
            return None, ""
        i = rng.choice(numbers)
        tokens[i][0] = rng.choice(["0", "1", "2", "3", "7", "64", "-1", "1.5", "0x7fffffffffffffff", "1000000007", "true"])
    elif how == "marker":
        markers = [k for k in real if tokens[k][0] in MARKERS]
        if not markers:
            return None, ""
        i = rng.choice(markers)
        tokens[i][0] = rng.choice(MARKERS + [""] * 3)
    elif how == "arguments":
        commas = [k for k in real if tokens[k][0] == ","]
        if not commas:
            return None, ""
        i = rng.choice(commas)
        before, after = real[real.index(i) - 1], real[(real.index(i) + 1) % len(real)]
        tokens[before][0], tokens[after][0] = tokens[after][0], tokens[before][0]
    elif how == "rename":
        names = [k for k in real if tokens[k][1] == "name" and tokens[k][0] not in WORDS]
        if not names:
            return None, ""
        i = rng.choice(names)
        tokens[i][0] = tokens[rng.choice(names)][0]
    else:
        at = rng.randrange(len(piece))
        tokens[i][0] = piece[:at] + rng.choice(["", piece[at] * 2, rng.choice("abixN_0(;.")]) + piece[at + 1:]
    changed = "".join(t for t, _ in tokens)
    return (changed if changed != text else None), "%s at %r" % (how, piece)


def run(command, seconds=SECONDS):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=seconds)


def places_wrong(message, cache):
    """Does a place of the message lie outside of its file?"""
    for part in [message] + message["notes"] + message["fixes"]:
        name = part["file"]
        if name is None:
            continue
        if name not in cache:
            path = name if os.path.exists(name) else None
            cache[name] = open(path, "rb").read().split(b"\n") if path else None
        lines = cache[name]
        if lines is None:
            continue
        for line, column in ((part["line"], part["column"]), (part["end_line"], part["end_column"])):
            if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
                return True
    return False


def only_in_bodies(refused):
    """Are all errors of gcc in functions that are a user's C body?"""
    function = ""
    for line in refused.splitlines():
        inside = re.search(r"In function .(\w+)", line)
        if inside:
            function = inside.group(1)
        elif "At top level" in line:
            function = ""
        if " error: " in line and not function.endswith("_body"):
            return False
    return True


def judge(options, path, folder):
    """None, or what is wrong."""
    c = path + ".c"
    command = [os.path.join(options.prefix, "bin", "ptoc"), "build", "--emit=c", "--no-line", "--diag=json", "-I", folder, path, "-o", c]
    try:
        p = run(command)
    except subprocess.TimeoutExpired:
        return "does not end"
    text = p.stderr.decode("utf-8", "replace")
    if p.returncode not in (0, 1):
        return "exit code %d: %s" % (p.returncode, text[-300:])
    errors = []
    cache = {}
    for line in text.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            return "not an object: " + line
        if message["severity"] == "error":
            errors.append(message)
        if message["file"] is None:
            return "no place: " + line
        if places_wrong(message, cache):
            return "a place outside of the file: " + line
        if message["id"] == "E99":
            return "E99: " + message["message"]
    if (p.returncode == 1) != bool(errors):
        return "exit code %d and %d errors" % (p.returncode, len(errors))
    if len(errors) > MOST:
        return "%d errors:\n    " % len(errors) + "\n    ".join("%d:%d %s %s" % (e["line"], e["column"], e["id"], e["message"]) for e in errors[:12])
    if p.returncode == 0:
        for cc in options.cc.split(","):
            q = run([cc, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                     "-I", os.path.join(options.prefix, "include"), c], 60)
            refused = q.stderr.decode("utf-8", "replace")
            if q.returncode != 0 and only_in_bodies(refused):
                break  # a name that the user's C uses is gone: the C compiler says so at the .pto line
            if q.returncode != 0:
                return "%s refuses the C:\n%s" % (cc, refused[:1500])
        os.remove(c)
    return None


def programs(options):
    found = []
    for root in options.files:
        if os.path.isfile(root):
            found.append(root)
        for folder, _, names in sorted(os.walk(root)):
            found += [os.path.join(folder, n) for n in sorted(names) if n.endswith(".pto")]
    ptoc = os.path.join(options.prefix, "bin", "ptoc")

    def is_good(path):
        return run([ptoc, "build", "-w", "--emit=c", "-o", "/dev/null", path]).returncode == 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return [f for f, good in zip(found, pool.map(is_good, found)) if good]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("prefix")
    p.add_argument("files", nargs="+")
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--keep", default="mutants")
    p.add_argument("--cc", default="gcc")
    options = p.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    good = programs(options)
    texts = [open(f, encoding="utf-8", errors="surrogateescape", newline="").read() for f in good]

    def one(number):
        rng = random.Random("%d %d" % (options.seed, number))
        while True:
            k = rng.randrange(len(good))
            text, what = mutant_of(rng, texts[k])
            if text is not None:
                break
        path = os.path.join(options.keep, "m%d_%d.pto" % (options.seed, number))
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(text)
        wrong = judge(options, path, os.path.dirname(good[k]))
        if wrong is None:
            os.remove(path)
            return 0
        print("%s: from %s, %s: %s" % (path, good[k], what, wrong), flush=True)
        return 1
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        wrong = sum(pool.map(one, range(options.count)))
    print("%d programs, %d mutants, %d wrong" % (len(good), options.count, wrong))
    return 1 if wrong else 0


sys.exit(main())
