/* emit_strips.c - a loop that is offered to the runtime in strips (pto_strip.h).
 * Idea       the offer describes the calls of an iteration, as the loop itself would submit them, and how much each
 *            parameter grows.  The loop goes on where the runtime has stopped, and after some iterations the rest is
 *            offered again, as the runtime may know by then how long the kernels take.  What the body computes is
 *            computed for the offer, too, which is one of iterations whose pieces are as long as the body wants them.
 * Invariant  a call in the offer and the same call in the loop have one site.
 * Tests      test/lit/codegen/strips.pto, strips-bodies.pto
 */
#include "emit.h"
#include <inttypes.h>

const char *step_text(struct emitter *e, const struct ir_op *op, const char *name, const char *end)
{
    const bool up = op->loop.by > 0;
    const char sign = up ? '+' : '-';
    const int64_t by = up ? op->loop.by : -op->loop.by;
    if (op->loop.form == IR_LOOP_UNIT) return arena_printf(e->mem, "%s%c%c", name, sign, sign);
    if (op->loop.form == IR_LOOP_STEP) return arena_printf(e->mem, "%s %c= %" PRId64, name, sign, by);
    return arena_printf(e->mem, "%s = %s - %s > %" PRId64 " ? %s %c %" PRId64 " : %s", name, up ? end : name,
                        up ? name : end, by, name, sign, by, end);
}

/* Is there an iteration after this one before `end`? */
static const char *next_text(struct emitter *e, const struct ir_op *op, const char *name, const char *end)
{
    const bool up = op->loop.by > 0;
    const int64_t by = up ? op->loop.by : -op->loop.by;
    if (op->loop.form == IR_LOOP_CLAMP)
        return arena_printf(e->mem, "%s - %s > %" PRId64, up ? end : name, up ? name : end, by);
    return arena_printf(e->mem, "%s %c %" PRId64 " %c %s", name, up ? '+' : '-', by, up ? '<' : '>', end);
}

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
    submit_emit_params(e, call, c->tests, "},");
    e->out->depth--;
    out_more(e->out, " (int64_t[]){%s}, %d}%s", strbuf_text(&steps), count, end);
}

/* `const int64_t j_stop = causal && i < N ? i + 1 : N;` */
static const char *emit_stop(struct emitter *e, const struct ir_op *op, const char *high)
{
    const struct ir_strip_test *const stop = &op->loop.strips->stop;
    const char *name = names_take(&e->names, arena_printf(e->mem, "%s_stop", op->loop.symbol->name));
    STRBUF(b);
    if (stop->when) {
        value_print(e, &b, stop->when, P_AND);
        strbuf_puts(&b, " && ");
    }
    value_print(e, &b, stop->limit, P_ADD);
    strbuf_printf(&b, " < %s ? ", high);
    value_print(e, &b, stop->limit, P_ADD);
    out_line(e->out, "const int64_t %s = %s%s : %s;", name, strbuf_text(&b), stop->op == OP_GT ? " + 1" : "", high);
    return name;
}

const char *strips_emit_end(struct emitter *e, const struct ir_op *op, const char *high)
{
    return op->loop.strips->stop.number ? emit_stop(e, op, high) : high;
}

static void emit_offer(struct emitter *e, const struct ir_op *op, const char *name, const char *stop)
{
    const struct ir_strips *const strips = op->loop.strips;
    for (int i = 0; i < strips->tensor_count; i++) {
        const struct ir_strip_tensor *const t = &strips->tensors[i];
        if (t->own)
            out_line(e->out, "void *%s = NULL; /* %s, of a strip */", emit_declare(e, t->symbol, t->own->tensor.wanted),
                     type_string(e, t->symbol->type));
    }
    out_line(e->out, "%s[%zu] = %s;", e->indices, e->loops.count, name);
    out_line(e->out, "%s = pto_submit_strips(rt, %s, %s, %" PRId64 ", (PTOStripCall[]){", name, name, stop,
             op->loop.by);
    vec_push(&e->loops, op->loop.symbol->name);
    e->offer = strips;
    for (int i = 0; i < strips->count; i++)
        emit_call(e, &strips->calls[i], i + 1 < strips->count ? "," : arena_printf(e->mem, "}, %d);", strips->count));
    e->offer = NULL;
    e->loops.count--;
    for (int i = 0; i < strips->flag_count; i++)
        out_line(e->out, "%s = true;", check_flag(e, strips->flags[i]->set.key));
}

/* Where the iterations end in which all pieces of the body are as long as it wants them; its LETs are printed. */
static const char *emit_full_end(struct emitter *e, const struct ir_op *op, const char *name, const char *end)
{
    const struct ir_strips *const strips = op->loop.strips;
    if (strips->room_count == 0) return end;
    const char *full = names_take(&e->names, arena_printf(e->mem, "%s_full", op->loop.symbol->name));
    for (int i = 0; i < strips->room_count; i++) {
        STRBUF(b);
        value_print(e, &b, strips->rooms[i].room, P_ANY);
        strbuf_puts(&b, ", ");
        value_print(e, &b, strips->rooms[i].wanted, P_ANY);
        out_line(e->out, "%s%s = pto_full_end(%s, %s, %s);",
                 i > 0                    ? ""
                 : strips->room_count > 1 ? "int64_t "
                                          : "const int64_t ",
                 full, name, i > 0 ? full : end, strbuf_text(&b));
    }
    return full;
}

/* The offer where the body computes something, or its last iterations are shorter. */
static void emit_offer_of_body(struct emitter *e, const struct ir_op *op, const char *name, const char *end)
{
    const struct ir_strips *const strips = op->loop.strips;
    STRBUF(conditions);
    for (int i = 0; i < strips->let_count; i++) let_emit(e, strips->lets[i]);
    const char *full = emit_full_end(e, op, name, end);
    if (full != end) strbuf_puts(&conditions, next_text(e, op, name, full));
    for (int i = 0; i < strips->check_count; i++) {
        if (conditions.length) strbuf_puts(&conditions, " && ");
        check_print_condition(e, &conditions, strips->checks[i]);
    }
    if (conditions.length) out_open(e->out, "if (%s) {", strbuf_text(&conditions));
    emit_offer(e, op, name, full);
    if (conditions.length) out_close(e->out, "}");
}

void strips_emit(struct emitter *e, const struct ir_op *op, const char *name, const char *low, const char *end)
{
    const struct ir_strips *const strips = op->loop.strips;
    const bool is_nested = strips->let_count > 0 || strips->room_count > 0;
    const char compare = op->loop.by > 0 ? '<' : '>';
    STRBUF(conditions);
    for (int i = 0; i < strips->check_count && !is_nested; i++) {
        strbuf_puts(&conditions, " && ");
        check_print_condition(e, &conditions, strips->checks[i]);
    }
    out_open(e->out, "for (int64_t %s = %s; %s %c %s;) {", name, low, name, compare, end);
    out_open(e->out, "if (pto_takes_strips(rt) && %s%s) {", next_text(e, op, name, end), strbuf_text(&conditions));
    const size_t mark = names_mark(&e->names);
    if (is_nested)
        emit_offer_of_body(e, op, name, end);
    else
        emit_offer(e, op, name, end);
    names_close(&e->names, mark);
    e->offered = (size_t)(strips->count - 1 + strips->check_count); /* a check may have a site of its own */
    out_close(e->out, "}");
    const char *part = names_take(&e->names, arena_printf(e->mem, "%s_end", op->loop.symbol->name));
    out_line(e->out, "for (const int64_t %s = pto_next_offer(rt, %s, %s, %" PRId64 "); %s %c %s; %s) {", part, name,
             end, op->loop.by, name, compare, part, step_text(e, op, name, part));
}
