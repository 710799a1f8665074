"""Programs: compiled, loaded, called."""
import ctypes
import inspect
import json
import keyword
import os
import re
import subprocess
import tempfile

from . import _library as c
from . import _runtime, _sparse
from ._errors import MISUSE, CompileError, Handle, PtoError, RunError
from ._numbers import is_truth, real_number, whole_number
from ._sparse import Sparse
from ._tensor import Tensor, attach_for_call, is_array, is_plain, look_at, no_array

_PART = object()  # a field of a struct that a sparse matrix before it gives
_STATE, _OVERLAP, _READ_ONLY = -8, -15, -27


def _operand(path):
    """A path for a command line, where one that begins with - would be an option."""
    path = os.fsdecode(path)
    return os.path.join(".", path) if path.startswith("-") else path


def compile(path, *sources, import_dirs=(), checked=False, **constants):
    """Compiles a .pto file, with the C files that it needs, and loads it; an unchanged one comes from ptoc's cache.
    T=64 replaces the value of `const T`.  Kernels in index notation are made for the processor of this machine alone."""
    ptoc = str(c.prefix / "bin" / "ptoc")
    command = [ptoc, "build", "--emit=so", "--cpu=native", _operand(path), *map(_operand, sources)]
    command += [f"-D{name}={str(bool(value)).lower() if is_truth(value) else value}" for name, value in constants.items()]
    command += [word for folder in import_dirs for word in ("-I", _operand(folder))] + ["--checked"] * bool(checked)
    with tempfile.TemporaryDirectory(prefix="ptoc-") as folder:
        output = os.path.join(folder, "program.so")
        done = subprocess.run([*command, "-o", output, "--diag=json"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            shown = subprocess.run([*command, "-o", output, "--color=never"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            raise CompileError(shown.stderr.rstrip() or done.stderr.rstrip(), _diagnostics(done.stderr))
        return load(output)


def _diagnostics(text):
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return [json.loads(line) for line in lines]


def load(path):
    """Loads what `ptoc build --emit=so` made."""
    handle = c.program_open(os.fsencode(path))
    if not handle:
        status, text = c.last_status(), c.last_error(None).decode()
        raise PtoError(text, status) if os.path.exists(path) else FileNotFoundError(text)
    return Program(handle)


class Program(Handle):
    """A loaded program; its exports are attributes, callable; a name that the object itself needs has a `_` behind it."""

    _release = c.program_close

    def __init__(self, handle):
        self._handle = self._taken(handle, "ptoc.load(path)")
        signature = c.Signature()
        c.program_describe(handle, None, ctypes.byref(signature))
        self._file = signature.file.decode()
        self._entries = [signature.entries[i].decode() for i in range(signature.entry_count)]
        for name in self._entries:
            is_taken = name in vars(self) or hasattr(Program, name)
            setattr(self, name + "_" if is_taken else name, _function(self, name))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        signature = c.Signature()
        c.program_describe(self._open_handle(), name.encode(errors="replace"), ctypes.byref(signature))
        raise AttributeError(c.last_error(None).decode())

    def __dir__(self):
        return self._entries

    def __repr__(self):
        return f"<ptoc program {self._file}: {', '.join(self._entries)}>"


class Struct(tuple):
    """A struct that a call returns: its fields in their order, each an attribute, too."""

    def __new__(cls, fields):
        struct = super().__new__(cls, fields.values())
        vars(struct).update(fields)
        return struct

    def __getnewargs__(self):
        return (vars(self),)

    def __repr__(self):
        return f"ptoc.Struct({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _field(value, path):
    """The field "i.a" of an object or a dict, whose field "i" is one; None: there is none."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value


def _put_together(named):
    """One value for each formal: fields of a struct are put together as _field takes them apart."""

    def struct(fields):
        return Struct({name: struct(field) if isinstance(field, dict) else field for name, field in fields.items()})

    whole = {}
    for path, value in named:
        fields = whole
        *outer, last = path.split(".")
        for name in outer:
            fields = fields.setdefault(name, {})
        fields[last] = value
    return list(struct(whole))


class _Formal:
    """What the source declares: one argument, or the fields of a struct."""

    def __init__(self, name, number, formal):
        self.name, self.fields = name, []
        self.add(number, formal)

    def add(self, number, formal):
        self.fields.append((formal.name.decode().partition(".")[2], number, formal))

    is_struct = property(lambda self: bool(self.fields[0][0]))
    is_out = property(lambda self: all(f.direction == c.OUT for _, _, f in self.fields))


def _group(signature):
    formals = []
    for number in range(signature.formal_count):
        formal = signature.formals[number]
        name = formal.name.decode().partition(".")[0]
        if formals and formals[-1].name == name:
            formals[-1].add(number, formal)
        else:
            formals.append(_Formal(name, number, formal))
    return formals


def _declared(head):
    """The struct of each formal and its extents as the head of an export has them: {"a": ("sparse.Csr", ["R", "C", "Z"])}."""
    declared = re.findall(r"(\w+)\s*:\s*([\w.]+)(?:<[^>]*>)?\s*\[([^\]]*)\]", head)
    declared += [("result", *found) for found in re.findall(r"->\s*([\w.]+)(?:<[^>]*>)?\s*\[([^\]]*)\]", head)]
    return {name: (kind, [extent.strip() for extent in extents.split(",")]) for name, kind, extents in declared}


def _formats_of(formal):
    """The formats of a sparse matrix with the fields of this struct; elements of blocks have three dimensions."""
    fields, has_blocks = tuple(field for field, _, _ in formal.fields), formal.fields[-1][2].rank == 3
    named = [name for name, its in _sparse.FIELDS.items() if its == fields]
    return [name for name in named if has_blocks == (name in _sparse.WITH_BLOCKS)]


def _named(argument, error):
    """The error that an argument made, with its name; subclasses of another library may want more than a text."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{argument}: {error}")


def _is_matrix(formal, extents, dims):
    """Does a call make a sparse matrix of this struct (PTO_RS)?"""
    known = tuple(field for field, _, _ in formal.fields) in _sparse.FIELDS.values()
    return formal.is_struct and formal.is_out and known and len(extents) > 1 and all(e.isdigit() or e in dims for e in extents[:2])


def _function(program, name):
    signature = c.Signature()
    if c.program_describe(program._handle, name.encode(), ctypes.byref(signature)) != 0:
        raise PtoError(c.last_error(None).decode(), c.last_status())
    formals = _group(signature)
    names = {formal.name: formal for formal in formals}
    numbers = {formal.name: (formal.fields[0][1], formal.fields[0][2]) for formal in formals if not formal.is_struct}
    params = {signature.params[i].name.decode(): signature.params[i].type for i in range(signature.param_count)}
    dims = {signature.dims[i].decode(): c.I64 for i in range(signature.dim_count)}
    head, count, result_type = signature.head.decode(), signature.formal_count, signature.result
    entry, declared = name.encode(), _declared(head)
    matrices = {f.fields[0][1]: f for f in formals if _is_matrix(f, declared.get(f.name, ("", ()))[1], dims)}  # by the first field
    formats = {f.name: _formats_of(f) for f in formals if f.is_struct}
    # for the loop of a call: (name, number, rank, type, text, is out)
    rows = [(f.name.decode(), number, f.rank, f.type, f.text.decode(), f.direction == c.OUT)
            for formal in formals for _, number, f in formal.fields]
    plain = not any(formal.is_struct for formal in formals)
    tensor, result_kind, capsule_pointer = c.TENSOR, c.RESULT, c.capsule_pointer

    def spread(args, kwargs):
        """The value of each formal by number, and what else was given."""
        values, more = [None] * count, {}
        if len(args) > len(formals):
            raise TypeError(f"{name}() takes {len(formals)} arguments, {len(args)} were given: {head}")
        given = list(zip((formal.name for formal in formals), args))
        for key, value in kwargs.items():
            if key in names and any(key == before for before, _ in given):
                raise TypeError(f"{name}(): {key!r} is given twice")
            given.append((key, value))
        for key, value in given:
            formal = names.get(key)
            if formal is None:
                known = key.replace("__", ".")
                if key not in params and key not in dims and known not in params:
                    likely = [n for n in [*names, *params, *dims]]
                    raise TypeError(f"{name}() has no argument {key!r}; there is: {', '.join(likely)}")
                more[key if key in params or key in dims else known] = value
            elif not formal.is_struct:
                values[formal.fields[0][1]] = value
            elif type(value) is Sparse or _sparse.is_of_scipy(value):
                for _, number, _ in formal.fields:
                    values[number] = _PART
                try:
                    _sparse.check_format(value, formats[key], declared.get(key, ("", ()))[0])
                    values[formal.fields[0][1]] = _sparse.sparse(value)
                except (TypeError, ValueError) as error:
                    raise _named(f"{name}(): {key!r}", error) from None
            else:
                for field, number, _ in formal.fields:
                    part = _field(value, field)
                    if part is None and not formal.is_out:
                        raise TypeError(f"{name}(): {key!r} has no {field!r}: a struct is an object or a dict with its fields")
                    values[number] = part
                extents, shape = declared.get(key, ("", ()))[1], getattr(value, "shape", None)
                is_open = len(extents) > 1 and extents[1] in dims and extents[1] not in kwargs
                if is_open and isinstance(shape, tuple) and len(shape) > 1:
                    more.setdefault(extents[1], shape[1])  # no array of a CSR matrix has its columns
        return values, more

    def number_of(what, value, kind):
        """(kind of the argument, value) of a scalar."""
        what = f"{name}(): {what!r}"
        if kind in (c.F32, c.F64):
            return c.REAL, real_number(what, value, c.NAMES[kind])
        return c.INTEGER, whole_number(what, value, kind=c.NAMES[kind])

    def call(*args, **kwargs):
        if plain and not kwargs and len(args) == count:
            values, more = args, None
        else:
            values, more = spread(args, kwargs)
        waits = _runtime.does_wait()
        size = count + (len(more) if more else 0) + (result_type != 0) + (not waits)
        arguments, made, owned, kept, at = (c.Argument * size)(), [], [], [], 0
        whole = [formal for formal in matrices.values() if all(values[number] is None for _, number, _ in formal.fields)] if matrices else ()
        for formal in whole:
            for _, number, _ in formal.fields[1:]:
                values[number] = _PART
        runtime = _runtime.current()
        try:
            for formal, number, rank, kind, text, is_out in rows:
                a, value = arguments[at], values[number]
                if value is _PART:
                    continue
                at += 1
                if value is None:
                    if is_out:
                        handle_of = ctypes.c_void_p()
                        is_whole = whole and matrices.get(number) in whole
                        made.append((Sparse if is_whole else Tensor, handle_of, formal.partition(".")[0] if is_whole else formal))
                        a.kind, a.value.tensor = c.SPARSE_RESULT if is_whole else result_kind, ctypes.addressof(handle_of)
                    else:
                        raise TypeError(f"{name}(): {formal!r} is missing: {text}")
                elif rank == 0:
                    a.kind, number = number_of(formal, value, kind)
                    if a.kind == c.REAL:
                        a.value.real = number
                    else:
                        a.value.integer = number
                else:
                    a.kind = tensor
                    if isinstance(value, Tensor):
                        a.value.tensor = value._handle or value._open_handle()
                        continue
                    if type(value) is Sparse:
                        a.kind, a.value.tensor = c.SPARSE, value._open_handle()
                        continue
                    try:
                        if not is_plain(value):
                            look_at(value)
                        if hasattr(value, "__arrow_c_array__"):  # its DLPack does not say that it is read-only
                            raise BufferError
                        capsule = value.__dlpack__()
                        a.value.tensor = capsule_pointer(capsule, b"dltensor")
                        a.kind = c.DLPACK
                        kept.append(capsule)
                    except (AttributeError, TypeError, ValueError, BufferError, RuntimeError):  # NumPy: read-only, bool
                        if not is_array(value):
                            wrong = f"{name}(): {formal!r} is an array, {text}, not {no_array(value, kind)}"
                            raise TypeError(wrong) from None
                        try:
                            t = attach_for_call(value)
                        except (TypeError, ValueError) as error:
                            raise _named(f"{name}(): {formal!r}", error) from None
                        except RuntimeError as error:  # torch: requires grad, conjugated, sparse, quantized
                            raise (error if isinstance(error, PtoError) else ValueError(f"{name}(): {formal!r}: {error}")) from None
                        owned.append(t)
                        a.value.tensor = t
            for key, value in (more or {}).items():
                a = arguments[at]
                a.name = key.encode()
                a.kind, number = number_of(key, value, params.get(key, c.I64))
                if a.kind == c.REAL:
                    a.value.real = number
                else:
                    a.value.integer = number
                at += 1
            scalar = c.Scalar()
            if result_type:
                arguments[at].kind, arguments[at].value.tensor = c.SCALAR_RESULT, ctypes.addressof(scalar)
                at += 1
            if not waits:
                arguments[at].kind, arguments[at].value.integer = c.FLAGS, c.NO_WAIT
                at += 1
            status = _runtime.call(c.program_call, runtime, program._open_handle(), entry, arguments, at)
            if status != 0:
                _raise(runtime, status)
        except BaseException:  # Ctrl-C may come when the results have been made
            for of, handle_of, _ in made:
                if handle_of.value:
                    of._release(handle_of)
            raise
        finally:
            for t in owned:
                c.tensor_release(t)
        results = [kind(h.value) for kind, h, _ in made]
        if not plain:
            results = _put_together(zip((path for _, _, path in made), results))
        if result_type:
            results.insert(0, _scalar(scalar, result_type))
        return None if not results else results[0] if len(results) == 1 else tuple(results)

    call.__name__ = call.__qualname__ = name
    comment = signature.comment.decode() if signature.comment else ""
    call.__doc__ = head + ("\n\n" + comment if comment else "")
    call.__signature__ = _signature(formals, params, dims)
    return call


def _is_name(text):
    return text.isidentifier() and not keyword.iskeyword(text)


def _signature(formals, params, dims):
    P = inspect.Parameter
    kinds = [P(f.name, P.POSITIONAL_OR_KEYWORD) for f in formals if _is_name(f.name)]
    taken = {f.name for f in formals}
    settings = [n for n in [*params, *dims] if _is_name(n) and n not in taken]
    kinds += [P(n, P.KEYWORD_ONLY, default=None) for n in dict.fromkeys(settings)]
    try:
        return inspect.Signature(kinds)
    except ValueError:
        return inspect.Signature([P("args", P.VAR_POSITIONAL), P("kwargs", P.VAR_KEYWORD)])


def _scalar(value, kind):
    return value.f64 if kind == c.F64 else value.f32 if kind == c.F32 else value.b if kind == c.BOOL else value.i64


def _raise(runtime, status):
    complaint = c.last_complaint()
    text = (c.last_error(None) if status in (_STATE, MISUSE) else c.last_error(runtime)).decode()
    text = text or c.status_name(status).decode() + ": the runtime was closed meanwhile"
    if complaint == 1:
        raise AttributeError(text)
    if complaint == 2:
        raise TypeError(text)
    if complaint == 3 or status in (_OVERLAP, _READ_ONLY) or "error[E18]" in text.split("\n")[0]:
        raise ValueError(text)
    raise RunError(text, status)
