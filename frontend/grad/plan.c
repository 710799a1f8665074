/* plan.c - loops that keep the values of a few iterations only, and recompute those of the others.
 * Idea       a loop of n iterations runs in segments of c.  The forward pass keeps values in arrays of c elements,
 *            which each segment overwrites, and before each segment but the last it copies the tensors that the loop
 *            changes.  The backward pass takes the segments from the last to the first: it runs the body of a segment
 *            again, on those copies, and then the adjoints of its iterations.  The last segment is not run again, so a
 *            plan with one segment keeps everything.
 * Invariant  a tensor that the body reads has the same value when the body runs again: nothing can write it later, or
 *            the body uses a copy under another name.
 * Tests      test/lit/grad/segments.pto
 */
#include "parts.h"
#include "syntax/ast_walk.h"
#include <ctype.h>
#include <string.h>

static bool is_outside(const struct plan *p, const struct tensor *t)
{
    return !order_encloses(p->loop->blocks[0], t->block);
}

/* Declarations of the loop that the whole function sees.  A loop in a branch has them before the branch, because the
 * backward pass has a branch of its own. */
static struct strbuf *declarations(const struct gradient *g, const struct plan *p)
{
    return &steps_outermost(g, p->loop)->first_text;
}

static bool refuse(struct gradient *g, struct plan *p, struct span at, const char *why)
{
    if (!p->why) p->why = why, p->why_at = at;
    (void)g;
    return false;
}

/* ---- may the body run again? ------------------------------------------------------------------------------------- */

struct looking {
    struct gradient *g;
    struct plan *p;
};

static bool is_declared_inside(struct gradient *g, const struct plan *p, const struct symbol *s)
{
    const struct block *b = ptrmap_get(&g->block_of, s);
    return b && order_encloses(p->loop->blocks[0], b);
}

/* Refuses expressions whose value another run of the body could not repeat. */
static bool look(void *cx, struct ast *n)
{
    const struct looking *l = cx;
    struct gradient *g = l->g;
    const struct symbol *s = n->symbol;
    if (n->kind == AST_AWAIT) return refuse(g, l->p, n->at, "an 'await' in it");
    if (n->kind == AST_INDEX && n->type && type_is_scalar(n->type) && region_of(n) &&
        region_of(n)->base->dir != DIR_HOST && !is_declared_inside(g, l->p, region_of(n)->base))
        return refuse(g, l->p, n->at, "an element of an array of scalars in it");
    if (n->kind == AST_NAME && s && s->kind == SYM_VAR && s->type && type_is_scalar(s->type) &&
        !is_declared_inside(g, l->p, s))
        return refuse(g, l->p, n->at, "a scalar 'var' of the function in it");
    if (n->kind == AST_NAME && s && s->kind == SYM_FORMAL && s->by_reference)
        return refuse(g, l->p, n->at, "an 'inout' scalar in it");
    return !l->p->why;
}

static bool is_written_place(const struct step *s, int k)
{
    return active_writes(active_direction(s, k)) || active_direction(s, k) == DIR_OWN;
}

/* Is the value that a step of the body reads, or writes, never overwritten later? */
static bool is_stable(struct gradient *g, const struct plan *p, const struct tensor *t)
{
    if (t->symbol->is_var) return false;
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *s = g->calls.data[i];
        for (int k = 0; plan_has_inside(p, s) && k < s->place_count; k++) {
            if (s->places[k].base != t) continue;
            const enum direction d = active_direction(s, k);
            if (d != DIR_IN && d != DIR_OUT && d != DIR_HOST) return false;
            for (size_t j = 0; j < g->calls.count; j++) {
                const struct step *w = g->calls.data[j];
                for (int m = 0; m < w->place_count; m++)
                    if (w->places[m].base == t && is_written_place(w, m) &&
                        order_may_follow(g, s, &s->places[k], w, &w->places[m]))
                        return false;
            }
        }
    }
    return true;
}

static bool is_written_inside(struct gradient *g, const struct plan *p, const struct tensor *t)
{
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *s = g->calls.data[i];
        for (int k = 0; plan_has_inside(p, s) && k < s->place_count; k++)
            if (s->places[k].base == t && active_writes(active_direction(s, k))) return true;
    }
    return false;
}

static struct remade *remade_of(const struct plan *p, const struct tensor *t)
{
    for (size_t i = 0; i < p->remade.count; i++)
        if (p->remade.data[i]->tensor == t) return p->remade.data[i];
    return NULL;
}

static bool add_tensor(struct gradient *g, struct plan *p, struct tensor *t, struct span at)
{
    if (type_is_scalar_array(t->symbol->type)) return refuse(g, p, at, "an array of scalars in it");
    if (strchr(t->symbol->name, '.') || type_is_struct(t->symbol->type)) return refuse(g, p, at, "a struct in it");
    if (!is_outside(p, t)) return true;
    t->is_found = true; /* no `drop` may end it */
    if (remade_of(p, t) || is_stable(g, p, t)) return true;
    struct remade *r = arena_new(g->mem, struct remade);
    r->tensor = t;
    r->is_changed = is_written_inside(g, p, t);
    r->is_scratch = r->is_changed && !t->symbol->is_var && (plan_begins_anew(g, p, t) || plan_only_writes(g, p, t));
    if (!r->is_changed && p->loop->in != g->body)
        return refuse(g, p, at, "a tensor that is changed after it, in a branch");
    if (!r->is_scratch && !plan_is_written_before(g, p, t)) {
        p->help = arena_printf(g->mem,
                               "write '%s' as a whole before the loop, by one call or by a loop over all of one "
                               "dimension; or write '@keep(0)', which keeps all",
                               t->symbol->name);
        return refuse(
            g, p, at,
            arena_printf(g->mem, "the tensor '%s', which may not be written as a whole before it,", t->symbol->name));
    }
    if (t->symbol->type->rank == MAX_RANK) return refuse(g, p, at, "a tensor of 8 dimensions that it changes");
    if (!text_type(g, t->symbol->type, false)) return refuse(g, p, at, "a tensor whose extents the run decides");
    vec_push(&p->remade, r);
    return true;
}

/* A second name from outside of the loop names the tensor itself, and not its copy. */
static bool check_alias(struct gradient *g, struct plan *p, const struct grad_place *place)
{
    const struct ast *root = place->expr ? text_root(place->expr) : NULL;
    const struct step *at =
        root && root->kind == AST_NAME && root->symbol ? ptrmap_get(&g->step_of, root->symbol) : NULL;
    while (at && at->kind == STEP_ALIAS && plan_has_inside(p, at)) {
        struct ast *v = at->ast->kind == AST_VIEW ? at->ast->view.tensor : at->ast->decl.value;
        root = text_root(v);
        at = root->kind == AST_NAME && root->symbol ? ptrmap_get(&g->step_of, root->symbol) : NULL;
    }
    if (!at || at->kind != STEP_ALIAS || !remade_of(p, place->base)) return true;
    return refuse(g, p, place->expr->at, "a second name of a tensor that it changes");
}

static bool find_remade(struct gradient *g, struct plan *p)
{
    struct looking l = {g, p};
    ast_walk(p->loop->ast->loop.body, look, &l);
    for (size_t i = 0; i < g->calls.count && !p->why; i++) {
        const struct step *s = g->calls.data[i];
        if (!plan_has_inside(p, s)) continue;
        for (int k = 0; k < s->call->callee->formal_count && !p->why; k++)
            if (type_is_struct(s->call->callee->formals[k]->type)) refuse(g, p, s->call_ast->at, "a struct in it");
        for (int k = 0; k < s->place_count && !p->why; k++) {
            if (!s->places[k].base) continue;
            if (active_direction(s, k) == DIR_OWN) refuse(g, p, s->call_ast->at, "a tensor that is moved in it");
            add_tensor(g, p, s->places[k].base, s->call_ast->at);
        }
    }
    for (size_t i = 0; i < g->calls.count && !p->why; i++) {
        const struct step *s = g->calls.data[i];
        for (int k = 0; plan_has_inside(p, s) && k < s->place_count && !p->why; k++)
            if (s->places[k].base) check_alias(g, p, &s->places[k]);
    }
    for (size_t i = 0; i < g->steps.count && !p->why; i++) {
        const struct step *s = g->steps.data[i];
        if (plan_has_inside(p, s) && s->kind == STEP_PLAIN && s->ast->kind == AST_ASSIGN)
            refuse(g, p, s->ast->at, "a tensor that takes another one over in it");
    }
    return !p->why;
}

/* ---- the segments ------------------------------------------------------------------------------------------------ */

static bool name_segments(struct gradient *g, struct plan *p)
{
    struct size_table *t = g->c->sizes;
    const struct ast *n = p->loop->ast;
    const struct size *low = n->loop.low->value, *high = n->loop.high->value;
    const struct size *by = n->loop.step ? n->loop.step->value : size_const(t, 1);
    int64_t count;
    if (!low || !high || !by || !size_is_const(by, &p->step) || p->step == 0)
        return refuse(g, p, n->at, "a step that is no constant");
    const struct size *distance = p->step > 0 ? size_sub(t, high, low) : size_sub(t, low, high);
    const struct size *all =
        distance ? size_binary(t, SIZE_CEIL_DIV, distance, size_const(t, p->step > 0 ? p->step : -p->step)) : NULL;
    p->low = text_size(g, low, false);
    p->high = text_size(g, high, false);
    p->all = all ? text_size(g, all, false) : NULL;
    if (!p->low || !p->high || !p->all) return refuse(g, p, n->at, "bounds that are no formals and constants");
    p->segment = text_fresh(g, "segment");
    if (size_is_const(all, &count)) {
        const int64_t most = g->keep > 0 ? g->keep : (count + g->segments - 1) / g->segments;
        if (count <= most) return false; /* all is kept; `why` stays empty */
        p->most = arena_printf(g->mem, "%lld", (long long)most);
        p->count = arena_printf(g->mem, "%lld", (long long)((count + most - 1) / most));
        p->before_last = arena_printf(g->mem, "%lld", (long long)((count + most - 1) / most - 1));
        return true;
    }
    p->most = text_fresh(g, "kept");
    p->count = text_fresh(g, "segments");
    p->before_last = arena_printf(g->mem, "max(%s - 1, 0)", p->count);
    if (g->keep > 0)
        strbuf_printf(declarations(g, p), "let %s = max(min(%s, %lld), 1);\n", p->most, p->all, (long long)g->keep);
    else
        strbuf_printf(declarations(g, p), "let %s = max(ceil_div(%s, %d), 1);\n", p->most, p->all, g->segments);
    strbuf_printf(declarations(g, p), "let %s = ceil_div(max(%s, 0), %s);\n", p->count, p->all, p->most);
    return true;
}

bool plan_begin(struct gradient *g, struct step *loop)
{
    const struct step *loops[MAX_LOOPS];
    if ((g->keep <= 0 && g->segments <= 1) || steps_loops(loop->in, NULL, loops) > 0) return true;
    struct plan *p = arena_new(g->mem, struct plan);
    p->loop = loop;
    p->begins_at = declarations(g, p)->length;
    if (!find_remade(g, p) || !name_segments(g, p)) {
        vec_free(&p->remade);
        if (!p->why || g->keep < 0 || g->is_inner) return true; /* where none is asked for, all of it is kept */
        return grad_refuse(g, DIAG_E99, p->why_at,
                           p->help ? p->help : "write '@keep(0)', which keeps all, or none at all",
                           "'@keep' of a loop with %s is not built yet", p->why);
    }
    p->ends_at = declarations(g, p)->length;
    loop->plan = p;
    return true;
}

/* Takes the segments away from a loop of which nothing is kept.  Tensors of the blocks around it may have got their
 * declarations since. */
void plan_forget(struct gradient *g, struct step *loop)
{
    struct plan *p = loop->plan;
    struct strbuf *text = declarations(g, p);
    const char *later = arena_copy(g->mem, strbuf_text(text) + p->ends_at, text->length - p->ends_at);
    strbuf_cut(text, p->begins_at);
    strbuf_puts(text, later);
    vec_free(&p->remade);
    loop->plan = NULL;
}

/* "lo + segment * c * by" */
static const char *edge(struct gradient *g, const struct plan *p, const char *segment)
{
    const char *offset = arena_printf(g->mem, "%s * %s", segment, p->most);
    if (p->step != 1) offset = arena_printf(g->mem, "%s * %lld", offset, (long long)p->step);
    return strcmp(p->low, "0") == 0 && p->step > 0 ? offset : arena_printf(g->mem, "%s + %s", p->low, offset);
}

static void print_forth_head(struct gradient *g, const struct plan *p, struct strbuf *out)
{
    strbuf_printf(out, "for %s in %s .. %s(%s, %s)", p->loop->ast->symbol->name, edge(g, p, p->segment),
                  p->step > 0 ? "min" : "max", p->high, edge(g, p, arena_printf(g->mem, "(%s + 1)", p->segment)));
    if (p->step != 1) strbuf_printf(out, " step %lld", (long long)p->step);
}

static void print_back_head(struct gradient *g, const struct plan *p, struct strbuf *out)
{
    const char *next = edge(g, p, arena_printf(g->mem, "(%s + 1)", p->segment));
    if (p->step == 1) {
        strbuf_printf(out, "for %s in min(%s, %s) - 1 .. %s - 1 step -1", p->loop->ast->symbol->name, p->high, next,
                      edge(g, p, p->segment));
        return;
    }
    strbuf_printf(out, "for %s in %s + (min((%s + 1) * %s, %s) - 1) * %lld .. %s %s 1 step %lld",
                  p->loop->ast->symbol->name, p->low, p->segment, p->most, p->all, (long long)p->step,
                  edge(g, p, p->segment), p->step > 0 ? "-" : "+", (long long)-p->step);
}

/* ---- which steps run again --------------------------------------------------------------------------------------- */

static bool is_alive(const struct plan *p, const struct tensor *t)
{
    return t->is_alive && (!is_outside(p, t) || remade_of(p, t));
}

static bool gives_scalar(const struct step *s)
{
    const struct symbol *f = s->call->callee;
    for (int i = 0; i < f->formal_count; i++)
        if (f->formals[i]->by_reference) return true;
    return f->kind == SYM_ORCH && f->result && type_is_scalar(f->result);
}

bool plan_runs_again(const struct plan *p, const struct step *s)
{
    if (gives_scalar(s)) return true;
    for (int k = 0; k < s->place_count; k++)
        if (s->places[k].base && active_writes(active_direction(s, k)) && is_alive(p, s->places[k].base)) return true;
    return false;
}

bool plan_names_again(struct gradient *g, const struct plan *p, const struct step *s)
{
    if (s->kind == STEP_LET) {
        const struct tensor *t = ptrmap_get(&g->tensor_of, s->ast->symbol);
        return !t || t->is_alive;
    }
    struct ast *v = s->ast->kind == AST_VIEW ? s->ast->view.tensor : s->ast->decl.value;
    const struct tensor *t = v && region_of(v) ? ptrmap_get(&g->tensor_of, region_of(v)->base) : NULL;
    return !t || is_outside(p, t) || t->is_alive;
}

static bool look_for_extent(void *cx, struct ast *n)
{
    struct gradient *g = cx;
    if (n->kind == AST_CALL && !call_of(n) && n->call.callee->kind == AST_NAME &&
        strcmp(n->call.callee->name, "dim") == 0 && n->call.args && region_of(n->call.args->arg.value)) {
        struct tensor *t = steps_tensor(g, region_of(n->call.args->arg.value)->base);
        t->is_alive = t->is_named = true;
    }
    return true;
}

static void find_alive(struct gradient *g, struct plan *p)
{
    bool changed = true;
    for (size_t i = 0; i < g->tensors.count; i++) {
        struct tensor *t = g->tensors.data[i];
        t->is_named = t->is_copied;
        t->is_alive = t->is_copied || (t->kept && !is_outside(p, t));
    }
    ast_walk(p->loop->ast->loop.body, look_for_extent, g);
    while (changed) {
        changed = false;
        for (size_t i = 0; i < g->calls.count; i++) {
            const struct step *s = g->calls.data[i];
            if (!plan_has_inside(p, s) || !plan_runs_again(p, s)) continue;
            for (int k = 0; k < s->place_count; k++) {
                struct tensor *t = s->places[k].base;
                if (!t) continue;
                if (t != s->made) t->is_named = true;
                if (!t->is_alive) changed = t->is_alive = true;
            }
        }
    }
}

/* ---- the body once more ------------------------------------------------------------------------------------------ */

/* Is the call left out when the body runs again? */
static bool is_left_out(struct gradient *g, const struct plan *p, const struct ast *call)
{
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *s = g->calls.data[i];
        if (s->call_ast == call && plan_has_inside(p, s)) return !plan_runs_again(p, s);
    }
    return false;
}

/* Declares the name once more, where it is one of a block between the function's own and the loop. */
static bool declare_outer(void *cx, struct ast *n)
{
    const struct looking *l = cx;
    struct gradient *g = l->g;
    if (n->kind == AST_CALL && is_left_out(g, l->p, n)) return false;
    if (n->kind != AST_NAME || !n->symbol) return true;
    const struct tensor *t = ptrmap_get(&g->tensor_of, n->symbol);
    const struct block *b = t ? t->block : ptrmap_get(&g->block_of, n->symbol);
    if (!b || b == g->body || order_encloses(l->p->loop->blocks[0], b) || (t && remade_of(l->p, t))) return true;
    STRBUF(name);
    return keep_expr(g, l->p->loop, n, &name);
}

/* The backward pass declares names where it first needs them, so those of blocks around are declared for the body. */
static void print_outer_names(struct gradient *g, struct plan *p, struct strbuf *out)
{
    struct looking l = {g, p};
    const size_t mark = g->out.length, known = g->again.count;
    ast_walk(p->loop->ast->loop.body, declare_outer, &l);
    strbuf_puts(out, strbuf_text(&g->out) + mark);
    strbuf_cut(&g->out, mark);
    g->again.count = known;
}

static const char *other_name(const struct plan *p, const char *word, size_t length)
{
    for (size_t i = 0; i < p->remade.count; i++) {
        const struct remade *r = p->remade.data[i];
        if (r->again && strlen(r->tensor->name) == length && memcmp(r->tensor->name, word, length) == 0)
            return r->again;
    }
    return NULL;
}

static const char *end_of_word(const char *at)
{
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    return at;
}

static const char *end_of_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

static const char *end_of_comment(const char *at)
{
    const char *end = at[1] == '/' ? strchr(at, '\n') : strstr(at + 2, "*/");
    return !end ? at + strlen(at) : at[1] == '/' ? end : end + 2;
}

/* The text, in which the names of copies replace those of the tensors. */
static void rename_tensors(const struct plan *p, const char *text, struct strbuf *out)
{
    for (const char *at = text, *end; *at; at = end) {
        end = at + 1;
        const bool is_member = at > text && at[-1] == '.' && !(at > text + 1 && at[-2] == '.');
        if (*at == '"')
            end = end_of_string(at);
        else if (*at == '/' && (at[1] == '/' || at[1] == '*'))
            end = end_of_comment(at);
        else if (isalnum((unsigned char)*at) || *at == '_')
            end = end_of_word(at);
        const bool is_word = isalpha((unsigned char)*at) || *at == '_';
        const char *other = is_word && !is_member ? other_name(p, at, (size_t)(end - at)) : NULL;
        strbuf_add(out, other ? other : at, other ? strlen(other) : (size_t)(end - at));
    }
}

/* forth: the copies before a segment of the forward pass; back: the tensors that the body then works on. */
static void print_copies(struct gradient *g, struct plan *p, struct strbuf *forth, struct strbuf *back)
{
    for (size_t i = 0; i < p->remade.count; i++) {
        struct remade *r = p->remade.data[i];
        const struct tensor *t = r->tensor;
        if (!t->is_alive) continue;
        const char *type = text_type(g, t->symbol->type, false), *copy = kernels_copy(g->all, t->symbol->type->rank);
        r->again = text_fresh(g, arena_printf(g->mem, "%s_again", t->name));
        if (r->is_scratch) {
            strbuf_printf(back, "let %s: %s;\n", r->again, type);
        } else if (!r->is_changed) {
            strbuf_printf(&p->loop->first_text, "let %s = %s(%s);\n", r->again, copy, t->name);
        } else {
            const char *start = r->start = text_fresh(g, arena_printf(g->mem, "%s_start", t->name));
            strbuf_printf(declarations(g, p), "let %s: array[%s] of %s;\n", start, p->before_last, type);
            strbuf_printf(forth, "%s(%s, out %s[%s]);\n", copy, t->name, start, p->segment);
            if (t->symbol->is_var)
                strbuf_printf(back, "var %s = %s(%s[%s]);\n", r->again, copy, start, p->segment);
            else
                strbuf_printf(back, "let %s = %s[%s];\n", r->again, start, p->segment);
        }
    }
}

/* The number of statements in the text that are calls. */
static int calls_of(const char *text)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, ");\n")) != NULL; at++) count++;
    return count;
}

/* "h_found, z_kept": the arrays that are declared before the loop; of_copies: those of copies before segments, else the
 * others. */
static const char *names_of(struct gradient *g, const struct plan *p, bool of_copies)
{
    STRBUF(names);
    for (const char *at = strbuf_text(declarations(g, p)) + p->begins_at; *at; at = strchr(at, '\n') + 1) {
        const char *name = at + 4, *end = end_of_word(name);
        if (strncmp(at, "let ", 4) != 0 || *end != ':') continue;
        bool is_copy = false;
        for (size_t i = 0; i < p->remade.count; i++)
            is_copy |= p->remade.data[i]->start && strlen(p->remade.data[i]->start) == (size_t)(end - name) &&
                       memcmp(p->remade.data[i]->start, name, (size_t)(end - name)) == 0;
        if (is_copy == of_copies) strbuf_printf(&names, "%s%.*s", names.length ? ", " : "", (int)(end - name), name);
    }
    return arena_copy(g->mem, strbuf_text(&names), names.length);
}

static void note(struct gradient *g, const struct plan *p, const char *again, const char *back)
{
    struct grad_plan *new = arena_new(g->mem, struct grad_plan);
    struct span head = p->loop->ast->at;
    STRBUF(forth);
    head.end = p->loop->ast->loop.body->at.begin;
    forth_block(g, p->loop->blocks[0], &forth);
    *new = (struct grad_plan){NULL,
                              g->name,
                              head,
                              p->most,
                              p->count,
                              names_of(g, p, false),
                              names_of(g, p, true),
                              calls_of(strbuf_text(&forth)) + calls_of(back),
                              calls_of(again)};
    vec_push(&g->plans, new);
}

void plan_end(struct gradient *g, struct step *loop, const char *back)
{
    struct plan *p = loop->plan;
    STRBUF(names);
    STRBUF(body);
    STRBUF(renamed);
    STRBUF(head);
    print_back_head(g, p, &head);
    strbuf_printf(&head, "%s\n", back);
    find_alive(g, p);
    print_outer_names(g, p, &names);
    print_copies(g, p, &p->copies, &names);
    print_forth_head(g, p, &body);
    strbuf_puts(&body, " {\n");
    g->remaking = p;
    forth_block(g, loop->blocks[0], &body);
    g->remaking = NULL;
    note(g, p, strbuf_text(&body), back);
    strbuf_puts(&body, "}\n");
    rename_tensors(p, strbuf_text(&body), &renamed);
    strbuf_printf(&g->out, "for %s in %s - 1 .. -1 step -1 {\nif %s < %s - 1 {\n%s%s}\n%s}\n", p->segment, p->count,
                  p->segment, p->count, strbuf_text(&names), strbuf_text(&renamed), strbuf_text(&head));
}

void plan_forth(struct gradient *g, const struct step *s, struct strbuf *out)
{
    const struct plan *p = s->plan;
    strbuf_printf(out, "for %s in 0 .. %s {\n", p->segment, p->count);
    if (p->copies.length) strbuf_printf(out, "if %s < %s - 1 {\n%s}\n", p->segment, p->count, strbuf_text(&p->copies));
    print_forth_head(g, p, out);
    strbuf_puts(out, " {\n");
    forth_block(g, s->blocks[0], out);
    strbuf_puts(out, "}\n}\n");
}

/* The number of an iteration in its segment. */
const char *plan_iteration(struct gradient *g, const struct plan *p, const char *iteration)
{
    return arena_printf(g->mem, "%s - %s * %s", iteration, p->segment, p->most);
}
