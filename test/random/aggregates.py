"""aggregates.py - variables of struct types, and arrays of tensors and of integers.

Owner      Aggregates, a part of the Writer of generate.py.
Tests      every random program
"""
from forms import Lin, Scalar, Structure, Tensor


class Aggregates:
    # ---- structs and arrays ----
    def see_struct(self, text, type_, argument, writable, kind, solid=False):
        """A struct variable; its leaves become visible by show_struct."""
        leaves, integers = [], []
        for path, element, shape in type_.leaves(argument):
            if shape is None:
                if kind != "entry":
                    integers.append(Scalar("%s.%s" % (text, path), "i64", -100, 100, "field" if writable else "let"))
                continue
            t = Tensor("%s.%s" % (text, path), element, shape, self.maker.new_root(), writable, "field", solid)
            leaves.append(t)
        return Structure(text, type_, argument, leaves, integers, writable, kind, self.loops)

    def show_struct(self, v):
        self.tensors += v.leaves
        self.scalars += v.integers
        self.structs.append(v)
        return v

    def fill_struct(self, v):
        """Every leaf is written; then they can be read."""
        for t in v.leaves:
            if v.kind in ("local", "var") and self.chance(0.25) and self.give_field(t):
                v.kind = "var"
                v.given.append(t)
            else:
                self.fill(t)
        for s in v.integers:
            self.emit("%s = (%s) %% 101;" % (s.text, self.int_expr(1)[0]))
        return self.show_struct(v)

    def give_field(self, t):
        """The field takes over a tensor of its own."""
        value = self.call_value(t.shape, t.element, (), 1)
        if value is None:
            return False
        name = self.fresh("g")
        self.emit("let %s = %s;" % (name, value))
        self.emit("%s = %s;" % (t.text, name))
        return True

    def struct_type(self):
        found = [t for t in self.maker.structs if self.home == "main" or t.home == "lib"]
        return self.pick(found) if found else None

    def struct_text(self, type_, argument):
        return "%s[%s]" % (("lib." if type_.home == "lib" and self.home == "main" else "") + type_.name, argument.text(self.rng))

    def new_struct(self, type_, argument):
        name = self.fresh("c")
        v = self.see_struct(name, type_, argument, True, "local")
        makers = [f for f in self.maker.callable(self) if f.result_type is type_ and f.cost * self.weight < 60]
        if makers and self.chance(0.5):
            f = self.pick(makers)
            args = self.arguments(f, result=[argument], reads_only=True)
            if args is not None:
                self.emit("let %s = %s(%s);" % (name, self.maker.name_of(f, self.home), ", ".join(args)))
                return self.show_struct(v)
        self.emit("let %s: %s;" % (name, self.struct_text(type_, argument)))
        return self.fill_struct(v)

    def small_extent(self):
        found = [e for t in self.tensors for e in t.shape if e.high <= 12] + [Lin.number(self.rng.randint(0, 5))]
        return self.pick(found)

    def do_struct(self):
        type_ = self.struct_type()
        if type_ is None:
            return self.do_update()
        k = self.pick([0, 1, 2, 3, 3, 3, 4, 5, 6, 7])
        known = [v for v in self.structs if v.type is type_]
        if k <= 2 or not known:
            self.new_struct(type_, self.small_extent())
            return
        v = self.pick(known)
        if k == 3:
            ended = [v for v in known if v.kind in ("local", "element") and v.loops == self.loops]
            if ended:
                v = self.pick(ended)
                way = self.rng.randint(0, 2)
                if way == 0:
                    self.emit("drop %s;" % v.text)
                elif way == 1:  # field by field
                    self.emit("drop %s;" % ", ".join(t.text for t in v.leaves))
                else:  # one field: the others stay
                    leaf = self.pick(v.leaves)
                    self.emit("drop %s;" % leaf.text)
                    self.forget(leaf.root)
                    return
                self.forget_struct(v)
        elif k in (4, 5) and v.kind == "var" and v.loops == self.loops:  # views from outside of a loop end in its first iteration
            self.renew_field(v, v.given)
        elif k == 4 and v.writable:
            makers = [f for f in self.maker.callable(self) if f.result_type is type_ and f.cost * self.weight < 60]
            if makers:
                f = self.pick(makers)
                args = self.arguments(f, result=[v.argument], avoid=v.roots(), reads_only=True)
                if args is not None:
                    self.emit("%s = %s(%s);" % (v.text, self.maker.name_of(f, self.home), ", ".join(args)))
        elif k == 5:
            name = self.fresh("v")
            self.emit("let %s = %s;" % (name, v.text))
            leaves = [Tensor(name + t.text[len(v.text):], t.element, t.shape, t.root, t.writable, "view") for t in v.leaves]
            self.show_struct(Structure(name, type_, v.argument, leaves, [], v.writable, "view", self.loops))
        elif k == 6:
            self.emit("print %s, %s;" % (self.int_expr(1)[0], self.pick(v.leaves).text))
        else:
            self.do_call()

    def do_cells(self):
        """An array of structs, filled element by element; then each is a struct of its own, and may end while the others stay."""
        r, type_ = self.rng, self.struct_type()
        if type_ is None or self.weight > 8:
            return self.do_array()
        name, count, argument = self.fresh("r"), r.randint(1, 3), self.small_extent()
        self.emit("let %s: array[%d] of %s;" % (name, count, self.struct_text(type_, argument)))
        element = lambda i: self.see_struct("%s[%s]" % (name, i), type_, argument, True, "element")
        is_loop = r.random() < 0.4
        if is_loop:
            i = self.fresh("i")
            saved = self.steady_loop("for %s in 0 .. %d {" % (i, count), count)
            self.scalars.append(Scalar(i, "i64", 0, count - 1, "loop"))
            self.fill_struct(element(i))
            self.close_steady_loop(saved, count)
        for i in range(count):
            (self.show_struct if is_loop else self.fill_struct)(element(i))
        if r.random() < 0.5:
            self.nested(2)
        for v in [v for v in self.structs if v.text.startswith(name + "[") and v.kind == "element"]:
            if r.random() < 0.5:
                self.end_cell(v)

    def end_cell(self, v):
        """It is dropped, or one of its fields is, or moved into a function, which gives it back."""
        t, way = self.pick(v.leaves), self.rng.randint(0, 2)
        if way == 0:
            self.emit("drop %s;" % v.text)
            self.forget_struct(v)
            return
        self.forget(t.root)
        if way == 1:
            self.emit("drop %s;" % t.text)
        else:
            self.end_element(t.text, t.element, t.shape)

    def forget_struct(self, v):
        for root in v.roots():
            self.forget(root)
        self.scalars = [s for s in self.scalars if not s.text.startswith(v.text + ".")]
        self.structs = [u for u in self.structs if u is not v]

    def do_array(self):
        """An array of tensors, filled element by element; or of integers."""
        r, name, count = self.rng, self.fresh("r"), self.rng.randint(1, 4)
        if r.random() < 0.5:
            self.emit("let %s: array[%d] of i64;" % (name, count))
            if r.random() < 0.6 and self.weight <= 8:
                i = self.fresh("i")
                saved = self.steady_loop("for %s in 0 .. dim(%s, 0) {" % (i, name), count)
                self.scalars.append(Scalar(i, "i64", 0, count - 1, "loop"))
                self.emit("%s[%s] = abs(%s) %% 101;" % (name, i, self.int_expr(2)[0]))
                self.close_steady_loop(saved, count)
            for i in range(count):
                self.scalars.append(Scalar("%s[%d]" % (name, i), "i64", 0, 100, "cell"))
            view = Tensor(name, "i64", [Lin.number(count)], self.maker.new_root(), False, "cells")
            if "i64" in self.maker.types:
                self.tensors.append(view)
            return
        element, shape = r.choice(self.maker.types), [self.small_extent() for _ in range(r.randint(1, 2))]
        self.emit("let %s: array[%d] of %s%s;" % (name, count, element, self.shape_text(shape)))
        root = self.maker.new_root()
        if r.random() < 0.5 and self.weight <= 8:
            i = self.fresh("i")
            saved = self.steady_loop("for %s in 0 .. %d {" % (i, count), count)
            self.scalars.append(Scalar(i, "i64", 0, count - 1, "loop"))
            self.fill(Tensor("%s[%s]" % (name, i), element, shape, root, True, "view"))
            self.close_steady_loop(saved, count)
        else:
            for i in range(count):
                self.fill(Tensor("%s[%d]" % (name, i), element, shape, root, True, "view"))
        for i in range(count):
            if r.random() < 0.6:
                self.tensors.append(Tensor("%s[%d]" % (name, i), element, shape, root, True, "view"))
        ended = ["%s[%d]" % (name, i) for i in range(count) if r.random() < 0.4]
        if ended and r.random() < 0.5:
            self.tensors = [t for t in self.tensors if t.text not in ended]
            if len(ended) > 1 and r.random() < 0.4:
                self.exchange(ended.pop(), ended.pop(), element, shape)
            for text in ended:
                self.end_element(text, element, shape)
            return
        whole = Tensor(name, element, [Lin.number(count)] + shape, root, True, "array")
        self.tensors.append(whole)

    def end_element(self, text, element, shape):
        """It is dropped, or moved into a function, which gives it back."""
        if self.rng.random() < 0.4:
            self.emit("drop %s;" % text)
            return
        y = self.declare(self.fresh("t"), element, shape)
        self.emit("let %s = %s(own %s);" % (y.text, self.maker.taker(self.home, element, len(shape)), text))
        self.tensors.append(y)
