/* emit_strips.c - before a loop: the offer to the runtime to take its first iterations as strips (pto_strip.h).
 * Idea       the offer describes the calls of the first iteration, as the loop itself would submit them, and how much
 *            each parameter grows.  The loop begins where the runtime has stopped.
 * Invariant  a call in the offer and the same call in the loop have one site.
 * Tests      test/lit/codegen/strips.pto
 */
#include "emit.h"

static void emit_call(struct emitter *e, const struct ir_strip_call *c, const char *end)
{
    const struct ir_call *call = c->submit->call;
    const struct kernel_names *names = ptrmap_get(&e->kernels, call->callee);
    const int count = call->attribute_count + call->count;
    STRBUF(steps);
    print_values(e, &steps, c->steps, count);
    out_more(e->out, "{&%s, &sites[%d], (PTOTaskParam[]){", names->object,
             emit_site(e, c->site->site.at, c->site->site.text));
    e->out->depth++;
    submit_emit_params(e, call, "},");
    e->out->depth--;
    out_more(e->out, " (int64_t[]){%s}, %d}%s", strbuf_text(&steps), count, end);
}

const char *strips_emit(struct emitter *e, const struct ir_op *op, const char *low, const char *high)
{
    const struct ir_strips *const strips = op->loop.strips;
    const char *first = emit_declare(e, op->loop.symbol, arena_printf(e->mem, "%s_first", op->loop.symbol->name));
    const char *order = strips->needs_order ? arena_printf(e->mem, "%s < %s && ", first, high) : "";
    out_line(e->out, "int64_t %s = %s;", first, low);
    out_open(e->out, "if (pto_takes_strips(rt) && %s%s + 1 < %s) {", order, first, high);
    out_line(e->out, "%s[%zu] = %s;", e->indices, e->loops.count, first);
    out_line(e->out, "%s = pto_submit_strips(rt, %s, %s, (PTOStripCall[]){", first, first, high);
    vec_push(&e->loops, op->loop.symbol->name);
    for (int i = 0; i < strips->count; i++)
        emit_call(e, &strips->calls[i], i + 1 < strips->count ? "," : arena_printf(e->mem, "}, %d);", strips->count));
    e->loops.count--;
    e->offered = (size_t)strips->count - 1;
    out_close(e->out, "}");
    return first;
}
