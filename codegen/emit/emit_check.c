/* emit_check.c - what is tested at run time because the checker could not decide it.
 * Idea       every check is a pair of C texts, the condition that fails and what to do then, joined as a statement or, inside an
 *            expression, as an operand of the comma operator.
 * Tests      test/lit/run/bounds.pto, test/lit/run/hoisted.pto
 */
#include "emit.h"
#include <string.h>

void print_format_text(struct strbuf *format, const char *text)
{
    for (; *text; text++) {
        if (*text == '%') strbuf_putc(format, '%');
        strbuf_putc(format, *text);
    }
}

struct named_values {
    struct emitter *e;
    struct strbuf *format, *args;
    const struct symbol *seen[6];
    int count;
};

static bool visit_name(void *cx, struct ast *n)
{
    struct named_values *v = cx;
    const struct symbol *s = n->kind == AST_NAME || n->kind == AST_MEMBER ? n->symbol : NULL;
    if (n->kind == AST_CALL && call_of(n)) return false; /* printing its arguments again would not be what was computed */
    if (!s || s->has_value || !s->type || s->type->kind != TYPE_INT || s->kind == SYM_CONST || v->count == 6) return true;
    for (int i = 0; i < v->count; i++)
        if (v->seen[i] == s) return true;
    if (v->e->binding && s->kind == SYM_FORMAL) return true; /* an argument: may be any expression */
    v->seen[v->count++] = s;
    strbuf_printf(v->format, "%s%s = %%lld", v->count == 1 ? " (" : ", ", s->name);
    strbuf_puts(v->args, ", (long long)");
    print_symbol(v->e, v->args, s, P_UNARY);
    return true;
}

void print_values_named(struct emitter *e, struct ast *n, struct strbuf *format, struct strbuf *args)
{
    struct named_values v = {.e = e, .format = format, .args = args};
    ast_walk(n, visit_name, &v);
    if (v.count > 0) strbuf_putc(format, ')');
}

static void print_where(struct emitter *e, const struct check *c, const struct call *call, struct strbuf *fail, struct strbuf *then)
{
    struct strbuf format = {0}, args = {0}, where = {0};
    e->binding = e->plan->binding = call;
    strbuf_puts(fail, "!");
    expr_print(e, fail, c->cond, P_POSTFIX);
    strbuf_printf(&where, "[E20] '%s' needs ", call->callee->name);
    strbuf_puts(&where, emit_source_text(e, c->cond->at));
    print_format_text(&format, strbuf_text(&where));
    print_values_named(e, (struct ast *)c->cond, &format, &args);
    e->binding = e->plan->binding = NULL;
    strbuf_printf(then, "pto_raise(rt, PTO_ERR_ASSERT, %s%s)", c_string(e, strbuf_text(&format)), strbuf_text(&args));
    strbuf_free(&format);
    strbuf_free(&args);
    strbuf_free(&where);
}

static void print_list(struct emitter *e, struct strbuf *b, const struct size *const *list, int count)
{
    strbuf_puts(b, "PTO_LIST_(");
    for (int i = 0; i < count; i++) {
        if (i) strbuf_puts(b, ", ");
        print_size(e, b, list[i], P_ANY, ARITH_PLAIN);
    }
    strbuf_putc(b, ')');
}

static void print_param(struct emitter *e, struct strbuf *b, const struct region *r)
{
    strbuf_puts(b, "&(PTOTaskParam)PTO_INPUT(");
    print_base(e, b, r);
    strbuf_puts(b, ", ");
    print_size(e, b, r->offset, P_ANY, ARITH_PLAIN);
    strbuf_puts(b, ", ");
    print_view(e, b, r);
    strbuf_putc(b, ')');
}

/* A tensor that is empty needs no write. */
static void print_unwritten(struct emitter *e, const struct symbol *s, struct strbuf *fail)
{
    strbuf_printf(fail, "!%s", check_flag(e, s));
    for (int d = 0; d < s->type->rank; d++) {
        int64_t value;
        if (size_is_const(s->type->extent[d], &value) && value != 0) continue;
        strbuf_puts(fail, " && ");
        print_size(e, fail, s->type->extent[d], P_ADD, ARITH_PLAIN);
        strbuf_puts(fail, " != 0");
    }
}

const char *check_flag(struct emitter *e, const struct symbol *s)
{
    const char *name = ptrmap_get(&e->c_names, &s->needs_flag);
    return name ? name : "true"; /* only where its declaration could not be lowered, which was said there */
}

void check_declare_flag(struct emitter *e, const struct symbol *s)
{
    if (!s->needs_flag) return;
    char *plain = arena_printf(e->mem, "%s_written", s->name); /* "w.wx" of a struct */
    for (char *p = plain; *p; p++)
        if (*p == '.') *p = '_';
    const char *name = names_take(&e->names, plain);
    ptrmap_set(&e->c_names, &s->needs_flag, (void *)name);
    out_line(e->out, "bool %s = false;", name);
}

static void add_flag(const struct region *r, const struct symbol *scalar, symbol_list *list)
{
    const struct symbol *s = r ? r->base : scalar;
    if (s && s->needs_flag) vec_push(list, (struct symbol *)(uintptr_t)s);
}

void check_flags_of(const struct call *call, symbol_list *list)
{
    for (int i = 0; i < call->callee->formal_count; i++) {
        if (call->callee->formals[i]->dir != DIR_OUT) continue;
        add_flag(call->regions[i], NULL, list);
        for (int k = 0; k < call->leaves[i].count; k++) add_flag(call->leaves[i].leaf[k].region, call->leaves[i].leaf[k].scalar, list);
    }
    for (int k = 0; k < call->result_leaves.count; k++) add_flag(call->result_leaves.leaf[k].region, call->result_leaves.leaf[k].scalar, list);
    if (call->result_formal < 0 && !call->result_leaves.count) add_flag(call->destination, call->result_symbol, list);
}

/* fail stays empty where `then` tests by itself. */
static void print_check(struct emitter *e, const struct check *c, const struct call *call, struct strbuf *fail, struct strbuf *then)
{
    e->uses_rt = true;
    switch (c->kind) {
    case CHECK_INDEX: case CHECK_SLICE:
        strbuf_puts(then, c->kind == CHECK_INDEX ? "pto_index(rt, " : "pto_slice(rt, ");
        print_size(e, then, c->a, P_ANY, ARITH_CHECKED);
        strbuf_puts(then, ", ");
        print_size(e, then, c->b, P_ANY, ARITH_CHECKED);
        if (c->kind == CHECK_SLICE) {
            strbuf_puts(then, ", ");
            print_size(e, then, c->c, P_ANY, ARITH_CHECKED);
        }
        strbuf_putc(then, ')');
        break;
    case CHECK_EXTENT:
        print_size(e, fail, c->a, P_ADD, ARITH_CHECKED);
        strbuf_puts(fail, " < 0");
        strbuf_puts(then, "pto_raise(rt, PTO_ERR_BOUNDS, \"[E15] an extent is %lld\", (long long)");
        print_size(e, then, c->a, P_UNARY, ARITH_PLAIN);
        strbuf_putc(then, ')');
        break;
    case CHECK_STEP: case CHECK_TILE:
        print_size(e, fail, c->a, P_ADD, ARITH_CHECKED);
        strbuf_puts(fail, " == 0");
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_ARGUMENT, \"[E15] the %s is 0\")",
                      c->kind == CHECK_STEP ? "step of the loop" : "extent of a tile");
        break;
    case CHECK_WHERE: print_where(e, c, call, fail, then); break;
    case CHECK_CONTIGUOUS:
        strbuf_printf(then, "pto_row_major(rt, \"%s\", \"%s\", %d, ", call ? call->callee->name : "this", c->view->base->name, c->view->rank);
        print_list(e, then, c->view->extent, c->view->rank);
        strbuf_puts(then, ", ");
        print_list(e, then, c->view->stride, c->view->rank);
        strbuf_putc(then, ')');
        break;
    case CHECK_DISJOINT:
        strbuf_puts(fail, "pto_views_overlap(");
        print_param(e, fail, c->view);
        strbuf_puts(fail, ", ");
        print_param(e, fail, c->other);
        strbuf_putc(fail, ')');
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_OVERLAP, \"[E09] two arguments of '%s' overlap and one is written\")",
                      call ? call->callee->name : "this call");
        break;
    case CHECK_WRITTEN:
        print_unwritten(e, c->symbol, fail);
        strbuf_printf(then, "pto_raise(rt, PTO_ERR_UNWRITTEN, \"[%s] '%s' was not written before it is %s here\")", c->await ? "E13" : "E06",
                      c->symbol->name, c->await ? "awaited" : "read");
        break;
    }
}

/* Checks of a loop's turns, before it: they are made if the loop turns. */
static void print_before_loop(struct emitter *e, const struct check *first, const struct check *end)
{
    struct strbuf cond = {0};
    e->uses_rt = false;
    for (const struct guard *g = first->guard; g; g = g->next) {
        int64_t least, most;
        if (size_is_const(g->least, &least) && size_is_const(g->most, &most) && least < most) continue;
        if (cond.length) strbuf_puts(&cond, " && ");
        print_size(e, &cond, g->least, P_ADD, ARITH_CHECKED);
        strbuf_puts(&cond, " < ");
        print_size(e, &cond, g->most, P_ADD, ARITH_CHECKED);
    }
    if (cond.length) {
        if (e->uses_rt) emit_mark_site(e, first->at, "index");
        out_line(e->out, "if (%s) {", strbuf_text(&cond));
        e->out->depth++;
    }
    for (const struct check *c = first; c != end; c = c->next) {
        struct strbuf fail = {0}, then = {0};
        if (c == first || c->at.begin != first->at.begin) emit_mark_site(e, c->at, "index");
        print_check(e, c, NULL, &fail, &then);
        out_line(e->out, "%s;%s", strbuf_text(&then), c == first ? " /* of all turns of the loop */" : "");
        strbuf_free(&fail);
        strbuf_free(&then);
    }
    if (cond.length) {
        e->out->depth--;
        out_line(e->out, "}");
    }
    strbuf_free(&cond);
}

static bool same_guards(const struct guard *a, const struct guard *b)
{
    for (; a && b && a->least == b->least && a->most == b->most; a = a->next, b = b->next) {}
    return !a && !b;
}

void check_print_statements(struct emitter *e, const struct check *list, const struct call *call)
{
    for (const struct check *c = list; c; c = c->next) {
        if (c->guard) {
            const struct check *end = c, *last = c;
            for (; end && end->guard && same_guards(end->guard, c->guard); end = end->next) last = end;
            print_before_loop(e, c, end);
            c = last;
            continue;
        }
        struct strbuf fail = {0}, then = {0};
        print_check(e, c, call, &fail, &then);
        if (fail.length) out_line(e->out, "if (%s) %s;", strbuf_text(&fail), strbuf_text(&then));
        else out_line(e->out, "%s;", strbuf_text(&then));
        strbuf_free(&fail);
        strbuf_free(&then);
    }
}

void check_print_commas(struct emitter *e, struct strbuf *b, const struct check *list, const struct call *call)
{
    for (const struct check *c = list; c; c = c->next) {
        struct strbuf fail = {0}, then = {0};
        print_check(e, c, call, &fail, &then);
        if (fail.length) strbuf_printf(b, "%s ? %s : (void)0, ", strbuf_text(&fail), strbuf_text(&then));
        else strbuf_printf(b, "(void)%s, ", strbuf_text(&then));
        strbuf_free(&fail);
        strbuf_free(&then);
    }
}
