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
        if any(n in self.maker.decided_names for e in shape for n in e.terms):
            return None
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
        self.emit_perhaps(assign, True)
        self.renew(v)
        if keeps:
            self.tensors.append(k)

    def emit_perhaps(self, assign, may_be_left):
        """Under a condition now and then, on a line of its own: so it is seen whether it ever runs."""
        lines = ["if %s {" % self.condition(1), "  " + assign, "}"] if may_be_left and self.chance(0.3) else [assign]
        for line in lines:
            self.emit(line)

    def swap(self, names):
        a, b = names
        t = self.fresh("t")
        self.emit("{ let %s = %s; %s = %s; %s = %s; }" % (t, a.text, a.text, b.text, b.text, t))
        self.renew(a)
        self.renew(b)

    def do_give(self):
        """A tensor, or a field of a struct whose other fields stay, is moved into a function, which gives it back."""
        found = [t for t in self.tensors if self.can_end(t)]
        t = self.pick([t for t in found if t.kind == "field"] or found or [None])
        if t is None:
            return
        y = self.declare(self.fresh("t"), t.element, t.shape)
        taker = self.maker.taker(self.home, t.element, t.rank())
        self.forget(t.root)
        self.emit("%s %s = %s(own %s);" % (self.pick(["let", "let", "var"]), y.text, taker, t.text))
        if self.lines[-1].lstrip().startswith("var"):
            y.kind = "var"
        self.tensors.append(y)

    # ---- structs ----
    def do_structs(self):
        """A `var` of a struct type, or two: made anew, a field made anew, swapped, kept."""
        r, type_ = self.rng, self.struct_type()
        if type_ is None or self.weight > 4:
            return
        argument = self.small_extent()
        names = [v for v in [self.carried_struct(type_, argument) for _ in range(r.randint(1, 2))] if v]
        if not names:
            return
        times = r.randint(0, 3)
        saved = self.loop("for %s in 0 .. %d {" % (self.fresh("i"), times), times)
        for v in names:
            self.show_struct(v)
        if r.random() < 0.5:
            self.nested(2)
        v = self.pick(names)
        if r.random() < 0.5:
            self.renew_field(v, v.leaves)
        else:
            self.renew_struct(v)
        if len(names) == 2 and r.random() < 0.5:
            self.swap_structs(names)
        if r.random() < 0.4:
            self.nested(2)
        self.close_loop(saved, times)
        for v in names:
            self.show_struct(v)

    def struct_value(self, type_, argument):
        makers = [f for f in self.maker.callable(self) if f.result_type is type_ and f.cost * self.weight < 60]
        if makers and self.chance(0.7):
            f = self.pick(makers)
            args = self.arguments(f, result=[argument], reads_only=True)
            if args is not None:
                return "%s(%s)" % (self.maker.name_of(f, self.home), ", ".join(args))
        v = self.new_struct(type_, argument)
        self.forget_struct(v)
        return v.text

    def carried_struct(self, type_, argument):
        if any(n in self.maker.decided_names for n in argument.terms):
            return None
        value, name = self.struct_value(type_, argument), self.fresh("c")
        self.emit("var %s = %s;" % (name, value))
        return self.see_struct(name, type_, argument, True, "var")

    def again(self, v):
        """Its views have ended."""
        self.forget_struct(v)
        self.show_struct(v)

    def renew_struct(self, v):
        assign = "%s = %s;" % (v.text, self.struct_value(v.type, v.argument))
        self.emit_perhaps(assign, assign.endswith(");"))
        self.again(v)

    def renew_field(self, v, leaves):
        t = self.pick(leaves)
        value = self.call_value(t.shape, t.element, (), 1)
        if value is not None:
            self.emit("%s = %s;" % (t.text, value))
            self.again(v)

    def swap_structs(self, names):
        a, b = names
        t = self.fresh("t")
        self.emit("{ let %s = %s; %s = %s; %s = %s; }" % (t, a.text, a.text, b.text, b.text, t))
        self.again(a)
        self.again(b)
