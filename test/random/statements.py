"""statements.py - statements without a loop of their own.

Owner      Statements, a part of the Writer of generate.py.
Tests      every random program
"""
from forms import INTEGERS, MAX_PARAMS, REALS, Lin, Scalar, Tensor, prod_high


class Statements:
    def do_update(self):
        c = self.subregion(writable=True)
        if c is None:
            return self.do_make()
        r = self.rng
        rank, stem = c.rank(), r.choice(["mix", "mix", "bump", "fill", "copy", "plus"])
        if stem == "bump":
            self.emit("%s%s(inout %s, %s);" % (self.attribute(), self.kernel_name("bump%d" % rank, c.element), c.text, self.bounded_real()))
        elif stem == "mix":
            a = self.operand(c.shape, c.element, (c.root,))
            self.emit("%s%s(%s, inout %s, %s);" % (self.attribute(), self.kernel_name("mix%d" % rank, c.element), a, c.text, self.int_expr(1)[0]))
        else:
            self.fill_whole(c, (c.root,))

    def bounded_real(self):
        text, _, magnitude = self.real_expr(1)
        return text if magnitude < 10 ** 9 else "1.5"

    def do_make(self):
        r = self.rng
        element = r.choice(self.maker.types)
        extents = [s for t in self.tensors for s in t.shape] + [Lin.number(r.randint(0 if r.random() < 0.1 else 1, 6))]
        shape = [r.choice(extents) for _ in range(self.rank())]
        if len(shape) > 3:
            shape[2:] = [Lin.number(r.randint(1, 2)) for _ in shape[2:]]
        if prod_high(shape) <= 400:
            self.new_tensor(shape, element)

    def do_view(self):
        t = self.subregion()
        if t is None or t.kind != "view":
            return
        name = self.fresh("v")
        self.emit("let %s = %s;" % (name, t.text))
        view = Tensor(name, t.element, t.shape, t.root, t.writable, "view")
        view.loops = self.loops
        self.tensors.append(view)

    def do_scalar(self):
        r, k = self.rng, self.rng.randint(0, 5)
        if k <= 1:
            name = self.fresh("s")
            text, low, high = self.int_expr(3)
            self.emit("let %s%s = %s;" % (name, self.pick(["", ": i64"]), text))
            self.scalars.append(Scalar(name, "i64", low, high))
        elif k <= 3:
            self.new_var()
        elif k == 4:
            name = self.fresh("b")
            self.emit("%s %s%s = %s;" % (self.pick(["let", "let"]), name, self.pick(["", ": bool"]), self.condition(2)))
            self.scalars.append(Scalar(name, "bool"))
        else:
            name = self.fresh("x")
            text, type_, magnitude = self.real_expr(2)
            annotated = r.choice(["", ": f64", ": f32"])
            type_ = annotated[2:] or None
            if type_ is None:  # what the expression has is the compiler's to say: only used where both are the same
                annotated, type_ = ": f64", "f64"
            self.emit("let %s%s = %s;" % (name, annotated, text))
            self.scalars.append(Scalar(name, type_, 0, magnitude))

    def new_var(self):
        name = self.fresh("m")
        text, _, _ = self.int_expr(2)
        self.emit("var %s = %s %% 1001;" % (name, text if text[0] == "(" or text.isalnum() else "(%s)" % text))
        self.scalars.append(Scalar(name, "i64", -1000, 1000, "var"))

    def do_assign(self):
        if not any(s.kind in ("var", "field", "cell") for s in self.scalars) or self.chance(0.2):
            self.new_var()
        s = self.pick([s for s in self.scalars if s.kind in ("var", "field", "cell")])
        text, _, _ = self.int_expr(2)
        if s.kind == "var" and self.chance(0.4):
            call = "%s(inout %s, %s)" % (self.maker.changer(self.home), s.text, text)
            others = [o for o in self.scalars if o.kind == "var"]
            to = self.rng.choice(["", "", "let", self.pick(others).text + " = "])
            if to == "let":
                name = self.fresh("s")
                self.scalars.append(Scalar(name, "i64", -1000, 1000))
                to = "let %s = " % name
            return self.emit("%s%s;" % (to, call))
        if s.kind != "var" and self.chance(0.3):
            self.emit("%s(inout %s, %s);" % (self.maker.changer(self.home), s.text, text))
            text = s.text
        self.emit({"var": "%s = (%s) %% 1001;", "field": "%s = (%s) %% 101;", "cell": "%s = abs(%s) %% 101;"}[s.kind] % (s.text, text))

    def do_show(self):
        values = []
        for _ in range(self.rng.randint(1, 3)):
            k = self.rng.randint(0, 6)
            if k == 0:
                values.append('"text %d%%"' % self.rng.randint(0, 9))
            elif k == 1:
                values.append(self.condition(1))
            elif k == 2:
                values.append(self.real_expr(1)[0])
            elif k == 3 and self.tensors:
                values.append(self.pick(self.tensors).text)
            elif k == 4:
                element = self.await_element(INTEGERS + REALS + ("bool",))
                values.append(element[0] if element else "1")
            else:
                values.append(self.int_expr(2)[0])
        self.emit("print %s;" % ", ".join(values))

    def do_claim(self):
        text, low, high = self.int_expr(1)
        claim = self.pick(["%s >= %d" % (text, low), "%s <= %d" % (text, high), "%s == %s" % (text, text), "%s < %d || true" % (text, high)])
        if "await" in text or "(" in text and self.chance(0.5):
            claim = "%s <= %d" % (text, high)
        self.emit("assert %s%s;" % (claim, self.pick(["", ', "claim"'])))

    def do_call(self):
        found = [f for f in self.maker.callable(self) if f.result_type is None and f.cost * self.weight < 80]
        if not found or self.maker.calls <= 0:
            return self.do_update()
        f = self.pick(found)
        self.maker.calls -= 1
        args = self.arguments(f)
        if args is not None:
            self.emit("%s%s(%s);" % ("", self.maker.name_of(f, self.home), ", ".join(args)))

    def do_drop(self):
        found = [t for t in self.tensors if self.can_end(t)]
        if found:
            t = self.pick(found)
            self.emit("drop %s;" % t.text)
            self.forget(t.root)

    def do_block(self):
        saved = self.open(self.pick(["{", 'scope "part" {', "scope {"]))
        self.nested(3)
        self.close(saved)

    def do_gather(self):
        """Reductions and acc."""
        r = self.rng
        a = self.subregion()
        if a is None:
            return
        s = self.region_like([Lin.number(1)], a.element, (a.root,), writable=True)
        if s is None or r.random() < 0.3:
            s = self.new_tensor([Lin.number(1)], a.element)
        if r.random() < 0.6:
            for _ in range(r.randint(1, 3)):
                self.emit("%s(%s, acc %s);" % (self.kernel_name("tally%d" % a.rank(), a.element), a.text, s.text))
        else:
            c = self.region_like(a.shape, a.element, (a.root,), writable=True)
            if c:
                self.emit("%s(%s, acc %s);" % (self.kernel_name("pile%d" % a.rank(), a.element), a.text, c.text))
            self.emit("%s(%s, out %s);" % (self.kernel_name("total%d" % a.rank(), a.element), a.text, s.text))

    def do_library(self):
        """Kernels of std/tile.pto; their values grow, so a last call makes them small again."""
        r = self.rng
        element = [e for e in self.maker.types if e in ("f32", "f64")]
        if not element:
            return
        c = self.subregion(writable=True, element=r.choice(element), rank=2)
        if c is None:
            return
        m, n = c.shape
        avoid = (c.root,)
        op = r.choice(["add", "mul", "gemm", "gemm_nt", "gemm_acc", "add_to", "scale", "axpy", "copy", "transpose", "fill"])
        k = Lin.number(r.randint(0, 3))
        get = lambda *shape: self.operand(list(shape), c.element, avoid)
        text = {"add": lambda: "add(%s, %s, out %s)" % (get(m, n), get(m, n), c.text),
                "mul": lambda: "mul(%s, %s, out %s)" % (get(m, n), get(m, n), c.text),
                "gemm": lambda: "gemm(%s, %s, out %s)" % (get(m, k), get(k, n), c.text),
                "gemm_nt": lambda: "gemm_nt(%s, %s, out %s)" % (get(m, k), get(n, k), c.text),
                "gemm_acc": lambda: "gemm_acc(%s, %s, inout %s)" % (get(m, k), get(k, n), c.text),
                "add_to": lambda: "add_to(%s, inout %s)" % (get(m, n), c.text),
                "scale": lambda: "scale(%s, out %s, %d)" % (get(m, n), c.text, r.randint(0, 5)),
                "axpy": lambda: "axpy(%s, inout %s, %d.0)" % (get(m, n), c.text, r.randint(0, 5)),
                "copy": lambda: "copy(%s, out %s)" % (get(m, n), c.text),
                "transpose": lambda: "transpose(%s, out %s)" % (get(n, m), c.text),
                "fill": lambda: "fill(out %s, %d)" % (c.text, r.randint(0, 50))}[op]()
        self.emit("tile.%s;" % text)
        self.emit("%s(inout %s, 3);" % (self.kernel_name("bump2", c.element), c.text))

    def do_leave(self):
        if self.may_return and self.chance(0.5):
            self.emit("if %s { %s }" % (self.condition(1), self.may_return(self)))

    def do_wide(self):
        """A task with many parameters."""
        r, c = self.rng, self.subregion(writable=True)
        if c is None:
            return
        some = [self.operand(c.shape, c.element, (c.root,), 2) for _ in range(r.randint(1, 4))]
        count = r.choice([5, 9, 17, MAX_PARAMS - 2]) if r.random() < 0.5 else r.randint(3, MAX_PARAMS - 2)
        ins = ", ".join(r.choice(some) for _ in range(count))
        self.emit("%s(%s, inout %s, %s);" % (self.kernel_name("wide%d_%d" % (count, c.rank()), c.element), ins, c.text, self.int_expr(1)[0]))

    def do_twin(self):
        a = self.subregion()
        if a is None:
            return
        b = self.region_like(a.shape, a.element, (a.root,), writable=True) or self.new_tensor(a.shape, a.element)
        c = self.region_like(a.shape, a.element, (a.root, b.root), writable=True) or self.new_tensor(a.shape, a.element)
        self.emit("%s(%s, out %s, out %s);" % (self.kernel_name("twin%d" % a.rank(), a.element), a.text, b.text, c.text))

    def do_product(self):
        c = self.subregion(writable=True, rank=2)
        if c is None or prod_high(c.shape) > 200:
            return
        k = self.pick([s for t in self.tensors for s in t.shape] + [Lin.number(2)])
        a, b = (self.operand(s, c.element, (c.root,)) for s in ([c.shape[0], k], [k, c.shape[1]]))
        self.emit("%s(%s, %s, inout %s);" % (self.kernel_name("prod", c.element), a, b, c.text))

    def do_solid(self):
        found = [t for t in self.tensors if t.solid and t.writable]
        if found:
            t = self.pick(found)
            self.emit("%s(inout %s);" % (self.kernel_name("flat%d" % t.rank(), t.element), t.text))
