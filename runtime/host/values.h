/* values.h - numbers and names as the command line has them.
 * Owner      nobody: plain functions.
 * Tests      test/runtime/test_options.c
 */
#ifndef PTO_HOST_VALUES_H
#define PTO_HOST_VALUES_H
#include "fail.h"
#include <pto/pto_runtime.h>

/* The text must be used up; false says nothing about why, except *fits: it is a number, but not one of this
 * type. */
bool ptoi_parse_i64(const char *text, int64_t *value, bool *fits);
bool ptoi_parse_size(const char *text, int64_t *value, bool *fits); /* with K, M or G behind it, or without */
/* single: as a float, and not a double. */
bool ptoi_parse_float(const char *text, bool single, double *value, bool *fits);
/* type: PTO_I64, PTO_F64, PTO_F32 or PTO_BOOL, which is what the language's scalars are. */
int ptoi_parse_scalar(const char *what, const char *text, PTOType type, PTOScalar *value, struct host_error *e);

/* "a, b, c" of as many as fit, or "none". */
const char *ptoi_join_names(const char *const *names, int count, char *text, size_t size);

/* The one of `names` that `length` characters of text are most likely meant to be, or NULL. */
const char *ptoi_nearest_name(const char *text, int length, const char *const *names, int count);
/* What a message can offer for a name that is none: "; did you mean 'x'?", "; there is: x, y".  Names that
 * end in a point and this name go before all others.  Reorders `names`. */
const char *ptoi_name_advice(const char *name, int length, const char **names, int count, char *text, size_t size);
#endif
