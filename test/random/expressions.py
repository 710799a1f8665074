"""expressions.py - random scalars, conditions and indices, with their bounds.

Idea       each function gives the text and the least and the greatest value; what would leave its bounds is not written.
Owner      Expressions, a part of the Writer of generate.py.
Tests      every random program
"""
from forms import BOUND, INTEGERS, Lin, Scalar, trunc_div


class Expressions:
    # ---- integers ----
    def int_leaf(self):
        r, choices = self.rng, []
        for s in self.scalars + self.maker.globals(self.home):
            if s.type == "i64":
                choices.append((s.text, s.low, s.high))
        k = r.randint(0, 9)
        if k < 4 and choices:
            return r.choice(choices)
        if k == 4:
            element = self.await_element(INTEGERS)
            if element:
                return element[:3]
        if k == 5:
            t = [t for t in self.tensors if t.kind != "grid"]
            if t:
                t = r.choice(t)
                d = r.randrange(t.rank())
                return "dim(%s, %d)" % (t.text, d), t.shape[d].low, t.shape[d].high
        if k == 6:
            call = self.scalar_call("i64")
            if call:
                return call
        n = r.choice([0, 1, 2, 3, 5, 7, 10, 64, 1000, 65536]) if r.random() < 0.6 else r.randint(0, 200)
        text = hex(n) if r.random() < 0.1 else "%d_%03d" % (n // 1000, n % 1000) if n >= 1000 else str(n)
        return text, n, n

    def int_expr(self, depth=2, limit=BOUND):
        """text that is safe as an operand, least, greatest"""
        r = self.rng
        if depth == 0 or r.random() < 0.25:
            return self.int_leaf()
        a, al, ah = self.int_expr(depth - 1, limit)
        op = r.choice(["+", "-", "*", "/", "%", "min", "max", "abs", "neg", "ceil_div", "log2", "<<", ">>", "~", "bits", "select", "i64"])
        if op == "select":
            b, bl, bh = self.int_expr(depth - 1, limit)
            return "select(%s, %s, %s)" % (self.condition(depth - 1), a, b), min(al, bl), max(ah, bh)
        if op == "i64":
            return self.integer_of(a, al, ah)
        if op == "~":
            return "~%s" % a, ~ah, ~al
        if op in ("<<", ">>"):
            by, least, most = self.shift(limit)
            ends = [x << by if op == "<<" else x >> by for x in (al, ah) for by in (least, most)]
            return ("(%s %s %s)" % (a, op, by), min(ends), max(ends)) if max(map(abs, ends)) <= limit else (a, al, ah)
        if op == "abs":
            return "abs(%s)" % a, 0 if al <= 0 <= ah else min(abs(al), abs(ah)), max(abs(al), abs(ah))
        if op == "neg":
            return "(-%s)" % a, -ah, -al
        if op == "log2":
            return "log2(max(1, %s))" % a, 0, max(0, max(1, ah).bit_length() - 1)
        if op in "/%" or op == "ceil_div":
            k = r.choice([1, 2, 3, 4, 7, 10, -2, -3, -7])
            if op == "ceil_div":
                k = abs(k)
                return "ceil_div(%s, %d)" % (a, k), -(-al // k), -(-ah // k)
            if op == "/":
                ends = [trunc_div(al, k), trunc_div(ah, k)]
                return "(%s / %s)" % (a, k if k > 0 else "(%d)" % k), min(ends), max(ends)
            m = abs(k) - 1
            return "(%s %% %s)" % (a, k if k > 0 else "(%d)" % k), 0 if al >= 0 else -m, 0 if ah <= 0 else m
        b, bl, bh = self.int_expr(depth - 1, limit)
        if op == "bits":
            return self.bits((a, al, ah), (b, bl, bh), limit)
        if op == "min":
            return "min(%s, %s)" % (a, b), min(al, bl), min(ah, bh)
        if op == "max":
            return "max(%s, %s)" % (a, b), max(al, bl), max(ah, bh)
        ends = [x + y for x in (al, ah) for y in (bl, bh)] if op == "+" else \
            [x - y for x in (al, ah) for y in (bl, bh)] if op == "-" else [x * y for x in (al, ah) for y in (bl, bh)]
        if max(map(abs, ends)) > limit:
            return a, al, ah
        return "(%s %s %s)" % (a, op, b), min(ends), max(ends)

    def integer_of(self, a, low, high):
        k = self.rng.randint(0, 2)
        if k == 0:
            return "i64(%s)" % self.condition(0), 0, 1
        if k == 1 and max(map(abs, (low, high))) < 10 ** 9:
            return "i64(f64(%s) / 4)" % a, trunc_div(low, 4), trunc_div(high, 4)
        text, _, most = self.real_expr(1)
        return "i64(%s)" % text, -int(most) - 1, int(most) + 1

    def shift(self, limit):
        """How far: text, least, greatest."""
        text, low, high = self.int_expr(0, limit)
        if self.chance(0.3) and any(c.isalpha() for c in text):
            mask = self.rng.choice([1, 3, 7])
            return "(%s & %d)" % (text, mask), 0, mask
        by = self.rng.choice([0, 1, 1, 2, 3, 5, 20, 62, 63])
        return str(by), by, by

    def bits(self, a, b, limit):
        """Some need no parentheses inside: the operators have an order."""
        r, mask = self.rng, self.rng.choice([0, 1, 7, 255, 4096, -8, -1])
        form = r.choice(["(%s | %s)", "(%s ^ %s)", "(%s & %s)", "(%s | %s & {m})", "(%s ^ %s | {m} & 3)", "(%s & {m} ^ %s)", "(%s >> 1 & %s)",
                         "(%s - 1 & %s)", "(~%s & %s + 1)"])
        bits = max((x if x >= 0 else ~x).bit_length() for x in a[1:] + b[1:] + (mask, 7)) + 1
        if 1 << bits > limit:
            return a
        both = all(low >= (1 if "-" in form else 0) for low in (a[1], b[1])) and "~" not in form and "-" not in str(mask)
        return form.replace("{m}", str(mask)) % (a[0], b[0]), 0 if both else -(1 << bits), (1 << bits) - 1

    # ---- reals and bools ----
    def real_expr(self, depth=2):
        """text, type, greatest magnitude"""
        r = self.rng
        if depth == 0 or r.random() < 0.3:
            reals = [s for s in self.scalars + self.maker.globals(self.home) if s.type in ("f64", "f32")]
            if reals and r.random() < 0.5:
                s = r.choice(reals)
                return s.text, s.type, s.high
            if r.random() < 0.3:
                element = self.await_element(("f32", "f64", "f16"))
                if element:
                    return element[0], "f32" if element[3] != "f64" else "f64", 112
            return r.choice(["0.5", "2.5", "1.0e2", "0.25", "3.75", "1e1", "0.1"]), "f64", 100
        a, at, am = self.real_expr(depth - 1)
        op = r.choice(["+", "-", "*", "int", "/", "sqrt", "abs", "min", "neg", "whole", "select", "cast", "curve"])
        if op == "whole":
            return "%s(%s)" % (r.choice(["floor", "ceil", "round"]), a), "f64", am + 1
        if op == "curve":  # the last bits are the library's own
            curve = r.choice(["exp(min(%s, 20))", "log(abs(%s) + 0.5)", "pow(abs(%s), 1.5)", "sin(%s)", "cos(%s)", "tanh(%s)"]) % a
            most = 5 * 10 ** 8 if curve[0] == "e" else am ** 1.5 + 1 if curve[0] == "p" else 30
            return ("(round(%s * 1024) / 1024)" % curve, "f64", most) if most < 10 ** 9 else (a, at, am)
        if op == "cast":
            to = r.choice(["f32", "f64"])
            b = self.int_expr(1, 10 ** 6) if r.random() < 0.3 else None
            if b and max(map(abs, b[1:])) <= 10 ** 6:
                return "%s(%s)" % (to, b[0]), to, max(map(abs, b[1:]))
            return "%s(%s)" % (to, a), to, am + 1
        if op == "select":
            b, bt, bm = self.real_expr(depth - 1) if r.random() < 0.7 else ("3", "i64", 3)
            return "select(%s, %s, %s)" % (self.condition(depth - 1), a, b), "f64" if "f64" in (at, bt) else "f32", max(am, bm)
        if op == "int":
            b, bl, bh = self.int_expr(1, 10 ** 6)
            if max(abs(bl), abs(bh)) > 10 ** 6:
                return a, at, am
            return "(%s + %s)" % (a, b), at, am + max(abs(bl), abs(bh))
        if op == "/":
            return "(%s / %s)" % (a, r.choice(["2", "4.0", "3", "8.0"])), at if r.random() < 0 else "f64", am
        if op == "sqrt":
            return "sqrt(abs(%s))" % a, "f64", am + 1
        if op == "abs":
            return "abs(%s)" % a, at, am
        if op == "neg":
            return "(-%s)" % a, at, am
        b, bt, bm = self.real_expr(depth - 1)
        wide = "f64" if "f64" in (at, bt) else "f32"
        if op == "min":
            return "%s(%s, %s)" % (r.choice(["min", "max"]), a, b), wide, max(am, bm)
        magnitude = am * bm if op == "*" else am + bm
        if magnitude > 10 ** 9:
            return a, at, am
        return "(%s %s %s)" % (a, op, b), wide, magnitude

    def condition(self, depth=2):
        r, k = self.rng, self.rng.randint(0, 9)
        if depth and k < 3:
            return "(%s %s %s)" % (self.condition(depth - 1), r.choice(["&&", "||"]), self.condition(depth - 1))
        if depth and k == 3:
            return "!%s" % self.condition(0) if r.random() < 0.5 else "!(%s)" % self.condition(depth - 1)
        if depth and k == 9 and r.random() < 0.3:
            return r.choice(["select(%s, %s, %s)" % tuple(self.condition(depth - 1) for _ in range(3)), "bool(%s)" % self.int_expr(1)[0],
                             "bool(%s)" % self.real_expr(1)[0]])
        bools = [s for s in self.scalars + self.maker.globals(self.home) if s.type == "bool"]
        if k == 4 and bools:
            return r.choice(bools).text
        if k == 5:
            element = self.await_element(("bool",))
            if element:
                return "(%s)" % element[0] if depth == 0 else element[0]
        op = r.choice(["==", "!=", "<", "<=", ">", ">="])
        if k == 6:
            return "(%s %s %s)" % (self.real_expr(1)[0], op, self.real_expr(1)[0])
        for _ in range(4):  # true in some runs and false in others, or the compiler may know better what stands behind it
            (a, al, ah), (b, bl, bh) = self.int_expr(1), self.int_expr(1)
            if not any(c.isalpha() for c in a + b) or al <= bh and bl <= ah and (al < ah or bl < bh) and ah > bl and bh > al:
                return "(%s %s %s)" % (a, op, b)
        return r.choice(["true", "false", "(%d %s %d)" % (r.randint(0, 3), op, r.randint(0, 3))])

    def await_element(self, types):
        """text, least, greatest, element type; or None"""
        found = [t for t in self.tensors if t.element in types and all(e.low >= 1 for e in t.shape) and t.kind not in ("array", "cells")]
        if not found or self.maker.awaits <= 0:
            return None
        t = self.pick(found)
        self.maker.awaits -= 1
        index = ", ".join(self.point(e, simple=self.chance(0.6)) for e in t.shape)
        return "await %s[%s]" % (t.text, index), 0, 1 if t.element == "bool" else 112, t.element

    def scalar_call(self, type_):
        found = [f for f in self.maker.callable(self) if isinstance(f.result, tuple) and f.result_type == type_ and f.cost * self.weight < 60]
        if not found or self.maker.calls <= 0:
            return None
        f = self.pick(found)
        self.maker.calls -= 1
        args = self.arguments(f, simple=True)
        if args is None:
            return None
        return "%s(%s)" % (self.maker.name_of(f, self.home), ", ".join(args)), f.result[0], f.result[1]

    # ---- indices ----
    def point(self, extent, simple=False):
        """An index in 0 .. extent - 1; the extent is at least 1."""
        r = self.rng
        loops = [s for s in self.scalars if s.below is not None and s.below.key == extent.key]
        k = r.randint(0, 9)
        if loops and k < 5:
            s = r.choice(loops)
            return s.text if k < 4 else "%s - 1 - %s" % (extent.text(r), s.text)
        if k == 5 and not extent.is_number():
            return extent.plus(-1).text(r)
        if k == 6 and not simple:
            text, low, _ = self.int_expr(1)
            if self.chance(0.3):
                return "%s & %d" % (text, (1 << extent.low.bit_length() - 1) - 1)
            return "%s %% %s" % (text if low >= 0 else "abs(%s)" % text, extent.operand(r))
        if k == 7 and not simple:
            text, low, _ = self.int_leaf()
            return "min(%s, %s)" % (text if low >= 0 else "abs(%s)" % text, extent.plus(-1).text(r))
        return str(r.randint(0, extent.low - 1))

    def span(self, extent):
        """A range of it: text, width as Lin.  Lines that it needs are written first."""
        r, k = self.rng, self.rng.randint(0, 11)
        if k == 0:
            return ":", extent
        if k == 1:
            return "0 .. %s" % extent.text(r), extent
        if k == 2:
            low = r.randint(0, extent.low)
            return "%d .. %s" % (low, extent.text(r)), extent.plus(-low)
        if k == 3:
            high = r.randint(0, extent.low)
            return "0 .. %s" % extent.plus(-high).text(r), extent.plus(-high)
        if k == 4 and self.chance(0.5):
            h = self.define_half(extent)
            return r.choice([("0 .. %s" % h.text(), h), ("%s .. 2 * %s" % (h.text(), h.text()), h), ("%s +: %s" % (h.text(), h.text()), h)])
        if k == 5:
            loops = [s for s in self.scalars if s.below is not None and s.below.key == extent.key]
            if loops:
                s = r.choice(loops)
                return "%s +: 1" % s.text, Lin.number(1)
        if k == 7:
            return self.stepped(extent)
        width = r.randint(1 if extent.low else 0, extent.low)
        if self.chance(0.06):
            width = 0
        if k == 6:
            text, low, _ = self.int_expr(1)
            start = "%s %% %s" % (text if low >= 0 else "abs(%s)" % text, extent.plus(1 - width).operand(r))
            return "%s +: %d" % (start, width), Lin.number(width)
        low = r.randint(0, extent.low - width)
        return r.choice(["%d .. %d" % (low, low + width), "%d +: %d" % (low, width)]), Lin.number(width)

    def define_half(self, extent):
        name = self.fresh("h")
        self.emit("let %s = %s %s;" % (name, extent.operand(self.rng), self.rng.choice(["/ 2", ">> 1"])))
        self.scalars.append(Scalar(name, "i64", extent.low // 2, extent.high // 2))
        return Lin({name: 1}, 0, extent.low // 2, extent.high // 2)

    def stepped(self, extent):
        """Every s-th index, upwards or downwards, of all of it or behind the first few; a step may be a name."""
        r, name, step = self.rng, self.fresh("n"), self.rng.choice([-3, -2, -1, 2, 3, 4])
        low = r.randint(0, extent.low) if step > 0 else 0
        rest = extent.plus(-low)
        self.emit("let %s = ceil_div(%s, %d);" % (name, rest.text(r), abs(step)))
        width = Lin({name: 1}, 0, -(-rest.low // abs(step)), -(-rest.high // abs(step)))
        self.scalars.append(Scalar(name, "i64", width.low, width.high))
        written = str(step)
        if self.chance(0.3):
            written = self.fresh("s")
            self.emit("let %s = %d;" % (written, step))  # of a var the checker does not know that it is this number
            self.scalars.append(Scalar(written, "i64", step, step))
        if step < 0:
            return r.choice([": step %s", extent.plus(-1).text(r) + " .. -1 step %s"]) % written, width
        return (": step %s" if low == 0 and self.chance(0.5) else "%d .. %s step %%s" % (low, extent.text(r))) % written, width

    def place_of(self, width, extent):
        """An index of a dimension of extent whose width is the form given, or None."""
        r, options = self.rng, []
        if width.key == extent.key:
            options += [":", ":", "0 .. %s" % extent.text(r), "0 +: %s" % extent.text(r)]
            if self.chance(0.3):
                last = extent.plus(-1).text(r)
                options += [": step -1", "%s .. -1 step -1" % last, "%s +: %s step -1" % (last, extent.text(r))]
        step = r.randint(2, 3)
        reach = max(0, width.high - 1) * step
        if reach < extent.low and self.chance(0.4):
            options.append("%d +: %s step %d" % (r.randint(0, extent.low - 1 - reach), width.text(r), step))
            options.append("%d +: %s step -%d" % (r.randint(reach, extent.low - 1), width.text(r), step))
        if width.high <= extent.low:
            low = r.randint(0, extent.low - width.high)
            options.append("%d +: %s" % (low, width.text(r)))
            if not extent.is_number() or not width.is_number():
                options.append("%s +: %s" % (extent.plus(width.times(-1)).text(r), width.text(r)))
            if low == 0 or width.is_number():
                options.append("%d .. %s" % (low, width.plus(low).text(r)))
        for s in self.scalars:
            if s.below is not None and s.below.key == extent.key and isinstance(s.kind, tuple) and s.kind[0] == "piece" \
                    and Lin({s.kind[1]: 1}, 0, 0, 0).key == width.key:
                options.append("%s +: %s" % (s.text, width.text()))
        return r.choice(options) if options else None
