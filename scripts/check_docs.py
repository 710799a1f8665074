"""The documentation names every message id and status, every link in it leads somewhere, and so does what the head of a source file says
of its tests.

usage: check_docs.py SOURCE [--write]

Each message id has a page docs/explain/ID.md, which `ptoc explain` shows; its row in docs/errors.md is made of its title and its
first paragraph.  --write writes these rows.
"""
import glob
import os
import re
import sys


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def row_of(source, name, title):
    """The row of the index, or None: there is no page of that title."""
    try:
        page = read(source, "docs", "explain", name + ".md")
    except FileNotFoundError:
        return None
    parts = page.split("\n\n")
    if parts[0] != "# %s: %s" % (name, title):
        return None
    return "| [%s](explain/%s.md) | %s | %s |" % (name, name, title, parts[1].replace("\n", " "))


def write_rows(source, ids):
    path = os.path.join(source, "docs", "errors.md")
    text = read(path)
    for kind in "EW":
        rows = [row_of(source, name, title) for name, title in ids if name[0] == kind]
        text = re.sub(r"(?:^\| \[%s\d+\].*\|\n)+" % kind, lambda _: "\n".join(row for row in rows if row) + "\n", text, flags=re.M)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def missing_tests(source):
    """Heads of source files say "Tests test/lit/run/own.pto, run.test; test/model": every word with a slash or an ending is a path, a bare name
    stands in a folder that was named before it."""
    wrong = []
    for folder in ("frontend", "codegen", "runtime", "kernels", "tools", "bench"):
        for path in glob.glob(os.path.join(source, folder, "**", "*.[chly]"), recursive=True):
            folders = [""]
            for line in re.findall(r"^ \* Tests +(.*)", read(path), re.M):
                for word in re.findall(r"[\w./*-]*\w[/.][\w./*-]+", line.replace("*/", "")):
                    word = word.rstrip(".")
                    tried = [os.path.join(source, f, word) for f in ([""] if "/" in word else folders)]
                    if not any(glob.glob(t) for t in tried):
                        wrong.append("%s: its tests name %s, which is not there" % (os.path.relpath(path, source), word))
                    if "/" in word:
                        folders.append(os.path.dirname(word))
    return wrong


def unwatched_accesses(source):
    """Atomics, locks, sleeps, threads and the clock of the runtime go through two headers, which test/check takes the place of; and each order that
    it relaxes is in the table of its label.  The main of a program, runtime/host, is not of the runtime's threads."""
    wrong = []
    doors = ("runtime/shared/atomics.h", "runtime/shared/system.h")
    for path in glob.glob(os.path.join(source, "runtime", "**", "*.[ch]"), recursive=True):
        name = os.path.relpath(path, source)
        if not name.startswith(("runtime/host/", "runtime/include/")):
            past = re.search(r"\b(atomic_(?:load|store|exchange|compare|fetch|thread)\w*|__atomic_\w+|__sync_\w+|pthread_(?:create|join|mutex|cond)\w*|"
                             r"SYS_futex|sched_yield|clock_gettime)\b", read(path))
            if past and name not in doors:
                wrong.append("%s: %s, past %s and %s" % ((name, past.group(1)) + doors))
    rows = read(source, "docs", "memory-model.md").split("\n")
    for label, case in re.findall(r"^RELAXED\((\w+), \w+, (\w+)\)", read(source, "test", "check", "relaxations.def"), re.M):
        if not any("`[%s]`" % label in row and "`%s`" % case in row for row in rows):
            wrong.append("docs/memory-model.md: no row of [%s] that names the case %s" % (label, case))
    return wrong


def missing_options(source):
    """docs/cli.md names every option of a built program, and everything that --emit makes."""
    page = read(source, "docs", "cli.md")
    options = re.findall(r'^OPTION\(\w+, "([^"]*)"', read(source, "runtime", "host", "options.def"), re.M)
    kinds = re.findall(r'^EMIT\(\w+, +"([^"]*)"', read(source, "tools", "ptoc", "emits.def"), re.M)
    wrong = ["docs/cli.md: no row of --%s" % name for name in options if not re.search(r"`--%s\b(?!-)" % name, page)]
    return wrong + ["docs/cli.md: no row of --emit=%s" % kind for kind in kinds if not re.search("`(--emit=)?%s`" % kind, page)]


def other_versions(source):
    """The number of the version is in pto_version.h; the two histories of changes begin with it."""
    number = ".".join(re.findall(r"^#define PTO_VERSION_[A-Z]+ +(\d+)$", read(source, "runtime/include/pto/pto_version.h"), re.M))
    return ["%s: does not begin with version %s" % (path, number) for path, form in (("CHANGELOG.md", r"^## ([\d.]+)"), ("debian/changelog", r"^ptoc \(([\d.]+)\)"))
            if re.search(form, read(source, path), re.M).group(1) != number]


def missing_symptoms(source):
    """docs/troubleshooting.md quotes messages: the parts between `...` stand in the source."""
    page, said = read(source, "docs", "troubleshooting.md"), ""
    for folder in ("cmake", "frontend", "codegen", "runtime", "tools", "python"):
        for path in sorted(glob.glob(os.path.join(source, folder, "**", "*.*"), recursive=True)):
            if path.endswith((".c", ".def", ".py", ".cmake")):
                said += read(path)
    said = re.sub(r"\\\\n|%s", "", re.sub(r'"\s*\n\s*"', "", said))
    wrong = []
    for cell in re.findall(r"^\| ([^|]*) \|", page, re.M):
        parts = [part.strip() for text in re.findall(r"`([^`]*)`", cell) if " " in text for part in text.split("...")]
        wrong += ["docs/troubleshooting.md: nothing says '%s'" % part for part in parts if part not in said]
    return wrong


def foreign_includes(source):
    """What the compiler shares with the runtime is lists and numbers."""
    wrong = []
    for folder in ("frontend", "codegen", "tools"):
        for path in glob.glob(os.path.join(source, folder, "**", "*.[chly]"), recursive=True):
            for name in re.findall(r'^#include [<"]((?:pto|host)/[^>"]*)', read(path), re.M):
                if name not in ("pto/pto_limits.h", "pto/detail/pieces.h") and not name.endswith(".def"):
                    wrong.append("%s: the compiler includes %s of the runtime" % (os.path.relpath(path, source), name))
    return wrong


def main():
    source = sys.argv[1]
    wrong = []
    ids = re.findall(r'^DIAG\((\w+), "([^"]*)"\)', read(source, "frontend", "syntax", "diag.def"), re.M)
    if "--write" in sys.argv:
        write_rows(source, ids)
    errors = read(source, "docs", "errors.md")
    for name, title in ids:
        row = row_of(source, name, title)
        if row is None:
            wrong.append("docs/explain/%s.md: no page that begins with '# %s: %s'" % (name, name, title))
        elif row not in errors:
            wrong.append("docs/errors.md: no row '%s'; check_docs.py --write makes it" % row)
    for name in re.findall(r"^PTO_STATUS\((PTO_ERR_\w+),", read(source, "runtime", "include", "pto", "status.def"), re.M):
        if "`%s`" % name not in errors:
            wrong.append("docs/errors.md: %s is missing" % name)
    for page in glob.glob(os.path.join(source, "*.md")) + glob.glob(os.path.join(source, "docs", "**", "*.md"), recursive=True):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(page)):
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                wrong.append("%s: link to %s, which is not there" % (os.path.relpath(page, source), target))
    wrong += missing_options(source)
    wrong += other_versions(source)
    wrong += missing_symptoms(source)
    wrong += foreign_includes(source)
    wrong += missing_tests(source)
    wrong += unwatched_accesses(source)
    print("\n".join(wrong) or "documentation agrees with the source")
    return 1 if wrong else 0


sys.exit(main())
