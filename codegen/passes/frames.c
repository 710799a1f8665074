/* frames.c - the pass `frames`: which tensors of a function lie in one allocation, made at its entry, and which of them
 * take each other's place?
 * Idea       the calls of a function in order are tasks, and an `await` is one that everything later waits for.  Slots
 *            are given to the tensors whose sizes are known at the entry; that is a proposal, which the pass `bounds`
 *            measures, and which is taken or not.
 * Look       ptoc build --emit=memory
 * Tests      test/lit/memory/frames.pto, plans.test, budget-counts.pto
 *
 * Note [reuse is never wrong]: slots are pieces of one buffer, so the run time sees who touches which bytes and orders
 * what has to be ordered.  What is decided here is whether that order was there anyway.
 *
 * Note [free reuse]: c may take the place of a without waiting where the first writer of c depends, over others or at
 * once, on every task that touches a.  A dependence counts only where it is certain: one of the two writes the whole
 * tensor, neither is a function (which may leave tasks behind that nobody sees), and what lies between is reached
 * whenever they are.
 *
 * Note [alternating slots]: names that exchange their buffers, as a `var` and its next value do, have a slot with room
 * for each that is written, and a name that takes over a buffer gives its own in return; so they have the slots in some
 * order, at any time.  Which of the buffers a task touches is not known here, so nothing is surely ordered by them.
 *
 * Note [a frame must not cost]: a frame is held from the entry of the function to its last task.  --plan=free makes one
 * only where the function needs no more heap with it than without.
 *
 * Note [a frame is optional]: the run takes a frame only where what the heap has left suffices for all that the
 * function and its callees may need with it.  So whatever runs while a frame is held completes, and everything else
 * runs as --plan=ring does: no heap is too small with frames that suffices without, and none where a smaller one
 * suffices.  Where that need is not known at the entry, as in recursion, there is no frame.
 */
#include "bounds.h"
#include "frames_parts.h"
#include "support/arena.h"

/* ---- tasks ---- */

static void note_place(struct walk *w, const struct symbol *t, const char *why)
{
    for (int i = 0; i < t->field_count && !t->alias_of; i++) note_place(w, t->fields[i], why);
    if (!tensor_is_new(t) || ptrmap_get(&w->places, t)) return;
    struct home *p = arena_new(w->plan->mem, struct home);
    p->loop = w->loop;
    p->why = t->exchange && t->exchange->is_shared ? "two names may have its buffer" : why;
    ptrmap_set(&w->places, t, p);
    vec_push(&w->tensors, t);
}

static void exclude(struct walk *w, const struct symbol *t, const char *why)
{
    if (t->alias_of) exclude(w, t->alias_of, why);
    for (int i = 0; i < t->field_count; i++) exclude(w, t->fields[i], why);
    struct home *p = ptrmap_get(&w->places, t);
    if (p && !p->why) p->why = why;
}

static void note_access(struct task *t, const struct region *r, enum direction dir)
{
    const struct exchange *names = r ? r->base->exchange : NULL;
    if (names) /* see Note [alternating slots] */
        vec_push(&t->accesses, ((struct access){names->names[0], DIR_INOUT, false}));
    else if (r)
        vec_push(&t->accesses, ((struct access){r->base, dir, r->whole}));
}

static void add_task(struct walk *w, struct task *t)
{
    t->loop = w->loop;
    t->is_certain = w->loop < 0 && w->conditions == 0 && !w->has_left;
    for (int l = w->loop; l >= 0; l = w->loops.data[l].parent) w->loops.data[l].last = (int)w->tasks.count;
    vec_push(&w->tasks, t);
}

static void note_task(struct walk *w, struct span at, const struct call *call)
{
    struct task *t = arena_new(w->plan->mem, struct task);
    t->at = at;
    t->call = call;
    t->is_opaque = call->callee->kind == SYM_ORCH;
    for (int i = 0; i < call->callee->formal_count; i++) {
        const struct symbol *formal = call->callee->formals[i];
        if (i == call->result_formal) continue;
        note_access(t, call->regions[i], formal->dir);
        for (int k = 0; k < call->leaves[i].count; k++) {
            const struct leaf *leaf = &call->leaves[i].leaf[k];
            note_access(t, leaf->region, leaf->formal->dir);
        }
    }
    for (int k = 0; k < call->result_leaves.count; k++) note_access(t, call->result_leaves.leaf[k].region, DIR_OUT);
    note_access(t, call->destination, DIR_OUT);
    if (call->result_symbol) {
        if (call->result_symbol->hidden) note_place(w, call->result_symbol, NULL);
        const struct exchange *names = call->result_symbol->exchange;
        const struct access one = {call->result_symbol, DIR_OUT, true},
                            slots = {names ? names->names[0] : NULL, DIR_INOUT, false};
        vec_push(&t->accesses, names ? slots : one);
    }
    add_task(w, t);
}

static void note_await(struct walk *w, const struct ir_view *view)
{
    struct task *t = arena_new(w->plan->mem, struct task);
    t->at = view->at;
    note_access(t, view->region, DIR_IN);
    add_task(w, t);
}

/* ---- operations ---- */

static void walk_value(struct walk *w, const struct ir_value *v);

static void walk_call(struct walk *w, const struct ir_call *c)
{
    for (int i = 0; i < c->attribute_count; i++) walk_value(w, c->attributes[i].value);
    for (int i = 0; i < c->count; i++) walk_value(w, c->arguments[i].value);
    note_task(w, c->at, c->binding);
    for (int i = 0; i < c->count; i++)
        if (c->arguments[i].kind == IR_ARG_MOVED) exclude(w, c->arguments[i].view->region->base, "it is moved");
}

/* Operands first. */
static void walk_value(struct walk *w, const struct ir_value *v)
{
    if (!v) return;
    for (int i = 0; i < v->count; i++) {
        w->conditions += ir_is_optional(v, i);
        walk_value(w, v->arg[i]);
        w->conditions -= ir_is_optional(v, i);
    }
    if (v->kind == IR_RESULT) walk_call(w, v->call);
    if (v->is_await) note_await(w, v->view);
}

static void walk_block(struct walk *w, const struct ir_block *block);
static void walk_ops(struct walk *w, const struct ir_op *op, const struct ir_op *end);

static void walk_loop(struct walk *w, const struct ir_op *op)
{
    const struct loop l = {w->loop, (int)w->tasks.count, (int)w->tasks.count - 1, op};
    vec_push(&w->loops, l);
    w->loop = (int)w->loops.count - 1;
    if (op->kind == IR_WHILE) {
        if (op->while_.test) walk_block(w, op->while_.test);
        walk_value(w, op->while_.cond.value);
    }
    walk_block(w, op->kind == IR_FOR ? op->loop.body : op->while_.body);
    w->loop = l.parent;
}

/* The tensors of a block that a constant leaves out have no slot. */
static void walk_branches(struct walk *w, const struct ir_op *op)
{
    const struct ir_op *next = NULL;
    walk_value(w, op->branch.cond.value);
    w->conditions++;
    for (; op; op = next) {
        const enum truth truth = op->branch.cond.truth;
        const struct ir_block *other = truth == TRUTH_ALWAYS ? NULL : op->branch.other;
        next = other ? ir_next_in_chain(op) : NULL;
        if (truth != TRUTH_NEVER) walk_block(w, op->branch.then);
        if (other) walk_ops(w, other->first, next);
        if (next) walk_value(w, next->branch.cond.value);
    }
    w->conditions--;
}

static void walk_op(struct walk *w, const struct ir_op *op)
{
    switch (op->kind) {
    case IR_TENSOR:
        if (!op->tensor.symbol->hidden) note_place(w, op->tensor.symbol, NULL);
        break;
    case IR_LET: walk_value(w, op->let.value); break;
    case IR_SET: walk_value(w, op->set.value); break;
    case IR_STORE: walk_value(w, op->store.value); break;
    case IR_ASSERT: walk_value(w, op->assertion.cond); break;
    case IR_PRINT:
        for (int i = 0; i < op->print.count; i++) walk_value(w, op->print.values[i].value);
        break;
    case IR_SUBMIT:
    case IR_CALL: walk_call(w, op->call); break;
    case IR_RELEASE:
        if (op->release.why == IR_RELEASE_BY_HAND && !op->release.symbol->exchange)
            exclude(w, op->release.symbol, "'drop' ends its lifetime");
        break;
    case IR_GIVE: exclude(w, op->give.view->region->base, "it is returned"); break;
    case IR_BLOCK: walk_block(w, op->block); break;
    case IR_FOR:
        walk_value(w, op->loop.low);
        walk_value(w, op->loop.high);
        walk_value(w, op->loop.step);
        walk_loop(w, op);
        break;
    case IR_WHILE: walk_loop(w, op); break;
    case IR_IF: walk_branches(w, op); break;
    case IR_RETURN:
        walk_value(w, op->ret.value);
        w->has_left = true;
        break;
    case IR_BREAK:
    case IR_CONTINUE: w->has_left = true; break;
    default: break;
    }
}

static void walk_ops(struct walk *w, const struct ir_op *op, const struct ir_op *end)
{
    for (; op != end; op = op->next) walk_op(w, op);
}

static void walk_block(struct walk *w, const struct ir_block *block) { walk_ops(w, block->first, NULL); }

/* ---- the frame ---- */

static void sum_up(struct walk *w)
{
    const struct size *without = size_const(w->sizes, 0);
    for (size_t i = 0; i < w->out->tensors.count && without; i++)
        if (w->out->tensors.data[i]->storage == STORAGE_SLOT && w->out->tensors.data[i]->number >= 0)
            without = size_binary(w->sizes, SIZE_ADD, without, w->out->tensors.data[i]->bytes);
    w->out->without = without;
}

static void give_up(struct walk *w, const char *why)
{
    w->out->bytes = NULL;
    w->out->why = why;
    w->out->added.count = w->out->slots.count = 0;
    for (size_t i = 0; i < w->out->tensors.count; i++) {
        struct tensor_plan *t = w->out->tensors.data[i];
        if (t->storage != STORAGE_SLOT) continue;
        t->storage = STORAGE_RING;
        t->why = why;
    }
}

static void use_slots(struct walk *w)
{
    for (size_t i = 0; i < w->out->tensors.count; i++)
        if (w->out->tensors.data[i]->storage == STORAGE_SLOT)
            ptrmap_set(&w->plan->slots, w->out->tensors.data[i]->tensor, w->out->tensors.data[i]);
}

/* See Note [a frame must not cost]. */
static bool costs_nothing(struct plan *p, const struct function_bounds *ring, const struct function_bounds *frame)
{
    if (ring->whole.unknown.name) return false;
    for (int i = 0; i < frame->whole.point_count; i++) {
        bool covered = false;
        for (int k = 0; k < ring->whole.point_count && !covered; k++) {
            const struct size *more =
                size_sub(p->checked->sizes, frame->whole.point[i].bytes, ring->whole.point[k].bytes);
            covered = more && range_of_size(&p->ranges, more).hi <= 0;
        }
        if (!covered) return false;
    }
    return !frame->whole.unknown.name;
}

/* See Note [a frame is optional]. */
static bool is_need_known(const struct function_bounds *f)
{
    for (int i = 0; i < f->whole.point_count; i++)
        if (!frames_is_known_at_entry(f->whole.point[i].bytes)) return false;
    return !f->whole.unknown.name;
}

/* The proposal is measured; NULL: it is taken, else why not. */
static const char *why_refused(struct plan *p, const struct symbol *orch, const struct frame_plan *frame)
{
    const bool has_place = orch->decl->orch.exported;
    /* A tensor that is moved in may lie in the heap, and end before the frame does; or it may have to be copied. */
    const struct moved_in counted = bounds_all_counted(p, orch), copied = bounds_all_copied(p, orch);
    const struct function_bounds *with = bounds_with(p, orch, has_place, copied, frame);
    if (p->memory.kind == PLAN_FREE &&
        (!costs_nothing(p, bounds_in(p, &p->ring, orch, has_place, copied), with) ||
         (counted.counted && !costs_nothing(p, bounds_in(p, &p->ring, orch, has_place, counted),
                                            bounds_with(p, orch, has_place, counted, frame)))))
        return "a frame would hold more than the function needs without";
    return is_need_known(with) ? NULL : "the heap that is needed beside a frame is unknown at the entry";
}

static int tensors_in_slots(const struct frame_plan *f)
{
    int count = 0;
    for (size_t i = 0; i < f->tensors.count; i++) count += f->tensors.data[i]->storage == STORAGE_SLOT;
    return count;
}

static void plan_function(struct plan *p, const struct ir_function *f)
{
    const struct symbol *orch = f->orch;
    struct walk w = {.plan = p, .sizes = p->checked->sizes, .out = arena_new(p->mem, struct frame_plan), .loop = -1};
    ptrmap_set(&p->frames, orch, w.out);
    vec_push(&p->frame_list, w.out);
    p->ranges.function = orch;
    walk_block(&w, f->body);
    frames_find_names(&w, f);
    frames_place(&w);
    sum_up(&w);
    if (!w.out->bytes) {
        give_up(&w, "no tensor of it can lie in a frame");
    } else if (p->memory.kind == PLAN_FREE && tensors_in_slots(w.out) == (int)w.out->slots.count) {
        give_up(&w, "no slot of a frame would be used again");
    } else {
        use_slots(&w);
        const char *why = why_refused(p, orch, w.out);
        if (why) {
            give_up(&w, why);
            for (size_t i = 0; i < w.tensors.count; i++) ptrmap_set(&p->slots, w.tensors.data[i], NULL);
        }
    }
    p->ranges.function = NULL;
    for (size_t t = 0; t < w.tasks.count; t++) vec_free(&w.tasks.data[t]->accesses);
    for (size_t i = 0; i < w.tensors.count; i++)
        vec_free(&((struct home *)ptrmap_get(&w.places, w.tensors.data[i]))->users);
    vec_free(&w.tasks);
    vec_free(&w.loops);
    vec_free(&w.tensors);
    ptrmap_free(&w.places);
}

void frames_run(struct plan *p)
{
    for (size_t i = 0; i < p->functions.count; i++) plan_function(p, p->functions.data[i]);
    memory_model_begin(p, &p->framed, true);
}

struct frame_plan *frame_of(const struct plan *p, const struct symbol *orch) { return ptrmap_get(&p->frames, orch); }

struct tensor_plan *slot_of(const struct plan *p, const struct symbol *tensor) { return ptrmap_get(&p->slots, tensor); }
