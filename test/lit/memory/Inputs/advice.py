"""advice.py PROGRAM [OPTION ...] - follows the advice of the message of a full heap, once, and the program has to run then."""
import re
import subprocess
import sys


def run(options):
    done = subprocess.run(sys.argv[1:] + options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


code, text = run(["--heap", "1K"])
advice = re.search(r"run with (--heap \d+)", text)
assert code != 0 and advice, text
code, text = run(advice.group(1).split())
print(advice.group(1), "suffices" if code == 0 else "does not suffice: " + text)
