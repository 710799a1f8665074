#!/usr/bin/python3
"""random_functions.py PTOC FIRST COUNT FOLDER - gradients of random functions against differences.

Idea       a program is a function of kernel calls, loops, branches, blocks, pieces, names that hide others and names that a gradient would
           take, values that are written over, kernels that change two arguments and calls of another function; `ptoc run --check-grad` must agree on it,
           with a window of four tasks. Then it must agree in a heap of 64 bytes with the heap that the message of that run advises, which is
           followed once, and its gradients must differ from the differences by the same digits, unless their additions have no order. A third of
           the programs keep the values of a few iterations only, where that is possible.
Limits     a gradient that rounding hides is compared with nothing. No more than UNKNOWN_SHARE of all gradients may be so, and one more.
Exit code  0: all agree; 1: a seed whose gradient is wrong or whose advice does not do, the program is left in the folder; or too many that could
           not be compared.
"""
import random
import re
import subprocess
import sys

import seeds

KERNELS = """kernel sine<N>(in x: f64[N], out y: f64[N]) on vector => { y[i] = tanh(1.3 * x[i] + 0.2); }
kernel bend<N>(in x: f64[N], out y: f64[N], s: f64) on vector => { y[i] = tanh(s * x[i] + 0.1) * x[i]; }
kernel times<N>(in a: f64[N], in b: f64[N], out y: f64[N]) on vector => { y[i] = tanh(a[i]) * b[i]; }
kernel shift<N>(in x: f64[N], out y: f64[N]) on vector => { y[i] = 0.5 * x[max(i - 1, 0)] - 0.3 * x[i]; }
kernel mean<N>(in x: f64[N], in w: f64[N], out y: f64[N]) on vector => {
  let m = sum(j: x[j] * w[j]) / f64(N);
  y[i] = tanh(x[i] - m);
}
kernel add<N>(in p: f64[N], inout c: f64[N]) on vector => { c[i] += p[i]; }
kernel damp<N>(inout c: f64[N]) on vector => { c[i] = tanh(c[i]); }
kernel mix<N>(in a: f64[N], in b: f64[N], inout c: f64[N]) on vector => { c[i] = 0.5 * tanh(c[i]) * a[i] + 0.2 * b[i]; }
kernel cross<N>(in p: f64[N], inout a: f64[N], inout b: f64[N]) on vector => {
  a[i] = 0.6 * tanh(a[i]) + 0.3 * b[i] * p[i];
  b[i] = 0.5 * b[i] + 0.4 * tanh(a[i]);
}
kernel both<N>(inout a: f64[N], inout b: f64[N]) on vector => {
  let m = sum(j: a[j]) / f64(N);
  b[i] += 0.3 * tanh(a[i] - m);
  a[i] = 0.7 * a[i] + 0.2 * b[i];
}
kernel put<N>(in x: f64[N], out y: f64[N]) on vector => { y[i] = x[i]; }
kernel blank<N>(out y: f64[N]) on vector => { y[i] = 0.25; }
"""

UNKNOWN_SHARE = 0.02
TAKEN = ["_bar", "_kept", "_found", "_left", "_again", "_start", "_next", "_value", "_grad"]  # what names of a gradient end with


class Function:
    def __init__(self, rng, name, formals, callees):
        self.rng, self.name, self.callees = rng, name, callees
        self.lines, self.calls, self.names, self.used = [], 0, 0, set()
        # A scope: names of tensors that were written; each is (name, is an array of `n + 1` tensors).
        self.scopes = [[f for f in formals], []]
        self.loops = []
        self.asked = False  # a condition on n: a second one may contradict it, and then the compiler knows that nothing runs
        self.most = rng.randint(4, 20)

    def fresh(self, base):
        """A name; inside of a block it may hide another one, a formal too."""
        hidden = [t for scope in self.scopes[1:-1] for t in scope if t.startswith(base) and t not in self.scopes[-1]]
        hidden += [v for v in self.loops if base == "i"]
        if base in "ts" and len(self.scopes) > 2:
            hidden += [t for t in self.scopes[0] if t not in self.scopes[-1]]
        if hidden and self.rng.random() < 0.25:
            return self.rng.choice(hidden)
        self.names += 1
        if base in "tshv" and self.rng.random() < 0.15:
            others = [t for t in self.written() if t not in self.scopes[0] and "_" not in t]
            name = f"{self.rng.choice(others)}{self.rng.choice(TAKEN)}" if others else f"{base}{self.names}"
            if name not in self.used:
                self.used.add(name)
                return name
        return f"{base}{self.names}"

    def written(self):
        return [t for scope in self.scopes for t in scope]

    def piece(self, length, avoid=()):
        """A vector that was written, of N or H elements, of no tensor in avoid; (text, base) or None."""
        names = [t for t in self.written() if t not in avoid]
        if not names:
            return None
        name = self.rng.choice(names)
        if length == "N":
            return name, name
        return (f"{name}[0 .. H]" if self.rng.random() < 0.5 else f"{name}[H .. 2 * H]"), name

    def emit(self, text):
        self.lines.append("  " * (len(self.scopes) + len(self.loops) * 0) + text)

    def call(self):
        rng = self.rng
        self.calls += 1
        length = "N" if rng.random() < 0.7 else "H"
        kind = rng.random()
        a = self.piece(length)
        if kind < 0.35:  # a new tensor, or one that exists
            b = self.piece(length)
            value = rng.choice([f"sine({a[0]})", f"bend({a[0]}, {rng.uniform(-1, 1):.3f})", f"times({a[0]}, {b[0]})", f"shift({a[0]})",
                                f"mean({a[0]}, {b[0]})", f"bend(sine({a[0]}), 0.5)"])
            if length == "N":
                name = self.fresh("t")
                self.emit(f"let {name} = {value};")
                self.scopes[-1].append(name)
                return
            name = self.fresh("h")
            self.emit(f"let {name} = {value};")
            target = self.piece("H", (a[1], b[1]))
            if target and target[1] not in self.fixed:
                self.emit(f"add({name}, inout {target[0]});")
            else:
                self.emit(f"sine({name}, out {self.scratch()}[0 .. H]);")
            return
        targets = [t for t in self.written() if t not in self.fixed]
        if not targets:
            return
        target = rng.choice(targets)
        text = target if length == "N" else f"{target}[{rng.choice(['0 .. H', 'H .. 2 * H'])}]"
        a, b = self.piece(length, (target,)), self.piece(length, (target,))
        if a is None:
            return
        if kind < 0.55:
            self.emit(rng.choice([f"add({a[0]}, inout {text});", f"damp(inout {text});", f"mix({a[0]}, {b[0]}, inout {text});"]))
        elif kind < 0.75:
            self.emit(rng.choice([f"sine({a[0]}, out {text});", f"times({a[0]}, {b[0]}, out {text});", f"mean({a[0]}, {b[0]}, out {text});"]))
        elif kind < 0.8:
            self.emit(f"blank(out {text});")
        elif kind < 0.88 and len(targets) > 1:
            other = rng.choice([t for t in targets if t != target] or [None])
            if other is None:
                return
            second = other if length == "N" else f"{other}[{rng.choice(['0 .. H', 'H .. 2 * H'])}]"
            third = self.piece(length, (target, other))
            self.emit(f"cross({third[0]}, inout {text}, inout {second});" if third and rng.random() < 0.6 else f"both(inout {text}, inout {second});")
        elif self.callees and length == "N":
            self.emit(f"{rng.choice(self.callees)}({a[0]}, inout {text});")
        else:
            view = self.fresh("v")
            self.emit(f"let {view} = {text};")
            self.emit(f"damp(inout {view});")

    def scratch(self):
        name = self.fresh("s")
        self.emit(f"let {name}: f64[N];")
        self.emit(f"blank(out {name});")
        self.scopes[-1].append(name)
        return name

    def block(self, count):
        self.scopes.append([])
        for _ in range(count):
            self.statement()
        self.scopes.pop()

    def own_block(self):
        """A block with names of its own, which a loop in it may use."""
        rng = self.rng
        self.emit(rng.choice(["{", "scope {"]))
        self.scopes.append([])
        if rng.random() < 0.7:
            self.names += 1
            c, z, i, a = f"c{self.names}", f"z{self.names}", f"i{self.names}", self.piece("N", ("y",))[0]
            self.emit(f"let {c}: array[n] of f64[N];")
            self.emit(f"let {z} = {a};")
            self.emit(f"for {i} in 0 .. n {{ times({z}, y, out {c}[{i}]); add({c}[{i}], inout y); damp(inout y); }}")
            self.calls += 3
        for _ in range(rng.randint(1, 3)):
            self.statement()
        self.scopes.pop()
        self.emit("}")

    def statement(self):
        rng = self.rng
        kind = rng.random()
        if self.calls >= self.most or len(self.scopes) > 5 or kind < 0.58:
            self.call()
        elif kind < 0.62 and "y" not in self.fixed and "w" in self.fixed:
            self.own_block()
        elif kind < 0.74:
            variable = self.fresh("i")
            head = rng.choice([f"for {variable} in 0 .. n", f"for {variable} in 1 .. n step 2", f"for {variable} in n .. 0 step -1",
                               f"for {variable} in 0 .. {rng.randint(0, 3)}"])
            self.emit(head + " {")
            self.loops.append(variable)
            self.block(rng.randint(1, 3))
            self.loops.pop()
            self.emit("}")
        elif kind < 0.80:  # a chain: nothing is overwritten
            name, variable, a = self.fresh("c"), self.fresh("i"), self.piece("N")
            self.emit(f"let {name}: array[n + 1] of f64[N];")
            self.emit(f"put({a[0]}, out {name}[0]);")
            self.emit(f"for {variable} in 0 .. n {{ {name}[{variable} + 1] = times({name}[{variable}], {a[0]}); }}")
            if rng.random() < 0.5:  # the same as a tensor that changes
                var = self.fresh("a")
                self.emit(f"var {var} = sine({name}[n]);")
                self.emit(f"for {variable}b in 0 .. n {{ {var} = times({var}, {a[0]}); }}")
                self.emit(f"add({a[0]}, inout {var});")
                self.emit(f"put({var}, out {name}[n]);")
            end = self.fresh("t")
            self.emit(f"let {end} = sine({name}[n]);")
            self.scopes[-1].append(end)
            self.calls += 2
        elif kind < 0.94 and (self.loops or not self.asked):
            value = rng.choice(self.loops + ["n"] * (not self.asked))
            self.asked = True
            self.emit(f"if {value} % 2 == {rng.randint(0, 1)} {{")
            self.block(rng.randint(1, 3))
            if rng.random() < 0.5:
                self.emit("} else {")
                self.block(rng.randint(1, 2))
            self.emit("}")
        elif self.loops or not self.asked:
            value = rng.choice(self.loops + ["n"] * (not self.asked))
            self.asked = True
            self.emit(f"match {value} % 3 {{")
            self.emit("0 => {")
            self.block(1)
            self.emit("}")
            self.emit("else => {")
            self.block(2)
            self.emit("}")
            self.emit("}")
        else:
            self.call()


def program(seed):
    rng = random.Random(seed)
    text = KERNELS
    callees = []
    if rng.random() < 0.5:
        f = Function(rng, "inner", ["x", "y"], [])
        f.fixed, f.most = {"x"}, 4
        for _ in range(rng.randint(1, 3)):
            f.statement()
        text += "orch inner<H, N>(in x: f64[N], inout y: f64[N]) {\n".replace("<H, N>", "<N>") + "  let H = N / 2;\n  let n = 2;\n"
        text += "\n".join(f.lines) + "\n  print n - H;\n}\n"
        callees.append("inner")
    f = Function(rng, "f", ["x", "w", "y", "z"], callees)
    f.fixed = {"x", "w"}
    for _ in range(rng.randint(3, 8)):
        f.statement()
    f.emit(f"add({f.piece('N', ('y',))[0]}, inout y);")
    keep = f" @keep({1 + seed % 4})" if rng.random() < 0.33 else ""
    order = ' @order("any")' if rng.random() < 0.15 else ""
    text += f"@grad(x, w, y, z){keep}{order}\nexport orch f<H>(in x: f64[2 * H], in w: f64[2 * H], n: i64, inout y: f64[2 * H], "
    text += "inout z: f64[2 * H]) {\n  let N = 2 * H;\n"
    return text + "\n".join(f.lines) + "\n  print N + n;\n}\n"


def run(args, path, seed, *more):
    command = [args.ptoc, "run", "--check-grad", path, "--entry", "f", "-w", "-O0", "--cpu", "base", "--quiet", "--window", "4",
               "--dim", f"H={1 + seed % 4}", "--set", f"n={seed % 5}"]
    for number, name in enumerate("xwyz"):
        command += ["--input", f"{name}=random:{seed + number}"]
    return subprocess.run([str(word) for word in [*command, *more]], capture_output=True, text=True, check=False)


def gradients(result):
    """The lines of the gradients: (compared, not compared)."""
    lines = [line for line in result.stdout.splitlines() if line.startswith("gradient of ")]
    unknown = [line for line in lines if "cannot be compared" in line]
    return [line for line in lines if line not in unknown], unknown


def is_agreement(result):
    """Each of the four gradients agrees, or rounding hides it, which main() counts."""
    compared, unknown = gradients(result)
    if len(compared) + len(unknown) != 4:
        return False
    return result.returncode == 0 or (len(unknown) > 0 and f"(unknown_gradients = {len(unknown)})" in result.stderr)


def check(args, path, seed, counts):
    """What went wrong, (text, result), or None."""
    result = run(args, path, seed)
    if "'@keep' of a loop with" in result.stderr:
        path.write_text(re.sub(r" @keep\(.\)", "", path.read_text()))
        counts["@keep not built"] += 1
        result = run(args, path, seed)
    elif "@keep(" in path.read_text():
        counts["@keep"] += 1
    if not is_agreement(result):
        return "the gradient does not agree", result
    compared, unknown = gradients(result)
    counts["gradients"] += 4
    counts["not compared"] += len(unknown)
    least = run(args, path, seed, "--heap", "64", "--rings", "1")
    if "--heap" in least.stderr:  # 64 bytes are not enough; the message has a heap that is
        counts["least heap"] += 1
        least = run(args, path, seed, "--heap", re.search(r"--heap (\d+)", least.stderr).group(1), "--rings", "1")
    if not is_agreement(least):
        return "in the heap that the message advises", least
    if "@order" not in path.read_text() and gradients(least) != (compared, unknown):
        return "the least heap changes the bits: " + str(gradients(least)), result
    return None


def main():
    args = seeds.parser(__doc__).parse_args()
    counts = {"@keep": 0, "@keep not built": 0, "gradients": 0, "not compared": 0, "least heap": 0}

    def failure(path, seed):
        wrong = check(args, path, seed, counts)
        return wrong and f"{wrong[0]}: exit code {wrong[1].returncode}\n{wrong[1].stdout}{wrong[1].stderr}"

    failed = seeds.failing(args, "random", program, failure)
    print(f"{args.count} functions, failed {failed}: {counts}")
    if counts["not compared"] > UNKNOWN_SHARE * counts["gradients"] + 1:
        print(f"{counts['not compared']} of {counts['gradients']} gradients could not be compared")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
