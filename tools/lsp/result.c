/* result.c - one check of a document: a compiler state of its own.
 * Idea       a fresh arena, fresh names, files and messages for each check; so nothing of an earlier one can be wrong.
 * Owner      whoever asked for the check.
 * Blocks     in reading files that are imported.
 * Tests      test/lsp/diagnostics.py, session.py
 */
#include "result.h"
#include "allocate.h"
#include "codegen.h"
#include "names.h"
#include "plan.h"
#include "support/arena.h"
#include "support/intern.h"
#include <stdio.h>
#include <string.h>

static char *copy_text(struct result *r, const char *text)
{
    return text ? arena_copy(r->front.mem, text, strlen(text)) : NULL;
}

/* The message dies with the call: its copy is the result's. */
static void keep(void *cx, const struct diag_message *m)
{
    struct result *r = cx;
    struct diag_message copy = *m;
    struct diag_part *parts = arena_array(r->front.mem, struct diag_part, m->part_count + 1);
    for (size_t i = 0; i < m->part_count; i++) {
        parts[i] = m->parts[i];
        parts[i].text = copy_text(r, m->parts[i].text);
        parts[i].replacement = copy_text(r, m->parts[i].replacement);
    }
    copy.text = copy_text(r, m->text);
    copy.parts = parts;
    vec_push(&r->messages, copy);
}

static void ignore(void *cx, const struct diag_message *m) { (void)cx, (void)m; }

void result_listen(struct result *r) { diag_set_receiver(r->front.diag, keep, r); }

void result_end_messages(struct result *r)
{
    diag_flush(r->front.diag);
    diag_set_receiver(r->front.diag, ignore, NULL);
}

struct staleness {
    const struct check_request *request;
    struct result *result;
};

static bool is_stale(void *cx)
{
    const struct staleness *s = cx;
    if (!s->result->is_stale) s->result->is_stale = s->request->is_stale(s->request->stale_cx);
    return s->result->is_stale;
}

struct result *result_check(const struct check_request *request)
{
    const struct lsp_options *o = request->options;
    struct result *r = allocate(sizeof *r);
    struct source_map *sources = source_map_create();
    *r = (struct result){
        .front = {.mem = arena_create(),
                  .names = interner_create(),
                  .sources = sources,
                  .diag = diag_create(sources, stderr)},
    };
    result_listen(r);
    request->overlay(request->overlay_cx, sources);
    struct staleness stale = {request, r};
    const struct sema_options sema = {
        .import_dirs = o->import_dirs,
        .import_dir_count = o->import_dir_count,
        .defines = o->defines,
        .define_count = o->define_count,
        .is_stale = request->is_stale ? is_stale : NULL,
        .stale_cx = &stale,
    };
    r->checked = codegen_check(&r->front, request->path, &sema);
    result_end_messages(r);
    r->error_count = diag_error_count(r->front.diag);
    return r;
}

void result_free(struct result *r)
{
    if (!r) return;
    if (r->plan) plan_destroy(r->plan);
    for (size_t i = 0; i < r->lines.count; i++)
        if (r->lines.data[i]) lines_free(r->lines.data[i]), free(r->lines.data[i]);
    vec_free(&r->lines);
    vec_free(&r->messages);
    if (r->names) vec_free(r->names);
    free(r->names);
    diag_destroy(r->front.diag);
    source_map_destroy(r->front.sources);
    interner_destroy(r->front.names);
    arena_destroy(r->front.mem);
    free(r);
}

const struct lines *result_lines(struct result *r, uint32_t file)
{
    while (r->lines.count <= file) vec_push(&r->lines, NULL);
    struct lines **l = &r->lines.data[file];
    if (!*l) {
        const struct source *s = source_get(r->front.sources, file);
        *l = allocate(sizeof **l);
        lines_make(*l, s->text, s->length);
    }
    return *l;
}

const struct module *result_module(const struct result *r, uint32_t file)
{
    for (int i = 0; i < r->checked->module_count; i++)
        if (r->checked->modules[i]->ast->file == file) return r->checked->modules[i];
    return NULL;
}

struct module *result_main(const struct result *r)
{
    return r->checked->module_count > 0 ? r->checked->modules[0] : NULL;
}

struct plan *result_plan(struct result *r)
{
    static const struct memory_plan usual = {.kind = PLAN_FREE};
    if (!r->plan && r->error_count == 0 && r->checked->module_count > 0)
        r->plan = plan_create(&r->front, r->checked, &usual, false, NULL);
    return r->plan;
}
