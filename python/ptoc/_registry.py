"""What the library holds: the pool of the host in numbers, and the tensors that live."""
import ctypes
import re

from . import _library as c
from ._numbers import size_in_bytes


def stats():
    """The pool of the host: bytes obtained from the system, in use and at most in use; blocks that were found again (hits) and that
    the system gave (misses); `classes` has the same of each size class that was ever asked for."""
    pool = c.PoolStats()
    c.pool_stats(ctypes.byref(pool))
    room = c.pool_classes(None, 0)
    classes = (c.PoolClass * room)()
    count = min(room, c.pool_classes(classes, room))
    return {"total_bytes": pool.total_bytes, "used_bytes": pool.used_bytes, "used_bytes_max": pool.used_bytes_max,
            "kept_bytes": pool.total_bytes - pool.used_bytes, "hits": pool.reuse_hits, "misses": pool.grow_count,
            "classes": [{name: getattr(one, name) for name, _ in c.PoolClass._fields_} for one in classes[:count]]}


def pool_limit(size):
    """At most so many bytes that are not in use are kept for the next that ask: an integer, or "256M"."""
    c.pool_limit(size_in_bytes("'size'", size))


_LINE = re.compile(r"  (\w+)\[(.*)\] (\d+) bytes, (-?\d+) references?; buffer (\d+) with (-?\d+) references?, (\d+) pins?;")


def _dumped():
    """What pto_registry_dump writes."""
    libc, text, size = ctypes.CDLL(None), ctypes.c_void_p(), ctypes.c_size_t()
    libc.open_memstream.restype = ctypes.c_void_p
    out = ctypes.c_void_p(libc.open_memstream(ctypes.byref(text), ctypes.byref(size)))
    if not out:
        raise MemoryError
    c.registry_dump(out)
    libc.fclose(out)
    try:
        return ctypes.string_at(text, size.value).decode()
    finally:
        libc.free(text)


def tensors():
    """The tensors that live, a dict each: dtype, shape, bytes, references to the tensor, the number of its buffer, the references of
    that buffer, and pins, the runs and maps among these.  Of a spread tensor the references are -1."""
    found = map(_LINE.match, _dumped().splitlines()[1:])
    return [{"dtype": m[1], "shape": tuple(int(extent) for extent in m[2].split(",") if extent), "bytes": int(m[3]),
             "references": int(m[4]), "buffer": int(m[5]), "buffer_references": int(m[6]), "pins": int(m[7])} for m in found if m]
