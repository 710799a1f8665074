/* function.c - the gradient of a function as an item: its head, the forward pass, the backward pass.
 * Idea       all formals of the function, then `in y_bar` for what it writes or returns, then the gradients.  It is
 *            printed twice: the first time finds out which of the bars that are given must be copied, as the backward
 *            pass changes them.
 * Tests      test/lit/grad/
 */
#include "parts.h"
#include <string.h>

enum { MAX_INNER_DEPTH = 64 };

static void free_gradient(struct gradient *g)
{
    for (size_t i = 0; i < g->steps.count; i++) {
        strbuf_free(&g->steps.data[i]->first_text);
        strbuf_free(&g->steps.data[i]->last_text);
        if (g->steps.data[i]->plan) strbuf_free(&g->steps.data[i]->plan->copies);
        if (g->steps.data[i]->plan) vec_free(&g->steps.data[i]->plan->remade);
    }
    hiding_restore(g);
    vec_free(&g->hiding);
    vec_free(&g->tensors);
    vec_free(&g->calls);
    vec_free(&g->steps);
    vec_free(&g->again);
    vec_free(&g->plans);
    strbuf_free(&g->out);
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void add_text(struct gradient *g, struct ast *n, struct strbuf *out) { text_forth(g, n, out); }

static bool is_x(const struct gradient *g, const struct symbol *s)
{
    for (int i = 0; i < g->x_count; i++)
        if (g->x[i] == s) return true;
    return false;
}

static bool is_seeded(const struct gradient *g, const struct symbol *f)
{
    return active_is_float(f->type) && active_writes(f->dir) && !is_x(g, f);
}

static void add_bar(struct gradient *g, const char *mark, const char *name, struct ast *type, struct strbuf *out)
{
    strbuf_printf(out, ", %s %s: ", mark, name);
    add_text(g, type, out);
}

struct numbers {
    struct gradient *g;
    const char *name[MAX_RANK]; /* of the extents that the run decides, in the seed of the result */
    int count;
};

static bool name_number(void *cx, struct ast *n, struct strbuf *out)
{
    struct numbers *d = cx;
    if (n->kind != AST_DECIDED) return false;
    const char *name = text_fresh(d->g, arena_printf(d->g->mem, "%s_result", n->name));
    if (d->count < MAX_RANK) d->name[d->count++] = name;
    strbuf_puts(out, name);
    return true;
}

/* A `let` in the text: the checker makes others, for `return f(x);`. */
static bool is_written_name(struct gradient *g, const struct tensor *t)
{
    const struct ast *d = t ? t->symbol->decl : NULL;
    if (!d || d->kind != AST_LET || t->symbol->hidden || t->symbol->is_var) return false;
    const size_t length = strlen(d->name);
    return d->name_at.end - d->name_at.begin == length &&
           memcmp(source_get(g->front->sources, d->name_at.file)->text + d->name_at.begin, d->name, length) == 0;
}

static bool print_formals(struct gradient *g, struct numbers *numbers, struct strbuf *out)
{
    const struct ast *d = g->orch->decl;
    int count = g->orch->formal_count + g->x_count;
    for (struct ast *f = d->orch.formals; f; f = f->next) {
        add_text(g, f, out);
        if (f->next) strbuf_puts(out, ", ");
    }
    for (struct ast *f = d->orch.formals; f; f = f->next) {
        if (!f->symbol || !is_seeded(g, f->symbol)) continue;
        count++;
        add_bar(g, "in", steps_tensor(g, f->symbol)->bar_formal, f->formal.type, out);
    }
    if (g->orch->result_place && active_is_float(g->orch->result)) {
        count++;
        if (g->orch->result_place->decided_count && !is_written_name(g, g->result))
            return grad_refuse(
                g, DIAG_E99, d->orch.result->at, "return a tensor that a 'let' of the function names",
                "the gradient of a result with extents that the run decides is not built yet for a 'var' or a call");
        strbuf_printf(out, ", in %s: ", g->result ? g->result->bar_formal : bars_formal(g, "result"));
        text_splice(g, d->orch.result, name_number, numbers, out);
    }
    for (int i = 0; i < g->x_count; i++) {
        const bool changes = active_writes(g->x[i]->dir);
        add_bar(g, changes || g->adds[i] == ADDS ? "inout" : "out", steps_tensor(g, g->x[i])->bar_formal,
                g->x[i]->decl->formal.type, out);
    }
    if (count > MAX_FORMALS)
        return grad_refuse(g, DIAG_E17, g->at, NULL, "the gradient of '%s' has %d formals: at most %d are possible",
                           g->orch->name, count, MAX_FORMALS);
    return true;
}

/* The seed has the extents of the result: only the run can compare them. */
static void print_asserts(struct gradient *g, const struct numbers *numbers, struct strbuf *out)
{
    const struct type *t = g->orch->result;
    for (int d = 0, i = 0; i < numbers->count && d < t->rank; d++)
        if (t->extent[d]->kind == SIZE_SYMBOL && t->extent[d]->symbol->decided_name)
            strbuf_printf(out, "assert dim(%s, %d) == %s, \"the seed has the extents of the result\";\n",
                          g->result->name, d, numbers->name[i++]);
}

static bool print_head(struct gradient *g, struct numbers *numbers, struct strbuf *out)
{
    const struct ast *d = g->orch->decl;
    if (d->orch.exported && !g->is_inner) strbuf_puts(out, "export ");
    STRBUF(formals);
    if (!print_formals(g, numbers, &formals)) return false;
    const char *between = "<";
    strbuf_printf(out, "orch %s", g->name);
    for (struct ast *n = d->orch.generics; n; n = n->next, between = ", ") {
        strbuf_puts(out, between);
        add_text(g, n, out);
    }
    for (int i = 0; i < numbers->count; i++, between = ", ") strbuf_printf(out, "%s%s", between, numbers->name[i]);
    strbuf_printf(out, "%s(%s", *between == ',' ? ">" : "", strbuf_text(&formals));
    strbuf_puts(out, ")");
    if (d->orch.result && !g->is_inner) {
        strbuf_puts(out, " -> ");
        add_text(g, d->orch.result, out);
    }
    strbuf_puts(out, " {\n");
    return true;
}

/* ---- the body ---------------------------------------------------------------------------------------------------- */

/* Bars that are given and that the backward pass changes: `written` has those that the first time found. */
static bool copy_given(struct gradient *g, const struct ptrmap *written)
{
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        if (!t->bar_is_given || !ptrmap_get(written, t->symbol)) continue;
        const char *name = text_fresh(g, arena_printf(g->mem, "%s_now", t->bar));
        strbuf_printf(&g->out, "let %s = %s(%s);\n", name, kernels_copy(g->all, t->symbol->type->rank), t->bar);
        t->bar = name;
        t->bar_is_given = false;
    }
    return true;
}

/* Gradients that nothing reaches. */
static bool finish_bars(struct gradient *g)
{
    for (int i = 0; i < g->x_count; i++) {
        struct tensor *t = steps_tensor(g, g->x[i]);
        if (!t->bar_is_ready)
            strbuf_printf(&g->out, "%s(out %s);\n", kernels_zero(g->all, t->symbol->type->rank), t->bar);
    }
    return true;
}

static void print_return(struct gradient *g, struct strbuf *out)
{
    if (!g->returns || g->is_inner || !g->returns->ast->ret.value) return;
    if (g->result && g->returns->before && g->returns->before->ast == g->returns->ast) {
        strbuf_printf(out, "return %s;\n", g->result->name);
        return;
    }
    text_forth(g, g->returns->ast, out);
    strbuf_putc(out, '\n');
}

static bool make(struct gradient *g, struct ptrmap *written, bool *again, struct strbuf *out)
{
    text_take_names(g);
    if (!steps_read(g) || !active_find(g) || !hiding_rename(g)) return false;
    bars_name(g);
    if (!hiding_check(g) || !copy_given(g, written) || !back_block(g, g->body) || !finish_bars(g)) return false;
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        if (!t->bar_is_given || !t->bar_is_written) continue;
        ptrmap_set(written, t->symbol, g);
        *again = true;
    }
    if (*again) return true;
    struct numbers numbers = {g, {NULL}, 0};
    if (!print_head(g, &numbers, out)) return false;
    forth_block(g, g->body, out);
    print_asserts(g, &numbers, out);
    strbuf_add(out, strbuf_text(&g->out), g->out.length);
    print_return(g, out);
    strbuf_puts(out, "}\n");
    for (size_t i = 0; i < g->plans.count; i++) {
        g->plans.data[i]->next = g->all->m->plans;
        g->all->m->plans = g->plans.data[i];
    }
    return !g->failed;
}

static struct gradient new_gradient(struct grads *all, struct symbol *orch, const char *name, struct symbol **x,
                                    const enum adds *adds, int x_count)
{
    struct gradient g = {
        .all = all, .c = all->c, .front = all->c->front, .mem = all->c->mem, .orch = orch, .name = name};
    g.x = x;
    g.adds = arena_array(g.mem, enum adds, x_count + 1);
    for (int i = 0; i < x_count; i++) g.adds[i] = adds[i];
    g.x_count = x_count;
    g.tensor_of.mem = g.block_of.mem = g.step_of.mem = g.tainted.mem = g.names.mem = g.logs.mem = g.values.mem =
        g.renamed.mem = g.mem;
    return g;
}

/* `@keep(c)`; without it that of the caller. */
static int64_t keep_of(const struct symbol *orch, int64_t of_caller)
{
    int64_t count;
    for (const struct ast *a = orch->decl->attrs; a; a = a->next)
        if (strcmp(a->name, "keep") == 0 && size_is_const(a->attr.args->value, &count)) return count;
    return of_caller;
}

static bool print_gradient(struct grads *all, struct symbol *orch, const char *name, struct symbol **x,
                           const enum adds *adds, int x_count, bool is_inner, int64_t keep, bool is_any_order,
                           struct span at)
{
    struct ptrmap written = {.mem = all->c->mem};
    bool is_good = true, again = true;
    STRBUF(out);
    for (int pass = 0; pass < 2 && again && is_good; pass++) {
        struct gradient g = new_gradient(all, orch, name, x, adds, x_count);
        g.is_inner = is_inner;
        g.keep = keep;
        g.is_any_order = is_any_order;
        g.segments = keep >= 0 ? 0 : all->c->options->grad_segments;
        g.at = at;
        again = false;
        is_good = make(&g, &written, &again, &out);
        free_gradient(&g);
    }
    strbuf_add(&all->functions, strbuf_text(&out), out.length);
    return is_good;
}

/* `@order("any")` */
static bool has_any_order(const struct symbol *orch)
{
    for (const struct ast *a = orch->decl->attrs; a; a = a->next)
        if (strcmp(a->name, "order") == 0) return true;
    return false;
}

bool function_print(struct grads *all, struct symbol *orch, const char *name, struct symbol **x, const enum adds *adds,
                    int x_count, struct span at)
{
    return print_gradient(all, orch, name, x, adds, x_count, false, keep_of(orch, -1), has_any_order(orch), at);
}

/* ---- functions that are called ----------------------------------------------------------------------------------- */

static const char *key_of(struct gradient *g, struct symbol **x, const enum adds *adds, int x_count, int64_t keep)
{
    STRBUF(text);
    if (g->is_any_order) strbuf_puts(&text, "_any");
    if (keep > 0) strbuf_printf(&text, "_keep_%lld", (long long)keep);
    for (int i = 0; i < x_count; i++)
        strbuf_printf(&text, "_%s%s", x[i]->name, adds[i] == ADDS && !active_writes(x[i]->dir) ? "_add" : "");
    return intern_str(g->front->names, strbuf_text(&text));
}

const char *function_inner(struct gradient *caller, struct symbol *orch, struct symbol **x, const enum adds *adds,
                           int x_count, struct span at)
{
    struct grads *all = caller->all;
    const int64_t keep = keep_of(orch, caller->keep);
    const char *key = key_of(caller, x, adds, x_count, keep);
    for (size_t i = 0; i < all->inner.count; i++) {
        const struct inner_gradient *known = all->inner.data[i];
        if (known->orch != orch) continue;
        if (known->is_open || all->depth > MAX_INNER_DEPTH) {
            grad_refuse(caller, DIAG_E22, at, "write the recursion as a 'for' loop",
                        "a gradient flows through '%s', which calls itself", orch->name);
            return NULL;
        }
        if (known->key == key) return known->name;
    }
    struct inner_gradient *new = arena_new(caller->mem, struct inner_gradient);
    *new = (struct inner_gradient){
        orch, key, kernels_free_name(all, arena_printf(caller->mem, "%s_adj%s", orch->name, key)), true};
    vec_push(&all->inner, new);
    struct symbol **copy = arena_array(caller->mem, struct symbol *, x_count + 1);
    for (int i = 0; i < x_count; i++) copy[i] = x[i];
    all->depth++;
    const bool is_good =
        print_gradient(all, orch, new->name, copy, adds, x_count, true, keep, caller->is_any_order, at);
    all->depth--;
    new->is_open = false;
    if (!is_good) caller->failed = true;
    return is_good ? new->name : NULL;
}
