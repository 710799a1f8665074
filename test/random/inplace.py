"""inplace.py - tasks that change what they are given: parts that a kernel writes, scratch memory, accumulators whose parts combine.

Owner      InPlace, a part of the Writer of generate.py.
Invariant  elements stay between 0 and 112: what combines to more is reduced before it can be read.
Tests      every random program
"""
from forms import Lin, Tensor


class InPlace:
    def do_inplace(self):
        """A kernel with `writes`: its region is larger than what it writes."""
        kind = self.pick(["relax", "relax", "even", "edge", "late"])
        rank = 2 if kind == "edge" else 1 if kind in ("even", "late") else self.rng.randint(1, 2)
        u = self.subregion(writable=True, rank=rank)
        if u is None:
            return
        if kind == "relax" and all(e.low >= 2 for e in u.shape):
            self.emit("%s%s(inout %s);" % (self.attribute(), self.kernel_name("relax%d" % rank, u.element), u.text))
        elif kind == "even":
            h = self.define_half(u.shape[0])
            text = self.pick(["%s[0 .. 2 * %s]", "%s[0 +: 2 * %s]"]) % (u.text, h.text())
            self.emit("%s(inout %s);" % (self.kernel_name("even1", u.element), text))
        elif kind == "edge" and u.shape[0].low >= 2:
            rows = u.shape[0]
            row = self.pick(["0", rows.plus(-1).text(self.rng)])
            a = "%s[%s]" % (u.text, row) if self.chance(0.6) else self.operand(u.shape[1:], u.element, (u.root,))
            self.emit("%s(%s, inout %s);" % (self.kernel_name("edge2", u.element), a, u.text))
        elif kind == "late":
            n = u.shape[0]
            text, low, _ = self.int_expr(1)
            k = self.pick([str(self.rng.randint(0, n.low)), "min(%s, %s)" % (text if low >= 0 else "abs(%s)" % text, n.text(self.rng))])
            self.emit("%s(inout %s, %s);" % (self.kernel_name("late1", u.element), u.text, k))

    def do_stir(self):
        """A kernel with scratch tensors."""
        c = self.subregion(writable=True)
        if c is None:
            return
        text, low, _ = self.int_expr(1)
        s = self.pick([str(self.rng.randint(0, 5)), "%s %% 7" % (text if low >= 0 else "abs(%s)" % text)])
        self.emit("%s%s(inout %s, %s);" % (self.attribute(), self.kernel_name("stir%d" % c.rank(), c.element), c.text, s))

    def combination(self, element):
        """What the elements combine by, and whether more than 112 may come out."""
        if element == "bool":
            return self.pick(["and", "or", "xor"]), False
        by = self.pick(["max", "min", "max", "min", "prod"] + (["sum"] if element not in ("i8", "u8") else [])
                       + (["and", "or", "xor"] if element not in ("f16", "f32", "f64") else []))
        return by, by in ("sum", "xor")

    def do_combine(self):
        """Several tasks that add to one accumulator, side by side."""
        a = self.subregion()
        if a is None or a.element == "bf16":
            return
        by, grows = self.combination(a.element)
        is_whole = self.chance(0.4)
        shape = a.shape if is_whole else [Lin.number(1)]
        s = self.region_like(shape, a.element, (a.root,), writable=True) or self.new_tensor(shape, a.element)
        name = self.kernel_name("%s_%s%d" % ("heap" if is_whole else "peak", by, a.rank()), a.element)
        if self.chance(0.4) and self.weight <= 8:
            times = self.rng.randint(1, 4)
            saved = self.steady_loop("for %s in 0 .. %d {" % (self.fresh("i"), times), times)
            self.emit("%s(%s, acc %s);" % (name, a.text, s.text))
            self.close_steady_loop(saved, times)
        else:
            for _ in range(self.rng.randint(1, 3)):
                other = a.text if self.chance(0.5) else self.operand(a.shape, a.element, (s.root,), 2)
                self.emit("%s(%s, acc %s);" % (name, other, s.text))
        if grows:
            self.emit("%s(inout %s, 1.5);" % (self.kernel_name("bump%d" % len(shape), a.element), s.text))

    def do_slide(self):
        """A view whose step and begin are variables that change afterwards."""
        t = self.subregion()
        if t is None or t.kind == "array" or t.shape[0].low < 1:
            return
        r, extent = self.rng, t.shape[0]
        first, step, v, n = (self.fresh(stem) for stem in "mmvn")
        text, low, _ = self.int_expr(1)
        most = min(extent.low, 3) - 1
        self.emit("var %s = %s %% %d;" % (first, text if low >= 0 else "abs(%s)" % text, most + 1))
        self.emit("var %s = %d;" % (step, r.choice([1, 2, 3])))
        if r.random() < 0.5:
            self.emit("if %s { %s = %d; }" % (self.condition(1), step, r.choice([1, 2, 3])))
        self.emit("let %s = %s[%s .. %s step %s];" % (v, t.text, first, extent.text(r), step))
        self.emit("let %s = dim(%s, 0);" % (n, v))
        if r.random() < 0.5:
            self.emit("%s = %s + 1;" % (self.pick([first, step]), first))
        width = Lin({n: 1}, 0, -(-(extent.low - most) // 3), extent.high)
        view = Tensor(v, t.element, [width] + t.shape[1:], t.root, t.writable, "view")
        view.loops = self.loops
        self.tensors.append(view)
