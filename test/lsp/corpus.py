"""corpus.py - the programs that the tests of the language server go through."""
import glob
import os


def programs(source, sample=1):
    """Every example, module of the library and program of test/lit that is UTF-8; with a sample, one of so many of the others."""
    rest = sorted(glob.glob(os.path.join(source, "test", "lit", "**", "*.pto"), recursive=True))
    modules = sorted(glob.glob(os.path.join(source, "kernels", "std", "*.pto")))
    paths = sorted(glob.glob(os.path.join(source, "examples", "*.pto"))) + modules[::sample] + rest[::sample]
    for path in paths:
        with open(path, "rb") as f:
            data = f.read()
        try:
            yield path, data.decode()
        except UnicodeDecodeError:
            continue
