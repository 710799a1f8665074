/* compare.h - is this array what the oracle made? */
#ifndef PTO_HOST_COMPARE_H
#define PTO_HOST_COMPARE_H
#include "array.h"

/* Same type and shape.  True when they are the same byte for byte; else text says what the first differing element is:
 * "C[0, 3, 17] is 1.5, the serial engine made 1.25". */
bool ptoi_compare(const char *name, const struct host_array *made, const struct host_array *oracle, char *text,
                  size_t size);
#endif
