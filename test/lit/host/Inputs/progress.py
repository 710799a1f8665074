"""progress.py PROGRAM - asks a run by SIGUSR1 while it waits in an await, and reads the lines of --progress on a terminal and in a file."""
import os, pty, re, signal, subprocess, sys, time

program = sys.argv[1]
words = [program, "--input", "x=zeros", "--defer", "--quiet", "--workers", "vector=1"]


def catches(pid, number):
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", open(f"/proc/{pid}/status").read(), re.M)
    return caught and int(caught[1], 16) >> (number - 1) & 1


def answers(engine, send, **options):
    """What a run writes that is asked five times a second from the moment at which it takes the signal."""
    p = subprocess.Popen([*words, "--set", "times=8", "--engine", engine], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
    while p.poll() is None:
        if catches(p.pid, signal.SIGUSR1):
            send(p.pid, signal.SIGUSR1)
        time.sleep(0.2)
    out, err = p.communicate()
    assert p.returncode == 0 and "ends 8" in out, (p.returncode, out, err)
    assert re.search(r"^workers: run\n  kernel 'slow' \(task \d", err, re.M), err
    return err


for engine in ("threads", "process"):
    err = answers(engine, os.kill)
    assert re.search(r"^orchestrator: waits, await( at .*progress.pto:9:\d+)?$", err, re.M), err
    assert re.search(r"^scheduler: [1-8] tasks in flight$", err, re.M), err
# Asked by name, as pkill does it, the worker process gets the signal too.
answers("process", os.killpg, start_new_session=True)
master, slave = pty.openpty()
p = subprocess.Popen([*words, "--set", "times=8", "--progress"], stderr=slave, stdout=subprocess.DEVNULL)
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
assert len(lines) >= 3 and lines[-1][2] == "8" and any(line[5] for line in lines) and int(lines[-1][4]) > 0, seen
p = subprocess.run([*words, "--set", "times=18", "--progress"], capture_output=True, text=True)
shown = re.search(r"^[5-9] s: (\d+) of 18 tasks, \d/s, \d+ MB, waits: await$", p.stderr, re.M)
assert shown and 0 < int(shown[1]) < 18, p.stderr
