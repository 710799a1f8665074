"""random_kernels.py - the kernels that random programs call: declaration and C body here, the same again in NumPy in kernels.py.

Idea       an elementwise kernel of some of the choices of element types is in index notation, so that some calls are joined.
           Every value is an integer in 0 .. 112 (0 .. 1 for bool), computed modulo 113 in 64-bit integers, so that each element type
           holds it exactly and a result that came from wrong data or in a wrong order is seen.
Owner      generate.py asks for the text of a kernel of one choice of element types.
Invariant  what is `acc` commutes; everything else does not, on purpose.
Tests      every random program
"""
import re
import zlib

BY_INDEX = True  # elementwise kernels of two thirds of all choices of element types

C_TYPES = {"f16": "_Float16", "bf16": "uint16_t", "f32": "float", "f64": "double", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t",
           "i64": "int64_t", "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "bool": "bool"}
DIMS = ["M", "N", "P", "Q", "R", "S", "T", "U"]
INDICES = ["i", "j", "k", "l", "m", "n", "o", "p"]
RAMP = (7, 3, 5, 2, 11, 13, 4, 6)


FLOATS = ("f16", "bf16", "f32", "f64")
CLASSES = {"float": FLOATS, "int": ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"),
           "number": [t for t in C_TYPES if t != "bool"], "any": list(C_TYPES)}


def modulus(type_):
    """Of an element type, or of the name of one in a generic kernel."""
    return "2" if type_ == "bool" else "113" if type_ in C_TYPES else "_Generic((%s)0, bool: 2, default: 113)" % type_


class Kernel:
    """formals: (direction, name, extents) with extents as text, or (None, name, scalar type).  classes: which formals share a type, or
    the type of one.  behind: what stands behind the type of a formal."""

    def __init__(self, name, rank, generics, formals, body, worker, where="", classes=None, opcode=None, behind=None, equations=None):
        self.name, self.rank, self.generics, self.formals, self.body, self.worker = name, rank, generics, formals, body, worker
        self.where, self.classes, self.opcode, self.behind = where, classes or {}, opcode, behind or {}
        self.equations = equations
        self.tensors = [f for f in formals if f[0]]
        self.scalars = [f for f in formals if not f[0]]

    def text(self, types, elements=()):
        """elements: of a generic kernel, whose types are names: "E: float"."""
        formals = []
        for direction, name, type_ in self.formals:
            if direction:
                formals.append("%s %s: %s[%s]%s" % (direction, name, self.element(types, name), ", ".join(type_), self.behind.get(name, "")))
            else:
                formals.append("%s: %s" % (name, type_))
        generics = "<%s>" % ", ".join([*elements, *self.generics]) if self.generics or elements else ""
        if self.opcode:
            return '@opcode("%s")\nkernel %s%s(%s) on %s%s;\n' % (self.opcode, self.name, generics, ", ".join(formals), self.worker, self.where)
        chosen = zlib.crc32((self.name + " ".join(types)).encode()) % 3 and "bf16" not in types  # of which C has the bits
        by_index = self.equations and BY_INDEX and not elements and chosen
        body = self.block(types) if by_index else self.c_body(types)
        return "kernel %s%s(%s) on %s%s%s\n%s\n" % (self.name, generics, ", ".join(formals), self.worker, self.where,
                                                   " =>" if by_index else "", body)

    def block(self, types):
        """As c_body, in index notation."""
        shapes = {name: len(extents) for _, name, extents in self.tensors}

        def element(found):
            return found.group(1) + (found.group(2) or "[%s]" % ", ".join(INDICES[:shapes[found.group(1)]]))

        def store(found):
            type_ = self.element(types, found.group(1))
            value = re.sub(r"@(\w+)(\[[^\]]*\])?", lambda load: "i64(%s)" % element(load), found.group(3))
            return "%s = %s((%s) %% %s);" % (element(found), type_, value, modulus(type_))

        return "{\n    %s\n}" % re.sub(r"@(\w+)(\[[^\]]*\])? = ([^;]*);", store, self.equations)

    def element(self, types, name):
        which = self.classes.get(name, 0)
        return which if isinstance(which, str) else types[which]

    def c_body(self, types):
        """@x is the element of tensor x at the loops' indices, @x[e, f] another one; @x = e stores e modulo the type's modulus.  $x is
        the element as it is."""
        text = self.body
        shapes = {name: len(extents) for _, name, extents in self.tensors}

        def element(found):
            name, index = found.group(1), found.group(2)
            index = [e.strip() for e in index[1:-1].split(",")] if index else INDICES[:shapes[name]]
            return "%s[%s]" % (name, " + ".join("(%s) * %s_stride[%d]" % (e, name, d) for d, e in enumerate(index)))

        def store(found):
            name, value = found.group(1), found.group(3)
            type_ = self.element(types, name)
            target = element(found)
            return "%s = (%s)((%s) %% %s);" % (target, C_TYPES.get(type_, type_), self.loads(value, element), modulus(type_))

        text = re.sub(r"\$(\w+)(\[[^\]]*\])?", element, text)
        text = re.sub(r"@(\w+)(\[[^\]]*\])? = ([^;]*);", store, text)
        return "{\n" + self.loads(text, element) + "\n}"

    @staticmethod
    def loads(text, element):
        return re.sub(r"@(\w+)(\[[^\]]*\])?", lambda found: "(int64_t)" + element(found), text)


def loops(rank, body, dims=None):
    heads = ["    for (int64_t %s = 0; %s < %s; %s++)" % (i, i, d, i) for i, d in zip(INDICES[:rank], dims or DIMS)]
    return "\n".join(heads) + " {\n        %s\n    }" % body


KERNELS = {}


def add(name, *rest, **more):
    KERNELS[name] = Kernel(name, *rest, **more)


BY = {"max": "if (TYPE%(of)s > %(to)s) %(to)s = TYPE%(of)s;", "min": "if (TYPE%(of)s < %(to)s) %(to)s = TYPE%(of)s;",
      "and": "%(to)s = TYPE(%(to)s & TYPE%(of)s);", "or": "%(to)s = TYPE(%(to)s | TYPE%(of)s);",
      "xor": "%(to)s = TYPE(%(to)s ^ TYPE%(of)s);", "sum": "%(to)s = TYPE(%(to)s + TYPE%(of)s);",
      "prod": "%(to)s = TYPE(%(to)s * TYPE((%(of)s) %% 2));"}  # a factor of 0 or 1, so that what combines stays small

for rank in range(1, 9):
    dims = DIMS[:rank]
    ramp = " + ".join("%d * %s" % (c, i) for c, i in zip(RAMP, INDICES[:rank]))
    r = str(rank)
    add("fill" + r, rank, dims, [("out", "a", dims), (None, "v", "i64")], loops(rank, "@a = (v < 0 ? -v : v);"), "vector",
        equations="@a = select(v < 0, -v, v);")
    add("ramp" + r, rank, dims, [("out", "a", dims), (None, "v", "i64")], loops(rank, "@a = (v < 0 ? -v : v) + %s;" % ramp), "cpu")
    add("copy" + r, rank, dims, [("in", "a", dims), ("out", "b", dims)], loops(rank, "@b = @a;"), "accel",
        opcode="copy" if rank == 2 else None)
    add("plus" + r, rank, dims, [("in", "a", dims), ("in", "b", dims), ("out", "c", dims)], loops(rank, "@c = @a + 2 * @b;"), "vector",
        equations="@c = @a + 2 * @b;")
    add("mix" + r, rank, dims, [("in", "a", dims), ("inout", "c", dims), (None, "s", "i64")],
        loops(rank, "@c = 3 * @c + @a + (s < 0 ? -s : s);"), "vector", equations="@c = 3 * @c + @a + select(s < 0, -s, s);")
    add("bump" + r, rank, dims, [("inout", "c", dims), (None, "s", "f64")], loops(rank, "@c = 5 * @c + (int64_t)fabs(s) + 1;"), "cpu",
        equations="@c = 5 * @c + i64(abs(s)) + 1;")
    add("twin" + r, rank, dims, [("in", "a", dims), ("out", "b", dims), ("out", "c", dims)],
        loops(rank, "@b = @a + 1; @c = 2 * @a + 3;"), "vector", equations="@b = @a + 1; @c = 2 * @a + 3;")
    add("gate" + r, rank, dims, [("in", "a", dims), ("in", "b", dims), ("out", "c", dims), (None, "flag", "bool"), (None, "x", "f32")],
        loops(rank, "@c = flag ? @a + (int64_t)fabs(x) : 4 * @b + 9;"), "vector",
        equations="@c = select(flag, @a + i64(abs(x)), 4 * @b + 9);")
    add("pile" + r, rank, dims, [("in", "a", dims), ("acc", "c", dims)], loops(rank, "@c = @c + @a;"), "vector")
    add("cast" + r, rank, dims, [("in", "a", dims), ("out", "b", dims)], loops(rank, "@b = @a + 1;"), "vector", classes={"b": 1},
        equations="@b = @a + 1;")
    add("total" + r, rank, dims, [("in", "a", dims), ("out", "s", ["1"])],
        "    int64_t t = 1;\n" + loops(rank, "t = (3 * t + @a) % 113;") + "\n    @s[0] = t;", "vector")
    add("tally" + r, rank, dims, [("in", "a", dims), ("acc", "s", ["1"])],
        "    int64_t t = 0;\n" + loops(rank, "t += @a;") + "\n    @s[0] = @s[0] + t;", "cpu")
    size = " * ".join(dims)
    add("flat" + r, rank, dims, [("inout", "c", dims)],  # never names the strides: c has to be contiguous
        "    for (int64_t i = 0; i < %s; i++) c[i] = TYPE((2 * (int64_t)c[i] + i) %% MODULUS);" % size, "vector")

    # A scratch tensor of the region's shape, and one whose extent is a scalar.
    add("stir" + r, rank, dims, [("inout", "c", dims), ("scratch", "t", dims), (None, "s", "i64"), ("scratch", "u", ["2", "s"])],
        loops(rank, "@t = 3 * @c + %s;" % ramp) + "\n    int64_t more = 0;\n    for (int64_t q = 0; q < 2 * s; q++) u[q] = q * q;\n"
        "    for (int64_t q = 0; q < s; q++) more += @u[1, q];\n" + loops(rank, "@c = @t + @t[%s] + more;" % ", ".join("0" for _ in dims)),
        "vector", " where s >= 0", classes={"u": "i64"})
    for by, change in BY.items():
        behind = lambda name: {name: " by " + by}
        add("peak_%s%s" % (by, r), rank, dims, [("in", "a", dims), ("acc", "s", ["1"])],
            "    int64_t t = 1;\n" + loops(rank, "t = (3 * t + @a) % MODULUS;") + "\n    " + change % {"to": "$s[0]", "of": "t"}, "cpu",
            behind=behind("s"))
        add("heap_%s%s" % (by, r), rank, dims, [("in", "a", dims), ("acc", "c", dims)],
            loops(rank, change % {"to": "$c", "of": "@a"}), "vector", behind=behind("c"))

# Kernels that write a part of what they read.
add("relax1", 1, ["N"], [("inout", "u", ["N + 2"]), ("scratch", "t", ["N"])],
    loops(1, "@t = @u + 2 * @u[i + 1] + 3 * @u[i + 2];", ["N"]) + "\n" + loops(1, "@u[i + 1] = @t;", ["N"]), "vector",
    behind={"u": " writes [1 +: N]"})
add("relax2", 2, ["M", "N"], [("scratch", "t", ["M", "N"]), ("inout", "u", ["M + 2", "N + 2"])],
    loops(2, "@t = @u[i, j + 1] + 2 * @u[i + 1, j] + 3 * @u[i + 1, j + 2] + 4 * @u[i + 2, j + 1];") + "\n" +
    loops(2, "@u[i + 1, j + 1] = @t;"), "cpu", behind={"u": " writes [1 +: M, 1 .. N + 1]"})
add("even1", 1, ["N"], [("inout", "u", ["2 * N"])], loops(1, "@u[2 * i] = 2 * @u[2 * i] + @u[2 * i + 1];", ["N"]), "vector",
    behind={"u": " writes [: step 2]"})
add("edge2", 2, ["M", "N"], [("in", "a", ["N"]), ("inout", "u", ["M + 2", "N"])],
    loops(2, "@u[i + 1, j] = 3 * @u[i + 1, j] + @a[j] + @u[0, j];"), "vector", behind={"u": " writes [1 +: M, :]"})
add("late1", 1, ["N"], [("inout", "u", ["N"]), (None, "k", "i64")],
    "    for (int64_t i = k; i < N; i++) @u[i] = 3 * @u[i] + i;", "vector", " where 0 <= k where k <= N", behind={"u": " writes [k .. N]"})

# How many elements are odd, and the first of them.
add("odd", 1, ["N"], [("in", "a", ["N"]), ("out", "n", ["1"])], "    int64_t t = 0;\n" + loops(1, "t += @a % 2;", ["N"]) + "\n    @n[0] = t;",
    "vector", classes={"n": "i64"})
add("keep", 1, ["M", "N"], [("in", "a", ["N"]), ("out", "b", ["M"])],
    "    int64_t k = 0;\n    for (int64_t j = 0; j < M; j++) @b[j] = j;\n"
    "    for (int64_t i = 0; i < N && k < M; i++)\n        if (@a[i] % 2) { @b[k] = @a[i]; k++; }", "vector")

add("halo1", 1, ["N"], [("in", "u", ["N + 2"]), ("out", "v", ["N"])], loops(1, "@v = @u + 2 * @u[i + 1] + 3 * @u[i + 2];", ["N"]), "vector")
add("halo2", 2, ["M", "N"], [("in", "u", ["M + 2", "N + 2"]), ("out", "v", ["M", "N"])],
    loops(2, "@v = @u[i, j + 1] + 2 * @u[i + 1, j] + 3 * @u[i + 1, j + 2] + 4 * @u[i + 2, j + 1];"), "vector")
add("flip", 2, ["M", "N"], [("in", "a", ["M", "N"]), ("out", "b", ["N", "M"])], loops(2, "@b[j, i] = @a;"), "accel")
add("prod", 2, ["M", "N", "P"], [("in", "a", ["M", "P"]), ("in", "b", ["P", "N"]), ("inout", "c", ["M", "N"])],
    loops(2, "int64_t t = @c;\n        for (int64_t k = 0; k < P; k++) t += @a[i, k] * @b[k, j];\n        @c = t;"), "cube")
add("outer", 2, ["M", "N"], [("in", "a", ["M"]), ("in", "b", ["N"]), ("out", "c", ["M", "N"])],
    loops(2, "@c = @a[i] + 2 * @b[j];"), "cube")
add("rows", 2, ["M", "N"], [("in", "a", ["M", "N"]), ("out", "v", ["M"])],
    "    for (int64_t i = 0; i < M; i++) {\n        int64_t t = 0;\n        for (int64_t j = 0; j < N; j++) t = (2 * t + @a) % 113;\n"
    "        @v = t;\n    }", "vector")
add("pairs", 1, ["N"], [("in", "a", ["2 * N"]), ("out", "b", ["N"])], loops(1, "@b = @a[2 * i] + 3 * @a[2 * i + 1];", ["N"]), "vector")
add("spread", 1, ["N"], [("in", "a", ["N"]), ("out", "b", ["2 * N + 1"])],
    "    @b[0] = 5;\n" + loops(1, "@b[2 * i + 1] = @a; @b[2 * i + 2] = @a + 1;", ["N"]), "accel")


def wide(count, rank):
    """Many inputs, each with a factor of its own."""
    dims = DIMS[:rank]
    ins = [("in", "a%d" % n, dims) for n in range(count)]
    total = " + ".join("%d * @a%d" % (n % 11 + 1, n) for n in range(count))
    return Kernel("wide%d_%d" % (count, rank), rank, dims, ins + [("inout", "c", dims), (None, "s", "i64")],
                  loops(rank, "@c = 3 * @c + %s + (s < 0 ? -s : s);" % total), "cube")


def kernel_of(name):
    found = re.fullmatch(r"wide(\d+)_(\d+)", name)
    return wide(int(found.group(1)), int(found.group(2))) if found else KERNELS[name]


def text_of(name, types, elements=()):
    text = kernel_of(name).text(types, elements)
    if not name.startswith(("flat", "peak", "heap")):
        return text
    return text.replace("TYPE", "(%s)" % C_TYPES.get(types[0], types[0])).replace("MODULUS", modulus(types[0]))


def generic_text(name, all_types):
    """One kernel for all of these choices of element types, each variable of the least class that has them."""
    elements = []
    for i, variable in enumerate(["E_", "F_"][:len(all_types[0])]):
        used = {types[i] for types in all_types}
        elements.append("%s: %s" % (variable, next(c for c, members in CLASSES.items() if used <= set(members))))
    return text_of(name, tuple(e.split(":")[0] for e in elements), elements)
