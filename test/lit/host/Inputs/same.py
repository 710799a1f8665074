"""Runs programs on the engine timing 50 times each, with the addresses that the system chooses, and compares every byte that they write."""
import os, subprocess, sys

ptoc, examples, inputs, folder = sys.argv[1:]
RUNS = 50
programs = {  # strassen and accumulate differed before their edges and accumulators were found without regard to addresses
    "strassen": "--skip-kernels --input A=random:1 --input B=random:2 --dim N=512",
    "chol": "--skip-kernels --input info=zeros --input A=random:1 --dim N=768 --window 8",
    "flash": "--skip-kernels --dim S=256 --dim D=32 --input Q=random:1 --input K=random:2 --input V=random:3 --heap 64K --submit-cycles 3",
    "fft": "--input x=random:3 --dim n1=64 --dim n2=32 --tensormap 16",
    "jacobi": "--dim N=60 --set max_sweeps=4 --input u=random --input v=zeros",
    "accumulate": "--input x=random:1 --input y=zeros --dim N=480 --workers vector=24 --dispatch-cycles 7",
}
written = ["trace.json", "graph.json", "report.html"]


def one_run(program, options):
    names = {n: os.path.join(folder, n) for n in written}
    out = subprocess.run([program, "--engine", "timing", "--stats", *options.split(), "--trace", names["trace.json"], "--graph", names["graph.json"],
                          "--report", names["report.html"]], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return {"output": out.stdout.encode()} | {n: open(path, "rb").read() for n, path in names.items()}


for name, options in programs.items():
    source = os.path.join(examples, name + ".pto")
    program = os.path.join(folder, name)
    subprocess.run([ptoc, "build", "-O0", source if os.path.exists(source) else os.path.join(inputs, name + ".pto"), "-o", program], check=True)
    first = one_run(program, options)
    assert b"Cycles: " in first["output"] and b"Wall time" not in first["output"], first["output"]
    for n in range(1, RUNS):
        other = one_run(program, options)
        for what in first:
            assert other[what] == first[what], f"{name}: {what} of run {n} differs from that of the first"
print("always the same")
