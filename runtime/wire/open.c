/* open.c - which wire joins this process to the other ranks of its job, if any does.
 *
 * Idea       a wire is a library of its own, so a build without MPI and a run on one rank need none.  A launcher of MPI
 *            says in the environment how many processes it has started; PTO_WIRE names another library.
 * Owner      whoever opens it.  The library stays loaded.
 * Tests      test/wire/check_programs.py */
#include "wire.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Launchers: Open MPI, and those that speak PMI, such as that of MPICH. */
static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

static int launched(void)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const char *text = getenv(counts[i]);
        if (text) return atoi(text);
    }
    return 1;
}

struct wire *ptoi_wire_open(bool *is_launched, char *message, size_t size)
{
    const char *named = getenv("PTO_WIRE");
    message[0] = '\0';
    *is_launched = (named && *named) || launched() > 1;
    if (!*is_launched) return NULL;
    // Without a folder: ptoc build names its library folder to the linker, and libpto.so its own.
    void *library = dlopen(named && *named ? named : "libpto_wire_mpi.so", RTLD_NOW | RTLD_GLOBAL);
    if (!library) snprintf(message, size, "%s", dlerror());
    if (!library) return NULL;
    void *symbol = dlsym(library, WIRE_SYMBOL);
    wire_open *open = NULL;
    memcpy(&open, &symbol, sizeof open);
    if (open) return open(message, size);
    snprintf(message, size, "%s is a wire of another version", named ? named : "libpto_wire_mpi.so");
    return NULL;
}
