#!/usr/bin/python3
"""rename.py PTOC SOURCE [--all] - each name of each example is renamed to a fresh one: the program has the same messages, and its C is the same but
for that name.  With --all the same with the programs of test/lit.  And what is refused.
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile

from client import Client, apply_edits, offset_of, range_of, uri_of
from corpus import programs

WORD = re.compile(rb"[A-Za-z_]\w*")


def run(ptoc, path, data, *words):
    """ptoc with a text that takes the place of a file."""
    return subprocess.run([ptoc, *words, "-"], input=data, capture_output=True, cwd=os.path.dirname(path))


def messages(ptoc, path, data):
    return re.findall(r'"id":"(\w+)"', run(ptoc, path, data, "check", "--no-bodies", "--diag=json").stderr.decode())


DIGEST = re.compile(r"^(    PTO_SITE_LINE\(.*, )0x[0-9a-f]{8}u(, \d+, )", re.M)


def c_of(ptoc, path, data):
    """The C without the digests of lines, which a name in a line changes."""
    p = run(ptoc, path, data, "build", "--emit=c", "--no-line")
    return DIGEST.sub(r"\1DIGEST\2", p.stdout.decode()) if p.returncode == 0 else None


def part(name):
    """Matches the name as a word, or as a part of a longer one as the C has it: a_stride, KERNEL_a."""
    return re.compile(r"(?<![A-Za-z0-9])%s(?![A-Za-z0-9])" % re.escape(name))


def plain(name, c):
    """The C without the number of a name that is also one of the generator's: best_2."""
    return re.sub(r"(?<![A-Za-z0-9])%s_\d+(?![A-Za-z0-9])" % re.escape(name), name, c)


def fresh(name, taken, *texts):
    """A name as long as this one, so that no column changes, that is not taken and that none of the texts has; None: there is no more."""
    letters = "zqjxkvwyZQJXKVWYLRBCDGHUOPSTMNAEFI"
    end = min(len(name), 3)
    candidates = (("zq" + "x" * len(name))[:len(name) - end] + "".join(c) for c in itertools.product(letters, repeat=end))
    return next((c for c in candidates if c not in taken and not any(part(c).search(t) for t in texts)), None)


def names_of(client, path, text):
    """(line, character, name) of each name that can be renamed, each declaration once."""
    seen, found = set(), []
    for number, line in enumerate(text.splitlines()):
        for word in WORD.finditer(line.split(b"//")[0]):
            answer = client.end(client.begin("textDocument/prepareRename", {
                "textDocument": {"uri": uri_of(path)}, "position": {"line": number, "character": word.start()}}))
            at = answer.get("result")
            if not at or at["start"] != {"line": number, "character": word.start()}:
                continue
            places = client.at("references", path, number, word.start(), context={"includeDeclaration": True})
            key = str(sorted((p["uri"], p["range"]["start"]["line"], p["range"]["start"]["character"]) for p in places))
            assert {"uri": uri_of(path), "range": at} in places, (path, at, places)
            if key not in seen:
                seen.add(key)
                found.append((number, word.start(), at, line[word.start():at["end"]["character"]].decode()))
    return found


def complaint(ptoc, path, renamed, names, before, c_before):
    """What is wrong with a program in which names are others, {fresh: name}; None: nothing is."""
    found = messages(ptoc, path, renamed)
    if found != before:
        return "messages %s, not %s" % (found, before)
    after = c_of(ptoc, path, renamed) or "" if c_before is not None else ""
    want = c_before or ""
    for other, name in names.items():
        after, want = plain(name, part(other).sub(name, after)), plain(name, want)
    return "other C" if after != want else None


def rename_all(ptoc, client, path, text, with_c):
    """How many names a program has, and complaints about them.  The server renames one by one, each in the program as it is; the compiler sees as many
    new names in one text as are different, and a name alone only where that text is wrong."""
    data, wrong, elsewhere, rounds = text.encode(), [], 0, [{}]
    client.open(path, text)
    before = messages(ptoc, path, data)
    c_before = (c_of(ptoc, path, data) or "") if with_c else None
    names = names_of(client, path, data)
    for line, character, _, name in names:
        other = fresh(name, rounds[-1], text, c_before or "")
        if not other:
            rounds.append({})
            other = fresh(name, rounds[-1], text, c_before or "")
        answer = client.end(client.begin("textDocument/rename", {
            "textDocument": {"uri": uri_of(path)}, "position": {"line": line, "character": character}, "newName": other}))
        place = "%s:%d:%d '%s'" % (path, line + 1, character + 1, name)
        if "error" in answer and before and "new message" in answer["error"]["message"]:
            continue  # a program in error may use the name where it means nothing
        if "error" in answer and "@adjoint(" in text and "new message" in answer["error"]["message"]:
            continue  # an adjoint and its kernel fit together by names, of which the server refuses to change one alone
        if "error" in answer:
            wrong.append("%s: %s" % (place, answer["error"]["message"]))
            continue
        changes = answer["result"]["changes"]
        if list(changes) != [uri_of(path)]:
            elsewhere += 1  # a module is changed, too: what the server has tried is believed
            continue
        rounds[-1][other] = (place, name, changes[uri_of(path)])

    def complaint_of(renamed):
        text = apply_edits(data, [edit for _, _, edits in renamed.values() for edit in edits])
        return complaint(ptoc, path, text, {other: name for other, (_, name, _) in renamed.items()}, before, c_before)
    for renamed in rounds:
        if complaint_of(renamed):
            alone = [(renamed[other][0], complaint_of({other: renamed[other]})) for other in renamed]
            wrong += ["%s: %s" % pair for pair in alone if pair[1]] or ["%s: %s, with all its names" % (path, complaint_of(renamed))]
    client.close(path)
    assert not with_c or elsewhere < 4, elsewhere
    return len(names), wrong


def refusals(ptoc, folder):
    """Keywords, clashes, names of the library, files with a syntax error."""
    client, path = Client(ptoc), os.path.join(folder, "r.pto")
    text = ('import "std/tile.pto";\n'
            'const T = 4;\n'
            'export orch f(inout c: f32[T, T], in a: f32[T, T], n: i64) {\n'
            '  let x = n;\n'
            '  { let y = 1; print x, y, n; }\n'
            '  tile.add_to(a, inout c);\n'
            '}\n')
    assert client.open(path, text) == []

    def refused(line, character, name):
        return client.refused("textDocument/rename", {"textDocument": {"uri": uri_of(path)}, "newName": name,
                                                      "position": {"line": line, "character": character}})
    for name in ("for", "1x", "a b", "", "x-y", "inout"):
        error = refused(3, 6, name)
        assert error["code"] == -32803 and "is not a name" in error["message"], error
    assert "new message: 'n'" in refused(3, 6, "n")["message"]  # hides the formal
    assert "'y'" in refused(3, 6, "y")["message"]         # would be caught by the inner one
    assert "std/" in refused(5, 8, "z")["message"]
    assert "no name here" in refused(4, 3, "z")["message"]
    # A module without `as` gets one.
    edits = client.at("rename", path, 5, 2, newName="t")["changes"][uri_of(path)]
    assert apply_edits(text.encode(), edits).decode() == text.replace('";', '" as t;', 1).replace("tile.add", "t.add")
    client.change(path, text + "orch")
    assert "syntax error" in refused(3, 6, "z")["message"]
    assert client.quit() == 0


def c_functions(ptoc, folder):
    """A kernel whose C symbol is its name keeps the symbol, be it in a module or one of several of that name; what only C would refuse is refused."""
    client, module, path = Client(ptoc), os.path.join(folder, "c.pto"), os.path.join(folder, "calls.pto")
    declared = ('kernel bare<N>(inout v: f32[N]) on cpu // a file of C has it\n;\n'
                'kernel bare<N>(inout v: i32[N]) extern "bare_i32";\n'
                'kernel mine<N>(inout v: f32[N]) on cpu extern "of_c";\n'
                'kernel each<N, E: any>(inout v: E[N]) on cpu extern "each_$E";\n'
                'const TT = 4;\n'
                'kernel body<N>(inout v: f32[N]) on cpu { v[0] = TT; }\n')
    text = ('import "c.pto" as c;\nexport orch go<N>(inout x: f32[N], inout y: i32[N]) {\n'
            '  c.bare(inout x); c.bare(inout y); c.mine(inout x); c.body(inout x); c.each(inout x);\n}\n')
    with open(module, "w") as f:
        f.write(declared)
    assert client.open(path, text) == []

    def ask(character, name):
        return client.end(client.begin("textDocument/rename", {
            "textDocument": {"uri": uri_of(path)}, "newName": name, "position": {"line": 2, "character": character}}))

    def renamed(character, name):
        changes = ask(character, name)["result"]["changes"]
        return [apply_edits(t.encode(), changes[uri_of(p)]).decode() for p, t in ((module, declared), (path, text))]

    def symbols(*files):
        for p, t in zip((module, path), files):
            with open(p, "w") as f:
                f.write(t)
        c = c_of(ptoc, path, files[1].encode())
        return sorted(re.findall(r"^extern int (\w+)\(", c, re.M))
    before = symbols(declared, text)
    assert before == ["bare", "bare_i32", "each_f32", "of_c"], before
    fresh = declared.replace("kernel bare", "kernel fresh").replace("\n;", '\n extern "bare";')
    assert renamed(4, "fresh") == [fresh, text.replace("c.bare", "c.fresh")], renamed(4, "fresh")
    assert symbols(*renamed(4, "fresh")) == before
    assert renamed(4, "bare") == [declared, text]
    mine = text.index("c.mine") - text.index("  c.bare") + 2
    assert renamed(mine, "of_c") == [declared.replace("mine", "of_c"), text.replace("mine", "of_c")]  # its own symbol is no other kernel's
    for name in ("of_c", "each_f32"):
        assert "is the C symbol of another kernel" in ask(4, name)["error"]["message"], name
    symbols(declared, text)
    client.open(module)
    for name in ("static", "_Bool", "__x"):
        error = client.refused("textDocument/rename", {"textDocument": {"uri": uri_of(module)}, "newName": name,
                                                       "position": {"line": 5, "character": 7}})
        assert "is a word of C" in error["message"], error
    assert client.quit() == 0


def c_bodies(ptoc, folder):
    """In a C body members and tags of structs keep their names; what the C compiler alone would refuse is refused."""
    client, path = Client(ptoc), os.path.join(folder, "bodies.pto")
    text = ('kernel k<N>(in a: f32[N], out b: f32[N]) on vector {\n'
            '  struct P { float a, *T; int N : 8; float of[N]; } p = { .a = 3, . N = 1 }, *q = &p;\n'
            '  struct a { union { int a; } N; } s = {{2}};\n'
            '  p . /* a */ a = q->a + q -> a + s.N.a + N;\n'
            '  for (int64_t i = 0; i < N; i++) b[i * b_stride[0]] = a[i] + p.a;\n'
            '}\n'
            'kernel m<N>(in a: f32[N], out b: f32[N]) on vector {\n'
            '  struct P { char T[7], a; };\n'
            '  for (int64_t i = 0; i < N; i++) b[i] = a[i] + __builtin_offsetof(struct P, a);\n'
            '}\n'
            'export orch main<N>(in x: f32[N], out y: f32[N]) { k(x, out y); m(x, out y); }\n')
    assert client.open(path, text) == []

    def renamed(character, name):
        changes = client.at("rename", path, 0, character, newName=name)["changes"]
        return apply_edits(text.encode(), changes[uri_of(path)]).decode()
    first, rest = text.split("kernel m")
    assert renamed(first.index("a: f32"), "zz") == first.replace("in a:", "in zz:").replace("= a[i]", "= zz[i]") + "kernel m" + rest
    assert renamed(first.index("N>"), "M") == first.replace("<N>", "<M>").replace("f32[N]", "f32[M]").replace("of[N]", "of[M]").replace(
        "+ N;", "+ M;").replace("i < N", "i < M") + "kernel m" + rest
    error = client.refused("textDocument/rename", {"textDocument": {"uri": uri_of(path)}, "newName": "zz",
                                                   "position": {"line": 6, "character": rest.index("a: f32") + len("kernel m")}})
    assert "the C compiler would have a new message" in error["message"], error
    assert client.quit() == 0


def across_files(ptoc, folder):
    """A name of a module is renamed in it and in all that is open and imports it, be the module open or not."""
    client = Client(ptoc)
    module, one, two = (os.path.join(folder, name) for name in ("m.pto", "one.pto", "two.pto"))
    with open(module, "w") as f:
        f.write("const A = 1;\nstruct S { x: i64; t: f32[A]; }\n")
    text = 'import "m.pto" as m;\nexport orch f() { print m.A; }\norch g(in s: m.S) { print s.x; }\n'
    client.open(one, text)
    client.open(two, text)
    for line, character, old, new in ((1, 26, "A", "B"), (2, 29, "s.x", "s.z"), (2, 16, "S", "R")):
        changes = client.at("rename", one, line, character, newName=new[-1])["changes"]
        assert set(changes) == {uri_of(module), uri_of(one), uri_of(two)}, changes
        assert apply_edits(text.encode(), changes[uri_of(two)]).decode() == text.replace("m." + old if len(old) == 1 else old,
                                                                                         "m." + new if len(new) == 1 else new)
    assert client.quit() == 0


def main():
    ptoc, source = sys.argv[1:3]
    whole = "--all" in sys.argv
    wrong, count = [], 0
    client = Client(ptoc)
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        refusals(ptoc, folder)
        c_bodies(ptoc, folder)
        across_files(ptoc, folder)
        c_functions(ptoc, folder)
        for path, text in programs(source, 1 if whole else 40):
            is_example = os.sep + "examples" + os.sep in path
            if os.sep + "std" + os.sep in path:
                continue  # the library's own names are refused
            n, complaints = rename_all(ptoc, client, path, text, is_example)
            count += n
            wrong += complaints
    assert client.quit() == 0
    print("\n".join(wrong))
    print("%d names, %d complaints" % (count, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
