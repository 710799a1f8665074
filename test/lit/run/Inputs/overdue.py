"""overdue.py PROGRAM - a kernel over its @timeout that never returns: it is named while it runs, and later the program ends, on all engines at once.
"""
import atexit, subprocess, sys

STUCK = "error: the kernel has not returned 5 s later, so the program ends without results\n"
programs = []
for options in (["serial"], ["serial", "--defer"], ["threads"], ["threads", "--defer"], ["process"]):
    command = [sys.argv[1], "--set", "ms=-1", "--engine", *options]
    programs.append((options, subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)))
    atexit.register(programs[-1][1].kill)  # a program that does not end must not outlive its test
first = [program.stderr.readline() for _, program in programs]
is_early = [program.poll() is None or options == ["process"] for options, program in programs]
for (options, program), line, early in zip(programs, first, is_early):
    text = line + program.stderr.read()
    code = program.wait(timeout=120)
    has_stopped = "the worker process was stopped" in line if options == ["process"] else text.endswith(STUCK)
    if code != 1 or not early or not has_stopped or "kernel 'nap' runs for longer than its @timeout of 100 ms" not in line:
        sys.exit(f"{options}: exit code {code}, named {'early' if early else 'at the end'}, printed\n{text}")
