"""entries.py - the list of mutants: how an entry is written, found again in the source, and applied.

An entry of a file *.list is a head, the old lines, the new lines, and perhaps a mark with its reason:

    [3f2a91c0] runtime/submit/deferred.c has_room compare
    - return o->head - o->tail <= o->window->task_mask &&
    + return o->head - o->tail < o->window->task_mask &&
    = equivalent: a sentence that proves it

Idea       an entry names its place by what stands there, never by a line number: the function, the old lines without their indentation,
           and, where these lines occur several times in the function, `#n` after the operator.  It holds until those lines change.
Owner      Entry.
Invariant  the name in brackets is a digest of the function, the old lines, the new lines and n, so it is the same after every
           regeneration; a mark stays with its name.
Tests      self_test.py; test_list.py asks each entry of the tree
"""
import hashlib
import os
import re

import operators

HEAD = re.compile(r"\[(\w{8})\] (\S+) (\S+) (\w+)(?: #(\d+))?$")


class Entry:
    def __init__(self, path, function, operator, old, new, nth=1, mark=None):
        self.path, self.function, self.operator, self.old, self.new, self.nth, self.mark = path, function, operator, old, new, nth, mark
        text = "\0".join([function, "\n".join(old), "\n".join(new), str(nth)])
        self.name = hashlib.sha256(text.encode()).hexdigest()[:8]

    def text(self):
        head = "[%s] %s %s %s%s" % (self.name, self.path, self.function, self.operator, " #%d" % self.nth if self.nth > 1 else "")
        lines = [head] + ["- " + line for line in self.old] + ["+ " + line for line in self.new]
        return "\n".join(lines + (["= equivalent: " + self.mark] if self.mark else [])) + "\n"

    def place(self, text):
        """(begin, end) of the old lines in the text of the file; None: they are not there any more."""
        tokens = operators.tokens_of(text)
        for name, first, last in operators.functions_of(tokens):
            if name != self.function:
                continue
            starts = list(operators.line_starts(text, tokens[first].begin, tokens[last].end))
            lines = [operators.line_at(text, at) for at in starts]
            found = [i for i in range(len(lines)) if lines[i:i + len(self.old)] == self.old]
            if len(found) >= self.nth:
                begin, end = starts[found[self.nth - 1]], starts[found[self.nth - 1] + len(self.old) - 1]
                stop = text.find("\n", end)
                return begin, stop if stop >= 0 else len(text)
        return None

    def apply(self, text):
        """The text of the mutant; None: the entry does not apply."""
        place = self.place(text)
        if place is None:
            return None
        begin, end = place
        indent = re.match(r"[ \t]*", text[begin:]).group(0)
        return text[:begin] + "\n".join(indent + line for line in self.new) + text[end:]


def parse(text, source):
    """Entries of the text of one list; a mistake is a ValueError with its line."""
    found = []
    lines = [line.rstrip("\n") for line in text.splitlines()]
    i = 0
    while i < len(lines):
        if not lines[i].strip() or lines[i].startswith("#"):
            i += 1
            continue
        head = HEAD.match(lines[i])
        if not head:
            raise ValueError("%s:%d: expected [name] file function operator, found %r" % (source, i + 1, lines[i]))
        at, i = i + 1, i + 1
        old, new, mark = [], [], None
        while i < len(lines) and lines[i][:1] in ("-", "+", "="):
            kind, body = lines[i][0], lines[i][2:]
            if kind == "=":
                if not body.startswith("equivalent: ") or len(body) < len("equivalent: ") + 20:
                    raise ValueError("%s:%d: a mark is `= equivalent: ` and the sentence that proves it" % (source, i + 1))
                mark = body[len("equivalent: "):]
            else:
                (old if kind == "-" else new).append(body)
            i += 1
        entry = Entry(head.group(2), head.group(3), head.group(4), old, new, int(head.group(5) or 1), mark)
        if not old:
            raise ValueError("%s:%d: an entry without old lines" % (source, at))
        if head.group(1) not in (entry.name, "new_____"):
            raise ValueError("%s:%d: the name of this entry is %s" % (source, at, entry.name))
        found.append(entry)
    return found


def read(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return parse(file.read(), os.path.basename(path))


def comments_of(path):
    """The lines at the top of a list that explain it."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        head = []
        for line in file:
            if not line.startswith("#") and line.strip():
                break
            head.append(line)
    return "".join(head).rstrip("\n") + "\n" if head else ""


def write(path, entries, head=""):
    text = head + ("\n" if head else "") + "\n".join(e.text() for e in entries)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.replace(path + ".new", path)
