"""Fails every function of the library at its first, second and last use, and looks at what the program makes of it.

usage: faults.py PROGRAM MAP STUB FOLDER [run options]

Each run must end by itself, with one message that names the function, with the exit code that the message belongs to, and the stub, which
does not run anything on Ascend, must find no mistake and no leak.
"""
import os
import re
import subprocess
import sys

program, kernels, stub, folder = sys.argv[1:5]
options = sys.argv[5:]
# What is only called when something else has failed: the message names that.
AFTER = {"aclGetRecentErrMsg": "aclrtMemcpy:2", "aclrtStreamAbort": "aclrtQueryEventStatus:1",
         "aclrtDestroyStreamForce": "aclrtQueryEventStatus:1,aclrtStreamAbort:1"}
CODES = {"aclrtMalloc": 3, "aclrtMallocHost": 3, "aclrtBinaryLoadFromFile": 4, "aclrtBinaryGetFunction": 4}


def run(fail):
    log = os.path.join(folder, "log")
    if os.path.exists(log):
        os.remove(log)
    env = dict(os.environ, LD_LIBRARY_PATH=stub, PTO_STUB_LOG=log, PTO_STUB_FAIL=fail)
    done = subprocess.run([program, "--backend", "ascend", "--kernels", kernels] + options, env=env, capture_output=True, text=True, timeout=60)
    with open(log, encoding="utf-8") as f:
        return done, f.read().splitlines()


def judge(fail, name, code):
    done, log = run(fail)
    wrong = []
    hits = sum("INJECTED" in line for line in log)
    if hits < fail.count(":"):
        wrong.append("only %d failures were injected" % hits)
    if done.returncode != code:
        wrong.append("exit code %d, not %d" % (done.returncode, code))
    errors = [line for line in done.stderr.splitlines() if line.startswith("error") or ": error: " in line]
    if len(errors) != 1 or "ascend: " not in errors[0] or name not in errors[0]:
        wrong.append("the message")
    if name.startswith(("aclrtKernelArgs", "aclrtLaunchKernel")) and errors and not re.match(r".*\.pto:\d+:\d+: error: ", errors[0]):
        wrong.append("the message has no place of a task that was not launched")
    wrong += [line for line in log if line.startswith(("MISTAKE", "LEAK"))]
    if not re.fullmatch(r"# ABI stub, not run on Ascend: \d+ calls, 0 mistakes, 0 leaks", log[-1]):
        wrong.append(log[-1])
    print("%-46s %s" % (fail, "ok" if not wrong else "WRONG: " + "; ".join(wrong)))
    if wrong:
        print(done.stderr + "\n".join(log[-12:]))
    return not wrong


def main():
    done, log = run("")
    if done.returncode != 0:
        sys.exit("the program fails without a fault:\n" + done.stderr)
    uses = {}
    for line in log:
        name = re.match(r"(acl\w+)\(", line)
        if name:
            uses[name.group(1)] = uses.get(name.group(1), 0) + 1
    good = True
    for name in sorted(uses):
        for n in sorted({1, min(2, uses[name]), uses[name]}):
            # How often an event is asked for is a matter of time: the first time after a record is not.
            fail = "%s@aclrtRecordEvent:%d" % (name, n) if name == "aclrtQueryEventStatus" else "%s:%d" % (name, n)
            good &= judge(fail, name, CODES.get(name, 1))
    for name, other in AFTER.items():
        if not stub.endswith("old"): # that one has none of these
            good &= judge(other + "," + name + ":1", other.split(":")[0], 1)
    print("%d functions; ABI stub, not run on Ascend" % len(uses))
    sys.exit(0 if good else 1)


main()
