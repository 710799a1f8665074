"""Runtimes: one for each thread, or the one of a `with`; Ctrl-C cancels the call that runs."""
import contextlib
import ctypes
import os
import select
import signal
import sys
import threading

from . import _library as c
from ._errors import MISUSE, Handle, PtoError
from ._numbers import I32_MAX, real_number, size_in_bytes, whole_number

_ENGINES = ["threads", "serial", "timing", "process", "graph"]
_NAMES_PYTHON = 2
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
    return pool._open_handle() if pool is not None else None


def _text(what, value):
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{what!r} is text, not {value!r}")
    return value or ""


def _worker_counts(text):
    """How many workers each type has, by "vector=2,cube=1"; a type that is not named has one."""
    counts = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        name, number = name.strip(), number.strip()
        if name not in _WORKERS or not number.isdecimal():
            raise ValueError(f"workers: {part!r} is not TYPE=NUMBER with TYPE one of {', '.join(_WORKERS)}")
        if name in counts:
            raise ValueError(f"workers: {name!r} is given twice")
        counts[name] = whole_number(f"workers: {name!r}", int(number), 0, I32_MAX)
    if not any(counts.get(name, 1) for name in _WORKERS):
        raise ValueError(f"workers: {text!r} leaves no worker at all")
    return [counts.get(name, 1) for name in _WORKERS]


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
                          kernels=os.fsencode(kernels) if kernels else None, names=_NAMES_PYTHON, pool=pool_handle(pool), join_ranks=ranks)
        self._pool = pool  # it must exist as long as the runtime
        if workers is not None:
            for number, count in enumerate(_worker_counts(_text("workers", workers))):
                config.workers[number] = count
        status = ctypes.c_int()
        self._outer = []
        self._in_use = threading.RLock()  # of a thread that cancels; a signal may come in it
        self._handle = c.runtime_create(ctypes.byref(config), ctypes.byref(status))
        if not self._handle:
            raise PtoError(c.last_error(None).decode(), status.value)

    def _open_handle(self):
        if self._pool is not None:
            self._pool._open_handle()  # results are made in it
        return super()._open_handle()

    @property
    def ranks(self):
        """How many ranks there are."""
        return c.ranks(self._open_handle())

    @property
    def rank(self):
        """Which of them this process is, from 0."""
        return c.rank(self._open_handle())

    def cancel(self):
        """Ends the call that runs, from any thread: it raises RunError."""
        with self._in_use:  # the call that it ends may be all that its thread waited for before it closes the runtime
            if self._handle:
                c.cancel(self._handle)

    def trim(self):
        """Memory that is kept for the next call goes back to the system."""
        status = c.runtime_trim(self._open_handle())
        if status != 0:
            raise PtoError(c.status_name(status).decode(), status)

    def close(self):
        """Ends the workers and gives the memory back.  A call that runs meanwhile fails, and the runtime is closed by a later close()."""
        with self._in_use:
            handle, self._handle = self._handle, None
        if handle:
            c.runtime_destroy(handle)
            text = c.last_error(None).decode()
            if text.startswith("pto_runtime_destroy during a run"):
                self._handle = handle
                raise PtoError("a call runs on this runtime: it fails, and after its end the runtime can be closed", MISUSE)

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
    """The handle of the runtime that this thread's calls use: that of a `with`, or else its default, which the first call makes."""
    runtime = getattr(_here, "runtime", None) or getattr(_here, "default", None)
    if runtime is None:
        runtime = _here.default = Runtime()
    return runtime._open_handle()


# ---- Ctrl-C ----
# While C runs, Python's handlers do not.  But the C half of a handler writes the number of the signal to a pipe, at
# which a thread of ours waits, which may run because a call releases the interpreter.
#
# A signal may come when the run has just ended, so that its number is still in the pipe when the next call begins, and
# it must not cancel that one.  So the watching thread waits without reading, a thread reads only while it holds _lock,
# and the main thread empties the pipe before it makes its call known.
_lock = threading.RLock()  # what Python runs inside, a finalizer or the handler of a signal, may call a program as well
_main = threading.main_thread().ident
_running = None  # of the main thread's call, which alone sets it: (runtime, the file for signals before the call)
_pipe = None
_AGAIN_MS = 20


def _take_signals():
    """The numbers of the signals in the pipe; the caller holds _lock."""
    try:
        return os.read(_pipe[0], 65536)
    except BlockingIOError:
        return b""


def _pass_on(numbers, outer):
    """An event loop such as that of asyncio waits at its own file, which gets nothing during a call."""
    if numbers and outer >= 0:
        try:
            os.write(outer, numbers)
        except OSError:  # it is full or closed: as Python does with the numbers itself
            pass


def _watch(pipe):
    waiting = select.poll()
    waiting.register(pipe[0], select.POLLIN)
    ending = None  # the call that Ctrl-C ends; a cancel before its run has begun concerns no run, so it is repeated
    while True:
        waiting.poll(None if ending is None else _AGAIN_MS)
        with _lock:
            numbers = _take_signals()
            if _running is None:
                ending = None
                continue
            _pass_on(numbers, _running[1])
            if signal.SIGINT in numbers:
                ending = _running
            elif ending is not _running:
                ending = None
            if ending is not None:
                c.cancel(ending[0])


def _open_pipe():
    """False: no thread can begin, because the system has no more or, at the end of the interpreter, because Python refuses."""
    global _pipe
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    try:
        threading.Thread(target=_watch, args=((read, write),), name="ptoc Ctrl-C", daemon=True).start()
    except RuntimeError:
        os.close(read)
        os.close(write)
        return False
    _pipe = (read, write)
    return True


def _start_anew_after_fork():
    """The child has neither the thread nor a reason to write to the parent's pipe, another thread may have held the lock, and the workers
    of the default runtime are threads of the parent: the first call of the child makes another one."""
    global _lock, _main, _running, _pipe
    default = getattr(_here, "default", None)
    if default is not None:
        default._handle = _here.default = None  # the parent's to destroy
    if _running is not None:  # another thread forked during the call of the main thread
        signal.set_wakeup_fd(-1)
    for file in _pipe or ():
        os.close(file)
    _lock, _main, _running, _pipe = threading.RLock(), threading.get_ident(), None, None


os.register_at_fork(after_in_child=_start_anew_after_fork)


def _write_printed():
    """Python's lines come before those that the program prints, which has a buffer of its own."""
    out = sys.stdout
    if out is sys.__stdout__ and out and not out.closed:
        out.flush()


def call(function, runtime, *arguments):
    """function(runtime, *arguments), which Ctrl-C cancels.  When the interpreter ends, it does not: then a new thread never begins, so
    that its start would wait for ever, and one that exists has stopped, perhaps with _lock."""
    global _running
    _write_printed()
    if threading.get_ident() != _main or sys.is_finalizing():
        return function(runtime, *arguments)
    if _pipe is None and not _open_pipe():
        return function(runtime, *arguments)
    around, outer = _running, None  # around: the call in which a finalizer makes this one
    try:
        with _lock:
            if around is None:
                _take_signals()
            outer = signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
            if around is None and outer == _pipe[1]:  # a second Ctrl-C kept an earlier call from setting it back
                outer = -1
            _running = (runtime, around[1] if around else outer)
        return function(runtime, *arguments)
    finally:
        try:
            if outer is not None:
                signal.set_wakeup_fd(outer)
            with _lock:  # a cancel that has begun ends before the caller may close the runtime
                if around is None and outer is not None and outer >= 0:
                    _pass_on(_take_signals(), outer)
                _running = around
        finally:
            _running = around  # a second Ctrl-C may have interrupted these lines
