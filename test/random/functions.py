"""functions.py - the kinds of functions that an entry calls.

Owner      Functions, a part of the Maker of generate.py.
Invariant  a function is right for every value of its dimension variables and scalars within the bounds of its Function.
Tests      every random program
"""
from forms import Function, Lin, Scalar, StructType, Tensor


class Functions:
    def make_structs(self):
        r = self.rng
        home = "lib" if r.random() < 0.3 else "main"
        n = Lin({"N": 1}, 0, 0, 12)
        extents = lambda: [r.choice([n, n, n.plus(1), n.times(2), Lin.number(r.randint(1, 4))]) for _ in range(r.randint(1, 2))]
        for i in range(r.randint(1, 2)):
            fields = [("f%d" % k, r.choice(self.types), extents()) for k in range(r.randint(1, 3))]
            if i == 1:
                fields.insert(r.randint(0, len(fields)), ("inner", self.structs[0]))
            if r.random() < 0.4:
                fields.append(("k", "i64", None))
            self.structs.append(StructType("%s_S%d" % (self.prefix, i), home, fields))
            self.texts[home].append(self.structs[-1].text())

    def struct_of(self, home):
        return self.rng.choice([t for t in self.structs if home == "main" or t.home == "lib"])

    def make_struct_work(self, name, home):
        """A function on structs in every direction."""
        r = self.rng
        w, type_ = self.new_writer(home, r.randint(2, 6)), self.struct_of(home)
        dims = {"N": (0, 6) if r.random() < 0.3 else (1, 8)}
        self.see_dims(w, dims)
        n = Lin({"N": 1}, 0, *dims["N"])
        formals, outs = [], []
        for direction in [r.choice(["in", "inout", "inout", "out", "own"]) for _ in range(r.randint(1, 2))]:
            formals.append((direction, self.fresh("c"), type_, [n], 0, 0))
            kind = "local" if direction == "own" else "formal"
            v = w.see_struct(formals[-1][1], type_, n, direction in ("inout", "out", "own"), kind)
            if direction == "out":
                outs.append(v)
            else:
                w.show_struct(v)
        for v in outs:
            w.fill_struct(v)
        more, _ = self.formals(w, {}, ["in"] * r.randint(0, 1))
        formals += more + self.scalar_formals(w, r.randint(0, 1))
        w.may_return = lambda writer: "return;"
        w.body(r.randint(1, 4))
        self.finish(w, home, self.head(name, dims, formals, "", home), Function(name, home, dims, formals, cost=6))

    def make_struct_result(self, name, home):
        """A function that returns a struct."""
        r = self.rng
        w, type_ = self.new_writer(home, r.randint(1, 4)), self.struct_of(home)
        dims, formals = {"N": (1, 8)}, []
        n = Lin({"N": 1}, 0, 1, 8)
        if r.random() < 0.5:
            formals, _ = self.formals(w, dims, ["in"])
            self.see_dims(w, dims)
        else:
            formals.append((None, "N", "i64", None, 1, 8))
            w.scalars.append(Scalar("N", "i64", 1, 8, "formal"))
            dims = {}
        makers = [f for f in self.callable(w) if f.result_type is type_]
        value = None
        if makers and r.random() < 0.3:
            f = r.choice(makers)
            args = w.arguments(f, result=[n], reads_only=True)
            value = args and "%s(%s)" % (self.name_of(f, home), ", ".join(args))
        if value is None:
            v = w.new_struct(type_, n)
            v.kind = "result"
            w.body(r.randint(0, 3))
            value = v.text
        w.emit("return %s;" % value)
        self.finish(w, home, self.head(name, dims, formals, " -> " + w.struct_text(type_, n)), Function(name, home, dims, formals, [n], type_, cost=5))

    def make_work(self, name, home):
        """A function that changes what it is given."""
        r = self.rng
        w, dims = self.new_writer(home, r.randint(3, 8)), self.dims(r.randint(0, 2))
        self.see_dims(w, dims)
        directions = [r.choice(["in", "inout"])] + [r.choice(["in", "inout", "out", "acc"]) for _ in range(r.randint(1, 2))]
        if r.random() < 0.1:
            directions += [r.choice(["in", "in", "in", "inout", "out"]) for _ in range(r.randint(5, 40))]
        formals, outs = self.formals(w, dims, directions)
        formals += self.scalar_formals(w, r.randint(0, 2))
        if outs and "acc" not in directions and r.random() < 0.4:
            w.return_early(outs)
        for t in outs:
            w.fill(t)
            w.tensors.append(t)
        for direction, n, element, shape, _, _ in formals:
            if direction == "acc":
                source = w.operand(shape, element, ())
                w.emit("%s(%s, acc %s);" % (w.kernel_name("pile%d" % len(shape), element), source, n))
        w.may_return = lambda writer: "return;"
        w.body(r.randint(1, 4))
        self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=5))

    def make_result(self, name, home):
        """A function that returns a tensor: a local, the value of a call, or one of several."""
        r = self.rng
        w, dims = self.new_writer(home, r.randint(2, 7)), self.dims(r.randint(0, 2))
        self.see_dims(w, dims)
        formals, _ = self.formals(w, dims, ["in"] * r.randint(1 if dims else 0, 2))
        formals += self.scalar_formals(w, r.randint(0, 1))
        sizes = dict(dims)
        if r.random() < 0.4:  # an extent that a scalar gives
            n = self.fresh("n")
            formals.append((None, n, "i64", None, 0, 6))
            w.scalars.append(Scalar(n, "i64", 0, 6, "formal"))
            sizes[n] = (0, 6)
        element = r.choice(self.types)
        shape = self.shape(sizes, r.choice([1, 1, 2, 2]))
        shape = [e for e in shape]
        result = " -> %s[%s]" % (element, ", ".join(e.text(r) for e in shape))

        def back(writer):
            if writer.chance(0.5):
                value = writer.call_value(shape, element, (), 1)
                if value:
                    return "return %s;" % value
            t = writer.new_tensor(shape, element)
            return "return %s;" % t.text

        if r.random() < 0.5:
            w.body(r.randint(0, 2))
            saved = w.open("if %s {" % w.condition())
            w.emit(back(w))
            w.close(saved)
            w.body(r.randint(0, 2))
            w.emit(back(w))
        else:
            t = w.new_tensor(shape, element)
            keep = t.loops
            t.kind = "result"  # neither dropped nor moved
            w.body(r.randint(1, 4))
            t.loops = keep
            w.emit("return %s;" % t.text)
        self.finish(w, home, self.head(name, dims, formals, result), Function(name, home, dims, formals, shape, element, cost=4))

    def make_number(self, name, home):
        """A function whose value is an integer."""
        r = self.rng
        w, dims = self.new_writer(home, r.randint(1, 4)), self.dims(r.randint(0, 1))
        self.see_dims(w, dims)
        formals, _ = self.formals(w, dims, ["in"] * (1 if dims else r.randint(0, 1)))
        formals += self.scalar_formals(w, r.randint(1, 2))
        w.body(r.randint(0, 2))
        if r.random() < 0.3:
            w.emit("if %s { return %d; }" % (w.condition(1), r.randint(-100, 100)))
        w.emit("return (%s) %% 101;" % w.int_expr(2)[0])
        self.finish(w, home, self.head(name, dims, formals, " -> i64"), Function(name, home, dims, formals, (-100, 100), "i64", cost=3))

    def make_tree(self, name, home):
        """Recursion over halves that returns one element."""
        r, element = self.rng, self.rng.choice(self.types)
        k = lambda stem: self.use_kernel(stem, [element], home)
        leaf, cut = r.randint(1, 3), r.choice(["N / 2", "N / 3", "(N + 1) / 2"])
        if leaf == 1 and cut == "N / 3":
            leaf = 2
        lines = ["orch %s<N>(in x: %s[N]) -> %s[1] {" % (name, element, element), "  if N <= %d {" % leaf,
                 "    return %s(x);" % k("total1"), "  }", "  let h = %s;" % cut, "  let l = %s(x[0 .. h]);" % name]
        if r.random() < 0.5:
            lines += ["  return %s(l, %s(x[h .. N]));" % (k("plus1"), name)]
        else:
            lines += ["  let r = %s(x[h .. N]);" % name, "  %s(l, inout r, N);" % k("mix1"), "  return r;"]
        self.texts[home].append("\n".join(lines + ["}"]))
        self.functions.append(Function(name, home, {"N": (0, 12)}, [("in", "x", element, [Lin({"N": 1}, 0, 0, 12)], 0, 0)],
                                       [Lin.number(1)], element, cost=15))

    def make_descend(self, name, home):
        """Recursion that counts down, with work before or after."""
        r = self.rng
        w, dims = self.new_writer(home, 4), self.dims(r.randint(0, 1))
        self.see_dims(w, dims)
        formals, _ = self.formals(w, dims, ["inout"] + ["in"] * r.randint(0, 1))
        n = self.fresh("n")
        formals.append((None, n, "i64", None, 0, 4))
        w.scalars.append(Scalar(n, "i64", 0, 4, "formal"))
        args = ", ".join([("inout " if d == "inout" else "") + f for d, f, *_ in formals[:-1]] + ["%s - 1" % n])
        w.emit("if %s <= 0 { return; }" % n)
        w.body(r.randint(1, 2))
        w.emit("%s(%s);" % (name, args))
        w.body(r.randint(0, 1))
        self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=12))

    def make_halve(self, name, home):
        """Recursion on two disjoint halves of one tensor."""
        r, element = self.rng, self.rng.choice(self.types)
        k = lambda stem: self.use_kernel(stem, [element], home)
        lines = ["orch %s<N>(inout x: %s[N], d: i64) {" % (name, element), "  if N <= %d { %s(inout x, d); return; }" % (r.randint(1, 3), k("bump1")),
                 "  let h = N / 2;", "  %s(inout x[0 .. h], d + 1);" % name, "  %s(inout x[h .. N], d + 2);" % name,
                 "  %s(x[0 .. h], inout x[h .. 2 * h], d);" % k("mix1")]
        if r.random() < 0.5:
            lines.append("  %s(inout x[h / 2 +: h], 2);" % k("bump1"))
        self.texts[home].append("\n".join(lines + ["}"]))
        self.functions.append(Function(name, home, {"N": (0, 12)}, [("inout", "x", element, [Lin({"N": 1}, 0, 0, 12)], 0, 0),
                                                                    (None, "d", "i64", None, -5, 5)], cost=15))

    def make_own(self, name, home):
        """Takes a tensor over; may drop it."""
        r = self.rng
        w, dims = self.new_writer(home, 3), self.dims(1)
        self.see_dims(w, dims)
        (n, limits), = dims.items()
        element, shape = r.choice(self.types), [Lin({n: 1}, 0, *limits)]
        t, y = self.fresh("a"), self.fresh("a")
        formals = [("own", t, element, shape, 0, 0), (r.choice(["out", "inout"]), y, element, shape, 0, 0)]
        owned = Tensor(t, element, shape, self.new_root(), r.random() < 0.5, "own")
        place = Tensor(y, element, shape, self.new_root(), True, "formal")
        w.tensors.append(owned)
        w.emit("%s(%s, %s %s%s);" % (w.kernel_name("copy1" if formals[1][0] == "out" else "mix1", element), t, formals[1][0], y,
                                     "" if formals[1][0] == "out" else ", 3"))
        w.tensors.append(place)
        if r.random() < 0.5:  # whatever is done with a tensor that is made here
            owned.kind = "local"
            if r.random() < 0.5:
                w.do_adopt()
            w.body(r.randint(1, 3))
            self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=4))
            return
        owned.writable = False
        w.body(r.randint(0, 2))
        if r.random() < 0.4:
            w.emit("drop %s;" % t)
            w.forget(owned.root)
            w.body(1)
        self.finish(w, home, self.head(name, dims, formals), Function(name, home, dims, formals, cost=4))

    def make_count(self, name, home):
        """Recursion on integers, perhaps of two functions that call each other."""
        r = self.rng
        if r.random() < 0.5:
            self.texts[home].append("orch %s(n: i64, m: i64) -> i64 {\n  if n <= 1 { return (m + n) %% 101; }\n"
                                    "  return (%s(n - 1, m + 1) * %d + %s(n - 2, m)) %% 101;\n}" % (name, name, r.randint(2, 9), name))
        else:
            self.texts[home].append("orch %s(n: i64, m: i64) -> i64 {\n  if n <= 0 { return m %% 101; }\n  return %s_b(n - 1, m);\n}\n"
                                    "orch %s_b(n: i64, m: i64) -> i64 {\n  if n <= 0 { return -m %% 101; }\n  return %s(n - 1, m + %d);\n}"
                                    % (name, name, name, name, r.randint(1, 30)))
        formals = [(None, "n", "i64", None, 0, 6), (None, "m", "i64", None, -1000, 1000)]
        self.functions.append(Function(name, home, {}, formals, (-100, 100), "i64", cost=6))
