/* own_stack.c - see own_stack.h. */
#include "own_stack.h"
#include "shared/sanitizer.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>
#if PTOI_HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#if PTOI_HAS_TSAN
#include <sanitizer/tsan_interface.h>
#endif

static const uint64_t LEAST = 16 << 20, KEPT = 256 << 10;
enum { SHARE = 8 };

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static uint64_t wanted_bytes(uint64_t page)
{
    const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
    struct rlimit limit;
    uint64_t bytes = all / SHARE;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / SHARE < bytes)
        bytes = limit.rlim_cur / SHARE;
    return (bytes > LEAST ? bytes : LEAST) / page * page;
}

bool ptoi_own_stack_open(struct own_stack *s)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (s->memory) return true;
    for (uint64_t bytes = wanted_bytes(page); bytes >= LEAST; bytes = bytes / 2 / page * page) {
        char *memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED) continue;
        if (mprotect(memory, page, PROT_NONE) == 0) {
            *s = (struct own_stack){.memory = memory, .bytes = bytes};
            return true;
        }
        munmap(memory, bytes);
    }
    return false;
}

void ptoi_own_stack_close(struct own_stack *s)
{
    if (s->memory) munmap(s->memory, s->bytes);
#if PTOI_HAS_TSAN
    if (s->fiber) __tsan_destroy_fiber(s->fiber);
#endif
    *s = (struct own_stack){0};
}

void ptoi_own_stack_trim(const struct own_stack *s)
{
    if (s->memory) madvise(s->memory, s->bytes - KEPT, MADV_DONTNEED);
}

struct stack_bounds ptoi_own_stack_bounds(const struct own_stack *s)
{
    return (struct stack_bounds){
        .lowest = (uintptr_t)s->memory + KEPT, .bytes = s->bytes, .kind = STACK_OF_THE_RUNTIME};
}

/* ---- switching --------------------------------------------------------------------------------------------------- */

/* ThreadSanitizer keeps a list of open functions for each stack: those that are entered on one and left on the other
 * are not for it. */
#if PTOI_HAS_TSAN
#define SWITCHES __attribute__((no_sanitize_thread))
#else
#define SWITCHES
#endif
#define PART_OF_SWITCH SWITCHES __attribute__((always_inline)) static inline void

/* One call. */
struct call {
    struct own_stack *stack;
    void (*fn)(void *arg);
    void *arg;
    ucontext_t here, there;
    /* AddressSanitizer: the stack that called, and its frames that outlive their functions */
    const void *callers_stack;
    size_t callers_bytes;
    void *callers_frames;
    void *callers_fiber;
    bool has_returned;
};

PART_OF_SWITCH leave_caller(struct call *c)
{
#if PTOI_HAS_ASAN
    __sanitizer_start_switch_fiber(&c->callers_frames, c->stack->memory, c->stack->bytes);
#endif
#if PTOI_HAS_TSAN
    if (!c->stack->fiber) c->stack->fiber = __tsan_create_fiber(0);
    c->callers_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(c->stack->fiber, 0);
#endif
    (void)c;
}

PART_OF_SWITCH arrive_on_own(struct call *c)
{
#if PTOI_HAS_ASAN
    __sanitizer_finish_switch_fiber(NULL, &c->callers_stack, &c->callers_bytes);
#endif
    (void)c;
}

PART_OF_SWITCH leave_own(struct call *c)
{
#if PTOI_HAS_ASAN
    __sanitizer_start_switch_fiber(NULL, c->callers_stack, c->callers_bytes);
#endif
#if PTOI_HAS_TSAN
    __tsan_switch_to_fiber(c->callers_fiber, 0);
#endif
    (void)c;
}

PART_OF_SWITCH arrive_at_caller(struct call *c)
{
#if PTOI_HAS_ASAN
    __sanitizer_finish_switch_fiber(c->callers_frames, NULL, NULL);
#endif
    (void)c;
}

/* makecontext passes ints: two halves of a pointer. */
SWITCHES static void enter(unsigned high, unsigned low)
{
    struct call *c = (struct call *)(((uintptr_t)high << 16 << 16) | low); /* NOLINT */
    arrive_on_own(c);
    c->fn(c->arg);
    c->has_returned = true;
    leave_own(c);
    setcontext(&c->here);
}

SWITCHES void ptoi_own_stack_call(struct own_stack *s, void (*fn)(void *arg), void *arg)
{
    struct call c = {.stack = s, .fn = fn, .arg = arg};
    const uintptr_t address = (uintptr_t)&c;
    getcontext(&c.there);
    c.there.uc_stack.ss_sp = s->memory;
    c.there.uc_stack.ss_size = s->bytes;
    c.there.uc_link = NULL;
    makecontext(&c.there, (void (*)(void))enter, 2, (unsigned)(address >> 16 >> 16), (unsigned)address);
    /* Not swapcontext, at which AddressSanitizer prints a warning.  getcontext returns here twice. */
    getcontext(&c.here);
    if (!c.has_returned) {
        leave_caller(&c);
        setcontext(&c.there);
    }
    arrive_at_caller(&c);
}
