/* hoist.h - run-time checks of indices that need not be made in every iteration of a loop. */
#ifndef PTOC_HOIST_H
#define PTOC_HOIST_H
#include "checker.h"

/* A `for` whose body is being checked. */
struct open_for {
    struct open_for *outer; /* NULL: the next loop around it is out of reach */
    const struct symbol *i;
    const struct size *low, *high;
    int direction; /* 1: up, -1: down, 0: not known */
    int64_t step;  /* 0: not known */
    struct ast *body;
    struct check **checks; /* those before the loop */
    bool ends_early;       /* a `break` or `return` may prevent the last iteration */
    int depth;             /* how many loops are around it */
    bool is_reached;       /* every iteration comes to where we are */
    bool is_open;          /* and nothing is printed that a failure now would suppress */
};

/* Before the body of a loop whose bounds are checked, with c->checks still those before the loop; behind the body. */
void hoist_enter(struct checker *c, struct open_for *t, const struct ast *loop, const struct size *low,
                 const struct size *high, const struct size *step);
void hoist_leave(struct checker *c, const struct open_for *t);
/* the statement is behind us: did it leave the iteration? */
void hoist_passed(struct checker *c, struct ast *statement);
/* 0 <= x < y, or 0 <= x <= y <= z.  OUTSIDE: it is wrong in an iteration that surely comes, which was reported;
 * MADE: before a loop. */
enum hoisted { HOIST_NOT, HOIST_MADE, HOIST_OUTSIDE };
enum hoisted hoist_check(struct checker *c, enum check_kind kind, struct span at, const struct size *x,
                         const struct size *y, const struct size *z);

#endif
