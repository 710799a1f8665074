/* strips.h - what the files of the pass `strips` ask of each other; no other file includes it.
 *
 *   strips.c         loops, their calls and tensors
 *   strips_steps.c   how values change from one iteration to the next */
#ifndef PTOC_STRIPS_H
#define PTOC_STRIPS_H
#include "ir/ir.h"
#include "plan.h"

enum { LETS = 8, ROOMS = 4 };

/* An integer or a real that the body computes. */
struct strip_let {
    const struct ir_op *op;
    struct ir_value *step; /* NULL: not the same from each iteration to the next */
    bool depends;          /* it is not the same in all iterations that are offered */
};

struct strips {
    struct plan *plan;
    const struct symbol *variable; /* of the loop that is looked at */
    int64_t by;                    /* which it grows by */
    struct strip_let let[LETS];
    struct ir_strip_room room[ROOMS];
    int lets, rooms;
};

/* Evaluated before the loop it is what it would be in the loop: it looks at no memory, and cannot fail. */
bool value_is_plain(const struct ir_value *v);
/* The same, and it is the same in all iterations that are offered: `min(T, N - i)` is, as the offer ends before it is
 * less than T. */
bool value_is_invariant(struct strips *s, const struct ir_value *v);
/* From one iteration to the next, of a value that is plain; NULL: it is not the same for all. */
struct ir_value *step_of(struct strips *s, const struct ir_value *v);
/* The same of an integer of the program, of any size. */
struct ir_value *step_of_integer(struct strips *s, const struct ir_value *v);
/* Is the bool a comparison of an integer that has a step with an invariant one, where another invariant bool holds? */
bool test_of(struct strips *s, const struct ir_value *v, struct ir_strip_test *test);
/* Remembers a LET of the body.  false: it is none that can be evaluated when the offer is made. */
bool let_add(struct strips *s, const struct ir_op *op);

#endif
