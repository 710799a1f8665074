/* capsule.h - the end of a capsule of Python that holds a struct of DLPack or Arrow; for the package in python/.
 *
 * Idea       a capsule may end while an exception is in flight: the consumer that refuses it has raised its reason, and
 *            drops it.  A function of Python would run with that exception set, and lose it.  So the end is C, and
 *            calls only functions that neither raise nor look at exceptions.  The library is not linked with Python:
 *            these functions are given.
 * Owner      the functions: the process; they are given before the first capsule is made, and never change.
 * Tests      test/runtime/test_dlpack.c, test/python/test_exchange.py */
#ifndef PTOI_CAPSULE_H
#define PTOI_CAPSULE_H
#include <pto/pto_types.h>

/* PyCapsule_IsValid, PyCapsule_GetPointer, PyMem_RawFree. */
PTO_API void pto_capsule_calls_(int (*is_valid)(void *capsule, const char *name),
                                void *(*pointer)(void *capsule, const char *name), void (*give)(void *memory));

/* The destructor: a struct that nobody has taken is deleted or released; memory that holds a struct of Arrow is given
 * back in any case. */
PTO_API void pto_capsule_end_(void *capsule);

#endif
