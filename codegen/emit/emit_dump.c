/* emit_dump.c - prints the plan that the memory analyses made: --dump=scopes, liveness, slots.
 * Idea       one line for each decision, with the line of the program where it applies.
 * Tests      test/lit/memory/dump.pto
 */
#include "codegen.h"
#include "emit.h"
#include "grad/adjoint.h"
#include "passes/frames.h"
#include <string.h>

static int line_of(const struct emitter *e, struct span at)
{
    return source_place(e->front->sources, at.file, at.begin).line;
}

static int last_line_of(const struct emitter *e, struct span at)
{
    return source_place(e->front->sources, at.file, at.end > at.begin ? at.end - 1 : at.begin).line;
}

static const char *names_of(struct emitter *e, const struct symbol *const *list, int count)
{
    STRBUF(b);
    for (int i = 0; i < count; i++)
        strbuf_printf(&b, "%s%s%s", i ? ", " : "", list[i]->name, list[i]->hidden ? "()" : "");
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

/* ---- scopes: who owns what ---- */

static void print_scope(void *cx, struct ir_op *op)
{
    struct emitter *e = cx;
    if (op->kind != IR_SCOPE_BEGIN || op->scope.count == 0) return;
    const char *what = op->scope.is_value ? "value" : "block";
    out_line(e->out, "  %s of lines %d to %d owns %s", what, line_of(e, op->at), last_line_of(e, op->at),
             names_of(e, op->scope.tensors, op->scope.count));
}

/* ---- liveness: where a lifetime ends before its scope does ---- */

static void print_else(struct emitter *e, const struct ir_op *branch)
{
    const struct ir_op *op = branch->branch.other ? branch->branch.other->first : NULL;
    for (; op && op->kind == IR_RELEASE && op->release.why == IR_RELEASE_IN_ELSE; op = op->next)
        out_line(e->out, "  in the else branch that line %d has not: %s", line_of(e, branch->branch.whole),
                 names_of(e, &op->release.symbol, 1));
}

static void print_release(void *cx, struct ir_op *op)
{
    static const char *const where[] = {[IR_RELEASE_BEHIND] = "behind the statement of",
                                        [IR_RELEASE_BEHIND_CALL] = "behind the call of",
                                        [IR_RELEASE_BEFORE] = "at the beginning of the block of"};
    struct emitter *e = cx;
    if (op->kind == IR_IF) print_else(e, op);
    if (op->kind != IR_RELEASE || op->release.why == IR_RELEASE_IN_ELSE || !where[op->release.why]) return;
    out_line(e->out, "  %s line %d: %s", where[op->release.why], line_of(e, op->at),
             names_of(e, &op->release.symbol, 1));
}

/* ---- slots: who lies where in the frame, and when ---- */

static const char *size_string(struct emitter *e, const struct size *s)
{
    STRBUF(b);
    size_text(s, &b);
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

static void print_slots(struct emitter *e, const struct symbol *orch)
{
    const struct frame_plan *f = frame_of(e->plan, orch);
    if (!f->bytes) out_line(e->out, "  no frame: %s", f->tensors.count > 0 ? f->why : "no tensors of its own");
    for (size_t i = 0; i < f->slots.count; i++) {
        out_line(e->out, "  slot %zu at %s, %s bytes", i, size_string(e, f->slots.data[i].at),
                 size_string(e, f->slots.data[i].bytes));
        for (size_t t = 0; t < f->tensors.count; t++) {
            const struct tensor_plan *p = f->tensors.data[t];
            if (p->storage != STORAGE_SLOT || (p->slot != (int)i && !(p->alternates && p->slot + 1 == (int)i)))
                continue;
            out_line(e->out, "    %s%s of lines %d to %d%s", p->tensor->name, p->tensor->hidden ? "()" : "",
                     line_of(e, p->first), line_of(e, p->last), p->alternates ? ", every other iteration" : "");
        }
    }
}

static void print_ir(struct emitter *e, const struct ir_function *f)
{
    STRBUF(text);
    ir_print(e->front, f, &text);
    if (text.length) text.data[--text.length] = '\0'; /* the last line ends with the section */
    out_raw(e->out, NULL, 0, strbuf_text(&text), text.length);
}

static void print_function(struct emitter *e, const struct ir_function *f, unsigned dumps)
{
    const struct symbol *orch = f->orch;
    struct ast *body = orch->decl->orch.body;
    struct span head = orch->decl->at;
    head.end = body->at.begin;
    out_line(e->out, "%s:%d  %s", source_get(e->front->sources, head.file)->path, line_of(e, orch->decl->at),
             emit_source_text(e, head));
    if (dumps & 1U << DUMP_SCOPES) {
        out_line(e->out, "%s", " scopes");
        ir_each(f->body, print_scope, e);
    }
    if (dumps & 1U << DUMP_LIVENESS) {
        out_line(e->out, "%s", " liveness");
        ir_each(f->body, print_release, e);
    }
    if (dumps & 1U << DUMP_SLOTS) {
        out_line(e->out, "%s", " slots");
        print_slots(e, orch);
    }
    if (dumps & 1U << DUMP_IR) print_ir(e, f);
}

const char *const codegen_dump_words[] = {
#define DUMP(id, word) word,
#include "passes.def"
};

bool codegen_has_pass(const char *name) { return plan_has_pass(name); }

void codegen_dump(struct front *front, const struct checked *checked, const struct memory_plan *memory, unsigned dumps,
                  const char *last, struct strbuf *to)
{
    if (dumps & 1U << DUMP_ADJOINT) adjoint_dump(front, checked, to);
    if (!(dumps & ~(1U << DUMP_ADJOINT))) return;
    struct out out = {0};
    struct emitter e = {.front = front,
                        .checked = checked,
                        .mem = front->mem,
                        .out = &out,
                        .plan = plan_create(front, checked, memory, false, last)};
    for (size_t i = 0; i < e.plan->orchs.count; i++) {
        if (i > 0) out_line(e.out, "%s", "");
        print_function(&e, e.plan->functions.data[i], dumps);
    }
    out_render(&out, "", false, to);
    out_clear(&out);
    plan_destroy(e.plan);
}
