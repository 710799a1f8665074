/* emit_call.c - submits of tasks and calls of functions as C.
 * Tests      test/lit/codegen/mode-b.pto, destinations.pto, borrowed.pto
 */
#include "emit.h"

static const char *const macros[] = {
    [DIR_NONE] = "PTO_INPUT", [DIR_IN] = "PTO_INPUT",  [DIR_OUT] = "PTO_OUTPUT", [DIR_INOUT] = "PTO_INOUT",
    [DIR_ACC] = "PTO_ACC",    [DIR_OWN] = "PTO_INOUT", [DIR_HOST] = "PTO_INPUT",
};

/* ---- tasks ---- */

static const char *scope_name(struct emitter *e, const struct ir_argument *a)
{
    const struct symbol *base = a->view->region->base;
    if (base->place) return arena_printf(e->mem, "%s.scope", result_name(e, base));
    const struct tensor_note *note = base->kind == SYM_LET ? tensor_note_of(e->checked, base) : NULL;
    if (note && note->given && !note->needs_alloc) return arena_printf(e->mem, "%s.scope", result_name(e, note->given));
    return a->scope ? ptrmap_get(&e->c_names, a->scope) : NULL;
}

static void print_written(struct emitter *e, struct strbuf *b, const struct ir_view *v)
{
    strbuf_puts(b, ", PTO_PART(");
    value_print(e, b, v->offset, P_ANY);
    strbuf_puts(b, ", (");
    print_values(e, b, v->extent, v->region->rank);
    strbuf_puts(b, "), (");
    print_values(e, b, v->stride, v->region->rank);
    strbuf_puts(b, "))");
}

/* The tensor, if an offer is printed and it may have no memory yet. */
static const struct ir_strip_tensor *made_by_strips(const struct emitter *e, const struct symbol *base)
{
    for (int i = 0; e->offer && i < e->offer->tensor_count; i++)
        if (e->offer->tensors[i].symbol == base) return &e->offer->tensors[i];
    return NULL;
}

static bool is_read(const struct ir_argument *a) { return a->direction == DIR_IN || a->direction == DIR_NONE; }

static void print_task_tensor(struct emitter *e, struct strbuf *b, const struct ir_argument *a,
                              const struct symbol *formal)
{
    const struct ir_strip_tensor *const made = made_by_strips(e, a->view->region->base);
    if (made && (made->own || a->direction != DIR_OUT)) {
        strbuf_puts(b, a->direction == DIR_OUT ? "PTO_STRIP_PRIVATE("
                       : is_read(a)            ? "PTO_STRIP_INPUT("
                                               : "PTO_STRIP_INOUT(");
        print_ref(e, b, a->view->region->base);
    } else if (a->direction == DIR_OUT) {
        const char *scope = scope_name(e, a);
        if (a->view->region->base->place)
            strbuf_printf(b, "PTO_OUTPUT_NAMED(\"%s\", %s, ", a->view->region->base->name, scope);
        else if (scope)
            strbuf_printf(b, "PTO_OUTPUT_IN(%s, ", scope);
        else
            strbuf_puts(b, "PTO_OUTPUT(");
        print_ref(e, b, a->view->region->base);
    } else {
        if (formal->by)
            strbuf_printf(b, "PTO_ACC_BY(PTO_BY_%s, ", accumulators_id(formal->by));
        else if (is_read(a) && tensor_has_one_writer(e->plan, a->view->region->base))
            strbuf_puts(b, "PTO_INPUT_OF(");
        else
            strbuf_printf(b, "%s(", a->written ? "PTO_INOUT_PART" : macros[a->direction]);
        print_base(e, b, a->view->region);
    }
    strbuf_puts(b, ", ");
    value_print(e, b, a->view->offset, P_ANY);
    strbuf_puts(b, ", ");
    print_view(e, b, a->view);
    if (a->written) print_written(e, b, a->written);
    strbuf_putc(b, ')');
}

/* After the arguments for formals come dimension variables that no extent determines, which are scalars. */
static void print_task_argument(struct emitter *e, struct strbuf *b, const struct ir_call *call, int i)
{
    const struct ir_argument *a = &call->arguments[i];
    if (a->kind == IR_ARG_TENSOR) {
        print_task_tensor(e, b, a, call->callee->formals[i]);
        return;
    }
    strbuf_printf(b, "PTO_SCALAR((%s)", c_scalar_type(a->type));
    value_print(e, b, a->value, P_UNARY);
    strbuf_putc(b, ')');
}

static void print_attributes(struct emitter *e, struct strbuf *b, const struct ir_call *call)
{
    for (int i = 0; i < call->attribute_count; i++) {
        const struct ir_attribute *a = &call->attributes[i];
        if (i) strbuf_puts(b, ", ");
        if (a->kind == IR_HOME) {
            strbuf_puts(b, "PTO_AT_HOME(");
            print_base(e, b, a->view->region);
            strbuf_puts(b, ", ");
            value_print(e, b, a->view->offset, P_ANY);
            strbuf_printf(b, ", %s", c_elem_constant(a->view->region->base->type->elem));
        } else if (a->kind == IR_LABEL) {
            strbuf_puts(b, "PTO_NAME(");
            strbuf_c_string(b, a->text, a->length);
        } else {
            strbuf_puts(b, a->kind == IR_PRIORITY  ? "PTO_PRIORITY("
                           : a->kind == IR_TIMEOUT ? "PTO_TIMEOUT("
                                                   : "PTO_AT(");
            value_print(e, b, a->value, P_ANY);
        }
        strbuf_putc(b, ')');
    }
}

static void print_test(struct emitter *e, struct strbuf *b, const struct ir_strip_test *test)
{
    strbuf_puts(b, test->when ? "PTO_STRIP_TEST_IF(" : "PTO_STRIP_TEST(");
    if (test->when) {
        value_print(e, b, test->when, P_ANY);
        strbuf_puts(b, ", ");
    }
    value_print(e, b, test->number, P_ANY);
    strbuf_printf(b, ", %s, ", ast_op_text(test->op));
    value_print(e, b, test->limit, P_ANY);
    strbuf_putc(b, ')');
}

void submit_emit_params(struct emitter *e, const struct ir_call *call, const struct ir_strip_test *tests,
                        const char *end)
{
    STRBUF(attributes);
    print_attributes(e, &attributes, call);
    if (call->attribute_count > 0) out_more(e->out, "%s%s", strbuf_text(&attributes), call->count > 0 ? "," : end);
    for (int i = 0; i < call->count; i++) {
        STRBUF(b);
        if (tests && tests[i].number)
            print_test(e, &b, &tests[i]);
        else
            print_task_argument(e, &b, call, i);
        out_more(e->out, "%s%s", strbuf_text(&b), i + 1 < call->count ? "," : end);
    }
}

void submit_emit(struct emitter *e, const struct ir_call *call)
{
    const struct kernel_names *names = ptrmap_get(&e->kernels, call->callee);
    if (call->count == 0 && call->attribute_count == 0) {
        out_line(e->out, "pto_submit_task(rt, &%s, NULL, 0);", names->object); /* always a call */
        return;
    }
    out_line(e->out, "pto_submit_task(rt, &%s, (PTOTaskParam[]){", names->object);
    e->submits++;
    submit_emit_params(e, call, NULL, arena_printf(e->mem, " }, %d);", call->count + call->attribute_count));
}

/* ---- functions ---- */

/* The destination of a tensor that a function returns. */
static void print_place(struct emitter *e, struct strbuf *b, const struct ir_argument *a)
{
    const struct region *r = a->view->region;
    const struct symbol *base = r->base;
    int64_t value;
    if (base->place == base) { /* handed on */
        strbuf_puts(b, result_name(e, base));
        return;
    }
    strbuf_puts(b, "(PTOPlace){.ref = ");
    print_ref(e, b, base);
    if (base->place || (base->kind == SYM_LET && !tensor_note_of(e->checked, base)->needs_alloc)) {
        const char *scope = scope_name(e, a);
        strbuf_printf(b, ", .scope = %s", scope ? scope : "PTO_SCOPE_CURRENT");
    }
    if (!size_is_const(r->offset, &value) || value != 0) {
        strbuf_puts(b, ", .at = ");
        value_print(e, b, a->view->offset, P_ANY);
    }
    if (r->rank > 0 && a->view->stride[0]) { /* else the callee decides the extents */
        strbuf_puts(b, ", .s = {");
        print_values(e, b, a->view->stride, r->rank);
        strbuf_putc(b, '}');
    }
    strbuf_putc(b, '}');
}

static void print_variable(struct emitter *e, struct strbuf *b, const struct ir_argument *a)
{
    if (a->symbol) {
        strbuf_printf(b, "%s%s", a->symbol->by_reference ? "" : "&", emit_name(e, a->symbol));
        return;
    }
    strbuf_puts(b, "pto_lent_element(rt, ");
    print_base(e, b, a->view->region);
    strbuf_puts(b, ", ");
    value_print(e, b, a->view->offset, P_ANY);
    strbuf_printf(b, ", sizeof(%s))", c_scalar_type(a->type));
}

static void print_argument(struct emitter *e, struct strbuf *b, const struct ir_argument *a)
{
    switch (a->kind) {
    case IR_ARG_SCALAR: value_print(e, b, a->value, P_ANY); break;
    case IR_ARG_PLACE: print_place(e, b, a); break;
    case IR_ARG_VARIABLE: print_variable(e, b, a); break;
    case IR_ARG_MOVED:
        if (a->view->region->base->kind == SYM_FORMAL) {
            strbuf_printf(b, "pto_move(&%s)", emit_name(e, a->view->region->base));
            break;
        } /* fall through */
    case IR_ARG_TENSOR: print_tensor(e, b, a->view, a->kind == IR_ARG_MOVED); break;
    case IR_ARG_ELEMENT:
        strbuf_puts(b, "pto_move_element(rt, ");
        print_tensor(e, b, a->view, false);
        strbuf_putc(b, ')');
        break;
    }
}

void call_print(struct emitter *e, struct strbuf *b, const struct ir_call *call)
{
    STRBUF(text);
    check_print_commas(e, &text, call->checks);
    for (const void *const *flag = call->flags; flag && *flag; flag++)
        strbuf_printf(&text, "%s = true, ", check_flag(e, *flag));
    const bool commas = text.length > 0;
    strbuf_printf(&text, "%s(rt", emit_name(e, call->callee));
    for (int i = 0; i < call->count; i++) {
        strbuf_puts(&text, ", ");
        print_argument(e, &text, &call->arguments[i]);
    }
    strbuf_putc(&text, ')');
    strbuf_printf(b, commas ? "(%s)" : "%s", strbuf_text(&text));
}
