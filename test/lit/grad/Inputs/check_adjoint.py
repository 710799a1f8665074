#!/usr/bin/python3
"""check_adjoint.py PTOC FILE FOLDER [--cases 3] [--seed 1] [--most 40] - adjoint kernels against central differences.

Idea       --dump=adjoint prints the adjoints of the kernels of FILE.  For each of them there is an entry that calls the kernel with x + h v and
           x - h v, and both forms of the adjoint; the sum of seed * (difference of the results) / 2h has to be the sum of gradient * v.
           PTO_RANDOM of the environment replaces --cases, PTO_SEED the seed.
Lines      "//! k: at < M, x > 0, N >= 2" in FILE: elements of `at` are below M, those of x positive, the extent N at least 2.  "x in 0" : all 0.
Invariant  the kernels are of f64.  A kink inside of a step moves with the step, so one of four steps has to agree.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

NUMPY = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "bool": np.bool_}
HEAD = re.compile(r"^kernel (\w+)(?:<([^>]*)>)?\(([^)]*)\)", re.M)
STEPS = [1e-5, 3e-6, 1e-4, 1e-7]
MOST_OFF = 1e-6


class Formal:
    def __init__(self, text):
        words, self.type = text.strip().split(":", 1)
        *way, self.name = words.split()
        self.way = way[0] if way else "in"
        self.type = self.type.strip()
        self.elem, _, extents = self.type.partition("[")
        self.extents = split(extents.rstrip("]")) if extents else None

    def shape(self, dims):
        return tuple(eval(e.replace("/", "//"), {}, dict(dims)) for e in self.extents)


def split(text):
    return [p.strip() for p in text.split(",") if p.strip()]


def kernels_of(text):
    found = {}
    for m in HEAD.finditer(text):
        formals, depth, part = [], 0, ""
        for c in m[3] + ",":
            depth += (c == "[") - (c == "]")
            if c == "," and depth == 0:
                formals, part = formals + [part], ""
            else:
                part += c
        found[m[1]] = (split(m[2] or ""), [Formal(f) for f in formals if f.strip()])
    return found


def rules_of(text):
    rules = {}
    for m in re.finditer(r"^//! (\w+): (.*)$", text, re.M):
        rules.setdefault(m[1], []).extend(split(m[2]))
    return rules


class Case:
    """The entry of one adjoint kernel."""

    def __init__(self, name, x, kernels):
        self.kernel, self.x, self.entry = name, x, "check_%s_%s" % (name, x)
        self.dims, self.formals = kernels[name]
        self.adjoint = kernels["%s_adj_%s" % (name, x)][1]
        self.is_replaced = self.adjoint[-1].way == "inout"
        self.scalars = {f.name: {"i64": "1", "bool": "true"}.get(f.elem, "0.75") for f in self.formals if f.extents is None}
        self.written = [f for f in self.formals if f.way in ("out", "inout", "acc")]
        self.arrays = {}  # of the entry: name -> (way, type, formal)
        self.text = self.make()

    def array(self, way, name, formal):
        self.arrays[name] = (way, formal)
        return name

    def call(self, suffix):
        words = []
        for f in self.formals:
            if f.extents is None:
                words.append(self.scalars[f.name])
            elif f.way == "in":
                words.append(self.array("in", f.name + (suffix if f.name == self.x else ""), f))
            else:
                words.append(f.way + " " + self.array("out" if f.way == "out" else "inout", f.name + suffix, f))
        return "%s(%s);" % (self.kernel, ", ".join(words))

    def argument(self, f, gradient):
        by_name = {g.name: g for g in self.formals}
        if f.extents is None:
            return self.scalars[f.name]
        if f is self.adjoint[-1]:
            return "%s %s" % (("inout", self.array("inout", gradient, f)) if self.is_replaced or gradient == "added" else
                              ("out", self.array("out", gradient, f)))
        if f.name.endswith("_bar") and f.name not in by_name:
            return self.array("in", f.name, f)
        if f.way == "out":
            return "out " + self.array("out", f.name, f)
        if f.name.endswith("_after"):
            return f.name[:-6]
        own = by_name[f.name]
        if own.way in ("inout", "acc"):
            return self.array("in", f.name + "_before", f)
        return f.name

    def make(self):
        lines = [self.call("_plus"), self.call("_minus"), self.call("")]
        call = "%s_adj_%s" % (self.kernel, self.x)
        lines.append("%s(%s);" % (call, ", ".join(self.argument(f, "gradient") for f in self.adjoint)))
        if not self.is_replaced:
            lines.append("%s_add(%s);" % (call, ", ".join(self.argument(f, "added") for f in self.adjoint)))
        formals = ", ".join("%s %s: %s" % (way, name, f.type) for name, (way, f) in self.arrays.items())
        generics = "<%s>" % ", ".join(self.dims) if self.dims else ""
        return "export orch %s%s(%s) {\n  %s\n}\n" % (self.entry, generics, formals, "\n  ".join(lines))


def fill(rng, f, dims, rules):
    shape = f.shape(dims)
    for rule in rules:
        name, _, what = rule.partition(" ")
        if name != f.name:
            continue
        sign, limit = what.split(None, 1)
        if sign == "<":
            return rng.integers(0, max(1, eval(limit, {}, dict(dims))), shape).astype(NUMPY[f.elem])
        if sign == "in":
            return rng.choice([float(w) for w in limit.split()], shape).astype(NUMPY[f.elem])
        return (rng.random(shape) + 0.5).astype(NUMPY[f.elem])
    if f.elem[0] in "iuf":
        return (rng.integers(0, 5, shape) if f.elem[0] in "iu" else rng.uniform(-1, 1, shape)).astype(NUMPY[f.elem])
    return rng.integers(0, 2, shape).astype(np.bool_)


def choose(rng, case, rules, most):
    dims = {d: int(rng.integers(1, most + 1)) for d in case.dims}
    for rule in rules:
        words = rule.split()
        if words[0] in dims and words[1] == ">=":
            dims[words[0]] = max(dims[words[0]], eval(words[2], {}, dict(dims)))
        if words[0] in dims and words[1] == "<=":
            dims[words[0]] = min(dims[words[0]], int(words[2]))
    return dims


def run(program, case, dims, arrays, folder):
    words = [program, "--quiet", "--entry", case.entry]
    given = " ".join(f.type for way, f in case.arrays.values() if way != "out")
    for d in case.dims:
        if not re.search(r"\b%s\b" % d, given):
            words += ["--dim", "%s=%d" % (d, dims[d])]
    for name, (way, _) in case.arrays.items():
        if way != "out":
            np.save(folder / (name + ".npy"), arrays[name])
            words += ["--input", "%s=%s" % (name, folder / (name + ".npy"))]
        if way != "in":
            words += ["--output", "%s=%s" % (name, folder / (name + ".out.npy"))]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit("%s failed: %s" % (case.entry, done.stderr))
    return {n: np.load(folder / (n + ".out.npy")) for n, (way, _) in case.arrays.items() if way != "in"}


def check(program, case, rules, seed, most, folder):
    rng = np.random.default_rng(seed)
    dims = choose(rng, case, rules, most)
    plain = {f.name: fill(rng, f, dims, rules) for f in case.formals if f.extents is not None}
    x = next(f for f in case.formals if f.name == case.x)
    direction = rng.uniform(-1, 1, x.shape(dims))
    seeds = {f.name: rng.uniform(-1, 1, f.shape(dims)) for f in case.written if f.elem[0] == "f"}
    start = rng.uniform(-1, 1, x.shape(dims))
    problems = []
    for step in STEPS:
        arrays = {}
        for name, (way, f) in case.arrays.items():
            if way == "out":
                continue
            base = re.sub(r"_(plus|minus|before)$", "", name)
            sign = 1 if name.endswith("_plus") else -1 if name.endswith("_minus") else 0
            if name == "added" or name == "gradient":
                arrays[name] = seeds[case.x] if case.is_replaced else start
            elif name not in plain and name.endswith("_bar"):
                arrays[name] = seeds[name[:-4]]
            else:
                arrays[name] = plain[base] + sign * step * direction if base == case.x and sign else plain[base]
        got = run(program, case, dims, arrays, folder)
        numeric = sum(np.sum(seeds[n] * (got[n + "_plus"] - got[n + "_minus"])) for n in seeds) / (2 * step)
        parts = got["gradient"] * direction
        if not case.is_replaced and not np.allclose(got["added"], start + got["gradient"], rtol=1e-12, atol=1e-12, equal_nan=True):
            sys.exit("%s %s: the form that adds differs (seed %d)" % (case.kernel, case.x, seed))
        scale = np.sum(np.abs(parts)) + abs(numeric) + 1e-3
        if abs(numeric - np.sum(parts)) <= MOST_OFF * scale:
            return
        problems.append("%g against %g" % (numeric, np.sum(parts)))
    sys.exit("%s, %s, %s, seed %d: %s" % (case.kernel, case.x, dims, seed, "; ".join(problems)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ptoc")
    p.add_argument("file", type=pathlib.Path)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("--cases", type=int, default=3)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--most", type=int, default=40)
    p.add_argument("--only")
    o = p.parse_args()
    o.cases, o.seed = int(os.environ.get("PTO_RANDOM", o.cases)), int(os.environ.get("PTO_SEED", o.seed))
    o.folder.mkdir(parents=True, exist_ok=True)
    text = o.file.read_text()
    dump = subprocess.run([o.ptoc, "build", "--dump=adjoint", o.file], capture_output=True, text=True, check=True).stdout
    (o.folder / "adjoints.pto").write_text(dump)
    subprocess.run([o.ptoc, "fmt", "--check", o.folder / "adjoints.pto"], check=True)
    kernels = kernels_of(text + dump)
    cases = [Case(n, f.name, kernels) for n in kernels_of(text) for f in kernels[n][1] if "%s_adj_%s" % (n, f.name) in kernels]
    program = o.folder / "all.pto"
    program.write_text(text + "\n" + dump + "".join(c.text for c in cases))
    subprocess.run([o.ptoc, "build", "--cpu=base", "-O0", program, "-o", o.folder / "all"], check=True)
    rules, count = rules_of(text), 0
    for case in cases:
        for n in range(o.cases if not o.only or o.only == case.kernel else 0):
            check(o.folder / "all", case, rules.get(case.kernel, []), o.seed + 1000 * n, o.most, o.folder)
            count += 1
    print("%d adjoints, %d cases agree" % (len(cases), count))


if __name__ == "__main__":
    main()
