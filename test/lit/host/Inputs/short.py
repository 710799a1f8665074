"""short.py PROGRAM - ten runs that are short of one thing each: --advise marks exactly that, and following it makes the run faster by at least
four fifths of what it said."""
import re
import subprocess
import sys

# entry and options; what is marked; the options that follow it
RUNS = [
    ("window --workers cube=4 --window 16", "--window 512", "--window 512"),
    ("heap --workers cube=4,vector=4 --heap 512 --rings 1", "--heap 2048", "--heap 2048"),
    ("window --workers cube=8 --deps 16", "--deps 512", "--deps 512"),
    ("entries --workers cube=8 --tensormap 32", "--tensormap 512", "--tensormap 512"),
    ("cube --workers cube=2", "3 workers cube", "--workers cube=3"),
    ("vector --workers vector=2", "3 workers vector", "--workers vector=3"),
    ("accel --workers accel=1", "2 workers accel", "--workers accel=2"),
    ("priority --workers cube=20 --set first=0", "@priority by the longest chain that is left", "--set first=1"),
    ("awaits --workers cube=4 --set waits=true", "awaits of no time", "--set waits=false"),
    ("submits --workers cube=4 --submit-cycles 100 --set grain=1", "submits of no time", "--set grain=8"),
]


def run(options):
    command = [sys.argv[1], "--input", "x=ones", "--quiet", "--engine", "timing", "--stats", "--advise", "--entry", *options.split()]
    r = subprocess.run(command, capture_output=True, text=True, check=True)
    table = r.stdout[r.stdout.index("What would help"):]
    marked = re.findall(r"^  \[!\] (.*?)(?: \(now \d+\)| \(fewer, larger tasks\))? +(\d+) cycles", table, re.M)
    return int(re.search(r"^Cycles: (\d+)", r.stdout, re.M).group(1)), marked


def replaced(options, by):
    """The options with the value of one changed; a value of --set by its name."""
    words, (option, value) = options.split(), by.split()
    for i in range(len(words) - 1):
        if words[i] == option and (option != "--set" or words[i + 1].split("=")[0] == value.split("=")[0]):
            words[i + 1] = value
    return " ".join(words)


for options, advice, follow in RUNS:
    before, marked = run(options)
    if [m[0] for m in marked] != [advice]:
        sys.exit("%s: marked is %s, not %s" % (options, marked, advice))
    said, (after, _) = before - int(marked[0][1]), run(replaced(options, follow))
    print("%-60s %6d cycles, said to be %6d, is %6d" % (options, before, before - said, after))
    if before - after < 0.8 * said:
        sys.exit("%s: following '%s' saves %d cycles of %d" % (options, advice, before - after, said))
print("%d runs" % len(RUNS))
