/* engines.h - each engine whose workers are real, and a runtime that has to come about. */
#ifndef PTO_TEST_ENGINES_H
#define PTO_TEST_ENGINES_H
#include "unit.h"
#include <pto/pto_runtime.h>

static const PTOEngine engines[] = {PTO_ENGINE_SERIAL, PTO_ENGINE_THREADS, PTO_ENGINE_PROCESS};
#define EACH_ENGINE(c) for (size_t e_ = 0; e_ < 3 && ((c).engine = engines[e_], 1); e_++)

static inline PTORuntime *create(const PTOConfig *c)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(c, &status);
    if (!rt) fprintf(stderr, "%s\n", pto_last_error(NULL));
    assert_non_null(rt);
    assert_int_equal(status, PTO_OK);
    return rt;
}

#endif
