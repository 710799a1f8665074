"""docs/seeds.md: every word of its list has a row, and every name of this project in it exists in the tree.

usage: check_seeds.py SOURCE

In the second and third column of a table, and in the text, `a/b.c` is a file of the tree or of runtime/, `--x` an option, and each word of anything
else a word of the sources.  A row whose second column is empty says "planned" in the third.
"""
import glob
import os
import re
import sys

WORDS = 143
FOLDERS = ("runtime", "codegen", "frontend", "kernels", "tools", "examples")
ENDINGS = (".c", ".h", ".def", ".y", ".re", ".pto", ".cpp")


def vocabulary(source):
    words = set()
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(source, folder, "**", "*"), recursive=True):
            if path.endswith(ENDINGS):
                with open(path, encoding="utf-8") as f:
                    words.update(re.findall(r"\w+", f.read()))
    return words


def is_there(source, words, name):
    if name.startswith("."):
        return name[1:] in {e[1:] for e in ENDINGS}
    if "/" in name:
        return any(os.path.exists(os.path.join(source, top, name)) for top in ("", "runtime"))
    return all(w in words for w in re.findall(r"\w+", name))


def main():
    source = sys.argv[1]
    with open(os.path.join(source, "docs", "seeds.md"), encoding="utf-8") as f:
        page = f.read()
    text, listed = re.fullmatch(r"(.*)```words\n(.*)```\n", page, flags=re.S).groups()
    listed = listed.split()
    words, faults, rows = vocabulary(source), [], {}
    for number, line in enumerate(text.split("\n"), 1):
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("| `") else None
        if cells and len(cells) != 3:
            faults.append("line %d: a row has three columns" % number)
            continue
        for word in re.findall(r"`([^`]+)`", cells[0]) if cells else ():
            if word in rows:
                faults.append("line %d: '%s' has a row in line %d already" % (number, word, rows[word]))
            rows[word] = number
        if cells and not cells[1] and not cells[2].startswith("planned"):
            faults.append("line %d: neither a name of the project nor 'planned'" % number)
        for name in re.findall(r"`([^`]+)`", " ".join(cells[1:]) if cells else line):
            if not is_there(source, words, name):
                faults.append("line %d: there is no '%s' in the tree" % (number, name))
    faults += ["'%s' of the list has no row" % w for w in listed if w not in rows]
    faults += ["line %d: '%s' is not in the list" % (rows[w], w) for w in rows if w not in listed]
    if len(set(listed)) != WORDS:
        faults.append("the list has %d words, not %d" % (len(set(listed)), WORDS))
    if faults:
        sys.exit("\n".join("docs/seeds.md: " + f for f in faults))
    print(len(listed), "words of the seeds")


main()
