/* programs.h - small programs for the cases that run them: each says itself whether its results are right. */
#ifndef CHECK_PROGRAMS_H
#define CHECK_PROGRAMS_H
#include "cases.h"
#include "submit.h"
#include <string.h>

/* The smallest rings: every third task waits for a slot, every fifth buffer for the heap. */
#define PROGRAMS_SMALL                                                                                                 \
    .task_window = 2, .heap_bytes = 256, .heap_rings = 1, .deplist_entries = 4, .tensormap_entries = 8,                \
    .recursion_limit = 4, .always_defer = true

typedef void program(PTORuntime *rt, void *arg);

/* Creates a runtime, runs the program, destroys it; another status is a fault. */
void program_run(const PTOConfig *config, program *p, PTOStatus wanted);
/* The same with a second thread that does something with the runtime meanwhile. */
void program_run_beside(const PTOConfig *config, program *p, void *(*other)(void *rt), const PTOStatus *wanted,
                        int wanted_count);

program program_one, program_reuse, program_chain, program_await, program_release, program_failure, program_events,
    program_deadlock, program_wide, program_updates, program_types, program_fine, program_own_work;

extern const PTOKernel fill_kernel;

#endif
