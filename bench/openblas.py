"""openblas.py - which OpenBLAS programs of this machine load, and the kernels that it should take.

OpenBLAS falls back to kernels of 2004 on a processor that it does not know; OPENBLAS_CORETYPE then names what is there."""
import ctypes


def openblas():
    """(version and kernels, what OPENBLAS_CORETYPE should be or None)"""
    try:
        library = ctypes.CDLL("libopenblas.so.0")
        library.openblas_get_corename.restype = library.openblas_get_config.restype = ctypes.c_char_p
    except (OSError, AttributeError):
        return "unknown", None
    flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "")
    core = library.openblas_get_corename().decode()
    better = "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else None
    return library.openblas_get_config().decode().split()[1], better if core in ("Prescott", "Core2", "Nehalem") else None
