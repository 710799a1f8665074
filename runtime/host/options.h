/* options.h - the options on the command line of a built program.
 *
 * Nothing here knows the program's table or opens a file: names of params and arrays are checked by program.c.
 * Everything points into argv or into memory that ptoi_options_free returns. */
#ifndef PTO_HOST_OPTIONS_H
#define PTO_HOST_OPTIONS_H
#include "fail.h"
#include "fill.h"
#include "values.h"

#include <pto/pto_runtime.h>

/* `name=value`, as in --set, --output and --dim. */
struct host_setting {
    const char *name; /* not terminated: length says */
    int length;
    const char *value;
};

struct host_input {
    struct host_setting setting;
    struct fill_spec fill; /* FILL_NONE: the value is the path of a file */
};

struct host_options {
    PTOConfig config; /* what was not asked for is 0 */
    const char *entry;
    struct host_setting *sets, *outputs, *expects, *dims;
    struct host_input *inputs;
    struct host_setting *dists;
    double grace_seconds;                 /* 0: not given */
    int32_t ranks, sends;                 /* 0: not given */
    int64_t everywhere_bytes, copy_bytes; /* -1: not given */
    int64_t net_latency;                  /* likewise */
    double net_bytes_a_cycle;             /* 0: not given */
    int dist_count;
    int set_count, output_count, expect_count, dim_count, input_count;
    const char *trace, *report, *graph, *record; /* files to write after the run, or NULL */
    const char *cpu;                             /* --cpu as given, or NULL */
    const char *traces;                          /* likewise a folder */
    bool check, stats, advise, quiet, progress, help;
    uint64_t given; /* which rows of options.def */
};

/* Returns an exit code of fail.h.  o must be given to ptoi_options_free in any case. */
int ptoi_options_parse(struct host_options *o, int argc, char **argv, struct host_error *e);
void ptoi_options_free(struct host_options *o);
void ptoi_options_print_help(FILE *out);

bool ptoi_setting_is(const struct host_setting *s, const char *name);
#endif
