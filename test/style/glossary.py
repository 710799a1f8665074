#!/usr/bin/python3
"""glossary.py SOURCE - are the words those of docs/glossary.md?

Idea       a table of refused words.  Each file is read with its identifiers split into words (PTOFastPath: PTO fast path; fast_path: fast
           path), so one pattern finds a word in a sentence, in a message and in a name.
Allowed    ALLOWED lists the files, and the texts in a file, that may use a refused word, each with its reason.
Exit code  0: yes; 1: no, with a line for each place.
"""
import argparse
import pathlib
import re
import sys

SUFFIXES = {".c", ".h", ".cpp", ".def", ".re", ".y", ".py", ".sh", ".md", ".txt", ".cmake", ".pto", ".test", ".pml", ".in"}

# (the glossary's word, the refused words as a regular expression over lower-case text, the files it is about)
REFUSED = [
    ("iteration", r"turns?", ""),
    ("lifetime", r"life|lives (of|open|drop)|(their|its|whose|short|long|many|end|random) lives", ""),
    ("helping orchestrator", r"guests?", ""),
    ("task chaining", r"followers?", ""),
    ("run status", r"outcomes?", "runtime|test/(runtime|device|check/(?!case_litmus))"),
    ("report or notify", r"tells?|told", ""),
    ("executed inline", r"(runs?|tasks|kernels|executed) at (its|their) submits?|elid(e|es|ed|ing)|elision", ""),
    ("fast path and slow path", r"(short|long) ways?", ""),
    ("contiguous", r"without gaps", ""),
    ("foreign-syntax hint", r"habits?", "frontend|tools|docs"),
    ("outliving buffer", r"(?<!write )pinned(?! staging)", r"(?!runtime/backend/ascend|test/ascend|docs/ascend)"),
    ("read-only range", r"only reads? (add|holds|meets|forget|ranges)", ""),
    ("compaction", r"gather(s|ed|ing)?", r"(runtime|test/runtime/test_heap)(?!/include|/backend)"),
]

# (path, the refused word's pattern or "" for all, why); a path that ends in / is a folder
ALLOWED = [
    ("docs/glossary.md", "", "it names the refused words"),
    ("test/style/glossary.py", "", "it names the refused words"),
    ("docs/seeds.md", "", "it quotes the seeds"),
    ("test/mutants/runtime.list", "", "generated from the code"),
    ("test/mutants/frontend.list", "", "generated from the code"),
    ("test/mutants/codegen.list", "", "generated from the code"),
]


def sources(root):
    """The files of the tree that people write."""
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(("build", ".")) or not path.is_file():
            continue
        if path.suffix in SUFFIXES or path.name == "CMakeLists.txt":
            yield name, path


def split_names(text):
    """Identifiers as words: camel case and underscores become blanks, one for one where that is possible."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return text.replace("_", " ").lower()


def is_allowed(name, refused):
    return any((name == path or path.endswith("/") and name.startswith(path)) and pattern in ("", refused)
               for path, pattern, _ in ALLOWED)


def problems_of(name, text, refused):
    for number, line in enumerate(text.splitlines(), 1):
        words = split_names(line)
        for word, pattern, expression in refused:
            found = expression.search(words)
            if found:
                yield f"{name}:{number}: '{found.group(0)}': the word is '{word}' (docs/glossary.md)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    root = parser.parse_args().source
    refused = [(word, pattern, re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])"), about) for word, pattern, about in REFUSED]
    problems, count = [], 0
    for name, path in sources(root):
        here = [(word, pattern, expression) for word, pattern, expression, about in refused
                if re.match(about, name) and not is_allowed(name, pattern)]
        if here:
            problems += problems_of(name, path.read_text(errors="replace"), here)
        count += 1
    if not count:
        sys.exit(f"no files under {root}")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{count} files, {len(REFUSED)} words")


main()
