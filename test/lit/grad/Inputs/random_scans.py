#!/usr/bin/python3
"""random_scans.py PTOC FIRST COUNT FOLDER - gradients of random kernels with a `for` that hands values on, against differences.

Idea       a kernel has one or two recurrences of one or two dimensions, with first elements before them or a select in them; temporaries before,
           inside of and after the `for`, over the whole range, over that of the `for`, and of each iteration; reads at t, t - 1, t - 2 and from the
           end; reductions over a prefix; results that read what the `for` wrote. Half of the kernels have a `where`. `ptoc check` accepts each,
           and `ptoc run --check-grad` agrees.
Limits     --check runs only `ptoc check`.
Exit code  0: all agree; 1: a seed that fails, the program is left in the folder.
"""
import random
import subprocess
import sys

import seeds


class Kernel:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.count = [], 0
        self.first = self.rng.choice([0, 1, 1, 1, 2])  # where the `for` begins
        self.results = ["y"] + (["w"] if self.rng.random() < 0.35 else [])
        self.is_matrix = {r: self.rng.random() < 0.35 for r in self.results}
        self.lets = []  # temporaries of one dimension over the range of the `for`
        self.whole = []  # over all of P
        self.numbers = []  # of one iteration
        self.rows = []  # of one iteration, over Q

    def fresh(self):
        self.count += 1
        return "u%d" % self.count

    def term(self, at, j=None, inside=True, whole=False):
        """A value of inputs and temporaries at the index `at`, which runs over the range of the `for`, or over all of P."""
        r = self.rng
        choices = ["a[%s]" % at, "b[%s]" % at, "b[P - 1 - %s]" % at, "0.5", "a[%s] * b[%s]" % (at, at), "sum(k in 0 .. %s + 1: b[k])" % at,
                   "sum(k: a[k]) * b[%s]" % at, "max(a[%s], b[%s])" % (at, at), "tanh(a[%s])" % at, "sum(k: m[%s, k])" % at]
        choices += ["%s[%s]" % (u, at) for u in self.whole for _ in "12"]
        if not whole:
            choices += ["%s[%s]" % (u, at) for u in self.lets for _ in "123"]
            if self.first > 0:
                choices.append("a[%s - 1]" % at)
        if inside:
            choices += self.numbers * 2
        if j:
            choices += ["m[%s, %s]" % (at, j), "c[%s]" % j, "m[P - 1 - %s, %s]" % (at, j)] * 2
            choices += ["%s[%s]" % (u, j) for u in self.rows if inside] * 2
        return r.choice(choices)

    def bent(self, text):
        return self.rng.choice(["tanh(%s)", "sin(%s)", "%s", "1.0 / (1.0 + exp(-(%s)))"]) % text

    def value(self, at, j=None, inside=True, whole=False):
        text = self.term(at, j, inside, whole)
        for _ in range(self.rng.randint(0, 2)):
            text = "(%s) %s %s" % (text, self.rng.choice("+*-"), self.term(at, j, inside, whole))
        return self.bent(text)

    def earlier(self, result, back, j):
        text = "%s[t - %d%s]" % (result, back, (", " + j if j else ", 0") if self.is_matrix[result] else "")
        if self.first < back:
            text = "select(t >= %d, %s, %s)" % (back, text, self.rng.choice(["0.0", "0.25", "a[t]"]))
        return text

    def recurrence(self, result, ready):
        r, j = self.rng, "j" if self.is_matrix[result] else None
        back = r.randint(1, max(1, self.first)) if r.random() < 0.8 else 1
        text = "%s * %s + %s" % (self.bent(self.term("t", j)), self.earlier(result, back, j), self.term("t", j))
        for other in self.results:
            if other != result and r.random() < 0.7:
                if other in ready and (not self.is_matrix[other] or j) and r.random() < 0.5:
                    text += " + 0.5 * %s[t%s]" % (other, ", j" if self.is_matrix[other] else "")
                elif j or not self.is_matrix[other]:
                    text += " + 0.5 * " + self.earlier(other, 1, j)
        if j and r.random() < 0.2 and self.first >= 1:
            text += " + 0.3 * sum(k: %s[t - 1, k] * c[k])" % result
        if r.random() < 0.6:
            text = "tanh(%s)" % text
        if r.random() < 0.4:
            text = "%s * %s" % (text, self.term("t", j))
        return "%s[t%s] = %s;" % (result, ", j" if j else "", text)

    def text(self):
        r = self.rng
        for _ in range(r.randint(0, 1)):
            u = self.fresh()
            self.lines.append("for i in 0 .. P { let %s[i] = %s; }" % (u, self.value("i", inside=False, whole=True)))
            self.whole.append(u)
        for result in self.results:
            for n in range(self.first):
                index = "%d%s" % (n, ", j" if self.is_matrix[result] else "")
                self.lines.append("%s[%s] = %s;" % (result, index, r.choice(["b[%d]" % n, "1.0", "tanh(a[%d])" % n] + ["c[j]"] * 2 * self.is_matrix[result])))
        if r.random() < 0.4:
            u = self.fresh()
            self.lines.append("for t in %d .. P { let %s[t] = %s; }" % (self.first, u, self.value("t")))
            self.lets.append(u)
        body = []
        for _ in range(r.randint(0, 3)):
            u, kind = self.fresh(), r.random()
            if kind < 0.65:
                body.append("let %s[t] = %s;" % (u, self.value("t")))
                self.lets.append(u)
            elif kind < 0.8:
                body.append("let %s = %s;" % (u, self.bent("0.5 * " + self.term("t"))))
                self.numbers.append(u)
            else:
                body.append("let %s[j] = %s;" % (u, self.bent(self.term("t", "j") + " * c[j]")))
                self.rows.append(u)
        ready = []
        for result in self.results:
            body.append(self.recurrence(result, ready))
            ready.append(result)
        self.lines.append("for t in %d .. P { %s }" % (self.first, " ".join(body)))
        self.ends()
        formals = "in a: f64[P], in b: f64[P], in c: f64[Q], in m: f64[P, Q]"
        for result in self.results:
            formals += ", out %s: f64[P%s]" % (result, ", Q" if self.is_matrix[result] else "")
        formals += self.more
        head = "kernel k<P, Q>(%s)%s => {\n  %s\n}\n"
        where = " where P >= %d" % max(2, self.first) if r.random() < 0.5 else ""
        call = ", ".join(f.split(":")[0].replace("in ", "") for f in formals.split(", ") if ":" in f)
        return head % (formals, where, "\n  ".join(self.lines)) + "@grad(a, b, c, m)\nexport orch f<P, Q>(%s) { k(%s); }\n" % (formals, call)

    def ends(self):
        """Results that read what the `for` wrote."""
        r, self.more = self.rng, ""
        for name in ["z", "s"]:
            if r.random() < 0.5:
                continue
            y = r.choice(self.results)
            if name == "s":
                self.more += ", out s: f64[1]"
                value = "%s[i, j] * m[i, j]" % y if self.is_matrix[y] else "%s[i] * b[i]" % y
                more = " + sum(i: %s[i] * %s[i])" % (self.lets[0], self.lets[-1]) if self.lets and r.random() < 0.5 else ""
                self.lines.append("s[0] = sum(%s: %s)%s;" % ("i, j" if self.is_matrix[y] else "i", value, more))
                continue
            self.more += ", out z: f64[P]"
            if self.is_matrix[y]:
                value = r.choice(["sum(j: %s[i, j] * m[P - 1 - i, j])", "max(j: %s[i, j])", "sum(j: %s[P - 1 - i, j] * c[j])"]) % y
            else:
                value = r.choice(["%s[i] * a[i]", "%s[P - 1 - i] * a[i]", "%s[i] * b[P - 1 - i]", "sum(k in 0 .. i + 1: %s[k] * b[k])"]) % y
            if r.random() < 0.3:
                self.lines.append("for i in 0 .. P { let v[i] = %s; }" % value)
                value = "tanh(v[i])"
            self.lines.append("z[i] = %s;" % value)


def check(args, path, seed):
    done = subprocess.run([args.ptoc, "check", "--no-bodies", "-w", path], capture_output=True, text=True, check=False)
    if done.returncode == 0 and not args.check:
        command = [args.ptoc, "run", "--check-grad", path, "--entry", "f", "-w", "-O0", "--cpu", "base", "--quiet"]
        command += ["--dim", "P=%d" % (2 + seed % 6), "--dim", "Q=%d" % (1 + seed % 3)]
        for number, name in enumerate("abcm"):
            command += ["--input", "%s=random:%d" % (name, seed + number)]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return "exit code %d\n%s%s%s" % (done.returncode, path.read_text(), done.stdout, done.stderr)


def main():
    parser = seeds.parser(__doc__)
    parser.add_argument("--check", action="store_true", help="compare no gradients")
    args = parser.parse_args()
    failed = seeds.failing(args, "scan", lambda seed: Kernel(seed).text(), lambda path, seed: check(args, path, seed))
    print("%d kernels, failed %s" % (args.count, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
