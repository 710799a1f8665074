/* submit.h - the tests' short name of PTO_SUBMIT. */
#ifndef PTO_TEST_SUBMIT_H
#define PTO_TEST_SUBMIT_H
#include <pto/pto_runtime.h>

#define SUBMIT(...) PTO_SUBMIT(__VA_ARGS__)

#endif
