"""Runs a built bgemm with --trace, --graph, --record and --replay and reads what it wrote; cancels one by a signal."""
import gzip, json, os, re, signal, subprocess, sys, time

program, folder = sys.argv[1:]
size = ["--input", "A=random:1", "--input", "B=random:2", "--input", "C=zeros", "--dim", "nb=2", "--dim", "m=128", "--dim", "n=128",
        "--dim", "k=192"]
tasks = 2 * 2 * 2 * 3 * 2
path = lambda name: os.path.join(folder, name)

def run(*more):
    r = subprocess.run([program, *size, "--workers", "cube=2,vector=1", *more], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stdout

result = run("--trace", path("t.json"), "--graph", path("g.json"), "--record", path("s.txt"))

events = json.load(open(path("t.json")))["traceEvents"]
rows = {e["args"]["name"]: e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
assert {"orchestrator", "scheduler", "cube 0", "cube 1", "vector 0", "cpu 0", "accel 0"} <= set(rows), rows
ran = [e for e in events if e["ph"] == "X" and "task" in e.get("args", {})]
assert sorted(e["args"]["task"] for e in ran) == list(range(tasks))
workers = {rows[n] for n in rows if n.startswith(("cube", "vector"))}
assert {e["tid"] for e in ran} <= workers
for tid in workers:  # one kernel at a time
    spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in ran if e["tid"] == tid)
    assert all(a[1] <= b[0] + 0.001 for a, b in zip(spans, spans[1:]))
edges = 2 * 2 * 2 * (3 + 2)  # each product to its sum, each sum to the next
assert sum(e["ph"] == "s" for e in events) == sum(e["ph"] == "f" for e in events) == edges
assert {e["name"] for e in events if e["ph"] == "C"} == {"task ring", "tensormap pool", "deplist pool", "heap"}

run("--trace", path("t.json.gz"))
packed = json.load(gzip.open(path("t.json.gz")))["traceEvents"]
assert sum(e["ph"] == "X" and "task" in e.get("args", {}) for e in packed) == tasks
os.symlink("/dev/full", path("full.gz"))
full = subprocess.run([program, *size, "--trace", path("full.gz")], capture_output=True, text=True)
assert full.returncode == 4 and "full.gz: No space left" in full.stderr, full

graph = json.load(open(path("g.json")))["tasks"]
assert len(graph) == tasks
why = [(t["kernel"], a["why"]) for t in graph for a in t["after"]]
assert sorted(why) == sorted([("add_to<f32>", "RAW")] * 24 + [("add_to<f32>", "RAW+WAW")] * 16), why

lines = open(path("s.txt")).read().split("\n")
assert lines[0] == "pto schedule 1" and len(lines) == tasks + 2
assert run("--replay", path("s.txt"), "--record", path("again.txt")) == result
assert len(open(path("again.txt")).read().split("\n")) == tasks + 2
open(path("bad.txt"), "w").write("pto schedule 1\n0 99\n")
r = subprocess.run([program, *size, "--replay", path("bad.txt")], capture_output=True, text=True)
assert r.returncode == 4 and "bad.txt:2: this run has no such worker" in r.stderr, r

for number in (signal.SIGINT, signal.SIGTERM):
    p = subprocess.Popen([program, "--input", "A=ones", "--input", "B=ones", "--input", "C=zeros", "--dim", "nb=64", "--dim", "m=1024",
                          "--dim", "n=1024", "--dim", "k=1024", "--stats", "--progress"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a background shell ignores it
    while "running" not in p.stderr.readline():
        pass
    time.sleep(0.2)
    p.send_signal(number)
    out, err = p.communicate(timeout=120)
    assert p.returncode == 128 + number, (p.returncode, err)
    assert "the run was cancelled" in err and "Tasks:" in out, (out, err)
print("reports are right")
