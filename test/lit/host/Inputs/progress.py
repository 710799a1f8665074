"""progress.py PROGRAM - asks a run by SIGUSR1 while it waits in an await, and reads the lines of --progress on a terminal and in a file."""
import os, pty, re, signal, subprocess, sys, time

program = sys.argv[1]
words = [program, "--input", "x=zeros", "--defer", "--quiet", "--workers", "vector=1"]
for engine in ("threads", "process"):
    p = subprocess.Popen([*words, "--set", "times=8", "--engine", engine], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(1)
    p.send_signal(signal.SIGUSR1)
    out, err = p.communicate(timeout=60)
    assert p.returncode == 0 and "ends 8" in out, (out, err)
    assert re.search(r"^orchestrator: waits, await( at .*progress.pto:9:\d+)?$", err, re.M), err
    assert re.search(r"^scheduler: [1-8] tasks in flight$", err, re.M) and re.search(r"^workers: run\n  kernel 'slow' \(task \d", err, re.M), err
# Asked by name, as pkill does it, the worker process gets the signal too.
p = subprocess.Popen([*words, "--set", "times=8", "--engine", "process"], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
time.sleep(1)
os.killpg(p.pid, signal.SIGUSR1)
out, err = p.communicate(timeout=60)
assert p.returncode == 0 and "ends 8" in out and "workers: run" in err, (out, err)
master, slave = pty.openpty()
p = subprocess.Popen([*words, "--set", "times=4", "--progress"], stderr=slave, stdout=subprocess.DEVNULL)
os.close(slave)
seen = b""
while True:
    try:
        more = os.read(master, 4096)
    except OSError:
        break
    if not more:
        break
    seen += more
assert p.wait(60) == 0
lines = re.findall(r"\r(\d+) s: (\d+) of (\d+) tasks, (\d+)/s, (\d+) MB(, waits: await)?\033\[K", seen.decode())
assert len(lines) >= 3 and lines[-1][2] == "4" and any(line[5] for line in lines) and int(lines[-1][4]) > 0, seen
p = subprocess.run([*words, "--set", "times=18", "--progress"], capture_output=True, text=True)
assert re.search(r"^5 s: 1[5-7] of 18 tasks, 3/s, \d+ MB, waits: await$", p.stderr, re.M), p.stderr
