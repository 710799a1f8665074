/* session.h - one call of a built program: its command line, matched against the program's table, and what it holds.
 * Owner      program.c makes and frees it; session_free returns everything on every way out.
 * Tests      test/lit/host/
 */
#ifndef PTO_HOST_SESSION_H
#define PTO_HOST_SESSION_H
#include "bind.h"
#include "dist/home.h"
#include "fail.h"
#include "npy.h"
#include "options.h"
#include "params.h"
#include "report/whole_file.h"
#include "wire/wire.h"
#include <pto/pto_program.h>

/* What belongs to one formal of the entry. */
struct argument {
    const struct host_input *input; /* NULL: none was given */
    const char *output;             /* path, or NULL */
    struct npy_file file;
    bool *lacks;              /* of several ranks, by rank: it sees no such file; NULL: there is none, or one rank */
    struct distribution home; /* --dist; rank 0: not given */
    struct host_array oracle; /* --check: its own copy */
    bool scalar_set;
    bool is_expected; /* --expect: what it is compared with */
    struct npy_file expected;
    bool is_in_place; /* on several ranks each writes its cells of the output */
    bool is_unseen;   /* on several ranks rank 0 has no use for the result */
    PTOResult result; /* the run decides its extents */
    PTOResult oracle_result;
};

struct session {
    const PTOProgram *program;
    const PTOEntry *entry;
    char *const *command;
    int command_count;
    struct host_options options;
    struct host_error error;
    PTORuntime *rt;
    struct rank_clock *clocks;  /* by rank; NULL: no record of several is shown */
    struct joined *joined;      /* NULL: likewise */
    bool has_stopped;           /* the ranks have agreed that they end, so each comes to its end */
    struct wire *wire;          /* NULL: one rank.  The others of several print nothing, and write schedules */
    char *record, *replay;      /* of a rank: its files; NULL: none */
    struct argument *arguments; /* entry->formal_count of each of these */
    struct bind_formal *formals;
    PTOScalar *scalars;
    void **data;
    int64_t *dims; /* entry->dim_count */
    void *params;  /* the record of the params */
    bool *given;   /* program->param_count: by --set */
    PTOCall call;  /* of the five lists above */
    int32_t *origin;
    /* files that are renamed together at the end */
    struct written {
        struct whole_file file;
        const char *path;
    } * written;
    int written_count;
};

static inline bool session_is_first(const struct session *s) { return !s->wire || s->wire->rank == 0; }

/* Are several ranks planned by this process, not launched? */
static inline bool session_plans_ranks(const struct session *s)
{
    const PTOEngine engine = s->options.config.engine;
    return !s->wire && s->options.ranks > 0 && (engine == PTO_ENGINE_TIMING || engine == PTO_ENGINE_GRAPH);
}

static inline bool session_is_tensor(const PTOFormal *f) { return f->rank > 0; }

static inline bool session_is_written(const PTOFormal *f)
{
    return session_is_tensor(f) && (f->direction == PTO_OUT || f->direction == PTO_INOUT_ || f->direction == PTO_ACC_);
}

static inline const char *session_direction(PTODirection direction)
{
    static const char *const names[] = {"in", "out", "inout", "acc", "own", "host"};
    return names[direction];
}

/* A line on standard error, where the user wants progress. */
__attribute__((format(printf, 2, 3))) static inline void session_progress(const struct session *s, const char *format,
                                                                          ...)
{
    if (!s->options.progress) return;
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

#endif
