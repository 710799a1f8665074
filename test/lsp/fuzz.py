#!/usr/bin/python3
"""fuzz.py PTOC SOURCE [SECONDS [SEED]] - messages that no client would send: truncated headers, wrong lengths, deep and invalid JSON, wrong
types, positions behind the end, ranges that are the wrong way round, changes of documents that are not open.

The server must answer each request that it can read, must not crash or hang, and must not grow.  Between the wild messages the same session
asks for something that has an answer.
"""
import json
import os
import random
import sys
import time

from client import Client, Failure, range_of, uri_of
from corpus import programs

METHODS = ["hover", "definition", "references", "rename", "prepareRename", "completion", "signatureHelp", "documentSymbol", "formatting",
           "onTypeFormatting", "codeAction", "inlayHint", "semanticTokens/full", "codeLens"]
WORDS = ["uri", "textDocument", "position", "line", "character", "range", "start", "end", "contentChanges", "text", "newName", "context",
         "settings", "query"]
PIECES = ["", "{", "}", "let x = ", ";", "tile.", "(", "\u20ac", "\U0001d11e", "\x00", "\n", "\r", "for i in 0 .. 4 {", "kernel k(", "=> {",
          "@", "x[i, j] = sum(k: a[i, k]);", "/*", "\"", "import \"std/nn.pto\" as nn;\n"]


def wild_value(r, depth=0):
    kind = r.randrange(8 if depth < 6 else 6)
    return [None, True, r.randrange(-5, 1 << 40), "x" * r.randrange(9), -1.5, "file:///", [], {}][kind] if kind < 6 else \
        [wild_value(r, depth + 1) for _ in range(r.randrange(4))] if kind == 6 else \
        {r.choice(WORDS): wild_value(r, depth + 1) for _ in range(r.randrange(4))}


def wild_position(r):
    return {"line": r.choice([0, 1, 2, r.randrange(60), 1 << 31, -3, 1 << 45]), "character": r.choice([0, r.randrange(40), 1 << 40, -1])}


def wild_message(r, uri):
    """A message that is JSON."""
    kind = r.randrange(4)
    number = "w%d" % r.randrange(1 << 60)
    if kind == 0:
        return {"jsonrpc": "2.0", "id": number, "method": "textDocument/" + r.choice(METHODS), "params": wild_value(r)}
    if kind == 1:
        return {"jsonrpc": "2.0", "id": number, "method": "textDocument/" + r.choice(METHODS), "params": {
            "textDocument": {"uri": uri}, "position": wild_position(r), "newName": r.choice(["x", "for", "1", "", "a b"]), "ch": "}",
            "range": {"start": wild_position(r), "end": wild_position(r)}, "context": {"diagnostics": []}}}
    if kind == 2:
        return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": r.choice([uri, uri, uri + "z"]), "version": r.randrange(99)},
            "contentChanges": [{"range": {"start": wild_position(r), "end": wild_position(r)}, "text": r.choice(PIECES)}
                               for _ in range(r.randrange(3))]}}
    return {"jsonrpc": "2.0", "method": r.choice(["textDocument/didOpen", "textDocument/didChange", "workspace/didChangeConfiguration", "x",
                                                  "textDocument/didSave"]), "params": wild_value(r)}


def wild_bytes(r):
    """Bytes that are no message."""
    return r.choice([
        b"Content-Length: 12\r\n\r\n{ no json at", b"Content-Length: x\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"\r\n\r\n", b"junk\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Type: x\r\n\r\n", b"Content-Length: 0\r\n\r\n",
        b"content-length:2\r\nContent-Type: text\r\n\r\n[]", b"Content-Length: 3\r\n\r\n\xff\xfe\xfd", b"Content-Length: 6\r\n\r\n\"\\ud8\"",
        b"Content-Length: 30000\r\n\r\n" + b"[" * 30000, b"Content-Length: 9\r\n\r\n[1e99999]",
        b"Content-Length: 26\r\n\r\n12345678901234567890123456"])


def main():
    ptoc, source = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 4
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    print("seed", seed)
    r = random.Random(seed)
    texts = [text for _, text in programs(source, 9) if len(text) < 8000]
    client = Client(ptoc)
    path = os.path.join(os.path.abspath(source), "fuzzed.pto")  # it is only open, never written
    uri = uri_of(path)
    client.open(path, texts[0])
    until, count, first = time.monotonic() + seconds, 0, None
    while time.monotonic() < until:
        for _ in range(20):
            if r.randrange(5) == 0:
                client.send_bytes(wild_bytes(r))
            else:
                body = json.dumps(wild_message(r, uri)).encode()
                client.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            count += 1
        client.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "version": 1, "text": r.choice(texts)}})
        client.at("formatting", path, options={})
        client.answers.clear()
        if count >= 2000 and first is None:
            first = client.memory()
    last = client.memory()
    assert client.quit() == 0
    print("%d messages, %d KB at the end, %s KB before" % (count, last // 1024, first and first // 1024))
    # An allocator keeps some of what it was given back; what grows does not stop at a few megabytes.
    assert "ASAN_OPTIONS" in os.environ or first is None or last < 2 * first + (8 << 20), (first, last)


if __name__ == "__main__":
    main()
