/* keep.c - what the backward pass finds of the forward pass.
 * Idea       everything is kept: a tensor of an inner block lies in an array around the outermost loop, with an element
 *            for each iteration; a value that is overwritten later is copied at the call that needs it; a scalar that
 *            the backward pass cannot compute again is logged.  What can be said again, an index or a second name, is
 *            said again.
 * Gives      text for the backward pass, and in the steps the text that the forward pass needs more.
 * Tests      test/lit/grad/loops.pto, overwritten.pto, branches.pto
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <string.h>

const char *keep_again(struct gradient *g, const void *key)
{
    for (size_t i = g->again.count; i-- > 0;)
        if (g->again.data[i].key == key) return g->again.data[i].text;
    return NULL;
}

void keep_note(struct gradient *g, const void *key, const char *text)
{
    struct again new = {key, text};
    vec_push(&g->again, new);
}

/* ---- the iterations of the loops around -------------------------------------------------------------------------- */

static bool is_never_negative(const struct size *s)
{
    if (s->kind == SIZE_CONST) return s->value >= 0;
    if (s->kind == SIZE_SYMBOL) return s->symbol->kind == SYM_DIM;
    if (s->kind != SIZE_ADD && s->kind != SIZE_MUL && s->kind != SIZE_CEIL_DIV && s->kind != SIZE_DIV) return false;
    for (int i = 0; i < s->count; i++)
        if (!is_never_negative(s->arg[i])) return false;
    return true;
}

/* How many iterations the loop has at most, and the number of one, from 0. */
static bool iterations(struct gradient *g, const struct step *loop, const char **count, const char **iteration)
{
    struct size_table *t = g->c->sizes;
    const struct ast *n = loop->ast;
    const struct size *low = n->loop.low->value, *high = n->loop.high->value,
                      *by = n->loop.step ? n->loop.step->value : size_const(t, 1), *most = NULL, *number = NULL;
    int64_t value;
    if (low && high && by && (!size_is_const(by, &value) || value != 0)) {
        const bool is_down = size_is_const(by, &value) && value < 0;
        const struct size *distance = is_down ? size_sub(t, low, high) : size_sub(t, high, low);
        const struct size *length = is_down ? size_scale(t, by, -1) : by;
        distance = distance ? text_most(g, distance) : NULL;
        most = distance ? size_binary(t, SIZE_CEIL_DIV, distance, length) : NULL;
        number = size_sub(t, size_symbol(t, n->symbol), low);
        number = number ? size_binary(t, SIZE_DIV, number, by) : NULL;
    }
    *count = most ? text_size(g, most, false) : NULL;
    *iteration = number ? text_size(g, number, true) : NULL;
    if (!*count || !*iteration)
        return grad_refuse(
            g, DIAG_E99, n->at, "let its bounds be made of formals, constants and variables of the loops around it",
            "values of this loop are needed in the backward pass, and how many there are is not seen before it");
    if (!is_never_negative(most)) *count = arena_printf(g->mem, "max(%s, 0)", *count);
    return true;
}

/* array: "array[n] of array[m] of ", index: "[i][j]", of all loops around the block; without a loop one element. */
static bool dimensions(struct gradient *g, const struct block *b, bool of_scalars, const char **array,
                       const char **index)
{
    const struct step *loops[MAX_LOOPS];
    const int count = steps_loops(b, NULL, loops);
    *array = *index = "";
    if (count == 0) *array = "array[1] of ", *index = of_scalars ? "0" : "[0]";
    const char *length = NULL;
    for (int i = 0; i < count; i++) {
        const char *most, *iteration;
        if (!iterations(g, loops[i], &most, &iteration)) return false;
        if (loops[i]->plan) {
            most = loops[i]->plan->most;
            iteration = plan_iteration(g, loops[i]->plan, iteration);
            loops[i]->plan->is_asked = true;
        }
        if (of_scalars) {
            *index = i ? arena_printf(g->mem, "(%s) * (%s) + %s", *index, most, iteration) : iteration;
            length = i ? arena_printf(g->mem, "%s * (%s)", length, most) : arena_printf(g->mem, "(%s)", most);
        } else {
            *index = arena_printf(g->mem, "%s[%s]", *index, iteration);
            *array = arena_printf(g->mem, "%sarray[%s] of ", *array, most);
        }
    }
    if (of_scalars && count) *array = arena_printf(g->mem, "array[%s] of ", length);
    return true;
}

/* The step before which things are declared that all of the function sees. */
static struct strbuf *around(struct gradient *g, struct step *s) { return &steps_outermost(g, s)->first_text; }

/* "[0 +: M, 0 +: n]" of a piece whose extents change from iteration to iteration. */
static const char *slice(struct gradient *g, int rank, const struct size *const *extent)
{
    STRBUF(text);
    for (int i = 0; i < rank; i++) {
        const char *e = text_size(g, extent[i], true);
        if (!e) return NULL;
        strbuf_printf(&text, "%s0 +: %s", i ? ", " : "[", e);
    }
    strbuf_puts(&text, "]");
    return arena_copy(g->mem, strbuf_text(&text), text.length);
}

/* An array around the function for tensors of the block.  The text of the element of the present iteration; NULL:
 * reported. */
static const char *make_array(struct gradient *g, struct step *s, const char *name, enum elem elem, int rank,
                              const struct size *const *extent)
{
    const char *array, *index, *type, *piece = "";
    bool is_exact;
    if (!dimensions(g, s->in, false, &array, &index)) return NULL;
    type = text_most_type(g, elem, rank, extent, &is_exact);
    if (type && !is_exact) piece = slice(g, rank, extent);
    if (!type || !piece) {
        grad_refuse(g, DIAG_E99, s->ast->at, "let the extents be made of formals and constants",
                    "a tensor of this statement is needed in the backward pass, and its extents are not seen outside");
        return NULL;
    }
    strbuf_printf(around(g, s), "let %s: %s%s;\n", name, array, type);
    return arena_printf(g->mem, "%s%s%s", name, index, piece);
}

/* ---- tensors of inner blocks ------------------------------------------------------------------------------------- */

static struct step *maker_of(struct gradient *g, const struct tensor *t)
{
    for (size_t i = 0; i < g->steps.count; i++) {
        struct step *s = g->steps.data[i];
        if (s->made == t || (s->kind == STEP_LET && s->ast->symbol == t->symbol)) return s;
    }
    return NULL;
}

/* The name of the tensor in the backward pass. */
static const char *find_tensor(struct gradient *g, struct tensor *t)
{
    t->is_found = true;
    if (t->block == g->body) return t->name;
    if (t->symbol->is_var || !maker_of(g, t)) {
        grad_refuse(g, DIAG_E99, t->symbol->decl ? t->symbol->decl->at : g->at,
                    "let an array have a tensor for each iteration: h[t + 1] = f(h[t])",
                    "the value of '%s' is needed in the backward pass, which is not built yet for a 'var' or a struct "
                    "in a block",
                    t->symbol->name);
        return t->name;
    }
    if (!t->kept) {
        const struct type *type = t->symbol->type;
        t->kept = text_fresh(g, arena_printf(g->mem, "%s_kept", t->name));
        t->kept_text = make_array(g, maker_of(g, t), t->kept, type->elem, type->rank, type->extent);
        if (!t->kept_text) return t->name;
    }
    if (!keep_again(g, t)) {
        strbuf_printf(&g->out, "let %s = %s;\n", t->name, t->kept_text);
        keep_note(g, t, t->name);
    }
    return t->name;
}

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

/* What n, an expression of the statement s, was. */
static const char *log_value(struct gradient *g, struct step *s, struct ast *n)
{
    const char *known = ptrmap_get(&g->logs, n), *name, *array, *index;
    if (known) return known;
    STRBUF(value);
    text_forth(g, n, &value);
    name = text_fresh(g, "log");
    const bool is_bool = n->type->kind == TYPE_BOOL;
    const char *type = n->type->kind == TYPE_F64 ? "f64" : n->type->kind == TYPE_F32 ? "f32" : "i64";
    if (s->in == g->body) {
        strbuf_printf(&s->first_text, "let %s = %s;\n", name, strbuf_text(&value));
    } else {
        if (!dimensions(g, s->in, true, &array, &index)) return "0";
        strbuf_printf(around(g, s), "let %s: %s%s;\n", name, array, type);
        name = arena_printf(g->mem, "%s[%s]", name, index);
        strbuf_printf(&s->first_text, is_bool ? "%s = select(%s, 1, 0);\n" : "%s = %s;\n", name, strbuf_text(&value));
        if (is_bool) name = arena_printf(g->mem, "(%s != 0)", name);
    }
    ptrmap_set(&g->logs, n, (void *)(uintptr_t)name);
    return name;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

struct finding {
    struct gradient *g;
    struct step *s;
    const struct ast *root; /* printed as root_text */
    const char *root_text;
};

static bool say_again(void *cx, struct ast *n, struct strbuf *out);

/* A let, view or second name of an inner block: its statement, once more. */
static void declare_again(struct gradient *g, struct symbol *symbol)
{
    struct step *s = ptrmap_get(&g->step_of, symbol);
    STRBUF(line);
    if (keep_again(g, symbol)) return;
    struct finding f = {g, s, NULL, NULL};
    text_splice(g, s->ast, say_again, &f, &line);
    strbuf_add(&g->out, strbuf_text(&line), line.length);
    strbuf_putc(&g->out, '\n');
    keep_note(g, symbol, symbol->name);
}

static bool is_in_body(struct gradient *g, const struct symbol *s)
{
    const struct block *b = ptrmap_get(&g->block_of, s);
    return !b || b == g->body;
}

static bool find_name(struct gradient *g, struct step *s, struct ast *n, struct strbuf *out)
{
    struct symbol *symbol = n->symbol;
    if (symbol->kind == SYM_VAR) {
        strbuf_puts(out, log_value(g, s, n));
        return true;
    }
    if (symbol->kind != SYM_LET && symbol->kind != SYM_VIEW) {
        struct tensor *t = symbol->kind == SYM_FORMAL ? ptrmap_get(&g->tensor_of, symbol) : NULL;
        if (t) t->is_found = true;
        return false;
    }
    struct tensor *t = ptrmap_get(&g->tensor_of, symbol);
    if (t) {
        strbuf_puts(out, find_tensor(g, t));
        return true;
    }
    const struct step *at = ptrmap_get(&g->step_of, symbol);
    if (at && at->kind == STEP_CALL && !is_in_body(g, symbol)) {
        grad_refuse(g, DIAG_E99, n->at, "compute it outside of the block",
                    "'%s', which a function in a block gives, is needed in the backward pass", symbol->name);
    } else if (at && !is_in_body(g, symbol)) {
        declare_again(g, symbol);
    } else if (at && at->kind == STEP_ALIAS && region_of(n)) {
        steps_tensor(g, region_of(n)->base)->is_found = true;
    }
    return false;
}

/* dim(x, 0) of a tensor that is not seen here. */
static bool is_extent(struct gradient *g, const struct ast *n)
{
    if (n->kind != AST_CALL || call_of(n) || n->call.callee->kind != AST_NAME ||
        strcmp(n->call.callee->name, "dim") != 0 || !n->call.args)
        return false;
    const struct ast *x = n->call.args->arg.value;
    return region_of(x) && steps_tensor(g, region_of(x)->base)->block != g->body;
}

static bool say_again(void *cx, struct ast *n, struct strbuf *out)
{
    const struct finding *f = cx;
    struct gradient *g = f->g;
    if (n == f->root) {
        strbuf_puts(out, f->root_text);
        return true;
    }
    if (n->kind == AST_CALL && call_of(n)) {
        struct tensor *t = call_of(n)->result_symbol ? ptrmap_get(&g->tensor_of, call_of(n)->result_symbol) : NULL;
        strbuf_puts(out, t ? find_tensor(g, t) : log_value(g, f->s, n));
        return true;
    }
    if (is_extent(g, n)) {
        const char *text = n->value ? text_size(g, n->value, true) : NULL;
        strbuf_puts(out, text ? text : log_value(g, f->s, n));
        return true;
    }
    const bool is_changing = n->kind == AST_INDEX && n->type && type_is_scalar(n->type) && region_of(n) &&
                             region_of(n)->base->dir != DIR_HOST;
    if (n->kind == AST_AWAIT || is_changing || (n->kind == AST_MEMBER && n->symbol && n->symbol->kind == SYM_VAR)) {
        strbuf_puts(out, log_value(g, f->s, n));
        return true;
    }
    return n->kind == AST_NAME && n->symbol && find_name(g, f->s, n, out);
}

bool keep_place(struct gradient *g, struct step *s, struct ast *n, const struct ast *root, const char *root_text,
                struct strbuf *out)
{
    struct finding f = {g, s, root, root_text};
    text_splice(g, n, say_again, &f, out);
    return !g->failed;
}

bool keep_expr(struct gradient *g, struct step *s, struct ast *n, struct strbuf *out)
{
    return keep_place(g, s, n, NULL, NULL, out);
}

/* ---- values of tensors ------------------------------------------------------------------------------------------- */

static bool is_overwritten(struct gradient *g, const struct step *s, int formal, bool after)
{
    const struct grad_place *p = &s->places[formal];
    if (!after && active_writes(active_direction(s, formal))) return true;
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *w = g->calls.data[i];
        for (int k = 0; k < w->place_count; k++)
            if (w->places[k].base == p->base &&
                (active_writes(active_direction(w, k)) || active_direction(w, k) == DIR_OWN) &&
                order_may_follow(g, s, p, w, &w->places[k]))
                return true;
    }
    return false;
}

static void add_place(struct gradient *g, const struct grad_place *p, struct strbuf *out)
{
    if (p->expr)
        text_forth(g, p->expr, out);
    else
        strbuf_puts(out, p->base->name);
}

/* Copied before the call, or after it. */
static const char *copy_value(struct gradient *g, struct step *s, int formal, bool after)
{
    struct grad_place *p = &s->places[formal];
    const char *known = ptrmap_get(&g->values, (const char *)p + after), *name, *element;
    struct strbuf *line = after ? &s->last_text : &s->first_text;
    if (known) return known;
    p->base->is_copied = true;
    STRBUF(place);
    add_place(g, p, &place);
    name = text_fresh(g, arena_printf(g->mem, after ? "%s_left" : "%s_found", p->base->symbol->name));
    const char *copy = kernels_copy(g->all, p->region->rank);
    if (s->in == g->body) {
        strbuf_printf(line, "let %s = %s(%s);\n", name, copy, strbuf_text(&place));
    } else {
        element = make_array(g, s, name, p->base->symbol->type->elem, p->region->rank, p->region->extent);
        if (!element) return "";
        strbuf_printf(line, "%s(%s, out %s);\n", copy, strbuf_text(&place), element);
        name = element;
    }
    ptrmap_set(&g->values, (const char *)p + after, (void *)(uintptr_t)name);
    return name;
}

bool keep_value(struct gradient *g, struct step *s, int formal, bool after, struct strbuf *out)
{
    struct grad_place *p = &s->places[formal];
    if (p->base->symbol->is_var || is_overwritten(g, s, formal, after))
        strbuf_puts(out, copy_value(g, s, formal, after));
    else if (p->expr)
        keep_expr(g, s, p->expr, out);
    else
        strbuf_puts(out, find_tensor(g, p->base));
    return !g->failed;
}
