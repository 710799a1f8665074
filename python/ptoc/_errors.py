"""What is raised: a message of the compiler, a failed run, a wrong argument; what cannot be done with a handle."""
import copyreg
import re

MISUSE = -23  # PTO_ERR_MISUSE


class PtoError(Exception):
    """A failure of the library; `status` is its number."""

    def __init__(self, text, status=0):
        super().__init__(text)
        self.status = status

    def __reduce__(self):
        """A copy gets the text and the attributes, and no __init__, since each class has arguments of its own there."""
        return copyreg.__newobj__, (type(self), *self.args), vars(self)


class CompileError(PtoError):
    """The compiler's messages; `diagnostics` has what --diag=json prints, one dict each."""

    def __init__(self, text, diagnostics):
        super().__init__(text)
        self.diagnostics = diagnostics


class RunError(PtoError):
    """A failed run: `status`, `place` ("f.pto:3:5") and `chain`, the open functions from the innermost."""

    def __init__(self, text, status):
        super().__init__(text, status)
        first, *rest = text.split("\n")
        place = re.match(r"(.+?:\d+:\d+): ", first)
        self.place = place.group(1) if place else None
        self.chain = [m.groups() for m in (re.match(r"\s+in '(.+)', called at (.+?)(?: with .*)?$", line) for line in rest) if m]


class Handle:
    """An object that owns something of the library, its `_handle`: a second object with the same one would release it
    again.  `_release`, the function that gives it back, is an attribute of the class, because at the end of the
    interpreter the names of modules are gone before the last objects are."""

    __slots__ = ()

    @classmethod
    def _taken(cls, handle, made_by):
        """The handle that the library gave; it is a number, so an object in its place is noticed."""
        if type(handle) is not int:
            raise TypeError(f"{type(handle).__name__} is no handle of the library: {made_by} makes a {cls.__name__}")
        return handle

    def _open_handle(self, error=PtoError):
        """The handle, for one use: a number that was kept would name memory that __del__ has given back.  In a cycle of objects
        the collector calls every __del__ while the objects still reach one another."""
        handle = self._handle
        if handle is None:
            raise error(f"this {type(self).__name__} is closed", MISUSE)
        return handle

    def __del__(self, value_of=getattr):
        handle = value_of(self, "_handle", None)  # none where __init__ failed
        if handle:
            self._handle = None
            self._release(handle)

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a {type(self).__name__} of ptoc is neither copied nor pickled")
