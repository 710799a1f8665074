/* emit_tasks.c - --emit=tasks: the tasks that a function submits, in program order, and the tasks that each may have to
 * wait for.
 * Idea       the statements as they nest; a line for each call of a kernel (a task) or a function.  An argument may
 *            wait for every call before it, or in an earlier iteration of a loop around both, that uses the same tensor
 *            where one of the two writes.  The run decides by regions, so it waits for fewer; what is not listed it
 *            never waits for.
 * Tests      test/lit/codegen/emit-tasks.pto
 */
#include "codegen.h"
#include "emit.h"
#include <string.h>

/* One argument of one call. */
struct use {
    const struct symbol *base;
    bool writes;
    int call;
};

struct site_of_call {
    const struct ast *node;
    const struct call *call; /* of a joined one, the whole */
    int loop;                /* index of the innermost loop around it, -1: none */
};

struct lister {
    struct emitter *e;
    VEC(struct use) uses;
    VEC(struct site_of_call) calls;
    VEC(int) loops; /* by index: the loop around it */
    int loop;
    int printed; /* calls that have been printed */
    int depth;
    bool prints; /* the second walk */
};

static int line_of(struct emitter *e, const struct ast *n)
{
    return source_place(e->front->sources, n->at.file, n->at.begin).line;
}

/* ---- who uses what: the first walk ---- */

static void add_use(struct lister *l, const struct region *r, enum direction dir)
{
    if (!r) return;
    vec_push(&l->uses, ((struct use){.base = r->base, .writes = direction_writes(dir), .call = (int)l->calls.count}));
}

static void note_call(struct lister *l, const struct ast *n, const struct call *c)
{
    for (int i = 0; i < c->callee->formal_count; i++) {
        const enum direction dir = c->callee->formals[i]->dir;
        add_use(l, c->regions[i], dir);
        for (int k = 0; k < c->leaves[i].count; k++)
            add_use(l, c->leaves[i].leaf[k].region, c->leaves[i].leaf[k].formal->dir);
    }
    add_use(l, c->destination, DIR_OUT);
    for (int k = 0; k < c->result_leaves.count; k++) add_use(l, c->result_leaves.leaf[k].region, DIR_OUT);
    if (c->result_symbol && !c->destination)
        vec_push(&l->uses, ((struct use){.base = c->result_symbol, .writes = true, .call = (int)l->calls.count}));
    vec_push(&l->calls, ((struct site_of_call){.node = n, .call = c, .loop = l->loop}));
}

static bool is_inside(const struct lister *l, int loop, int outer)
{
    while (loop > outer) loop = l->loops.data[loop];
    return loop == outer;
}

/* Is there a loop around both, and not around the tensor's declaration?  Then both may mean one tensor in different
 * iterations. */
static bool share_a_loop(const struct lister *l, int a, int b, const struct symbol *base)
{
    int depth = 0;
    for (int loop = l->calls.data[a].loop; loop >= 0; loop = l->loops.data[loop]) depth++;
    const int fresh = tensor_is_new(base) ? base->loop_depth : 0; /* each iteration of the loops around it makes one */
    for (int loop = l->calls.data[a].loop; loop >= 0 && depth > fresh; loop = l->loops.data[loop], depth--)
        if (is_inside(l, l->calls.data[b].loop, loop)) return true;
    return false;
}

/* Names that change buffers count as one. */
static const struct symbol *tensor_of(const struct symbol *base)
{
    return base->exchange ? base->exchange->names[0] : base;
}

/* Before it in the text; in an earlier iteration. */
struct waits {
    bool before, iteration;
};

static struct waits waits_of(const struct lister *l, int me, int other)
{
    struct waits w = {false, false};
    for (size_t i = 0; i < l->uses.count; i++) {
        const struct use *mine = &l->uses.data[i];
        if (mine->call != me || mine->base->next_of) continue; /* a new tensor waits for nobody */
        for (size_t k = 0; k < l->uses.count; k++) {
            const struct use *its = &l->uses.data[k];
            if (its->call != other || tensor_of(its->base) != tensor_of(mine->base) || !(its->writes || mine->writes))
                continue;
            w.before |= other < me;
            w.iteration |= share_a_loop(l, me, other, mine->base);
        }
    }
    return w;
}

/* ---- lines: the second walk ---- */

static void put(struct lister *l, const struct ast *n, const char *text)
{
    out_line(l->e->out, "%5d  %*s%s", line_of(l->e, n), 2 * l->depth, "", text);
}

static void print_argument(struct lister *l, struct strbuf *b, const struct call *c, int i)
{
    const struct symbol *f = c->callee->formals[i];
    if (i == c->result_formal) return; /* stands before the call */
    const char *dir = direction_text(f->dir);
    strbuf_printf(b, "%s%s%s", b->length && strbuf_text(b)[b->length - 1] != '(' ? ", " : "", dir, *dir ? " " : "");
    if (c->values[i]) strbuf_puts(b, emit_source_text(l->e, c->values[i]->at));
    if (c->regions[i] && type_is_scalar(f->type) == false) {
        struct type t = {.kind = TYPE_TENSOR, .elem = f->type->elem, .rank = c->regions[i]->rank};
        memcpy(t.extent, c->regions[i]->extent, sizeof t.extent);
        strbuf_printf(b, ": %s", type_string(l->e, &t));
        if (c->regions[i]->is_part) strbuf_puts(b, " (to the compiler: all of the box around it)");
        if (c->written && c->written[i]) strbuf_printf(b, " %s", emit_source_text(l->e, f->decl->formal.writes->at));
        if (f->by) strbuf_printf(b, " by %s", accumulators_word(f->by));
    }
}

/* Calls of one name in one line are listed once. */
static bool is_same_text(const struct lister *l, int a, int b)
{
    const struct site_of_call *x = &l->calls.data[a], *y = &l->calls.data[b];
    return x->call->callee == y->call->callee && line_of(l->e, x->node) == line_of(l->e, y->node);
}

static void print_waits(struct lister *l, struct strbuf *b, int me)
{
    const char *before = "  may wait for ";
    for (int k = 0; k < (int)l->calls.count; k++) {
        if (k > 0 && is_same_text(l, k, k - 1)) continue;
        struct waits w = waits_of(l, me, k);
        for (int next = k + 1; next < (int)l->calls.count && is_same_text(l, k, next); next++) {
            const struct waits more = waits_of(l, me, next);
            w.before |= more.before;
            w.iteration |= more.iteration;
        }
        if (!w.before && !w.iteration) continue;
        strbuf_printf(b, "%s%d %s%s", before, line_of(l->e, l->calls.data[k].node), l->calls.data[k].call->callee->name,
                      w.before ? w.iteration ? " (also of earlier iterations)" : "" : " of an earlier iteration");
        before = ", ";
    }
}

static void print_call(struct lister *l, const struct ast *n, const struct call *c)
{
    STRBUF(b);
    const int me = l->printed++;
    const bool is_task = c->callee->kind == SYM_KERNEL;
    const struct symbol *to = c->destination ? c->destination->base : NULL;
    if (to)
        strbuf_printf(&b, "%s = ", to->next_of ? to->next_of->name : to->name);
    else if (c->result_symbol)
        strbuf_printf(&b, "%s%s = ", c->result_symbol->name, c->result_symbol->hidden ? "()" : "");
    strbuf_printf(&b, "%s %s(", is_task ? "task" : "call", c->callee->name);
    for (int i = 0; i < c->callee->formal_count; i++) print_argument(l, &b, c, i);
    strbuf_putc(&b, ')');
    if (is_task && c->callee->decl->kernel->worker) strbuf_printf(&b, " on %s", c->callee->decl->kernel->worker);
    print_waits(l, &b, me);
    put(l, n, strbuf_text(&b));
}

/* What is submitted for the call, where the last of those stands that were joined; NULL: nothing here. */
static const struct call *submitted(const struct lister *l, const struct call *call)
{
    const struct plan *p = l->e->plan;
    const struct call *whole = p ? plan_joined(p, call) : call;
    return whole == call || ptrmap_get(&p->last_of, whole) == call ? whole : NULL;
}

/* Calls in an expression, those in the arguments of others first: the order of evaluation. */
static bool visit_expression(void *cx, struct ast *n)
{
    struct lister *l = cx;
    if (n->kind != AST_CALL) return true;
    ast_walk_list(n->call.args, visit_expression, l);
    const struct call *c = call_of(n) ? submitted(l, call_of(n)) : NULL;
    if (!c) return false;
    if (l->prints)
        print_call(l, n, c);
    else
        note_call(l, n, c);
    return false;
}

static void list_statement(struct lister *l, struct ast *n);

static void list_block(struct lister *l, struct ast *block)
{
    l->depth++;
    for (struct ast *s = block->block.stmts; s; s = s->next) list_statement(l, s);
    l->depth--;
}

static void head(struct lister *l, const struct ast *n, const struct ast *body)
{
    if (!l->prints) return;
    struct span at = n->at;
    if (body->at.begin > at.begin) at.end = body->at.begin;
    put(l, n, emit_source_text(l->e, at));
}

/* The condition of a `while` belongs to the loop; the bounds of a `for` do not. */
static void list_loop(struct lister *l, struct ast *n, struct ast *body)
{
    const int outer = l->loop;
    if (!l->prints) {
        l->loop = (int)l->loops.count;
        vec_push(&l->loops, outer);
    }
    list_block(l, body);
    if (n->kind != AST_FOR) ast_walk(n->while_.cond, visit_expression, l);
    l->loop = outer;
}

static void list_statement(struct lister *l, struct ast *n)
{
    if (n->kind == AST_BLOCK) {
        list_block(l, n);
        return;
    }
    for (struct ast_child c = ast_first(n); c.node; ast_next(&c)) {
        const bool is_else = c.node == ast_otherwise(n);
        if (c.node->kind == AST_BLOCK) {
            if (!is_else)
                head(l, n, c.node);
            else if (l->prints)
                put(l, c.node, "else");
            if (ast_is_loop(n))
                list_loop(l, n, c.node);
            else
                list_block(l, c.node);
        } else if (is_else || c.node->kind == AST_MATCH_ARM) {
            list_statement(l, c.node);
        } else if (!ast_is_loop(n) || n->kind == AST_FOR) {
            ast_walk(c.node, visit_expression, l);
        }
    }
}

static void print_function(struct emitter *e, const struct symbol *orch)
{
    struct lister l = {.e = e, .loop = -1};
    struct span at = orch->decl->at;
    at.end = orch->decl->orch.body->at.begin;
    out_line(e->out, "%s:%d  %s", source_get(e->front->sources, at.file)->path, line_of(e, orch->decl),
             emit_source_text(e, at));
    list_block(&l, orch->decl->orch.body);
    l.prints = true;
    list_block(&l, orch->decl->orch.body);
    vec_free(&l.uses);
    vec_free(&l.calls);
    vec_free(&l.loops);
}

void codegen_tasks_of(struct front *front, const struct checked *checked, const struct symbol *orch, struct strbuf *to)
{
    struct out out = {0};
    struct emitter e = {.front = front, .checked = checked, .mem = arena_create(), .out = &out};
    print_function(&e, orch);
    out_render(&out, "", false, to);
    out_clear(&out);
    arena_destroy(e.mem);
}

void codegen_tasks(struct front *front, const struct checked *checked, const struct codegen_options *options,
                   struct strbuf *to)
{
    emit_listing(front, checked, &options->memory, print_function, to);
}
