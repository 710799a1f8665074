/* stack.c - see stack.h. */
#include "stack.h"
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_KEPT_FREE = 256 << 10, LEAST_KEPT_FREE = 32 << 10, SMALL = 128 << 10, FIRST_THREAD = 8 << 20 };

struct area {
    uintptr_t low, high; /* 0: not looked up, or unknown */
    /* Where the stack was at the first look.  Above it lie the callers, and, but in the first thread, the thread-local
     * variables of all libraries: 60 KiB of them where OpenBLAS is linked. */
    uintptr_t used_to;
    bool is_first;
};

static struct area look_up(void)
{
    struct area a = {.is_first = syscall(SYS_gettid) == getpid()};
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return a;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) a.low = (uintptr_t)low, a.high = a.low + bytes;
    a.used_to = (uintptr_t)&attributes;
    pthread_attr_destroy(&attributes);
    return a;
}

static uint64_t first_thread_bytes(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= (rlim_t)1 << 40)
        return FIRST_THREAD;
    return limit.rlim_cur;
}

struct stack_bounds ptoi_stack_bounds(void)
{
    static _Thread_local struct area area;
    const char here = 0;
    if (area.high == 0) area = look_up();
    struct stack_bounds b = {.kind = area.is_first ? STACK_OF_THE_FIRST_THREAD : STACK_OF_A_THREAD,
                             .bytes = area.is_first ? first_thread_bytes() : area.high - area.low};
    const uintptr_t at = (uintptr_t)&here;
    /* a stack of the program's own */
    if (at >= area.high || b.bytes >= area.high || at < area.high - b.bytes) return (struct stack_bounds){0};
    const uintptr_t low = area.high - b.bytes, half = area.used_to > low ? (area.used_to - low) / 2 : 0;
    b.lowest = low + (half < LEAST_KEPT_FREE ? LEAST_KEPT_FREE : half < MOST_KEPT_FREE ? half : MOST_KEPT_FREE);
    b.is_small = at - low < SMALL;
    return b;
}
