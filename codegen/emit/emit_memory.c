/* emit_memory.c - frames and their slots: in generated C, as the text of --emit=memory, as W06 and W07.
 * Idea       a frame is one allocation at the function's entry; a tensor's variable begins as its slot, where the first
 *            writer then finds a place, or as NULL, where it makes one.  So a frame that the run time refuses costs
 *            nothing but its use.
 * Tests      test/lit/memory/frames.pto, plans.test
 */
#include "codegen.h"
#include "emit.h"
#include "passes/frames.h"
#include <string.h>

/* ---- generated C ---- */

static const char *shown_name(struct emitter *e, const struct symbol *s)
{
    return s->hidden ? arena_printf(e->mem, "%s()", s->name) : s->name;
}

static const char *size_string(struct emitter *e, const struct size *s)
{
    STRBUF(b);
    size_text(s, &b);
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

void frame_emit(struct emitter *e, const struct ir_op *op)
{
    const struct frame_plan *f = frame_of(e->plan, op->frame.orch);
    STRBUF(bytes);
    STRBUF(comment);
    for (size_t i = 0; i < f->slots.count; i++) {
        const char *before = i > 0 ? "; " : "";
        for (size_t t = 0; t < f->tensors.count; t++) {
            const struct tensor_plan *p = f->tensors.data[t];
            if (p->storage != STORAGE_SLOT || p->number < 0 ||
                (p->slot != (int)i && !(p->alternates && p->slot + 1 == (int)i)))
                continue;
            strbuf_printf(&comment, "%s%s", before, shown_name(e, p->tensor));
            before = ", ";
        }
        strbuf_printf(&comment, " at %s", size_string(e, f->slots.data[i].at));
    }
    value_print(e, &bytes, op->frame.bytes, P_ANY);
    strbuf_puts(&bytes, ", ");
    value_print(e, &bytes, op->frame.need, P_ANY);
    e->frame = names_take(&e->names, "frame");
    out_line(e->out, "void *const %s = pto_frame(rt, %s); /* %s */", e->frame, strbuf_text(&bytes),
             strbuf_text(&comment));
}

/* ---- warnings ---- */

void frame_report(struct emitter *e, const struct symbol *orch)
{
    const struct frame_plan *f = frame_of(e->plan, orch);
    struct diag *d = e->front->diag;
    for (size_t i = 0; i < f->added.count; i++) {
        const struct added_order *a = &f->added.data[i];
        const char *name = shown_name(e, a->tensor);
        if (a->tensor == a->before && a->tensor->exchange) {
            diag_warning(d, DIAG_W07, a->at,
                         "'%s' has %d slots in the frame, which alternate: its next value waits for the readers of an "
                         "earlier one",
                         name, slot_of(e->plan, a->tensor)->count);
        } else if (a->tensor == a->before) {
            diag_warning(d, DIAG_W07, a->at,
                         "'%s' has one slot in the frame for all iterations of the loop: an iteration waits for %s",
                         name, slot_of(e->plan, a->tensor)->alternates ? "the one before the last" : "the last");
        } else {
            diag_warning(d, DIAG_W07, a->at, "'%s' reuses the slot of '%s' and waits for it", name,
                         shown_name(e, a->before));
            diag_note(d, a->reader, "'%s' is used here, which nothing else orders before", shown_name(e, a->before));
        }
    }
    for (size_t i = 0; i < f->tensors.count; i++) {
        const struct tensor_plan *p = f->tensors.data[i];
        if (p->storage != STORAGE_SLOT || !p->across || e->plan->memory.kind == PLAN_FREE) continue;
        diag_warning(d, DIAG_W06, p->first, "'%s' lives in the frame: it outlives a loop that makes tensors of its own",
                     shown_name(e, p->tensor));
        diag_note(d, (struct span){p->across->at.file, p->across->at.begin, p->across->at.begin + 1},
                  "the loop begins here");
    }
}

/* ---- --emit=memory ---- */

static int line_of(struct emitter *e, struct span at)
{
    return source_place(e->front->sources, at.file, at.begin).line;
}

static const char *storage_text(struct emitter *e, const struct frame_plan *f, const struct tensor_plan *p)
{
    if (p->storage == STORAGE_RESULT) return "result  where the caller wants it";
    if (p->storage == STORAGE_RING) return arena_printf(e->mem, "ring    %s", p->why);
    const char *at = size_string(e, f->slots.data[p->slot].at);
    if (p->tensor->exchange)
        return arena_printf(e->mem, "slot %d  at %s, one of %d that alternate", p->slot, at, p->count);
    if (!p->alternates) return arena_printf(e->mem, "slot %d  at %s", p->slot, at);
    return arena_printf(e->mem, "slot %d  at %s, and %d at %s alternately", p->slot, at, p->slot + 1,
                        size_string(e, f->slots.data[p->slot + 1].at));
}

static void print_tensor_plan(struct emitter *e, const struct frame_plan *f, const struct tensor_plan *p)
{
    const char *bytes =
        p->bytes ? arena_printf(e->mem, "%s bytes", size_string(e, p->bytes)) : "bytes known when it is made";
    const char *lifetimes =
        p->first.end ? arena_printf(e->mem, "lines %d to %d", line_of(e, p->first), line_of(e, p->last)) : "not used";
    out_line(e->out, "  %-12s %s  %s, %s, %s", shown_name(e, p->tensor), storage_text(e, f, p),
             type_string(e, p->tensor->type), bytes, lifetimes);
}

static void print_memory(struct emitter *e, const struct symbol *orch)
{
    const struct frame_plan *f = frame_of(e->plan, orch);
    struct span head = orch->decl->at;
    head.end = orch->decl->orch.body->at.begin;
    out_line(e->out, "%s:%d  %s", source_get(e->front->sources, head.file)->path, line_of(e, head),
             emit_source_text(e, head));
    for (size_t i = 0; i < f->tensors.count; i++) print_tensor_plan(e, f, f->tensors.data[i]);
    if (f->bytes)
        out_line(e->out, "  frame        %s bytes; without reuse %s bytes", size_string(e, f->bytes),
                 size_string(e, f->without));
    else if (f->tensors.count > 0)
        out_line(e->out, "  no frame: %s", f->why);
    else
        out_line(e->out, "  no tensors of its own");
    for (size_t i = 0; i < f->added.count; i++) {
        const struct added_order *a = &f->added.data[i];
        if (a->tensor == a->before)
            out_line(e->out, "  order        an iteration of the loop of %s waits for an earlier one",
                     shown_name(e, a->tensor));
        else
            out_line(e->out, "  order        %s waits for %s", shown_name(e, a->tensor), shown_name(e, a->before));
    }
}

void codegen_memory(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *to)
{
    emit_listing(front, checked, &options->memory, print_memory, to);
}
