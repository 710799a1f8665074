/* facts.h - the known facts about integers at one place of a function, and proofs from them. */
#ifndef PTOC_FACTS_H
#define PTOC_FACTS_H
#include "syntax/ast.h"
#include "size.h"

struct facts;

struct facts *facts_create(struct arena *mem, struct size_table *sizes);
/* Facts come and go with blocks: reset forgets all that was added since mark. */
size_t facts_mark(const struct facts *f);
void facts_reset(struct facts *f, size_t mark);
void facts_add(struct facts *f, const struct size *a); /* a >= 0; NULL is ignored */
void facts_add_order(struct facts *f, const struct size *a, const struct size *b, int64_t gap); /* a + gap <= b */
void facts_add_equal(struct facts *f, const struct size *a, const struct size *b);
void facts_add_unequal(struct facts *f, const struct size *a, const struct size *b);
void facts_add_condition(struct facts *f, const struct ast *cond, bool truth);
/* var is assigned: what is known is about `old`, the name of the value that it had. */
void facts_forget(struct facts *f, const struct symbol *var, const struct symbol *old);

bool facts_prove(struct facts *f, const struct size *a);                                          /* a >= 0 */
bool facts_prove_order(struct facts *f, const struct size *a, const struct size *b, int64_t gap); /* a + gap <= b */
bool facts_prove_equal(struct facts *f, const struct size *a, const struct size *b);
bool facts_prove_apart(struct facts *f, const struct size *a, const struct size *b); /* a != b */
/* Was a question left open, since this was last asked, because too many were asked before it?  Then "not proved" means
 * even less. */
bool facts_gave_up(struct facts *f);
/* Do the facts contradict each other, as far as is seen?  Then the run does not come here. */
bool facts_contradict(struct facts *f);
/* Values in place of symbols, while a condition is looked at. */
struct facts_values {
    const struct symbol *const *from;
    const struct size *const *to;
    int count;
};
/* The same as facts_add_condition, of a condition over other names. */
void facts_add_condition_of(struct facts *f, const struct ast *cond, bool truth, const struct facts_values *values);
void facts_add_apart(struct facts *f, const struct size *a, const struct size *b); /* a != b */
struct size_table *facts_sizes(const struct facts *f);
/* Something that is known not to be 0, the newest first; NULL: no more. */
const struct size *facts_not_zero(const struct facts *f, int n);
/* Something that is known to be 0, among the newest facts, the newest first; NULL: no more. */
const struct size *facts_zero(const struct facts *f, int n);
/* 1: always true here, 0: always false here, -1: not known.  values: NULL for none. */
int facts_decide(struct facts *f, const struct ast *cond, const struct facts_values *values);

#endif
