/* backends.c - the backends of this build. */
#include "backend.h"
#include <stdio.h>
#include <string.h>

const struct backend *ptoi_sim_open(PTOStatus *status, char *message, size_t size);
const struct backend *ptoi_ascend_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size);

const struct backend *ptoi_backend_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size)
{
    if (strcmp(config->backend, "sim") == 0) return ptoi_sim_open(status, message, size);
    if (strcmp(config->backend, "ascend") == 0) return ptoi_ascend_open(config, status, message, size);
    *status = PTO_ERR_UNSUPPORTED;
    snprintf(message, size, "this build has no backend '%s' (it has sim and ascend)", config->backend);
    return NULL;
}
