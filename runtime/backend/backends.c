/* backends.c - the backends of this build. */
#include "backend.h"
#include <stdio.h>
#include <string.h>

extern const struct backend ptoi_backend_sim;

const struct backend *ptoi_backend_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size)
{
    if (strcmp(config->backend, "sim") == 0) return &ptoi_backend_sim;
    *status = PTO_ERR_UNSUPPORTED;
    snprintf(message, size, "this build has no backend '%s' (it has sim)", config->backend);
    return NULL;
}
