"""jumps.py - ways out of a loop or a function in the middle, and tensors that only some paths write, in part or as a whole.

Idea       a block that ends with `break`, `continue` or `return` may end lifetimes that go on after it; a tensor of which each path writes
           another part is read only where the same condition holds again, so the program is right and no compiler can prove it.
Owner      Jumps, a part of the Writer of generate.py.
Invariant  no jump leaves a loop that fills a tensor: `steady` counts those that are open.
Tests      every random program
"""
from forms import Lin, Scalar, Tensor


class Jumps:
    def jumps(self):
        """The statements that may stand here and leave."""
        found = ["break;", "continue;"] if self.broken and not self.steady else []
        if self.may_return and self.chance(0.5):
            found.append(self.may_return(self))
        return found

    def endable(self, jump):
        """Locals that may be dropped before the jump."""
        locals_ = [t for t in self.tensors if t.kind == "local"]
        if jump.startswith("return"):
            return [t for t in locals_ if t.text not in jump]
        least = self.loops - (jump == "break;")
        return [t for t in locals_ if t.loops >= least]

    def leave_block(self, saved, jump, text="}"):
        """Ends the block with the jump, perhaps after drops; behind it everything is as before, but what a `break` took along."""
        if not jump.startswith("return") or self.chance(0.3):
            found = self.endable(jump)
            for t in self.rng.sample(found, min(len(found), self.rng.choice([0, 1, 1, 2]))):
                self.emit("drop %s;" % t.text)
                if jump == "break;":
                    self.broken[-1].append(t.root)
        self.emit(jump)
        self.tensors, self.scalars, self.grids, self.structs = saved
        self.indent -= 1
        self.emit(text)

    def do_escape(self):
        """if ... { something; break; }"""
        if not self.jumps():
            return self.do_update()
        saved = self.open("if %s {" % self.condition(1))
        inner = tuple(map(list, saved))
        if self.chance(0.4):
            self.nested(1)
        ended = {t.root for t in saved[0]} - {t.root for t in self.tensors}
        jump = self.pick(self.jumps() or ["continue;"] if self.broken and not self.steady else [self.may_return(self)])
        if ended:   # the nested statements dropped or moved something: the plain way of a block that goes on
            self.emit("print %d;" % self.rng.randint(0, 9))
            self.close(inner)
        else:
            self.leave_block(inner, jump)

    def fill_or_leave(self, t):
        """Only the path that goes on writes all of t."""
        jumps = self.jumps()
        if not jumps:
            return False
        jump = self.pick(jumps)
        condition = self.condition(1)
        if self.chance(0.5):
            saved = self.open("if %s {" % condition)
            self.fill(t, 1)
            self.close(saved, "} else {")
            self.indent += 1
            self.leave_block((self.tensors, self.scalars, self.grids, self.structs), jump)
        else:
            saved = self.open("if %s {" % condition)
            self.leave_block(saved, jump)
            self.fill(t, 1)
        return True

    def return_early(self, outs):
        """One path writes every out of the function and leaves it."""
        saved = tuple(map(list, self.open("if %s {" % self.condition(1))))
        for t in outs:
            self.fill(t, 1)
            self.tensors.append(t)
        if self.chance(0.5):
            self.nested(1)
        self.emit("return;")
        self.tensors, self.scalars, self.grids, self.structs = saved
        self.indent -= 1
        self.emit("}")

    # ---- tensors that are written in part ----
    def part_of(self, t):
        """The first or the last rows of t, at least one."""
        n = t.shape[0]
        if n.low < 2:
            text, width = "0 .. 1", Lin.number(1)
        else:
            h = Lin.number(self.rng.randint(1, n.low - 1)) if self.chance(0.5) else self.define_half(n)
            text, width = ("0 .. %s" % h.text(), h) if self.chance(0.5) else ("%s .. %s" % (h.text(), n.text()), n.plus(h.times(-1)))
        return Tensor("%s[%s]" % (t.text, text), t.element, [width] + t.shape[1:], t.root, True, "view")

    def unwritten(self):
        """A new tensor that nothing has written, with at least one row; it is not among the visible ones."""
        r = self.rng
        extents = [s for t in self.tensors for s in t.shape if 1 <= s.low and s.high <= 12] + [Lin.number(r.randint(1, 6))]
        shape = [r.choice(extents)] + [Lin.number(r.randint(1, 3)) for _ in range(r.choice([0, 0, 1, 2]))]
        t = self.declare(self.fresh("t"), r.choice(self.maker.types), shape)
        self.emit("%slet %s: %s%s;" % (self.distribution(shape), t.text, t.element, self.shape_text(shape)))
        return t

    def use(self, region):
        """Statements that read the region."""
        self.tensors.append(region)
        self.emit("%s(inout %s, %s);" % (self.kernel_name("bump%d" % region.rank(), region.element), region.text, self.bounded_real()))
        if self.chance(0.5):
            self.nested(1)

    def do_partly(self):
        """What is written under a condition is read under the same condition."""
        if self.weight > 8:
            return
        if self.chance(0.3):
            return self.first_iteration_writes()
        name, t = self.fresh("b"), self.unwritten()
        self.emit("let %s = %s;" % (name, self.condition(1)))
        first, second = (t, self.part_of(t)) if self.chance(0.6) else (self.part_of(t), self.part_of(t))
        heads = ["if %s {" % name, "} else {"]
        if self.chance(0.3):   # one path writes nothing
            second = None
        self.branches(heads, [first, second], lambda region: self.fill(region, 1))
        self.nested(2)
        if self.chance(0.3):   # a part is written on every path, also where there is no storage yet
            part = self.part_of(t)
            self.fill_whole(part, (t.root,))
            self.tensors.append(part)
            self.use(part)
        self.branches(heads, [first, second], self.use)

    def branches(self, heads, regions, what):
        saved = self.open(heads[0])
        what(regions[0])
        if regions[1] is not None:
            self.close(saved, heads[1])
            self.indent += 1
            saved = tuple(map(list, (self.tensors, self.scalars, self.grids, self.structs)))
            what(regions[1])
        self.close(saved)

    def first_iteration_writes(self):
        """A loop whose first iteration writes all and goes on, and whose others write parts, or leave."""
        r, t, i = self.rng, self.unwritten(), self.fresh("i")
        part, trips = self.part_of(t), r.randint(1, 4)
        saved = self.loop("for %s in 0 .. %d {" % (i, trips), trips)
        self.scalars.append(Scalar(i, "i64", 0, trips - 1, "loop"))
        self.steady += 1
        inner = self.open("if %s == 0 {" % i)
        self.fill(t, 1)
        self.leave_block(inner, "continue;")
        if self.chance(0.5):
            inner = self.open("if %s {" % self.condition(1))
            self.leave_block(inner, "break;")
        self.fill_whole(part, (t.root,))
        self.steady -= 1
        self.close_loop(saved, trips)
        self.tensors.append(t)
