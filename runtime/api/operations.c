/* operations.c - which work requests the accelerators of a runtime can carry out.
 * Idea       the backend knows; a program adds its own to the backend sim.
 * Blocks     never.
 * Tests      test/runtime/test_requests.c */
#include "misuse.h"
#include "runtime.h"

static PTOStatus refuse(PTORuntime *rt, PTOStatus status, const char *text)
{
    if (!ptoi_is_running(rt)) ptoi_run_status_reset(rt->core.run_status);
    ptoi_fail(rt->core.run_status, status, rt->now.site, "pto_operation: %s", text);
    return status;
}

PTOStatus pto_operation(PTORuntime *rt, int32_t opcode, PTOOperationFn fn, void *context)
{
    const PTOStatus refused = ptoi_refuse_run(rt, "pto_operation");
    if (refused != PTO_OK) return refused;
    if (opcode < PTO_OP_OWN) return refuse(rt, PTO_ERR_ARGUMENT, "the opcodes of a program begin at PTO_OP_OWN, 64");
    if (!rt->core.backend->add_operation)
        return refuse(rt, PTO_ERR_UNSUPPORTED,
                      "the accelerators of this backend have the operations of the machine only");
    if (rt->core.engine->is_split)
        return refuse(rt, PTO_ERR_UNSUPPORTED,
                      "the workers of the engine process are another process, which cannot call the operation");
    if (!rt->core.backend->add_operation(rt->core.backend, opcode, fn, context))
        return refuse(rt, PTO_ERR_NOMEM, "no memory for an operation");
    return PTO_OK;
}

void ptoi_look_at_operation(PTORuntime *rt, const PTOKernel *kernel)
{
    /* Nothing is carried out there, or by external workers, which know what they can. */
    if (rt->core.config.engine == PTO_ENGINE_GRAPH || rt->core.config.skip_kernels ||
        (rt->core.config.external[PTO_WORKER_ACCELERATOR] && !rt->dist))
        return;
    if (rt->core.backend->has_operation(rt->core.backend, kernel->opcode)) return;
    const char *help = "";
    if (rt->core.backend->add_operation && kernel->opcode >= PTO_OP_OWN)
        help = rt->core.engine->is_split ? ": operations of a program run on other engines than process"
                                         : ": the program registers it with pto_operation";
    ptoi_fail(rt->core.run_status, PTO_ERR_UNSUPPORTED, rt->now.site,
              "kernel '%s' is operation %d, which the accelerators of the backend %s do not have%s", kernel->name,
              kernel->opcode, rt->core.backend->name, help);
}
