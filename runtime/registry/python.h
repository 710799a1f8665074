/* python.h - what the package in python/ has done in C: the end of a capsule that holds a struct of DLPack or Arrow,
 * and of a tensor that keeps an object of Python.
 *
 * Idea       either may come while an exception is in flight: a consumer that refuses a capsule has raised its reason,
 *            and drops it.  A function of Python would run with that exception set, and lose it.  So the end is C, and
 *            calls only functions that neither raise nor look at exceptions.  The library is not linked with Python:
 *            these functions are given.
 * Owner      the functions: the process; they are given before the first use, and never change.
 * Tests      test/python/test_exchange.py */
#ifndef PTOI_PYTHON_H
#define PTOI_PYTHON_H
#include <pto/pto_types.h>

/* Of Python's C interface, by their names there. */
struct python_calls {
    int (*capsule_is_valid)(void *capsule, const char *name);
    void *(*capsule_pointer)(void *capsule, const char *name);
    void (*raw_free)(void *memory);
    int (*is_initialized)(void);
    int (*gil_ensure)(void);
    void (*gil_release)(int state);
    void (*decref)(void *object);
};
PTO_API void pto_python_calls_(const struct python_calls *calls);

/* A capsule's destructor: a struct that was not taken is deleted or released; memory that holds a struct of Arrow is
 * given back in any case. */
PTO_API void pto_python_end_capsule_(void *capsule);

/* A release function of foreign memory: drops a reference to the object, on any thread.  After the interpreter has
 * ended nothing is left to drop. */
PTO_API void pto_python_let_go_(void *object);

#endif
