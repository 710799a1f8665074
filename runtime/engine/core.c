/* core.c - see core.h. */
#include "core.h"
#include "backend/failure.h"

void ptoi_core_failed(void *context, uint64_t id, int32_t result)
{
    const struct core *core = context;
    ptoi_fail_task(core->window, core->run_status, core->backend, id, result);
}
