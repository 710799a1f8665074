"""client.py - a client of the language server, for its tests.

Idea       one process, one session; requests wait for their answers, notifications are collected by method.
"""
import json
import os
import select
import subprocess
import time
import urllib.parse


def uri_of(path):
    return "file://" + urllib.parse.quote(os.path.abspath(path))


def path_of(uri):
    return urllib.parse.unquote(uri[len("file://"):])


class Failure(Exception):
    """The server broke the protocol."""


class Client:
    def __init__(self, ptoc, *options, encodings=("utf-8",), cwd=None, capabilities=None):
        self.process = subprocess.Popen([ptoc, "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd)
        self.buffer = b""
        self.next_id = 0
        self.versions = {}
        self.diagnostics = {}  # uri -> the newest
        self.published = 0
        self.answers = {}
        self.asked = []  # methods of requests of the server
        self.capabilities = self.request("initialize", {
            "processId": None, "rootUri": None,
            "capabilities": {"general": {"positionEncodings": list(encodings)}, **(capabilities or {})}})["capabilities"]
        self.notify("initialized", {})

    # ---- messages

    def send(self, message):
        body = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self, seconds=60):
        """The next message; what is no answer is kept."""
        until = time.monotonic() + seconds
        while True:
            head, mark, rest = self.buffer.partition(b"\r\n\r\n")
            if mark:
                length = int(head.split(b":")[1])
                if len(rest) >= length:
                    self.buffer = rest[length:]
                    message = json.loads(rest[:length].decode())
                    self.note(message)
                    return message
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise Failure("no answer within %d s" % seconds)
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise Failure("the server ended with exit code %s" % self.process.wait())
            self.buffer += data

    def note(self, message):
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            self.published += 1
        elif "id" in message and "method" in message:
            self.asked.append(message["method"])
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": None})
        elif "id" in message:
            self.answers[message["id"]] = message

    def begin(self, method, params):
        """Sends a request; its id."""
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        return self.next_id

    def end(self, number):
        """Waits for the answer to a request: the whole message."""
        while number not in self.answers:
            self.receive()
        return self.answers.pop(number)

    def request(self, method, params):
        answer = self.end(self.begin(method, params))
        if "error" in answer:
            raise Failure("%s: %s" % (method, answer["error"]))
        return answer["result"]

    def refused(self, method, params):
        """The error of a request that has to have one."""
        answer = self.end(self.begin(method, params))
        if "error" not in answer:
            raise Failure("%s was not refused: %s" % (method, answer["result"]))
        return answer["error"]

    def notify(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    # ---- documents

    def open(self, path, text=None):
        """Opens a document; its messages."""
        uri = uri_of(path)
        if text is None:
            with open(path, encoding="utf-8", errors="replace", newline="") as f:
                text = f.read()
        self.versions[uri] = 1
        self.diagnostics.pop(uri, None)
        self.notify("textDocument/didOpen", {
            "textDocument": {"uri": uri, "languageId": "pto", "version": 1, "text": text}})
        return self.messages(uri)

    def messages(self, uri):
        while uri not in self.diagnostics:
            self.receive()
        return self.diagnostics[uri]

    def change(self, path, *changes):
        """Changes are texts, or (range, text)."""
        uri = uri_of(path)
        self.versions[uri] += 1
        self.diagnostics.pop(uri, None)
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": self.versions[uri]},
            "contentChanges": [{"text": c} if isinstance(c, str) else {"range": c[0], "text": c[1]} for c in changes]})

    def close(self, path):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri_of(path)}})

    def at(self, method, path, line=None, character=None, **more):
        params = {"textDocument": {"uri": uri_of(path)}, **more}
        if line is not None:
            params["position"] = {"line": line, "character": character}
        return self.request("textDocument/" + method, params)

    def memory(self):
        """Resident bytes of the server."""
        with open("/proc/%d/statm" % self.process.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def quit(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        code = self.process.wait(60)
        self.process.stdout.close()
        return code


def range_of(line, begin, end_line, end):
    return {"start": {"line": line, "character": begin}, "end": {"line": end_line, "character": end}}


def offset_of(text, position):
    """Of a position in bytes, in a text of bytes; "\\n", "\\r\\n" and "\\r" end a line, and what lies behind the end of a line is that end."""
    lines = text.splitlines(keepends=True) + [b""]
    if position["line"] >= len(lines):
        return len(text)
    line = lines[position["line"]].rstrip(b"\r\n")
    return sum(map(len, lines[:position["line"]])) + min(position["character"], len(line))


def apply_edits(text, edits):
    """A text of bytes with TextEdits done, which do not overlap."""
    for e in sorted(edits, key=lambda e: offset_of(text, e["range"]["start"]), reverse=True):
        begin, end = offset_of(text, e["range"]["start"]), offset_of(text, e["range"]["end"])
        text = text[:begin] + e["newText"].encode() + text[end:]
    return text
