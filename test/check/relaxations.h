/* relaxations.h - every order of every label is needed: relaxed by one step, a case finds a fault.
 *
 * Idea       the test of the tests: relaxations.def names for each label, and for each order that its accesses have,
 *            the case.  A child process runs it with that order relaxed, and must end with a fault.  A label without
 *            its line is a fault too. */
#ifndef CHECK_RELAXATIONS_H
#define CHECK_RELAXATIONS_H
#include "explore.h"

/* The exit status: 0, each was found.  find: a case by its name. */
int relaxations_run(const struct check_case *(*find)(const char *name), uint64_t seed);

#endif
