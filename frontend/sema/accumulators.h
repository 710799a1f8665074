/* accumulators.h - the operations behind `by`: how the parts of an accumulator combine. */
#ifndef PTOC_ACCUMULATORS_H
#define PTOC_ACCUMULATORS_H

enum by_operation {
    BY_NONE,
#define PTO_BY_OPERATION(id, name, is_bitwise) BY_##id,
#include <pto/by.def>
    BY_COUNT
};

const char *accumulators_word(enum by_operation by); /* "max" */
const char *accumulators_id(enum by_operation by);   /* "MAX", of the constant in C */

#endif
