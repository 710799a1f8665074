"""carried.py - tensors that change: a `var` that a loop makes anew, two that are swapped, and a second name that keeps a value.

Owner      Carried, a part of the Writer of generate.py.
Invariant  whatever views a var is forgotten where the var is assigned; a var is neither dropped nor moved into a function.
Tests      every random program
"""
from forms import Lin, Tensor, prod_high


class Carried:
    def do_carried(self):
        r = self.rng
        if self.weight > 4:
            return
        element = r.choice(self.maker.types)
        extents = [s for t in self.tensors for s in t.shape] + [Lin.number(r.randint(0 if r.random() < 0.1 else 1, 6))]
        shape = [r.choice(extents) for _ in range(r.randint(1, 2))]
        if prod_high(shape) > 300:
            return
        names = [v for v in [self.new_carried(shape, element) for _ in range(r.randint(1, 2))] if v]
        if not names:
            return
        times = r.randint(0, 4)
        saved = self.loop("for %s in 0 .. %d {" % (self.fresh("i"), times), times)
        self.tensors += names
        if r.random() < 0.5:
            self.nested(2)
        self.change_one(self.pick(names), names)
        if len(names) == 2 and r.random() < 0.6:
            self.swap(names)
        if r.random() < 0.4:
            self.nested(2)
        self.close_loop(saved, times)
        self.tensors += names

    def new_carried(self, shape, element):
        value = self.call_value(shape, element, (), 1)
        if value is None:
            return None
        v = self.declare(self.fresh("w"), element, shape)
        v.kind = "var"
        if self.chance(0.2):
            name = self.fresh("t")
            self.emit("let %s = %s;" % (name, value))
            value = name
        self.emit("var %s%s = %s;" % (v.text, self.pick(["", ": %s%s" % (element, self.shape_text(shape))]), value))
        return v

    def renew(self, v):
        """It is another tensor: its views have ended."""
        self.forget(v.root)
        self.tensors.append(v)

    def change_one(self, v, names):
        keeps = self.rng.random() < 0.4
        k = Tensor(self.fresh("k"), v.element, v.shape, v.root, False, "view")
        k.loops = self.loops
        if keeps:
            self.emit("let %s = %s;" % (k.text, v.text))
            self.tensors.append(k)
        value = self.call_value(v.shape, v.element, (), 1)
        if value is None:
            return
        assign = "%s = %s;" % (v.text, value)
        self.emit("if %s { %s }" % (self.condition(1), assign) if self.chance(0.3) else assign)
        self.renew(v)
        if keeps:
            self.tensors.append(k)

    def swap(self, names):
        a, b = names
        t = self.fresh("t")
        self.emit("{ let %s = %s; %s = %s; %s = %s; }" % (t, a.text, a.text, b.text, b.text, t))
        self.renew(a)
        self.renew(b)
