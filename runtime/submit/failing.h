/* failing.h - how the orchestrator fails a run: at the program's place, and with a sentence.
 *
 * Idea       what a submit may be refused for is a list, refusals.def, so that the sentence and the status of a refusal
 *            do not depend on the path of the task.
 * Owner      the orchestrator.
 * Blocks     never.
 * Tests      test/runtime/test_decode.c, test_run_status.c */
#ifndef PTOI_FAILING_H
#define PTOI_FAILING_H
#include "state.h"

/* Fails the run at the program's place; the status of the failure that sticks. */
PTOStatus ptoi_orch_fail(struct orchestrator *o, PTOStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool ptoi_orch_has_failed(const struct orchestrator *o) { return ptoi_status(o->run_status) != PTO_OK; }

enum refusal {
    REFUSED_NOT,
#define REFUSAL(name, ...) REFUSED_##name,
#include "refusals.def"
#undef REFUSAL
};

/* Why a submit of the kernel with so many parameters is refused, whatever these are. */
static inline enum refusal ptoi_refusal_of(const PTOKernel *kernel, const PTOTaskParam *params, int32_t count)
{
    if (!kernel) return REFUSED_KERNEL;
    if ((unsigned)kernel->worker >= PTO_WORKER_TYPES) return REFUSED_WORKER;
    if (!kernel->fn && (kernel->worker != PTO_WORKER_ACCELERATOR || kernel->opcode == PTO_OP_NONE))
        return REFUSED_FUNCTION;
    if (count > 0 && !params) return REFUSED_LIST;
    return count < 0 || count > PTO_TASK_PARAMS ? REFUSED_COUNT : REFUSED_NOT;
}

/* What the sentence of a refusal is about; members that it does not name may be missing. */
struct refused {
    const PTOTaskParam *param;
    const PTOKernel *kernel; /* NULL: an await is refused */
    int index;
    long long number;
};
/* Fails the run. */
PTOStatus ptoi_refuse_submit(struct orchestrator *o, enum refusal why, const struct refused *r);

#endif
