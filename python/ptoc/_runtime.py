"""Runtimes: one for each thread, or the one of a `with`; Ctrl-C cancels the call that runs."""
import contextlib
import ctypes
import os
import signal
import threading

from . import _library as c
from ._errors import Handle, PtoError
from ._numbers import I32_MAX, real_number, size_in_bytes, whole_number

_ENGINES = ["threads", "serial", "timing", "process", "graph"]
_MISUSE = -23
_WORKERS = ["cube", "vector", "cpu", "accel"]
_here = threading.local()


class Pool(Handle):
    """Memory of so many bytes that worker processes share: Runtime(engine="process", pool=...), made after it, copies neither results nor
    other tensors of the pool."""

    _release = c.pool_destroy  # what tensors hold lives on

    def __init__(self, size):
        self._handle = c.pool_shared(size_in_bytes("'size'", size))
        if not self._handle:
            raise PtoError(c.last_error(None).decode(), c.last_status())


def pool_handle(pool):
    """The handle of a Pool, or None."""
    if pool is not None and not isinstance(pool, Pool):
        raise TypeError(f"'pool' is a ptoc.Pool, not {pool!r}")
    return pool._handle if pool else None


def _text(what, value):
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{what!r} is text, not {value!r}")
    return value or ""


def _worker_counts(text):
    """How many workers each type has, by "vector=2,cube=1"."""
    counts = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        name, number = name.strip(), number.strip()
        if name not in _WORKERS or not number.isdecimal():
            raise ValueError(f"workers: {part!r} is not TYPE=NUMBER with TYPE one of {', '.join(_WORKERS)}")
        counts[name] = whole_number(f"workers: {name!r}", int(number), 0, I32_MAX)
    return counts


class Runtime(Handle):
    """A runtime with its own workers and memory.  In a `with` the calls of this thread use it:

        with ptoc.Runtime(engine="threads", workers="vector=2", heap="256M"): m.f(x)

    With ranks=True the processes that a launcher of MPI has started are the ranks of its calls: `mpirun -np 4 python3 host.py`.  Each
    makes the same calls with the same arguments, and all have the results.
    """

    _release = c.runtime_destroy

    def __init__(self, engine="threads", workers=None, heap=None, rings=None, window=None, backend=None, kernels=None, device=0,
                 checked=False, watchdog=0, recursion_limit=0, pool=None, ranks=False):
        if engine not in _ENGINES:
            raise ValueError(f"there is no engine {engine!r}; there is: {', '.join(_ENGINES)}")
        config = c.Config(engine=_ENGINES.index(engine), checked=checked,
                          device=whole_number("'device'", device, 0, I32_MAX),
                          watchdog_seconds=real_number("'watchdog'", watchdog),
                          recursion_limit=whole_number("'recursion_limit'", recursion_limit, 0, I32_MAX),
                          heap_bytes=0 if heap is None else size_in_bytes("'heap'", heap),
                          heap_rings=0 if rings is None else whole_number("'rings'", rings, 0, I32_MAX),
                          task_window=0 if window is None else whole_number("'window'", window, 0),
                          backend=_text("backend", backend).encode() or None,
                          kernels=os.fsencode(kernels) if kernels else None, pool=pool_handle(pool), join_ranks=ranks)
        self._pool = pool  # it must exist as long as the runtime
        for name, count in _worker_counts(_text("workers", workers)).items():
            config.workers[_WORKERS.index(name)] = count
        status = ctypes.c_int()
        self._outer = []
        self._handle = c.runtime_create(ctypes.byref(config), ctypes.byref(status))
        if not self._handle:
            raise PtoError(c.last_error(None).decode(), status.value)

    @property
    def ranks(self):
        """How many ranks there are."""
        return c.ranks(self._handle)

    @property
    def rank(self):
        """Which of them this process is, from 0."""
        return c.rank(self._handle)

    def cancel(self):
        """Ends the call that runs, from any thread: it raises RunError."""
        if self._handle:
            c.cancel(self._handle)

    def trim(self):
        """Memory that is kept for the next call goes back to the system."""
        status = c.runtime_trim(self._handle)
        if status != 0:
            raise PtoError(c.status_name(status).decode(), status)

    def close(self):
        """Ends the workers and gives the memory back.  A call that runs meanwhile fails, and the runtime is closed by a later close()."""
        handle, self._handle = self._handle, None
        if handle:
            c.runtime_destroy(handle)
            text = c.last_error(None).decode()
            if text.startswith("pto_runtime_destroy during a run"):
                self._handle = handle
                raise PtoError("a call runs on this runtime: it fails, and after its end the runtime can be closed", _MISUSE)

    def __enter__(self):
        self._outer.append(getattr(_here, "runtime", None))
        _here.runtime = self
        return self

    def __exit__(self, *_):
        _here.runtime = self._outer.pop()
        if not self._outer:
            self.close()


@contextlib.contextmanager
def no_wait():
    """Calls of this thread that would wait for a run or a map that uses an argument raise RunError (PTO_ERR_BUSY) instead."""
    outer = does_wait()
    _here.waits = False
    try:
        yield
    finally:
        _here.waits = outer


def does_wait():
    return getattr(_here, "waits", True)


def current():
    """The handle of the runtime that this thread's calls use."""
    runtime = getattr(_here, "runtime", None)
    if runtime is None:
        runtime = _here.runtime = Runtime()
    if not runtime._handle:
        raise PtoError("this runtime is closed")
    return runtime._handle


# ---- Ctrl-C ----
# While C runs, Python's handlers do not.  But the C half of a handler writes the number of the signal to a pipe, where a
# thread of ours waits, which may run because a call releases the interpreter.
_main = threading.main_thread().ident
_lock = threading.Lock()
_called = None  # the runtime of the main thread's call
_pipe = None


def _watch(fd):
    while True:
        numbers = os.read(fd, 64)
        if not numbers:
            return
        if signal.SIGINT in numbers:
            with _lock:
                if _called:
                    c.cancel(_called)


def _open_pipe():
    global _pipe
    read, write = os.pipe()
    os.set_blocking(write, False)
    threading.Thread(target=_watch, args=(read,), name="ptoc Ctrl-C", daemon=True).start()
    _pipe = (os.getpid(), write)


def call(function, runtime, *arguments):
    """function(runtime, *arguments), which Ctrl-C cancels."""
    global _called
    if threading.get_ident() != _main:
        return function(runtime, *arguments)
    if _pipe is None or _pipe[0] != os.getpid():
        _open_pipe()
    _called = runtime
    outer = signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
    try:
        return function(runtime, *arguments)
    finally:
        signal.set_wakeup_fd(outer)
        with _lock:
            _called = None
