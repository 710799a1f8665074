"""progress.py PROGRAM - asks a run by SIGUSR1 while it waits in an await, for its end or in a kernel, and reads the lines of --progress on a terminal and in a file."""
import ctypes, os, pty, re, signal, subprocess, sys, time

program = sys.argv[1]
alone = [program, "--input", "x=zeros", "--quiet", "--workers", "vector=1"]
words = [*alone, "--entry", "main", "--defer"]


def tgkill(pid, thread, number):
    ctypes.CDLL(None).tgkill(pid, thread, number)


def catches(pid, number):
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", open(f"/proc/{pid}/status").read(), re.M)
    return caught and int(caught[1], 16) >> (number - 1) & 1


def answers(engine, send, words=words, **options):
    """What a run writes that is asked five times a second from the moment at which it takes the signal."""
    p = subprocess.Popen([*words, "--set", "times=8", "--engine", engine], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
    while p.poll() is None:
        if catches(p.pid, signal.SIGUSR1):
            send(p.pid, signal.SIGUSR1)
        time.sleep(0.2)
    out, err = p.communicate()
    assert p.returncode == 0 and ("ends 8" in out or "leave" in words), (p.returncode, out, err)
    assert re.search(r"^workers: run\n  kernel 'slow' \(task \d", err, re.M), err
    counts = [(int(completed), int(flies)) for completed, flies in re.findall(r"^scheduler: (\d+) tasks completed, (\d+) in flight$", err, re.M)]
    assert counts == sorted(counts, key=lambda count: count[0]) and 0 < counts[-1][0] <= 8 and all(sum(count) <= 8 for count in counts), err
    return err


def by_thread(pid, number):
    """To each thread but the first: what only the first knows is there all the same."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        if int(thread) != pid:
            tgkill(pid, int(thread), number)


for engine in ("threads", "process"):
    err = answers(engine, os.kill)
    assert re.search(r"^orchestrator: waits, await( at .*progress.pto:12:\d+)?$", err, re.M), err
    assert re.search(r"^scheduler: [0-7] tasks completed, [1-8] in flight$", err, re.M), err
    for send in (os.kill, by_thread):
        err = answers(engine, send, [*alone, "--entry", "leave", "--defer"])
        assert re.search(r"^orchestrator: waits, end of the run\nscheduler: [0-7] tasks completed, [1-8] in flight$", err, re.M), err
# What the orchestrator's thread runs itself is a kernel that runs, and no task that has completed.
for more in ([], ["--defer"]):
    err = answers("serial", os.kill, [*alone, "--entry", "main", *more])
    assert re.search(r"^orchestrator: runs a kernel at .*progress.pto:\d+:\d+\nscheduler: [0-7] tasks completed, 1 in flight$", err, re.M), err
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
# Tasks that are executed inline are not counted, and the line says so.
p = subprocess.run([*alone, "--entry", "main", "--set", "times=30", "--engine", "serial", "--progress"], stderr=subprocess.PIPE, text=True,
                   stdout=subprocess.DEVNULL)
assert p.returncode == 0 and " of 0 tasks" not in p.stderr and re.search(r"^[5-9] s: no task in the window, \d+ MB$", p.stderr, re.M), p.stderr
