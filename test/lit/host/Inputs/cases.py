# cases.py TEST PROGRAM FOLDER - runs the cases of a test file in FOLDER.  A case is a line
#     // CASE 2: --window 3 => must be a power of two
# of exit code, arguments and a text.  The program must end with the code, say exactly one line on standard error that begins
# with "error" and has the text, and print nothing.
import re
import shlex
import subprocess
import sys

test, program, folder = sys.argv[1:]
cases = failed = 0
for number, line in enumerate(open(test), 1):
    found = re.match(r"// CASE (\d): (.*?) *=> (.*)", line)
    if not found:
        continue
    cases += 1
    code, arguments, text = int(found[1]), shlex.split(found[2]), found[3]
    try:
        run = subprocess.run([program] + arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        out, err, got = run.stdout.decode(), run.stderr.decode(), run.returncode
    except subprocess.TimeoutExpired:
        out, err, got = "", "", "a hang"
    if got != code or out or err.count("\n") != 1 or not err.startswith("error") or text not in err:
        failed += 1
        print("%s:%d: exit %s, standard error %r, standard output %r" % (test, number, got, err, out))
if cases == 0:
    sys.exit("no cases")
print("%d cases, %d failed" % (cases, failed))
sys.exit(1 if failed else 0)
