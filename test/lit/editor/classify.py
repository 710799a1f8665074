"""Compares what an editor's syntax file makes of .pto text with what the compiler's lexer makes of it, character by character.

usage: classify.py vim|textmate EDITOR_FOLDER PTOC FILE...
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# ---- what the lexer says: a class for every character that is not blank ----


WORD_HERE = re.compile(r"scratch\s+\w|writes\s*\[")  # names that are words where a formal says so


def expected(ptoc, path, text):
    """List of (offset, class); classes: keyword name number string comment c punct."""
    tokens = subprocess.run([ptoc, "build", "--emit=tokens", path], stdout=subprocess.PIPE, check=True).stdout.decode()
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = {}
    for token in tokens.splitlines():
        place, kind, shown = token.split(" ", 2) if token.count(" ") > 1 else token.split(" ") + [""]
        line, column = map(int, place.split(":"))
        at = starts[line - 1] + column - 1
        if kind == "c-body":
            length = len(json.loads(shown.replace("\\'", "'")))
        elif kind == "string":
            length = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, at).end() - at
        elif kind in ("int", "float"):
            length = re.compile(r"0[xX][\w]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?").match(text, at).end() - at
        else:
            length = len(shown)
        of_kind = {"word": "keyword", "name": "name", "int": "number", "float": "number", "string": "string", "c-body": "c", "punct": "punct"}
        is_word_here = kind == "name" and WORD_HERE.match(text, at)
        for i in range(at, at + length):
            found[i] = "keyword" if is_word_here else of_kind[kind]
    for i, c in enumerate(text):
        if i not in found and not c.isspace():
            found[i] = "comment"
    return sorted((i, kind) for i, kind in found.items() if not text[i].isspace())


# ---- Vim ----


def vim_class(group):
    if group in ("ptoComment", "ptoTodo"):
        return "comment"
    if group in ("ptoString", "ptoEscape"):
        return "string"
    if group == "ptoNumber":
        return "number"
    if group in ("ptoBody", "ptoBrace") or not group.startswith("pto") and group:
        return "c"
    if group in ("ptoDeclaration", "ptoDirection", "ptoAttribute", "ptoStatement", "ptoConditional", "ptoRepeat", "ptoBoolean"):
        return "keyword"
    return "name"


def vim_classes(folder, path, text, offsets):
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places, line = [], 0
    for offset in offsets:
        while starts[line + 1] <= offset:
            line += 1
        places.append("%d %d" % (line + 1, offset - starts[line] + 1))
    with tempfile.TemporaryDirectory() as work:
        asked, answered, script = (os.path.join(work, name) for name in ("asked", "answered", "script.vim"))
        with open(asked, "w") as f:
            f.write("\n".join(places) + "\n")
        with open(script, "w") as f:
            f.write("call writefile(map(readfile('%s'), {_, v -> synIDattr(synID(split(v)[0], split(v)[1], 0), 'name')}), '%s')\nquitall!\n"
                    % (asked, answered))
        command = ["vim", "-u", "NONE", "-i", "NONE", "-N", "-n", "-es", "--cmd", "set runtimepath^=" + os.path.join(folder, "vim"),
                   "-c", "filetype on", "-c", "syntax on", "-c", "edit " + path, "-S", script]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        with open(answered) as f:
            return [vim_class(line.rstrip("\n")) for line in f]


# ---- TextMate: the part of its matching that our grammar uses ----


class TextMate:
    def __init__(self, folder):
        with open(os.path.join(folder, "vscode", "syntaxes", "pto.tmLanguage.json")) as f:
            self.grammar = json.load(f)

    def rules(self, patterns):
        for p in patterns:
            include = p.get("include")
            if not include:
                yield p
            elif include.startswith("#"):
                rule = self.grammar["repository"][include[1:]]
                yield from [rule] if "match" in rule or "begin" in rule else self.rules(rule["patterns"])

    def scopes(self, text):
        """The names of the scopes of every character, outermost first."""
        out, stack, at = [], [], 0
        for line in text.split("\n"):
            names = [None] * (len(line) + 1)

            def paint(low, high, extra):
                for i in range(low, high):
                    names[i] = [n for rule in stack for n in (rule.get("name"), rule.get("contentName")) if n] + [e for e in extra if e]

            at = 0
            while True:
                rules = list(self.rules(stack[-1]["patterns"] if stack and "patterns" in stack[-1] else [] if stack else self.grammar["patterns"]))
                best, chosen = re.compile(stack[-1]["end"]).search(line, at) if stack else None, None
                for rule in rules: # the end wins where both begin
                    m = re.compile(rule.get("match") or rule["begin"]).search(line, at)
                    if m and (not best or m.start() < best.start()):
                        best, chosen = m, rule
                if not best:
                    paint(at, len(line), [])
                    break
                paint(at, best.start(), [])
                if chosen is None:
                    paint(best.start(), best.end(), [])
                    stack.pop()
                elif "match" in chosen:
                    paint(best.start(), best.end(), [chosen.get("name")])
                    for group, capture in chosen.get("captures", {}).items():
                        paint(best.start(int(group)), best.end(int(group)), [capture["name"]])
                else:
                    capture = chosen.get("beginCaptures", {}).get("0", {}).get("name")
                    stack.append(chosen)
                    paint(best.start(), best.end(), [capture])
                if best.end() == at and chosen is not None and "match" in chosen:
                    sys.exit("a rule that matches nothing: %r" % chosen)
                at = best.end()
            out.extend(names[:len(line)] + [[]])
        return out


def textmate_class(scopes):
    text = " ".join(scopes or [])
    if "meta.embedded.block.c" in text:
        return "c"
    for word, kind in (("comment.", "comment"), ("string.", "string"), ("constant.character", "string"), ("constant.numeric", "number"),
                       ("keyword.", "keyword"), ("storage.", "keyword"), ("constant.language", "keyword")):
        if word in text:
            return kind
    return "name"


# ---- comparing ----


def main():
    kind, folder, ptoc, *files = sys.argv[1:]
    checked, wrong = 0, 0
    for path in files:
        with open(path) as f:
            text = f.read()
        want = expected(ptoc, path, text)
        if kind == "vim":
            got = vim_classes(folder, path, text, [i for i, _ in want])
        else:
            scopes = TextMate(folder).scopes(text)
            got = [textmate_class(scopes[i]) for i, _ in want]
        if len(got) != len(want):
            sys.exit("%s: %d answers to %d questions" % (path, len(got), len(want)))
        for (offset, a), b in zip(want, got):
            checked += 1
            if a != b and not (a == "punct" and b == "name"):
                wrong += 1
                line = text.count("\n", 0, offset) + 1
                if wrong <= 10:
                    print("%s:%d: %r in %r is %s, %s says %s" % (path, line, text[offset], text.split("\n")[line - 1].strip(), a, kind, b))
    print("%s: %d characters of %d files, %d wrong" % (kind, checked, len(files), wrong))
    sys.exit(1 if wrong or not checked else 0)


main()
