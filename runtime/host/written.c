/* written.c - see written.h.
 * Idea       every pair of paths, compared as the files that they mean: a folder has several paths, and a link another.
 * Owner      nothing.
 * Blocks     never.
 * Tests      test/lit/host/outputs.test, test/runtime/test_whole_file.c, test/wire/check_reports.py
 */
#include "written.h"
#include "npz.h"
#include "report/whole_file.h"
#include <inttypes.h>
#include <limits.h>

struct result {
    const char *option, *path; /* path NULL: it was not asked for */
    const char *array;
    int length;    /* of the array's name, which is not terminated; 0: no array */
    int32_t ranks; /* each writes a file of its own, `path`.0, `path`.1 and so on; 0: one file */
};

enum { RECORDS = 4 };

static struct result result_at(const struct session *s, int k)
{
    const struct host_options *o = &s->options;
    if (k >= RECORDS) {
        const struct host_setting *x = &o->outputs[k - RECORDS];
        return (struct result){"--output ", x->value, x->name, x->length, 0};
    }
    const struct result records[RECORDS] = {{"--trace", o->trace, "", 0, 0},
                                            {"--report", o->report, "", 0, 0},
                                            {"--graph", o->graph, "", 0, 0},
                                            {"--record", o->record, "", 0, s->wire ? s->wire->ranks : 0}};
    return records[k];
}

static bool share_archive(const struct result *a, const struct result *b)
{
    return a->length > 0 && b->length > 0 && ptoi_npz_is_path(a->path) && strcmp(a->path, b->path) == 0;
}

/* The path of a file that both write; NULL: there is none.  The names of one that has ranks are made in `room`. */
static const char *shared_file(const struct result *a, const struct result *b, char *room, size_t size)
{
    const struct result *many = a->ranks > 0 ? a : b, *one = a->ranks > 0 ? b : a;
    if (many->ranks == 0) return ptoi_whole_is_same(a->path, b->path) ? b->path : NULL;
    for (int32_t k = 0; k < many->ranks; k++) {
        snprintf(room, size, "%s.%" PRId32, many->path, k);
        if (ptoi_whole_is_same(room, one->path)) return room;
    }
    return NULL;
}

/* The program that runs, and its source where that is at hand: a result in their place would destroy them. */
static int refuse_program(struct session *s, const struct result *r)
{
    const char *const kept[] = {"/proc/self/exe", s->program->file};
    for (size_t i = 0; r->path && i < sizeof kept / sizeof *kept; i++)
        if (ptoi_whole_is_same(r->path, kept[i]))
            return host_fail(&s->error, HOST_USAGE, "%s%.*s would replace the program, %s", r->option, r->length,
                             r->array, r->path);
    return HOST_OK;
}

int ptoi_written_check(struct session *s)
{
    char room[PATH_MAX];
    if (s->wire && s->options.record && strcmp(s->options.record, "-") == 0)
        return host_fail(
            &s->error, HOST_USAGE,
            "--record -: each rank writes a file of its own, FILE.0, FILE.1 and so on, so a name is needed");
    const int count = RECORDS + s->options.output_count;
    for (int i = 0; i < count; i++) {
        const struct result r = result_at(s, i);
        const int code = refuse_program(s, &r);
        if (code != HOST_OK) return code;
    }
    for (int i = 1; i < count; i++)
        for (int k = 0; k < i; k++) {
            const struct result a = result_at(s, k), b = result_at(s, i);
            const bool may_share = !a.path || !b.path || share_archive(&a, &b);
            const char *path = may_share ? NULL : shared_file(&a, &b, room, sizeof room);
            if (path)
                return host_fail(&s->error, HOST_USAGE, "%s%.*s and %s%.*s write one file, %s", a.option, a.length,
                                 a.array, b.option, b.length, b.array, path);
        }
    return HOST_OK;
}
