# cases.py TEST PTOC FOLDER - runs the cases of a test file in FOLDER.  A case is a line
#     # CASE 2: check => no .pto file given
# of exit code, arguments and a text that is said.  ptoc must end in time with that code; on a wrong command line (2) and on a file
# that cannot be read or written (4) it says exactly one line, which names ptoc or is the built program's, and prints nothing.
import re
import shlex
import subprocess
import sys

test, ptoc, folder = sys.argv[1:]
cases = failed = 0
for number, line in enumerate(open(test), 1):
    found = re.match(r"# CASE (\d): (.*?) *=>(.*)", line)
    if not found:
        continue
    cases += 1
    code, arguments, text = int(found[1]), shlex.split(found[2]), found[3].strip()
    try:
        run = subprocess.run([ptoc] + arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        out, err, got = run.stdout.decode(), run.stderr.decode(), run.returncode
    except subprocess.TimeoutExpired:
        out, err, got = "", "", "a hang"
    one_line = code not in (2, 4) or (err.count("\n") == 1 and not out and re.match(r"(ptoc: )?error", err))
    if got != code or not one_line or text not in err or (code == 0 and err):
        failed += 1
        print("%s:%d: exit %s, standard error %r, standard output %r" % (test, number, got, err, out[:200]))
print("%d cases, %d failed" % (cases, failed))
sys.exit(1 if failed or not cases else 0)
