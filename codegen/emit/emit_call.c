/* emit_call.c - calls of kernels (a task is submitted) and of functions.
 * Idea       a tensor goes out as a view of the buffer that owns its storage; a result goes where the checker said: into an existing
 *            place, into the caller's variable, or into the variable of a new tensor, which the producing task allocates.
 * Invariant  arguments that are calls come first, then the checks, then the call: the order of the language.
 * Tests      test/lit/codegen/mode-b.pto, destinations.pto, borrowed.pto
 */
#include "codegen.h"
#include "emit.h"
#include "frames.h"
#include <string.h>

static void declare_tensor(struct emitter *e, const struct symbol *s, const char *name)
{
    struct strbuf place = {0};
    frame_print_slot(e, &place, s);
    out_line(e->out, "void *%s = %s; /* %s */", name, strbuf_text(&place), type_string(e, s->type));
    strbuf_free(&place);
}

static void declare_leaf(struct emitter *e, const struct symbol *s)
{
    check_declare_flag(e, s);
    if (s->place) return;
    const char *dot = strchr(s->name, '.');
    const char *wanted = !s->hidden ? s->name : dot ? arena_printf(e->mem, "%.*s_result%s", (int)(dot - s->name), s->name, dot)
                                                    : arena_printf(e->mem, "%s_result", s->name);
    const char *name = emit_declare(e, s, wanted);
    if (type_is_scalar(s->type)) out_line(e->out, "%s %s = 0;", c_scalar_type(s->type), name);
    else declare_tensor(e, s, name);
    if (!ptrmap_get(&e->used, s)) out_line(e->out, "(void)%s;", name);
}

void call_declare_new(struct emitter *e, const struct symbol *s)
{
    symbol_list leaves = {0};
    symbol_leaves((struct symbol *)(uintptr_t)s, &leaves);
    for (size_t i = 0; i < leaves.count; i++) declare_leaf(e, leaves.data[i]);
    vec_free(&leaves);
}

/* ---- tasks ---- */

static const char *const macros[] = {
    [DIR_NONE] = "PTO_INPUT", [DIR_IN] = "PTO_INPUT",   [DIR_OUT] = "PTO_OUTPUT", [DIR_INOUT] = "PTO_INOUT",
    [DIR_ACC] = "PTO_ACC",    [DIR_OWN] = "PTO_INOUT",  [DIR_HOST] = "PTO_INPUT",
};

static const struct region *result_region(struct emitter *e, const struct call *call)
{
    return call->destination ? call->destination : call->result_symbol ? region_of_all(e, call->result_symbol) : NULL;
}

static void print_output(struct emitter *e, struct strbuf *b, const struct region *r)
{
    const struct symbol *base = r->base;
    const char *scope = NULL;
    if (base->place)
        scope = arena_printf(e->mem, "%s.scope", result_name(e, base));
    else if (base->kind == SYM_LET && !base->needs_alloc)
        scope = scope_reference(e, base, false);
    if (scope) strbuf_printf(b, "PTO_OUTPUT_IN(%s, ", scope);
    else strbuf_puts(b, "PTO_OUTPUT(");
    print_ref(e, b, base);
}

static void print_task_tensor(struct emitter *e, struct strbuf *b, const struct region *r, enum direction dir)
{
    if (dir == DIR_OUT) {
        print_output(e, b, r);
    } else {
        strbuf_printf(b, "%s(", macros[dir]);
        print_base(e, b, r);
    }
    strbuf_puts(b, ", ");
    print_size(e, b, r->offset, P_ANY, ARITH_PLAIN);
    strbuf_puts(b, ", ");
    print_view(e, b, r);
    strbuf_putc(b, ')');
}

/* The attributes, as parameters that the kernel does not see; returns how many. */
static int print_attributes(struct emitter *e, const struct ast *n, struct strbuf *b)
{
    int count = 0;
    for (const struct ast *a = n == e->attributed ? e->attributes : NULL; a; a = a->next) {
        struct ast *value = a->attr.args;
        if (!value) continue;
        if (count++) strbuf_puts(b, ", ");
        if (strcmp(a->name, "name") == 0) {
            strbuf_puts(b, "PTO_NAME(");
            strbuf_c_string(b, value->string.text, value->string.length);
        } else {
            strbuf_puts(b, strcmp(a->name, "priority") == 0 ? "PTO_PRIORITY(" : "PTO_TIMEOUT(");
            expr_print(e, b, value, P_ANY);
        }
        strbuf_putc(b, ')');
    }
    return count;
}

static void submit(struct emitter *e, const struct ast *n, const struct call *call)
{
    const struct symbol *kernel = call->callee;
    const struct kernel_names *names = ptrmap_get(&e->kernels, kernel);
    int count = kernel->formal_count + names->extra_count;
    if (count > MAX_FORMALS)
        emit_unsupported(e, n->at, "a kernel with so many parameters and dimension variables");
    struct strbuf attributes = {0};
    const int attribute_count = print_attributes(e, n, &attributes);
    if (count == 0 && attribute_count == 0) {
        out_line(e->out, "pto_submit_task(rt, &%s, NULL, 0);", names->object); /* always a call */
        return;
    }
    out_line(e->out, "pto_submit_task(rt, &%s, (PTOTaskParam[]){", names->object);
    e->submits++;
    if (count == 0) out_more(e->out, "%s }, %d);", strbuf_text(&attributes), attribute_count);
    else if (attribute_count > 0) out_more(e->out, "%s,", strbuf_text(&attributes));
    strbuf_free(&attributes);
    for (int i = 0; i < count; i++) {
        struct strbuf b = {0};
        const struct symbol *formal = i < kernel->formal_count ? kernel->formals[i] : NULL;
        const struct region *r = i == call->result_formal ? result_region(e, call) : formal ? call->regions[i] : NULL;
        if (!formal) {
            strbuf_puts(&b, "PTO_SCALAR((int64_t)");
            print_size(e, &b, call->dims[names->extra[i - kernel->formal_count]], P_UNARY, ARITH_PLAIN);
            strbuf_putc(&b, ')');
        } else if (r) {
            print_task_tensor(e, &b, r, i == call->result_formal ? DIR_OUT : formal->dir);
        } else if (type_is_scalar(formal->type) && call->values[i]) {
            strbuf_printf(&b, "PTO_SCALAR((%s)", c_scalar_type(formal->type));
            expr_print(e, &b, call->values[i], P_UNARY);
            strbuf_putc(&b, ')');
        } else {
            emit_unsupported(e, n->at, "this argument");
        }
        if (i + 1 < count) out_more(e->out, "%s,", strbuf_text(&b));
        else out_more(e->out, "%s }, %d);", strbuf_text(&b), count + attribute_count);
        strbuf_free(&b);
    }
}

/* What the call writes is written from here on, as a statement or, in an expression, before a comma: a call that fails does not
 * come back. */
static void print_flags(struct emitter *e, struct strbuf *commas, const struct call *call)
{
    symbol_list flags = {0};
    check_flags_of(call, &flags);
    for (size_t i = 0; i < flags.count; i++) {
        if (commas) strbuf_printf(commas, "%s = true, ", check_flag(e, flags.data[i]));
        else out_line(e->out, "%s = true;", check_flag(e, flags.data[i]));
    }
    vec_free(&flags);
}

/* ---- functions ---- */

/* Where a tensor goes that a function returns: all of r. */
static void print_place(struct emitter *e, struct strbuf *b, const struct region *r)
{
    const struct symbol *base = r->base;
    if (base->place == base) { /* handed on */
        strbuf_puts(b, result_name(e, base));
        return;
    }
    strbuf_puts(b, "(PTOPlace){.ref = ");
    print_ref(e, b, base);
    if (base->place)
        strbuf_printf(b, ", .scope = %s.scope", result_name(e, base));
    else if (base->kind == SYM_LET && !base->needs_alloc) {
        const char *scope = scope_reference(e, base, true);
        strbuf_printf(b, ", .scope = %s", scope ? scope : "PTO_SCOPE_CURRENT");
    }
    int64_t value;
    if (!size_is_const(r->offset, &value) || value != 0) {
        strbuf_puts(b, ", .at = ");
        print_size(e, b, r->offset, P_ANY, ARITH_PLAIN);
    }
    strbuf_puts(b, ", .s = {");
    for (int d = 0; d < r->rank; d++) {
        if (d) strbuf_puts(b, ", ");
        print_size(e, b, r->stride[d], P_ANY, ARITH_PLAIN);
    }
    strbuf_puts(b, "}}");
}

/* Where a scalar of a struct is kept, for a callee that assigns it. */
static void print_scalar_place(struct emitter *e, struct strbuf *b, const struct leaf *l)
{
    const struct symbol *kept = l->region ? NULL : l->scalar->place ? l->scalar->place : l->scalar;
    if (kept) {
        strbuf_printf(b, "%s%s", kept->by_reference ? "" : "&", emit_name(e, kept));
        return;
    }
    strbuf_puts(b, "pto_own_element(rt, ");
    print_base(e, b, l->region);
    strbuf_puts(b, ", ");
    print_size(e, b, l->region->offset, P_ANY, ARITH_PLAIN);
    strbuf_printf(b, ", sizeof(%s))", c_scalar_type(l->formal->type));
}

static void print_moved(struct emitter *e, struct strbuf *b, const struct region *r)
{
    if (r->base->kind == SYM_FORMAL) strbuf_printf(b, "pto_move(&%s)", emit_name(e, r->base));
    else print_tensor(e, b, r);
}

static void print_leaf(struct emitter *e, struct strbuf *b, const struct leaf *l)
{
    if (l->formal->by_reference) print_scalar_place(e, b, l);
    else if (l->scalar) print_symbol(e, b, l->scalar, P_ANY);
    else if (type_is_scalar(l->formal->type)) print_element_of(e, b, l->region);
    else if (l->formal->place == l->formal) print_place(e, b, l->region);
    else if (l->formal->dir == DIR_OWN) print_moved(e, b, l->region);
    else print_tensor(e, b, l->region);
}

static void print_leaves(struct emitter *e, struct strbuf *b, const struct leaves *leaves)
{
    for (int i = 0; i < leaves->count; i++) {
        strbuf_puts(b, ", ");
        print_leaf(e, b, &leaves->leaf[i]);
    }
}

void call_print(struct emitter *e, struct strbuf *b, struct ast *n)
{
    const struct call *call = call_of(n);
    const struct symbol *callee = call->callee;
    struct strbuf text = {0};
    if (!ptrmap_get(&e->hoisted, call)) {
        check_print_commas(e, &text, call->checks, call);
        print_flags(e, &text, call);
    }
    bool commas = text.length > 0;
    strbuf_printf(&text, "%s(rt", emit_name(e, callee));
    e->uses_rt = true;
    if (callee->result && callee->result->kind == TYPE_TENSOR) {
        strbuf_puts(&text, ", ");
        print_place(e, &text, result_region(e, call));
    }
    print_leaves(e, &text, &call->result_leaves);
    for (int i = 0; i < callee->formal_count; i++) {
        const struct symbol *formal = callee->formals[i];
        print_leaves(e, &text, &call->leaves[i]);
        if (type_is_struct(formal->type)) continue;
        strbuf_puts(&text, ", ");
        if (call->regions[i] && formal->dir == DIR_OWN)
            print_moved(e, &text, call->regions[i]);
        else if (call->regions[i])
            print_tensor(e, &text, call->regions[i]);
        else if (type_is_scalar(formal->type) && call->values[i])
            expr_print_as(e, &text, call->values[i], formal->type, P_ANY);
        else
            emit_unsupported(e, n->at, "this argument");
    }
    for (int d = 0; d < callee->dim_count; d++) {
        strbuf_puts(&text, ", ");
        print_size(e, &text, call->dims[d], P_ANY, ARITH_CHECKED);
    }
    strbuf_putc(&text, ')');
    strbuf_printf(b, commas ? "(%s)" : "%s", strbuf_text(&text));
    strbuf_free(&text);
}

/* ---- checked programs: which tensors of a frame a call uses ---- */

static void print_slot_use(struct emitter *e, const struct region *r, enum direction dir, bool writes)
{
    const struct tensor_plan *slot = r ? slot_of(e->plan, r->base) : NULL;
    if (!slot || (dir == DIR_OUT) != writes) return;
    struct strbuf b = {0};
    strbuf_printf(&b, "pto_slot_%s(rt, %s, ", writes ? "write" : "read", emit_name(e, r->base));
    print_size(e, &b, slot->bytes, P_ANY, ARITH_PLAIN);
    out_line(e->out, "%s, \"%s\");", strbuf_text(&b), r->base->name);
    strbuf_free(&b);
}

/* Reads first: a call may write where it has read. */
static void print_slot_uses(struct emitter *e, const struct call *call)
{
    for (int writes = 0; writes < 2; writes++) {
        for (int i = 0; i < call->callee->formal_count; i++) {
            const enum direction dir = call->callee->formals[i]->dir;
            if (i != call->result_formal) print_slot_use(e, call->regions[i], dir, writes);
            for (int k = 0; k < call->leaves[i].count; k++) print_slot_use(e, call->leaves[i].leaf[k].region, dir, writes);
        }
        for (int k = 0; k < call->result_leaves.count; k++) print_slot_use(e, call->result_leaves.leaf[k].region, DIR_OUT, writes);
        if (call->result_leaves.count == 0 && (call->result_symbol || call->destination)) print_slot_use(e, result_region(e, call), DIR_OUT, writes);
    }
}

/* ---- the whole ---- */

void call_emit(struct emitter *e, struct ast *n, struct strbuf *value)
{
    const struct call *call = call_of(n);
    const struct symbol *callee = call->callee;
    arguments_prepare(e, call);
    emit_mark_site(e, emit_callee_span(n), callee->name);
    check_print_statements(e, call->checks, call);
    sizes_capture(e, call->result_symbol);
    print_flags(e, NULL, call);
    ptrmap_set(&e->hoisted, call, n); /* its checks and inner calls are done */
    if (e->options->checked) print_slot_uses(e, call);
    if (callee->kind == SYM_KERNEL) {
        submit(e, n, call);
    } else {
        struct strbuf b = {0};
        call_print(e, &b, n);
        if (value) strbuf_puts(value, strbuf_text(&b));
        else out_line(e->out, "%s;", strbuf_text(&b));
        strbuf_free(&b);
    }
    const struct end_plan *ends = ptrmap_get(&e->plan->ends, n);
    if (ends) emit_ends(e, &ends->behind);
}
