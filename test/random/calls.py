"""calls.py - calls of kernels and functions with arguments that fit, where what is written overlaps nothing.

Owner      Calls, a part of the Writer of generate.py.
Tests      every random program
"""
from forms import Lin, StructType


class Calls:
    def attribute(self):
        k = self.rng.randint(0, 30)
        if k == 2:
            return "@at(%d) " % self.rng.randint(-2, 8)
        if k == 3:
            t = self.subregion()
            return "@at(%s) " % t.text if t else ""
        return "@priority(%d) " % self.rng.randint(-3, 9) if k == 0 else '@name("step") ' if k == 1 else ""

    def distribution(self, shape):
        """Before the `let` of a tensor of that shape."""
        r = self.rng
        return "@dist(%s) " % ", ".join(r.choice(["1", "2", "3", "ranks()"]) for _ in shape) if r.random() < 0.15 else ""

    def call_line(self, stem, types, ins, out, scalars, first=False):
        name = self.kernel_name(stem, *types)
        inner = ins + scalars
        if stem.startswith("ramp") or stem.startswith("fill") or len(types) > 1 or self.changes(out) or self.chance(0.7):
            args = (["out " + out] + scalars) if first else ins + ["out " + out] + scalars
            self.emit("%s%s(%s);" % (self.attribute(), name, ", ".join(args)))
        else:
            self.emit("%s%s = %s(%s);" % (self.attribute(), out, name, ", ".join(inner)))

    def changes(self, text):
        """Would an assignment to it be another tensor, and end its views?"""
        return any(t.text == text and (t.kind == "var" or any(t in v.given for v in self.structs)) for t in self.tensors)

    # ---- calls that have a value ----
    def call_value(self, shape, element, avoid, depth):
        """A call whose result is a new tensor of that shape; what it reads is none of avoid."""
        r, rank = self.rng, len(shape)
        functions = [f for f in self.maker.callable(self) if isinstance(f.result, list) and f.result_type == element
                     and len(f.result) == rank and f.cost * self.weight < 60]
        if functions and self.chance(0.6) and self.maker.calls > 0:
            f = self.pick(functions)
            self.maker.calls -= 1
            args = self.arguments(f, result=shape, avoid=avoid, reads_only=True)
            if args is not None:
                return "%s(%s)" % (self.maker.name_of(f, self.home), ", ".join(args))
        stem = r.choice(["copy", "plus", "gate", "plus"]) + str(rank)
        if rank == 1 and shape[0].key == Lin.number(1).key:
            stem = r.choice(["total1", "total2"])
        elif rank == 2 and r.random() < 0.2:
            stem = r.choice(["flip", "outer"])
        name = self.kernel_name(stem, element)
        if stem == "flip":
            return "%s(%s)" % (name, self.operand(shape[::-1], element, avoid, depth))
        if stem == "outer":
            return "%s(%s, %s)" % (name, self.operand(shape[:1], element, avoid, depth), self.operand(shape[1:], element, avoid, depth))
        if stem.startswith("total"):
            source = self.subregion(element=element, rank=int(stem[-1]), avoid=avoid)
            return "%s(%s)" % (name, source.text) if source else None
        a = self.operand(shape, element, avoid, depth)
        if stem.startswith("copy"):
            return "%s(%s)" % (name, a)
        b = self.operand(shape, element, avoid, depth)
        if stem.startswith("gate"):
            return "%s(%s, %s, %s, %s)" % (name, a, b, self.condition(1), self.real_expr(1)[0])
        return "%s(%s, %s)" % (name, a, b)

    def arguments(self, f, result=None, avoid=(), simple=False, reads_only=False):
        """The arguments of a function of the program: what is written overlaps nothing; None if they cannot be found."""
        dims, args, used, written = {}, [], list(avoid), list(avoid)
        if reads_only and any(d in ("out", "inout", "acc", "own") for d, *_ in f.formals):
            return None
        if result is not None:
            for want, have in zip(f.result, result):
                if not self.match_extent(want, have, f, dims):
                    return None
        taken = []
        for direction, name, type_, extents, low, high in f.formals:
            if extents is None:
                if name in dims:  # a scalar that the shape of the result has fixed
                    text, value_low, value_high = dims[name].text(self.rng), dims[name].low, dims[name].high
                elif type_ == "bool":
                    args.append(self.condition(1))
                    continue
                elif type_ in ("f64", "f32"):
                    text, _, magnitude = self.real_expr(1)
                    args.append(text if magnitude <= 10 ** 6 else "0.5")
                    continue
                else:
                    text, value_low, value_high = self.int_expr(1) if self.chance(0.5) else (str(self.rng.randint(low, high)), low, high)
                    if value_low < low or value_high > high:
                        text = self.bounded(text, value_low, low, high)
                        value_low, value_high = low, high
                if value_low < low or value_high > high:
                    return None
                args.append(text)
                continue
            if direction == "host":
                hosts = [t for t in self.maker.hosts_of(self) if t.element == type_ and t.shape[0].key == extents[0].key]
                if not hosts:
                    return None
                args.append(self.pick(hosts).text)
                continue
            writes = direction in ("out", "inout", "acc", "own")
            bad = used if writes else written
            if isinstance(type_, StructType):
                v = self.struct_argument(f, dims, direction, type_, extents, bad)
                if v is None:
                    return None
                (written if writes else taken).extend(v.roots())
                used.extend(v.roots())
                args.append(("" if direction in ("in", None) else direction + " ") + v.text)
                if direction == "own":
                    self.forget_struct(v)
                continue
            t = self.argument(f, dims, direction, type_, extents, bad)
            if t is None:
                return None
            (written if writes else taken).append(t.root)
            used.append(t.root)
            args.append(("" if direction in ("in", None) else direction + " ") + t.text)
            if direction == "own":
                self.forget(t.root)
        for d, (low, high) in f.dims.items():
            if d not in dims or dims[d].low < low or dims[d].high > high:
                return None
        return args

    def bounded(self, text, value_low, low, high):
        """An expression in low .. high made of any other."""
        inner = "%s %% %d" % (text if value_low >= 0 else "abs(%s)" % text, high - low + 1)
        return inner if low == 0 else "%d + %s" % (low, inner) if low > 0 else "%s - %d" % (inner, -low)

    def match_extent(self, want, have, f, dims):
        """want is a form of one dimension variable or scalar of f, with factor 1; have is the caller's."""
        if want.is_number():
            return want.key == have.key
        (name, factor), = want.terms.items()
        if factor != 1:
            return False
        value = have.plus(-want.const)
        if name in dims:
            return dims[name].key == value.key
        limits = f.dims.get(name) or next(((low, high) for _, n, _, e, low, high in f.formals if n == name and e is None), None)
        if limits is None or value.low < limits[0] or value.high > limits[1]:
            return False
        dims[name] = value
        return True

    def argument(self, f, dims, direction, element, extents, avoid):
        r, writes = self.rng, direction in ("out", "inout", "acc")
        if direction == "own":
            shape = self.concrete(f, dims, extents)
            return self.new_tensor(shape, element) if shape and self.chance(0.5) else self.movable(f, dims, element, extents)
        for _ in range(6):
            if all(n in dims for e in extents for n in e.terms):
                break
            t = self.subregion(writes, element, len(extents), avoid)
            if t is None:
                break
            attempt = dict(dims)
            if all(self.match_extent(w, h, f, attempt) for w, h in zip(extents, t.shape)):
                dims.update(attempt)
                return t
        shape = self.concrete(f, dims, extents)
        if shape is None:
            return None
        t = self.region_like(shape, element, avoid, writes) if r.random() < 0.9 else None
        return t or self.new_tensor(shape, element)

    def struct_argument(self, f, dims, direction, type_, extents, avoid):
        found = [v for v in self.structs if v.type is type_ and not set(v.roots()) & set(avoid) and (v.writable or direction in ("in", None))
                 and (direction != "own" or v.kind in ("local", "element") and v.loops == self.loops)]
        self.rng.shuffle(found)
        for v in found:
            attempt = dict(dims)
            if self.match_extent(extents[0], v.argument, f, attempt):
                dims.update(attempt)
                return v
        shape = self.concrete(f, dims, extents)
        return self.new_struct(type_, shape[0]) if shape else None

    def concrete(self, f, dims, extents):
        """The shape, where dimension variables not yet bound get a value."""
        shape = []
        for e in extents:
            total = Lin.number(e.const)
            for n, c in e.terms.items():
                if n not in dims:
                    limits = f.dims.get(n)
                    if limits is None:
                        return None
                    dims[n] = Lin.number(self.rng.randint(*limits))
                total = total.plus(dims[n].times(c))
            shape.append(total)
        return shape

    def movable(self, f, dims, element, extents):
        for t in sorted(self.tensors, key=lambda t: t.kind != "field"):
            if self.can_end(t) and t.element == element and t.rank() == len(extents) and self.chance(0.5):
                attempt = dict(dims)
                if all(self.match_extent(w, h, f, attempt) for w, h in zip(extents, t.shape)):
                    dims.update(attempt)
                    return t
        shape = self.concrete(f, dims, extents)
        return self.new_tensor(shape, element) if shape else None
