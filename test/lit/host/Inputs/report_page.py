"""report_page.py PTOC INPUTS FOLDER - --report of several runs: the page is XML, fetches nothing and holds what the run did."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

import timeline

ptoc, inputs, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
program = os.path.join(folder, 'a & b "<c>.pto')
with open(program, "w") as f:
    f.write("""param n: i64 = 10;
kernel one(inout x: f32[4]) on vector { x[0] += 1; }
kernel two(in x: f32[4], inout y: f32[4]) on cube { y[0] += x[0]; if (y[0] > 1e9) return 3; return 0; }
export orch main(inout x: f32[4], inout y: f32[4]) {
  for i in 0 .. n {
    @name("<&\\">") one(inout x);
    two(x, inout y);
  }
}
""")
built = os.path.join(folder, "program")
subprocess.run([ptoc, "build", "-O0", "-w", program, "-o", built], check=True)


def run(*options, code=0):
    page = os.path.join(folder, "page.html")
    if os.path.exists(page):
        os.remove(page)
    done = subprocess.run([built, "--input", "x=zeros", "--input", "y=zeros", "--quiet", "--report", page, *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    assert done.returncode == code, done
    text = open(page).read()
    root = tree.fromstring(text.replace("<!DOCTYPE html>", ""))
    assert not re.search(r"(src|href)=", text), "something is fetched"
    return root, text


def elements(root, name):
    return list(root.iter("{http://www.w3.org/1999/xhtml}" + name))


def section(root, title):
    return [h for h in elements(root, "h2") if h.text == title]


colors = {}  # of each cause of time, by the kind of the row
for engine in ["threads", "serial", "timing", "process"]:
    root, text = run("--engine", engine)
    for rect in elements(root, "rect"):
        named = re.match(r"(orchestrator|[a-z]+ \d+): (.*), [0-9.]+ \w+ \([0-9.]+ %\)", "".join(rect.itertext()))
        if named:
            colors.setdefault(named[1] == "orchestrator", {})[named[2]] = rect.get("fill")
    info, tasks, _ = timeline.read(text)
    assert len(tasks) == 20 and info["rows"][0] == "orchestrator", (engine, tasks)
    assert sum(t[1]["name"] == '<&">' for t in tasks) == 10, tasks
    assert all('a & b "<c>.pto' in t[1]["place"] for t in tasks), tasks
    assert tasks[1][4] == [0] and all(0 <= p < n for n in range(20) for p in tasks[n][4]), tasks
    assert all(t[0] > 0 and 0 <= t[2] and t[2] + t[3] <= info["end"] for t in tasks), tasks
    cells = [c.text for c in elements(root, "td")]
    assert cells.count("10") >= 2, cells  # tasks of each kernel
    assert any(c and c.endswith('a & b "<c>.pto') for c in cells), cells  # the program
    assert "20" in cells and section(root, "Graph"), cells
    assert ("cycles" in re.sub("<script>.*</script>", "", text, flags=re.S)) == (engine == "timing")

assert {"running the program", "at the end"} <= set(colors[True]) and "kernel" in colors[False], colors
for of in colors.values():
    assert len(set(of.values())) == len(of), of

root, text = run("--set", "n=3000")
assert len(timeline.read(text)[1]) == 6000 and not section(root, "Graph") and len(elements(root, "canvas")) == 1
assert len(elements(root, "rect")) < 100  # of the causes

built_failing = subprocess.run([built, "--input", "x=ones", "--input", "y=zeros", "--quiet", "--set", "n=60000", "--engine", "serial", "--report",
                                os.path.join(folder, "failed.html")], stderr=subprocess.PIPE, text=True)
assert built_failing.returncode == 1 and "returned 3" in built_failing.stderr, built_failing
tree.fromstring(open(os.path.join(folder, "failed.html")).read().replace("<!DOCTYPE html>", ""))

# The head, histograms, memory over time, and the tree of scopes with what each line waited for.
scopes = os.path.join(folder, "scopes.pto")
with open(scopes, "w") as f:
    f.write("""kernel make(in x: f32[16], out t: f32[16]) on vector { for (int i = 0; i < 16; i++) t[i] = x[i]; }
kernel take(in t: f32[16], inout x: f32[16]) on cube { x[0] += t[0]; }
export orch main(inout x: f32[16], n: i64) {
  for i in 0 .. n {
    let a = make(x);
    for j in 0 .. 2 {
      let b = make(a);
      take(b, inout x);
    }
    take(a, inout x);
  }
}
""")
folded = os.path.join(folder, "scopes")
subprocess.run([ptoc, "build", "-O0", "-w", scopes, "-o", folded], check=True)
for check in ([], ["--check"]):
    page = os.path.join(folder, "scopes.html")
    command = [folded, "--input", "x=ones", "--set", "n=5", "--quiet", "--report", page, *check]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    root = tree.fromstring(open(page).read().replace("<!DOCTYPE html>", ""))
    head = {"".join(r[0].itertext()): "".join(r[1].itertext()) for r in elements(root, "tr") if r[0].tag.endswith("th") and len(r) == 2}
    assert head["program"].endswith("scopes.pto") and head["command"] == " ".join(command), head
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", head["date"]) and "processors" in head["machine"], head
    assert head["version"].startswith("libpto ") and head["--check"] == ("ok" if check else "not asked for"), head
    summaries = ["".join(e.itertext()) for e in elements(root, "summary")]
    assert [re.sub(r"[0-9.]+ us", "T", s) for s in summaries] == [
        "the run: 30 tasks, T of kernels, at most 128 bytes",
        "scope at scopes.pto:5 in the loop i: opened 5 times, open for T; 30 tasks, T of kernels, at most 128 bytes",
        "scope at scopes.pto:7 in the loops i, j: opened 10 times, open for T; 20 tasks, T of kernels, at most 64 bytes"], summaries
    rows = ["".join(e.itertext()) for e in elements(root, "li")]
    assert [re.sub(r"[0-9.]+ us", "T", r) for r in rows] == [
        "scopes.pto:5 make in the loop i: 5 tasks, T; waits for take of scopes.pto:10 (4)",
        "scopes.pto:10 take in the loop i: 5 tasks, T; waits for make of scopes.pto:5 (5), take of scopes.pto:8 (5)",
        "scopes.pto:7 make in the loops i, j: 10 tasks, T; waits for make of scopes.pto:5 (10)",
        "scopes.pto:8 take in the loops i, j: 10 tasks, T; waits for make of scopes.pto:5 (5), make of scopes.pto:7 (10), "
        "take of scopes.pto:8 (5), take of scopes.pto:10 (4)"], rows
    titles = [e.text for e in root.iter("{http://www.w3.org/1999/xhtml}title") if e.text and " tasks took " in e.text]
    for kernel, count in (("make", 15), ("take", 15)):
        assert sum(int(t.split()[0]) for t in titles if " of %d tasks" % count in t) == 30, titles
    assert section(root, "Memory over time") and re.search("bytes of the heap in use, at most [1-9]", open(page).read())
    areas = [e.get("d") for e in root.iter("{http://www.w3.org/1999/xhtml}path") if e.get("class") == "area"]
    assert len(areas) == 2 and all("V0.0H" in a for a in areas), areas  # each reaches its most
# The arguments of each task: `make` reads x and writes the tensor a of the heap, of which `take` is given all.
text = open(page).read()
info, tasks, _ = timeline.read(text)
known = timeline.regions(text)
assert len(known) == 30 and {k["formals"] for k in info["kinds"]} == {"x, t", "t, x"}, info
address = known[0][0][3]
assert address > 4096 and known[0] == [("in", "f32", None, address, [16], None), ("out", "f32", "a", 0, [16], None)], known[0]
assert known[1] == [("in", "f32", "a", 0, [16], None), ("out", "f32", "b", 0, [16], None)], known[1]
assert known[2] == [("in", "f32", "b", 0, [16], None), ("inout", "f32", None, address, [16], None)], known[2]
wrong = subprocess.run([folded, "--input", "x=ones", "--set", "n=5", "--quiet", "--report", page, "--engine", "graph"], stdout=subprocess.DEVNULL)
assert wrong.returncode == 0 and "the run: 30 tasks" in open(page).read()

missing = subprocess.run([built, "--input", "x=ones", "--input", "y=zeros", "--report", os.path.join(folder, "no", "such.html")],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
assert missing.returncode == 4 and "such.html" in missing.stderr, missing
