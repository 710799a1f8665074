#!/usr/bin/python3
"""diagnostics.py PTOC SOURCE [--all] - the messages that the server publishes are those of `ptoc check --diag=json`, line by line (C bodies are compiled
when a file is saved, so not here), and its
layout is that of `ptoc fmt`.
"""
import json
import os
import subprocess
import sys

from client import Client, apply_edits, path_of, uri_of
from corpus import programs


def of_check(ptoc, path):
    """{file: messages} as `check` prints them."""
    out = subprocess.run([ptoc, "check", "--no-bodies", "--diag=json", path], capture_output=True).stderr.decode()
    found = {}
    for line in out.splitlines():
        if not line.startswith("{"):
            continue
        m = json.loads(line)
        at = [m["line"], m["column"], m["end_line"], m["end_column"]] if m["file"] else [1, 1, 1, 1]
        notes = [n for n in m["notes"] if n["kind"] == "note" and n["file"]]
        found.setdefault(m["file"] or path, []).append(
            (m["id"], m["severity"], at, m["message"], [(n["line"], n["column"], n["message"]) for n in notes]))
    return found


def of_server(list_):
    found = []
    for d in list_:
        r = d["range"]
        at = [r["start"]["line"] + 1, r["start"]["character"] + 1, r["end"]["line"] + 1, r["end"]["character"] + 1]
        notes = [(n["location"]["range"]["start"]["line"] + 1, n["location"]["range"]["start"]["character"] + 1, n["message"])
                 for n in d["relatedInformation"]]
        found.append((d["code"], "error" if d["severity"] == 1 else "warning", at, d["message"].split("\nhelp: ")[0].split("\nnote: ")[0], notes))
        assert (d.get("tags") == [1]) == (d["code"] in ("W02", "W09")), d
    return found


def main():
    ptoc, source = sys.argv[1:3]
    whole = "--all" in sys.argv
    client = Client(ptoc)
    wrong, count, messages = [], 0, 0
    for path, text in programs(source, 1 if whole else 6):
        expected = of_check(ptoc, path)
        got = of_server(client.open(path, text))
        own = [m for file, list_ in expected.items() if file and os.path.realpath(file) == os.path.realpath(path) for m in list_]
        if sorted(map(str, own)) != sorted(map(str, got)):
            wrong.append("%s:\n  check  %s\n  server %s" % (path, own, got))
        fmt = subprocess.run([ptoc, "fmt", "-"], input=text.encode(), capture_output=True)
        edits = client.at("formatting", path, options={"tabSize": 4, "insertSpaces": True})
        laid_out = fmt.stdout if fmt.returncode == 0 else text.encode()
        if apply_edits(text.encode(), edits) != laid_out:
            wrong.append("%s: another layout than that of fmt" % path)
        client.close(path)
        count += 1
        messages += len(got)
    assert client.quit() == 0
    print("\n".join(wrong))
    print("%d programs, %d messages, %d differences" % (count, messages, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
