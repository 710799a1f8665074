/* park.c - see park.h. */
#include "park.h"
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `value`; false: the time was over.  May come back for nothing. */
static bool sleep_on(_Atomic uint32_t *word, uint32_t value, int64_t ns, int scope)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    const struct timespec *limit = ns == PTO_FOR_EVER ? NULL : &time;
    return syscall(SYS_futex, word, FUTEX_WAIT | scope, value, limit, NULL, 0) == 0 || errno != ETIMEDOUT;
}

static void wake_on(_Atomic uint32_t *word, int scope) { syscall(SYS_futex, word, FUTEX_WAKE | scope, 1, NULL, NULL, 0); }

void ptoi_park_init(struct parker *p)
{
    store_relaxed(&p->woken, 0); /* relaxed: nobody else knows it yet */
    store_relaxed(&p->sleeping, 0);
}

void ptoi_park_wait(struct parker *p, int64_t ns)
{
    while (swap_acq_rel(&p->woken, 0) == 0)
        if (!sleep_on(&p->woken, 0, ns, FUTEX_PRIVATE_FLAG)) break;
    ptoi_park_cancel(p);
}

void ptoi_park_wake(struct parker *p)
{
    if (swap_acq_rel(&p->woken, 1) == 0) wake_on(&p->woken, FUTEX_PRIVATE_FLAG);
}

void ptoi_bell_wake(struct bell *b)
{
    if (load_seq(&b->sleeping)) wake_on(&b->rung, 0); /* [BELL] */
}

void ptoi_bell_wait(struct bell *b, uint32_t heard, int64_t ns)
{
    store_seq(&b->sleeping, 1); /* [BELL] */
    PTO_LABEL(BELL);
    if (load_seq(&b->rung) == heard) sleep_on(&b->rung, heard, ns, 0);
    store_relaxed(&b->sleeping, 0); /* relaxed: a wake too many is harmless */
}
