/* bounds_functions.c - the bounds of whole functions, each measured once for each way in which it is called.
 * Idea       a function is walked for what its caller provides: a place for the result, tensors of the heap that move
 *            in.  The results are kept in a memory model.
 * Tests      test/lit/memory/bounds.pto, moves.test
 *
 * Note [moved in]: a tensor that is moved ends for its caller when the call begins, and counts in the callee until it
 * is released there.  The arguments of an export lie outside of the heap.  A result, and a `var` of the callee, that is
 * made of one of these, or of an element of an array, is a copy.
 */
#include "bounds_parts.h"
#include "frames.h"
#include "support/arena.h"

enum {
    /* steps for one function: each level of loops is walked twice, and states are copied at every branch */
    MAX_WORK = 200000,
    MAX_CALL_DEPTH = 256
};

/* ---- functions ---- */

static void number(struct walk *w, const struct symbol *t)
{
    if (bounds_is_in_frame(w->plan, w->frame, t)) return;
    vec_push(&w->tensors, t);
    ptrmap_set(&w->numbers, t, (void *)(uintptr_t)w->tensors.count);
    w->has_shared |= t->exchange && t->exchange->is_shared;
}

static void number_owned(void *cx, struct ir_op *op)
{
    for (int i = 0; op->kind == IR_SCOPE_BEGIN && i < op->scope.count; i++) number(cx, op->scope.tensors[i]);
}

static void number_results(struct walk *w, const struct symbol *orch)
{
    symbol_list result = {0};
    flat_results(orch, &result);
    for (size_t i = 0; i < result.count; i++)
        if (result.data[i]->type->kind == TYPE_TENSOR) number(w, result.data[i]);
    vec_free(&result);
}

/* What was seen of a function that took too long says nothing about the rest of it. */
static void give_up(struct function_bounds *f, const struct symbol *orch)
{
    f->peak = NULL;
    f->sure = 0;
    f->sure_count = 0;
    f->one = NULL;
    f->worst = (struct sure_point){0};
    f->whole = f->safe = (struct bound){.unknown = {.at = orch->decl->at, .name = orch->name}};
    f->scopes.count = 0;
}

/* Calls visit for each formal that has a bit. */
static void each_moved_in(struct walk *w, const struct symbol *orch, uint64_t bits,
                          void (*visit)(struct walk *w, const struct symbol *t))
{
    symbol_list formals = {0};
    flat_formals(orch, &formals);
    for (size_t i = 0; i < formals.count && bits; i++) {
        if (!formal_is_moved_in(w->plan, formals.data[i])) continue;
        if (bits & 1) visit(w, formals.data[i]);
        bits >>= 1;
    }
    vec_free(&formals);
}

/* Those that are not `own` are never copied. */
static struct moved_in all_moved_in(const struct plan *p, const struct symbol *orch)
{
    struct moved_in all = {0};
    symbol_list formals = {0};
    flat_formals(orch, &formals);
    int n = 0;
    for (size_t i = 0; i < formals.count && n < MAX_MOVED; i++) {
        if (!formal_is_moved_in(p, formals.data[i])) continue;
        all.counted |= (uint64_t)1 << n;
        if (formals.data[i]->dir == DIR_OWN) all.copied |= (uint64_t)1 << n;
        n++;
    }
    vec_free(&formals);
    return all;
}

struct moved_in bounds_all_counted(const struct plan *p, const struct symbol *orch)
{
    return (struct moved_in){.counted = all_moved_in(p, orch).counted};
}

struct moved_in bounds_all_copied(const struct plan *p, const struct symbol *orch)
{
    return (struct moved_in){.copied = all_moved_in(p, orch).copied};
}

static void note_copied(struct walk *w, const struct symbol *t) { ptrmap_set(&w->copied, t, (void *)(uintptr_t)t); }

static void hold_formal(struct walk *w, const struct symbol *t) { bounds_hold_new(w, t); }

static void begin_frame(struct walk *w, const struct symbol *orch)
{
    const struct maker at = {.at = orch->decl->at, .name = orch->name, .is_frame = true};
    const struct need_point p = {w->frame->bytes, w->frame->bytes, at, 0};
    bounds_note_point(w, p, 0); /* it may be refused: then its tensors are made one by one, which needs no more */
    bounds_note_safe(w, p);
    w->now->may = bounds_add(w, w->now->may, w->frame->bytes);
    w->now->buffers++;
}

static struct function_bounds *measure(struct plan *p, struct memory_model *model, const struct symbol *orch,
                                       bool has_place, const struct frame_plan *frame, struct function_bounds *f)
{
    struct walk w = {.plan = p,
                     .sizes = p->checked->sizes,
                     .out = f,
                     .model = model,
                     .frame = frame && frame->bytes ? frame : NULL,
                     .is_certain = true,
                     .work = MAX_WORK,
                     .has_place = has_place || !orch->result_place};
    struct ir_function *function = ptrmap_get(&p->function_of, orch);
    const struct symbol *outer = p->ranges.function;
    p->ranges.function = orch;
    ir_each(function->body, number_owned, &w);
    if (!w.has_place) number_results(&w, orch);
    each_moved_in(&w, orch, f->moved_in.counted, number);
    each_moved_in(&w, orch, f->moved_in.copied, note_copied);
    struct held s = bounds_nowhere(&w);
    s.dead = false;
    w.now = &s;
    vec_push(&w.open, &f->whole);
    vec_push(&w.start, size_const(w.sizes, 0));
    each_moved_in(&w, orch, f->moved_in.counted, hold_formal);
    if (w.frame) begin_frame(&w, orch);
    const struct size *total = w.frame ? w.frame->bytes : size_const(w.sizes, 0);
    f->peak = bounds_add(&w, total, bounds_walk_block(&w, function->body));
    for (size_t i = 0; i < f->iterations.count; i++)
        if (!f->iterations.data[i].bytes) f->peak = NULL;
    if (w.work < 0) give_up(f, orch);
    f->is_complete = true;
    p->ranges.function = outer;
    vec_free(&w.tensors);
    vec_free(&w.open);
    vec_free(&w.start);
    ptrmap_free(&w.numbers);
    ptrmap_free(&w.copied);
    vec_free(&w.keepers);
    ptrmap_free(&w.is_keeper);
    return f;
}

static struct function_bounds *new_bounds(struct plan *p, struct moved_in moved_in)
{
    struct function_bounds *f = arena_new(p->mem, struct function_bounds);
    f->moved_in = moved_in;
    vec_push(&p->bound_list, f);
    return f;
}

struct function_bounds *bounds_in(struct plan *p, struct memory_model *model, const struct symbol *orch, bool has_place,
                                  struct moved_in moved_in)
{
    has_place &= !orch->result_place || orch->result_place->decided_count == 0; /* an entry owns such a result, too */
    const void *key = has_place || !orch->result_place ? (const void *)orch : (const void *)&orch->result_place;
    struct function_bounds *first = ptrmap_get(&model->bounds, key), *f = first;
    while (f && (f->moved_in.counted != moved_in.counted || f->moved_in.copied != moved_in.copied)) f = f->other;
    if (f) return f->is_complete ? f : NULL;
    if (model->depth == MAX_CALL_DEPTH) return NULL;
    model->depth++;
    f = new_bounds(p, moved_in);
    f->other = first;
    ptrmap_set(&model->bounds, key, f);
    measure(p, model, orch, has_place, model->has_frames ? frame_of(p, orch) : NULL, f);
    model->depth--;
    return f;
}

struct function_bounds *bounds_of(struct plan *p, const struct symbol *orch, bool has_place)
{
    const struct moved_in none = {0};
    return bounds_in(p, &p->framed, orch, has_place, orch->decl->orch.exported ? bounds_all_copied(p, orch) : none);
}

struct function_bounds *bounds_with(struct plan *p, const struct symbol *orch, bool has_place, struct moved_in moved_in,
                                    const struct frame_plan *frame)
{
    return measure(p, &p->ring, orch, has_place, frame, new_bounds(p, moved_in));
}

/* ---- the granule ---- */

static int64_t common_divisor(int64_t g, const struct size *bytes)
{
    int64_t factor = PTO_GRANULE;
    if (bytes && bytes->kind == SIZE_CONST)
        factor = bytes->value;
    else if (bytes && bytes->kind == SIZE_MUL && bytes->arg[0]->kind == SIZE_CONST)
        factor = bytes->arg[0]->value;
    while (factor != 0) {
        const int64_t rest = g % factor;
        g = factor;
        factor = rest;
    }
    return g;
}

/* The greatest common divisor of all buffers, as far as it is known: a multiple of the heap's own granule. */
static int64_t common_granule(struct plan *p, bool has_frames)
{
    int64_t g = 0;
    struct walk w = {.plan = p, .sizes = p->checked->sizes};
    for (size_t i = 0; i < p->functions.count; i++) {
        struct ir_function *f = p->functions.data[i];
        w.frame = has_frames ? frame_of(p, f->orch) : NULL;
        if (w.frame && w.frame->bytes) g = common_divisor(g, w.frame->bytes);
        number_results(&w, f->orch);
        ir_each(f->body, number_owned, &w);
    }
    for (size_t n = 0; n < w.tensors.count; n++) g = common_divisor(g, bounds_bytes_of(&w, w.tensors.data[n]->type));
    vec_free(&w.tensors);
    ptrmap_free(&w.numbers);
    return g > 0 ? g : PTO_GRANULE;
}

void memory_model_begin(struct plan *p, struct memory_model *model, bool has_frames)
{
    model->has_frames = has_frames;
    model->granule = common_granule(p, has_frames);
}

void bounds_run(struct plan *p)
{
    memory_model_begin(p, &p->ring, false);
    for (size_t i = 0; i < p->orchs.count; i++)
        bounds_in(p, &p->ring, p->orchs.data[i], p->orchs.data[i]->decl->orch.exported,
                  bounds_all_copied(p, p->orchs.data[i]));
}
