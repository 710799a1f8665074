/* fiber.c - see fiber.h.  A stack is entered once by ucontext; after that setjmp and longjmp switch, without a call of
 * the system. */
#include "fiber.h"
#include "explore.h"
#include "memory_model.h"
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 512 * 1024 };

struct check_fiber check_fibers[MAX_FIBERS];
int check_fiber_count;
struct check_fiber *check_me;

static jmp_buf outside;
static struct check_fiber *entered;

static void enter(void)
{
    struct check_fiber *f = entered;
    f->body(f->arg);
    f->has_ended = true;
    f->next = (struct op){.kind = OP_END, .location = -1};
    model_ended(f);
    struct check_fiber *next = explore_next();
    if (!next) _longjmp(outside, 1); /* all have ended */
    fiber_switch(next);
    abort();
}

static void begin(struct check_fiber *f)
{
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = NULL;
    makecontext(&context, enter, 0);
    entered = f;
    setcontext(&context);
}

/* ---- thread-local variables of the program: a fiber has its own, which lie in the thread's place while it runs --- */

static struct {
    char *at;
    const char *first; /* what a new thread finds there */
    size_t bytes, first_bytes;
} local;

static int find_local(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_TLS) continue;
        local.at = info->dlpi_tls_data;
        local.first = (const char *)(uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); /* NOLINT */
        local.bytes = info->dlpi_phdr[i].p_memsz;
        local.first_bytes = info->dlpi_phdr[i].p_filesz;
    }
    return 1; /* the program itself comes first; others keep theirs */
}

static void init_local(struct check_fiber *f)
{
    if (!local.at) dl_iterate_phdr(find_local, NULL);
    if (!f->local) f->local = malloc(local.bytes + 1);
    memcpy(f->local, local.first, local.first_bytes);
    memset(f->local + local.first_bytes, 0, local.bytes - local.first_bytes);
}

bool fiber_is_local(const volatile void *p) { return (uintptr_t)p - (uintptr_t)local.at < local.bytes; }

void fiber_switch(struct check_fiber *to)
{
    if (to == check_me) return;
    struct check_fiber *from = check_me;
    memcpy(from->local, local.at, local.bytes);
    memcpy(local.at, to->local, local.bytes);
    check_me = to;
    if (_setjmp(from->at)) return;
    if (to->has_begun) _longjmp(to->at, 1);
    to->has_begun = true;
    begin(to);
}

struct check_fiber *fiber_start(const char *name, void *(*body)(void *), void *arg)
{
    if (check_fiber_count == MAX_FIBERS) check_fail("more than %d threads", MAX_FIBERS);
    struct check_fiber *f = &check_fibers[check_fiber_count];
    if (!f->stack)
        f->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    init_local(f);
    f->number = check_fiber_count++;
    f->name = name;
    f->body = body;
    f->arg = arg;
    f->has_begun = f->has_ended = f->is_woken = false;
    f->sleeps_on = NULL;
    f->changes = 0;
    f->looked = UINT32_MAX;
    f->next = (struct op){.kind = OP_BEGIN, .location = -1};
    model_started(f, check_me);
    return f;
}

static void (*first_body)(void);

static void *run_first(void *arg)
{
    (void)arg;
    first_body();
    return NULL;
}

void fiber_run_all(void (*body)(void))
{
    check_fiber_count = 0;
    check_me = NULL;
    first_body = body;
    struct check_fiber *first = fiber_start("main", run_first, NULL);
    check_me = first;
    memcpy(local.at, first->local, local.bytes);
    if (_setjmp(outside)) return;
    first->has_begun = true;
    begin(first);
}

bool fiber_is_enabled(const struct check_fiber *f)
{
    if (f->has_ended) return false;
    switch (f->next.kind) {
    case OP_LOCK: return ((ptoi_lock *)f->next.object)->owner == NULL;
    case OP_RESUME: return f->is_woken;
    case OP_YIELD: return model_changes(f) != f->looked;
    case OP_JOIN: return ((struct check_fiber *)f->next.object)->has_ended;
    default: return true;
    }
}

void check_name(const char *name) { check_me->name = name; }
