"""Messages of --diag=json: what an object holds, and how a fix is applied.  docs/cli.md has the same in words."""
import json
import os
import subprocess

PLACE = {"file", "line", "column", "end_line", "end_column"}
SEVERITIES = {"error": "EW", "warning": "W"}  # a warning that -Werror makes an error keeps its id


def run_json(ptoc, path, options=()):
    """The exit code and the messages; a line that is no object is an exception."""
    p = subprocess.run([ptoc, "check", "--diag=json", *options, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    return p.returncode, [json.loads(line) for line in p.stderr.decode("utf-8").splitlines()]


def place_wrong(part, what):
    if part["file"] is None:
        return [] if all(part[k] is None for k in PLACE) else ["%s: half a place: %s" % (what, part)]
    numbers = [part[k] for k in ("line", "column", "end_line", "end_column")]
    if not all(type(n) is int and n >= 1 for n in numbers):
        return ["%s: lines and columns are not integers from 1: %s" % (what, part)]
    if (part["end_line"], part["end_column"]) < (part["line"], part["column"]):
        return ["%s: ends before it begins: %s" % (what, part)]
    if not os.path.exists(part["file"]):
        return []
    with open(part["file"], "rb") as f:
        lines = f.read().split(b"\n")
    for line, column in (numbers[:2], numbers[2:]):
        if line > len(lines) or column > len(lines[line - 1]) + 2:
            return ["%s: a place outside of the file: %s" % (what, part)]
    return []


def message_wrong(m):
    """What is wrong with this object, as texts."""
    if set(m) != PLACE | {"severity", "id", "message", "notes", "fixes"}:
        return ["members: %s" % sorted(m)]
    wrong = place_wrong(m, "message")
    if m["severity"] not in SEVERITIES or m["id"][0] not in SEVERITIES[m["severity"]] or len(m["id"]) != 3:
        wrong.append("severity and id: %s %s" % (m["severity"], m["id"]))
    if not isinstance(m["message"], str) or not m["message"] or m["message"].endswith("."):
        wrong.append("message: %r" % m["message"])
    for n in m["notes"]:
        if set(n) != PLACE | {"kind", "message"} or n["kind"] not in ("note", "help") or (n["kind"] == "note") != (n["file"] is not None):
            wrong.append("note: %s" % n)
        else:
            wrong += place_wrong(n, "note")
    for x in m["fixes"]:
        if set(x) != PLACE | {"kind", "message", "begin", "end", "replacement"} or x["kind"] != "fix" or x["file"] is None:
            wrong.append("fix: %s" % x)
        elif not (0 <= x["begin"] <= x["end"]) or not isinstance(x["replacement"], str):
            wrong.append("fix: %s" % x)
        else:
            wrong += place_wrong(x, "fix")
    return wrong


def apply_fix(text, x):
    return text[:x["begin"]] + x["replacement"].encode("utf-8") + text[x["end"]:]


def same(a, b):
    return a["id"] == b["id"] and a["message"] == b["message"] and a["line"] == b["line"] and abs(a["column"] - b["column"]) < 2


def fixes_wrong(ptoc, path, messages, options=()):
    """Applies each fix of the program's messages by itself to a copy beside the file and compiles it: the message has to be gone, with no new one
    before it.  Returns what is wrong, and how many fixes were applied."""
    wrong, count = [], 0
    for m in messages:
        for x in m["fixes"]:
            if x["file"] != path:
                continue
            count += 1
            with open(path, "rb") as f:
                text = f.read()
            copy = path[:-4] + ".fixed.pto"
            with open(copy, "wb") as f:
                f.write(apply_fix(text, x))
            _, after = run_json(ptoc, copy, options)
            os.remove(copy)
            # A fix of another line may move the message; a line that the fix adds moves it by one.
            moved = x["replacement"].count("\n")
            left = [a for a in after if a["file"] == copy and same(m, dict(a, line=a["line"] - moved))]
            if left:
                wrong.append("%s:%d:%d: %s: after the fix '%s' it is still said" % (path, m["line"], m["column"], m["message"], x["message"]))
            elif m["id"] != "E00" and any(a["id"] == "E00" for a in after):
                wrong.append("%s:%d:%d: %s: after the fix '%s' it is no program" % (path, m["line"], m["column"], m["message"], x["message"]))
    return wrong, count
