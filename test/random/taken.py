"""taken.py - what was moved: functions that are given tensors and make them a `var` or a field, and names that take over a tensor.

Owner      Takers, a part of the Maker of generate.py; Taken, a part of the Writer.
Invariant  a name that was moved is forgotten, with its views; elements of arrays are moved into functions only.
Tests      every random program
"""
DIMS = ["M", "N", "P", "Q", "R", "S", "T", "U"]

# Bodies of a function that is given t, and returns it or what it makes of it.  {d} is its first dimension variable, {pair} a struct of two such tensors.
ONE = [
    "return t;",
    "{bump}(inout t, 2.5); return t;",
    "if {d} > 2 {{ return t; }} return {plus}(t, t);",
    "var a = t; {bump}(inout a, 1.5); return a;",
    "var a = t; for i in 0 .. {d} % 4 {{ a = {plus}(a, a); }} return a;",
    "var a = {plus}(t, t); if {d} > 2 {{ a = t; }} return a;",
    "var a = t; let k = a; a = {plus}(k, a); {mix}(k, inout a, 2); return a;",
    "let k = t; let y = {plus}(k, t); var a = t; {mix}(y, inout a, 5); a = {plus}(a, y); return a;",
    "var a = t; let y = {plus}(a, a); drop a; a = {plus}(y, y); {mix}(y, inout a, 1); return a;",
    "var a = {plus}(t, t); var b = t; for i in 0 .. 3 {{ let s = a; a = b; b = s; if i == {d} % 3 {{ {bump}(inout b, 2.5); }} }} {mix}(a, inout b, 1); return b;",
    "var a = {plus}(t, t); for i in 0 .. 3 {{ let s = {plus}(a, a); if i == {d} % 3 {{ a = t; {mix}(s, inout a, 2); break; }} }} return a;",
    "let p: {pair}; p.l = t; p.r = {plus}(p.l, p.l); let s = p.l; p.l = p.r; p.r = s; {bump}(inout p.l, 2.5); {mix}(p.l, inout p.r, 3); return {plus}(p.r, p.l);",
    "let p: {pair}; if {d} % 2 == 1 {{ p.l = t; p.r = {plus}(p.l, p.l); }} else {{ p.r = t; p.l = {plus}(p.r, p.r); }} {mix}(p.l, inout p.r, 2); var a = p.r; return a;",
    "let p: {pair}; p.l = t; p.r = {plus}(p.l, p.l); var c = p; let s = c.l; c.l = c.r; c.r = s; c.l = {plus}(c.l, c.r); return {plus}(c.l, c.r);",
    "var a = t; a = {plus}(a, a); var c = a; return {other}(own c);",
    "let p: {pair}; p.l = t; let q = {plus}(p.l, p.l); p.r = q; p.l = {other}(own p.r); p.r = {plus}(p.l, p.l); return {plus}(p.l, p.r);",
    "let p: {pair}; p.l = t; p.r = {plus}(p.l, p.l); {mix}(p.r, inout p.l, 2); return p.l;",
    "let p: {pair}; p.r = t; p.l = {plus}(p.r, p.r); if {d} % 2 == 1 {{ return p.l; }} {mix}(p.l, inout p.r, 3); return p.r;",
]

# The same of a function that is given t and u, of one type.
TWO = [
    "var a = t; var b = u; for i in 0 .. 3 {{ let s = a; a = b; b = s; if i == {d} % 3 {{ a = {plus}(a, b); }} }} {mix}(a, inout b, 2); return b;",
    "let p: {pair}; p.l = t; p.r = u; let s = p.l; p.l = p.r; p.r = s; {mix}(p.l, inout p.r, 2); return {plus}(p.r, p.l);",
    "var a = t; if {d} % 2 == 0 {{ a = u; }} else {{ {mix}(u, inout a, 2); }} return a;",
    "var a = {plus}(t, u); if {d} % 2 == 0 {{ a = u; {mix}(t, inout a, 2); }} else {{ a = t; {mix}(u, inout a, 2); }} return a;",
    "let k = u; {mix}(k, inout t, 4); if {d} > 3 {{ return t; }} return u;",
    "var a = {plus}(t, u); for i in 0 .. 4 {{ if i == 2 {{ a = t; break; }} if i == {d} % 3 {{ continue; }} a = {plus}(a, a); }} {mix}(u, inout a, 3); return a;",
    "let p: {pair}; p.l = t; p.r = u; if {d} > 3 {{ return p.l; }} {mix}(p.l, inout p.r, 2); return p.r;",
]


class Takers:
    def taker(self, home, element, rank):
        return self.taking(home, element, rank, ["t"], ONE, self.rng.randrange(len(ONE)))

    def taker_of_two(self, home, element, rank):
        return self.taking(home, element, rank, ["t", "u"], TWO, self.rng.randrange(len(TWO)))

    def taking(self, home, element, rank, names, bodies, way):
        dims, place = DIMS[:rank], "_lib" if home == "lib" else ""
        name = "%s_take%d_%d_%s%d%s" % (self.prefix, len(names), way, element, rank, place)
        if any("orch %s<" % name in text for text in self.texts[home]):
            return name
        type_, generics = "%s[%s]" % (element, ", ".join(dims)), ", ".join(dims)
        words = {stem: self.use_kernel(stem + str(rank), [element], home) for stem in ("plus", "bump", "mix")}
        if "{pair}" in bodies[way]:
            words["pair"] = "%s[%s]" % (self.pair(home, element, rank, place, type_, generics), generics)
        if "{other}" in bodies[way]:  # one that does not call this one
            words["other"] = self.taking(home, element, rank, names, bodies, self.rng.randrange(14))
        formals = ", ".join("own %s: %s" % (n, type_) for n in names)
        body = bodies[way].format(d=dims[0], **words).replace("; ", ";\n  ")
        self.texts[home].append("orch %s<%s>(%s) -> %s {\n  %s\n}" % (name, generics, formals, type_, body))
        return name

    def pair(self, home, element, rank, place, type_, generics):
        name = "%s_pair_%s%d%s" % (self.prefix, element, rank, place)
        if not any("struct %s<" % name in text for text in self.texts[home]):
            self.texts[home].append("struct %s<%s> { l: %s; r: %s; }" % (name, generics, type_, type_))
        return name


class Taken:
    def can_be_taken(self, t):
        """By a `var` or a field: a part of an array cannot."""
        return self.can_end(t) and "[" not in t.text

    def do_adopt(self):
        """A `var` takes over a tensor, or a field of a struct; it changes in a loop, and may take over others there."""
        found = [t for t in self.tensors if self.can_be_taken(t) and not any(n in self.maker.decided_names for e in t.shape for n in e.terms)]
        if not found or self.weight > 4:
            return
        t = self.pick(found)
        v = self.declare(self.fresh("w"), t.element, t.shape)
        v.kind = "var"
        self.forget(t.root)
        self.emit("var %s = %s;" % (v.text, t.text))
        self.tensors.append(v)
        if self.chance(0.3):
            return
        times = self.rng.randint(0, 3)
        saved = self.loop("for %s in 0 .. %d {" % (self.fresh("i"), times), times)
        self.nested(1)
        if self.chance(0.6):
            self.take_new(v)
        if self.chance(0.6):
            self.change_one(v, [v])
        self.nested(1)
        self.close_loop(saved, times)
        self.renew(v)

    def take_new(self, v):
        """The `var` takes over a tensor that is made here, on one path perhaps."""
        t = self.new_tensor(v.shape, v.element)
        self.forget(t.root)
        self.emit_perhaps("%s = %s;" % (v.text, t.text), True)
        self.renew(v)

    def do_exchange(self):
        """Two tensors of one type are moved into a function, which gives one back."""
        found = [t for t in self.tensors if self.can_end(t)]
        if not found:
            return
        t = self.pick(found)
        self.forget(t.root)
        u = self.new_tensor(t.shape, t.element)
        self.forget(u.root)
        self.exchange(t.text, u.text, t.element, t.shape)

    def exchange(self, first, second, element, shape):
        y = self.declare(self.fresh("t"), element, shape)
        taker = self.maker.taker_of_two(self.home, element, len(shape))
        self.emit("let %s = %s(own %s, own %s);" % (y.text, taker, first, second))
        self.tensors.append(y)
