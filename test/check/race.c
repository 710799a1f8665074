/* race.c - plain accesses: the compiler calls these functions at each, and two that are not ordered by happens-before
 * are a fault.
 *
 * Idea       -fsanitize=thread puts the calls in, and this file is linked in place of the sanitizer.  A cell of four
 *            bytes knows who wrote it last and who has read it since, each with the time on the clock of that fiber; an
 *            access compares these with its own view. */
#include "explore.h"
#include "memory_model.h"
#include <stdlib.h>
#include <string.h>

enum { CELL_BITS = 18, CELLS = 1 << CELL_BITS };

struct cell {
    uintptr_t at; /* address / 4 */
    uint32_t execution;
    uint8_t writer, has_writer;
    uint32_t written, read[MAX_FIBERS];
    const void *write_pc, *read_pc[MAX_FIBERS];
};

static struct cell cells[CELLS];
static uint32_t execution;
static uintptr_t used; /* cells of this execution */

void race_reset(void) { execution++, used = 0; }

static struct cell *find_cell(uintptr_t at)
{
    for (uintptr_t i = at * 0x9e3779b97f4a7c15u >> (64 - CELL_BITS);; i = (i + 1) % CELLS) {
        struct cell *c = &cells[i];
        if (c->execution != execution) {
            if (++used == CELLS) check_fail("an execution accesses more memory than race.c has cells");
            *c = (struct cell){.at = at, .execution = execution};
            return c;
        }
        if (c->at == at) return c;
    }
}

static void fail(const char *what, const void *pc, int other, const char *did, const void *other_pc)
{
    check_fail("race: %s %s what %s %s, and nothing orders the two\n  @%p and @%p", check_me->name, what,
               check_fibers[other].name, did, pc, other_pc);
}

static void access_cell(uintptr_t at, bool writes, const void *pc)
{
    struct cell *c = find_cell(at);
    const int own = check_me->number;
    const uint32_t *clock = check_me->view.clock;
    if (c->has_writer && c->writer != own && c->written > clock[c->writer])
        fail(writes ? "writes" : "reads", pc, c->writer, "wrote", c->write_pc);
    if (!writes) {
        c->read[own] = clock[own];
        c->read_pc[own] = pc;
        return;
    }
    for (int i = 0; i < check_fiber_count; i++)
        if (i != own && c->read[i] > clock[i]) fail("writes", pc, i, "read", c->read_pc[i]);
    c->has_writer = true;
    c->writer = (uint8_t)own;
    c->written = clock[own];
    c->write_pc = pc;
}

static void access_range(const volatile void *p, unsigned long size, bool writes, const void *pc)
{
    if (!check_me || model_is_alone() || size == 0 || fiber_is_local(p)) return;
    const uintptr_t from = (uintptr_t)p / 4, to = ((uintptr_t)p + size - 1) / 4;
    for (uintptr_t at = from; at <= to; at++) access_cell(at, writes, pc);
}

#define PC __builtin_return_address(0)
#define HOOK(size)                                                                                                     \
    void __tsan_read##size(void *p) { access_range(p, size, false, PC); }                                              \
    void __tsan_write##size(void *p) { access_range(p, size, true, PC); }                                              \
    void __tsan_volatile_read##size(void *p) { access_range(p, size, false, PC); }                                     \
    void __tsan_volatile_write##size(void *p) { access_range(p, size, true, PC); }
#define HOOK_UNALIGNED(size)                                                                                           \
    void __tsan_unaligned_read##size(void *p) { access_range(p, size, false, PC); }                                    \
    void __tsan_unaligned_write##size(void *p) { access_range(p, size, true, PC); }
HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)
HOOK_UNALIGNED(2)
HOOK_UNALIGNED(4) HOOK_UNALIGNED(8) HOOK_UNALIGNED(16) void __tsan_read_range(void *p, unsigned long size)
{
    access_range(p, size, false, PC);
}
void __tsan_write_range(void *p, unsigned long size) { access_range(p, size, true, PC); }
void __tsan_init(void) {}
void __tsan_func_entry(void *pc) { (void)pc; }
void __tsan_func_exit(void) {}

/* No case recurses: the runtime's own stack is not entered. */
void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    abort();
}
void *__tsan_get_current_fiber(void) { abort(); }
void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
    (void)fiber, (void)flags;
    abort();
}
void __tsan_destroy_fiber(void *fiber)
{
    (void)fiber;
    abort();
}

/* The one atomic access that is not in atomics.h, as the caller's program has it: fast_path.h [RUN_STATUS].  Any other
 * does not link. */
int __tsan_atomic32_load(const volatile int *word, int order)
{
    (void)order;
    return (int)check_load(word, sizeof *word, CHECK_SITE("*closed", CHECK_RUN_STATUS, CHECK_ACQUIRE));
}

/* memcpy and so on of the instrumented files, which are compiled with these names. */
void *check_memcpy(void *to, const void *from, size_t size)
{
    access_range(from, size, false, PC);
    access_range(to, size, true, PC);
    return memcpy(to, from, size);
}
void *check_memmove(void *to, const void *from, size_t size)
{
    access_range(from, size, false, PC);
    access_range(to, size, true, PC);
    return memmove(to, from, size);
}
void *check_memset(void *to, int c, size_t size)
{
    access_range(to, size, true, PC);
    return memset(to, c, size);
}

/* New memory: who had it before is forgotten, as malloc orders the two. */
static void *forget(void *p, size_t size)
{
    if (!p || !check_me || model_is_alone()) return p;
    for (uintptr_t at = (uintptr_t)p / 4; at < ((uintptr_t)p + size) / 4; at++)
        *find_cell(at) = (struct cell){.at = at, .execution = execution};
    return p;
}
/* Large blocks are one thread's, at the beginning of a run; but for those of a checked run, which are aligned. */
enum { LARGE = 1 << 15 };
void *check_malloc(size_t size) { return forget(malloc(size), size < LARGE ? size : 0); }
void *check_calloc(size_t count, size_t size)
{
    return forget(calloc(count, size), count * size < LARGE ? count * size : 0);
}
void *check_realloc(void *memory, size_t size) { return forget(realloc(memory, size), size < LARGE ? size : 0); }
void *check_aligned_alloc(size_t alignment, size_t size) { return forget(aligned_alloc(alignment, size), size); }
