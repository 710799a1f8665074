#!/usr/bin/python3
"""check_programs.py PTOC WIRE FOLDER - programs that ptoc has built do the same on several ranks as on one.

Idea       every example runs on 3 ranks, and rank 0 compares its results with the serial engine (--check); some programs are run
           alone and on ranks, and what they print, write and end with must be the same byte for byte.
Exit code  0: yes.
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
RANKS = os.path.join(HERE, "ranks.py")

PRINTS = """
kernel double_up<N>(in x: f32[N], out y: f32[N]) { for (int64_t i = 0; i < N; i++) y[i] = 2 * x[i] + (float)i; }
kernel total<N>(in x: f32[N], inout sum: f32[1]) { for (int64_t i = 0; i < N; i++) sum[0] += x[i]; }
export orch prints<n>(in x: f32[n], out y: f32[n], inout sum: f32[1]) {
    assert n % 4 == 0;
    for i in 0..4 {
        let a = double_up(x[i * (n / 4) .. (i + 1) * (n / 4)]);
        y[i * (n / 4) .. (i + 1) * (n / 4)] = double_up(a);
        total(y[i * (n / 4) .. (i + 1) * (n / 4)], inout sum);
        let s = await sum[0];
        print "after ", i, ": ", s;
    }
}
"""

FAILS = """
kernel fails(in x: f32[4], out y: f32[4]) { y[0] = x[0]; return x[0] > 2 ? 7 : 0; }
export orch fails_late(in x: f32[8, 4], out y: f32[8, 4]) {
    for i in 0..8 { y[i] = fails(x[i]); }
}
"""


def run(command, **variables):
    done = subprocess.run(command, capture_output=True, env=dict(os.environ, **variables))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def build(ptoc, folder, name, text):
    source = os.path.join(folder, name + ".pto")
    with open(source, "w", encoding="utf-8") as f:
        f.write(text)
    program = os.path.join(folder, name)
    code, out, err = run([ptoc, "build", source, "-o", program])
    if code != 0:
        sys.exit("%s: %s%s" % (name, out, err))
    return program


def compare(what, alone, ranked):
    if alone == ranked:
        return True
    print("%s\n  alone: %s\n  ranks: %s" % (what, alone, ranked))
    return False


def same_prints(ptoc, wire, folder):
    program, good = build(ptoc, folder, "prints", PRINTS), True
    for options in (["--dim", "n=4096"], ["--dim", "n=400", "--engine", "serial", "--window", "2"], ["--dim", "n=6"], ["--nothing"],
                    ["--input", "x=" + os.path.join(folder, "missing.npy")]):
        files = [os.path.join(folder, name + ".npy") for name in ("alone", "ranked")]
        outcome = []
        for path, launcher in zip(files, ([], [sys.executable, RANKS, wire, "3"])):
            if os.path.exists(path):
                os.remove(path)
            given = ["--input", "x=iota"] if "--input" not in options else []
            result = run(launcher + [program] + given + ["--output", "y=" + path] + options, PTO_LOCAL_SEED="5", PTO_LOCAL_LATEST="6")
            outcome.append(result + (open(path, "rb").read() if os.path.exists(path) else None,))
        good &= compare("prints %s" % options, outcome[0], outcome[1])
        summary = [run(launcher + [program, "--input", "x=iota", "--dim", "n=4096"])
                   for launcher in ([], [sys.executable, RANKS, wire, "2"])]
        good &= compare("summary", summary[0], summary[1])
    return good


def same_failures(ptoc, wire, folder):
    program = build(ptoc, folder, "fails", FAILS)
    code, out, err = run([sys.executable, RANKS, wire, "3", program, "--input", "x=iota"])
    good = code == 1 and "kernel 'fails' failed: it returned 7" in err and err.count("error") == 1
    if not good:
        print("a failing kernel: exit code %d\n%s%s" % (code, out, err))
    code, out, err = run([program, "--input", "x=iota"], PTO_WIRE="/nowhere/libwire.so")
    if code != 2 or "started as one of several ranks, which it cannot join" not in err:
        good = False
        print("no wire: exit code %d\n%s%s" % (code, out, err))
    return good


def examples(ptoc, wire, folder):
    command = [sys.executable, "-B", os.path.join(ROOT, "scripts", "examples.py"), ptoc, "all", os.path.join(folder, "examples"), "--seed", "7",
               "--with=--check", "--with=--check --engine serial --window 4"]
    command += ["--launch", "%s %s %s 3" % (sys.executable, RANKS, wire)]
    code, out, err = run(command, PTO_LOCAL_SEED="9", PTO_LOCAL_LATEST="3")
    if code != 0:
        print(out + err)
    return code == 0


def main():
    ptoc, wire, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    good = same_prints(ptoc, wire, folder)
    good &= same_failures(ptoc, wire, folder)
    good &= examples(ptoc, wire, folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
