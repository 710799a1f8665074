/* stats.h - the counters of the roles, as stats.def lists them.
 * Owner      each struct: the role whose member it is.  A run begins with zeros.
 * Tests      test/runtime/test_process.c, test_runtime.c */
#ifndef PTOI_STATS_H
#define PTOI_STATS_H
#include <pto/pto_types.h>

struct orchestrator_stats {
#define OF_ORCHESTRATOR(member) member
#define OF_SCHEDULER(member)
#define OF_ENGINE(member)
#define OF_RUNTIME(member)
#define PTO_RUN_FIELD(owner, type, name, array, text, unit) OF_##owner(type name array;)
#include <pto/stats.def>
#undef OF_ORCHESTRATOR
#undef OF_SCHEDULER
};

struct scheduler_stats {
#define OF_ORCHESTRATOR(member)
#define OF_SCHEDULER(member)                                member
#define PTO_RUN_FIELD(owner, type, name, array, text, unit) OF_##owner(type name array;)
#include <pto/stats.def>
#undef OF_ORCHESTRATOR
#undef OF_SCHEDULER
#undef OF_ENGINE
#undef OF_RUNTIME
};

#endif
