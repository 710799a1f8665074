#!/usr/bin/python3
"""hints.py PTOC SOURCE [STEP] - inlay hints, semantic tokens and code lenses of every example and of the programs of test/lit/memory and
test/lit/codegen: `released` equals the releases of --emit=c and of --dump=liveness, `need` and `peak` equal --emit=bounds.  STEP: of each so-manieth program.
"""
import glob
import os
import re
import subprocess
import sys

from client import Client, range_of, uri_of


def ask(ptoc, path, *words):
    p = subprocess.run([ptoc, "build", *words, path], capture_output=True)
    return p.stdout.decode() if p.returncode == 0 else None


RELEASE = r"pto_release\(rt, |pto_slot_end\(rt, \w+, "
DROP = r"pto_drop\(rt, &"  # of what was moved into the function, also where that ends


def releases_of_c(text, stem, lines, calls):
    """{(line, name)} of the C: of lifetimes that end by what a pass has decided, not at a `drop` or where a tensor's scope ends."""
    found, line, mine = set(), 0, False
    for c in text.split("\n"):
        mark = re.match(r'#line (\d+) "(.*)"', c)
        if mark:
            line, mine = int(mark.group(1)) - 1, os.path.basename(mark.group(2)) == stem
        else:
            line += 1  # as a C compiler counts
            release = re.match(r"\s*(?:%s)(\w+)\);" % calls, c)
            # A `drop`, or a `var` that becomes another tensor, ends a lifetime where the program says so.
            if release and mine and not re.search(r"\bdrop\b|\b%s = " % release.group(1), lines[line - 1]):
                found.add((line, release.group(1)))
    return found


def releases_of_dump(text, path):
    """(line, name) of --dump=liveness, which stand behind a statement or a call, or in front of a block, in the main file."""
    found, mine = set(), False
    for line in text.split("\n"):
        head = re.match(r"(\S+):\d+  ", line)
        if head:
            mine = head.group(1) == path
        at = re.match(r"  (?:behind|at the beginning).* of line (\d+): (.*)$", line)
        if at and mine:
            found |= {(int(at.group(1)), name.replace(".", "_")) for name in at.group(2).split(", ") if not name.endswith("()")}
    return found


def bounds_of(text, path):
    """{line: (need, peak)} of functions, {line: [need]} of scopes, of the main file."""
    functions, scopes, line, peak, in_scope, mine = {}, {}, 0, None, False, False
    for row in text.split("\n"):
        head = re.match(r"(\S+):(\d+)  ", row)
        scope = re.match(r"  scope of line (\d+)", row)
        need = re.match(r" +(need|or|and) +(.*)$", row)
        peak = re.match(r"  peak  (.*)$", row)
        if head:
            line, in_scope, mine = int(head.group(2)), False, head.group(1) == path
        elif not mine:
            continue
        elif scope:
            in_scope, line_of_scope = True, int(scope.group(1))
        elif peak:
            functions[line][1] = peak.group(1)
        elif need and need.group(1) == "need":
            text_of = need.group(2).split(": line")[0]
            if in_scope:
                scopes.setdefault(line_of_scope, []).append(text_of)
            else:
                functions[line] = [text_of, None]
    return functions, scopes


def compare(ptoc, client, path):
    """Complaints about the hints of a program."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = text.split("\n")
    client.open(path, text)
    hints = client.at("inlayHint", path, range=range_of(0, 0, len(lines), 0))
    c, dump, bounds = (ask(ptoc, path, "--emit=c", "-o", "-"), ask(ptoc, path, "--dump=liveness"), ask(ptoc, path, "--emit=bounds"))
    client.close(path)
    if c is None:
        return []
    wrong = []
    released = {(h["position"]["line"] + 1, name) for h in hints if h["label"].startswith("// released: ")
                for name in h["label"][len("// released: "):].replace(".", "_").split(", ")}
    in_c = releases_of_c(c, os.path.basename(path), lines, RELEASE)
    dropped = releases_of_c(c, os.path.basename(path), lines, DROP)
    # The printer numbers names and gives some to what has none in the text: those of the text are compared.
    plain = {(line, name) for line, name in in_c if re.search(r"\b(let|in|own|inout|out|var) %s\b" % name, text)}
    in_dump = releases_of_dump(dump, path)
    if not in_dump <= released:
        wrong.append("released: the dump has %s more" % (in_dump - released))
    if not plain <= released:
        wrong.append("released: the C has %s more" % (plain - released))
    lost = released - in_c - dropped - in_dump
    if lost:
        wrong.append("released: neither the C nor the dump has %s" % lost)
    functions, scopes = bounds_of(bounds, path)
    needs = [(h["position"]["line"] + 1, h["label"]) for h in hints if h["label"].startswith("// need: ")]
    bodies = {line for line, _ in needs}  # their scopes are a part of their functions' needs
    if len(needs) != len(functions):
        wrong.append("need: %d hints, %d functions" % (len(needs), len(functions)))
    for (_, label), line in zip(needs, sorted(functions)):
        need, peak = functions[line]
        if not label.startswith("// need: " + need) or (", peak: " + peak) not in label:
            wrong.append("need of line %d: '%s', not '%s' and '%s'" % (line, label, need, peak))
    of_scopes = sorted((h["position"]["line"] + 1, h["label"][len("// scope: need: "):]) for h in hints
                       if h["label"].startswith("// scope: "))
    expected = sorted((line, need) for line, all_of in scopes.items() if line not in bodies for need in all_of)
    if [s[0] for s in of_scopes] != [s[0] for s in expected] or not all(a[1].startswith(b[1]) for a, b in zip(of_scopes, expected)):
        wrong.append("scopes: %s, not %s" % (of_scopes, expected))
    return ["%s: %s" % (path, w) for w in wrong]


def kinds(ptoc, folder):
    """Types of `let` without one; each kind of hint can be switched off."""
    client, path = Client(ptoc), os.path.join(folder, "hints.pto")
    text = ('import "std/tile.pto" as tile;\nexport orch f(in a: f32[64, 64], inout c: f32[64, 64]) {\n  let p = tile.gemm(a, a);\n'
            '  let q = tile.gemm(p, a);\n  let n: i64 = 3;\n  var m = n;\n  tile.add_to(q, inout c);\n  tile.add_to(a, inout c);\n  print m;\n}\n')

    def labels():
        return [h["label"] for h in client.at("inlayHint", path, range=range_of(0, 0, 99, 0))]
    assert client.open(path, text) == []
    assert [x for x in labels() if x.startswith(":")] == [": f32[64, 64]", ": f32[64, 64]", ": i64"], labels()
    assert any(x.startswith("// need: ") for x in labels())
    assert client.at("inlayHint", path, range=range_of(2, 0, 2, 99)) != labels()
    for kind, begin in (("types", ":"), ("memory", "// need"), ("released", "// released")):
        client.notify("workspace/didChangeConfiguration", {"settings": {"pto": {"hints": {kind: False}}}})
        assert not any(x.startswith(begin) for x in labels()), (kind, labels())
    assert labels() == []
    assert client.asked == []
    assert client.quit() == 0
    client = Client(ptoc, capabilities={"workspace": {"inlayHint": {"refreshSupport": True}}})
    client.notify("workspace/didChangeConfiguration", {"settings": {"pto": {"hints": {"types": False}}}})
    client.open(path, text)
    assert client.asked == ["workspace/inlayHint/refresh"], client.asked
    assert client.quit() == 0


def tokens(ptoc, folder):
    """The meaning of each name, in the order of the text; `inout` at a call."""
    client, path = Client(ptoc), os.path.join(folder, "tokens.pto")
    text = 'import "std/tile.pto" as tile;\norch f<n>(in a: f32[n], inout c: f32[n]) {\n  view v = a tiled [4];\n  tile.add_to(a, inout c);\n}\n'
    client.open(path, text)
    legend = client.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    data, line, character, found = client.at("semanticTokens/full", path)["data"], 0, 0, []
    for i in range(0, len(data), 5):
        line, character = line + data[i], data[i + 1] + (character if data[i] == 0 else 0)
        found.append((text.split("\n")[line][character:character + data[i + 2]], legend[data[i + 3]], data[i + 4]))
    assert found == [("tile", "namespace", 1), ("f", "function", 1), ("n", "typeParameter", 1), ("a", "tensor", 1), ("n", "typeParameter", 0),
                     ("c", "tensor", 1), ("n", "typeParameter", 0), ("v", "view", 1), ("a", "tensor", 0), ("tile", "namespace", 0),
                     ("add_to", "kernel", 0), ("a", "tensor", 0), ("inout", "modifier", 0), ("c", "tensor", 0)], found
    assert client.quit() == 0


def lenses(ptoc, folder):
    """Above an exported function: run, run with --check, graph, report."""
    client, path = Client(ptoc), os.path.join(folder, "lens.pto")
    client.open(path, "orch g() { }\nexport orch f() { }\n")
    got = client.at("codeLens", path)
    assert [x["command"]["command"] for x in got] == ["pto.run", "pto.check", "pto.graph", "pto.report"]
    assert all(x["command"]["arguments"] == [uri_of(path), "f"] and x["range"]["start"]["line"] == 1 for x in got)
    assert client.quit() == 0


def lost(ptoc, folder):
    """With a syntax error: what was edited away has no hint and no lens, the rest keeps its own."""
    client, path = Client(ptoc), os.path.join(folder, "lost.pto")
    assert client.open(path, "export orch f() {\n  let n = 1;\n  let m = 2;\n  print n + m;\n}\nexport orch g() { }\n") == []
    client.change(path, (range_of(1, 0, 2, 0), "  let\n"), (range_of(5, 0, 6, 0), ""))
    assert client.messages(uri_of(path))[0]["code"] == "E00"
    hints = client.at("inlayHint", path, range=range_of(0, 0, 99, 0))
    assert [(h["position"]["line"], h["label"]) for h in hints if h["label"].startswith(":")] == [(2, ": i64")], hints
    assert [h["position"]["line"] for h in hints if h["label"].startswith("// need: ")] == [0], hints
    assert {x["command"]["arguments"][1] for x in client.at("codeLens", path)} == {"f"}
    assert client.quit() == 0


def main():
    ptoc, source, step = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for claim in (kinds, tokens, lenses, lost):
        claim(ptoc, source)
    client, wrong = Client(ptoc), []
    paths = sorted(glob.glob(os.path.join(source, "examples", "*.pto")) + glob.glob(os.path.join(source, "test/lit/memory/*.pto")) +
                   glob.glob(os.path.join(source, "test/lit/codegen/*.pto")))[::step]
    for path in map(os.path.abspath, paths):
        wrong += compare(ptoc, client, path)
    assert client.quit() == 0
    print("\n".join(wrong))
    print("%d programs, %d differences" % (len(paths), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
