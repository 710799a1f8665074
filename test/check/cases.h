/* cases.h - what a file of cases needs. */
#ifndef CHECK_CASES_H
#define CHECK_CASES_H
#include "explore.h"
#include "scheduled.h"

#define CASE(name) extern const struct check_case check_case_##name;
#include "cases.def"
#undef CASE

#endif
