"""watchdog.py PROGRAM [SANITIZER] - a program whose kernel never returns, on all engines at once: its text, its times and its exit codes.

A program with a sanitizer prints no calls: the copy of a process that would read the stack is not safe there (debug/backtrace.c).
"""
import atexit, os, re, signal, subprocess, sys, time

SECONDS, GRACE = 1.0, 5.0
CALLS = r"" if sys.argv[2:] else r"(?:  in .*\n)*  in forever at \S*watchdog\.pto:9\n"
NAMED = re.compile(r"\S*watchdog\.pto:\d+:\d+: error: no task finished for 1 s while these ran:\n.*\n.*\^~*\n"
                   r"  kernel 'forever' \(task 0, \S*watchdog\.pto:\d+:\d+, for [1-9]\d*\.\d s\)\n" + CALLS)
KILLED = re.compile(r"\S*watchdog\.pto:\d+:\d+: error: no task finished for 1 s, the worker process was stopped; what ran then:\n.*\n.*\^~*\n"
                    r"  kernel 'forever' \(task 0, \S*watchdog\.pto:\d+:\d+, for [1-9]\d*\.\d s\)\n" + CALLS)
STUCK = "error: the kernel has not returned 5 s later, so the program ends without results\n"

def begin(*options, **environment):
    program = subprocess.Popen([sys.argv[1], *options], stderr=subprocess.PIPE, text=True, env=dict(os.environ, **environment))
    atexit.register(program.kill)  # a program that does not end must not outlive its test
    return program

def start(engine):
    return engine, begin("--engine", engine, "--watchdog", str(SECONDS))

def check(engine, program):
    _, text = program.communicate(timeout=120)
    expected = KILLED if engine == "process" else NAMED
    match = expected.match(text)
    rest = "" if engine == "process" else STUCK
    if program.returncode != 1 or not match or text[match.end():] != rest:
        sys.exit(f"{engine}: exit code {program.returncode}, printed\n{text}")

CANCELLED = re.compile(r"error: cancelled, but 5 s later these kernels have not returned:\n"
                       r"  kernel 'forever' \((task 0, )?\S*watchdog\.pto:\d+:\d+(, for \d+\.\d s)?\)\n" + CALLS)

def check_interrupted(engine, program):
    _, text = program.communicate(timeout=120)
    if program.returncode != 128 + signal.SIGTERM or not CANCELLED.fullmatch(text):
        sys.exit(f"{engine}, interrupted: exit code {program.returncode}, printed\n{text}")

# A kernel writes its file when it begins, and by then the handler of SIGTERM is there.
interrupted, files = [], []
for engine, more in (("threads", []), ("threads", ["--checked"]), ("serial", []), ("serial", ["--checked"])):
    files.append("%s.began-%d" % (sys.argv[1], len(files)))
    if os.path.exists(files[-1]):
        os.remove(files[-1])
    interrupted.append((engine, begin("--engine", engine, *more, BEGAN=files[-1])))
while not all(os.path.exists(file) for file in files):
    time.sleep(0.05)
for _, program in interrupted:
    program.send_signal(signal.SIGTERM)
by_name = begin("--watchdog", str(SECONDS), PATH="")  # there is no addr2line
running = [start(engine) for engine in ("threads", "serial", "timing", "process")]
# The name comes first, and long before the end: it is read while the program still runs.
engine, program = start("threads")
first = program.stderr.readline()
if "no task finished for 1 s" not in first or program.poll() is not None:
    sys.exit(f"the kernel was not named before the end: {first}")
named_at = time.monotonic()
text = first + program.stderr.read()
if program.wait(timeout=120) != 1 or not text.endswith(STUCK) or time.monotonic() - named_at < GRACE - 1:
    sys.exit(f"exit code {program.returncode}, printed\n{text}")
for engine, program in running:
    check(engine, program)
_, text = by_name.communicate(timeout=120)
if by_name.returncode != 1 or (CALLS and not re.search(r", for \d+\.\d s\)\n(  in \w+\n)*  in usleep\n" + re.escape(STUCK), text)):
    sys.exit(f"without addr2line: exit code {by_name.returncode}, printed\n{text}")
for engine, program in interrupted:
    check_interrupted(engine, program)
