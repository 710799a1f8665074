/* assign.c - which tensors are written, read, dropped and returned, on which paths.
 * Needs      the uses of a function.
 * Gives      E06 E07 E10 E11 E13 W01 W04; of struct tensor_note all but the number; f->unwritten where only the
 *            run knows.
 * Method     forward: a cell for each tensor, and for each scalar of a struct that can be written.
 * Tests      test/lit/sema/e06*.pto e07*.pto e11*.pto e13*.pto
 */
#include "dataflow.h"
#include "elements.h"
#include "learn.h"
#include "parts.h"
#include "uses.h"

/* IN_LOOP: in a loop that may run no time; counts as written. */
enum written { NO, SOMETIMES, IN_LOOP, YES };

struct cell {
    unsigned char written, gone;           /* enum written: not, sometimes, always; gone: dropped or moved */
    bool stored;                           /* has storage on every path */
    enum { DROPPED, MOVED, ASSIGNED } how; /* it went; ASSIGNED: the var of which this is a view */
    const struct ast *gone_at;
    struct parts parts;
    struct parts touched; /* of a let: written or read */
    struct parts ended;   /* elements of an array that were dropped or moved */
};

/* What is known of a tensor when the function has been walked. */
struct run_status {
    const struct ast *unwritten; /* E07: a way out on which this tensor of a formal is not written */
    const struct ast *in_part;   /* W04: a write of this one, where all of them leave something out */
    bool is_live;                /* of a let: its block is open */
    /* of a let: where some lifetime of it ended, every part may have been written or read */
    bool is_used_whole;
    int views, next_view; /* numbers of a var's first view and of the next view of one var, from 1; 0: none */
};

struct assign {
    struct checker *c;
    struct ir_function *f;
    struct run_status *outcomes;
    VEC(struct iterations) loops; /* the loops around */
    bool is_silent;               /* nothing is reported */
    bool is_said;                 /* of the struct that is an argument, that it is gone */
};

static struct cell *cells_of(const struct dataflow_state *s) { return s->data; }

/* ---- tensors that are gone ---- */

/* The name in the text, where it is not the tensor's own. */
static const char *view_name(const struct ast *at, const struct symbol *t)
{
    while (at->kind == AST_INDEX || at->kind == AST_AWAIT || at->kind == AST_MEMBER)
        at = at->kind == AST_INDEX ? at->index.object : at->kind == AST_AWAIT ? at->await.operand : at->member.object;
    return at->kind == AST_NAME && at->symbol && at->symbol->region && at->symbol->region->base == t ? at->symbol->name
                                                                                                     : NULL;
}

static void say_gone(const struct assign *a, const struct cell *x, const struct symbol *t, const struct ast *at)
{
    static const char *const words[] = {[DROPPED] = "dropped", [MOVED] = "moved", [ASSIGNED] = "assigned"};
    const char *done = words[x->how], *view = x->how == ASSIGNED ? t->name : view_name(at, t);
    const char *when = x->gone == YES ? "was" : "may have been";
    if (view)
        diag_error(a->c->diag, DIAG_E11, at->at, "'%s' is a view of '%s', which %s %s", view,
                   x->how == ASSIGNED ? t->region->base->name : t->name, when, done);
    else
        diag_error(a->c->diag, DIAG_E11, at->at, "'%s' %s %s",
                   structs_place(at) && at->kind == AST_NAME ? at->symbol->name : t->name, when, done);
    const bool is_later = x->gone_at->at.begin >= at->at.begin;
    diag_note(a->c->diag, x->gone_at->at, "%s is %s here%s", x->how == ASSIGNED ? "the var" : "it", done,
              is_later ? ", in an earlier iteration of the loop" : "");
    if (!view) diag_note(a->c->diag, t->decl->name_at, "'%s' is declared here", t->name);
}

/* Any use: the tensor must still be there.  A struct goes as a whole, which is said once. */
static void touch(struct assign *a, struct cell *x, const struct ir_use *use)
{
    if (!use->is_same_argument) a->is_said = false;
    elements_touch(a->c, &x->ended, use, a->is_silent);
    if (x->gone == NO) return;
    if (!a->is_silent && !a->is_said) say_gone(a, x, use->tensor->symbol, use->at);
    a->is_said = true;
    x->gone = NO;
}

static void drop(struct assign *a, struct cell *x, const struct ir_use *use)
{
    touch(a, x, use);
    use->tensor->is_read = true; /* a lifetime ended on purpose is not one that was forgotten */
    if (use->region) {
        elements_end(a->c, &x->ended, use);
        return;
    }
    x->gone = YES;
    x->how = use->kind == IR_USE_DROP ? DROPPED : MOVED;
    x->gone_at = use->at;
}

static void move(struct assign *a, struct dataflow_state *s, struct cell *x, const struct ir_use *use)
{
    use->tensor->escapes = true;
    if (!x || s->is_dead) return;
    drop(a, x, use);
}

/* ---- tensors that change ---- */

/* The views of a var end with its value. */
static void end_views(const struct assign *a, struct dataflow_state *s, const struct symbol *var, const struct ast *at)
{
    for (int i = a->outcomes[tensor_note_of(a->c->checked, var)->number].views; i > 0;
         i = a->outcomes[i - 1].next_view) {
        struct cell *x = &cells_of(s)[i - 1];
        x->gone = YES;
        x->how = ASSIGNED;
        x->gone_at = at;
    }
}

/* What is behind this depends on nothing before it, see Note [one silent iteration]. */
static void take(struct assign *a, struct dataflow_state *s, struct cell *x, const struct ir_use *use)
{
    const struct symbol *t = use->tensor->symbol, *from = use->from->symbol;
    struct cell *y = &cells_of(s)[use->from->number];
    end_views(a, s, t, use->at);
    if (!a->is_silent) ((struct ir_use *)use)->is_first = x->written == NO;
    *x = (struct cell){.written = YES, .stored = true, .parts.any = true, .touched.any = true};
    use->tensor->is_written = use->from->is_read = true;
    y->parts.any = y->touched.any = true;
    if (use->kind == IR_USE_KEEP) return;
    if (from->next_of) {
        *y = (struct cell){.written = NO};
    } else {
        y->gone = YES;
        y->how = MOVED;
        y->gone_at = use->at;
    }
}

/* ---- reads and writes ---- */

/* It is tested when the program runs. */
static void add_unwritten(struct assign *a, const struct ir_use *use)
{
    struct ir_unwritten **end = &a->f->unwritten;
    while (*end) end = &(*end)->next;
    *end = arena_new(a->f->mem, struct ir_unwritten);
    (*end)->use = use;
    use->tensor->needs_flag = true;
}

static void say_unwritten(const struct assign *a, const struct ir_use *use)
{
    const struct symbol *t = use->tensor->symbol;
    const bool is_await = use->kind == IR_USE_AWAIT;
    diag_error(a->c->diag, is_await ? DIAG_E13 : DIAG_E06, use->at->at, "'%s' is %s here but was never written",
               t->name, is_await ? "awaited" : "read");
    diag_note(a->c->diag, t->decl->at, "'%s' is declared here", t->name);
}

/* Something was written, but was it this? */
static void look_for_gaps(const struct assign *a, struct cell *x, const struct ir_use *use)
{
    struct symbol *t = use->tensor->symbol;
    const struct part *near = NULL;
    const bool is_await = use->kind == IR_USE_AWAIT;
    if (a->is_silent) return;
    const enum missing missing =
        parts_missing(a->c, &x->parts, use->region ? use->region : region_whole(a->c, t), &near);
    if (missing == MISSING_UNKNOWN) return;
    if (missing == MISSING_ALL)
        diag_error(a->c->diag, is_await ? DIAG_E13 : DIAG_E06, use->at->at,
                   "no part of '%s' that is %s here was written before", t->name, is_await ? "awaited" : "read");
    else
        diag_warning(a->c->diag, DIAG_W04, use->at->at, "'%s' is read here and was only written in part", t->name);
    bool is_only = true;
    for (const struct part *q = x->parts.list; q; q = q->next) is_only &= q->at == near->at;
    diag_note(a->c->diag, near->at->at, is_only ? "this is what was written" : "this was written last");
    x->parts = x->touched = (struct parts){.any = true}; /* said once */
}

/* An extent of 0 needs nothing that writes it. */
static bool is_empty(const struct assign *a, struct symbol *t, const struct region *r)
{
    if (t->type->kind != TYPE_TENSOR) return false;
    if (!r) r = region_whole(a->c, t);
    if (region_is_empty(a->c, r)) return true;
    /* `if M * N == 0 { return; }` says nothing about M or N alone */
    const struct size *elements = size_const(a->c->sizes, 1);
    for (int d = 0; d < r->rank && elements; d++) elements = size_binary(a->c->sizes, SIZE_MUL, elements, r->extent[d]);
    return r->rank > 1 && elements && facts_prove_order(a->c->facts, elements, size_const(a->c->sizes, 0), 0);
}

static void touch_part(const struct assign *a, struct cell *x, const struct ir_use *use)
{
    const struct symbol *t = use->tensor->symbol;
    if (t->kind != SYM_LET || t->type->kind != TYPE_TENSOR) return;
    if (use->region)
        parts_add(a->c, &x->touched, &(struct part){.region = use->region, .at = use->at});
    else
        x->touched.any = true;
}

static void read(struct assign *a, struct cell *x, const struct ir_use *use)
{
    const struct symbol *t = use->tensor->symbol;
    touch(a, x, use);
    use->tensor->is_read = true;
    touch_part(a, x, use);
    if (t->is_doubtful) return;
    if (x->written != NO && t->type->kind == TYPE_TENSOR) look_for_gaps(a, x, use);
    if (x->written == YES || a->is_silent) return;
    /* where conditions contradict each other the run never comes, so it is as right to leave the test to it */
    if (x->written == NO && !is_empty(a, use->tensor->symbol, use->region) && !facts_contradict(a->c->facts))
        say_unwritten(a, use), x->touched.any = true;
    else
        add_unwritten(a, use);
    x->written = YES; /* said once, or checked */
    x->stored = true;
}

static void write(struct assign *a, struct cell *x, const struct ir_use *use)
{
    touch(a, x, use);
    use->tensor->is_written = true;
    x->written = YES;
    if (use->region)
        parts_add(a->c, &x->parts, &(struct part){.region = use->region, .at = use->at});
    else
        x->parts.any = true;
    touch_part(a, x, use);
    if (use->kind == IR_USE_WRITE)
        x->stored = true;
    else if (!x->stored && use->tensor->symbol->kind == SYM_LET)
        use->tensor->needs_alloc = true;
}

static void assume(struct cell *x, const struct ir_use *use)
{
    x->written = YES;
    x->gone = NO;
    x->parts.any = x->touched.any = true;
    use->tensor->is_read = use->tensor->is_written = true;
}

/* A dropped tensor must not exist again in the caller. */
static void give(struct assign *a, struct dataflow_state *s, struct cell *x, const struct ir_use *use)
{
    const struct symbol *t = use->tensor->symbol;
    if (!s->is_dead && x->gone != NO && x->how == DROPPED) {
        if (!a->is_silent) {
            diag_error(a->c->diag, DIAG_E10, use->at->at, "'%s' %s dropped and cannot be returned", t->name,
                       x->gone == YES ? "was" : "may have been");
            diag_note(a->c->diag, x->gone_at->at, "it is dropped here");
        }
        x->gone = NO;
    }
    if (!s->is_dead) read(a, x, use);
    if (!t->returned && t->type->kind == TYPE_TENSOR) move(a, s, x, use);
}

/* ---- lifetimes ---- */

/* Each run of a loop has its own. */
static void begin(struct assign *a, struct cell *x, const struct ir_use *use)
{
    *x = (struct cell){0};
    a->outcomes[use->tensor->number].is_live = true;
    if (use->kind == IR_USE_BEGIN) {
        x->stored = use->at->kind == AST_LET && attrs_find(use->at, "dist");
        use->tensor->needs_alloc |= x->stored;
        return;
    }
    *x = (struct cell){.written = YES, .stored = true, .parts.any = true, .touched.any = true}; /* all 0 */
    use->tensor->needs_alloc = true;
}

/* One of the writes, where they leave something out. */
static const struct ast *part_left_out(const struct assign *a, const struct cell *x, struct symbol *o)
{
    const struct part *near = NULL;
    return parts_missing(a->c, &x->parts, region_whole(a->c, o), &near) == MISSING_SOME ? near->at : NULL;
}

/* A lifetime of the let may end here. */
static void look_at_rest(const struct assign *a, const struct dataflow_state *s, int i)
{
    struct symbol *t = a->f->tensors[i]->symbol;
    struct run_status *o = &a->outcomes[i];
    const struct cell *x = &cells_of(s)[i];
    if (a->is_silent || s->is_dead || !o->is_live || x->written == NO || o->is_used_whole) return;
    const struct part *near = NULL;
    const bool leaves_out =
        t->type->kind == TYPE_TENSOR && parts_missing(a->c, &x->touched, region_whole(a->c, t), &near) == MISSING_SOME;
    if (!leaves_out)
        o->is_used_whole = true;
    else if (!o->in_part)
        o->in_part = x->parts.list ? x->parts.list->at : near->at;
}

static void look_at_all_rests(const struct assign *a, const struct dataflow_state *s)
{
    for (int i = 0; i < a->f->tensor_count; i++) look_at_rest(a, s, i);
}

static void leave(const struct assign *a, const struct dataflow_state *s, const struct ast *at)
{
    look_at_all_rests(a, s);
    for (int i = 0; i < a->f->tensor_count && !s->is_dead; i++) {
        struct tensor_note *note = a->f->tensors[i];
        struct symbol *t = note->symbol;
        struct run_status *o = &a->outcomes[i];
        const struct cell *x = &cells_of(s)[i];
        if (t->kind == SYM_FORMAL && x->gone != YES) note->is_kept = true;
        if (t->dir != DIR_OUT || a->is_silent) continue;
        if (x->written < IN_LOOP && !o->unwritten) o->unwritten = at;
        if (x->written >= IN_LOOP && !o->in_part && t->type->kind == TYPE_TENSOR) o->in_part = part_left_out(a, x, t);
    }
}

/* ---- the client of the solver ---- */

static struct assign *begin_step(struct dataflow *d)
{
    struct assign *a = d->cx;
    a->is_silent = d->is_silent;
    return a;
}

static void step_use(struct assign *a, struct dataflow_state *s, const struct ir_use *use)
{
    if (!use->tensor || use->kind == IR_USE_ALIAS) return;
    const int i = use->tensor->number;
    struct cell *x = i < 0 ? NULL : &cells_of(s)[i];
    switch (use->kind) {
    case IR_USE_BEGIN:
    case IR_USE_BEGIN_ZERO: begin(a, x, use); return;
    case IR_USE_END:
        look_at_rest(a, s, i);
        a->outcomes[i].is_live = false;
        return;
    case IR_USE_UNKNOWN: assume(x, use); return;
    case IR_USE_MOVE: move(a, s, x, use); return;
    case IR_USE_RETURN: give(a, s, x, use); return;
    default: break;
    }
    if (s->is_dead) return;
    switch (use->kind) {
    case IR_USE_TAKE:
    case IR_USE_KEEP: take(a, s, x, use); break;
    case IR_USE_READ:
    case IR_USE_AWAIT: read(a, x, use); break;
    case IR_USE_WRITE:
    case IR_USE_WRITE_PART: write(a, x, use); break;
    case IR_USE_DROP: drop(a, x, use); break;
    default: touch(a, x, use); break;
    }
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    struct assign *a = begin_step(d);
    switch (op->kind) {
    case IR_USE: step_use(a, s, &op->use); break;
    case IR_ASSERT: learn_condition(a->c, op->assertion.source, true); break;
    case IR_RETURN: leave(a, s, op->ret.source); break;
    case IR_BREAK:
    case IR_CONTINUE: look_at_all_rests(a, s); break;
    default: break;
    }
}

static unsigned char meet_written(unsigned char a, unsigned char b)
{
    return a == b ? a : a == SOMETIMES || b == SOMETIMES || a == NO || b == NO ? SOMETIMES : a < b ? a : b;
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    const struct assign *a = d->cx;
    for (int i = 0; i < a->f->tensor_count; i++) {
        struct cell *x = &cells_of(into)[i];
        const struct cell *y = &cells_of(other)[i];
        x->written = meet_written(x->written, y->written);
        x->gone = meet_written(x->gone, y->gone);
        x->stored &= y->stored;
        parts_join(a->c, &x->parts, &y->parts);
        parts_join(a->c, &x->touched, &y->touched);
        parts_join(a->c, &x->ended, &y->ended);
        if (x->gone_at) continue;
        x->gone_at = y->gone_at;
        x->how = y->how;
    }
}

static size_t mark(struct dataflow *d) { return facts_mark(((struct assign *)d->cx)->c->facts); }

static void forget(struct dataflow *d, size_t mark) { facts_reset(((struct assign *)d->cx)->c->facts, mark); }

/* Where the condition is so, in each of the cases that it leaves: `N > 0 && M > 0` is false by N, or by M. */
static bool is_empty_where(const struct assign *a, struct symbol *t, const struct ast *cond, bool truth)
{
    if (cond->kind == AST_UNARY && cond->binary.op == OP_NOT) return is_empty_where(a, t, cond->binary.left, !truth);
    if (cond->kind == AST_BINARY && cond->binary.op == (truth ? OP_OR : OP_AND))
        return is_empty_where(a, t, cond->binary.left, truth) && is_empty_where(a, t, cond->binary.right, truth);
    const size_t before = facts_mark(a->c->facts);
    learn_condition(a->c, cond, truth);
    const bool empty = is_empty(a, t, NULL);
    facts_reset(a->c->facts, before);
    return empty;
}

/* A formal that has no element where the condition is so, as in `if N == 0 { return; }`, needs no writer. */
static void learn(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op, bool truth)
{
    const struct assign *a = d->cx;
    const struct ast *cond = op->branch.cond.source;
    learn_condition(a->c, cond, truth);
    if (op->branch.values) learn_arm(a->c, op->branch.matched, op->branch.values, truth);
    for (int i = 0; i < a->f->tensor_count && !s->is_dead; i++) {
        struct symbol *t = a->f->tensors[i]->symbol;
        struct cell *x = &cells_of(s)[i];
        if (t->dir == DIR_OUT && x->written < IN_LOOP &&
            (is_empty(a, t, NULL) || (cond && is_empty_where(a, t, cond, truth))))
            x->written = YES, x->parts.any = true;
    }
}

static void enter_loop(struct dataflow *d, const struct ir_op *op)
{
    struct assign *a = d->cx;
    struct iterations loop;
    parts_begin_loop(a->c, &loop, op->kind == IR_FOR ? op->loop.source : op->while_.source, d->depth);
    vec_push(&a->loops, loop);
    learn_iterations(a->c, &loop);
}

static void after_iteration(const struct assign *a, struct dataflow_state *s, bool is_over)
{
    const struct iterations *loop = &a->loops.data[a->loops.count - 1];
    for (int i = 0; i < a->f->tensor_count; i++) {
        parts_after_iteration(a->c, &cells_of(s)[i].parts, loop, is_over);
        parts_after_iteration(a->c, &cells_of(s)[i].touched, loop, is_over);
        parts_after_iteration(a->c, &cells_of(s)[i].ended, loop, is_over);
    }
}

static void next_iteration(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    (void)op;
    after_iteration(d->cx, s, false);
}

static void after_iterations(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    (void)op;
    after_iteration(d->cx, s, true);
}

/* What the loop writes counts as written behind it, though it may have no iteration. */
static void leave_loop(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op,
                       const struct dataflow_state *before, const struct dataflow_state *end)
{
    struct assign *a = d->cx;
    const bool is_tested_last = op->kind == IR_WHILE && !op->while_.tests_first;
    a->loops.count--;
    for (int i = 0; i < a->f->tensor_count && !s->is_dead && !is_tested_last; i++) {
        const unsigned char was = cells_of(before)[i].written;
        const bool is_new = was == NO || (was == SOMETIMES && !end->is_dead && cells_of(end)[i].written >= IN_LOOP);
        if (is_new && cells_of(s)[i].written == SOMETIMES && a->f->tensors[i]->is_written)
            cells_of(s)[i].written = IN_LOOP;
    }
}

/* ---- a function ---- */

/* Of what is never read all is W01. */
static void report_let(const struct assign *a, const struct tensor_note *note, const struct run_status *o)
{
    const struct symbol *t = note->symbol;
    if (!o->in_part || o->is_used_whole || !note->is_read || t->is_doubtful) return;
    diag_warning(a->c->diag, DIAG_W04, t->decl->name_at, "a part of '%s' is never written and never read", t->name);
    diag_note(a->c->diag, o->in_part->at, "this is written");
}

static void report_formal(const struct assign *a, const struct tensor_note *note, const struct run_status *o)
{
    const struct symbol *t = note->symbol;
    const struct ast *at = o->unwritten;
    if (!at && o->in_part) {
        diag_warning(a->c->diag, DIAG_W04, t->decl->at, "'%s' is out and only written in part", t->name);
        diag_note(a->c->diag, o->in_part->at, "this is written");
    }
    if (!at || t->is_doubtful || is_empty(a, note->symbol, NULL)) return;
    diag_error(a->c->diag, DIAG_E07, t->decl->at, "'%s' is out and is %s", t->name,
               note->is_written ? "not written on some path" : "never written");
    const struct span end = {at->at.file, at->at.end - 1, at->at.end};
    const bool is_return = at->kind == AST_RETURN;
    diag_note(a->c->diag, is_return ? at->at : end, "%s",
              is_return ? "this path leaves without writing it" : "the function can end here without writing it");
}

static void report_unread(const struct assign *a, const struct tensor_note *note)
{
    const struct symbol *t = note->symbol;
    /* `let t = k(x);` */
    const bool is_forgotten =
        !t->is_named && t->decl->symbol == t && t->name[0] != '_' && diag_error_count(a->c->diag) == 0;
    if (t->kind != SYM_LET || (!t->is_named && !is_forgotten) || note->is_read || !note->is_written || t->returned)
        return;
    diag_warning(a->c->diag, DIAG_W01, t->decl->name_at, "'%s' is written and never read", t->name);
}

static void report(const struct assign *a)
{
    for (int i = 0; i < a->f->tensor_count; i++) {
        const struct tensor_note *note = a->f->tensors[i];
        if (note->symbol->kind == SYM_LET)
            report_let(a, note, &a->outcomes[i]);
        else
            report_formal(a, note, &a->outcomes[i]);
    }
    for (int i = 0; i < a->f->tensor_count; i++) report_unread(a, a->f->tensors[i]);
}

static void note_views(const struct assign *a)
{
    for (int i = a->f->tensor_count; i-- > 0;) {
        const struct symbol *view = a->f->tensors[i]->symbol;
        const struct tensor_note *var = view->region ? tensor_note_of(a->c->checked, view->region->base) : NULL;
        if (!var || var->number < 0) continue;
        a->outcomes[i].next_view = a->outcomes[var->number].views;
        a->outcomes[var->number].views = i + 1;
    }
}

/* Who was given a tensor was given a real one. */
static void enter(const struct assign *a, struct dataflow_state *s)
{
    for (int i = 0; i < a->f->tensor_count; i++) {
        const struct symbol *t = a->f->tensors[i]->symbol;
        const bool is_out = t->dir == DIR_OUT;
        for (int d = 0; d < t->type->rank && t->kind == SYM_FORMAL; d++) facts_add(a->c->facts, t->type->extent[d]);
        if (t->dir == DIR_NONE) continue;
        cells_of(s)[i] = (struct cell){.written = is_out ? NO : YES, .stored = true, .parts.any = !is_out};
    }
}

void pass_assign(struct checker *c, struct ir_function *f)
{
    const struct dataflow_client client = {.bytes = sizeof(struct cell) * (size_t)f->tensor_count,
                                           .step = step,
                                           .meet = meet,
                                           .mark = mark,
                                           .forget = forget,
                                           .learn = learn,
                                           .enter_loop = enter_loop,
                                           .next_iteration = next_iteration,
                                           .after_iterations = after_iterations,
                                           .leave_loop = leave_loop};
    struct assign a = {.c = c, .f = f, .outcomes = arena_array(f->mem, struct run_status, f->tensor_count)};
    struct dataflow_state s = dataflow_start(&client);
    note_views(&a);
    enter(&a, &s);
    dataflow_run(&client, &a, f, &s);
    report(&a);
    facts_reset(c->facts, 0);
    dataflow_free(&s);
    vec_free(&a.loops);
}
