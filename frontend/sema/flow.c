/* flow.c - which tensors are written, read, dropped and returned, on which paths.
 * Idea       a state is one small record a tensor; branches copy it, joins meet.  A loop body is walked once silently,
 *            to learn what comes back from its end, and once for real.
 * Needs      a checked body; nodes with errors count as reading and writing all they name, so nothing is reported
 *            twice.
 * Gives      needs_alloc, needs_flag, escapes, is_kept, is_written, is_read; CHECK_WRITTEN.  E06 E07 E10 E11 E13 W01
 *            W04 W05.
 * Tests      test/lit/sema/e06*.pto e07*.pto e11*.pto e13*.pto
 */
#include "parts.h"
#include "waits.h"
#include <stdlib.h>
#include <string.h>

/* IN_LOOP: in a loop that may run no time; counts as written. */
enum written { NO, SOMETIMES, IN_LOOP, YES };

struct cell {
    unsigned char written, gone; /* enum written: not, sometimes, always; gone: dropped or moved */
    bool stored;                 /* has storage on every path */
    bool moved;                  /* how it went */
    const struct ast *gone_at;
    struct parts parts;
    struct parts touched;             /* of a let: written or read */
    const struct ast *turn, *turn_at; /* the loop in whose turn at hand a call wrote it, and that call; or NULL */
};

struct state {
    struct cell *cell;
    bool dead; /* no path comes here */
};

struct loop {
    struct loop *parent;
    const struct ast *stmt;
    struct state breaks, continues;
};

struct flow {
    struct checker *c;
    VEC(struct symbol *) tensors; /* numbered by symbol->flow - 1 */
    struct loop *loop;
    struct check **checks; /* of the statement or call at hand */
    bool silent;
    int depth;                    /* loops around the statement at hand */
    const struct ast **unwritten; /* E07: a way out on which this tensor of a formal is not written */
    const struct ast **in_part;   /* W04: a write of this one, where all of them leave something out */
    bool *is_live;                /* of a let: its block is open */
    /* of a let: where some lifetime of it ended, every part may have been written or read */
    bool *is_used_whole;
};

static void walk_list(struct flow *f, struct state *s, struct ast *list);
static void walk_expr(struct flow *f, struct state *s, struct ast *e);

/* ---- states ------------------------------------------------------------------------------------------------------ */

static void die_out_of_memory(void)
{
    fputs("ptoc: out of memory\n", stderr);
    exit(3);
}

static struct state copy(const struct flow *f, const struct state *s)
{
    size_t bytes = sizeof *s->cell * (f->tensors.count + 1);
    struct state r = {malloc(bytes), s->dead};
    if (!r.cell) die_out_of_memory();
    memcpy(r.cell, s->cell, bytes);
    return r;
}

static struct state nowhere(const struct flow *f)
{
    struct state r = {calloc(f->tensors.count + 1, sizeof *r.cell), true};
    if (!r.cell) die_out_of_memory();
    return r;
}

static unsigned char meet(unsigned char a, unsigned char b)
{
    return a == b ? a : a == SOMETIMES || b == SOMETIMES || a == NO || b == NO ? SOMETIMES : a < b ? a : b;
}

/* into = into or other; frees other. */
static void join(const struct flow *f, struct state *into, struct state *other)
{
    if (!other->dead && into->dead) {
        memcpy(into->cell, other->cell, sizeof *into->cell * f->tensors.count);
        into->dead = false;
    } else if (!other->dead) {
        for (size_t i = 0; i < f->tensors.count; i++) {
            struct cell *a = &into->cell[i], *b = &other->cell[i];
            a->written = meet(a->written, b->written);
            a->gone = meet(a->gone, b->gone);
            a->stored &= b->stored;
            parts_join(f->c, &a->parts, &b->parts);
            parts_join(f->c, &a->touched, &b->touched);
            if (!a->turn) a->turn = b->turn, a->turn_at = b->turn_at;
            if (!a->gone_at) {
                a->gone_at = b->gone_at;
                a->moved = b->moved;
            }
        }
    }
    free(other->cell);
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

static struct cell *cell_of(struct state *s, const struct symbol *t)
{
    return t && t->flow ? &s->cell[t->flow - 1] : NULL;
}

/* The name in the text, where it is not the tensor's own. */
static const char *view_name(const struct ast *at, const struct symbol *t)
{
    while (at->kind == AST_INDEX || at->kind == AST_AWAIT || at->kind == AST_MEMBER)
        at = at->kind == AST_INDEX ? at->index.object : at->kind == AST_AWAIT ? at->await.operand : at->member.object;
    return at->kind == AST_NAME && at->symbol && at->symbol->region && at->symbol->region->base == t ? at->symbol->name
                                                                                                     : NULL;
}

/* Any use: the tensor must still be there. */
static void touch(struct flow *f, struct state *s, const struct symbol *t, const struct ast *at)
{
    struct cell *x = cell_of(s, t);
    if (!x || s->dead || x->gone == NO) return;
    if (!f->silent) {
        const char *done = x->moved ? "moved" : "dropped", *view = view_name(at, t);
        const char *when = x->gone == YES ? "was" : "may have been";
        if (view)
            diag_error(f->c->diag, DIAG_E11, at->at, "'%s' is a view of '%s', which %s %s", view, t->name, when, done);
        else
            diag_error(f->c->diag, DIAG_E11, at->at, "'%s' %s %s",
                       structs_place(at) && at->kind == AST_NAME ? at->symbol->name : t->name, when, done);
        bool later = x->gone_at->at.begin >= at->at.begin;
        diag_note(f->c->diag, x->gone_at->at, "it is %s here%s", done,
                  later ? ", in an earlier iteration of the loop" : "");
        if (!view) diag_note(f->c->diag, t->decl->name_at, "'%s' is declared here", t->name);
    }
    x->gone = NO;
}

static void add_written_check(struct flow *f, struct symbol *t, const struct ast *at, bool await)
{
    if (!f->checks) return;
    struct check **end = f->checks;
    while (*end) end = &(*end)->next;
    struct check *k = *end = arena_new(f->c->mem, struct check);
    k->kind = CHECK_WRITTEN;
    k->at = at->at;
    k->symbol = t;
    k->await = await;
    t->needs_flag = true;
}

static void say_unwritten(struct flow *f, const struct symbol *t, const struct ast *at, bool await)
{
    if (await)
        diag_error(f->c->diag, DIAG_E13, at->at, "'%s' is awaited here but was never written", t->name);
    else
        diag_error(f->c->diag, DIAG_E06, at->at, "'%s' is read here but was never written", t->name);
    diag_note(f->c->diag, t->decl->at, "'%s' is declared here", t->name);
}

/* Something was written, but was it this? */
static void look_for_gaps(struct flow *f, struct cell *x, struct symbol *t, const struct region *r,
                          const struct ast *at, bool await)
{
    const struct part *near = NULL;
    if (f->silent) return;
    enum missing missing = parts_missing(f->c, &x->parts, r ? r : region_whole(f->c, t), &near);
    if (missing == MISSING_UNKNOWN) return;
    if (missing == MISSING_ALL)
        diag_error(f->c->diag, await ? DIAG_E13 : DIAG_E06, at->at,
                   "no part of '%s' that is %s here was written before", t->name, await ? "awaited" : "read");
    else
        diag_warning(f->c->diag, DIAG_W04, at->at, "'%s' is read here and was only written in part", t->name);
    bool only = true;
    for (const struct part *q = x->parts.list; q; q = q->next) only &= q->at == near->at;
    diag_note(f->c->diag, near->at->at, only ? "this is what was written" : "this was written last");
    x->parts = x->touched = (struct parts){.any = true}; /* said once */
}

static void touch_part(struct flow *f, struct cell *x, const struct symbol *t, const struct region *r,
                       const struct ast *at)
{
    if (t->kind != SYM_LET || t->type->kind != TYPE_TENSOR) return;
    if (r)
        parts_add(f->c, &x->touched, r, at);
    else
        x->touched.any = true;
}

/* r: which piece; NULL: all of it. */
static void read_tensor(struct flow *f, struct state *s, struct symbol *t, const struct region *r, const struct ast *at,
                        bool await)
{
    touch(f, s, t, at);
    struct cell *x = cell_of(s, t);
    if (!x || s->dead) return;
    t->is_read = true;
    touch_part(f, x, t, r, at);
    if (t->is_doubtful) return;
    if (x->written != NO && t->type->kind == TYPE_TENSOR) look_for_gaps(f, x, t, r, at, await);
    if (x->written == YES) return;
    if (f->silent) return;
    if (x->written == NO)
        say_unwritten(f, t, at, await), x->touched.any = true;
    else
        add_written_check(f, t, at, await);
    x->written = YES; /* said once, or checked */
    x->stored = true;
}

/* in_parts: storage must be there before, because the callee needs it or writes only some of it.  r: which piece; NULL:
 * all. */
static void write_tensor(struct flow *f, struct state *s, struct symbol *t, const struct region *r,
                         const struct ast *at, bool in_parts)
{
    touch(f, s, t, at);
    struct cell *x = cell_of(s, t);
    if (!x || s->dead) return;
    t->is_written = true;
    x->written = YES;
    x->turn = f->loop ? f->loop->stmt : NULL;
    x->turn_at = at;
    if (r)
        parts_add(f->c, &x->parts, r, at);
    else
        x->parts.any = true;
    touch_part(f, x, t, r, at);
    if (in_parts && !x->stored && t->kind == SYM_LET) t->needs_alloc = true;
    if (!in_parts) x->stored = true;
}

/* The leaves of a struct are tensors and scalars of their own. */
static void each_leaf(struct flow *f, struct state *s, struct symbol *t,
                      void (*use)(struct flow *, struct state *, struct symbol *, const struct ast *),
                      const struct ast *at)
{
    for (int i = 0; i < t->field_count; i++) each_leaf(f, s, t->fields[i], use, at);
    if (!type_is_struct(t->type)) use(f, s, t->region ? t->region->base : t, at);
}

static void use_touched(struct flow *f, struct state *s, struct symbol *t, const struct ast *at) { touch(f, s, t, at); }

static void use_printed(struct flow *f, struct state *s, struct symbol *t, const struct ast *at)
{
    if (type_is_scalar(t->type))
        read_tensor(f, s, t, NULL, at, false);
    else
        touch(f, s, t, at);
}

/* A let begins. */
static void use_declared(struct flow *f, struct state *s, struct symbol *t, const struct ast *at)
{
    struct cell *x = cell_of(s, t);
    if (!x) return;
    *x = (struct cell){0}; /* each run of a loop has its own */
    f->is_live[t->flow - 1] = true;
    if (!type_is_scalar_array(t->type) || at->decl.value) return;
    *x = (struct cell){.written = YES, .stored = true, .parts.any = true, .touched.any = true}; /* all 0 */
    t->needs_alloc = true;
}

static void use_dropped(struct flow *f, struct state *s, struct symbol *t, const struct ast *at)
{
    struct cell *x = cell_of(s, t);
    touch(f, s, t, at);
    if (!x || s->dead) return;
    t->is_read = true; /* a lifetime ended on purpose is not one that was forgotten */
    x->gone = YES;
    x->moved = false;
    x->gone_at = at;
}

static void use_moved(struct flow *f, struct state *s, struct symbol *t, const struct ast *at)
{
    struct cell *x = cell_of(s, t);
    use_dropped(f, s, t, at);
    if (x) x->moved = true;
    t->escapes = true;
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static void assume_all(struct flow *f, struct state *s, struct ast *e);

static void assume_name(struct state *s, struct symbol *t)
{
    if (!t) return;
    if (t->region) t = t->region->base;
    for (int i = 0; i < t->field_count; i++) assume_name(s, t->fields[i]);
    struct cell *x = cell_of(s, t);
    if (x) {
        x->written = YES;
        x->gone = NO;
        x->parts.any = x->touched.any = true;
        t->is_read = t->is_written = true;
    }
}

static void assume_list(struct flow *f, struct state *s, struct ast *list)
{
    for (; list; list = list->next) assume_all(f, s, list);
}

/* Below an error: whatever it names counts as written, and nothing is said about it. */
static void assume_all(struct flow *f, struct state *s, struct ast *e)
{
    if (!e) return;
    switch (e->kind) {
    case AST_NAME: assume_name(s, e->symbol); break;
    case AST_MEMBER:
        assume_name(s, e->symbol);
        assume_all(f, s, e->member.object);
        break;
    case AST_INDEX:
        assume_all(f, s, e->index.object);
        assume_list(f, s, e->index.indices);
        break;
    case AST_INDEX_POINT:
    case AST_INDEX_RANGE:
    case AST_INDEX_WIDTH:
        assume_all(f, s, e->range.low);
        assume_all(f, s, e->range.high);
        break;
    case AST_CALL: assume_list(f, s, e->call.args); break;
    case AST_ARG: assume_all(f, s, e->arg.value); break;
    case AST_UNARY: assume_all(f, s, e->binary.left); break;
    case AST_BINARY:
        assume_all(f, s, e->binary.left);
        assume_all(f, s, e->binary.right);
        break;
    case AST_AWAIT: assume_all(f, s, e->await.operand); break;
    default: break;
    }
}

static void walk_indices(struct flow *f, struct state *s, struct ast *e)
{
    if (e->kind == AST_MEMBER) walk_indices(f, s, e->member.object);
    if (e->kind == AST_CALL) walk_expr(f, s, e);
    if (e->kind != AST_INDEX) return;
    walk_indices(f, s, e->index.object);
    for (struct ast *i = e->index.indices; i; i = i->next) {
        if (i->kind != AST_INDEX_ALL) walk_expr(f, s, i->range.low);
        if (i->kind == AST_INDEX_RANGE || i->kind == AST_INDEX_WIDTH) walk_expr(f, s, i->range.high);
    }
}

/* One tensor or scalar of an argument: in a call, what is read comes before what is written. */
static void use_argument(struct flow *f, struct state *s, const struct call *call, enum direction dir, struct ast *v,
                         const struct region *r, struct symbol *t, bool writing)
{
    bool reads = dir != DIR_OUT, writes = dir == DIR_OUT || dir == DIR_INOUT || dir == DIR_ACC;
    if (!writing && reads && (v->kind != AST_CALL || dir == DIR_OWN)) read_tensor(f, s, t, r, v, false);
    /* inout and acc have been read before, so there is storage */
    if (writing && writes)
        write_tensor(f, s, t, r, v, dir == DIR_OUT && (call->callee->kind == SYM_ORCH || !r || !r->whole));
    if (writing && dir == DIR_OWN) use_moved(f, s, t, v);
}

static void use_arguments(struct flow *f, struct state *s, const struct call *call, int i, bool writing)
{
    const enum direction dir = call->callee->formals[i]->dir;
    const struct region *r = call->regions[i];
    const struct leaves *leaves = &call->leaves[i];
    struct ast *v = call->values[i];
    if (!v) return;
    if (r) use_argument(f, s, call, dir, v, r, r->base, writing);
    bool gone = false; /* structs go as a whole, which is said once */
    for (int k = 0; k < leaves->count; k++) {
        const struct leaf *l = &leaves->leaf[k];
        struct cell *x = cell_of(s, l->region ? l->region->base : l->scalar);
        if (x && gone) x->gone = NO;
        gone |= x && !s->dead && x->gone != NO;
        use_argument(f, s, call, dir, v, l->region, l->region ? l->region->base : l->scalar, writing);
    }
}

static void use_result(struct flow *f, struct state *s, const struct call *call, struct ast *e)
{
    const struct leaves *leaves = &call->result_leaves;
    if (call->returns) return;
    for (int i = 0; i < leaves->count; i++) {
        const struct leaf *l = &leaves->leaf[i];
        struct symbol *t = l->region ? l->region->base : l->scalar;
        write_tensor(f, s, t, l->region, e, !call->result_symbol && l->region && !l->region->whole);
    }
    if (call->destination)
        write_tensor(f, s, call->destination->base, call->destination, e, !call->destination->whole);
    else if (call->result_symbol && !leaves->count)
        write_tensor(f, s, call->result_symbol, NULL, e, false);
}

static void walk_call(struct flow *f, struct state *s, struct ast *e)
{
    struct call *call = e->note ? e->note->call : NULL;
    for (struct ast *a = e->call.args; a; a = a->next) {
        if (call && (region_of(a->arg.value) || !type_is_scalar(a->arg.value->type)))
            walk_indices(f, s, a->arg.value);
        else if (call || a->arg.value->type->kind != TYPE_TENSOR)
            walk_expr(f, s, a->arg.value);
        else
            walk_indices(f, s, a->arg.value); /* dim looks at the shape, not at the elements */
    }
    if (!call) return;
    struct check **outer = f->checks;
    f->checks = &call->checks;
    for (int i = 0; i < call->callee->formal_count; i++) {
        const struct symbol *formal = call->callee->formals[i];
        if (type_is_scalar(formal->type) && call->values[i] && region_of(call->values[i]))
            walk_expr(f, s, call->values[i]);
        else
            use_arguments(f, s, call, i, false);
    }
    for (int i = 0; i < call->callee->formal_count; i++) use_arguments(f, s, call, i, true);
    use_result(f, s, call, e);
    f->checks = outer;
}

/* W05: this turn waits for its own task, and no later turn needs the value. */
static void look_at_wait(struct flow *f, const struct state *s, const struct symbol *t, const struct ast *await)
{
    const struct cell *x = cell_of((struct state *)s, t);
    if (!x || s->dead || f->silent || !f->loop || x->turn != f->loop->stmt ||
        waits_are_needed(await, x->turn, f->depth - 1))
        return;
    diag_warning(
        f->c->diag, DIAG_W05, await->at,
        "each iteration of the loop waits here for a task of its own, and the next iteration does not need the value");
    diag_note(f->c->diag, x->turn_at->at, "'%s' is written here in the same iteration", t->name);
    diag_help(f->c->diag,
              "keep the results apart and await them after the loop, or await the one of the previous iteration");
}

/* One of the arms is looked at. */
static void walk_select(struct flow *f, struct state *s, struct ast *args)
{
    walk_expr(f, s, args->arg.value);
    struct state other = copy(f, s);
    walk_expr(f, s, args->next->arg.value);
    walk_expr(f, &other, args->next->next->arg.value);
    join(f, s, &other);
}

static void walk_expr(struct flow *f, struct state *s, struct ast *e)
{
    if (!e) return;
    if (e->bad) {
        assume_all(f, s, e);
        return;
    }
    struct check **outer = f->checks;
    switch (e->kind) {
    case AST_CALL:
        if (select_of(e))
            walk_select(f, s, select_of(e));
        else
            walk_call(f, s, e);
        break;
    case AST_UNARY: walk_expr(f, s, e->binary.left); break;
    case AST_BINARY:
        walk_expr(f, s, e->binary.left);
        /* the right side may not be looked at; it writes nothing that lasts */
        if (e->binary.op == OP_AND || e->binary.op == OP_OR) {
            struct state other = copy(f, s);
            walk_expr(f, s, e->binary.right);
            join(f, s, &other);
        } else {
            walk_expr(f, s, e->binary.right);
        }
        break;
    case AST_AWAIT: {
        const struct region *r = region_of(e->await.operand);
        f->checks = &notes_of(f->c, e)->checks;
        walk_indices(f, s, e->await.operand);
        if (r) look_at_wait(f, s, r->base, e);
        if (r) read_tensor(f, s, r->base, r, e, true);
        f->checks = outer;
        break;
    }
    case AST_INDEX: {
        const struct region *r = region_of(e);
        f->checks = &notes_of(f->c, e)->checks;
        walk_indices(f, s, e);
        if (r && e->type->kind != TYPE_TENSOR)
            read_tensor(f, s, r->base, r, e, false);
        else if (r)
            touch(f, s, r->base, e);
        f->checks = outer;
        break;
    }
    case AST_NAME:
    case AST_MEMBER: {
        const struct region *r = region_of(e);
        f->checks = &notes_of(f->c, e)->checks;
        walk_indices(f, s, e);
        if (r && type_is_scalar(e->type))
            read_tensor(f, s, r->base, r, e, false);
        else if (r)
            touch(f, s, r->base, e);
        else if (type_is_struct(e->type))
            each_leaf(f, s, e->symbol, use_touched, e);
        else if (cell_of(s, e->symbol))
            read_tensor(f, s, e->symbol, NULL, e, false);
        f->checks = outer;
        break;
    }
    default: break;
    }
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

/* One of the writes, where they leave something out. */
static const struct ast *part_left_out(struct flow *f, struct cell *x, struct symbol *o)
{
    const struct part *near = NULL;
    return parts_missing(f->c, &x->parts, region_whole(f->c, o), &near) == MISSING_SOME ? near->at : NULL;
}

/* A lifetime of the let may end here. */
static void look_at_rest(struct flow *f, const struct state *s, size_t i)
{
    struct symbol *t = f->tensors.data[i];
    struct cell *x = &s->cell[i];
    if (f->silent || s->dead || !f->is_live[i] || x->written == NO || f->is_used_whole[i]) return;
    const struct part *near = NULL;
    const bool leaves_out =
        t->type->kind == TYPE_TENSOR && parts_missing(f->c, &x->touched, region_whole(f->c, t), &near) == MISSING_SOME;
    if (!leaves_out)
        f->is_used_whole[i] = true;
    else if (!f->in_part[i])
        f->in_part[i] = x->parts.list ? x->parts.list->at : near->at;
}

static void look_at_all_rests(struct flow *f, const struct state *s)
{
    for (size_t i = 0; i < f->tensors.count; i++) look_at_rest(f, s, i);
}

static void use_ended(struct flow *f, struct state *s, struct symbol *t, const struct ast *at)
{
    (void)at;
    if (!t->flow) return;
    look_at_rest(f, s, (size_t)t->flow - 1);
    f->is_live[t->flow - 1] = false;
}

static void leave(struct flow *f, struct state *s, const struct ast *at)
{
    look_at_all_rests(f, s);
    for (size_t i = 0; i < f->tensors.count && !s->dead; i++)
        if (f->tensors.data[i]->kind == SYM_FORMAL && s->cell[i].gone != YES) f->tensors.data[i]->is_kept = true;
    for (size_t i = 0; i < f->tensors.count && !s->dead && !f->silent; i++) {
        struct symbol *o = f->tensors.data[i];
        struct cell *x = &s->cell[i];
        if (o->dir != DIR_OUT) continue;
        if (x->written < IN_LOOP && !f->unwritten[i]) f->unwritten[i] = at;
        if (x->written >= IN_LOOP && !f->in_part[i] && o->type->kind == TYPE_TENSOR)
            f->in_part[i] = part_left_out(f, x, o);
    }
    s->dead = true;
}

static void report_unwritten(struct flow *f)
{
    for (size_t i = 0; i < f->tensors.count; i++) {
        const struct symbol *o = f->tensors.data[i];
        const struct ast *at = f->unwritten[i];
        if (o->kind == SYM_LET) {
            /* of what is never read all is W01 */
            if (!f->in_part[i] || f->is_used_whole[i] || !o->is_read || o->is_doubtful) continue;
            diag_warning(f->c->diag, DIAG_W04, o->decl->name_at, "a part of '%s' is never written and never read",
                         o->name);
            diag_note(f->c->diag, f->in_part[i]->at, "this is written");
            continue;
        }
        if (!at && f->in_part[i]) {
            diag_warning(f->c->diag, DIAG_W04, o->decl->at, "'%s' is out and only written in part", o->name);
            diag_note(f->c->diag, f->in_part[i]->at, "this is written");
        }
        if (!at || o->is_doubtful) continue;
        diag_error(f->c->diag, DIAG_E07, o->decl->at, "'%s' is out and is %s", o->name,
                   o->is_written ? "not written on some path" : "never written");
        struct span end = {at->at.file, at->at.end - 1, at->at.end};
        bool is_return = at->kind == AST_RETURN;
        diag_note(f->c->diag, is_return ? at->at : end, "%s",
                  is_return ? "this path leaves without writing it" : "the function can end here without writing it");
    }
}

/* A let that is no other name of something. */
static bool has_storage(const struct ast *stmt)
{
    return stmt->kind == AST_LET && stmt->symbol && !stmt->symbol->alias_of && !stmt->symbol->region;
}

static void walk_block(struct flow *f, struct state *s, struct ast *block)
{
    size_t mark = facts_mark(f->c->facts);
    struct ast *list = !block ? NULL : block->kind == AST_BLOCK ? block->block.stmts : block;
    walk_list(f, s, list);
    for (struct ast *n = list; n; n = n->next)
        if (has_storage(n)) each_leaf(f, s, n->symbol, use_ended, n);
    facts_reset(f->c->facts, mark);
}

/* One run of a loop's body and condition from s; afterwards s is the state at its end, before the next run. */
static void run_once(struct flow *f, struct state *s, struct ast *stmt, struct loop *l)
{
    bool counted = stmt->kind == AST_FOR, first = stmt->kind == AST_DO_WHILE;
    struct ast *body = counted ? stmt->loop.body : stmt->while_.body;
    *l = (struct loop){f->loop, stmt, nowhere(f), nowhere(f)};
    bool endless = stmt->kind == AST_WHILE && stmt->while_.cond->kind == AST_BOOL && stmt->while_.cond->boolean.value;
    if (!counted && !first) walk_expr(f, s, stmt->while_.cond);
    struct state skipped = nowhere(f);
    if (!counted && !first && !endless) { /* the condition is looked at once more than the body is run */
        struct state now = copy(f, s);
        join(f, &skipped, &now);
    }
    f->loop = l;
    f->depth++;
    walk_block(f, s, body);
    f->depth--;
    f->loop = l->parent;
    join(f, s, &l->continues);
    if (first) walk_expr(f, s, stmt->while_.cond);
    free(skipped.cell);
}

/* What holds in the body, as long as no `var` is named: its value may be another one when it is asked. */
static void learn_turns(struct flow *f, const struct turns *t)
{
    if (!t->i || t->direction == 0) return;
    const struct size *at = size_symbol(f->c->sizes, t->i);
    bool up = t->direction > 0;
    if (t->low) facts_add_order(f->c->facts, up ? t->low : at, up ? at : t->low, 0);
    if (t->high) facts_add_order(f->c->facts, up ? at : t->high, up ? t->high : at, 1);
}

static bool is_fixed(const struct ast *cond)
{
    if (cond->kind == AST_UNARY) return is_fixed(cond->binary.left);
    if (cond->kind != AST_BINARY) return true;
    if (cond->binary.op == OP_AND || cond->binary.op == OP_OR)
        return is_fixed(cond->binary.left) && is_fixed(cond->binary.right);
    const struct size *a = cond->binary.left->value, *b = cond->binary.right->value;
    return (!a || !size_names_var(a)) && (!b || !size_names_var(b));
}

static void learn(struct flow *f, const struct ast *cond, bool truth)
{
    if (!cond->bad && is_fixed(cond)) facts_add_condition(f->c->facts, cond, truth);
}

static void walk_loop(struct flow *f, struct state *s, struct ast *stmt)
{
    struct loop l;
    bool silent = f->silent;
    if (stmt->kind == AST_FOR) {
        walk_expr(f, s, stmt->loop.low);
        walk_expr(f, s, stmt->loop.high);
        walk_expr(f, s, stmt->loop.step);
    }
    if (s->dead) return;
    struct turns turns;
    size_t mark = facts_mark(f->c->facts);
    parts_begin_turns(f->c, &turns, stmt, f->depth);
    learn_turns(f, &turns);
    struct state before = copy(f, s), entry = copy(f, s);
    if (!silent) { /* what an earlier run did to what this run sees */
        f->silent = true;
        struct state again = copy(f, s);
        run_once(f, &again, stmt, &l);
        free(l.breaks.cell);
        for (size_t i = 0; i < f->tensors.count; i++) {
            parts_after_turn(f->c, &again.cell[i].parts, &turns, false);
            parts_after_turn(f->c, &again.cell[i].touched, &turns, false);
            again.cell[i].turn = NULL;
        }
        join(f, &entry, &again);
        f->silent = false;
    }
    run_once(f, &entry, stmt, &l);
    for (size_t i = 0; i < f->tensors.count; i++) {
        parts_after_turn(f->c, &entry.cell[i].parts, &turns, true);
        parts_after_turn(f->c, &l.breaks.cell[i].parts, &turns, true);
        parts_after_turn(f->c, &entry.cell[i].touched, &turns, true);
        parts_after_turn(f->c, &l.breaks.cell[i].touched, &turns, true);
    }
    facts_reset(f->c->facts, mark);
    for (size_t i = 0; i < f->tensors.count && !entry.dead; i++) /* the end of the body, where a path comes there */
        if (before.cell[i].written == SOMETIMES && entry.cell[i].written >= IN_LOOP) before.cell[i].written = NO;
    bool at_least_once = stmt->kind == AST_DO_WHILE;
    bool endless = !at_least_once && stmt->kind == AST_WHILE && stmt->while_.cond->kind == AST_BOOL &&
                   stmt->while_.cond->boolean.value;
    if (at_least_once) {
        memcpy(s->cell, entry.cell, sizeof *s->cell * f->tensors.count);
        s->dead = entry.dead;
        free(entry.cell);
    } else if (endless) {
        s->dead = true;
        free(entry.cell);
    } else {
        join(f, s, &entry);
    }
    for (size_t i = 0; i < f->tensors.count && !s->dead && !at_least_once; i++)
        if (before.cell[i].written == NO && s->cell[i].written == SOMETIMES && f->tensors.data[i]->is_written)
            s->cell[i].written = IN_LOOP;
    free(before.cell);
    join(f, s, &l.breaks);
}

static void walk_match(struct flow *f, struct state *s, struct ast *stmt)
{
    walk_expr(f, s, stmt->match.value);
    struct state out = nowhere(f);
    for (struct ast *arm = stmt->match.arms; arm; arm = arm->next) {
        for (struct ast *v = arm->arm.values; v; v = v->next) walk_expr(f, s, v);
        struct state one = copy(f, s);
        walk_block(f, &one, arm->arm.body);
        join(f, &out, &one);
    }
    struct state rest = copy(f, s);
    walk_block(f, &rest, stmt->match.other);
    join(f, &out, &rest);
    free(s->cell);
    *s = out;
}

/* A dropped tensor must not exist again in the caller. */
static void return_gone(struct flow *f, struct state *s, const struct symbol *t, const struct ast *at)
{
    struct cell *x = cell_of(s, t);
    if (!x || s->dead || x->gone == NO || x->moved) return;
    if (!f->silent) {
        diag_error(f->c->diag, DIAG_E10, at->at, "'%s' %s dropped and cannot be returned", t->name,
                   x->gone == YES ? "was" : "may have been");
        diag_note(f->c->diag, x->gone_at->at, "it is dropped here");
    }
    x->gone = NO;
}

static void use_returned(struct flow *f, struct state *s, struct symbol *t, const struct ast *at)
{
    return_gone(f, s, t, at);
    read_tensor(f, s, t, NULL, at, false);
    if (!t->returned && t->type->kind == TYPE_TENSOR) use_moved(f, s, t, at);
}

static void walk_return(struct flow *f, struct state *s, struct ast *stmt)
{
    struct ast *v = stmt->ret.value;
    const struct region *r = v && !v->bad ? region_of(v) : NULL;
    if (v && !v->bad && v->kind == AST_NAME && (r || structs_place(v)))
        each_leaf(f, s, v->symbol, use_returned, v);
    else if (v)
        walk_expr(f, s, v);
    if (r && v->kind != AST_CALL && v->kind != AST_NAME) read_tensor(f, s, r->base, r, v, false);
    leave(f, s, stmt);
}

static void jump(struct flow *f, struct state *s, struct state *to)
{
    look_at_all_rests(f, s);
    struct state now = copy(f, s);
    join(f, to, &now);
    s->dead = true;
}

/* The extents that stand in a type. */
static void walk_type(struct flow *f, struct state *s, struct ast *type)
{
    for (; type && type->kind == AST_TYPE_ARRAY; type = type->type_array.element)
        walk_expr(f, s, type->type_array.length);
    for (struct ast *d = type ? type->type_name.dims : NULL; d; d = d->next) walk_expr(f, s, d);
}

static void walk_stmt(struct flow *f, struct state *s, struct ast *stmt)
{
    f->checks = &notes_of(f->c, stmt)->checks;
    for (struct ast *a = stmt->attrs; a; a = a->next)
        for (struct ast *v = a->attr.args; v; v = v->next) walk_expr(f, s, v);
    switch (stmt->kind) {
    case AST_LET:
    case AST_VAR: {
        walk_type(f, s, stmt->decl.type);
        if (has_storage(stmt)) each_leaf(f, s, stmt->symbol, use_declared, stmt);
        walk_expr(f, s, stmt->decl.value);
        if (stmt->bad && stmt->symbol) assume_name(s, stmt->symbol);
        break;
    }
    case AST_VIEW:
        walk_expr(f, s, stmt->view.tensor);
        for (struct ast *t = stmt->view.tiles; t; t = t->next) walk_expr(f, s, t);
        break;
    case AST_EXPR_STMT: walk_expr(f, s, stmt->expr_stmt.expr); break;
    case AST_ASSIGN:
        if (stmt->bad)
            assume_all(f, s, stmt->assign.target);
        else
            walk_indices(f, s, stmt->assign.target);
        walk_expr(f, s, stmt->assign.value);
        if (!stmt->bad && notes_is_element(stmt->assign.target))
            write_tensor(f, s, region_of(stmt->assign.target)->base, region_of(stmt->assign.target),
                         stmt->assign.target, true);
        else if (!stmt->bad && stmt->assign.target->kind == AST_MEMBER && cell_of(s, stmt->assign.target->symbol))
            write_tensor(f, s, stmt->assign.target->symbol, NULL, stmt->assign.target, false);
        break;
    case AST_FOR:
    case AST_WHILE:
    case AST_DO_WHILE: walk_loop(f, s, stmt); break;
    case AST_IF: {
        walk_expr(f, s, stmt->if_.cond);
        struct state other = copy(f, s);
        size_t mark = facts_mark(f->c->facts);
        learn(f, stmt->if_.cond, true);
        walk_block(f, s, stmt->if_.then);
        facts_reset(f->c->facts, mark);
        learn(f, stmt->if_.cond, false);
        if (stmt->if_.other && stmt->if_.other->kind == AST_IF)
            walk_stmt(f, &other, stmt->if_.other);
        else
            walk_block(f, &other, stmt->if_.other);
        facts_reset(f->c->facts, mark);
        if (s->dead != other.dead) learn(f, stmt->if_.cond, other.dead); /* only one way leads on */
        join(f, s, &other);
        break;
    }
    case AST_MATCH: walk_match(f, s, stmt); break;
    case AST_SCOPE: walk_block(f, s, stmt->scope.body); break;
    case AST_BLOCK: walk_block(f, s, stmt); break;
    case AST_DROP:
        for (struct ast *n = stmt->drop.names; n; n = n->next)
            if (!n->bad && n->symbol) each_leaf(f, s, n->symbol, use_dropped, n);
        break;
    case AST_RETURN: walk_return(f, s, stmt); break;
    case AST_BREAK:
        if (f->loop) jump(f, s, &f->loop->breaks);
        break;
    case AST_CONTINUE:
        if (f->loop) jump(f, s, &f->loop->continues);
        break;
    case AST_ASSERT:
        walk_expr(f, s, stmt->check.cond);
        learn(f, stmt->check.cond, true);
        break;
    case AST_PRINT:
        for (struct ast *v = stmt->print.values; v; v = v->next) {
            walk_expr(f, s, v);
            const struct struct_place *p = structs_place(v);
            if (p) each_leaf(f, s, p->symbol, use_printed, v);
        }
        break;
    default: break;
    }
}

static void walk_list(struct flow *f, struct state *s, struct ast *list)
{
    for (; list; list = list->next) walk_stmt(f, s, list);
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

static void number(struct flow *f, struct symbol *t)
{
    if (t->alias_of) return;
    for (int i = 0; i < t->field_count; i++) number(f, t->fields[i]);
    if (t->region || (t->type->kind != TYPE_TENSOR && t->kind != SYM_VAR)) return;
    vec_push(&f->tensors, t);
    t->flow = (int)f->tensors.count;
}

static void number_list(struct flow *f, struct ast *s)
{
    for (; s; s = s->next) switch (s->kind) {
        case AST_LET:
            if (s->symbol) number(f, s->symbol);
            break;
        case AST_BLOCK: number_list(f, s->block.stmts); break;
        case AST_SCOPE: number_list(f, s->scope.body->block.stmts); break;
        case AST_FOR: number_list(f, s->loop.body->block.stmts); break;
        case AST_WHILE:
        case AST_DO_WHILE: number_list(f, s->while_.body->block.stmts); break;
        case AST_IF:
            number_list(f, s->if_.then->block.stmts);
            for (struct ast *o = s->if_.other; o; o = o->kind == AST_IF ? o->if_.other : NULL)
                number_list(f, o->kind == AST_IF ? o->if_.then->block.stmts : o->block.stmts);
            break;
        case AST_MATCH:
            for (struct ast *a = s->match.arms; a; a = a->next) number_list(f, a->arm.body->block.stmts);
            if (s->match.other) number_list(f, s->match.other->block.stmts);
            break;
        default: break;
        }
}

void flow_function(struct checker *c, struct symbol *fn)
{
    struct flow f = {.c = c};
    c->function = fn;
    for (int i = 0; i < fn->formal_count; i++) number(&f, fn->formals[i]);
    number_list(&f, fn->decl->orch.body->block.stmts);
    for (size_t i = 0; i < f.tensors.count; i++) /* whoever was given a tensor was given a real one */
        for (int d = 0; d < f.tensors.data[i]->type->rank && f.tensors.data[i]->kind == SYM_FORMAL; d++)
            facts_add(c->facts, f.tensors.data[i]->type->extent[d]);
    struct state s = nowhere(&f);
    s.dead = false;
    f.unwritten = arena_array(c->mem, const struct ast *, f.tensors.count + 1);
    f.in_part = arena_array(c->mem, const struct ast *, f.tensors.count + 1);
    f.is_live = arena_array(c->mem, bool, f.tensors.count + 1);
    f.is_used_whole = arena_array(c->mem, bool, f.tensors.count + 1);
    for (size_t i = 0; i < f.tensors.count; i++)
        if (f.tensors.data[i]->dir != DIR_NONE)
            s.cell[i] = (struct cell){.written = f.tensors.data[i]->dir == DIR_OUT ? NO : YES,
                                      .stored = true,
                                      .parts.any = f.tensors.data[i]->dir != DIR_OUT};
    walk_list(&f, &s, fn->decl->orch.body->block.stmts);
    leave(&f, &s, fn->decl->orch.body);
    report_unwritten(&f);
    for (size_t i = 0; i < f.tensors.count; i++) {
        const struct symbol *t = f.tensors.data[i];
        /* `let t = k(x);` */
        const bool is_forgotten =
            !t->is_named && t->decl->symbol == t && t->name[0] != '_' && diag_error_count(c->diag) == 0;
        if (t->kind != SYM_LET || (!t->is_named && !is_forgotten) || t->is_read || !t->is_written || t->returned)
            continue;
        diag_warning(c->diag, DIAG_W01, t->decl->name_at, "'%s' is written and never read", t->name);
    }
    free(s.cell);
    facts_reset(c->facts, 0);
    vec_free(&f.tensors);
    c->function = NULL;
}
