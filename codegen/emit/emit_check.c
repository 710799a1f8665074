/* emit_check.c - checks of the IR as C.
 * Idea       every check is a pair of C texts, the condition that fails and its consequence, joined as a statement or,
 *            inside an expression, as an operand of the comma operator.
 * Tests      test/lit/run/bounds.pto, test/lit/run/hoisted.pto
 */
#include "emit.h"
#include <string.h>

const char *check_flag(struct emitter *e, const void *key)
{
    const char *name = ptrmap_get(&e->c_names, key);
    return name ? name : "true"; /* only where its declaration could not be lowered, which was reported there */
}

void message_print_values(struct emitter *e, struct strbuf *b, const struct ir_message *m)
{
    for (int i = 0; i < m->count; i++) {
        strbuf_puts(b, ", (long long)");
        value_print(e, b, m->values[i], P_UNARY);
    }
}

static void print_list(struct emitter *e, struct strbuf *b, struct ir_value *const *list, int count)
{
    strbuf_puts(b, "PTO_LIST_(");
    print_values(e, b, list, count);
    strbuf_putc(b, ')');
}

/* A tensor that is empty needs no write. */
static void print_unwritten(struct emitter *e, const struct ir_check *c, struct strbuf *fail)
{
    strbuf_printf(fail, "!%s", check_flag(e, c->flag));
    ptrmap_set(&e->used, c->flag, e);
    for (int d = 0; d < c->view->region->rank; d++) {
        const struct ir_value *extent = c->view->extent[d];
        if (extent->kind == IR_INTEGER && extent->integer != 0) continue;
        strbuf_puts(fail, " && ");
        value_print(e, fail, extent, P_ADD);
        strbuf_puts(fail, " != 0");
    }
}

static void print_bounds(struct emitter *e, struct strbuf *then, const char *function, const struct ir_check *c)
{
    struct ir_value *const operands[] = {c->a, c->b, c->c, c->d};
    strbuf_printf(then, "%s(rt, ", function);
    print_values(e, then, operands, c->d ? 4 : c->c ? 3 : 2);
    strbuf_putc(then, ')');
}

/* pto_index() tests both sides; here it fails. */
static void print_side(struct emitter *e, const struct ir_check *c, struct strbuf *fail, struct strbuf *then)
{
    value_print(e, fail, c->a, P_ADD);
    strbuf_puts(fail, c->b ? " >= " : " < 0");
    if (c->b) value_print(e, fail, c->b, P_ADD);
    struct ir_value *const operands[] = {c->c, c->d};
    strbuf_puts(then, "pto_index(rt, ");
    print_values(e, then, operands, 2);
    strbuf_putc(then, ')');
}

/* E18, at the argument. */
static void print_strided(struct emitter *e, const struct ir_check *c, struct strbuf *then)
{
    const struct region *r = c->view->region;
    const int site = emit_site(e, c->at, emit_source_text(e, c->at));
    if (c->kind == CHECK_DENSE)
        strbuf_printf(then, "pto_dense(rt, &sites[%d], \"%s\", ", site, r->base->name);
    else
        strbuf_printf(then, "%s(rt, &sites[%d], \"%s\", \"%s\", ", c->from ? "pto_rows_major" : "pto_row_major", site,
                      c->callee ? c->callee : "this", r->base->name);
    if (c->from) strbuf_printf(then, "%d, ", c->from);
    strbuf_printf(then, "%d, ", r->rank);
    print_list(e, then, c->view->extent, r->rank);
    strbuf_puts(then, ", ");
    print_list(e, then, c->view->stride, r->rank);
    strbuf_putc(then, ')');
}

/* What an entry says of an array from outside. */
static void print_dimension(struct emitter *e, const struct ir_check *c, struct strbuf *fail, struct strbuf *then)
{
    value_print(e, fail, c->a, P_ADD);
    strbuf_puts(fail, " < 0");
    strbuf_printf(then,
                  "pto_raise(rt, PTO_ERR_BOUNDS, \"[E15] %s, %%lld, does not bind '%s', it would make it %%lld\", "
                  "(long long)",
                  c->one, c->another);
    value_print(e, then, c->b, P_UNARY);
    strbuf_puts(then, ", (long long)");
    value_print(e, then, c->c, P_UNARY);
    strbuf_putc(then, ')');
}

/* fail stays empty where `then` tests by itself. */
static void print_check(struct emitter *e, const struct ir_check *c, struct strbuf *fail, struct strbuf *then)
{
    switch (c->kind) {
    case CHECK_INDEX: print_bounds(e, then, "pto_index", c); break;
    case CHECK_FROM_ZERO:
    case CHECK_BELOW: print_side(e, c, fail, then); break;
    case CHECK_SLICE: print_bounds(e, then, "pto_slice", c); break;
    case CHECK_EXTENT:
        value_print(e, fail, c->a, P_ADD);
        strbuf_puts(fail, " < 0");
        strbuf_puts(then, "pto_raise(rt, PTO_ERR_BOUNDS, \"[E15] an extent is %lld\", (long long)");
        value_print(e, then, c->b, P_UNARY);
        strbuf_putc(then, ')');
        break;
    case CHECK_DIMENSION: print_dimension(e, c, fail, then); break;
    case CHECK_STEPPED: print_bounds(e, then, "pto_stepped", c); break;
    case CHECK_STEP:
    case CHECK_SLICE_STEP:
    case CHECK_TILE:
        value_print(e, fail, c->a, P_ADD);
        strbuf_puts(fail, " == 0");
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_ARGUMENT, \"[E15] the %s is 0\")",
                      c->kind == CHECK_STEP         ? "step of the loop"
                      : c->kind == CHECK_SLICE_STEP ? "step of a slice"
                                                    : "extent of a tile");
        break;
    case CHECK_VALUE: value_print(e, then, c->a, P_UNARY); break;
    case CHECK_WHERE:
        strbuf_puts(fail, "!");
        value_print(e, fail, c->a, P_POSTFIX);
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_ASSERT, %s", c_string(e, c->message.format));
        message_print_values(e, then, &c->message);
        strbuf_putc(then, ')');
        break;
    case CHECK_CONTIGUOUS:
    case CHECK_DENSE: print_strided(e, c, then); break;
    case CHECK_PRODUCT: print_bounds(e, then, "pto_same_count", c); break;
    case CHECK_DISJOINT:
        strbuf_puts(fail, "pto_views_overlap(");
        print_param(e, fail, c->view);
        strbuf_puts(fail, ", ");
        print_param(e, fail, c->other);
        strbuf_putc(fail, ')');
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_OVERLAP, \"[E09] %s and %s of '%s' overlap and one is written\")",
                      c->one, c->another, c->callee ? c->callee : "this call");
        break;
    case CHECK_WRITTEN:
        print_unwritten(e, c, fail);
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_UNWRITTEN, \"[%s] '%s' was not written before it is %s here\")",
                      c->is_await ? "E13" : "E06", c->symbol->name, c->is_await ? "awaited" : "read");
        break;
    }
}

void check_print_condition(struct emitter *e, struct strbuf *b, const struct ir_check *c)
{
    if (c->kind == CHECK_CONTIGUOUS) {
        const int rank = c->view->region->rank - c->from;
        strbuf_printf(b, "pto_is_row_major(%d, ", rank);
        print_list(e, b, c->view->extent + c->from, rank);
        strbuf_puts(b, ", ");
        print_list(e, b, c->view->stride + c->from, rank);
        strbuf_putc(b, ')');
    } else {
        strbuf_puts(b, check_flag(e, c->flag));
        ptrmap_set(&e->used, c->flag, e);
    }
}

void check_emit(struct emitter *e, const struct ir_check *c, bool is_hoisted)
{
    STRBUF(fail);
    STRBUF(then);
    print_check(e, c, &fail, &then);
    if (fail.length)
        out_line(e->out, "if (%s) %s;", strbuf_text(&fail), strbuf_text(&then));
    else
        out_line(e->out, "%s%s;%s", c->kind == CHECK_VALUE ? "(void)" : "", strbuf_text(&then),
                 is_hoisted ? " /* of all iterations of the loop */" : "");
}

void check_print_commas(struct emitter *e, struct strbuf *b, const struct ir_check *list)
{
    for (const struct ir_check *c = list; c; c = c->next) {
        STRBUF(fail);
        STRBUF(then);
        print_check(e, c, &fail, &then);
        if (fail.length)
            strbuf_printf(b, "%s ? %s : (void)0, ", strbuf_text(&fail), strbuf_text(&then));
        else
            strbuf_printf(b, "(void)%s, ", strbuf_text(&then));
    }
}
