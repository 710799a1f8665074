"""shapes.py - names of views whose dimensions are in another order, merged or split, and of views of those.

Owner      Shapes, a part of the Writer of generate.py.
Invariant  what is merged lies one behind the other for certain: it is a tensor of the program's own, or a part of one that is contiguous.
Tests      every random program
"""
from forms import MAX_RANK, Lin, Scalar, Tensor


class Shapes:
    def do_turned(self):
        """let v = t.permute(..), t.T, t[: step -1] or t as [..]; what follows slices and tiles v like any other."""
        found = [t for t in self.tensors if t.kind not in ("array", "cells")]
        if not found:
            return
        t = self.pick(found)
        made = self.pick([self.merged, self.merged, self.split, self.split, self.ordered, self.backwards])(t)
        if made is None:
            return
        text, shape, solid = made
        name = self.fresh("v")
        self.emit("let %s = %s;" % (name, text))
        view = Tensor(name, t.element, shape, t.root, t.writable, "view", solid)
        view.loops = self.loops
        self.tensors.append(view)

    def shaped(self, t, shape):
        """`as` binds as an index does."""
        return "%s as [%s]" % (t.text, ", ".join(e.text(self.rng) for e in shape)), shape, True

    def merged(self, t):
        """Two neighbouring dimensions as one, of which one is a number."""
        pairs = [d for d in range(t.rank() - 1) if t.shape[d].is_number() or t.shape[d + 1].is_number()]
        if not t.solid or not pairs:
            return None
        d = self.pick(pairs)
        a, b = t.shape[d], t.shape[d + 1]
        product = b.times(a.low) if a.is_number() else a.times(b.low)
        return self.shaped(t, t.shape[:d] + [product] + t.shape[d + 2:])

    def split(self, t):
        """A dimension as two: of a number its divisors, of a name its half, where an odd element is left out."""
        if not t.solid or t.rank() == MAX_RANK:
            return None
        d = self.rng.randrange(t.rank())
        extent = t.shape[d]
        if extent.is_number():
            if extent.low == 0:
                return None
            first = self.pick([k for k in range(1, extent.low + 1) if extent.low % k == 0])
            parts = [Lin.number(first), Lin.number(extent.low // first)]
            return self.shaped(t, t.shape[:d] + parts + t.shape[d + 1:])
        if d > 0:
            return None
        h = self.define_half(extent)
        even = Tensor("%s[0 +: %s]" % (t.text, h.times(2).text()), t.element, [h.times(2)] + t.shape[1:], t.root, t.writable, "view", True)
        return self.shaped(even, ([h, Lin.number(2)] if self.chance(0.5) else [Lin.number(2), h]) + t.shape[1:])

    def ordered(self, t):
        if t.rank() < 2:
            return None
        order = list(range(t.rank()))
        if self.chance(0.5):
            order[-2:] = order[:-3:-1]
            return t.text + ".T", [t.shape[d] for d in order], False
        self.rng.shuffle(order)
        return "%s.permute(%s)" % (t.text, ", ".join(map(str, order))), [t.shape[d] for d in order], False

    def backwards(self, t):
        d = self.rng.randrange(t.rank())
        return "%s[%s: step -1]" % (t.text, ":, " * d), t.shape, False
