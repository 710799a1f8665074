"""Keeps the inputs that fuzzing found: keep.py BUILD SOURCE

Of build/fuzz/corpus/STAGE the smallest set of short inputs that reaches more than the programs of the tree do (set-cover merge of
libFuzzer) is written to test/fuzz/corpus/STAGE.jsonl, one input a line.  A byte is one character of the string (Latin-1).  Run it after
`./dev fuzz STAGE SECONDS`; make_seeds.py makes files of the lines again, so that each run of a fuzzer, and the replay in every preset,
begins with them."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

MAX_BYTES = 512


def keep(build, source, stage):
    found = build / "corpus" / stage
    with tempfile.TemporaryDirectory() as folder:
        merged = pathlib.Path(folder) / "merged"
        shutil.copytree(build / "test/fuzz/seeds", merged)
        known = {path.name for path in merged.iterdir()}
        subprocess.run([build / f"test/fuzz/libfuzzer_{stage}", f"-max_len={MAX_BYTES}", "-timeout=10", "-rss_limit_mb=512", "-set_cover_merge=1",
                        merged, found], check=True, stderr=subprocess.DEVNULL)
        texts = sorted({path.read_bytes() for path in merged.iterdir() if path.name not in known}, key=lambda text: (len(text), text))
    lines = [json.dumps(text.decode("latin-1")) for text in texts]
    kept = source / "test/fuzz/corpus" / f"{stage}.jsonl"
    kept.parent.mkdir(exist_ok=True)
    previous = kept.read_text().splitlines() if kept.exists() else []
    kept.write_text("".join(line + "\n" for line in previous + [line for line in lines if line not in set(previous)]))
    print(f"{stage}: {len(previous)} inputs kept before, {len(kept.read_text().splitlines())} now")


build, source = map(pathlib.Path, sys.argv[1:])
for stage in ("parse", "check", "emit"):
    keep(build, source, stage)
