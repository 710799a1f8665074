/* report.h - writes the record of a run to a complete file that is not yet renamed into place; the caller renames or
 * drops it, whatever the status.  The public functions of the same names are these and the renaming. */
#ifndef PTOI_REPORT_H
#define PTOI_REPORT_H
#include "api/runtime.h"
#include "whole_file.h"
#include "shared/thread_error.h"
#include <errno.h>
#include <string.h>

/* What only the program knows. */
struct report_head {
    const char *program; /* its file */
    char *const *arguments;
    int argument_count;
    const char *check; /* the result of --check; NULL: it was not asked for */
};

PTOStatus ptoi_write_trace(PTORuntime *rt, const char *path, struct whole_file *file);
/* head: NULL of a run without a program. */
PTOStatus ptoi_write_report(PTORuntime *rt, const struct report_head *head, const char *path, struct whole_file *file);
PTOStatus ptoi_write_graph(PTORuntime *rt, const char *path, struct whole_file *file);
bool ptoi_has_schedule(PTOEngine engine); /* else nothing starts in an order that could be repeated */
PTOStatus ptoi_write_schedule(PTORuntime *rt, const char *path, struct whole_file *file);

static inline PTOStatus ptoi_publish(PTOStatus status, struct whole_file *file)
{
    if (status == PTO_OK && !ptoi_whole_rename(file)) status = PTO_ERR_IO;
    const int why = errno;
    ptoi_whole_drop(file);
    errno = why;
    return status;
}

/* The same for a caller of the library; a failure leaves a message in the thread. */
static inline PTOStatus ptoi_publish_for(PTOStatus status, struct whole_file *file, const char *path)
{
    status = ptoi_publish(status, file);
    const int why = errno;
    if (status == PTO_ERR_IO) ptoi_thread_fail(status, "cannot write '%s': %s", path, strerror(why));
    errno = why;
    return status;
}
static inline PTOStatus ptoi_refuse_path(const char *call)
{
    return ptoi_thread_fail(PTO_ERR_MISUSE, "%s: the path is NULL", call);
}
#endif
