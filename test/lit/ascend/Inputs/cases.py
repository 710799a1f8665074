"""Runs a program with a map, options and an environment, and looks at exit code and message.

usage: cases.py TEST PROGRAM MAP STUB FOLDER [run options]

A case is `# CASE 1 NAME=value ... --option ... => text`: exit code, environment, options, and what standard error has.  `map: line; line` in
place of options is a map of its own.  The stub does not run anything on Ascend.
"""
import os
import re
import subprocess
import sys

test, program, kernels, stub, folder = sys.argv[1:6]
options = sys.argv[6:]


def run(code, what, text):
    env = dict(os.environ, LD_LIBRARY_PATH=stub, PTO_STUB_LOG=os.path.join(folder, "log"))
    if os.path.exists(env["PTO_STUB_LOG"]):
        os.remove(env["PTO_STUB_LOG"])
    mapped, extra = kernels, []
    if what.startswith("map: "):
        mapped = os.path.join(folder, "case.ini")
        with open(mapped, "w", encoding="utf-8") as f:
            f.write(what[5:].replace("; ", "\n").replace("MAP", open(kernels, encoding="utf-8").read()))
    else:
        for word in what.split():
            name = re.fullmatch(r"([A-Z_]+)=(.*)", word)
            if name:
                env[name.group(1)] = name.group(2)
            else:
                extra.append(word)
    done = subprocess.run([program, "--backend", "ascend", "--kernels", mapped] + options + extra, env=env, capture_output=True, text=True, timeout=60)
    wrong = done.returncode != code or (text not in done.stderr)
    if "LD_LIBRARY_PATH=" not in what and os.path.exists(env["PTO_STUB_LOG"]):
        with open(env["PTO_STUB_LOG"], encoding="utf-8") as f:
            last = f.read().splitlines()[-1]
        if not last.endswith(" 0 mistakes, 0 leaks"):
            wrong = True
            print(last)
    print("%s %d %s => %s" % ("WRONG" if wrong else "ok   ", code, what, text))
    if wrong:
        print("  exit code %d\n%s" % (done.returncode, done.stderr))
    return not wrong


with open(test, encoding="utf-8") as f:
    cases = re.findall(r"^# CASE (\d) (.*) => (.*)$", f.read(), re.M)
print("%d cases; ABI stub, not run on Ascend" % len(cases))
sys.exit(0 if all([run(int(code), what, text) for code, what, text in cases]) else 1)
