"""Random chains of calls under --plan=min: no two tensors that live at once share a byte, a frame is never larger than greedy by decreasing
size makes it, with few tensors it is the least, found again by trying all orders, and a heap that suffices without frames suffices with them.

usage: random_chains.py PTOC FOLDER SEED COUNT
Sizes are constants, or multiples of N.
"""
import os
import random
import re
import subprocess
import sys

FEW = 6
KERNELS = """kernel start<N>(out a: f32[N]) on vector { for (int64_t i = 0; i < N; i++) a[i * a_stride[0]] = (float)i; }
kernel next<N, M>(in a: f32[N], out b: f32[M]) on vector { for (int64_t i = 0; i < M; i++) b[i * b_stride[0]] = a[0]; }
kernel join<N, K, M>(in a: f32[N], in c: f32[K], out b: f32[M]) on vector { for (int64_t i = 0; i < M; i++) b[i * b_stride[0]] = a[0] + c[0]; }
kernel last<N>(in a: f32[N], inout z: f32[1]) on vector { z[0] += a[0]; }
"""


def call(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


class Chain:
    def __init__(self, r, number):
        self.name, self.symbolic = "chain%d" % number, number % 4 == 3
        count = r.randrange(2, FEW + 1) if number % 2 else r.randrange(4, 24)
        self.sizes = [64 * r.randrange(1, 65) for _ in range(count)]
        self.spans, self.lines = [[i, i + 1] for i in range(count)], []
        for i, size in enumerate(self.sizes):
            self.lines.append("  let t%d: f32[%d%s];" % (i, size // 4, " * N" if self.symbolic else ""))
            if i == 0:
                self.lines.append("  start(out t0);")
            elif i == 1 or r.random() < 0.5:
                self.lines.append("  next(t%d, out t%d);" % (i - 1, i))
            else:
                other = r.randrange(max(0, i - 5), i - 1)
                self.spans[other][1] = i
                self.lines.append("  join(t%d, t%d, out t%d);" % (i - 1, other, i))
        self.lines.append("  last(t%d, inout z);" % (count - 1))

    def text(self):
        return "orch %s<N>(in x: f32[N], inout z: f32[1]) {\n%s\n}\n" % (self.name, "\n".join(self.lines))

    def meet(self, a, b):
        return self.spans[a][0] <= self.spans[b][1] and self.spans[b][0] <= self.spans[a][1]

    def greedy(self):
        at = {}
        for n in sorted(range(len(self.sizes)), key=lambda n: (-self.sizes[n], self.spans[n][0])):
            end, best, room = 0, None, None
            for k in sorted((k for k in at if self.meet(k, n)), key=lambda k: at[k]):
                if at[k] - end >= self.sizes[n] and (room is None or at[k] - end < room):
                    best, room = end, at[k] - end
                end = max(end, at[k] + self.sizes[k])
            at[n] = end if best is None else best
        return max(at[n] + self.sizes[n] for n in at)

    def least(self, at=None):
        at = at or {}
        if len(at) == len(self.sizes):
            return max(at[n] + self.sizes[n] for n in at)
        best = 1 << 60
        for n in range(len(self.sizes)):
            if n not in at:
                lowest = max([at[k] + self.sizes[k] for k in at if self.meet(k, n)] or [0])  # orders by offset are enough
                best = min(best, self.least({**at, n: lowest}))
        return best

    def fault(self, listing):
        part = re.search(r"orch %s<.*?\n(.*?)(?=\n\S|\Z)" % self.name, listing, re.S).group(1)
        number = lambda text: int(text.replace(" * N", "").replace("N", "1"))
        at = {int(n): number(offset) for n, offset in re.findall(r"^ +t(\d+) +slot \d+ +at (\S+(?: \* N)?) ", part, re.M)}
        frame = number(re.search(r"frame +(\S+(?: \* N)?) bytes", part).group(1))
        self.frame = frame
        for a in at:
            for b in range(a):
                if self.meet(a, b) and at[a] < at[b] + self.sizes[b] and at[b] < at[a] + self.sizes[a]:
                    return "t%d and t%d share bytes" % (a, b)
        if len(at) != len(self.sizes) or frame != max(at[n] + self.sizes[n] for n in at):
            return "the frame is not that of its tensors"
        if frame > self.greedy():
            return "%d bytes, greedy makes %d" % (frame, self.greedy())
        if len(at) <= FEW and frame != self.least():
            return "%d bytes, the least are %d" % (frame, self.least())
        return None


def least_heap(ptoc, source, plan, entry, high):
    binary = source + "." + plan
    code, said = call([ptoc, "build", "-w", "-O0", "--plan=" + plan, source, "-o", binary])
    if code != 0:
        sys.exit(said)
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        command = [binary, "--quiet", "--engine", "serial", "--rings", "1", "--input", "x=zeros", "--input", "z=zeros", "--dim", "N=1", "--heap"]
        low, high = (low, middle) if call(command + [str(middle * 64), "--entry", entry])[0] == 0 else (middle, high)
    return high * 64


def main():
    ptoc, folder, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    r = random.Random(seed)
    chains = [Chain(r, n) for n in range(count)]
    source = os.path.join(folder, "chains.pto")
    with open(source, "w") as f:
        f.write(KERNELS + "\n".join("export " + c.text() for c in chains))
    code, listing = call([ptoc, "build", "-w", "--plan=min", "--emit=memory", source, "-o", "-"])
    if code != 0:
        sys.exit(listing)
    for c in chains:
        fault = c.fault(listing)
        if fault:
            sys.exit("%s: %s\n%s" % (c.name, fault, c.text()))
    for c in chains[:2]:
        heaps = [least_heap(ptoc, source, plan, c.name, sum(c.sizes) // 64 + 1) for plan in ("ring", "min")]
        if heaps[1] > heaps[0]:
            sys.exit("%s: --plan=min needs %d bytes, --plan=ring %d\n%s" % (c.name, heaps[1], heaps[0], c.text()))
    print("%d chains: frames of %d bytes, greedy by size %d" % (count, sum(c.frame for c in chains), sum(c.greedy() for c in chains)))


main()
