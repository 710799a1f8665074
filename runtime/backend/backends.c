/* backends.c - the backends of this build. */
#include "backend.h"
#include <string.h>

extern const struct backend ptoi_backend_sim;

static const struct backend *const backends[] = {&ptoi_backend_sim};

const struct backend *ptoi_backend_find(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++)
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    return NULL;
}
