"""report_page.py PTOC INPUTS FOLDER - --report of several runs: the page is XML, fetches nothing and holds what the run did."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

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
subprocess.run([ptoc, "build", "-w", program, "-o", built], check=True)


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


for engine in ["threads", "serial", "timing", "process"]:
    root, text = run("--engine", engine)
    boxes = [t.text for t in elements(root, "title") if t.text.startswith("task ")]
    assert len(boxes) == 20, (engine, boxes)
    assert sum('<&">' in b for b in boxes) == 10, boxes
    assert any('a & b "<c>.pto' in b for b in boxes), boxes
    cells = [c.text for c in elements(root, "td")]
    assert cells.count("10") >= 2, cells  # tasks of each kernel
    assert "20" in cells and section(root, "Graph"), cells
    assert ("cycles" in text) == (engine == "timing")

root, text = run("--set", "n=3000")
assert not any(t.text.startswith("task ") for t in elements(root, "title")) and not section(root, "Graph") and "the busier" in text
assert len(elements(root, "rect")) > 0

built_failing = subprocess.run([built, "--input", "x=ones", "--input", "y=zeros", "--quiet", "--set", "n=60000", "--engine", "serial", "--report",
                                os.path.join(folder, "failed.html")], stderr=subprocess.PIPE, text=True)
assert built_failing.returncode == 1 and "returned 3" in built_failing.stderr, built_failing
tree.fromstring(open(os.path.join(folder, "failed.html")).read().replace("<!DOCTYPE html>", ""))

missing = subprocess.run([built, "--input", "x=ones", "--input", "y=zeros", "--report", os.path.join(folder, "no", "such.html")],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
assert missing.returncode == 4 and "such.html" in missing.stderr, missing
