/* every_call.h - each call of an orchestration, by its number: made once, with what it came to. */
#ifndef PTO_TEST_EVERY_CALL_H
#define PTO_TEST_EVERY_CALL_H
#include "misuse_unit.h"
#include <pto/pto_program.h>

enum {
    SUBMIT_CALL,
    SCOPE_BEGIN,
    SCOPE_END,
    SCOPE_CURRENT,
    SCOPE_DEPTH,
    GET_OUTPUT,
    ALLOC,
    RELEASE,
    AWAIT,
    AWAIT_USERS,
    RUN,
    RUN_ENTRY,
    CALLS
};
static const char *const call_names[CALLS] = {"pto_submit_task",   "pto_scope_begin", "pto_scope_end",
                                              "pto_scope_current", "pto_scope_depth", "pto_task_get_output",
                                              "pto_alloc",         "pto_release",     "pto_await",
                                              "pto_await_users",   "pto_runtime_run", "pto_run_entry"};

/* PTO_ERR_MISUSE, also for a call that returns no status but says by its result that it was refused. */
static inline int64_t make_call(PTORuntime *rt, int call, void *cell)
{
    switch (call) {
    case SUBMIT_CALL: return SUBMIT(rt, &increment, PTO_INOUT(cell, 0, 8));
    case SCOPE_BEGIN: return pto_scope_begin(rt) == PTO_SCOPE_CURRENT ? PTO_ERR_MISUSE : 0;
    case SCOPE_END: return pto_scope_end(rt), PTO_ERR_MISUSE;
    case SCOPE_CURRENT: return pto_scope_current(rt) == PTO_SCOPE_CURRENT ? PTO_ERR_MISUSE : 0;
    case SCOPE_DEPTH: return pto_scope_depth(rt) == 0 ? PTO_ERR_MISUSE : 0;
    case GET_OUTPUT: return pto_task_get_output(rt, 0, 0) ? 0 : PTO_ERR_MISUSE;
    case ALLOC: return pto_alloc(rt, PTO_SCOPE_CURRENT, 64) ? 0 : PTO_ERR_MISUSE;
    case RELEASE: return pto_release(rt, cell), PTO_ERR_MISUSE;
    case AWAIT: return pto_await(rt, cell, 0, 8);
    case AWAIT_USERS: return pto_await_users(rt, cell, 0, 8);
    case RUN: return pto_runtime_run(rt, one_task, cell);
    default: return pto_run_entry(rt, one_task, cell);
    }
}

#endif
