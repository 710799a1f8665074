/* memory_plan.h - how memory is to be planned, and whether tasks are joined: --plan. */
#ifndef PTOC_MEMORY_PLAN_H
#define PTOC_MEMORY_PLAN_H
#include <stdbool.h>
#include <stdint.h>

enum plan_kind {
    /* frames whose slots are used again where nothing waits for that; what was asked for where nothing was */
    PLAN_FREE,
    PLAN_RING,  /* no frames */
    PLAN_MIN,   /* the smallest frames, whoever has to wait */
    PLAN_BUDGET /* slots that have to be waited for, where a frame would be larger than `budget` */
};

struct memory_plan {
    enum plan_kind kind;
    int64_t budget;
    bool is_apart; /* tasks are not joined */
};

#endif
