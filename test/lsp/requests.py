#!/usr/bin/python3
"""requests.py PTOC SOURCE [--all] - every request of docs/lsp.md at every token of every program (without --all: at some): no answer is an
internal error, and every range and every definition lies in its file.  Then what single answers say.
"""
import os
import re
import sys
import tempfile

from client import Client, path_of, range_of, uri_of
from corpus import programs

TOKEN = re.compile(r"\w+|[^\w\s]")
AT = ["hover", "definition", "references", "prepareRename", "completion", "signatureHelp"]
WHOLE = ["documentSymbol", "formatting", "codeLens", "semanticTokens/full"]


class Files:
    """Lines of files, to see what lies in them."""
    def __init__(self):
        self.lines = {}

    def of(self, uri):
        if uri not in self.lines:
            with open(path_of(uri), "rb") as f:
                self.lines[uri] = [len(line) for line in f.read().split(b"\n")]
        return self.lines[uri]

    def check(self, uri, r):
        lines = self.of(uri)
        for end in (r["start"], r["end"]):
            assert end["line"] < len(lines) and end["character"] <= lines[end["line"]], (uri, r)
        assert (r["start"]["line"], r["start"]["character"]) <= (r["end"]["line"], r["end"]["character"]), r


def check_answer(files, uri, method, result):
    if isinstance(result, list):
        for one in result:
            check_answer(files, uri, method, one)
    elif isinstance(result, dict):
        if "uri" in result and "range" in result:
            files.check(result["uri"], result["range"])
            return
        for key, value in result.items():
            if key in ("range", "selectionRange"):
                files.check(uri, value)
            elif key == "position":
                files.check(uri, {"start": value, "end": value})
            elif key == "changes":
                for its, edits in value.items():
                    for e in edits:
                        files.check(its, e["range"])
            elif isinstance(value, (dict, list)):
                check_answer(files, uri, method, value)


def everywhere(ptoc, source, whole):
    client, files, count = Client(ptoc), Files(), 0
    has = client.capabilities
    for number, (path, text) in enumerate(programs(source, 1 if whole else 8)):
        uri = uri_of(path)
        client.open(path, text)
        line_count = len(text.split("\n"))
        asked = [("textDocument/" + m, {"textDocument": {"uri": uri}, "options": {}}) for m in WHOLE
                 if m in ("documentSymbol", "formatting") or m.split("/")[0] + "Provider" in has]
        all_of_it = range_of(0, 0, line_count, 0)
        asked.append(("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": all_of_it, "context": {"diagnostics": []}}))
        asked.append(("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}))
        if "inlayHintProvider" in has:
            asked.append(("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": all_of_it}))
        at = 0
        for line_number, line in enumerate(text.split("\n")):
            for token in TOKEN.finditer(line):
                at += 1
                if not whole and (at + number) % 17:
                    continue
                for m in AT:
                    asked.append(("textDocument/" + m, {
                        "textDocument": {"uri": uri}, "context": {"includeDeclaration": True},
                        "position": {"line": line_number, "character": len(line[:token.start() if at % 2 else token.end()].encode())}}))
        for begin in range(0, len(asked), 64):  # many at a time, for both sides to be busy
            numbers = [client.begin(m, params) for m, params in asked[begin:begin + 64]]
            for (m, params), n in zip(asked[begin:], numbers):
                answer = client.end(n)
                if "error" in answer:
                    assert answer["error"]["code"] == -32803 and m.endswith("Rename"), (path, m, params, answer)
                else:
                    check_answer(files, uri, m, answer["result"])
                count += 1
        client.close(path)
    for query in ("", "gemm", "zzzz"):
        check_answer(files, None, "workspace/symbol", client.request("workspace/symbol", {"query": query}))
    assert any(s["name"] == "gemm" for s in client.request("workspace/symbol", {"query": "gem"}))
    assert client.quit() == 0
    return count


# ---- single answers

TEXT = '''import "std/tile.pto" as tile;
const T = 64;
struct Pair<n> { a: f32[n, n]; count: i64; }
kernel twice<N>(in x: f32[N], out y: f32[N]) on vector { for (int64_t i = 0; i < N; i++) y[i] = 2 * x[i]; }
kernel scaled<N>(in x: f32[N], s: f32, out y: f32[N]) => { y[i] = s * x[i]; }
orch inner(in A: f32[T, T], inout C: f32[T, T]) {
  tile.add_to(A, inout C);
}
export orch f(in A: f32[T, T], in B: f32[T, T], inout C: f32[T, T], n: i64) {
  view At = A tiled [32, 32];
  for i in 0 .. n {
    let P = tile.gemm(A, B);
    tile.add_to(P, inout C);
  }
  inner(A, inout C);
  print T; // E08
}
export orch g(in p: Pair[T], inout C: f32[T, T]) {
  tile.add_to(p.a, inout C);
}
'''


def place(text, needle, skip=0):
    """Line and character of a piece of the text, in front of its letter number `skip`."""
    begin = text.index(needle) + skip
    return text.count("\n", 0, begin), begin - (text.rfind("\n", 0, begin) + 1)


class Session:
    def __init__(self, ptoc, folder):
        self.client, self.path, self.text = Client(ptoc), os.path.join(folder, "t.pto"), TEXT
        assert [d["code"] for d in self.client.open(self.path, TEXT)] == ["W02"]  # At

    def set(self, text):
        self.text = text
        self.client.change(self.path, text)

    def ask(self, method, needle, skip=0, **more):
        return self.client.at(method, self.path, *place(self.text, needle, skip), **more)

    def hover(self, needle, skip=0):
        return self.ask("hover", needle, skip)["contents"]["value"]

    def labels(self, needle, skip=0):
        return {i["label"]: i for i in self.ask("completion", needle, skip)["items"]}


def hovers(s):
    """A hover has the declaration as written, and what was found."""
    assert "let P = tile.gemm(A, B)" in s.hover("P, inout") and "f32[64, 64]" in s.hover("P, inout")
    assert "Lies in" in s.hover("P, inout") and "16384 bytes" in s.hover("P, inout"), s.hover("P, inout")
    assert "view At = A tiled [32, 32]" in s.hover("At =") and "32" in s.hover("At =")
    assert "in A: f32[T, T]" in s.hover("A, B)") and "`in f32[64, 64]`" in s.hover("A, B)")
    assert "const T = 64" in s.hover("print T", 6) and "= 64" in s.hover("print T", 6)
    assert "for i in 0 .. n" in s.hover("i in 0 .. n")
    gemm = s.hover("gemm(A")
    assert "kernel gemm" in gemm and "on cube" in gemm and "task gemm" in gemm, gemm
    assert "may wait for" in s.hover("add_to(P", 1)
    assert "task add_to" in s.hover("inner(A, i"), s.hover("inner(A, i")
    assert "marker missing" in s.hover("E08", 1)
    assert "cost" in s.hover("scaled<N>") and "`i in 0 .. N`" in s.hover("y[i] = s", 2)
    assert "proved" in s.hover("s * x[i]", 6), s.hover("s * x[i]", 6)
    assert "struct Pair<n>" in s.hover("Pair[T]") and "a: f32[n, n]" in s.hover("p.a", 2)
    assert "tile.pto" in s.hover("tile.gemm")
    assert s.ask("hover", "export orch f", 0) is None


def definitions(s):
    """A definition is where the name is declared; of the library in a file that exists."""
    def at(needle, skip=0):
        return s.ask("definition", needle, skip)
    assert at("P, inout")["range"]["start"] == dict(zip(("line", "character"), place(s.text, "P = tile")))
    gemm = at("gemm(A")
    with open(path_of(gemm["uri"])) as f:
        line = f.read().split("\n")[gemm["range"]["start"]["line"]]
    assert "kernel gemm" in line and line[gemm["range"]["start"]["character"]:].startswith("gemm"), line
    assert at("tile.gemm")["uri"] == gemm["uri"] and at('tile.pto" as')["uri"] == gemm["uri"]
    assert at("p.a", 2)["range"]["start"] == dict(zip(("line", "character"), place(s.text, "a: f32[n")))
    assert at("Pair[T]")["range"]["start"]["line"] == 2
    assert at("i < N; i++", 4)["range"]["start"] == dict(zip(("line", "character"), place(s.text, "N>(in x")))
    assert at("s * x[i]", 6)["range"]["start"] == dict(zip(("line", "character"), place(s.text, "y[i] = s", 2)))
    assert len(s.ask("references", "C: f32[T, T], n", context={"includeDeclaration": True})) == 3
    assert len(s.ask("references", "C: f32[T, T], n", context={"includeDeclaration": False})) == 2


def symbols(s):
    """The outline of a document."""
    got = s.client.at("documentSymbol", s.path)
    assert [x["name"] for x in got] == ["tile", "T", "Pair", "twice", "scaled", "inner", "f", "g"]
    assert [x["name"] for x in got[2]["children"]] == ["a", "count"]


def completions(s):
    """Names in scope with their types, members, formals, workers, attributes, though the text has errors."""
    good = s.text
    s.set(good.replace("  print T; // E08\n", "  tile.\n  print T;\n"))
    assert "gemm" in s.labels("tile.\n", 5) and "P" not in s.labels("tile.\n", 5)
    s.set(good.replace("    tile.add_to(P, inout C);\n", "    tile.add_to(P, \n"))
    got = s.labels("to(P, \n", 6)
    assert "inout c" in got and got["inout c"]["insertText"] == "inout ", got.get("inout c")
    assert got["P"]["detail"] == "f32[64, 64]" and got["i"] and got["At"] and got["T"] and got["min"]
    assert s.ask("signatureHelp", "to(P, \n", 6)["activeParameter"] == 1
    s.set(good.replace("tile.add_to(p.a", "tile.add_to(p."))
    assert set(s.labels("(p.", 3)) == {"a", "count"}
    s.set(good.replace("on vector {", "on  {"))
    assert set(s.labels("on  {", 3)) == {"cube", "vector", "cpu", "accel"}
    s.set(good.replace("    let P =", "    @ let P ="))
    assert set(s.labels("@ let", 1)) == {"priority", "name", "timeout", "at", "dist"}
    s.set(good.replace("// E08", "// tile."))
    assert s.labels("// tile.", 8) == {} and "P" not in s.labels("print T", 6)
    s.set(good)


def many_names(s):
    """Of more than 500 names those that begin with the typed letters, the nearest first; the client asks again."""
    good = s.text
    s.set("".join("const name%d = %d;\n" % (i, i) for i in range(1200)) +
          "export orch many(n: i64) { let near = n; print na, near, name7; }\n")

    def ask(needle, skip):
        got = s.ask("completion", needle, skip)
        return got["isIncomplete"], [i["label"] for i in got["items"] if i["label"].startswith("na") or i["label"] in ("near", "n", "many")]
    cut, names = ask("name7;", 0)
    assert cut and names[:2] == ["near", "n"] and len(names) == 500, (cut, len(names))
    cut, names = ask("name7;", 5)
    assert cut and names == ["name%d" % i for i in range(1200) if str(i)[0] == "7"], names
    assert ask("near, name7", 4) == (True, ["near"])
    s.set(good)
    assert not s.ask("completion", "print T", 6)["isIncomplete"]


def signatures(s):
    """Formals with their directions, the current one marked; kernels of one name by their element types."""
    got = s.ask("signatureHelp", "gemm(A, B)", 8)
    assert got["activeParameter"] == 1
    chosen = got["signatures"][got["activeSignature"]]
    assert "gemm" in chosen["label"] and all(p["label"] in chosen["label"] for p in chosen["parameters"])
    assert s.ask("signatureHelp", "inner(A, i", 6)["signatures"][0]["parameters"][1]["label"] == "inout C: f32[T, T]"
    assert s.ask("signatureHelp", "print T", 6) is None


def positions_are_moved(s):
    """With a syntax error the newest good result answers, at places that the edits have moved."""
    s.client.change(s.path, (range_of(8, 0, 8, 0), "// one\n// more\norch broken(\n"))
    s.text = s.text.replace("export orch f(", "// one\n// more\norch broken(\nexport orch f(")
    assert s.client.messages(uri_of(s.path))[0]["code"] == "E00"
    got = s.ask("definition", "P, inout")
    assert got["range"]["start"] == dict(zip(("line", "character"), place(s.text, "P = tile")))
    assert "let P" in s.hover("P, inout")
    # The whole text replaced by itself, but for a word of the broken line: nothing else moves.
    lines = s.text.split("\n")
    s.text = s.text.replace("broken(", "(")
    s.client.change(s.path, (range_of(0, 0, len(lines) - 1, len(lines[-1])), s.text))
    assert s.client.messages(uri_of(s.path))[0]["code"] == "E00"
    assert "let P" in s.hover("P, inout")
    s.set(TEXT)


def main():
    ptoc, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        s = Session(ptoc, os.path.realpath(folder))
        for claim in (hovers, definitions, symbols, completions, many_names, signatures, positions_are_moved):
            claim(s)
        assert s.client.quit() == 0
    print("%d requests" % everywhere(ptoc, source, "--all" in sys.argv))


if __name__ == "__main__":
    main()
