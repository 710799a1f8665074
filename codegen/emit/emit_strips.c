/* emit_strips.c - the offer of strips before a loop (runtime/include/pto/pto_strip.h).
 * Tests      test/lit/codegen/strips.pto
 */
#include "emit.h"
#include "passes/strips.h"

/* The steps of the parameters, in the order in which submit_emit() prints these. */
static void print_steps(struct emitter *e, struct strbuf *b, const struct ir_call *call, const struct symbol *variable)
{
    for (int i = -call->attribute_count; i < call->count; i++) {
        const struct ir_argument *a = i < 0 ? NULL : &call->arguments[i];
        const struct ir_value *v = !a                         ? call->attributes[0].value
                                   : a->kind == IR_ARG_SCALAR ? a->value
                                                              : a->view->offset;
        if (i > -call->attribute_count) strbuf_puts(b, ", ");
        value_print(e, b, strips_step(e->mem, v, variable), P_ANY);
    }
}

static void emit_call(struct emitter *e, const struct strip_call *c, const struct symbol *variable, bool is_last)
{
    const struct ir_call *call = c->call;
    const struct kernel_names *names = ptrmap_get(&e->kernels, call->callee);
    STRBUF(steps);
    out_more(e->out, "{&%s, &sites[%d], (PTOTaskParam[]){", names->object,
             emit_site(e, c->site->site.at, c->site->site.text));
    e->out->depth++;
    submit_emit_params(e, call, "},");
    print_steps(e, &steps, call, variable);
    out_more(e->out, " (int64_t[]){%s}, %d}%s", strbuf_text(&steps), call->count + call->attribute_count,
             is_last ? "" : ",");
    e->out->depth--;
}

bool strips_emit(struct emitter *e, const struct ir_op *op, const char *low, const char *high)
{
    struct strip_loop loop;
    if (!strips_of(op, &loop, e->mem)) return false;
    const struct symbol *variable = op->loop.symbol;
    const char *next = emit_declare(e, variable, arena_printf(e->mem, "%s_next", variable->name));
    out_line(e->out, "int64_t %s = %s;", next, low);
    out_line(e->out, "if (pto_takes_strips(rt) && %s < %s)", next, high);
    e->out->depth++;
    out_line(e->out, "%s = pto_submit_strips(rt, %s, %s, (PTOStripCall[]){", next, next, high);
    vec_push(&e->loops, variable->name);
    for (int c = 0; c < loop.count; c++) emit_call(e, &loop.calls[c], variable, c + 1 == loop.count);
    e->loops.count--;
    out_more(e->out, "}, %d);", loop.count);
    e->out->depth--;
    return true;
}
