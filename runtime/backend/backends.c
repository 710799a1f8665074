/* backends.c - the backends of this build, as backends.def lists them. */
#include "backend.h"
#include <stdio.h>
#include <string.h>

#define BACKEND(name, note)                                                                                            \
    const struct backend *ptoi_##name##_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size);
#include "backends.def"
#undef BACKEND

static const char list[] =
#define BACKEND(name, note) ", " #name note
#include "backends.def"
#undef BACKEND
    ;

const struct backend *ptoi_backend_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size)
{
#define BACKEND(name, note)                                                                                            \
    if (strcmp(config->backend, #name) == 0) return ptoi_##name##_open(config, status, message, size);
#include "backends.def"
#undef BACKEND
    *status = PTO_ERR_UNSUPPORTED;
    snprintf(message, size, "this build has no backend '%s' (it has %s)", config->backend, list + 2);
    return NULL;
}
