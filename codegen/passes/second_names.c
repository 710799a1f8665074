/* second_names.c - is a tensor that is moved into a function still there under a second name?
 * Needs      the uses of a function.  Gives E11.
 * Idea       `let t = a;` gives the tensor of a second name: a mark that is this let's own is put on both.  Marks go
 *            where tensors go: `b = t;` takes them along, an end or a new value takes them off.  So names that may
 *            mean one tensor have a mark in common; a name that has none in common with another may be moved.
 * Method     forward: the marks of each tensor, 64 bits; lets after the 63rd of an exchange share one.  What comes
 *            round a loop is kept between walks, which are repeated until it grows no more; the last walk reports.
 * Tests      test/lit/sema/e11-second-names*.pto, test/lit/run/var-moved.pto
 */
#include "dataflow.h"
#include "support/arena.h"
#include "support/ptrmap.h"
#include "uses.h"
#include "sema/checker.h"
#include <string.h>

struct name {
    const struct ast *given; /* where it was given the tensor of another name, last in the text */
    bool is_over;            /* its block has ended */
};

struct second_names {
    struct checker *c;
    struct ir_function *f;
    struct name *names;  /* of f->tensors */
    struct ptrmap heads; /* loop -> its marks at the begin of an iteration; first byte: is there any */
    bool has_names, has_moves, has_grown, reports;
};

static uint64_t *marks_of(const struct dataflow_state *s) { return s->data; }

static int number_of(const struct second_names *n, const struct symbol *s)
{
    const struct tensor_note *note = tensor_note_of(n->c->checked, s);
    return note ? note->number : -1;
}

/* The mark of a let: by its number among those of its exchange. */
static uint64_t mark_of(const struct symbol *let)
{
    int number = 0;
    for (int i = 0; let->exchange->names[i] != let; i++) number += let->exchange->names[i]->keeps != NULL;
    return (uint64_t)1 << (number < 63 ? number : 63);
}

/* Another name of the exchange that has one of these marks; the number of a tensor, -1: there is none. */
static int other_name(const struct second_names *n, const struct dataflow_state *s, const struct symbol *me,
                      uint64_t marks)
{
    for (int i = 0; i < me->exchange->count; i++) {
        const int other = number_of(n, me->exchange->names[i]);
        if (me->exchange->names[i] == me || other < 0 || n->names[other].is_over) continue;
        if (marks_of(s)[other] & marks) return other;
    }
    return -1;
}

/* A mark from an earlier iteration that one name alone has says nothing. */
static void clear_mark(const struct second_names *n, struct dataflow_state *s, const struct symbol *let, uint64_t mark)
{
    const int first = other_name(n, s, let, mark);
    if (first < 0) return;
    if (other_name(n, s, n->f->tensors[first]->symbol, mark) < 0) marks_of(s)[first] &= ~mark;
}

static void move(struct second_names *n, const struct dataflow_state *s, const struct ir_use *use)
{
    const int me = use->tensor->number;
    const struct symbol *t = use->tensor->symbol;
    const int other = marks_of(s)[me] ? other_name(n, s, t, marks_of(s)[me]) : -1;
    if (other < 0 || !n->reports) return;
    const struct ast *given = n->names[other].given ? n->names[other].given : n->names[me].given;
    diag_error(n->c->diag, DIAG_E11, use->at->at, "'%s' may have a second name and cannot be moved into a function",
               t->name);
    diag_note(n->c->diag, given ? given->at : n->f->tensors[other]->symbol->decl->name_at,
              "the second name is given here: '%s'", n->f->tensors[other]->symbol->name);
}

static void give(struct second_names *n, struct dataflow_state *s, const struct ir_use *use)
{
    const struct symbol *to = use->tensor->symbol, *from = use->from->symbol;
    const int from_number = use->from->number;
    uint64_t *const m = marks_of(s), *const mine = &m[use->tensor->number];
    n->names[use->tensor->number] = (struct name){.given = from->next_of ? NULL : use->at};
    if (use->kind == IR_USE_KEEP) {
        const uint64_t mark = mark_of(to);
        n->names[from_number].is_over = false;
        *mine = 0;
        clear_mark(n, s, to, mark);
        *mine = m[from_number] |= mark;
    } else {
        *mine = from->next_of ? 0 : m[from_number];
        m[from_number] = 0;
    }
}

static void step(struct dataflow *d, struct dataflow_state *s, const struct ir_op *op)
{
    struct second_names *n = d->cx;
    const struct ir_use *use = op->kind == IR_USE ? &op->use : NULL;
    if (!use || !use->tensor || use->tensor->number < 0 || !use->tensor->symbol->exchange) return;
    const int i = use->tensor->number;
    if (use->kind == IR_USE_BEGIN || use->kind == IR_USE_END) n->names[i].is_over = use->kind == IR_USE_END;
    if (s->is_dead) return;
    switch (use->kind) {
    case IR_USE_TAKE:
    case IR_USE_KEEP:
        if (use->from->number >= 0) give(n, s, use);
        break;
    case IR_USE_MOVE:
        if (!d->is_silent) move(n, s, use);
        if (!use->region) marks_of(s)[i] = 0;
        break;
    case IR_USE_DROP:
        if (!use->region) marks_of(s)[i] = 0;
        break;
    case IR_USE_BEGIN:
    case IR_USE_END: marks_of(s)[i] = 0; break;
    default: break;
    }
}

static bool add_marks(const struct second_names *n, uint64_t *into, const uint64_t *from)
{
    bool has_grown = false;
    for (int i = 0; i < n->f->tensor_count; i++) {
        has_grown |= (from[i] & ~into[i]) != 0;
        into[i] |= from[i];
    }
    return has_grown;
}

static void meet(struct dataflow *d, struct dataflow_state *into, const struct dataflow_state *other)
{
    add_marks(d->cx, marks_of(into), marks_of(other));
}

/* ---- loops ---- */

static uint64_t *head_of(struct second_names *n, const struct ir_op *loop)
{
    uint64_t *head = ptrmap_get(&n->heads, loop);
    if (head) return head;
    head = arena_array(n->f->mem, uint64_t, n->f->tensor_count);
    ptrmap_set(&n->heads, loop, head);
    return head;
}

static void begin_iteration(struct dataflow *d, struct dataflow_state *s, const struct ir_op *loop)
{
    struct second_names *n = d->cx;
    uint64_t *const head = head_of(n, loop);
    add_marks(n, head, marks_of(s));
    memcpy(marks_of(s), head, d->client->bytes);
}

static void next_iteration(struct dataflow *d, struct dataflow_state *s, const struct ir_op *loop)
{
    struct second_names *n = d->cx;
    if (!s->is_dead) n->has_grown |= add_marks(n, head_of(n, loop), marks_of(s));
}

/* ---- a function ---- */

static void walk(const struct dataflow_client *client, struct second_names *n)
{
    struct dataflow_state s = dataflow_start(client);
    n->has_grown = false;
    dataflow_run(client, n, n->f, &s);
    dataflow_free(&s);
}

static void look_at_use(void *cx, struct ir_op *op)
{
    struct second_names *n = cx;
    if (op->kind != IR_USE || !op->use.tensor || !op->use.tensor->symbol->exchange) return;
    n->has_names |= op->use.kind == IR_USE_KEEP;
    n->has_moves |= op->use.kind == IR_USE_MOVE;
}

void pass_second_names(struct checker *c, struct ir_function *f)
{
    const struct dataflow_client client = {.bytes = sizeof(uint64_t) * (size_t)f->tensor_count,
                                           .step = step,
                                           .meet = meet,
                                           .begin_iteration = begin_iteration,
                                           .next_iteration = next_iteration};
    struct second_names n = {.c = c, .f = f};
    ir_each(f->body, look_at_use, &n);
    if (!n.has_names || !n.has_moves) return;
    n.names = arena_array(f->mem, struct name, f->tensor_count);
    do walk(&client, &n);
    while (n.has_grown);
    n.reports = true;
    walk(&client, &n);
    ptrmap_free(&n.heads);
}
