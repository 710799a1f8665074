/* forms.h - sizes as sums over index variables. */
#ifndef PTOC_EQUATION_FORMS_H
#define PTOC_EQUATION_FORMS_H
#include "equations.h"

/* a = factor * v + rest, where neither names v; false: v is inside of something else.  factor is 0 where a does not
 * name v. */
bool eq_split(struct size_table *sizes, const struct size *a, const struct eq_var *v, const struct size **factor,
              const struct size **rest);
bool eq_names_vars(const struct size *a, const struct eq_var *const *vars, int count);

#endif
