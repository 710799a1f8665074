"""The corpus to begin with, and libFuzzer's dictionary: make_seeds.py SOURCE OUTPUT DICTIONARY

Every program of the tree: .pto files, the parts of split-file tests, the ```pto blocks of the documentation; of a test with expected
errors also the text without the lines that have one, because what is accepted goes further; and the inputs that earlier fuzzing found
(corpus/*.jsonl, keep.py).  Names are hashes of the text."""
import hashlib
import json
import pathlib
import re
import sys

MAX_BYTES = 64 * 1024


def programs(source):
    for folder in ("examples", "kernels/std", "test/lit"):
        for path in sorted((source / folder).rglob("*.pto")):
            yield path.read_bytes()
    for path in sorted((source / "test/lit").rglob("*.test")) + sorted((source / "test/lit").rglob("*.pto")):
        parts = re.split(rb"^(?://|#)---+ *\S+\n", path.read_bytes(), flags=re.M)
        yield from parts[1:]
    for path in sorted((source / "docs").glob("*.md")):
        yield from re.findall(rb"^```pto\n(.*?)^```", path.read_bytes(), flags=re.M | re.S)


def kept(source):
    for path in sorted((source / "test/fuzz/corpus").glob("*.jsonl")):
        yield from (json.loads(line).encode("latin-1") for line in path.read_text().splitlines())


def variants(text):
    yield text
    lines = text.splitlines(keepends=True)
    quiet = [line for line in lines if not re.search(rb"(error|warning)\[|: error|// (CHECK|RUN)", line)]
    if len(quiet) != len(lines):
        yield b"".join(quiet)


def write_dictionary(source, path):
    words = re.findall(r'^WORD\((".*")\)$', (source / "test/fuzz/words.def").read_text(), flags=re.M)
    path.write_text("".join(word.replace("\\n", "\\x0a").replace("\\r", "\\x0d") + "\n" for word in words))


def main(source, output, dictionary):
    write_dictionary(source, dictionary)
    output.mkdir(parents=True, exist_ok=True)
    wanted = {}
    texts = [text for program in programs(source) for text in variants(program)] + list(kept(source))
    for text in texts:
        if 0 < len(text) <= MAX_BYTES:
            wanted[hashlib.sha256(text).hexdigest()[:16]] = text
    for path in output.iterdir():
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = output / name
        if not path.exists():
            path.write_bytes(text)


main(*map(pathlib.Path, sys.argv[1:]))
