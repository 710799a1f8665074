"""await.py PROGRAM FOLDER - where the time of a run that waits for values went: --stats, --trace and --report say the same."""
import json, os, re, subprocess, sys

import timeline

program, folder = sys.argv[1:]
path = lambda name: os.path.join(folder, name)


def look_at_causes(stats, time, unit, causes, page):
    """Each row sums up to the time of the run, the same in all three; the orchestrator's has the time in await, unless it helped."""
    total, of = re.search(r"^Where the time went \(([0-9.]+) (ms|cycles)\):", stats, re.M).groups()
    wall = round(float(total) * (1e6 if of == "ms" else 1))
    for name, row in causes.items():
        workers = int(name.split(" x ")[1]) if " x " in name else 1
        assert abs(sum(row.values()) - wall * workers) <= 1000, (name, row, wall)
        shown = re.search(r"^  %s +(.*)" % name, stats, re.M).group(1)
        assert abs(sum(float(v) for v in re.findall(r" ([0-9.]+) \(", shown)) - float(total) * workers) <= 0.01, shown
        assert any("<title>%s: %s, " % (name, c) in page for c in row), name
    ahead = causes["orchestrator"]
    assert abs(ahead["await"] + (ahead["helping"] if unit == "ns" else 0) - time) <= 0.02 * wall, (ahead, time)
    if time:
        assert re.search(r"^    await, local, .*:9:\d+: ", stats, re.M), stats


def run(engine, *more):
    r = subprocess.run([program, "--input", "x=ones", "--engine", engine, "--stats", "--trace", path("t.json"), "--report", path("r.html"), *more],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    time, unit = re.search(r"^Time in await: +(\d+) (ns|cycles)", r.stdout, re.M).groups()
    awaited, waited = re.search(r"^  Values awaited: +(\d+), of which (\d+) had to wait", r.stdout, re.M).groups()
    assert unit == ("cycles" if engine == "timing" else "ns"), r.stdout
    events = json.load(open(path("t.json")))["traceEvents"]
    orchestrator = [e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name" and e["args"]["name"] == "orchestrator"]
    slices = [e for e in events if e["ph"] == "X" and e["name"] == "await"]
    assert all([e["tid"]] == orchestrator for e in slices)
    assert len(slices) == int(waited), (slices, waited)
    page = open(path("r.html")).read()
    row = re.search(r"<th>time in await</th><td>([0-9.]+) (us|cycles), for (\d+) of (\d+) values", page).groups()
    assert row[2:] == (waited, awaited) and abs(float(row[0]) * (1000 if row[1] == "us" else 1) - int(time)) <= 1000, (row, time)
    shown = [w for w in timeline.read(page)[2] if w[0]["name"].startswith("await")]
    assert len(shown) == int(waited), shown
    look_at_causes(r.stdout, int(time), unit, json.load(open(path("t.json")))["otherData"]["causes"], page)
    return int(time), int(awaited), int(waited), slices


for engine in ["threads", "process"]:
    time, awaited, waited, slices = run(engine, "--workers", "vector=2", "--defer")
    assert awaited == 3 and waited == 2 and time >= 390e6, (engine, time, awaited, waited)
    assert abs(sum(e["dur"] for e in slices) * 1000 - time) < 0.02 * time, (engine, time, slices)
    assert [e["args"]["site"].split(":")[-2] for e in slices] == ["9", "11"], slices
    assert [e["args"].get("tensor") for e in slices] == ["local", None], slices  # the other is the host's
time, awaited, waited, slices = run("timing")
assert (time, awaited, waited) == (2000, 3, 2) and [e["dur"] for e in slices] == [1000, 1000], (time, awaited, waited, slices)
assert run("serial")[:3] == (0, 3, 0)  # its kernels have run before
print("waiting is seen")
