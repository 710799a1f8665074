"""control.py - loops, branches, and ways out of them.

Owner      Control, a part of the Writer of generate.py.
Tests      every random program
"""
from forms import Lin, Scalar, Tensor


class Control:
    def do_tiles(self):
        """A loop over the tiles of a tensor, perhaps of two tensors tiled alike, or of one tensor in two ways."""
        r = self.rng
        t = self.subregion(writable=True)
        if t is None or t.rank() > 2 or self.weight > 4:
            return
        tile, g = [r.randint(1, 4) for _ in t.shape], self.fresh("g")
        other = self.region_like(t.shape, t.element, (t.root,)) if r.random() < 0.6 else None
        self.emit("view %s = %s tiled [%s];" % (g, t.text, ", ".join(map(str, tile))))
        if other:
            o = self.fresh("g")
            self.emit("view %s = %s tiled [%s];" % (o, other.text, ", ".join(map(str, tile))))
        names, saved = [], []
        for d, n in enumerate(t.shape):
            i, count = self.fresh("k"), -(-n.high // tile[d])
            bounds = "0 .. dim(%s, %d)" % (g, d) if r.random() < 0.7 else "dim(%s, %d) - 1 .. -1 step -1" % (g, d)
            saved.append((self.loop("for %s in %s {" % (i, bounds), count), count))
            self.scalars.append(Scalar(i, "i64", 0, max(0, count - 1), "loop"))
            names.append(i)
        at = "[%s]" % ", ".join(names)
        if other:
            self.emit("%s(%s%s, inout %s%s, %s);" % (self.kernel_name("mix%d" % t.rank(), t.element), o, at, g, at, self.int_expr(1)[0]))
        else:
            self.emit("%s(inout %s%s, %s);" % (self.kernel_name("bump%d" % t.rank(), t.element), g, at, self.bounded_real()))
        if r.random() < 0.3:
            p = self.fresh("p")
            self.emit("let %s = %s(%s%s);" % (p, self.kernel_name("copy%d" % t.rank(), t.element), g, at))
            self.emit("%s(%s, inout %s%s, 2);" % (self.kernel_name("mix%d" % t.rank(), t.element), p, g, at))
        if r.random() < 0.3:
            self.nested(1)
        for s, count in reversed(saved):
            self.close_loop(s, count)

    def do_tile_ranges(self):
        t = self.subregion(writable=True)
        if t is None or t.rank() > 2:
            return
        r, g = self.rng, self.fresh("g")
        tile = [r.randint(1, 4) for _ in t.shape]
        self.emit("view %s = %s tiled [%s];" % (g, t.text, ", ".join(map(str, tile))))
        index = []
        for n, w in zip(t.shape, tile):
            tiles = -(-n.low // w)
            low = r.randint(0, tiles)
            index.append(r.choice([":", "%d .. %d" % (low, r.randint(low, tiles)), "%d +: %d" % (0, tiles)]))
        self.emit("%s(inout %s[%s], %s);" % (self.kernel_name("bump%d" % t.rank(), t.element), g, ", ".join(index), self.bounded_real()))

    def do_rows(self):
        """A loop whose variable indexes."""
        r = self.rng
        t = self.subregion()
        if t is None or self.weight > 6:
            return
        n, i = r.choice(t.shape), self.fresh("i")
        form = r.randint(0, 3)
        step = r.randint(1, 3)
        head = ["0 .. %s" % n.text(r), "%s .. -1 step -1" % n.plus(-1).text(r), "0 .. %s step %d" % (n.text(r), step),
                "%s .. -1 step -%d" % (n.plus(-1).text(r), step)][form]
        saved = self.loop("for %s in %s {" % (i, head), n.high)
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), "loop", n))
        self.loop_body(3)
        self.close_loop(saved, n.high)

    def loop_body(self, most):
        """Statements, with perhaps a way out or back in the middle."""
        self.nested(most)
        if self.chance(0.35):
            self.do_escape()
            self.nested(1)

    def do_neighbours(self):
        """Disjoint regions of one tensor as `in` and `inout` of one call."""
        r = self.rng
        found = [t for t in self.tensors if t.writable and t.kind != "array"]
        if not found or self.weight > 8:
            return
        t = r.choice(found)
        d = r.randrange(t.rank())
        n = t.shape[d]
        if t.rank() == 1 and r.random() < 0.6:
            h = self.define_half(n)
            a, b = "%s[0 .. %s]" % (t.text, h.text()), "%s[%s .. 2 * %s]" % (t.text, h.text(), h.text())
            if r.random() < 0.5:
                a, b = b, a
            self.emit("%s(%s, inout %s, %s);" % (self.kernel_name("mix1", t.element), a, b, self.int_expr(1)[0]))
            return
        i = self.fresh("i")
        down = r.random() < 0.3
        head = "%s .. 0 step -1" % n.plus(-1).text(r) if down else "1 .. %s" % n.text(r)
        saved = self.loop("for %s in %s {" % (i, head), n.high)
        self.scalars.append(Scalar(i, "i64", 1, max(1, n.high - 1), "loop", n))
        at = lambda x: "%s[%s]" % (t.text, ", ".join((x if t.rank() > 1 else x + " +: 1") if e == d else ":" for e in range(t.rank())))
        name = self.kernel_name("mix%d" % max(1, t.rank() - 1), t.element)
        pair = [at(i), at("%s - 1" % i)]
        if r.random() < 0.5:
            pair.reverse()
        self.emit("%s(%s, inout %s, %s);" % (name, pair[0], pair[1], i))
        self.close_loop(saved, n.high)

    def do_branch(self):
        forms = self.rng.randint(0, 2)
        first, second = self.condition(), self.condition()
        saved = self.open("if %s {" % first)
        self.nested(2)
        if self.may_return and self.chance(0.15):
            self.emit(self.may_return(self))
        if forms == 0:
            self.close(saved)
            return
        if forms == 2:
            self.close(saved, "} else if %s {" % second)
            self.indent += 1
            self.nested(1)
        self.close(saved, "} else {")
        self.indent += 1
        self.nested(2)
        self.close(saved)

    def do_match(self):
        found = self.match_arms()
        if found is None:
            return
        value, arms = found
        if self.chance(0.3):
            arms = arms[:2]
        outer = self.open("match %s {" % value)
        for arm in arms:
            saved = self.open("%s => {" % arm)
            if self.chance(0.8):
                self.nested(2)
            self.close(saved)
        self.close(outer)

    def do_repeat(self):
        """while and do, with a counter that ends them."""
        r = self.rng
        if self.weight > 8:
            return
        v, times = self.fresh("n"), r.randint(0, 4)
        self.emit("var %s = 0;" % v)
        kind = r.choice(["while", "do", "true"])
        more = " && %s" % self.condition(1) if r.random() < 0.5 else ""
        head = {"while": "while %s < %d%s {" % (v, times, more), "do": "do {", "true": "while true {"}[kind]
        saved = self.loop(head, times + 1)
        self.scalars.append(Scalar(v, "i64", 0, times + 1, "counter"))
        if kind == "true":
            self.emit("if %s >= %d { break; }" % (v, times))
        self.emit("%s = %s + 1;" % (v, v))
        self.loop_body(2)
        tail = "} while %s < %d;" % (v, times)
        self.close_loop(saved, times + 1, tail if kind == "do" else "}")
        self.scalars.append(Scalar(v, "i64", 0, times + 1, "counter"))

    def do_halo(self):
        """v of the inside of u, piece by piece."""
        r = self.rng
        u = self.subregion(rank=1)
        if u is None or u.rank() != 1 or u.shape[0].low < 2 or self.weight > 6:
            return
        inside = u.shape[0].plus(-2)
        v = self.region_like([inside], u.element, (u.root,), writable=True) or self.new_tensor([inside], u.element)
        i, w, piece = self.fresh("i"), self.fresh("w"), r.randint(1, 4)
        if not u.text.isalnum():
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, u.text))
            u = Tensor(name, u.element, u.shape, u.root, u.writable, "view")
        if not v.text.isalnum():
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, v.text))
            v = Tensor(name, v.element, v.shape, v.root, v.writable, "view")
        saved = self.loop("for %s in 0 .. %s step %d {" % (i, inside.text(r), piece), inside.high // piece + 1)
        self.emit("let %s = min(%d, %s - %s);" % (w, piece, inside.operand(), i))
        self.emit("%s(%s[%s +: %s + 2], out %s[%s +: %s]);" % (self.kernel_name("halo1", u.element), u.text, i, w, v.text, i, w))
        self.close_loop(saved, inside.high // piece + 1)

    def do_pieces(self):
        """Pieces of two tensors alike; the last is ragged."""
        r = self.rng
        t = self.subregion(writable=True)
        if t is None or self.weight > 6:
            return
        d = r.randrange(t.rank())
        n, i, w, piece = t.shape[d], self.fresh("i"), self.fresh("w"), r.randint(1, 5)
        if not t.text.isalnum():
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, t.text))
            t = Tensor(name, t.element, t.shape, t.root, t.writable, "view")
        saved = self.loop("for %s in 0 .. %s step %d {" % (i, n.text(r), piece), n.high // piece + 1)
        self.emit("let %s = min(%d, %s - %s);" % (w, piece, n.operand(), i))
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), ("piece", w), n))
        self.scalars.append(Scalar(w, "i64", 1, piece))
        shape = [Lin({w: 1}, 0, 1, piece) if e == d else t.shape[e] for e in range(t.rank())]
        at = "[%s]" % ", ".join("%s +: %s" % (i, w) if e == d else ":" for e in range(t.rank()))
        a = self.operand(shape, t.element, (t.root,))
        self.emit("%s(%s, inout %s%s, %s);" % (self.kernel_name("mix%d" % t.rank(), t.element), a, t.text, at, i))
        self.close_loop(saved, n.high // piece + 1)
