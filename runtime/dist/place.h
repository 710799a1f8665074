/* place.h - a task that is being submitted on several ranks, and the rank that executes it.
 *
 * Idea       the rules of docs/distributed.md, "Where a task runs": all ranks know the same of a task, so all compute
 *            the same rank.
 * Owner      the orchestrator.
 * Blocks     never.
 * Tests      test/wire/test_homes.c, test_placement.c */
#ifndef PTOI_PLACE_H
#define PTOI_PLACE_H
#include "dist.h"

/* What a task does with a tensor. */
struct use {
    struct tensor *tensor;
    struct box box;
    int64_t bytes; /* of the box */
    int32_t home;  /* of the cell in which it lies; NO_HOME: of several, or the tensor has none yet */
    bool reads, writes;
};

/* A new buffer of a task. */
struct output {
    int32_t index; /* of its parameter */
    int64_t bytes;
    struct distribution home;
    struct tensor *tensor; /* when it has an address */
};

/* A task that is being submitted. */
struct task {
    const PTOTaskParam *params;
    int32_t count;
    int32_t runs;                       /* the rank that executes it */
    int32_t uses, outputs, accumulator; /* the latter: of its first accumulator; -1: there is none */
    bool writes_some, writes_empty;
    PTOTaskParam priority; /* kind 0: it has none */
    PTOTaskParam at;       /* likewise */
    int32_t index;         /* of the parameter that is being read */
    struct use use[2 * PTO_MAX_PARAMS];
    struct output output[PTO_MAX_PARAMS];
};

/* params.c: fills what the parameters say of the task; it has no rank yet. */
PTOStatus ptoi_dist_read_params(struct dist *d, struct task *k, const PTOKernel *kernel, const PTOTaskParam *params,
                                int32_t count);
static inline const char *ptoi_dist_kernel_name(const PTOKernel *kernel)
{
    return kernel->symbol ? kernel->symbol : kernel->name;
}
/* The first of these that says anything: the program, the first accumulator, the first buffer that is written.
 * NO_HOME: none does. */
int32_t ptoi_place_by_result(const struct dist *d, const struct task *k);
/* The home of the largest buffer that is read and that not all ranks have, else by the number of the task. */
int32_t ptoi_place_by_reads(const struct dist *d, const struct task *k, int64_t number);

#endif
