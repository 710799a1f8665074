#!/usr/bin/python3
"""session.py PTOC - a session from its begin to its end: what is answered when, positions in both encodings, changes, imports that see what
is open, fixes, messages of the C compiler, exit codes.

Each function is one claim; its first line says it.
"""
import os
import subprocess
import sys
import tempfile
import time

from client import Client, Failure, apply_edits, range_of, uri_of

PTOC = os.path.abspath(sys.argv[1])
GOOD = "export orch f(n: i64) {\n  print n;\n}\n"
BAD = "export orch f(n: i64) {\n  print m;\n}\n"
MARKED = 'import "std/tile.pto" as tile;\nexport orch f(inout c: f32[64, 64], in a: f32[64, 64]) {\n  tile.add_to(a, c);\n}\n'


def raw(*messages):
    """The exit code and the output of a server that is sent these bytes and no more."""
    data = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(m), m) for m in messages)
    p = subprocess.run([PTOC, "lsp"], input=data, capture_output=True, timeout=60)
    return p.returncode, p.stdout


def exit_codes(folder):
    """0 behind `shutdown`, 1 for `exit` without it and for the end of the input."""
    first = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
    down, out = b'{"jsonrpc":"2.0","id":2,"method":"shutdown"}', b'{"jsonrpc":"2.0","method":"exit"}'
    assert raw(first, down, out)[0] == 0
    assert raw(first, out)[0] == 1
    assert raw(first)[0] == 1
    assert raw()[0] == 1
    assert raw(first, down)[0] == 0


def order_of_a_session(folder):
    """Requests before `initialize`, after `shutdown`, and of unknown methods are refused, each with its code."""
    code, out = raw(b'{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}',
                    b'{"jsonrpc":"2.0","id":"x","method":"initialize","params":{"capabilities":{}}}',
                    b'{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"capabilities":{}}}',
                    b'{"jsonrpc":"2.0","id":4,"method":"no/such","params":{}}',
                    b'{"jsonrpc":"2.0","id":5}', b'[1, 2]', b'{ no json',
                    b'{"jsonrpc":"2.0","method":"no/such"}',
                    b'{"jsonrpc":"2.0","id":6,"method":"shutdown"}',
                    b'{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{}}')
    text = out.decode()
    for part in ('"id":1,"error":{"code":-32002', '"id":"x","result":{"capabilities"', '"id":3,"error":{"code":-32600',
                 '"id":4,"error":{"code":-32601', '"id":null,"error":{"code":-32600', '"id":null,"error":{"code":-32700',
                 '"id":6,"result":null', '"id":7,"error":{"code":-32600'):
        assert part in text, (part, text)
    assert code == 0


def cancelled_requests(folder):
    """A request that is cancelled before it is begun is answered with -32800."""
    code, out = raw(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}',
                    b'{"jsonrpc":"2.0","id":2,"method":"textDocument/formatting","params":{}}',
                    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}')
    assert b'"id":2,"error":{"code":-32800' in out


def ten_changes_are_one_check(folder):
    """Of several changes that wait only the newest is checked."""
    c, path = Client(PTOC), os.path.join(folder, "a.pto")
    c.open(path, GOOD)
    before = c.published
    uri, data = uri_of(path), b""
    for i in range(10):
        body = ('{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"%s","version":%d},'
                '"contentChanges":[{"text":"export orch f() { print x%d; }"}]}}' % (uri, i + 2, i)).encode()
        data += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    c.diagnostics.pop(uri)
    c.send_bytes(data)
    c.messages(uri)
    c.at("formatting", path, options={})
    assert c.published == before + 1, c.published - before
    assert "x9" in c.diagnostics[uri][0]["message"]
    assert c.quit() == 0


def positions(folder):
    """A message stands at its place on a line with characters of 1, 2, 3 and 4 bytes, in both encodings."""
    line = '  print "a\u00e4\u20ac\U0001d11e", m;\n'
    for encodings, units in ((["utf-8"], lambda s: len(s.encode())), (["utf-16"], lambda s: len(s.encode("utf-16-le")) // 2),
                             ([], lambda s: len(s.encode("utf-16-le")) // 2)):
        c, path = Client(PTOC, encodings=encodings), os.path.join(folder, "p.pto")
        got = c.open(path, "export orch f() {\n" + line + "}\n")
        at = units(line[:line.index("m;")])
        assert got[0]["range"] == range_of(1, at, 1, at + 1), got
        # The place as the client names it is found again: the name is replaced.
        c.change(path, (range_of(1, at, 1, at + 1), "1"))
        assert c.messages(uri_of(path)) == []
        assert c.quit() == 0


def line_ends(folder):
    """A line of a client ends with "\\n", "\\r\\n" or "\\r": places of messages and of changes count these."""
    for end in ("\n", "\r\n", "\r"):
        c, path = Client(PTOC), os.path.join(folder, "l.pto")
        got = c.open(path, BAD.replace("\n", end))
        assert [d["range"] for d in got] == [range_of(1, 8, 1, 9)], (end, got)
        c.change(path, (range_of(1, 8, 1, 99), "n;"))
        assert c.messages(uri_of(path)) == []
        assert c.quit() == 0


def ends_of_lines(folder):
    """No message reaches past the end of its line."""
    for end in ("\n", "\r\n"):
        c, path = Client(PTOC), os.path.join(folder, "m.pto")
        got = c.open(path, "export orch f(n: i64" + end + "2) { }" + end)
        assert got and got[0]["range"]["start"] == {"line": 0, "character": 20}, (end, got)
        assert got[0]["range"]["end"] in ({"line": 0, "character": 20}, {"line": 1, "character": 0}), (end, got)
        assert c.quit() == 0


def layout_of_line_ends(folder):
    """Formatting makes what `ptoc fmt` makes, also where only the ends of lines change, and then nothing more."""
    text = "// a\r\nexport orch f(n: i64) {\r\n  print  n;\r\n  // b\r\n\r\n  print n;\n}\r\n"
    for sample in (GOOD.replace("\n", "\r\n"), text, text + "\r\n", text.replace("\r\n", "\n", 1), GOOD[:-1].replace("\n", "\r\n") + "\n",
                   GOOD.replace("\n", "\r\n", 1), GOOD.replace("\n", "\r")):
        c, path = Client(PTOC), os.path.join(folder, "e.pto")
        assert c.open(path, sample) == []
        want = subprocess.run([PTOC, "fmt", "-"], input=sample.encode(), capture_output=True, check=True).stdout
        got = apply_edits(sample.encode(), c.at("formatting", path, options={}))
        assert got == want, (sample, got, want)
        c.change(path, got.decode())
        assert c.at("formatting", path, options={}) == []
        assert c.quit() == 0


def changes(folder):
    """Pieces are replaced in their order; what lies behind the end, or is the wrong way round, is clamped; a change of a document that is
    not open is none."""
    c, path = Client(PTOC), os.path.join(folder, "c.pto")
    c.open(path, GOOD)
    c.change(path, (range_of(1, 8, 1, 9), "k"), (range_of(0, 14, 0, 15), "k"))
    assert c.messages(uri_of(path)) == []
    c.change(path, (range_of(99, 0, 999, 99), "export orch g() { }\n"), (range_of(0, 999, 0, 999), " "))
    assert c.messages(uri_of(path)) == []
    c.change(path, (range_of(0, 15, 0, 14), "m"))
    assert "unknown name 'k'" in c.messages(uri_of(path))[0]["message"]
    c.versions[uri_of(path + "x")] = 1
    c.change(path + "x", "nothing")
    c.change(path, GOOD)
    assert c.messages(uri_of(path)) == []
    c.close(path)
    c.close(path)
    assert c.quit() == 0


def imports_see_what_is_open(folder):
    """A module is read as it is in the editor, by whatever path, and a change in it checks what imports it; when it is closed, as on disk."""
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    module, path = os.path.join(folder, "m.pto"), os.path.join(folder, "sub", "main.pto")
    with open(module, "w") as f:
        f.write("const A = 1;\n")
    c = Client(PTOC)
    text = 'import "../m.pto" as m;\nexport orch f() { print m.B; }\n'
    assert "'B'" in c.open(path, text)[0]["message"]
    c.diagnostics.pop(uri_of(path))
    c.open(module, "const A = 1;\nconst B = 2;\n")
    assert c.messages(uri_of(path)) == []
    c.change(module, "const C = 2;\n")
    c.diagnostics.pop(uri_of(path))
    assert "'B'" in c.messages(uri_of(path))[0]["message"]
    c.change(module, "const B = 2;\n")
    c.diagnostics.pop(uri_of(path))
    assert c.messages(uri_of(path)) == []
    c.diagnostics.pop(uri_of(path))
    c.close(module)
    assert "'B'" in c.messages(uri_of(path))[0]["message"]
    # A module that was never saved is there, too; a mistake in one that is not open is shown in its file.
    c.diagnostics.pop(uri_of(path))
    c.open(os.path.join(folder, "sub", "new.pto"), "const D = 4;\n")
    c.change(path, 'import "new.pto" as n;\nexport orch f() { print n.D; }\n')
    assert c.messages(uri_of(path)) == []
    with open(module, "w") as f:
        f.write("const A = ;\n")
    c.diagnostics.pop(uri_of(module))
    c.change(path, text)
    assert c.messages(uri_of(path)) == []
    assert c.messages(uri_of(module))[0]["code"] == "E00"
    c.diagnostics.pop(uri_of(module))
    c.close(path)
    assert c.messages(uri_of(module)) == []
    assert c.quit() == 0


def places_in_an_edited_module(folder):
    """A place in a module that is open is one of its text in the editor, also while a syntax error keeps an older check of its importer."""
    module, path, c = os.path.join(folder, "k.pto"), os.path.join(folder, "main.pto"), Client(PTOC)
    c.open(module, "// one\n// two\nconst A = 1;\n// three\n")
    text = 'import "k.pto" as k;\nexport orch f() { print k.A; }\n'
    assert c.open(path, text) == []

    def places():
        symbols = [x["location"] for x in c.request("workspace/symbol", {"query": "A"}) if x["name"] == "A"]
        found = c.at("definition", path, 1, text.split("\n")[1].index("A"))
        return [(x["uri"], x["range"]) for x in symbols + (found if isinstance(found, list) else [found])]

    assert places() == [(uri_of(module), range_of(2, 6, 2, 7))] * 2, places()
    # The edit removes the first two lines and makes a later one wrong, so the importer's check still has the old text.
    c.change(module, (range_of(0, 0, 2, 0), ""), (range_of(1, 0, 1, 8), "const = ;"))
    assert places() == [(uri_of(module), range_of(0, 6, 0, 7))] * 2, places()
    # The importer breaks, then the module is whole again: what the importer's check has read is no text of it.
    c.change(path, text + "export orch g( {\n")
    c.change(module, "// a line\nconst A = 1;\n// three\n")
    assert places() == [(uri_of(module), range_of(1, 6, 1, 7))] * 2, places()
    c.change(module, "")
    assert places() == [(uri_of(module), range_of(0, 0, 0, 0))], places()
    assert c.quit() == 0


def actions(folder):
    """A fix is a quick fix; all of one kind are done at once; source.fixAll leaves no message that has a fix; `only` chooses."""
    c, path = Client(PTOC), os.path.join(folder, "x.pto")
    text = MARKED.replace("  tile.add_to(a, c);\n", "  tile.add_to(a, c);\n  tile.add_to(a, c);\n   print  1;\n")
    got = c.open(path, text)
    assert [d["code"] for d in got] == ["E08", "E08"]

    def ask(only=None, at=got[0]["range"]):
        return c.at("codeAction", path, range=at, context={"diagnostics": [], **({"only": only} if only else {})})

    def done(action):
        return apply_edits(text.encode(), action["edit"]["changes"][uri_of(path)]).decode()

    first, all_of_kind, fix_all, _ = ask()
    assert first["isPreferred"] and first["diagnostics"] == [got[0]] and first["title"] == "add 'inout'"
    assert done(first) == text.replace("(a, c)", "(a, inout c)", 1)
    assert done(all_of_kind) == done(fix_all) == text.replace("(a, c)", "(a, inout c)")
    assert [a["kind"] for a in ask(["source.fixAll"])] == ["source.fixAll"]
    assert [a["kind"] for a in ask(["source"])] == ["source.fixAll", "source.format"]
    assert ask(at=range_of(0, 0, 0, 0), only=["quickfix"]) == []
    text = done(fix_all)
    c.change(path, text)
    assert c.messages(uri_of(path)) == []
    (layout,) = ask()
    assert layout["kind"] == "source.format" and "\n  print 1;\n" in done(layout)
    assert c.quit() == 0


def messages_of_bodies(folder):
    """When a file is saved, what the C compiler says about the bodies of kernels stands at its place."""
    c, path = Client(PTOC), os.path.join(folder, "b.pto")
    text = ("kernel k(in a: f32[4], out b: f32[4]) {\n  b[0] = nosuch + a[0];\n}\n"
            "export orch f(in a: f32[4], out b: f32[4]) { k(a, out b); }\n")
    assert c.open(path, text) == []
    c.diagnostics.pop(uri_of(path))
    c.notify("textDocument/didSave", {"textDocument": {"uri": uri_of(path)}})
    got = c.messages(uri_of(path))
    assert got and got[0]["code"] == "E21" and "nosuch" in got[0]["message"], got
    assert got[0]["range"]["start"] == {"line": 1, "character": 9}, got
    # It stays when an editor reports that the file on disk was changed, and when a module is opened and closed as it is on disk.
    c.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(path), "type": 2}, {"uri": uri_of(path), "type": 1}]})
    c.at("documentSymbol", path)
    assert c.diagnostics[uri_of(path)] == got, c.diagnostics
    module = os.path.join(folder, "m.pto")
    with open(module, "w") as f:
        f.write("const A = 1;\n")
    c.change(path, 'import "m.pto" as m;\n' + text.replace("k(a", "print m.A; k(a"))
    assert c.messages(uri_of(path)) == []
    c.notify("textDocument/didSave", {"textDocument": {"uri": uri_of(path)}})
    c.open(module)
    c.at("documentSymbol", path)
    c.close(module)
    c.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(module), "type": 2}]})
    c.at("documentSymbol", path)
    assert [m["code"] for m in c.diagnostics[uri_of(path)]] == ["E21"], c.diagnostics
    # A module that is another on disk is read again.
    with open(module, "w") as f:
        f.write("const B = 1;\n")
    c.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri_of(module), "type": 2}]})
    c.at("documentSymbol", path)
    assert "'A'" in c.diagnostics[uri_of(path)][0]["message"], c.diagnostics
    c.change(path, text.replace("nosuch", "1"))
    assert c.messages(uri_of(path)) == []
    assert c.quit() == 0


def the_log(folder):
    """--log writes each message with its time; a folder cannot be a log."""
    log = os.path.join(folder, "log")
    c = Client(PTOC, "--log=" + log)
    c.open(os.path.join(folder, "l.pto"), BAD)
    assert c.quit() == 0
    with open(log) as f:
        text = f.read()
    assert "-> {" in text and "<- {" in text and "unknown name 'm'" in text and "checked" in text
    p = subprocess.run([PTOC, "lsp", "--log", folder], stdin=subprocess.DEVNULL, capture_output=True)
    assert p.returncode == 4 and b"cannot write" in p.stderr


def main():
    claims = [exit_codes, order_of_a_session, cancelled_requests, ten_changes_are_one_check, positions, line_ends, ends_of_lines, layout_of_line_ends, changes,
              imports_see_what_is_open, places_in_an_edited_module, actions, messages_of_bodies, the_log]
    for claim in claims:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.monotonic()
            claim(os.path.realpath(folder))
            print("%5.2f s  %s" % (time.monotonic() - begin, claim.__doc__.split("\n")[0]))


if __name__ == "__main__":
    main()
