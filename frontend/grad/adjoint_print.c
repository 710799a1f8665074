/* adjoint_print.c - an adjoint kernel as text.
 * Idea       the head, then each statement on a line; the formatter lays it out.  Names are given here: those of the
 *            kernel where they are free.  A range that the extents give is left to them; any other is written, of a
 *            free variable as a `for`.
 * Invariant  every name that is printed is one of the kernel that is printed, or a word of the language.
 * Tests      test/lit/grad/
 */
#include "adjoint_parts.h"
#include <string.h>

enum { LOWEST, OR = 1, AND, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, PRODUCT, PREFIX, POSTFIX };

struct name {
    const void *of; /* a symbol or a temporary */
    const char *text;
};

struct printing {
    struct front *front;
    struct size_table *sizes;
    const struct adjoint *a;
    enum adjoint_form form;
    struct strbuf *out;
    VEC(struct name) names;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_taken(const struct printing *p, const char *name)
{
    const struct symbol *k = p->a->kernel;
    for (int i = 0; i < k->dim_count; i++)
        if (strcmp(k->dims[i]->name, name) == 0) return true;
    for (int i = 0; i < p->a->formal_count; i++)
        if (strcmp(p->a->formals[i].name, name) == 0) return true;
    for (size_t i = 0; i < p->names.count; i++)
        if (strcmp(p->names.data[i].text, name) == 0) return true;
    /* what a constant of the file is called is no new name */
    for (int i = 0; k->module && i < k->module->symbol_count; i++)
        if (k->module->symbols[i]->kind != SYM_KERNEL && k->module->symbols[i]->kind != SYM_ORCH &&
            strcmp(k->module->symbols[i]->name, name) == 0)
            return true;
    return false;
}

static bool names_variable(const struct printing *p, const char *name)
{
    const struct equations *q = p->a->body->equations;
    for (int i = 0; i < q->var_count; i++)
        if (strcmp(q->vars[i]->symbol->name, name) == 0) return true;
    return strlen(name) == 1 && strchr("ijklmnpq", *name);
}

static void give_name(struct printing *p, const void *of, const char *plain, bool is_variable)
{
    const char *name = plain;
    for (int n = 2; is_taken(p, name) || (!is_variable && names_variable(p, name)); n++)
        name = arena_printf(p->front->mem, "%s%d", plain, n);
    vec_push(&p->names, ((struct name){of, name}));
}

static const char *name_of(const struct printing *p, const void *of, const char *otherwise)
{
    for (size_t i = p->names.count; i-- > 0;)
        if (p->names.data[i].of == of) return p->names.data[i].text;
    for (int i = 0; i < p->a->formal_count; i++)
        if (p->a->body->symbols[i] == of) return p->a->formals[i].name;
    return otherwise;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

static void print_size(struct printing *p, const struct size *s, int outer);

static void print_call(struct printing *p, const char *name, const struct size *s)
{
    strbuf_printf(p->out, "%s(", name);
    for (int i = 0; i < s->count; i++) {
        if (i > 0) strbuf_puts(p->out, ", ");
        print_size(p, s->arg[i], LOWEST);
    }
    strbuf_putc(p->out, ')');
}

static void print_infix(struct printing *p, const char *op, const struct size *s, int own, int outer)
{
    if (own < outer) strbuf_putc(p->out, '(');
    for (int i = 0; i < s->count; i++) {
        if (i > 0) strbuf_printf(p->out, " %s ", op);
        print_size(p, s->arg[i], i == 0 ? own : own + 1);
    }
    if (own < outer) strbuf_putc(p->out, ')');
}

static void print_term(struct printing *p, const struct size_term *t, bool is_first)
{
    const uint64_t factor = t->factor < 0 ? -(uint64_t)t->factor : (uint64_t)t->factor;
    if (!is_first)
        strbuf_puts(p->out, t->factor < 0 ? " - " : " + ");
    else if (t->factor < 0)
        strbuf_putc(p->out, '-');
    if (!t->mono || factor != 1) strbuf_printf(p->out, "%llu", (unsigned long long)factor);
    if (t->mono && factor != 1) strbuf_puts(p->out, " * ");
    if (t->mono) print_size(p, t->mono, PRODUCT);
}

static void print_sum(struct printing *p, const struct size *s, int outer)
{
    struct size_term terms[64];
    const int count = s->count <= 64 ? size_terms(p->sizes, s, terms, 64) : 0;
    bool is_first = true;
    if (count == 0) {
        print_infix(p, "+", s, SUM, outer);
        return;
    }
    if (SUM < outer) strbuf_putc(p->out, '(');
    for (int round = 0; round < 3; round++) /* what is positive first, a constant last of its sign */
        for (int i = 0; i < count; i++) {
            const int its = terms[i].factor > 0 ? !terms[i].mono : 2;
            if (its != round) continue;
            print_term(p, &terms[i], is_first);
            is_first = false;
        }
    if (SUM < outer) strbuf_putc(p->out, ')');
}

static void print_size(struct printing *p, const struct size *s, int outer)
{
    switch (s->kind) {
    case SIZE_CONST: strbuf_printf(p->out, s->value < 0 && outer > SUM ? "(%lld)" : "%lld", (long long)s->value); break;
    case SIZE_ADD: print_sum(p, s, outer); break;
    case SIZE_MUL: print_infix(p, "*", s, PRODUCT, outer); break;
    case SIZE_DIV: print_infix(p, "/", s, PRODUCT, outer); break;
    case SIZE_MOD: print_infix(p, "%", s, PRODUCT, outer); break;
    case SIZE_MINIMUM: print_call(p, "min", s); break;
    case SIZE_MAXIMUM: print_call(p, "max", s); break;
    case SIZE_ABS: print_call(p, "abs", s); break;
    case SIZE_CEIL_DIV: print_call(p, "ceil_div", s); break;
    case SIZE_LOG2: print_call(p, "log2", s); break;
    case SIZE_OR: print_infix(p, "|", s, BITOR, outer); break;
    case SIZE_XOR: print_infix(p, "^", s, BITXOR, outer); break;
    case SIZE_AND: print_infix(p, "&", s, BITAND, outer); break;
    case SIZE_SHL: print_infix(p, "<<", s, SHIFT, outer); break;
    case SIZE_SHR: print_infix(p, ">>", s, SHIFT, outer); break;
    default: strbuf_puts(p->out, name_of(p, s->symbol, s->symbol->name));
    }
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static void print_expr(struct printing *p, const struct eq_expr *e, int outer);

static void print_real(struct printing *p, const struct eq_expr *e, int outer)
{
    char text[40];
    const bool is_single = e->type != ELEM_F64;
    for (int digits = 1; digits <= 17; digits++) { /* the shortest that is the same number */
        snprintf(text, sizeof text, "%.*g", digits, e->real);
        if (is_single ? strtof(text, NULL) == (float)e->real : strtod(text, NULL) == e->real) break;
    }
    if (!strpbrk(text, ".e")) strcat(text, ".0");
    if (strchr(text, 'e') && !strchr(text, '.')) { /* 1e-06: as 1.0e-06 */
        char tail[40];
        char *at = strchr(text, 'e');
        strcpy(tail, at);
        strcpy(at, ".0");
        strcat(text, tail);
    }
    strbuf_printf(p->out, e->real < 0 && outer > PREFIX ? "(%s)" : "%s", text);
}

static const char *function_name(enum eq_kind kind)
{
    switch (kind) {
    case EQ_MIN: return "min";
    case EQ_MAX: return "max";
    case EQ_SELECT: return "select";
    case EQ_EXP: return "exp";
    case EQ_LOG: return "log";
    case EQ_TANH: return "tanh";
    case EQ_SQRT: return "sqrt";
    case EQ_RSQRT: return "rsqrt";
    case EQ_SIN: return "sin";
    case EQ_COS: return "cos";
    case EQ_ERF: return "erf";
    case EQ_POW: return "pow";
    case EQ_ABS: return "abs";
    case EQ_FLOOR: return "floor";
    case EQ_CEIL: return "ceil";
    case EQ_ROUND: return "round";
    default: return NULL;
    }
}

struct operator
{
    const char *text;
    int level;
};

static struct operator operator_of(enum eq_kind kind)
{
    switch (kind) {
    case EQ_ADD: return (struct operator){"+", SUM};
    case EQ_SUB: return (struct operator){"-", SUM};
    case EQ_MUL: return (struct operator){"*", PRODUCT};
    case EQ_DIV: return (struct operator){"/", PRODUCT};
    case EQ_MOD: return (struct operator){"%", PRODUCT};
    case EQ_BITOR: return (struct operator){"|", BITOR};
    case EQ_BITXOR: return (struct operator){"^", BITXOR};
    case EQ_BITAND: return (struct operator){"&", BITAND};
    case EQ_SHL: return (struct operator){"<<", SHIFT};
    case EQ_SHR: return (struct operator){">>", SHIFT};
    case EQ_AND: return (struct operator){"&&", AND};
    case EQ_OR: return (struct operator){"||", OR};
    case EQ_EQ: return (struct operator){"==", COMPARE};
    case EQ_NE: return (struct operator){"!=", COMPARE};
    case EQ_LT: return (struct operator){"<", COMPARE};
    case EQ_LE: return (struct operator){"<=", COMPARE};
    case EQ_GT: return (struct operator){">", COMPARE};
    case EQ_GE: return (struct operator){">=", COMPARE};
    default: return (struct operator){NULL, 0};
    }
}

static void print_access(struct printing *p, const struct eq_access *a)
{
    strbuf_puts(p->out, a->formal ? name_of(p, a->formal, a->formal->name) : name_of(p, a->temp, a->temp->name));
    for (int d = 0; d < a->rank; d++) {
        const struct eq_expr *e = a->index[d].expr;
        strbuf_puts(p->out, d == 0 ? "[" : ", ");
        if (e && e->kind == EQ_CAST && e->a->kind == EQ_LOAD) e = e->a; /* any integer is an index */
        if (a->index[d].size)
            print_size(p, a->index[d].size, LOWEST);
        else
            print_expr(p, e, LOWEST);
    }
    if (a->rank > 0) strbuf_putc(p->out, ']');
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

struct search {
    struct printing *p;
    const struct size *variable;
    const struct eq_var *v;
    bool is_found, is_other;
};

static void look_at_access(struct search *s, const struct eq_access *a);

static void look_in(struct search *s, const struct eq_expr *e)
{
    if (!e) return;
    if (e->kind == EQ_LOAD) look_at_access(s, e->access);
    look_in(s, e->a);
    look_in(s, e->b);
    look_in(s, e->c);
}

static void look_at_access(struct search *s, const struct eq_access *a)
{
    for (int d = 0; d < a->rank; d++) {
        look_in(s, a->index[d].expr);
        if (a->index[d].size != s->variable) continue;
        const struct size *low = a->formal ? size_const(s->p->sizes, 0) : a->temp->low[d],
                          *high = a->formal ? a->formal->type->extent[d] : a->temp->high[d];
        s->is_found = true;
        s->is_other |= low != s->v->low || high != s->v->high;
    }
}

static bool names_variable_of(const struct size *s)
{
    if (s->kind == SIZE_SYMBOL) return s->symbol->kind == SYM_LOOP;
    for (int i = 0; i < s->count; i++)
        if (names_variable_of(s->arg[i])) return true;
    return false;
}

/* Do the extents of what it indexes give the range of the variable?  No extent names another variable. */
static bool has_range(struct printing *p, const struct eq_var *v, const struct adj_stmt *s, const struct eq_expr *in)
{
    struct search search = {.p = p, .variable = size_symbol(p->sizes, v->symbol), .v = v};
    look_in(&search, in);
    if (s) {
        if (s->target->formal) look_at_access(&search, s->target);
        look_in(&search, s->value);
    }
    return search.is_found && !search.is_other && !names_variable_of(v->low) && !names_variable_of(v->high);
}

static void print_reduction(struct printing *p, const struct eq_expr *e)
{
    static const char *const names[] = {
        [EQ_SUM] = "sum",       [EQ_PROD] = "prod",     [EQ_RED_MAX] = "max", [EQ_RED_MIN] = "min",
        [EQ_ARGMAX] = "argmax", [EQ_ARGMIN] = "argmin", [EQ_ANY] = "any",     [EQ_ALL] = "all",
    };
    const size_t mark = p->names.count;
    strbuf_printf(p->out, "%s(", names[e->reduce.kind]);
    for (int i = 0; i < e->reduce.var_count; i++) {
        const struct eq_var *v = e->reduce.vars[i];
        const bool is_plain = has_range(p, v, NULL, e->a);
        if (i > 0) strbuf_puts(p->out, ", ");
        const size_t named = p->names.count;
        give_name(p, v->symbol, v->symbol->name, true);
        strbuf_puts(p->out, p->names.data[named].text);
        if (is_plain) continue;
        strbuf_puts(p->out, " in ");
        print_size(p, v->low, LOWEST);
        strbuf_puts(p->out, " .. ");
        print_size(p, v->high, LOWEST);
    }
    strbuf_puts(p->out, ": ");
    print_expr(p, e->a, LOWEST);
    strbuf_putc(p->out, ')');
    p->names.count = mark;
}

static bool is_plain_cast(const struct eq_expr *e)
{
    return e->a->kind == EQ_LOAD && e->type == adj_computed(e->a->type) && e->type != e->a->type;
}

static void print_arguments(struct printing *p, const char *name, const struct eq_expr *e)
{
    strbuf_printf(p->out, "%s(", name);
    print_expr(p, e->a, LOWEST);
    if (e->b) strbuf_puts(p->out, ", ");
    if (e->b) print_expr(p, e->b, LOWEST);
    if (e->c) strbuf_puts(p->out, ", ");
    if (e->c) print_expr(p, e->c, LOWEST);
    strbuf_putc(p->out, ')');
}

static void print_binary(struct printing *p, const struct eq_expr *e, int outer)
{
    const struct operator op = operator_of(e->kind);
    if (op.level < outer) strbuf_putc(p->out, '(');
    print_expr(p, e->a, op.level == COMPARE ? COMPARE + 1 : op.level);
    strbuf_printf(p->out, " %s ", op.text);
    print_expr(p, e->b, op.level + 1);
    if (op.level < outer) strbuf_putc(p->out, ')');
}

static void print_expr(struct printing *p, const struct eq_expr *e, int outer)
{
    switch (e->kind) {
    case EQ_INT:
        if (e->type == ELEM_BOOL)
            strbuf_puts(p->out, e->integer ? "true" : "false");
        else
            strbuf_printf(p->out, e->integer < 0 && outer > PREFIX ? "(%lld)" : "%lld", (long long)e->integer);
        break;
    case EQ_REAL: print_real(p, e, outer); break;
    case EQ_SIZE: print_size(p, e->size, outer); break;
    case EQ_SCALAR: strbuf_puts(p->out, name_of(p, e->scalar, e->scalar->name)); break;
    case EQ_LOAD: print_access(p, e->access); break;
    case EQ_REDUCE: print_reduction(p, e); break;
    case EQ_CAST:
        if (is_plain_cast(e))
            print_expr(p, e->a, outer);
        else
            print_arguments(p, elem_name(e->type), e);
        break;
    case EQ_NEG:
    case EQ_NOT:
    case EQ_BITNOT:
        if (outer > PREFIX) strbuf_putc(p->out, '(');
        strbuf_putc(p->out, e->kind == EQ_NEG ? '-' : e->kind == EQ_NOT ? '!' : '~');
        print_expr(p, e->a, POSTFIX);
        if (outer > PREFIX) strbuf_putc(p->out, ')');
        break;
    default:
        if (function_name(e->kind))
            print_arguments(p, function_name(e->kind), e);
        else
            print_binary(p, e, outer);
    }
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static bool is_on_left(const struct printing *p, const struct adj_stmt *s, const struct eq_var *v)
{
    (void)p;
    for (int d = 0; d < s->target->rank; d++) {
        const struct eq_index *i = &s->target->index[d];
        if (i->size ? size_names(i->size, v->symbol) : adj_names_var(i->expr, v)) return true;
    }
    return false;
}

/* Which variables need a `for`: those whose range nothing gives, those that the range of such a one names, and the one
 * whose iterations run in order. */
static void find_loops(struct printing *p, const struct adj_stmt *s, bool *is_loop)
{
    for (int i = s->var_count; i-- > 0;) {
        is_loop[i] = (i == 0 && s->is_in_order) || !is_on_left(p, s, s->var[i]) || !has_range(p, s->var[i], s, NULL);
        for (int k = i + 1; k < s->var_count; k++)
            is_loop[i] |= is_loop[k] && (size_names(s->var[k]->low, s->var[i]->symbol) ||
                                         size_names(s->var[k]->high, s->var[i]->symbol));
    }
}

/* Of literals alone, which have no type of their own? */
static bool is_literal(const struct eq_expr *e)
{
    if (!e || e->kind == EQ_INT || e->kind == EQ_REAL) return true;
    if (e->kind <= EQ_LOAD || e->kind == EQ_CAST || e->kind == EQ_REDUCE || e->type == ELEM_BOOL) return false;
    return (e->kind == EQ_SELECT || is_literal(e->a)) && is_literal(e->b) && is_literal(e->c);
}

static bool is_one_loop(const struct adj_stmt *a, const struct adj_stmt *b)
{
    return a && b && a->is_in_order && b->is_in_order && a->var[0] == b->var[0];
}

/* before, after: of the list; statements of one reversed loop stand in one `for`. */
static void print_statement(struct printing *p, const struct adj_stmt *before, const struct adj_stmt *s,
                            const struct adj_stmt *after)
{
    bool is_loop[MAX_VARS] = {false};
    int loops = 0;
    const size_t mark = p->names.count;
    const struct eq_temp *t = s->target->temp;
    if (s->kind == EQ_LET) give_name(p, t, t->name, t->at.end != 0); /* one of the kernel keeps its name */
    const size_t kept = s->kind == EQ_LET ? mark + 1 : mark;
    find_loops(p, s, is_loop);
    for (int i = 0; i < s->var_count; i++) give_name(p, s->var[i]->symbol, s->var[i]->symbol->name, true);
    for (int i = 0; i < s->var_count; i++) {
        if (!is_loop[i]) continue;
        loops++;
        if (i == 0 && is_one_loop(before, s)) continue;
        strbuf_printf(p->out, "for %s in ", name_of(p, s->var[i]->symbol, NULL));
        print_size(p, s->var[i]->low, LOWEST);
        strbuf_puts(p->out, " .. ");
        print_size(p, s->var[i]->high, LOWEST);
        strbuf_puts(p->out, " { ");
    }
    if (s->kind == EQ_LET) strbuf_puts(p->out, "let ");
    print_access(p, s->target);
    strbuf_puts(p->out, s->kind == EQ_PLUS ? " += " : " = ");
    const bool needs_cast = s->kind == EQ_LET && is_literal(s->value) && s->value->type != ELEM_BOOL;
    if (needs_cast) strbuf_printf(p->out, "%s(", elem_name(s->value->type));
    print_expr(p, s->value, LOWEST);
    strbuf_puts(p->out, needs_cast ? ");" : ";");
    if (is_one_loop(s, after)) loops--;
    while (loops-- > 0) strbuf_puts(p->out, " }");
    strbuf_putc(p->out, '\n');
    p->names.count = kept;
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void print_dims(struct printing *p)
{
    const struct symbol *k = p->a->kernel;
    int count = 0;
    for (int i = 0; i < k->dim_count; i++)
        if (adj_names_dim(p->a, k->dims[i])) strbuf_printf(p->out, "%s%s", count++ ? ", " : "<", k->dims[i]->name);
    if (count) strbuf_putc(p->out, '>');
}

static void print_formal(struct printing *p, int i)
{
    const struct symbol *s = p->a->body->symbols[i];
    const struct adjoint_formal *f = &p->a->formals[i];
    const bool is_tensor = s->type->kind == TYPE_TENSOR;
    const bool is_gradient = f->role == ADJOINT_GRADIENT;
    if (i > 0) strbuf_puts(p->out, ", ");
    if (is_tensor)
        strbuf_puts(p->out, is_gradient && p->form == ADJOINT_ACCUMULATES                             ? "acc "
                            : (is_gradient && p->form == ADJOINT_ADDS) || f->role == ADJOINT_REPLACED ? "inout "
                            : is_gradient || f->role == ADJOINT_WORK                                  ? "out "
                                                                                                      : "in ");
    strbuf_printf(p->out, "%s: ", f->name);
    if (!is_tensor) {
        type_text(s->type, p->out);
        return;
    }
    strbuf_puts(p->out, elem_name(s->type->elem));
    for (int d = 0; d < s->type->rank; d++) {
        strbuf_puts(p->out, d == 0 ? "[" : ", ");
        print_size(p, s->type->extent[d], LOWEST);
    }
    strbuf_putc(p->out, ']');
}

static const struct eq_expr *without_casts(const struct eq_expr *e)
{
    while (e->kind == EQ_CAST) e = e->a;
    return e;
}

/* Reductions; *contractions: sums of a product of two elements. */
static int count_reductions(const struct eq_expr *e, int *contractions)
{
    if (!e) return 0;
    *contractions += e->kind == EQ_REDUCE && e->reduce.kind == EQ_SUM && e->a->kind == EQ_MUL &&
                     without_casts(e->a->a)->kind == EQ_LOAD && without_casts(e->a->b)->kind == EQ_LOAD;
    return (e->kind == EQ_REDUCE) + count_reductions(e->a, contractions) + count_reductions(e->b, contractions) +
           count_reductions(e->c, contractions);
}

static void print_worker(struct printing *p, const struct adj_stmt *const *writes, int count)
{
    const struct adjoint_body *b = p->a->body;
    const char *worker = p->a->kernel->decl->kernel->worker;
    int contractions = 0, reductions = 0;
    if (!worker) return;
    for (int i = 0; i < b->out_count; i++) reductions += count_reductions(b->out[i]->value, &contractions);
    for (int i = 0; i < count; i++) reductions += count_reductions(writes[i]->value, &contractions);
    if (strcmp(worker, "cube") == 0 && (contractions != 1 || reductions != 1)) worker = "vector";
    strbuf_printf(p->out, " on %s", worker);
}

void adj_print(struct front *front, const struct checked *checked, const struct adjoint *a, enum adjoint_form form,
               const char *name, struct strbuf *out)
{
    const struct adjoint_body *b = a->body;
    struct printing p = {.front = front, .sizes = checked->sizes, .a = a, .form = form, .out = out};
    const bool adds = form != ADJOINT_OVERWRITES && a->formals[a->formal_count - 1].role == ADJOINT_GRADIENT;
    const struct adj_stmt *const *writes = adds ? b->writes_adds : b->writes;
    const int count = adds ? b->writes_adds_count : b->writes_count;
    strbuf_printf(out, "kernel %s", name);
    print_dims(&p);
    strbuf_putc(out, '(');
    for (int i = 0; i < a->formal_count; i++) print_formal(&p, i);
    strbuf_putc(out, ')');
    print_worker(&p, writes, count);
    adj_print_conditions(front, a, out);
    strbuf_puts(out, " => {\n");
    for (int i = 0; i < b->out_count; i++)
        print_statement(&p, i > 0 ? b->out[i - 1] : NULL, b->out[i], i + 1 < b->out_count ? b->out[i + 1] : NULL);
    for (int i = 0; i < count; i++) print_statement(&p, NULL, writes[i], NULL);
    strbuf_puts(out, "}\n");
    vec_free(&p.names);
}
