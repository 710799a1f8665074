"""regions.py - regions that are there, and new tensors that are filled completely on every path.

Owner      Regions, a part of the Writer of generate.py.
Invariant  a tensor that is visible has been written, for all sizes within the bounds.
Tests      every random program
"""
from forms import Lin, Scalar, Tensor


class Regions:
    # ---- regions ----
    def region_like(self, shape, element, avoid, writable=False):
        """The text of a region of that shape and element type whose root is none of avoid; or None."""
        r = self.rng
        candidates = [t for t in self.tensors if t.element == element and t.root not in avoid and t.rank() >= len(shape)
                      and (t.writable or not writable)]
        r.shuffle(candidates)
        for t in candidates:
            found = self.fit(t, shape) if self.chance(0.75) else self.fit_turned(t, shape) or self.fit(t, shape)
            if found:
                return Tensor(found, element, shape, t.root, t.writable, "view", t.solid and found == t.text)
        return None

    def fit_turned(self, t, shape):
        """A region whose dimensions are in another order, or with one of extent 1 more."""
        r, rank = self.rng, len(shape)
        if t.kind in ("array", "cells"):
            return None
        ones = [d for d, e in enumerate(shape) if e.is_number() and e.low == 1]
        if ones and rank > 1 and self.chance(0.5):
            d = r.choice(ones)
            found = self.fit(t, shape[:d] + shape[d + 1:])
            return found and "%s as [%s]" % (found, ", ".join(e.text() for e in shape))
        if rank == 1 and t.rank() == 1 and self.chance(0.3):
            found = self.fit(t, shape)
            return found and "(%s as [1, %s])[0]" % (found, shape[0].text())
        if rank < 2:
            return None
        if self.chance(0.5):
            found = self.fit(t, shape[:-2] + [shape[-1], shape[-2]])
            return found and found + ".T"
        order = list(range(rank))
        r.shuffle(order)
        inner = [None] * rank
        for d, o in enumerate(order):
            inner[o] = shape[d]
        found = self.fit(t, inner)
        return found and "%s.permute(%s)" % (found, ", ".join(map(str, order)))

    def fit(self, t, shape):
        if t.kind in ("array", "cells"):
            return t.text if [e.key for e in t.shape] == [e.key for e in shape] else None
        extra = t.rank() - len(shape)
        if extra and any(e.low < 1 for e in t.shape[:1]):
            return None
        for _ in range(3):
            drop = set(self.rng.sample(range(t.rank()), extra))
            index, d = [], 0
            for n, extent in enumerate(t.shape):
                if n in drop:
                    if extent.low < 1:
                        break
                    index.append(self.point(extent))
                else:
                    place = self.place_of(shape[d], extent)
                    if place is None:
                        break
                    index.append(place)
                    d += 1
            else:
                if all(i == ":" for i in index) and self.chance(0.9):
                    return t.text
                while len(index) > 1 and index[-1] == ":" and self.chance(0.5):
                    index.pop()
                if extra and all(n in drop for n in range(extra)) and self.chance(0.3) and len(index) > extra:
                    return "%s[%s][%s]" % (t.text, ", ".join(index[:extra]), ", ".join(index[extra:]))
                return "%s[%s]" % (t.text, ", ".join(index))
        return None

    def subregion(self, writable=False, element=None, rank=None, avoid=()):
        """A random region of a random tensor."""
        found = [t for t in self.tensors if (t.writable or not writable) and (element is None or t.element == element)
                 and t.kind not in ("array", "cells") and t.root not in avoid and (rank is None or t.rank() >= rank)]
        if not found:
            return None
        t = self.pick(found)
        if rank is None and self.chance(0.35) or rank == t.rank() and self.chance(0.4):
            return t
        drop = t.rank() - rank if rank is not None else self.rng.randint(0, t.rank() - 1)
        dropped = set(self.rng.sample(range(t.rank()), drop))
        if any(t.shape[d].low < 1 for d in dropped):
            return t if rank is None or rank == t.rank() else None
        index, shape = [], []
        for d, extent in enumerate(t.shape):
            if d in dropped:
                index.append(self.point(extent))
            else:
                text, width = self.span(extent)
                index.append(text)
                shape.append(width)
        return Tensor("%s[%s]" % (t.text, ", ".join(index)), t.element, shape, t.root, t.writable, "view")

    def operand(self, shape, element, avoid, depth=0):
        """A region to read: one that is there, the value of a call, or a new tensor."""
        r = self.rng
        if depth < 2 and r.random() < 0.12:
            value = self.call_value(shape, element, avoid, depth + 1)
            if value:
                return value
        region = self.region_like(shape, element, avoid) if r.random() < 0.9 else None
        if region:
            return region.text
        return self.new_tensor(shape, element).text

    def kernel_name(self, stem, *types):
        return self.maker.use_kernel(stem, types, self.home)

    def shape_text(self, shape):
        return "[%s]" % ", ".join(e.text(self.rng) for e in shape)

    # ---- making tensors ----
    def declare(self, name, element, shape):
        t = Tensor(name, element, shape, self.maker.new_root(), True, "local", True, self.indent)
        t.loops = self.loops
        return t

    def new_tensor(self, shape, element):
        """A new local tensor, filled."""
        name = self.fresh("t")
        t = self.declare(name, element, shape)
        r = self.rng
        k = r.randint(0, 9)
        if k == 0:
            value = self.call_value(shape, element, (), 1)
            if value:
                self.emit("let %s = %s;" % (name, value))
                self.tensors.append(t)
                return t
        self.emit("%slet %s: %s%s;" % (self.distribution(shape), name, element, self.shape_text(shape)))
        self.fill(t)
        self.tensors.append(t)
        return t

    def fill(self, t, depth=0):
        """Every element is written; t is not among the visible tensors meanwhile."""
        r, rank = self.rng, t.rank()
        k = r.randint(0, 14) if depth < 2 else 0
        avoid = (t.root,)
        if k == 1:
            value = self.call_value(t.shape, t.element, avoid, 1)
            if value:
                self.emit("%s = %s;" % (t.text, value))
                return
        if k == 2:
            saved = self.open("if %s {" % self.condition())
            self.fill(t, depth + 1)
            self.close(saved, "} else {")
            self.indent += 1
            self.fill(t, depth + 1)
            self.close(saved)
            return
        if k == 3 and self.weight <= 8 and t.shape[0].high <= 8:
            self.fill_rows(t, depth)
            return
        if k == 4 and self.weight <= 8:
            self.fill_pieces(t)
            return
        if k == 5 and self.weight <= 8 and rank <= 3:
            self.fill_tiles(t)
            return
        if k == 14 and depth == 0 and self.fill_or_leave(t):
            return
        if k == 6 and rank == 1:
            h = self.define_half(t.shape[0])
            for text, width in (("0 .. %s" % h.text(), h), ("%s .. %s" % (h.text(), t.shape[0].text()), t.shape[0].plus(h.times(-1)))):
                part = Tensor("%s[%s]" % (t.text, text), t.element, [width], t.root, True, "view")
                self.fill_whole(part, avoid)
            return
        if k == 7:
            names = self.match_arms()
            if names:
                value, arms = names
                saved = self.open("match %s {" % value)
                for arm in arms:
                    inner = self.open("%s => {" % arm)
                    self.fill(t, depth + 1)
                    self.close(inner)
                self.close(saved)
                return
        if k == 8:
            saved = self.open(self.pick(["{", 'scope "fill" {', "do {"]))
            is_do = self.lines[-1].strip() == "do {"
            self.steady += is_do
            self.fill(t, depth + 1)
            self.steady -= is_do
            self.close(saved, "} while false;" if is_do else "}")
            return
        self.fill_whole(t, avoid)

    def match_arms(self):
        value, low, high = self.int_expr(1)
        if high - low < 3:
            return None
        low = self.rng.randint(low, max(low, min(0, high - 8)))
        values = sorted(self.rng.sample(range(low, min(high, low + 12) + 1), 3))
        cut = self.rng.randint(1, 2)
        join = lambda vs: ", ".join(map(str, vs))
        return value, [join(values[:cut]), join(values[cut:]), "else"]

    def fill_whole(self, t, avoid):
        """One call that overwrites all of t."""
        r, rank, e = self.rng, t.rank(), t.element
        stem = r.choice(["ramp", "ramp", "fill", "copy", "plus", "gate", "cast"]) + str(rank)
        if rank == 2 and r.random() < 0.25:
            stem = r.choice(["flip", "outer", "halo2"])
        if rank == 1 and r.random() < 0.2:
            stem = r.choice(["halo1", "rows", "pairs"])
        out = t.text
        if stem[:4] in ("ramp", "fill"):
            self.call_line(stem, [e], [], out, [self.int_expr(1)[0]], first=True)
        elif stem.startswith("copy"):
            self.call_line(stem, [e], [self.operand(t.shape, e, avoid)], out, [])
        elif stem.startswith("cast"):
            other = self.maker.other_type(e)
            self.call_line(stem, [other, e], [self.operand(t.shape, other, avoid)], out, [])
        elif stem.startswith("plus"):
            self.call_line(stem, [e], [self.operand(t.shape, e, avoid), self.operand(t.shape, e, avoid)], out, [])
        elif stem.startswith("gate"):
            self.call_line(stem, [e], [self.operand(t.shape, e, avoid), self.operand(t.shape, e, avoid)], out,
                           [self.condition(1), self.real_expr(1)[0]])
        elif stem == "flip":
            self.call_line(stem, [e], [self.operand(t.shape[::-1], e, avoid)], out, [])
        elif stem == "outer":
            self.call_line(stem, [e], [self.operand([d], e, avoid) for d in t.shape], out, [])
        elif stem.startswith("halo"):
            self.call_line(stem, [e], [self.operand([d.plus(2) for d in t.shape], e, avoid)], out, [])
        elif stem == "rows":
            self.call_line(stem, [e], [self.operand([t.shape[0], Lin.number(r.randint(0, 4))], e, avoid)], out, [])
        elif stem == "pairs":
            self.call_line(stem, [e], [self.operand([t.shape[0].times(2)], e, avoid)], out, [])

    def fill_rows(self, t, depth):
        """A loop over the first dimension, upwards or downwards."""
        r, i, n = self.rng, self.fresh("i"), t.shape[0]
        head = "for %s in 0 .. %s {" % (i, n.text(r)) if r.random() < 0.7 else \
            "for %s in %s .. -1 step -1 {" % (i, n.plus(-1).text(r))
        saved = self.steady_loop(head, n.high)
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), "loop", n))
        if t.rank() == 1:
            part = Tensor("%s[%s +: 1]" % (t.text, i), t.element, [Lin.number(1)], t.root, True, "view")
        else:
            part = Tensor("%s[%s]" % (t.text, i), t.element, t.shape[1:], t.root, True, "view")
        self.fill(part, depth + 1)
        self.close_steady_loop(saved, n.high)

    def fill_pieces(self, t):
        r, i, w, n = self.rng, self.fresh("i"), self.fresh("w"), t.shape[0]
        piece = r.randint(1, 5)
        saved = self.steady_loop("for %s in 0 .. %s step %d {" % (i, n.text(r), piece), n.high // piece + 1)
        self.emit("let %s = min(%d, %s - %s);" % (w, piece, n.operand(r), i))
        self.scalars.append(Scalar(i, "i64", 0, max(0, n.high - 1), ("piece", w), n))
        self.scalars.append(Scalar(w, "i64", 1, piece))
        shape = [Lin({w: 1}, 0, 1, piece)] + t.shape[1:]
        part = Tensor("%s[%s +: %s]" % (t.text, i, w), t.element, shape, t.root, True, "view")
        self.fill_whole(part, (t.root,))
        self.close_steady_loop(saved, n.high // piece + 1)

    def fill_tiles(self, t):
        r, g = self.rng, self.fresh("g")
        tile = [r.randint(1, 4) for _ in t.shape]
        self.emit("view %s = %s tiled [%s];" % (g, t.text, ", ".join(map(str, tile))))
        names, saved, runs = [], [], 1
        for d, n in enumerate(t.shape):
            i = self.fresh("k")
            count = -(-n.high // tile[d])
            runs *= max(1, count)
            head = r.choice(["0 .. dim(%s, %d)" % (g, d), "0 .. ceil_div(%s, %d)" % (n.text(r), tile[d])])
            saved.append((self.steady_loop("for %s in %s {" % (i, head), count), count))
            self.scalars.append(Scalar(i, "i64", 0, max(0, count - 1), "loop"))
            names.append(i)
        self.call_line("ramp%d" % t.rank(), [t.element], [], "%s[%s]" % (g, ", ".join(names)), [self.int_expr(1)[0]], first=True)
        for s, count in reversed(saved):
            self.close_steady_loop(s, count)

    def steady_loop(self, head, runs):
        """One that no jump may leave, because it fills a tensor."""
        self.steady += 1
        return self.loop(head, runs)

    def close_steady_loop(self, saved, runs):
        self.close_loop(saved, runs)
        self.steady -= 1

    def loop(self, head, runs):
        saved = self.open(head)
        self.loops += 1
        self.broken.append([])
        self.weight *= max(1, runs)
        return saved

    def close_loop(self, saved, runs, text="}"):
        self.close(saved, text)
        for root in self.broken.pop():
            self.forget(root)
        self.loops -= 1
        self.weight = max(1, self.weight // max(1, runs))

    def can_end(self, t):
        """A whole local of this block or of one around it, or a field of one, with no loop in between."""
        if t.kind == "field":
            return any(v.kind in ("local", "element") and v.loops == self.loops and t.root in v.roots() for v in self.structs)
        return t.kind == "local" and t.loops == self.loops

    def forget(self, root):
        self.tensors = [t for t in self.tensors if t.root != root]
        self.grids = [g for g in self.grids if g[1].root != root]
        self.structs = [v for v in self.structs if root not in v.roots()]
