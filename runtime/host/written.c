/* written.c - see written.h.
 * Idea       every pair of paths, compared as the files that they mean: a folder has several paths, and a link another.
 * Owner      nothing.
 * Blocks     never.
 * Tests      test/lit/host/outputs.test, test/runtime/test_whole_file.c
 */
#include "written.h"
#include "npz.h"
#include "report/whole_file.h"

struct result {
    const char *option, *path; /* path NULL: it was not asked for */
    const char *array;
    int length; /* of the array's name, which is not terminated; 0: no array */
};

enum { RECORDS = 4 };

static struct result result_at(const struct host_options *o, int k)
{
    if (k >= RECORDS) {
        const struct host_setting *s = &o->outputs[k - RECORDS];
        return (struct result){"--output ", s->value, s->name, s->length};
    }
    const struct result records[RECORDS] = {{"--trace", o->trace, "", 0},
                                            {"--report", o->report, "", 0},
                                            {"--graph", o->graph, "", 0},
                                            {"--record", o->record, "", 0}};
    return records[k];
}

static bool share_archive(const struct result *a, const struct result *b)
{
    return a->length > 0 && b->length > 0 && ptoi_npz_is_path(a->path) && strcmp(a->path, b->path) == 0;
}

int ptoi_written_check(struct session *s)
{
    const int count = RECORDS + s->options.output_count;
    for (int i = 1; i < count; i++)
        for (int k = 0; k < i; k++) {
            const struct result a = result_at(&s->options, k), b = result_at(&s->options, i);
            if (a.path && b.path && !share_archive(&a, &b) && ptoi_whole_is_same(a.path, b.path))
                return host_fail(&s->error, HOST_USAGE, "%s%.*s and %s%.*s write one file, %s", a.option, a.length,
                                 a.array, b.option, b.length, b.array, b.path);
        }
    return HOST_OK;
}
