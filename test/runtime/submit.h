/* submit.h - pto_submit_task with the parameters as arguments:  SUBMIT(rt, &kernel, PTO_INPUT(a, 0, 64), PTO_OUTPUT(&p, 0, 64)); */
#ifndef PTO_TEST_SUBMIT_H
#define PTO_TEST_SUBMIT_H
#include <pto/pto_runtime.h>

#define SUBMIT(rt, kernel, ...)                                                                                        \
    pto_submit_task(rt, kernel, (PTOTaskParam[]){__VA_ARGS__},                                                         \
                    (int32_t)(sizeof((PTOTaskParam[]){__VA_ARGS__}) / sizeof(PTOTaskParam)))

#endif
