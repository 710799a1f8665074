/* check.c - `ptoc run --check-grad`: the program that compares a gradient with differences.
 * Idea       it is made of the language: an entry `check_grad` runs the gradient once, with a seed that is no special
 *            one, and for three directions d of each x the function at x - h d, x - h d / 2, x + h d / 2 and x + h d. 
 *            The two central differences together are exact to the fourth power of h.  An element of d grows with that
 *            of x, so that the rounding of large elements does not hide what the step changes.
 * Tests      test/lit/grad/
 */
#include "check.h"
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

enum { DIRECTIONS = 3 };

static const char dims[] = "ABCDEFGH", indices[] = "ijklmnop";

static void print_letters(struct strbuf *out, const char *letters, int rank)
{
    for (int i = 0; i < rank; i++) strbuf_printf(out, "%s%c", i ? ", " : "", letters[i]);
}

/* The number of an element, from 0: "(i * B + j)". */
static void print_number(struct strbuf *out, int rank)
{
    for (int i = 1; i < rank; i++) strbuf_putc(out, '(');
    strbuf_putc(out, indices[0]);
    for (int i = 1; i < rank; i++) strbuf_printf(out, " * %c + %c)", dims[i], indices[i]);
}

static void print_kernels(struct grads *all, int rank)
{
    struct strbuf *out = &all->kernels;
    STRBUF(d);
    STRBUF(e);
    STRBUF(number);
    print_letters(&d, dims, rank);
    print_letters(&e, indices, rank);
    print_number(&number, rank);
    const char *dim = strbuf_text(&d), *at = strbuf_text(&e);
    strbuf_printf(
        out,
        "kernel check_direction_%d<T: float, %s>(out y: T[%s], seed: i64) on vector => { y[%s] = T(sin(12.9898 * "
        "f64(%s %% 65536) + 78.233 * f64(seed) + 0.5)); }\n",
        rank, dim, dim, at, strbuf_text(&number));
    strbuf_printf(out,
                  "kernel check_moved_%d<T: float, %s>(in x: T[%s], in d: T[%s], out y: T[%s], h: f64) on vector => { "
                  "y[%s] = x[%s] + T(h) * d[%s]; }\n",
                  rank, dim, dim, dim, dim, at, at, at);
    strbuf_printf(out,
                  "kernel check_scale_%d<T: float, %s>(in x: T[%s], inout d: T[%s]) on vector => { d[%s] = d[%s] * "
                  "max(abs(x[%s]), T(1.0)); }\n",
                  rank, dim, dim, dim, at, at, at);
    strbuf_printf(out,
                  "kernel check_dot_%d<T: float, %s>(in x: T[%s], in y: T[%s], inout s: f64[2]) on vector => { s[0] += "
                  "sum(%s: f64(x[%s]) * f64(y[%s])); s[1] += sum(%s: pow(f64(x[%s]) * f64(y[%s]), 2.0)); }\n",
                  rank, dim, dim, dim, at, at, at, at, at, at);
}

/* ---- the function, as one number --------------------------------------------------------------------------------- */

struct checking {
    struct grads *all;
    struct symbol *orch;
    struct ast *attr; /* @grad */
    bool ranks[MAX_RANK + 1];
    bool is_f64;              /* all floats of the function are */
    const struct ast *narrow; /* where it has a tensor of f16 or bf16, or NULL */
};

static void add_source(const struct checking *k, const struct ast *n, struct strbuf *out)
{
    strbuf_add(out, source_get(k->all->c->front->sources, n->at.file)->text + n->at.begin, n->at.end - n->at.begin);
}

static bool is_written(const struct symbol *f) { return active_is_float(f->type) && active_writes(f->dir); }

static bool is_x(const struct checking *k, const struct symbol *f)
{
    for (const struct ast *a = k->attr->attr.args; a; a = a->next)
        if (a->symbol == f) return true;
    return false;
}

static bool returns(const struct checking *k) { return k->orch->result_place && active_is_float(k->orch->result); }

static void print_generics(const struct checking *k, struct strbuf *out)
{
    for (struct ast *n = k->orch->decl->orch.generics; n; n = n->next) {
        strbuf_puts(out, n == k->orch->decl->orch.generics ? "<" : ", ");
        add_source(k, n, out);
    }
    strbuf_puts(out, k->orch->decl->orch.generics ? ">(" : "(");
}

/* The formals: what is written is only read; `out` is left out unless it is asked for. */
static void print_formals(const struct checking *k, bool with_out, struct strbuf *out)
{
    for (struct ast *f = k->orch->decl->orch.formals; f; f = f->next) {
        const enum direction d = f->symbol->dir;
        if (d == DIR_OUT && !with_out) continue;
        if (out->data[out->length - 1] != '(') strbuf_puts(out, ", ");
        if (f->symbol->type->kind == TYPE_TENSOR || type_is_struct(f->symbol->type))
            strbuf_printf(out, "%s ", d == DIR_OUT ? "out" : d == DIR_HOST ? "host" : "in");
        strbuf_printf(out, "%s: ", f->name);
        add_source(k, f->formal.type, out);
    }
}

/* Of each tensor that is written a new one, `NAME<suffix>`, with what an `inout` has. */
static void print_copies(const struct checking *k, const char *suffix, struct strbuf *out)
{
    for (struct ast *f = k->orch->decl->orch.formals; f; f = f->next) {
        if (!active_writes(f->symbol->dir) || f->symbol->type->kind != TYPE_TENSOR) continue;
        strbuf_printf(out, "let %s%s: ", f->name, suffix);
        add_source(k, f->formal.type, out);
        strbuf_puts(out, ";\n");
        if (f->symbol->dir != DIR_OUT)
            strbuf_printf(out, "%s(%s, out %s%s);\n", kernels_copy(k->all, f->symbol->type->rank), f->name, f->name,
                          suffix);
    }
}

static void print_arguments(const struct checking *k, const char *suffix, struct strbuf *out)
{
    for (struct ast *f = k->orch->decl->orch.formals; f; f = f->next) {
        const bool is_new = active_writes(f->symbol->dir) && f->symbol->type->kind == TYPE_TENSOR;
        if (f != k->orch->decl->orch.formals) strbuf_puts(out, ", ");
        if (is_new) strbuf_printf(out, "%s ", direction_text(f->symbol->dir));
        strbuf_printf(out, "%s%s", f->name, is_new ? suffix : "");
    }
}

/* orch check_value<..>(formals, in y_seed .., out s): s is the product of all that is written with the seeds */
static void print_value(const struct checking *k, struct strbuf *out)
{
    strbuf_puts(out, "orch check_value");
    print_generics(k, out);
    print_formals(k, false, out);
    for (struct ast *f = k->orch->decl->orch.formals; f; f = f->next) {
        if (!is_written(f->symbol)) continue;
        strbuf_printf(out, ", in %s_seed: ", f->name);
        add_source(k, f->formal.type, out);
    }
    if (returns(k)) {
        strbuf_puts(out, ", in result_seed: ");
        add_source(k, k->orch->decl->orch.result, out);
    }
    strbuf_puts(out, ", out check_sum: f64[2]) {\n");
    print_copies(k, "_now", out);
    if (returns(k)) strbuf_puts(out, "let result_now = ");
    strbuf_printf(out, "%s(", k->orch->name);
    print_arguments(k, "_now", out);
    strbuf_printf(out, ");\n%s(out check_sum);\n", kernels_zero(k->all, 1));
    for (int i = 0; i < k->orch->formal_count; i++) {
        const struct symbol *f = k->orch->formals[i];
        if (is_written(f))
            strbuf_printf(out, "check_dot_%d(%s_now, %s_seed, inout check_sum);\n", f->type->rank, f->name, f->name);
    }
    if (returns(k))
        strbuf_printf(out, "check_dot_%d(result_now, result_seed, inout check_sum);\n", k->orch->result->rank);
    strbuf_puts(out, "}\n");
}

/* ---- the entry --------------------------------------------------------------------------------------------------- */

static void print_seed(const struct checking *k, const char *name, int rank, struct ast *type, int number,
                       struct strbuf *out)
{
    strbuf_printf(out, "let %s_seed: ", name);
    add_source(k, type, out);
    strbuf_printf(out, ";\ncheck_direction_%d(out %s_seed, %d);\n", rank, name, number);
}

static void print_call_of_value(const struct checking *k, const struct symbol *x, const char *moved, struct strbuf *out)
{
    bool is_first = true;
    strbuf_puts(out, "check_value(");
    for (int i = 0; i < k->orch->formal_count; i++) {
        const struct symbol *f = k->orch->formals[i];
        if (f->dir == DIR_OUT) continue;
        strbuf_printf(out, "%s%s", is_first ? "" : ", ", f == x ? moved : f->name);
        is_first = false;
    }
    for (int i = 0; i < k->orch->formal_count; i++)
        if (is_written(k->orch->formals[i])) strbuf_printf(out, ", %s_seed", k->orch->formals[i]->name);
    if (returns(k)) strbuf_puts(out, ", result_seed");
    strbuf_puts(out, ", out check_sums[c_at]);\n");
}

/* What one direction says: c_compared, c_odd_gradient, c_odd_difference, c_worst, c_kinks. */
static void print_comparison(const struct checking *k, struct strbuf *out)
{
    strbuf_puts(out, "let c_a = await check_sums[0][0];\nlet c_b = await check_sums[1][0];\n"
                     "let c_wide = (c_a - c_b) / (2.0 * check_step);\n"
                     "let c_c = await check_sums[2][0];\nlet c_e = await check_sums[3][0];\n"
                     "let c_narrow = (c_c - c_e) / check_step;\n"
                     "let c_bend = (c_a + c_b - c_c - c_e) / check_step;\n"
                     "let c_exact = await c_products[0][0];\nlet c_close = c_narrow + (c_narrow - c_wide) / 3.0;\n");
    /* Terms that cancel are rounded all the same, each by a part of its own size, and the errors are independent. */
    strbuf_printf(out,
                  "let c_noise: f64 = %s * (abs(c_a) + abs(c_b) + sqrt(await check_sums[0][1]) + "
                  "sqrt(await check_sums[1][1])) / check_step;\n",
                  k->is_f64 ? "1e-15" : "4e-7");
    strbuf_puts(
        out, "let c_size = max(abs(c_exact), 0.01 * sqrt(await c_products[1][0] * await c_products[2][0])) + 1e-30;\n"
             "if !(abs(c_exact) <= 1e300) { c_odd_gradient = 1; }\n"
             "if !(abs(c_close) <= 1e300) { c_odd_difference = 1; }\n"
             "let c_off = abs(c_close - c_exact);\n"
             "if c_off == 0.0 || (c_noise <= check_limit * c_size && c_size <= 1e300) { c_compared = 1; }\n"
             "c_worst = max(c_worst, max(c_off - c_noise, 0.0) / c_size);\n");
    strbuf_printf(out, "if max(abs(c_wide - c_narrow), abs(c_bend)) > %s * c_size + c_noise { c_kinks = 1; }\n",
                  k->is_f64 ? "0.01" : "0.05");
}

/* The line of one x, and whether it is wrong. */
static void print_verdict(const struct checking *k, const struct symbol *x, struct strbuf *out)
{
    const char *head =
        arena_printf(k->all->c->mem, "print \"gradient of %s with respect to %s:", k->orch->name, x->name);
    strbuf_printf(out,
                  "if c_odd_gradient + c_odd_difference > 0 {\nwrong_gradients = wrong_gradients + 1;\n"
                  "if c_odd_difference == 0 { %s the gradient is not a number, and the differences are numbers\"; }\n"
                  "if c_odd_gradient == 0 { %s the differences are not a number, and the gradient is one\"; }\n"
                  "if c_odd_gradient + c_odd_difference == 2 { %s the gradient and the differences are not a "
                  "number\"; }\n} else {\n",
                  head, head, head);
    strbuf_printf(out,
                  "if c_compared == 0 && c_worst <= check_limit {\nunknown_gradients = unknown_gradients + 1;\n"
                  "%s cannot be compared, rounding is larger than\", check_limit, \"of it\";\n} else {\n",
                  head);
    strbuf_printf(out, "%s largest relative difference\", c_worst;\n}\n", head);
    strbuf_puts(
        out,
        "if !(c_worst <= check_limit) {\nwrong_gradients = wrong_gradients + 1;\n"
        "if c_kinks > 0 { print \"  the two steps disagree: a kink (max, min, select, abs) may lie inside of a step, "
        "or the function bends sharply there\"; }\n}\n}\n");
}

static void print_x(const struct checking *k, const struct symbol *x, int number, struct strbuf *out)
{
    const int rank = x->type->rank;
    strbuf_puts(out, "{\nvar c_worst: f64 = 0.0;\nvar c_kinks = 0;\nvar c_compared = 0;\nvar c_odd_gradient = 0;\n"
                     "var c_odd_difference = 0;\n");
    strbuf_printf(out, "for c_direction in 0 .. %d {\n", DIRECTIONS);
    strbuf_puts(out, "let c_d: ");
    add_source(k, x->decl->formal.type, out);
    strbuf_printf(out, ";\ncheck_direction_%d(out c_d, 1000 + %d * %d + c_direction);\n", rank, number, DIRECTIONS);
    strbuf_printf(out, "check_scale_%d(%s, inout c_d);\n", rank, x->name);
    strbuf_puts(out, "let check_sums: array[4] of f64[2];\nfor c_at in 0 .. 4 {\n");
    strbuf_puts(out, "let c_h = check_step * select(c_at < 2, 1.0, 0.5) * select(c_at % 2 == 0, 1.0, -1.0);\n");
    strbuf_puts(out, "let c_moved: ");
    add_source(k, x->decl->formal.type, out);
    strbuf_printf(out, ";\ncheck_moved_%d(%s, c_d, out c_moved, c_h);\n", rank, x->name);
    print_call_of_value(k, x, "c_moved", out);
    strbuf_puts(out, "}\nlet c_products: array[3] of f64[2];\nfor c_part in 0 .. 3 { ");
    strbuf_printf(out, "%s(out c_products[c_part]); }\n", kernels_zero(k->all, 1));
    strbuf_printf(out, "check_dot_%d(%s_bar, c_d, inout c_products[0]);\n", rank, x->name);
    strbuf_printf(out, "check_dot_%d(%s_bar, %s_bar, inout c_products[1]);\n", rank, x->name, x->name);
    strbuf_printf(out, "check_dot_%d(c_d, c_d, inout c_products[2]);\n", rank);
    print_comparison(k, out);
    strbuf_puts(out, "}\n");
    print_verdict(k, x, out);
    strbuf_puts(out, "}\n");
}

static bool print_entry(struct checking *k, struct strbuf *out)
{
    int number = 1;
    strbuf_printf(out, "const check_step: f64 = %s;\nconst check_limit: f64 = %s;\n", k->is_f64 ? "0.0001" : "0.004",
                  k->is_f64 ? "1e-6" : "1e-2");
    strbuf_puts(out, "export orch check_grad");
    print_generics(k, out);
    print_formals(k, true, out);
    strbuf_puts(out, ") {\nvar wrong_gradients = 0;\nvar unknown_gradients = 0;\n");
    for (struct ast *f = k->orch->decl->orch.formals; f; f = f->next)
        if (is_written(f->symbol)) print_seed(k, f->name, f->symbol->type->rank, f->formal.type, number++, out);
    if (returns(k)) print_seed(k, "result", k->orch->result->rank, k->orch->decl->orch.result, number++, out);
    for (const struct ast *a = k->attr->attr.args; a; a = a->next) {
        strbuf_printf(out, "let %s_bar: ", a->name);
        add_source(k, a->symbol->decl->formal.type, out);
        strbuf_puts(out, ";\n");
        if (is_written(a->symbol))
            strbuf_printf(out, "%s(%s_seed, out %s_bar);\n", kernels_copy(k->all, a->symbol->type->rank), a->name,
                          a->name);
    }
    print_copies(k, "_run", out);
    if (returns(k)) strbuf_puts(out, "let result_run = ");
    strbuf_printf(out, "%s_grad(", k->orch->name);
    print_arguments(k, "_run", out);
    for (int i = 0; i < k->orch->formal_count; i++)
        if (is_written(k->orch->formals[i]) && !is_x(k, k->orch->formals[i]))
            strbuf_printf(out, ", %s_seed", k->orch->formals[i]->name);
    if (returns(k)) strbuf_puts(out, ", result_seed");
    for (const struct ast *a = k->attr->attr.args; a; a = a->next)
        strbuf_printf(out, ", %s %s_bar", is_written(a->symbol) ? "inout" : "out", a->name);
    strbuf_puts(out, ");\n");
    number = 0;
    for (const struct ast *a = k->attr->attr.args; a; a = a->next) print_x(k, a->symbol, number++, out);
    for (int i = 0; i < k->orch->formal_count; i++) /* an `out` formal of the entry is written */
        if (k->orch->formals[i]->dir == DIR_OUT && k->orch->formals[i]->type->kind == TYPE_TENSOR)
            strbuf_printf(out, "%s(%s_run, out %s);\n", kernels_copy(k->all, k->orch->formals[i]->type->rank),
                          k->orch->formals[i]->name, k->orch->formals[i]->name);
    strbuf_puts(out, "assert wrong_gradients == 0, \"the gradient differs from the differences of the function\";\n"
                     "assert unknown_gradients == 0, \"a gradient cannot be compared with differences\";\n}\n");
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static bool refuse(struct checker *c, const struct ast *at, const char *text)
{
    diag_error(c->diag, DIAG_E99, at->at, "--check-grad: %s", text);
    return false;
}

static void look_at_type(struct checking *k, const struct ast *at, const struct type *t)
{
    if (!t || !active_is_float(t)) return;
    k->is_f64 &= t->elem == ELEM_F64;
    if ((t->elem == ELEM_F16 || t->elem == ELEM_BF16) && !k->narrow) k->narrow = at;
}

/* The floats of the function, and of what it calls. */
static bool look_at(void *cx, struct ast *n)
{
    struct checking *k = cx;
    const struct call *call = n->kind == AST_CALL ? call_of(n) : NULL;
    if (n->kind == AST_FORMAL && n->symbol) look_at_type(k, n, n->symbol->type);
    for (int i = 0; call && i < call->callee->formal_count; i++) look_at_type(k, n, call->callee->formals[i]->type);
    if (call) look_at_type(k, n, call->callee->result);
    return true;
}

bool check_print(struct grads *all, struct ast *item, struct ast *attr)
{
    struct checking k = {.all = all, .orch = item->symbol, .attr = attr, .is_f64 = true};
    ast_walk(item, look_at, &k);
    if (k.narrow) {
        refuse(all->c, k.narrow, "differences of f16 and bf16 are mostly rounding, and not compared");
        diag_help(all->c->diag, "compare the function in f32: let its kernels take T: float, and change its formals");
        return false;
    }
    k.ranks[1] = true;
    for (struct ast *f = item->orch.formals; f; f = f->next) {
        const struct symbol *s = f->symbol;
        if (type_is_struct(s->type) && active_writes(s->dir))
            return refuse(all->c, f, "a function that writes a struct is not compared yet");
        if (s->dir == DIR_OWN || s->dir == DIR_ACC || s->by_reference)
            return refuse(all->c, f, "a function with such a formal is not compared yet");
        if (active_is_float(s->type)) k.ranks[s->type->rank] = true;
    }
    if (returns(&k) && item->symbol->result_place->decided_count > 0)
        return refuse(all->c, item->orch.result,
                      "a function whose result has extents that the run decides is not compared yet");
    if (returns(&k)) k.ranks[item->symbol->result->rank] = true;
    for (int rank = 1; rank <= MAX_RANK; rank++)
        if (k.ranks[rank]) print_kernels(all, rank);
    print_value(&k, &all->functions);
    return print_entry(&k, &all->functions);
}
