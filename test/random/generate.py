"""generate.py - random valid .pto programs.

Idea       a program is written from the top, and at each point the generator knows every name: the shape of a tensor as a linear form
           of the names that are visible, the least and the greatest value of an integer.  So indices are in bounds, extents that have
           to be equal are the same form, and a tensor is filled completely where it is made, for all sizes within the bounds.
Owner      Writer is one function being written, Maker is one entry with the functions that it calls, File collects entries.
Invariant  a program is valid by construction; driver.py drops the few whose arguments overlap (the interpreter says so).
Tests      test/random/driver.py runs them; break_rules.py breaks one rule at a random place.
"""
import random

import random_kernels as library
from aggregates import Aggregates
from calls import Calls
from carried import Carried
from control import Control
from decided import Decided, DecidedFunctions
from expressions import Expressions
from forms import ALL_TYPES, MAX_RANK, Lin, Scalar, StructType, Tensor, prod_high
from functions import Functions
from inplace import InPlace
from jumps import Jumps
from regions import Regions
from shapes import Shapes
from statements import Statements
from taken import Taken, Takers


class Writer(Expressions, Regions, Calls, Aggregates, Statements, Control, Jumps, Carried, InPlace, Decided, Shapes, Taken):
    """One function body: lines, and what is visible where the next line goes."""

    def __init__(self, maker, home):
        self.maker, self.rng, self.home = maker, maker.rng, home
        self.lines, self.indent = [], 1
        self.tensors, self.scalars, self.grids, self.structs = [], [], [], []
        self.loops = 0
        self.in_loop_here = False
        self.weight = 1          # how often this line may run, roughly
        self.broken = []         # for each loop around: roots that are gone behind it where a `break` leaves it
        self.steady = 0          # loops around that have to run to their end
        self.may_return = None   # a text that leaves the function, once every out is written
        self.budget = 0

    # ---- text ----
    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def fresh(self, stem):
        return self.maker.fresh(stem)

    def open(self, text):
        self.emit(text)
        self.indent += 1
        return (list(self.tensors), list(self.scalars), list(self.grids), list(self.structs))

    def close(self, saved, text="}"):
        """The names of the block go; what was dropped or moved in it is gone outside too."""
        alive = set(map(id, self.tensors))
        tensors, scalars, grids, structs = saved
        ended = set(map(id, structs)) - set(map(id, self.structs))
        self.structs = [v for v in structs if id(v) not in ended]
        gone = tuple(v.text + "." for v in structs if id(v) in ended)
        self.scalars = [s for s in scalars if not s.text.startswith(gone)]
        self.tensors = [t for t in tensors if id(t) in alive]
        self.grids = [g for g in grids if any(t.root == g[1].root for t in self.tensors)]
        self.indent -= 1
        self.emit(text)

    def rank(self):
        """Mostly 1 to 3, now and then as many as there may be."""
        return self.maker.rank()

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, items):
        return self.rng.choice(items)

    # ---- statements ----
    def body(self, count):
        for _ in range(count):
            self.statement()

    STATEMENTS = [("update", 12), ("make", 6), ("view", 4), ("tiles", 4), ("rows", 4), ("neighbours", 3), ("branch", 4), ("repeat", 3),
                  ("match", 2), ("scalar", 5), ("assign", 4), ("show", 4), ("claim", 2), ("call", 6), ("drop", 2), ("block", 2),
                  ("gather", 3), ("library", 2), ("leave", 2), ("halo", 2), ("twin", 2), ("pieces", 3), ("product", 2), ("solid", 2),
                  ("tile_ranges", 2), ("struct", 9), ("array", 3), ("escape", 4), ("partly", 3), ("wide", 2), ("carried", 4),
                  ("structs", 4), ("give", 3), ("inplace", 6), ("stir", 2), ("combine", 3), ("slide", 2), ("decided", 6),
                  ("turned", 5), ("cells", 6), ("adopt", 5), ("exchange", 3)]

    def statement(self):
        if self.maker.size <= 0:
            return
        self.maker.size -= 1
        self.maker.point_reached(self)
        names, weights = self.maker.weights
        getattr(self, "do_" + self.rng.choices(names, weights)[0])()

    def nested(self, most=3):
        self.body(self.rng.randint(1, most))


class Maker(Functions, DecidedFunctions, Takers):
    """One entry, with the functions that it calls and the values that it is run with."""

    def __init__(self, rng, prefix, file, breaker=None):
        self.rng, self.prefix, self.file = rng, prefix, file
        self.count, self.roots = 0, 0
        self.functions, self.texts = [], {"main": [], "lib": []}
        self.types = rng.sample(ALL_TYPES, 2) if rng.random() < 0.5 else rng.sample(["f32", "f64", "i32", "i64"], 2)
        self.scope_globals = {"main": [], "lib": []}
        self.decided_names = set()  # of extents that a run decided: a var that begins with one may have any other there
        self.settings, self.size, self.awaits, self.calls = {}, 0, 0, 0
        self.breaker = breaker
        self.structs = []
        self.often = often = rng.sample([n for n, _ in Writer.STATEMENTS], 5)  # a few kinds of statements make up half of a program
        names, weights = zip(*Writer.STATEMENTS)
        self.weights = names, [w + 30 * (n in often) for n, w in zip(names, weights)]

    def point_reached(self, writer):
        if self.breaker:
            self.breaker.point(self, writer)

    def fresh(self, stem):
        self.count += 1
        name = "%s%d" % (stem, self.count)
        return self.fresh(stem) if name in ("i64", "f64", "f32") else name  # where a name of the program is that, there is no cast

    def new_root(self):
        self.roots += 1
        return self.roots

    def other_type(self, element):
        return self.types[0] if element == self.types[1] else self.types[1]

    def globals(self, home):
        return self.scope_globals[home]

    def callable(self, writer):
        return [f for f in self.functions if writer.home == "main" or f.home == "lib"]

    def hosts_of(self, writer):
        return getattr(writer, "hosts", [])

    def name_of(self, f, home):
        return "lib." + f.name if home == "main" and f.home == "lib" else f.name

    def changer(self, home):
        """A function that changes a `var` between -1000 and 1000 of its caller, and gives what it was."""
        name = "%s_change_%s" % (self.prefix, home)
        if not any(name in text for text in self.texts[home]):
            self.texts[home].append("orch %s(inout n: i64, by: i64) -> i64 {\n  let was = n;\n  n = (n + by %% 1001) %% 1001;\n"
                                    "  if by > 3 { %s(inout n, -by); }\n  return was;\n}" % (name, name))
        return name

    def use_kernel(self, stem, types, home):
        return self.file.use_kernel(stem, tuple(types), home)

    def rank(self):
        return self.rng.choice([1, 1, 2, 2, 3]) if self.rng.random() < 0.85 else self.rng.randint(4, MAX_RANK)

    # ---- declarations ----
    def make_globals(self):
        r, p = self.rng, self.prefix
        for home in ("main", "lib"):
            path = "lib." if home == "lib" else ""
            for _ in range(r.randint(0, 2)):
                name, n = "%s_C%d" % (p, self.count), r.randint(-9, 40)
                self.count += 1
                self.texts[home].append("const %s%s = %s;" % (name, r.choice(["", ": i64"]), n))
                self.add_global(home, path, Scalar(name, "i64", n, n, "const"))
            for _ in range(r.randint(0, 2)):
                name, kind = "%s_p%d" % (p, self.count), r.choice(["i64", "i64", "f64", "bool", "f32"])
                self.count += 1
                if kind == "i64":
                    default, value = r.randint(-20, 20), r.randint(-20, 20)
                    s = Scalar(name, kind, -20, 20, "param")
                elif kind == "bool":
                    default, value = r.choice(["true", "false"]), r.choice(["true", "false"])
                    s = Scalar(name, kind, kind="param")
                else:
                    default, value = r.choice(["0.5", "-2.25", "10.0"]), r.choice(["0.75", "3.5"])
                    s = Scalar(name, kind, 0, 10, "param")
                self.texts[home].append("param %s: %s = %s;" % (name, kind, default))
                if r.random() < 0.6:
                    self.settings[path + name] = value
                self.add_global(home, path, s)

    def add_global(self, home, path, s):
        self.scope_globals[home].append(s)
        if home == "lib":
            self.scope_globals["main"].append(Scalar(path + s.text, s.type, s.low, s.high, s.kind))

    def program(self):
        r = self.rng
        self.make_globals()
        if r.random() < 0.35 or {"struct", "structs", "cells"} & set(self.often):
            self.make_structs()
        if "decided" in self.often:
            self.make_function("decided", "main")
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            self.make_function()
        self.make_entry()

    def make_function(self, kind=None, home=None):
        r = self.rng
        home = home or ("lib" if r.random() < 0.25 else "main")
        kinds = ["work", "work", "result", "result", "number", "tree", "descend", "halve", "own", "count", "decided", "decided"]
        if [t for t in self.structs if home == "main" or t.home == "lib"]:
            kinds += ["decided", "struct_work", "struct_work", "struct_result", "struct_result", "own"]
        kind = kind or r.choice(kinds)
        name = "%s_f%d" % (self.prefix, self.count)
        self.count += 1
        getattr(self, "make_" + kind)(name, home)

    def new_writer(self, home, size):
        w = Writer(self, home)
        self.size, self.awaits, self.calls = size, 2, 2
        return w

    def dims(self, count):
        """Dimension variables with the values that they may have."""
        r = self.rng
        found = {}
        for name in r.sample(["N", "K", "L", "W"], count):
            low = r.choice([0, 1, 2, 2, 3, 4])
            found[name] = (low, low + r.choice([0, 2, 5, 8]))
        return found

    def shape(self, dims, rank):
        r, shape = self.rng, []
        for _ in range(rank):
            if rank > 3 and prod_high(shape) > 20:
                shape.append(Lin.number(1))
            elif dims and r.random() < (0.8 if rank <= 3 else 0.2):
                n = r.choice(sorted(dims))
                e = Lin({n: 1}, 0, *dims[n])
                shape.append(e.plus(r.choice([0, 0, 0, 1, 2])))
            else:
                shape.append(Lin.number(r.randint(1, 5 if rank <= 3 else 3)))
        return shape

    def formals(self, w, dims, directions):
        """Formals whose extents determine every dimension variable, as tensors that the writer sees."""
        r, formals, outs = self.rng, [], []
        missing = sorted(dims)
        for i, direction in enumerate(directions):
            element = r.choice(self.types)
            shape = self.shape(dims, self.rank())
            if i == 0 and missing:
                shape = [Lin({n: 1}, 0, *dims[n]) for n in missing] + shape[:1] * r.randint(0, 3 - len(missing))
            name = self.fresh("a")
            formals.append((direction, name, element, shape, 0, 0))
            is_own = direction == "own"
            t = Tensor(name, element, shape, self.new_root(), direction in ("out", "inout", "own"), "local" if is_own else "formal")
            if direction == "out":
                outs.append(t)
            elif direction == "acc":
                pass
            else:
                w.tensors.append(t)
        return formals, outs

    def scalar_formals(self, w, count):
        r, formals = self.rng, []
        for _ in range(count):
            kind, name = r.choice(["i64", "i64", "bool", "f64", "f32"]), self.fresh("q")
            low, high = (r.choice([(0, 5), (-4, 9), (1, 3)])) if kind == "i64" else (0, 10 ** 6)
            formals.append((None, name, kind, None, low, high))
            w.scalars.append(Scalar(name, kind, low, high, "formal"))
        return formals

    def see_dims(self, w, dims):
        for n, (low, high) in dims.items():
            w.scalars.append(Scalar(n, "i64", low, high, "dim"))

    def head(self, name, dims, formals, result="", home="main"):
        texts = []
        for direction, n, type_, shape, _, _ in formals:
            if isinstance(type_, (StructType, StructText)):
                module = "lib." if type_.home == "lib" and home == "main" else ""
                texts.append("%s %s: %s%s[%s]" % (direction, n, module, type_.name, shape[0].text(self.rng)))
            elif shape is None:
                texts.append("%s: %s" % (n, type_))
            else:
                word = "" if direction == "in" and self.rng.random() < 0.3 else direction + " "
                texts.append("%s%s: %s[%s]" % (word, n, type_, ", ".join(e.text(self.rng) for e in shape)))
        generics = "<%s>" % ", ".join(sorted(dims)) if dims else ""
        return "orch %s%s(%s)%s {" % (name, generics, ", ".join(texts), result)

    def finish(self, w, home, head, f):
        self.texts[home].append("\n".join([head] + w.lines + ["}"]))
        if f:
            self.functions.append(f)

    # ---- the entry ----
    def make_entry(self):
        r = self.rng
        w, dims = self.new_writer("main", r.randint(6, 22)), self.dims(r.randint(0, 3))
        self.awaits, self.calls = 5, 6
        self.see_dims(w, dims)
        directions = [r.choice(["in", "inout"])] + [r.choice(["in", "inout", "out", "own"]) for _ in range(r.randint(1, 3))]
        if set(directions) <= {"in", "own"}:
            directions[-1] = "out"
        formals, outs = self.formals(w, dims, directions)
        for t in w.tensors + outs:
            t.solid = True
        bundle = [t for t in self.structs if all(shape for _, _, shape in t.leaves(Lin.number(1)))]
        struct_outs = []
        if bundle and dims and r.random() < 0.5:
            n = r.choice(sorted(dims))
            type_, direction, name = r.choice(bundle), r.choice(["in", "inout", "out", "own"]), self.fresh("c")
            argument = Lin({n: 1}, 0, *dims[n])
            formals.append((direction, name, type_, [argument], 0, 0))
            v = w.see_struct(name, type_, argument, direction != "in", "entry", True)
            if direction == "own":
                v.kind = "local"
            if direction == "out":
                struct_outs.append(v)
            else:
                w.show_struct(v)
        formals += self.scalar_formals(w, r.randint(0, 2))
        self.dim_values = {n: r.randint(*limits) for n, limits in dims.items()}
        self.inputs = []   # name, element, concrete shape
        concrete = lambda shape: tuple(e.const + sum(c * self.dim_values[d] for d, c in e.terms.items()) for e in shape)
        for direction, n, element, shape, low, high in formals:
            if isinstance(element, StructType):
                if direction != "out":
                    self.inputs += [("%s.%s" % (n, path), e, concrete(s)) for path, e, s in element.leaves(shape[0])]
            elif shape is None:
                self.settings[n] = {"i64": str(r.randint(low, min(high, 100))), "bool": r.choice(["true", "false"])}.get(element, "2.5")
            elif direction != "out":
                self.inputs.append((n, element, concrete(shape)))
        w.hosts = []
        if r.random() < 0.3:
            n, length = self.fresh("o"), r.randint(1, 5)
            host = Tensor(n, "i64", [Lin.number(length)], self.new_root(), False, "host")
            w.hosts.append(host)
            formals.append(("host", n, "i64", host.shape, 0, 0))
            self.inputs.append((n, "i64", (length,)))
            for i in range(length):
                w.scalars.append(Scalar("%s[%d]" % (n, i), "i64", 0, 112, "host"))
        if dims and r.random() < 0.3:
            self.make_box(w, formals, dims)
        self.entry = "%s_main" % self.prefix
        has_result = r.random() < 0.2
        if outs and not struct_outs and not has_result and r.random() < 0.3:
            w.return_early(outs)
        for t in outs:
            w.fill(t)
            w.tensors.append(t)
        for v in struct_outs:
            w.fill_struct(v)
        w.may_return = None if has_result else lambda writer: "return;"
        w.body(r.randint(4, 14))
        result = ""
        if has_result:
            element = r.choice(self.types)
            t, extents = w.decided_local(w.operand([Lin.number(r.randint(1, 6))], element, ()), element)
            result = " -> %s[%s]" % (element, extents)
        if self.breaker:
            self.breaker.point(self, w, last=True)
        if has_result:
            w.emit("return %s;" % t.text)
        self.finish(w, "main", "export " + self.head(self.entry, dims, formals, result), None)

    def make_box(self, w, formals, dims):
        """A struct formal of the entry with a host field, and a function that is given it whole."""
        r, n, length = self.rng, self.rng.choice(sorted(dims)), self.rng.randint(1, 4)
        type_, name, element = self.prefix + "_box", self.fresh("x"), r.choice(self.types)
        work = "%s(inout b.v, 1.5);" % w.kernel_name("bump1", element)
        self.texts["main"].append("struct %s<N> {\n  host at: i64[%d];\n  v: %s[N];\n}" % (type_, length, element))
        self.texts["main"].append("orch %s_work<N>(inout b: %s[N], q: i64) {\n  for i in 0 .. (b.at[%d] + q) %% 3 {\n    %s\n  }\n}"
                                  % (type_, type_, r.randrange(length), work))
        formals.append(("inout", name, StructText(type_), [Lin({n: 1}, 0, *dims[n])], 0, 0))
        self.inputs += [(name + ".at", "i64", (length,)), (name + ".v", element, (self.dim_values[n],))]
        w.hosts.append(Tensor(name + ".at", "i64", [Lin.number(length)], self.new_root(), False, "host"))
        w.scalars += [Scalar("%s.at[%d]" % (name, i), "i64", 0, 112, "host") for i in range(length)]
        w.tensors.append(Tensor(name + ".v", element, [Lin({n: 1}, 0, *dims[n])], self.new_root(), True, "field", True))
        for _ in range(r.randint(1, 2)):
            w.emit("%s_work(inout %s, %d);" % (type_, name, r.randint(0, 4)))


class StructText:
    """A struct type of which only the name matters."""

    def __init__(self, name):
        self.name, self.home = name, "main"


class File:
    """Several entries in one .pto file with its module, so that one compile serves many programs."""

    def __init__(self, seed, count, breaker=None):
        self.seed = seed
        self.rng = random.Random(seed)
        self.kernels = {"main": {}, "lib": {}}
        self.homes = {}
        self.makers = []
        for i in range(count):
            maker = Maker(random.Random("%s/%d" % (seed, i)), "e%d" % i, self, breaker)
            maker.program()
            self.makers.append(maker)

    def use_kernel(self, stem, types, home):
        where = "lib" if home == "lib" else self.homes.setdefault(stem, "lib" if self.rng.random() < 0.2 else "main")
        self.kernels[where][stem, types] = True
        return "lib." + stem if where == "lib" and home == "main" else stem

    def kernel_texts(self, home):
        """Some kernels are generic; C has no bf16, so those of it stand beside them and go before them."""
        parts, stems = [], {}
        for stem, types in sorted(self.kernels[home]):
            stems.setdefault(stem, []).append(types)
        for stem, choices in stems.items():
            is_generic = not library.kernel_of(stem).opcode and random.Random("%s/%s" % (self.seed, stem)).random() < 0.4
            generic = [types for types in choices if is_generic and "bf16" not in types]
            if stem.startswith(("peak", "heap")):  # of a class with bool not all combine
                generic = [types for types in generic if types[0] != "bool"]
            parts += [library.text_of(stem, types) for types in choices if types not in generic]
            if generic:
                parts.append(library.generic_text(stem, generic))
        return parts

    def text(self, home, makers=None):
        makers = self.makers if makers is None else makers
        parts = ["// random program of seed %s" % self.seed]
        parts.append('import "std/tile.pto" as tile;')
        if home == "main":
            parts.append('import "lib.pto" as lib;')
        parts += self.kernel_texts(home)
        for maker in makers:
            parts += maker.texts[home]
        return "\n".join(parts) + "\n"
