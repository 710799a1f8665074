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

/* Launchers: Open MPI, and those that speak PMI, such as that of MPICH.  The library of MPICH is there where two were
 * found when the runtime was built, else the one that was found has the other name. */
static const struct {
    const char *count;
    const char *wires[2];
} launchers[] = {{"OMPI_COMM_WORLD_SIZE", {"libpto_wire_mpi.so"}},
                 {"PMI_SIZE", {"libpto_wire_mpich.so", "libpto_wire_mpi.so"}}};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* Which launcher has started `count` processes, which are several; LAUNCHERS: none. */
static int find_launcher(int *count)
{
    for (int i = 0; i < LAUNCHERS; i++) {
        const char *text = getenv(launchers[i].count);
        *count = text ? atoi(text) : 1;
        if (text) return *count > 1 ? i : LAUNCHERS;
    }
    return LAUNCHERS;
}

/* Without a folder: ptoc build names its library folder to the linker, and libpto.so its own. */
static void *open_library(const char *name, char *message, size_t size)
{
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_GLOBAL) : NULL;
    if (name && !library) snprintf(message, size, "%s", dlerror());
    return library;
}

struct wire *ptoi_wire_open(bool *is_launched, char *message, size_t size)
{
    const char *named = getenv("PTO_WIRE");
    int count;
    const int launcher = find_launcher(&count);
    void *library = NULL;
    if (named && !*named) named = NULL;
    message[0] = '\0';
    *is_launched = named || launcher < LAUNCHERS;
    if (!*is_launched) return NULL;
    for (int i = 0; i < 2 && !library; i++)
        library = open_library(!named ? launchers[launcher].wires[i] : i == 0 ? named : NULL, message, size);
    if (!library) return NULL;
    void *symbol = dlsym(library, WIRE_SYMBOL);
    wire_open *open = NULL;
    memcpy(&open, &symbol, sizeof open);
    if (!open) snprintf(message, size, "%s is a wire of another version", named ? named : "the wire over MPI");
    struct wire *wire = open ? open(message, size) : NULL;
    if (!wire || launcher == LAUNCHERS || wire->ranks == count) return wire;
    snprintf(message, size, "the launcher has started %d processes, and MPI knows %d: they belong to different MPIs",
             count, wire->ranks);
    ptoi_wire_close(wire, 0, true);
    return NULL;
}
