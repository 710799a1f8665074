"""docs/registry.md, "Seed 004": every name of the seed has a row, and all that a row names exists.

usage: check_registry.py SOURCE [SEED]

A row is: names of the seed | C | Python | the test, which has that name in test/runtime/test_seed_registry.c and, with `test_` before it, in
test/python/test_registry.py; `--` where there is nothing to call.  Every test of both files is in a row.  SEED: the seed's text; each name that
its code calls or defines is in a row, or in UNUSED.
"""
import os
import re
import sys

# Of the standard library, of C++, or of the seed's own notation.
UNUSED = set("""alignas atomic_thread_fence compare_exchange_weak contiguous Counter detail empty exchange fetch_add fetch_sub for get hardware_concurrency
    if load min push_back reserve return size sizeof span static_cast type while explicit Array Index IsCSR Pointer Size CACHE_LINE next_index_ offset offsets""".split())


def names_of_seed(text):
    code = re.sub(r"//.*", "", "\n".join(re.findall(r"```c(?:pp)?\n(.*?)```", text, re.S)))
    found = set(re.findall(r"\b([A-Za-z_]\w*)(?:<[^<>;]*>)?\s*\(", code)) | set(re.findall(r"\b(\w+_)\b", code))
    return (found | set(re.findall(r"\b([A-Z]\w+)\b", code))) - UNUSED


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def main():
    source = sys.argv[1]
    page = re.search(r"\n## Seed 004\n(.*?)(?=\n## |\Z)", read(source, "docs", "registry.md"), re.S).group(1)
    headers = "".join(read(source, "runtime", "include", "pto", name) for name in ("pto_registry.h", "pto_sparse.h", "pto_pool.h", "pto_types.h"))
    python = "".join(read(source, "python", "ptoc", name) for name in ("_tensor.py", "_sparse.py", "_runtime.py", "__init__.py"))
    in_c = set(re.findall(r"^TEST\((\w+)\)", read(source, "test", "runtime", "test_seed_registry.c"), re.M))
    in_python = set(re.findall(r"^    def test_(\w+)\(", read(source, "test", "python", "test_registry.py"), re.M))
    faults, names, tests = [], set(), set()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")]
    for row in rows:
        if len(row) != 4:
            faults.append("a row has four columns: %s" % row[0])
            continue
        seed, c, py, test = (re.findall(r"`([^`]+)`", cell) for cell in row)
        names.update(seed)
        tests.update(test)
        faults += ["no header has '%s'" % name for name in c if not all(re.search(r"\b%s\b" % w, headers) for w in re.findall(r"\w+", name))]
        faults += ["the package has no '%s'" % name for name in py
                   if not re.search(r"(?:def|class|as) %s\b|\b%s = " % ((re.findall(r"\w+", name)[-1],) * 2), python)]
        faults += ["%s has no test '%s'" % (place, name) for name in test for place, there in (("C", in_c), ("Python", in_python)) if name not in there]
        faults += ["'%s': column %d is empty, and not --" % (row[0], i + 1) for i, cell in enumerate(row) if not cell]
    only_c = {"a_buffer_that_is_found_is_not_freed_meanwhile", "every_order_of_the_ends_is_fine"}  # of threads, and of counts
    faults += ["the test '%s' is in no row" % name for name in (in_c | in_python) - tests - only_c]
    if len(sys.argv) > 2:
        faults += ["'%s' of the seed is in no row" % name for name in sorted(names_of_seed(read(sys.argv[2])) - names)]
    if faults:
        sys.exit("\n".join("docs/registry.md: " + fault for fault in faults))
    print(len(names), "names of seed 004,", len(tests), "usages")


main()
