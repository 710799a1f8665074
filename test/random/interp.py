"""interp.py - runs a .pto program in its sequential meaning: each kernel runs to its end at its call.

Idea       tensors are NumPy arrays, views are NumPy views, kernels are NumPy functions found by symbol or name (kernels.py).  Beside
           each tensor goes an array of the same shape that says which elements were written, so that a program whose result
           could depend on what memory held is known.
Owner      Program is one file with its modules; Program.run() is one run of one entry.
Invariant  what the definition of the language calls a run-time error is a Fault with the id of the check and the line.
Tests      test/random/check_programs.py compares it with the six programs of the definition
"""
import copy
import math
import os
import sys

import numpy as np

import kernels
import syntax
from random_kernels import CLASSES

ELEMENTS = {"f16": np.float16, "bf16": np.uint16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i16": np.int16,
            "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}
SCALARS = ("i64", "f64", "f32", "bool")
BUILTINS = ("min", "max", "abs", "ceil_div", "log2", "sqrt", "dim", "exp", "log", "pow", "sin", "cos", "tanh", "floor", "ceil", "round",
            "select", "i64", "f64", "f32", "bool", "ranks")
CASTS = ("i64", "f64", "f32", "bool")
REAL = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "pow": np.power, "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "floor": np.floor,
        "ceil": np.ceil, "round": np.rint}
WRITTEN = ("out", "inout", "acc")
LOW, HIGH = -(1 << 63), (1 << 63) - 1

sys.setrecursionlimit(100000)


class Fault(Exception):
    """The program cannot go on: the id of the check, the line, what is wrong."""

    def __init__(self, id_, line, text):
        super().__init__("%s at line %d: %s" % (id_, line, text))
        self.id, self.line, self.text = id_, line, text


class TooLong(Exception):
    """More statements than a random program should run."""


# ---- values ------------------------------------------------------------------------------------------------------------------


class Lifetime:
    """Of the storage that views share."""

    def __init__(self):
        self.ended = None


COMBINE = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
           "xor": np.bitwise_xor}


def neutral(by, dtype):
    """The elements that the part of an accumulator begins with."""
    if by in ("min", "max"):
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        least, greatest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
        return greatest if by == "min" else least
    if by == "and":
        return True if dtype.kind == "b" else ~dtype.type(0)
    return {"sum": -0.0 if dtype.kind == "f" else 0, "prod": 1, "or": 0, "xor": 0}[by]


class Tensor:
    """A region; arrays counts the leading dimensions that are an array's, all of them for an array of scalars."""

    def __init__(self, element, data, mask, lifetime, arrays=0, host=False, scalars=False):
        self.element, self.data, self.mask, self.lifetime = element, data, mask, lifetime
        self.arrays, self.host, self.scalars = arrays, host, scalars

    def part(self, key, arrays):
        return Tensor(self.element, self.data[key], self.mask[key], self.lifetime, arrays, self.host, self.scalars)

    def text(self):
        shape = self.data.shape
        lead = "".join("array[%d] of " % n for n in shape[:self.arrays])
        return lead + self.element + ("[%s]" % ", ".join(map(str, shape[self.arrays:])) if len(shape) > self.arrays else "")


class Element:
    """One element: a value behind await, at once where it is the orchestrator's."""

    def __init__(self, tensor, key):
        self.tensor, self.key = tensor, key


class Grid:
    def __init__(self, tensor, tile):
        self.tensor, self.tile = tensor, tile
        self.shape = tuple(-(-n // t) for n, t in zip(tensor.data.shape, tile))


class Struct:
    def __init__(self, decl, args, fields):
        self.decl, self.args, self.fields = decl, args, fields


def new_tensor(element, shape, arrays=0, scalars=False):
    data = np.zeros(shape, ELEMENTS[element])
    if not scalars:  # what nobody wrote is to be seen
        data.view(np.uint8).fill(0xA5) if element != "bool" else data.fill(True)
    return Tensor(element, data, np.full(shape, scalars), Lifetime(), arrays, False, scalars)


def given_tensor(element, data, host=False, arrays=0, scalars=False):
    return Tensor(element, data, np.ones(data.shape, bool), Lifetime(), arrays, host, scalars)


def tensors_of(value):
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Struct):
        return [t for field in value.fields.values() for t in tensors_of(field)]
    return []


def scalar_of(value):
    """Of a field of a struct, which an array of structs holds as an element."""
    return value.tensor.data[value.key].item() if isinstance(value, Element) else value


def set_scalar(struct, name, value):
    place = struct.fields[name]
    if isinstance(place, Element):
        place.tensor.data[place.key] = value
    else:
        struct.fields[name] = value


def copy_scalars(to, of):
    for name, value in of.fields.items():
        if isinstance(value, Struct):
            copy_scalars(to.fields[name], value)
        elif not isinstance(value, Tensor):
            set_scalar(to, name, scalar_of(value))


def is_element(node):
    """Of an array, or a field of one."""
    return node.kind == "index" or (node.kind == "member" and is_element(node.of))


def real_text(value):
    """The shortest of %.6g (f32) or %.15g and more digits that reads back as the same number."""
    if isinstance(value, np.float32):
        texts = ("%.*g" % (digits, float(value)) for digits in range(6, 10))
        return next((t for t in texts if np.float32(t) == value), t_last(float(value), 9))
    texts = ("%.*g" % (digits, value) for digits in range(15, 18))
    return next((t for t in texts if float(t) == value), t_last(value, 17))


def t_last(value, digits):
    return "nan" if math.isnan(value) else "%.*g" % (digits, value)


def value_text(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Tensor):
        return value.text()
    return str(value) if isinstance(value, int) else real_text(value)


# ---- modules -----------------------------------------------------------------------------------------------------------------


class Module:
    def __init__(self, path, text, loader, prefix=""):
        self.path, self.prefix = path, prefix
        self.names, self.asserts, self.values = {}, [], {}
        for item in syntax.parse(text):
            if item.kind == "import":
                name = item.name or os.path.splitext(os.path.basename(item.path))[0]
                self.names[name] = loader(self, item.path, name)
            elif item.kind == "assert":
                self.asserts.append(item)
            elif item.kind == "kernel":
                item.module = self
                self.names.setdefault(item.name, []).append(item)
            else:
                item.module = self
                self.names[item.name] = item


class Frame:
    """The names of one call of a function; dims and formals are its outermost block."""

    def __init__(self, module):
        self.module, self.blocks = module, [{}]

    def find(self, name):
        for block in reversed(self.blocks):
            if name in block:
                return block[name]
        return None

    def declare(self, name, value):
        self.blocks[-1][name] = value

    def declare_var(self, name, value):
        """A tensor or a struct that changes: assigning it makes the name another one's."""
        self.declare(name, value)
        self.blocks[-1]["var " + name] = True

    def give(self, name):
        """A field of the struct is given a tensor that exists: it changes from then on."""
        next(block for block in reversed(self.blocks) if name in block)["var " + name] = True

    def is_var(self, name):
        return next(("var " + name in block for block in reversed(self.blocks) if name in block), False)

    def assign(self, name, value):
        for block in reversed(self.blocks):
            if name in block:
                block[name] = value
                return


BREAK, CONTINUE = object(), object()


class Program:
    """One file and what it imports.  folders: where std/ lies."""

    def __init__(self, path, folders=()):
        self.folders, self.loaded = folders, {}
        with open(path) as file:
            self.main = Module(path, file.read(), self.load)

    def load(self, module, path, name):
        here = os.path.join(os.path.dirname(module.path), path)
        for found in [here] + [os.path.join(f, path) for f in self.folders] + [os.path.join(f, "std", path) for f in self.folders]:
            if os.path.exists(found):
                key = os.path.realpath(found)
                if key not in self.loaded:
                    with open(found) as file:
                        self.loaded[key] = Module(found, file.read(), self.load, name + ".")
                return self.loaded[key]
        raise FileNotFoundError(path)

    def run(self, entry, arrays, settings=None, dims=None, steps=300000, recursion=256):
        return Run(self, settings or {}, steps, recursion).entry(entry, arrays, dims or {})


class Run:
    """One run of one entry: outputs by name, and what was printed."""

    def __init__(self, program, settings, steps, recursion):
        self.program, self.settings, self.steps, self.recursion = program, settings, steps, recursion
        self.printed, self.depth, self.values, self.kernel_calls = [], 0, {}, 0
        self.lines = set()   # (file, line) of every statement that was run
        self.left_out, self.evaluated = set(), set()  # (file, line, column, column) of right sides of && and ||, arms of select

    # ---- the entry ----
    def entry(self, name, arrays, dims):
        orch = self.program.main.names[name]
        frame = Frame(orch.module)
        given, outputs = [], {}
        for formal in orch.formals:
            if self.is_scalar(formal.type):
                given.append(self.narrow(self.setting(formal.name, formal.type.name), formal.type.name))
            else:
                given.append(None)
        bound = dict(dims)
        for formal, value in zip(orch.formals, given):
            if value is not None:
                frame.declare(formal.name, value)
        self.bind_dims(orch, frame, [(f, self.entry_shapes(f, arrays, f.name)) for f in orch.formals], bound, orch.line)
        for dim in orch.generics:
            frame.declare(dim, bound[dim])
        for i, formal in enumerate(orch.formals):
            if given[i] is None:
                given[i] = self.entry_value(frame, formal, formal.type, arrays, formal.name, outputs)
                frame.declare(formal.name, given[i])
        for module in [self.program.main] + list(self.program.loaded.values()):
            for item in module.asserts:
                self.execute(Frame(module), item)
        self.depth = 1
        result = self.block(frame, orch.body)
        if orch.result is not None and any(e.kind == "decided" for e in extents_of(orch.result)):
            outputs["result"] = result[1]
        for out, tensor in outputs.items():
            if not tensor.mask.all():
                raise Fault("E07", orch.line, "'%s' has elements that nothing wrote" % out)
        return {out: tensor.data for out, tensor in outputs.items()}, "".join(self.printed)

    def entry_shapes(self, formal, arrays, path):
        """The shapes that files give, with the types they belong to; an out formal gives none."""
        return self.shapes_of(formal.type, arrays, path, formal)

    def shapes_of(self, type_, arrays, path, owner):
        if type_.kind == "type" and type_.name not in ELEMENTS:
            return Node_shapes(None, [(t, s) for t, s in self.struct_shapes(owner.module if hasattr(owner, "module") else self.program.main,
                                                                            type_, arrays, path)])
        return Node_shapes(arrays[path].shape if path in arrays else None, [])

    def struct_shapes(self, module, type_, arrays, path):
        decl = self.struct_decl(module, type_)
        inner = {g: e for g, e in zip(decl.generics, type_.extents or [])}
        for field, field_type in decl.fields:
            where = path + "." + field
            if field_type.kind == "type" and field_type.name not in ELEMENTS:
                for t, s in self.struct_shapes(decl.module, field_type, arrays, where):
                    yield [substitute(e, inner) for e in t], s
            elif where in arrays:
                yield [substitute(e, inner) for e in extents_of(field_type)], arrays[where].shape

    def entry_value(self, frame, formal, type_, arrays, path, outputs, is_host=False):
        if type_.kind == "type" and type_.name not in ELEMENTS:
            decl = self.struct_decl(frame.module, type_)
            inner = Frame(decl.module)
            args = [self.integer(frame, e) for e in type_.extents or []]
            for g, v in zip(decl.generics, args):
                inner.declare(g, v)
            fields = {f: self.entry_value(inner, formal, t, arrays, path + "." + f, outputs, f in decl.hosts) for f, t in decl.fields}
            return Struct(decl, args, fields)
        element, shape, levels, scalars = self.tensor_type(frame, type_)
        if path in arrays:
            data = arrays[path].copy()
            if data.shape != tuple(shape):
                raise Fault("E04", formal.line, "'%s' is %s, not %s" % (path, data.shape, tuple(shape)))
            value = given_tensor(element, data, formal.direction == "host" or is_host, levels, scalars)
        else:
            value = new_tensor(element, shape, levels, scalars)
        if formal.direction in WRITTEN and not is_host:
            outputs[path] = value
        return value

    def setting(self, name, type_):
        text = str(self.settings[name])
        if type_ == "bool":
            return {"true": True, "false": False, "1": True, "0": False, "True": True, "False": False}[text]
        return int(text, 0) if type_ == "i64" else float(text)

    # ---- types ----
    def is_scalar(self, type_):
        return type_.kind == "type" and type_.extents is None and type_.module is None and type_.name in SCALARS

    def struct_decl(self, module, type_):
        return (module.names[type_.module] if type_.module else module).names[type_.name]

    def tensor_type(self, frame, type_):
        shape, levels = [], 0
        while type_.kind == "array_type":
            shape.append(self.extent(frame, type_.count))
            levels += 1
            type_ = type_.of
        for e in type_.extents or []:
            shape.append(self.extent(frame, e))
        return type_.name, shape, levels, levels == len(shape) and levels > 0

    def extent(self, frame, expr):
        value = self.integer(frame, expr)
        if value < 0:
            raise Fault("E15", expr.line, "the extent %d is negative" % value)
        return value

    def new_of_type(self, frame, type_):
        if self.is_scalar(type_):
            return {"bool": False, "i64": 0, "f32": np.float32(0), "f64": 0.0}[type_.name]
        base = array_base(type_)
        if base.kind == "type" and base.name not in ELEMENTS:
            return self.new_struct(frame, base, self.counts(frame, type_))
        element, shape, levels, scalars = self.tensor_type(frame, type_)
        return new_tensor(element, shape, levels, scalars)

    def counts(self, frame, type_):
        return [self.extent(frame, type_.count)] + self.counts(frame, type_.of) if type_.kind == "array_type" else []

    def new_struct(self, frame, type_, counts):
        """counts: of an array of them, whose fields are arrays."""
        decl = self.struct_decl(frame.module, type_)
        inner = Frame(decl.module)
        args = [self.integer(frame, e) for e in type_.extents or []]
        for g, v in zip(decl.generics, args):
            inner.declare(g, v)
        return Struct(decl, args, {f: self.new_field(inner, t, counts) for f, t in decl.fields})

    def new_field(self, frame, type_, counts):
        if not counts:
            return self.new_of_type(frame, type_)
        if type_.kind == "type" and type_.name not in ELEMENTS:
            return self.new_struct(frame, type_, counts)
        element, shape, levels, _ = self.tensor_type(frame, type_)
        return new_tensor(element, counts + shape, levels + len(counts), self.is_scalar(type_))

    # ---- statements ----
    def block(self, frame, block):
        frame.blocks.append({})
        result = None
        for statement in block.body:
            result = self.execute(frame, statement)
            if result is not None:
                break
        frame.blocks.pop()
        return result

    def execute(self, frame, node):
        self.steps -= 1
        if self.steps < 0:
            raise TooLong()
        self.lines.add((os.path.basename(frame.module.path), node.line))
        for _, values in getattr(node, "attributes", ()):
            for value in values:
                self.value(frame, value)
        return getattr(self, "run_" + node.kind)(frame, node)

    def run_block(self, frame, node):
        return self.block(frame, node)

    def run_let(self, frame, node):
        if node.value is None:
            value = self.new_of_type(frame, node.type)
        else:
            value = self.eval(frame, node.value)
            if isinstance(value, Element):
                value = self.element_value(value, node.line)
            if node.type is not None and self.is_scalar(node.type):
                value = self.narrow(value, node.type.name)
            if isinstance(value, Struct) and node.value.kind in ("name", "member") and frame.is_var(self.root(node.value)):
                value = self.own_struct(value)
        frame.declare(node.name, value)

    @staticmethod
    def root(node):
        while node.kind == "member":
            node = node.of
        return node.name if node.kind == "name" else None

    def own_struct(self, value):
        """The same tensors, in a struct whose fields can be assigned for themselves."""
        if not isinstance(value, Struct):
            return value
        return Struct(value.decl, value.args, {f: self.own_struct(v) for f, v in value.fields.items()})

    def run_var(self, frame, node):
        value = self.eval(frame, node.value)
        if isinstance(value, (Tensor, Struct)):
            frame.declare_var(node.name, self.own_struct(value))
            return
        value = self.element_value(value, node.line) if isinstance(value, Element) else value
        frame.declare(node.name, self.narrow(value, node.type.name) if node.type is not None else value)

    def run_view(self, frame, node):
        tensor = self.live(self.eval(frame, node.of), node.line)
        tile = [self.integer(frame, t) for t in node.tile]
        for t in tile:
            if t < 1:
                raise Fault("E15", node.line, "the extent %d of a tile" % t)
        frame.declare(node.name, Grid(tensor, tile))

    def run_assign(self, frame, node):
        if node.target.kind == "name":
            old = frame.find(node.target.name)
            if not isinstance(old, (Tensor, Struct)):
                new = self.value(frame, node.value)
                kind = "f32" if isinstance(old, np.float32) else "f64" if isinstance(old, float) else None
                frame.assign(node.target.name, self.narrow(new, kind) if kind else new)
                return
        place = self.eval(frame, node.target)
        if node.target.kind == "member" and node.value.kind in ("name", "member") and isinstance(place, (Tensor, Struct)):
            frame.give(self.root(node.target))
        if node.target.kind in ("name", "member") and isinstance(place, (Tensor, Struct)) and frame.is_var(self.root(node.target)):
            new = self.own_struct(self.eval(frame, node.value))
            if [t.data.ndim for t in tensors_of(new)] != [t.data.ndim for t in tensors_of(place)]:
                raise Fault("E03", node.line, "a var becomes one of another rank")  # an extent that the run decides may be another one
            if node.target.kind == "name":
                frame.assign(node.target.name, new)
            else:
                self.eval(frame, node.target.of).fields[node.target.name] = new
            return
        if not isinstance(place, (Tensor, Struct, Element)):
            fields = self.eval(frame, node.target.of).fields
            fields[node.target.name] = self.value(frame, node.value)
            return
        if isinstance(place, Element):
            value = self.narrow(self.value(frame, node.value), place.tensor.element)
            place.tensor.data[place.key] = value
            place.tensor.mask[place.key] = True
            return
        result = self.call(frame, node.value, place)
        for to, of in zip(tensors_of(place), tensors_of(result)):
            self.live(to, node.line)
            if to.data is not of.data:
                if to.data.shape != of.data.shape:
                    raise Fault("E04", node.line, "%s is no place for %s" % (to.text(), of.text()))
                to.data[...] = of.data
                to.mask[...] = of.mask
        if isinstance(place, Struct):
            copy_scalars(place, result)

    def run_call_statement(self, frame, node):
        self.call(frame, node.call)

    def run_for(self, frame, node):
        low, high = self.integer(frame, node.low), self.integer(frame, node.high)
        step = self.integer(frame, node.step) if node.step else 1
        if step == 0:
            raise Fault("E15", node.line, "the step is 0")
        for i in range(low, high, step):
            frame.blocks.append({node.name: i})
            result = self.block(frame, node.body)
            frame.blocks.pop()
            if result is BREAK:
                break
            if result is not None and result is not CONTINUE:
                return result
        return None

    def run_while(self, frame, node):
        while self.truth(frame, node.condition):
            self.steps -= 1
            if self.steps < 0:
                raise TooLong()
            result = self.block(frame, node.body)
            if result is BREAK:
                break
            if result is not None and result is not CONTINUE:
                return result
        return None

    def run_do(self, frame, node):
        while True:
            self.steps -= 1
            if self.steps < 0:
                raise TooLong()
            result = self.block(frame, node.body)
            if result is BREAK:
                return None
            if result is not None and result is not CONTINUE:
                return result
            if not self.truth(frame, node.condition):
                return None

    def run_if(self, frame, node):
        if self.truth(frame, node.condition):
            return self.block(frame, node.yes)
        return self.execute(frame, node.no) if node.no else None

    def run_match(self, frame, node):
        value = self.value(frame, node.value)
        for values, body in node.arms:
            if any(self.value(frame, v) == value for v in values):
                return self.block(frame, body)
        return self.block(frame, node.other) if node.other else None

    def run_drop(self, frame, node):
        for name in node.names:
            value = self.eval(frame, name)
            for tensor in tensors_of(value):
                self.live(tensor, node.line)
                if is_element(name):  # of an array, whose others stay: nothing of it is read again
                    tensor.mask[...] = False
                else:
                    tensor.lifetime.ended = "dropped"

    def run_return(self, frame, node):
        if node.value is None:
            return ("return", None)
        value = self.eval(frame, node.value)
        return ("return", self.element_value(value, node.line) if isinstance(value, Element) else value)

    def run_break(self, frame, node):
        return BREAK

    def run_continue(self, frame, node):
        return CONTINUE

    def run_assert(self, frame, node):
        if not self.truth(frame, node.condition):
            raise Fault("E20", node.line, node.text or "assertion")

    def run_print(self, frame, node):
        values = []
        for expr in node.values:
            value = self.eval(frame, expr)
            values.append(value_text(self.element_value(value, node.line) if isinstance(value, Element) else value))
        self.printed.append(" ".join(values) + "\n")

    # ---- expressions ----
    def value(self, frame, node):
        """A scalar."""
        value = self.eval(frame, node)
        return self.element_value(value, node.line) if isinstance(value, Element) else value

    def integer(self, frame, node):
        value = self.value(frame, node)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Fault("E02", node.line, "%r is no integer" % (value,))
        return value

    def truth(self, frame, node):
        value = self.value(frame, node)
        if not isinstance(value, (bool, np.bool_)):
            raise Fault("E02", node.line, "%r is no bool" % (value,))
        return bool(value)

    def narrow(self, value, type_):
        if type_ == "f32":
            return np.float32(value)
        return float(value) if type_ == "f64" else value

    def live(self, value, line):
        if not isinstance(value, Tensor):
            raise Fault("E02", line, "%r is no tensor" % (value,))
        if value.lifetime.ended:
            raise Fault("E11", line, "the tensor was %s" % value.lifetime.ended)
        return value

    def element_value(self, place, line):
        tensor = self.live(place.tensor, line)
        if not tensor.mask[place.key]:
            raise Fault("E06", line, "an element that nothing wrote is read")
        value = tensor.data[place.key]
        if tensor.element == "bool":
            return bool(value)
        if tensor.element == "bf16":
            return np.array([int(value) << 16], np.uint32).view(np.float32)[0]
        if tensor.element in ("f32", "f16"):
            return np.float32(value)
        return float(value) if tensor.element == "f64" else int(value)

    def eval(self, frame, node):
        return getattr(self, "eval_" + node.kind)(frame, node)

    def eval_number(self, frame, node):
        return node.value

    eval_string = eval_number

    def eval_name(self, frame, node):
        value = frame.find(node.name)
        return value if value is not None else self.global_value(frame.module, node.name, node.line)

    def global_value(self, module, name, line):
        if (module, name) in self.values:
            return self.values[module, name]
        decl = module.names.get(name)
        if decl is None or isinstance(decl, (list, Module)) or decl.kind not in ("const", "param"):
            raise Fault("E01", line, "unknown name '%s'" % name)
        if decl.kind == "param" and module.prefix + name in self.settings:
            value = self.setting(module.prefix + name, decl.type.name)
        else:
            value = self.value(Frame(module), decl.value)
        if decl.type is not None:
            value = self.narrow(value, decl.type.name)
        self.values[module, name] = value
        return value

    def eval_member(self, frame, node):
        if node.of.kind == "name" and frame.find(node.of.name) is None:
            module = frame.module.names.get(node.of.name)
            if isinstance(module, Module):
                return self.global_value(module, node.name, node.line)
        of = self.eval(frame, node.of)
        if isinstance(of, Tensor):  # .T
            return self.of_tensor(of, lambda a: a.swapaxes(-1, -2))
        return of.fields[node.name]

    @staticmethod
    def of_tensor(of, change):
        return Tensor(of.element, change(of.data), change(of.mask), of.lifetime, of.arrays, of.host, of.scalars)

    def eval_permute(self, frame, node):
        order = [self.integer(frame, n) for n in node.order]
        return self.of_tensor(self.eval(frame, node.of), lambda a: a.transpose(order))

    def eval_reshape(self, frame, node):
        of = self.eval(frame, node.of)
        shape = tuple(self.integer(frame, n) for n in node.extents)
        if min(shape) < 0:
            raise Fault("E15", node.line, "an extent is %d" % min(shape))
        if math.prod(shape) != of.data.size:
            raise Fault("E04", node.line, "%d elements and %d" % (of.data.size, math.prod(shape)))

        def change(a):
            view = a.view()
            try:
                view.shape = shape
            except AttributeError:
                raise Fault("E18", node.line, "needs a copy")
            return view

        return self.of_tensor(of, change)

    def eval_unary(self, frame, node):
        value = self.value(frame, node.value)
        if node.op == "!":
            return not value
        if node.op == "~":
            return ~value
        return self.fitting(-value, node.line) if isinstance(value, int) else -value

    def fitting(self, value, line):
        if not LOW <= value <= HIGH:
            raise Fault("E15", line, "%d does not fit in 64 bits" % value)
        return value

    def eval_binary(self, frame, node):
        if node.op in ("&&", "||"):
            decided = self.truth(frame, node.left) == (node.op == "||")
            self.note_optional(frame, node, not decided)
            return node.op == "||" if decided else self.truth(frame, node.right)
        a, b = self.value(frame, node.left), self.value(frame, node.right)
        op = node.op
        if not (isinstance(a, int) and isinstance(b, int)):  # C's usual conversions
            both = float if isinstance(a, float) and not isinstance(a, np.float32) or isinstance(b, float) and not isinstance(b, np.float32) \
                else np.float32
            a, b = both(a), both(b)
        if op in syntax.LEVELS[syntax.COMPARE]:
            return bool({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])
        if not isinstance(a, int):
            with np.errstate(all="ignore"):
                if op == "/":
                    return np.divide(a, b) if isinstance(a, np.float32) else float(np.divide(a, b))
                return {"+": a + b, "-": a - b, "*": a * b}[op] if op != "%" else None
        if op in "/%":
            if b == 0:
                raise Fault("E15", node.line, "division by zero")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return self.fitting(quotient, node.line) if op == "/" else a - quotient * b
        if op in ("<<", ">>"):
            if not 0 <= b <= 63:
                raise Fault("E15", node.line, "a shift by %d" % b)
            return self.fitting(a << b, node.line) if op == "<<" else a >> b
        if op in "|^&":
            return {"|": a | b, "^": a ^ b, "&": a & b}[op]
        return self.fitting({"+": a + b, "-": a - b, "*": a * b}[op], node.line)

    def eval_await(self, frame, node):
        return self.element_value(self.eval(frame, node.place), node.line)

    # ---- regions ----
    def eval_index(self, frame, node):
        of = self.eval(frame, node.of)
        if isinstance(of, Grid):
            return self.tiles(frame, of, node)
        if isinstance(of, Struct):
            return self.struct_part(frame, of, node)
        if isinstance(of, Element):
            raise Fault("E03", node.line, "an element has no parts")
        if len(node.indices) > of.data.ndim:
            raise Fault("E03", node.line, "too many indices")
        return self.part_of(frame, of, node)

    def struct_part(self, frame, of, node):
        return Struct(of.decl, of.args, {f: self.struct_part(frame, v, node) if isinstance(v, Struct) else self.part_of(frame, v, node)
                                         for f, v in of.fields.items()})

    def part_of(self, frame, of, node):
        keys = [self.key(frame, index, extent) for index, extent in zip(node.indices, of.data.shape)]
        if len(keys) == of.data.ndim and all(isinstance(k, int) for k in keys):
            return Element(of, tuple(keys))
        return of.part(tuple(keys), of.arrays - sum(1 for k in keys[:of.arrays] if isinstance(k, int)))

    def key(self, frame, index, extent):
        if index.kind != "point" and index.step:
            return self.stepped(frame, index, extent)
        if index.kind == "whole":
            return slice(0, extent)
        if index.kind == "point":
            at = self.integer(frame, index.at)
            if not 0 <= at < extent:
                raise Fault("E05", index.line, "index %d is out of bounds: the extent is %d" % (at, extent))
            return at
        low = self.integer(frame, index.low)
        high = self.integer(frame, index.high) if index.kind == "range" else self.fitting(low + self.integer(frame, index.width), index.line)
        if high < low:
            raise Fault("E15", index.line, "the slice %d .. %d has a negative extent" % (low, high))
        if not 0 <= low <= high <= extent:
            raise Fault("E05", index.line, "slice %d .. %d is out of bounds: the extent is %d" % (low, high, extent))
        return slice(low, high)

    def stepped(self, frame, index, extent):
        ends = [self.integer(frame, e) for e in ([index.low, index.high] if index.kind == "range" else
                                                 [index.low, index.width] if index.kind == "width" else [])]
        step = self.integer(frame, index.step)
        if step == 0:
            raise Fault("E15", index.line, "the step of a slice is 0")
        low, high = ends or ((0, extent) if step > 0 else (extent - 1, -1))
        count = high if index.kind == "width" else -((low - high) // step)
        if count < 0:
            raise Fault("E15", index.line, "a slice from %d step %d has %d elements" % (low, step, count))
        last = low + (count - 1) * step
        if count and not (0 <= low < extent and 0 <= last < extent):
            raise Fault("E05", index.line, "slice %d +: %d step %d is out of bounds: the extent is %d" % (low, count, step, extent))
        stop = low + count * step
        return slice(low, None if stop < 0 else stop, step) if count else slice(0, 0)

    def tiles(self, frame, grid, node):
        """A point is one tile, a range the region of several; each dimension of the grid stays one of the region."""
        keys = []
        for d, extent in enumerate(grid.tensor.data.shape):
            tile = grid.tile[d]
            key = self.key(frame, node.indices[d], grid.shape[d]) if d < len(node.indices) else slice(0, grid.shape[d])
            if isinstance(key, int):
                key = slice(key, key + 1)
            keys.append(slice(min(key.start * tile, extent), min(key.stop * tile, extent)))
        return grid.tensor.part(tuple(keys), 0)

    # ---- calls ----
    def eval_call(self, frame, node):
        if self.is_builtin(frame, node):
            return self.builtin(frame, node)
        return self.call(frame, node)

    @staticmethod
    def is_builtin(frame, node):
        return node.callee.kind == "name" and node.callee.name in BUILTINS and node.callee.name not in frame.module.names

    def builtin(self, frame, node):
        name, line = node.callee.name, node.line
        if name == "ranks":  # it stands in attributes only, which change no result
            return 1
        if name == "dim":
            of, d = self.eval(frame, node.args[0].value), self.integer(frame, node.args[1].value)
            return int((of.shape if isinstance(of, Grid) else of.data.shape)[d])
        if name == "select":
            return self.select(frame, node)
        values = [self.value(frame, a.value) for a in node.args]
        if name in CASTS:
            return self.cast(values[0], name, line)
        if name in REAL:
            with np.errstate(all="ignore"):
                return float(REAL[name](*(float(v) for v in values)))
        if name in ("min", "max") and not all(isinstance(v, int) for v in values):
            wide = any(isinstance(v, float) and not isinstance(v, np.float32) for v in values)
            values = [self.narrow(v, "f64" if wide else "f32") for v in values]
        if name == "ceil_div":
            if values[1] == 0:
                raise Fault("E15", line, "division by zero")
            return self.fitting(-(-values[0] // values[1]), line)
        if name == "log2":
            if values[0] < 1:
                raise Fault("E15", line, "log2 of %d" % values[0])
            return values[0].bit_length() - 1
        return self.fitting(abs(values[0]), line) if name == "abs" and isinstance(values[0], int) else \
            {"min": min, "max": max, "abs": abs}[name](*values)

    def select(self, frame, node):
        """Of numbers the type is what they have in common, whichever is chosen."""
        first = self.truth(frame, node.args[0].value)
        for arm, is_chosen in ((node.args[1], first), (node.args[2], not first)):
            self.note_optional(frame, arm, is_chosen)
        value = self.value(frame, node.args[1 if first else 2].value)
        return self.narrow(value, self.type_of(frame, node))

    def note_optional(self, frame, node, is_evaluated):
        """What stands at the columns node.span is evaluated here, or left out."""
        (self.evaluated if is_evaluated else self.left_out).add((os.path.basename(frame.module.path), node.line) + node.span)

    def type_of(self, frame, node):
        """Of a scalar, without evaluating it."""
        if node.kind in ("number", "name"):
            value = self.eval(frame, node)
            return "bool" if isinstance(value, (bool, np.bool_)) else "i64" if isinstance(value, int) else \
                "f32" if isinstance(value, np.float32) else "f64"
        if node.kind == "unary":
            return "bool" if node.op == "!" else self.type_of(frame, node.value)
        if node.kind == "binary":
            return "bool" if node.op in ("&&", "||") + syntax.LEVELS[syntax.COMPARE] else self.common(frame, [node.left, node.right])
        if node.kind == "call" and self.is_builtin(frame, node):
            name, args = node.callee.name, [a.value for a in node.args]
            if name in CASTS:
                return name
            if name in ("ceil_div", "dim"):
                return "i64"
            return "f64" if name in REAL else self.common(frame, args[1:] if name == "select" else args)
        if node.kind == "call":
            return self.callee(frame, node.callee).result.name
        of = self.peek(frame, node)
        of = of.tensor if isinstance(of, Element) else of
        if not isinstance(of, Tensor):
            return "bool" if isinstance(of, bool) else "i64" if isinstance(of, int) else "f32" if isinstance(of, np.float32) else "f64"
        return {"f64": "f64", "bool": "bool", "f32": "f32", "f16": "f32", "bf16": "f32"}.get(of.element, "i64")

    def common(self, frame, nodes):
        types = [self.type_of(frame, n) for n in nodes]
        return next(t for t in ("f64", "f32", "i64", "bool") if t in types)

    def peek(self, frame, node):
        """The tensor or scalar that a place is a part of, whatever its indices are."""
        if node.kind == "await":
            return self.peek(frame, node.place)
        if node.kind == "index":
            return self.peek(frame, node.of)
        if node.kind == "member" and not (node.of.kind == "name" and frame.find(node.of.name) is None):
            return self.peek(frame, node.of).fields[node.name]
        return self.eval(frame, node)

    def cast(self, value, name, line):
        if name == "bool":
            return bool(value != 0)
        if name == "i64":
            if isinstance(value, (float, np.floating)) and not -2.0 ** 63 <= float(value) < 2.0 ** 63:
                raise Fault("E15", line, "%r does not fit in 64 bits" % value)
            return int(value)
        return float(value) if name == "f64" else np.float32(value)

    def callee(self, frame, node):
        if node.kind == "member":
            return frame.module.names[node.of.name].names[node.name]
        found = frame.module.names.get(node.name)
        if found is None:
            raise Fault("E01", node.line, "unknown name '%s'" % node.name)
        return found

    def call(self, frame, node, place=None):
        found = self.callee(frame, node.callee)
        values = []
        for arg in node.args:
            value = self.eval(frame, arg.value)
            if isinstance(value, Element):
                value = self.element_value(value, arg.line)
            for tensor in tensors_of(value):
                self.live(tensor, arg.line)
            values.append(value)
        if isinstance(found, list):
            return self.call_kernel(self.overload(found, values, place, node.line), values, place, node.line)
        result = self.call_orch(found, values, node)
        for i, value in self.changed:
            place = node.args[i].value
            if place.kind == "name":
                frame.assign(place.name, value)
            elif place.kind == "index":
                element = self.eval(frame, place)
                element.tensor.data[element.key] = value
            else:
                set_scalar(self.eval(frame, place.of), place.name, value)
        return result

    def overload(self, kernels_, values, place, line):
        for k in kernels_:
            formals = list(k.formals)
            if len(values) < len(formals):
                formals = [f for f in formals if f.direction != "out"]
            fits = [f.type.name == v.element for f, v in zip(formals, values) if isinstance(v, Tensor)]
            result = [f for f in k.formals if f.direction == "out"]
            if all(fits) and (not isinstance(place, Tensor) or len(values) == len(k.formals) or result[0].type.name == place.element):
                return k
        for k in kernels_:
            instance = k.elements and self.instance(k, values, place)
            if instance:
                return instance
        raise Fault("E02", line, "no kernel '%s' takes these element types" % kernels_[0].name)

    def instance(self, kernel, values, place):
        """A generic kernel with the element types of a call; None: they do not fit."""
        skip = [i for i, f in enumerate(kernel.formals) if f.direction == "out"][:1] if len(values) < len(kernel.formals) else []
        given = [f for i, f in enumerate(kernel.formals) if i not in skip]
        pairs = list(zip(given, values)) + [(kernel.formals[i], place) for i in skip]
        bound = {}
        for formal, value in pairs:
            if not isinstance(value, Tensor):
                continue
            name = formal.type.name
            want = bound.setdefault(name, value.element) if name in kernel.elements else name
            if want != value.element or (name in kernel.elements and want not in CLASSES[kernel.elements[name]]):
                return None
        if len(bound) < len(kernel.elements):
            return None
        made = copy.copy(kernel)
        made.formals = [copy.copy(f) for f in kernel.formals]
        for formal in made.formals:
            formal.type = copy.copy(formal.type)
            formal.type.name = bound.get(formal.type.name, formal.type.name)
        return made

    def bind(self, decl, values, line):
        """A frame with the dimension variables and the scalars; the formals and what they stand for."""
        frame, pairs = Frame(decl.module), list(zip(decl.formals, values))
        for formal, value in pairs:
            if value is not None and self.is_scalar(formal.type):
                frame.declare(formal.name, self.narrow(value, formal.type.name))
        bound = {}
        self.bind_dims(decl, frame, [(f, self.value_shapes(f, v)) for f, v in pairs], bound, line)
        for dim in decl.generics:
            if dim not in bound:
                raise Fault("E04", line, "the arguments do not determine '%s'" % dim)
            frame.declare(dim, bound[dim])
        return frame, pairs

    def value_shapes(self, formal, value):
        if isinstance(value, Tensor):
            return Node_shapes(value.data.shape, [])
        if isinstance(value, Struct):
            return Node_shapes(None, [(formal.type.extents or [], value.args)])
        return Node_shapes(None, [])

    def bind_dims(self, decl, frame, shaped, bound, line):
        pairs = []
        for formal, shapes in shaped:
            if shapes.whole is not None:
                pairs += list(zip(extents_of(formal.type), shapes.whole))
                if len(extents_of(formal.type)) != len(shapes.whole):
                    raise Fault("E03", line, "'%s' has another rank" % formal.name)
            for extents, shape in shapes.parts:
                pairs += list(zip(extents, shape))
        for extent, n in pairs:
            if extent.kind == "name" and extent.name in decl.generics:
                bound.setdefault(extent.name, int(n))
        changed = True
        while changed:
            changed = False
            for extent, n in pairs:
                unknown = [d for d in decl.generics if d in names_of(extent) and d not in bound]
                if len(unknown) == 1:
                    f0, f1 = (self.with_dims(frame, extent, {**bound, unknown[0]: x}) for x in (0, 1))
                    if f1 == f0 or (int(n) - f0) % (f1 - f0):
                        raise Fault("E04", line, "no '%s' makes an extent of %d" % (unknown[0], n))
                    bound[unknown[0]] = (int(n) - f0) // (f1 - f0)
                    changed = True
        for extent, n in pairs:
            if all(d in bound for d in decl.generics if d in names_of(extent)) and self.with_dims(frame, extent, bound) != n:
                raise Fault("E04", line, "an extent is %d, expected %d" % (n, self.with_dims(frame, extent, bound)))

    def with_dims(self, frame, extent, bound):
        frame.blocks.append(bound)
        value = self.integer(frame, extent)
        frame.blocks.pop()
        return value

    def written_part(self, frame, formal, tensor):
        """What a task writes of an argument, as an array; None: nothing."""
        if formal.direction not in WRITTEN or tensor.host or not tensor.data.size:
            return None
        if not getattr(formal, "writes", None):
            return tensor.data
        keys = [self.key(frame, index, extent) for index, extent in zip(formal.writes, tensor.data.shape)]
        part = tensor.data[tuple(slice(k, k + 1) if isinstance(k, int) else k for k in keys)]
        return part if part.size else None

    def check_overlap(self, frame, pairs, line):
        tensors = [(f, t, self.written_part(frame, f, t)) for f, v in pairs if v is not None for t in tensors_of(v)]
        for i, (f, t, part) in enumerate(tensors):
            for g, u, other in tensors[i + 1:]:
                meets = lambda a, b: a is not None and b.size and np.shares_memory(a, b)
                if meets(part, u.data) or meets(other, t.data):
                    raise Fault("E09", line, "'%s' and '%s' overlap" % (f.name, g.name))

    def call_kernel(self, kernel, values, place, line):
        self.steps -= 1
        self.kernel_calls += 1
        missing = len(values) < len(kernel.formals)
        if missing:
            at = [i for i, f in enumerate(kernel.formals) if f.direction == "out"][0]
            values = values[:at] + [place if isinstance(place, Tensor) else None] + values[at:]
        frame, pairs = self.bind(kernel, values, line)
        result = place
        if missing and not isinstance(place, Tensor):
            result = values[at] = self.new_of_type(frame, kernel.formals[at].type)
            pairs[at] = (kernel.formals[at], result)
        for where in kernel.where:
            if not self.truth(frame, where):
                raise Fault("E20", line, "'where' of '%s'" % kernel.name)
        self.check_overlap(frame, pairs, line)
        written = [v for f, v in pairs if f.direction in WRITTEN]
        if written and all(v.data.size == 0 for v in written):
            return result
        for formal, value in pairs:
            if not isinstance(value, Tensor):
                continue
            if formal.direction != "out" and not value.mask.all():
                raise Fault("E06", line, "'%s' has elements that nothing wrote" % formal.name)
            if kernel.body and formal.name + "_stride" not in kernel.body and not value.data.flags.c_contiguous:
                raise Fault("E18", line, "'%s' must be contiguous" % formal.name)
        arguments = [v.data if isinstance(v, Tensor) else self.narrow(v, f.type.name) for f, v in pairs]
        parts = {i: np.full_like(v.data, neutral(f.by, v.data.dtype), order="C") for i, (f, v) in enumerate(pairs) if f.by}
        status = kernels.find(kernel.extern, kernel.name)(*[parts.get(i, a) for i, a in enumerate(arguments)])
        if status:
            raise Fault("KERNEL", line, "'%s' returned %d" % (kernel.name, status))
        for i, part in parts.items():
            arguments[i][...] = COMBINE[pairs[i][0].by](arguments[i], part)
        for value in written:
            value.mask[...] = True
        return result

    def call_orch(self, orch, values, node):
        frame, pairs = self.bind(orch, values, node.line)
        self.check_overlap(frame, pairs, node.line)
        elements = [f.name for f, a in zip(orch.formals, node.args) if is_element(a.value)]
        for formal, value in pairs:
            for tensor in tensors_of(value):
                if formal.direction in (None, "in", "own", "host", "inout", "acc") and not tensor.mask.all():
                    raise Fault("E06", node.line, "'%s' has elements that nothing wrote" % formal.name)
            if formal.direction == "own":  # the caller's names for it are dead, the callee's is another
                value = self.moved_element(value) if formal.name in elements else self.moved(value)
            if formal.direction == "host":
                value = Tensor(value.element, value.data, value.mask, value.lifetime, value.arrays, True, value.scalars)
            if isinstance(value, Tensor) and formal.type.kind != "array_type":
                value = Tensor(value.element, value.data, value.mask, value.lifetime, 0, value.host, False)
            elif isinstance(value, Tensor):
                _, shape, levels, scalars = self.tensor_type(frame, formal.type)
                value = Tensor(value.element, value.data, value.mask, value.lifetime, levels, value.host, scalars)
            if frame.find(formal.name) is None:
                frame.declare(formal.name, value)
        self.depth += 1
        if self.depth > self.recursion:
            raise Fault("RECURSION", node.line, "deeper than %d" % self.recursion)
        result = self.block(frame, orch.body)
        self.depth -= 1
        self.changed = [(i, frame.find(f.name)) for i, f in enumerate(orch.formals) if f.direction == "inout" and self.is_scalar(f.type)]
        value = result[1] if result is not None else None
        if orch.result is not None and self.is_scalar(orch.result):
            return self.narrow(value, orch.result.name)
        return value

    @staticmethod
    def moved_element(value):
        """Of an array, whose others stay: nothing of it is read again."""
        if isinstance(value, Struct):
            return Struct(value.decl, value.args, {f: Run.moved_element(v) for f, v in value.fields.items()})
        if not isinstance(value, Tensor):
            return scalar_of(value)
        copy = Tensor(value.element, value.data.copy(), value.mask.copy(), Lifetime(), value.arrays, value.host, value.scalars)
        value.mask[...] = False
        return copy

    def moved(self, value):
        if isinstance(value, Struct):
            return Struct(value.decl, value.args, {f: self.moved(v) for f, v in value.fields.items()})
        if not isinstance(value, Tensor):
            return value
        copy = Tensor(value.element, value.data, value.mask, Lifetime(), value.arrays, value.host, value.scalars)
        value.lifetime.ended = "moved"
        return copy


class Node_shapes:
    """What is known of the extents of one formal: of the whole, or of parts with their own types."""

    def __init__(self, whole, parts):
        self.whole, self.parts = whole, parts


def array_base(type_):
    while type_.kind == "array_type":
        type_ = type_.of
    return type_


def extents_of(type_):
    extents = []
    while type_.kind == "array_type":
        extents.append(type_.count)
        type_ = type_.of
    return extents + list(type_.extents or [])


def names_of(node, found=None):
    found = set() if found is None else found
    if isinstance(node, syntax.Node):
        if node.kind == "name":
            found.add(node.name)
        for part in node.__dict__.values():
            names_of(part, found)
    elif isinstance(node, (list, tuple)):
        for part in node:
            names_of(part, found)
    return found


def substitute(node, names):
    """The extents of a struct's field, with what stands for the struct's dimension variables."""
    if isinstance(node, syntax.Node):
        if node.kind == "name" and node.name in names:
            return names[node.name]
        return syntax.Node(**{k: substitute(v, names) if k not in ("kind", "line") else v for k, v in node.__dict__.items()})
    return [substitute(part, names) for part in node] if isinstance(node, list) else node
