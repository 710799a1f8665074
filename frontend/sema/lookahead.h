/* lookahead.h - the effects of statements that are not checked yet. */
#ifndef PTOC_LOOKAHEAD_H
#define PTOC_LOOKAHEAD_H
#include "checker.h"

/* Where control goes from a statement, or from a list, other than to the next one. */
struct jumps {
    bool breaks, continues; /* of a loop around it */
    bool returns, asserts;
    int loops; /* lookahead.c's own */
};
struct jumps lookahead_jumps(struct ast *statement);
struct jumps lookahead_jumps_of_list(struct ast *list);

bool lookahead_ends(struct ast *s); /* control never comes out at the end of this statement */
/* Every return that can follow this let in its block returns it: it can live where the result goes. */
bool lookahead_is_returned(struct checker *c, const struct ast *let);
/* Calls visit for each target `name.field` of an assignment behind this let in its block that is given no call, but a
 * tensor or a scalar that exists. */
void lookahead_given_fields(const struct ast *let, void (*visit)(void *cx, const struct ast *target), void *cx);
bool lookahead_assigns(struct ast *list, const char *name);
bool lookahead_prints(const struct module *m, struct ast *list); /* here, or in a function that is called */

#endif
