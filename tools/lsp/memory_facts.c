/* memory_facts.c - what codegen decided about the memory of a program, for hints and hovers.
 * Idea       the plan is that of `ptoc build` without --plan; the text of a need is that of --emit=bounds.
 * Tests      test/lsp/requests.py
 */
#include "memory_facts.h"
#include "ir/ir.h"
#include "passes/bounds.h"
#include "passes/frames.h"
#include <string.h>

/* ---- releases ---------------------------------------------------------------------------------------------------- */

static void add_release(release_list *list, const struct ir_op *op, enum release_place place, struct span at)
{
    const struct symbol *s = op->release.symbol;
    while (s->next_of) s = s->next_of;
    if (!s->hidden) vec_push(list, ((struct release){s, place, at}));
}

static void visit_release(void *cx, struct ir_op *op)
{
    release_list *list = cx;
    if (op->kind != IR_RELEASE) return;
    switch (op->release.why) {
    case IR_RELEASE_BEHIND:
    case IR_RELEASE_BEHIND_CALL: add_release(list, op, RELEASE_BEHIND, op->at); break;
    case IR_RELEASE_BEFORE: add_release(list, op, RELEASE_BEFORE, op->at); break;
    case IR_RELEASE_IN_ELSE: add_release(list, op, RELEASE_ELSE, op->at); break;
    case IR_RELEASE_BY_HAND:
    case IR_RELEASE_LEAVING: break;
    }
}

void memory_releases(struct result *r, release_list *list)
{
    const struct plan *p = result_plan(r);
    for (size_t i = 0; p && i < p->functions.count; i++) ir_each(p->functions.data[i]->body, visit_release, list);
}

/* ---- needs ------------------------------------------------------------------------------------------------------- */

static void add_bytes(struct strbuf *out, const struct size *s)
{
    int64_t value;
    size_text(s, out);
    strbuf_puts(out, size_is_const(s, &value) && value == 1 ? " byte" : " bytes");
}

static char *need_text(const struct bound *b)
{
    struct strbuf out = {0};
    if (b->unknown.name) strbuf_puts(&out, "not known before the run");
    if (b->point_count == 0 && !b->unknown.name) strbuf_puts(&out, "0 bytes");
    for (int i = 0; i < b->point_count; i++) {
        strbuf_puts(&out, i > 0 ? " or " : b->unknown.name ? ", and " : "");
        add_bytes(&out, b->point[i].bytes);
    }
    return out.data;
}

static char *peak_text(const struct function_bounds *f)
{
    struct strbuf out = {0};
    if (f->peak)
        add_bytes(&out, f->peak);
    else
        strbuf_puts(&out, "not known before the run");
    for (size_t i = 0; f->peak && i < f->iterations.count; i++) {
        strbuf_puts(&out, ", and ");
        add_bytes(&out, f->iterations.data[i].bytes);
        strbuf_puts(&out, " for every iteration");
    }
    return out.data;
}

void memory_needs(struct result *r, need_list *list)
{
    struct plan *p = result_plan(r);
    for (size_t i = 0; p && i < p->orchs.count; i++) {
        const struct symbol *orch = p->orchs.data[i];
        const struct function_bounds *f = bounds_of(p, orch, orch->decl->orch.exported);
        struct span at = orch->decl->at;
        at.end = orch->decl->orch.body->at.begin;
        vec_push(list, ((struct need){at, true, need_text(&f->whole), peak_text(f)}));
        for (size_t k = 0; k < f->scopes.count; k++) {
            const struct scope_bound *s = f->scopes.data[k];
            if (s->scope->at.begin > at.end) /* that of the body is a part of the function's */
                vec_push(list, ((struct need){s->scope->at, false, need_text(&s->need), NULL}));
        }
    }
}

void memory_needs_free(need_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->data[i].need);
        free(list->data[i].peak);
    }
    vec_free(list);
}

/* ---- one tensor -------------------------------------------------------------------------------------------------- */

static int line_of(const struct result *r, uint32_t file, uint32_t offset)
{
    return source_place(r->front.sources, file, offset).line;
}

static void describe(struct result *r, const struct frame_plan *f, const struct tensor_plan *t, struct strbuf *out)
{
    if (t->storage == STORAGE_RESULT) strbuf_puts(out, "Lies in the result, where the caller wants it");
    if (t->storage == STORAGE_RING) strbuf_printf(out, "Lies in the heap: %s", t->why);
    if (t->storage == STORAGE_SLOT) {
        strbuf_printf(out, "Lies in slot %d of the frame, at ", t->slot);
        size_text(f->slots.data[t->slot].at, out);
    }
    if (t->bytes) {
        strbuf_puts(out, "; ");
        add_bytes(out, t->bytes);
    }
    if (t->first.end)
        strbuf_printf(out, "; used in lines %d to %d", line_of(r, t->first.file, t->first.begin),
                      line_of(r, t->last.file, t->last.begin));
    strbuf_puts(out, ".");
}

void memory_describe(struct result *r, const struct symbol *tensor, struct strbuf *out)
{
    const struct plan *p = result_plan(r);
    release_list releases = {0};
    for (size_t i = 0; p && i < p->orchs.count; i++) {
        const struct frame_plan *f = frame_of(p, p->orchs.data[i]);
        for (size_t k = 0; k < f->tensors.count; k++)
            if (f->tensors.data[k]->tensor == tensor) describe(r, f, f->tensors.data[k], out);
    }
    memory_releases(r, &releases);
    for (size_t i = 0; i < releases.count; i++)
        if (releases.data[i].tensor == tensor)
            strbuf_printf(out, " Released %s line %d.", releases.data[i].place == RELEASE_BEHIND ? "behind" : "in",
                          line_of(r, releases.data[i].at.file, releases.data[i].at.begin));
    vec_free(&releases);
}
