"""compiler.py PTOC [LINES ...] - what checking a large program costs, and how soon `ptoc run` starts one that it knows.

The program is written for the purpose: functions of nineteen lines with views, loops, branches and calls, nothing but code, 29 bytes a
line.  Time is the processor's, memory the peak resident set, each the least of three runs; cost a byte must not grow with the size.
"""
import os
import subprocess
import sys
import tempfile
import time

FUNCTION = """orch f{k}<M, N, K>(in A: f32[M, K], in B: f32[K, N], inout C: f32[M, N]) {{
  assert M % T == 0 && N % T == 0 && K % T == 0;
  view a = A tiled [T, T];
  view b = B tiled [T, T];
  view c = C tiled [T, T];
  for i in 0 .. M / T {{
    for j in 0 .. N / T {{
      for l in 0 .. K / T {{
        let P = tile.gemm(a[i, l], b[l, j]);
        if i > j {{
          tile.add_to(P, inout c[i, j]);
        }} else {{
          let w = min(T, N - j * T);
          tile.add_to(P[:, 0 +: w], inout C[i * T +: T, j * T +: w]);
        }}
      }}
    }}
  }}
}}
"""
SMALL = """kernel add<N>(in a: f32[N], in b: f32[N], out c: f32[N]) on vector { for (int64_t i = 0; i < N; i++) c[i] = a[i] + b[i]; }
export orch f<N>(in x: f32[N], out y: f32[N]) { add(x, x, out y); }
"""


def write(path, lines):
    with open(path, "w") as out:
        out.write('import "std/tile.pto" as tile;\nconst T = 64;\n')
        for k in range(max(1, lines // 19)):
            out.write(FUNCTION.format(k=k))
        out.write("export orch main<M>(in A: f32[M, M], inout C: f32[M, M]) { tile.add_to(A, inout C); }\n")


def measure(command):
    """Seconds of the processor, and KiB."""
    pid = os.spawnvp(os.P_NOWAIT, command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit("%s: status %d" % (" ".join(command), status))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def start_again(ptoc, folder):
    """Wall time of `ptoc run` of a small program that was built before, and of the built program alone."""
    source, env = os.path.join(folder, "small.pto"), dict(os.environ, PTOC_CACHE=os.path.join(folder, "kept"))
    with open(source, "w") as out:
        out.write(SMALL)
    words = ["--dim", "N=1000", "--input", "x=iota", "--quiet"]
    subprocess.run([ptoc, "build", source, "-o", os.path.join(folder, "small")], check=True)
    def wall(command):
        begin = time.perf_counter()
        subprocess.run(command, check=True, env=env)
        return time.perf_counter() - begin
    first = wall([ptoc, "run", source] + words)
    again = sorted(wall([ptoc, "run", source] + words) for _ in range(21))
    alone = sorted(wall([os.path.join(folder, "small")] + words) for _ in range(21))
    return first, again[10], alone[10]


def main():
    ptoc, sizes = os.path.abspath(sys.argv[1]), [int(n) for n in sys.argv[2:]] or [1000, 10000, 36600, 100000, 1000000]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.pto")
        print("%9s %9s %8s %8s %10s" % ("lines", "MB", "s", "MiB", "s a MB"))
        for lines in sizes:
            write(path, lines)
            runs = [measure([ptoc, "check", path]) for _ in range(3 if lines <= 100000 else 1)]
            seconds, memory, megabytes = min(r[0] for r in runs), min(r[1] for r in runs) / 1024, os.path.getsize(path) / 1e6
            print("%9d %9.3f %8.3f %8.1f %10.3f" % (lines, megabytes, seconds, memory, seconds / megabytes), flush=True)
        print("ptoc run of a small program: %.0f ms the first time, %.1f ms again; the program alone %.1f ms" % tuple(1e3 * t for t in start_again(ptoc, folder)))


if __name__ == "__main__":
    main()
