"""decided.py - results that the run sizes: functions with `?m` in their result, and what a caller does with one.

Owner      Decided, a part of the Writer of generate.py.  DecidedFunctions, a part of its Maker.
Invariant  an extent is between the bounds that the Function has for it in `result`; its result_type is DECIDED.
Tests      every random program
"""
from forms import Function, Lin, Scalar, Tensor

DECIDED = "decided"


class DecidedFunctions:
    def make_decided(self, name, home):
        r = self.rng
        sized = [t for t in self.structs if (home == "main" or t.home == "lib") and self.sized_leaf(t)]
        if sized and r.random() < 0.5:
            return self.make_decided_struct(name, home, r.choice(sized))
        w, element = self.new_writer(home, r.randint(2, 6)), r.choice(self.types)
        dims = {"N": (0, 12)}
        self.see_dims(w, dims)
        x = self.fresh("a")
        n = Lin({"N": 1}, 0, 0, 12)
        formals = [("in", x, element, [n], 0, 0)]
        w.tensors.append(Tensor(x, element, [n], self.new_root(), False, "formal"))
        formals += self.scalar_formals(w, r.randint(0, 1))
        w.body(r.randint(0, 2))
        t, result = w.decided_local(x, element)
        keep, t.kind = t.loops, "result"  # neither dropped nor moved
        w.body(r.randint(0, 3))
        t.loops = keep
        if r.random() < 0.3:
            extents = ", ".join(str(e.low) for e in t.shape)
            u = self.fresh("t")
            w.emit("if %s { let %s: %s[%s]; %s(out %s, 3); return %s; }" % (
                w.condition(1), u, element, extents, w.kernel_name("ramp%d" % t.rank(), element), u, u))
        w.emit("return %s;" % t.text)
        f = Function(name, home, dims, formals, t.shape, DECIDED, cost=5)
        f.element, f.result = element, None
        f.limits = [(e.low, e.high) for e in t.shape]
        self.finish(w, home, self.head(name, dims, formals, " -> %s[%s]" % (element, result)), f)


    @staticmethod
    def sized_leaf(type_):
        """The path and the dimension of a leaf whose extent is the struct's N, or None."""
        for path, _, shape in type_.leaves(Lin({"N": 1}, 0, 0, 12)):
            for d, e in enumerate(shape or []):
                if e.text() == "N":
                    return path, d

    def make_decided_struct(self, name, home, type_):
        """A struct whose dimension the run decides."""
        r = self.rng
        w, element = self.new_writer(home, r.randint(2, 6)), r.choice(self.types)
        dims, x = {"N": (0, 12)}, self.fresh("a")
        self.see_dims(w, dims)
        n = Lin({"N": 1}, 0, 0, 12)
        w.tensors.append(Tensor(x, element, [n], self.new_root(), False, "formal"))
        w.body(r.randint(0, 2))
        extent = w.decided_extent(x, element)
        c = self.fresh("c")
        v = w.see_struct(c, type_, extent, True, "result")
        w.emit("let %s: %s;" % (c, w.struct_text(type_, extent)))
        w.fill_struct(v)
        w.body(r.randint(0, 2))
        w.emit("return %s;" % c)
        f = Function(name, home, dims, [("in", x, element, [n], 0, 0)], None, DECIDED, cost=8)
        f.structure, f.limits = type_, [(extent.low, extent.high)]
        module = "lib." if type_.home == "lib" and home == "main" else ""
        self.finish(w, home, self.head(name, dims, f.formals, " -> %s%s[?m]" % (module, type_.name)), f)


class Decided:
    def decided_extent(self, x, element):
        n, low, many = self.fresh("n"), self.pick([0, 0, 1, 2]), self.rng.randint(2, 5)
        count = "%s(%s)" % (self.kernel_name("odd", element), x)
        self.emit("let %s = %d + await %s[0] %% %d;" % (n, low, count, many))
        self.scalars.append(Scalar(n, "i64", low, low + many - 1))
        return Lin({n: 1}, 0, low, low + many - 1)

    def decided_local(self, x, element):
        """A tensor whose extent depends on how many elements of x are odd, and the extents of a result that is it."""
        extent, more = self.decided_extent(x, element), self.rng.randint(0, 5)
        n = extent.text()
        shape = [extent] + ([Lin.number(self.rng.randint(1, 3))] if more == 0 else [extent] if more == 1 else [])
        if len(shape) == 1 and self.chance(0.5):
            t = self.declare(self.fresh("t"), element, shape)
            self.emit("let %s: %s[%s];" % (t.text, element, n))
            self.emit("%s(%s, out %s);" % (self.kernel_name("keep", element), x, t.text))
            self.tensors.append(t)
        else:
            t = self.new_tensor(shape, element)
        return t, "?m" + ("" if len(shape) == 1 else ", ?m" if more == 1 else ", " + shape[1].text())

    def do_decided(self):
        found = [f for f in self.maker.callable(self) if f.result_type == DECIDED and f.cost * self.weight < 60]
        if not found or self.maker.calls <= 0:
            return self.do_update()
        f = self.pick(found)
        self.maker.calls -= 1
        args = self.arguments(f, reads_only=True)
        if args is None:
            return
        y, call = self.fresh("y"), self.maker.name_of(f, self.home)
        if f.structure:
            return self.see_decided(f, y, "%s(%s)" % (call, ", ".join(args)))
        is_var = self.chance(0.4) and self.weight <= 8
        self.emit("%s %s = %s(%s);" % ("var" if is_var else "let", y, call, ", ".join(args)))
        if is_var:
            times = self.rng.randint(0, 3)
            saved = self.steady_loop("for %s in 0 .. %d {" % (self.fresh("i"), times), times)
            if len(f.limits) == 1 and self.chance(0.6):
                args[0] = y
            self.emit("%s = %s(%s);" % (y, call, ", ".join(args)))
            self.close_steady_loop(saved, times)
        shape = []
        for d, (low, high) in enumerate(f.limits):
            if low == high:
                shape.append(Lin.number(low))
                continue
            n = self.fresh("n")
            self.emit("let %s = dim(%s, %d);" % (n, y, d))
            self.maker.decided_names.add(n)
            self.scalars.append(Scalar(n, "i64", low, high))
            shape.append(Lin({n: 1}, 0, low, high))
        t = self.declare(y, f.element, shape)
        t.kind = "var" if is_var else "local"
        self.tensors.append(t)

    def see_decided(self, f, y, call):
        """The struct that the call gives; its scalars are the callee's."""
        path, d = self.maker.sized_leaf(f.structure)
        n, (low, high) = self.fresh("n"), f.limits[0]
        self.emit("let %s = %s;" % (y, call))
        self.emit("let %s = dim(%s.%s, %d);" % (n, y, path, d))
        self.maker.decided_names.add(n)
        self.scalars.append(Scalar(n, "i64", low, high))
        self.show_struct(self.see_struct(y, f.structure, Lin({n: 1}, 0, low, high), True, "local"))
