#!/usr/bin/env python3
"""Every allocation, file operation, thread and process of ptoc and of a run fails once: each time a sentence and a documented exit code,
no crash, no half file, nothing left behind.

usage: inject.py PTOC FAULT.so [--sample N] [--only NAME,...] [--seed S]

Without --sample every call fails once, and once more with all calls after it.  With it, N calls of each case, chosen by the seed;
PTO_FAULTS=N in the environment goes before.
"""
import argparse, os, random, shutil, subprocess, sys, tempfile

p = argparse.ArgumentParser()
p.add_argument("ptoc")
p.add_argument("library")
p.add_argument("--sample", type=int, default=0)
p.add_argument("--only", default="")
p.add_argument("--seed", type=int, default=random.randrange(1 << 30))
o = p.parse_args()
o.sample = int(os.environ.get("PTO_FAULTS", o.sample))
rng = random.Random(o.seed)
ptoc, library = os.path.abspath(o.ptoc), os.path.abspath(o.library)
top = tempfile.mkdtemp(prefix="fault-")
os.chdir(top)
os.mkdir("tmp")
os.environ.update(TMPDIR=os.path.join(top, "tmp"), PTOC_CACHE=os.path.join(top, "kept"), OPENBLAS_NUM_THREADS="1")

PROGRAM = """import "m.pto";
kernel add(in a: f32[64], in b: f32[64], out c: f32[64]) cost 100 { for (int i = 0; i < 64; i++) c[i] = a[i] + b[i]; }
export orch f(in a: f32[64], out x: f32[64], out y: f32[64]) {
  let t = add(a, a);
  add(t, a, out x);
  for i in 0 .. m.N { let u = add(t, a); add(u, u, out y); }
}
"""
with open("f.pto", "w") as f: f.write(PROGRAM)
with open("m.pto", "w") as f: f.write("const N = 20;\n")
with open("g.pto", "w") as f: f.write("export   orch f() { print 1; }\n")
with open("bad.pto", "w") as f: f.write("export orch f() { let a = ; nothing(a); }\n")
subprocess.run([ptoc, "build", "-O0", "f.pto", "-o", "prog"], check=True)
INPUT = ["--input", "a=iota"]
subprocess.run(["./prog", *INPUT, "--output", "x=a.npy"], check=True)
RUN = ["./prog", "--input", "a=a.npy", "--output", "x=x.npy", "--output", "y=y.npy", "--trace", "t.json", "--report", "r.html", "--graph", "g.dot"]
WORKERS = ["--workers", "vector=2,cube=1,cpu=1,accel=1"]

# name: (program, kinds, command, files that it writes, calls that are slow)
CASES = {
    "check": ("ptoc", [ptoc, "check", "f.pto"], [], 1),
    "errors": ("ptoc", [ptoc, "check", "bad.pto"], [], 1),
    "emit": ("ptoc", [ptoc, "build", "--emit=c", "f.pto", "-o", "out.c"], ["out.c"], 1),
    "tokens": ("ptoc", [ptoc, "build", "--emit=ast", "f.pto", "-o", "out.ast"], ["out.ast"], 1),
    "fmt": ("ptoc", [ptoc, "fmt", "g.pto"], ["g.pto"], 1),
    "found": ("ptoc", [ptoc, "run", "f.pto", *INPUT, "--quiet"], [], 1),
    "graph": ("ptoc", [ptoc, "graph", "f.pto", "-o", "out.dot"], ["out.dot"], 1),
    "build": ("ptoc", [ptoc, "build", "-O0", "f.pto", "-o", "out"], ["out"], 4),
    "kept": ("ptoc", [ptoc, "run", "-O0", "f.pto", *INPUT, "--quiet"], [], 4),
    "threads": ("prog", [*RUN, *WORKERS, "--record", "s.txt"], ["x.npy", "y.npy", "t.json", "r.html", "g.dot", "s.txt"], 1),
    "serial": ("prog", [*RUN, "--engine", "serial", "--check", "--stats"], ["x.npy", "y.npy", "t.json", "r.html", "g.dot"], 1),
    "timing": ("prog", [*RUN, "--engine", "timing", *WORKERS], ["x.npy", "y.npy", "t.json", "r.html", "g.dot"], 1),
    "process": ("prog", [*RUN, "--engine", "process", *WORKERS], ["x.npy", "y.npy", "t.json", "r.html", "g.dot"], 1),
    "checked": ("prog", [*RUN, "--checked", *WORKERS], ["x.npy", "y.npy", "t.json", "r.html", "g.dot"], 1),
}
OLD = {"g.pto": "export   orch f() { print 1; }\n"}
ENDS = {".json": b"]}\n", ".html": b"</html>\n", ".dot": b"}\n", ".txt": b"\n"}
failures, done, tolerated = [], 0, 0

def read(path):
    with open(path, "rb") as f: return f.read()

def reset(name, files):
    for path in files:
        if path == "out" and os.path.exists(path): os.unlink(path)
        with open(path, "w") as f: f.write(OLD.get(path, "old\n"))
    if name == "kept": shutil.rmtree("kept", ignore_errors=True)
    if os.path.exists("log"): os.unlink("log")

def run(name, kind, at, sticky=False):
    program, command, files, _ = CASES[name]
    reset(name, files)
    env = dict(os.environ, LD_PRELOAD=library, FAULT_PROGRAM=program, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_STICKY="1" if sticky else "0",
               FAULT_LOG=os.path.join(top, "log"))
    try:
        r = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return r, r.stderr.decode(errors="replace"), read("log").decode() if os.path.exists("log") else ""

def is_whole(path, good):
    data = read(path)
    if data == OLD.get(path, "old\n").encode(): return True
    end = ENDS.get(os.path.splitext(path)[1])
    return data.endswith(end) if end else data == good[path] if path != "out" else subprocess.run(["./out", "--help"], stdout=subprocess.DEVNULL).returncode == 0

def complain(name, kind, at, sticky, log, why, err):
    call = next((line.split()[2] for line in log.splitlines() if line.startswith("fault")), "?")
    failures.append(f"{name}: {kind} {at}{' and all after it' if sticky else ''} ({call}): {why}\n    {err.strip()[:400]}")
    print("FAIL", failures[-1], flush=True)

def judge(name, kind, at, sticky, good, usual):
    global done, tolerated
    program, command, files, _ = CASES[name]
    r, err, log = run(name, kind, at, sticky)
    bad = lambda why: complain(name, kind, at, sticky, log, why, err)
    done += 1
    if r is None: return bad("it hangs")
    if r.returncode not in (0, 1, 2, 3, 4): return bad(f"exit code {r.returncode}")
    if r.returncode != usual and len(err.strip()) < 10: bad("it says nothing")
    if r.returncode != usual and "error" not in err and "out of memory" not in err: bad("no sentence says that it failed")
    if r.returncode == usual: tolerated += "fault" in log
    for path in files:
        if not os.path.exists(path): bad(f"{path} is gone")
        elif not is_whole(path, good): bad(f"{path} is half")
        elif r.returncode == 0 and usual == 0 and read(path) == OLD.get(path, "old\n").encode(): bad(f"{path} is old, and the exit code 0")
    left = [x for x in os.listdir(".") if x.startswith((".pto", ".ptoc"))] + os.listdir("tmp") + ([x for x in os.listdir("kept") if x[0] == "."] if os.path.isdir("kept") else [])
    if left:
        bad(f"left behind: {left}")
        for x in left:
            for path in (x, os.path.join("tmp", x), os.path.join("kept", x)):
                if os.path.isdir(path): shutil.rmtree(path)
                elif os.path.exists(path): os.unlink(path)

for name in CASES:
    if o.only and name not in o.only.split(","): continue
    program, command, files, slow = CASES[name]
    if name == "found": run(name, "memory", 0)  # it is kept now
    for kind in ("memory", "file", "thread"):
        r, err, log = run(name, kind, 0)
        usual = r.returncode
        assert usual == (1 if name == "errors" else 0), (name, err)
        good = {path: read(path) for path in files}
        total = next(int(line.split()[1]) for line in log.splitlines() if line.startswith("calls"))
        cases = [(at, sticky) for at in range(1, total + 1) for sticky in (False, True)]
        if o.sample: cases = rng.sample(cases, min(len(cases), max(1, o.sample // slow)))
        before = len(failures)
        for at, sticky in sorted(cases): judge(name, kind, at, sticky, good, usual)
        print(f"{name}: {kind}: {len(cases)} of {2 * total} cases, {len(failures) - before} wrong", flush=True)

os.chdir("/")
shutil.rmtree(top)
print(f"{done} faults, seed {o.seed}: {len(failures)} wrong, {tolerated} did not matter")
sys.exit(1 if failures else 0)
