#!/usr/bin/env python3
"""A random edit of a random file among those that a program was built from never gives an old result of `ptoc run`.

usage: cache_edits.py PTOC [--count 2000] [--seed S]

The program has a constant in each file: a module, a header of a kernel's body, headers found in quotes, in a search path, beside another
header and by a digraph, a C file, an object.  The result is known from the constants.  An edit changes one of them, in place or by a
new file, with the size kept and often with the old time too; or it puts a header before another in the search, or takes it away.
"""
import argparse, os, random, re, shutil, struct, subprocess, sys, tempfile

p = argparse.ArgumentParser()
p.add_argument("ptoc")
p.add_argument("--count", type=int, default=2000)
p.add_argument("--seed", type=int, default=random.randrange(1 << 30))
o = p.parse_args()
rng = random.Random(o.seed)
top = tempfile.mkdtemp(prefix="cache-edits-")
os.chdir(top)
ptoc = os.path.abspath(o.ptoc)
environment = dict(os.environ, PTOC_CACHE=os.path.join(top, "kept"), CPATH="inc0:inc1:inc2")

# Name of the constant -> the files that may define it, the first that exists does.
PLACES = {"A": ["a.h", "inc0/a.h", "inc1/a.h"], "B": ["inc0/b.h", "inc1/b.h", "inc2/b.h"], "C": ["sub/c.h"],
          "D": ["sub/d.h", "inc0/d.h", "inc2/d.h"], "E": ["e.h", "inc1/e.h"], "G": ["g.h"]}
NAMES = ["A", "B", "C", "D", "E", "G", "K", "M", "O"]
value = {}  # of a file

def text_of(path, n):
    name = os.path.basename(path)[0].upper()
    return f"#define {name} {n}\n" + ('#include "d.h"\n' if name == "C" else "")

def put(path, text, sly=False):
    """sly: as if nothing had happened: the old time is set again, and sometimes the file is another one."""
    before = os.stat(path) if os.path.exists(path) else None
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    target = path + ".new" if sly and rng.random() < 0.5 else path
    with open(target, "wb") as out: out.write(text if isinstance(text, bytes) else text.encode())
    if target != path: os.rename(target, path)
    if sly and before: os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

def kernel(n): return KERNEL.replace("VALUE_K", str(n))
def module(n): return f"const M = {n};\n"

KERNEL = """#include "a.h"
/* between */ #include <b.h>
#include "sub/c.h"
%:include "e.h"
#include <stdint.h>
#include <math.h>
int the_o(void);
int first(double *y, const int64_t *stride);
int first(double *y, const int64_t *stride)
{
    const double k[] = {A, B, C, D, E, VALUE_K, the_o()};
    for (int i = 0; i < 7; i++) y[i * stride[0]] = k[i];
    return 0;
}
"""
MAIN = """import "m.pto";
kernel first(out y: f64[7]);
kernel second(n: i64, out y: f64[2]) {
#include "%s"
  y[0] = G; y[1] = n;
}
export orch f(out y: f64[7], out z: f64[2]) { first(out y); second(m.M, out z); }
""" % os.path.join(top, "g.h")

objects = []
for n in range(10):
    put("o.c", f"int the_o(void);\nint the_o(void) {{ return {n}; }}\n")
    subprocess.run(["cc", "-c", "o.c", "-o", "o.o"], check=True)
    with open("o.o", "rb") as f: objects.append(f.read())

def set_value(path, n, sly=True):
    value[path] = n
    put(path, kernel(n) if path == "k.c" else module(n) if path == "m.pto" else objects[n] if path == "o.o" else text_of(path, n), sly)

put("f.pto", MAIN)
for path in ["k.c", "m.pto", "o.o", "a.h", "inc1/b.h", "sub/c.h", "inc2/d.h", "e.h", "g.h"]: set_value(path, rng.randrange(10), sly=False)

def expected():
    found = {"K": value["k.c"], "M": value["m.pto"], "O": value["o.o"]}
    for name, places in PLACES.items(): found[name] = next(value[path] for path in places if path in value)
    return [found[name] for name in ("A", "B", "C", "D", "E", "K", "O", "G", "M")]

def edit():
    if rng.random() < 0.25:
        places = PLACES[rng.choice(["A", "B", "D", "E"])]
        path = rng.choice(places)
        if path not in value:
            set_value(path, rng.randrange(10), sly=False)
            return f"new {path}"
        if sum(place in value for place in places) > 1:
            del value[path]
            os.unlink(path)
            return f"no {path}"
    path = rng.choice(sorted(value))
    set_value(path, (value[path] + rng.randrange(1, 10)) % 10)
    return f"changed {path}"

def run():
    r = subprocess.run([ptoc, "run", "-v", "-O0", "f.pto", "k.c", "o.o", "--engine", "serial", "--output", "y=y.npy", "--output", "z=z.npy"],
                       env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode != 0: sys.exit(f"seed {o.seed}: exit code {r.returncode}\n{r.stderr}")
    result = []
    for path, count in (("y.npy", 7), ("z.npy", 2)):
        with open(path, "rb") as f: result += struct.unpack(f"<{count}d", f.read()[-8 * count:])
    return [int(x) for x in result], "unchanged: " in r.stderr, r.stderr

run()
found_again = 0
for i in range(o.count):
    said = [edit() for _ in range(rng.choice([1, 1, 1, 2]))]
    wanted = expected()
    result, found, err = run()
    if result != wanted: sys.exit(f"seed {o.seed}, edit {i} ({', '.join(said)}): {result} for {wanted} in {top}\n{err}")
    found_again += found
    if i % 8 == 0:
        result, found, err = run()
        if result != wanted or not found: sys.exit(f"seed {o.seed}, edit {i}: an unchanged program is not found\n{err}")
print(f"{o.count} edits, seed {o.seed}: 0 old results; {found_again} times the program of an earlier text was found")
os.chdir("/")
shutil.rmtree(top)
