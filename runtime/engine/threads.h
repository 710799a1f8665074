/* threads.h - the lanes of threads.c, for an engine that holds them in another process. */
#ifndef PTOI_THREADS_H
#define PTOI_THREADS_H
#include "shared/park.h"
#include "running.h"
#include "core.h"

/* Starts the workers; the orchestrator is in another process: it reads `line` (one a worker) and sleeps at `notify`,
 * which the holder of the role rings after every step that changed something. */
PTOStatus ptoi_threads_open_apart(struct core *core, struct running_line *line, struct bell *notify);
void ptoi_threads_close(struct core *core);
void ptoi_threads_begin(struct core *core);
/* Schedules until there is nothing left to take.  true: something was taken. */
bool ptoi_threads_schedule(struct core *core);
/* Waits for the role; until it is given back the caller is the scheduler.  changed: the orchestrator is notified. */
void ptoi_threads_take_role(struct core *core);
void ptoi_threads_leave_role(struct core *core, bool changed);

#endif
