/* fast_path.c - see fast_path.h. */
#include "fast_path.h"
#include <string.h>

enum { NEVER = -1 };
#ifdef PTO_TINY
enum { SHORT_NS = 2000, SAMPLE = 3 };
#else
enum { SHORT_NS = 2000, SAMPLE = 16 };
#endif

const int ptoi_fast_closed = 1;

void ptoi_fast_init(struct fast_path *s, PTOFastPath *open)
{
    *s = (struct fast_path){.open = open};
    open->closed = &ptoi_fast_closed;
}

/* The word that threads swap is one that a caller reads as [RUN_STATUS] does: with an acquire load of an int. */
_Static_assert(sizeof(_Atomic int) == sizeof(int), "an atomic int is an int");

void ptoi_fast_open(struct fast_path *s, const _Atomic int *status) { s->open->closed = (const int *)status; }

void ptoi_fast_close(struct fast_path *s)
{
    s->open->closed = &ptoi_fast_closed;
    s->open->running = NULL;
}

static void count_line(struct fast_path *s, int i)
{
    const PTOKernelLine *l = &s->open->line[i];
    if (!l->kernel) return;
    const int64_t calls = s->line[i].given - l->left;
    s->tasks[l->kernel->worker] += calls;
    s->busy_ns[l->kernel->worker] += calls * s->line[i].last_ns;
    s->line[i].given = l->left;
}

void ptoi_fast_count(struct fast_path *s)
{
    for (int i = 0; i < PTO_FAST_LINES; i++) count_line(s, i);
}

void ptoi_fast_begin(struct fast_path *s)
{
    memset(s->tasks, 0, sizeof s->tasks);
    memset(s->busy_ns, 0, sizeof s->busy_ns);
}

void ptoi_fast_end(struct fast_path *s)
{
    ptoi_fast_count(s);
    memset(s->open->line, 0, sizeof s->open->line);
}

bool ptoi_fast_is_due(struct fast_path *s, const PTOKernel *kernel)
{
    PTOKernelLine *l = &s->open->line[pto_kernel_line_(kernel)];
    if (l->kernel != kernel || l->left <= 0) return true;
    l->left--;
    return false;
}

void ptoi_fast_measured(struct fast_path *s, const PTOKernel *kernel, int64_t ns, bool is_fine)
{
    const int i = (int)pto_kernel_line_(kernel);
    count_line(s, i);
    s->line[i].given = is_fine && ns < SHORT_NS ? SAMPLE - 1 : NEVER;
    s->line[i].last_ns = ns;
    s->open->line[i] = (PTOKernelLine){.kernel = kernel, .left = s->line[i].given};
    s->tasks[kernel->worker]++;
    s->busy_ns[kernel->worker] += ns;
}

void ptoi_fast_ask(struct fast_path *s, bool (*is_fine)(void *context, const PTOKernel *kernel), void *context)
{
    for (int i = 0; i < PTO_FAST_LINES; i++) {
        PTOKernelLine *l = &s->open->line[i];
        if (!l->kernel || l->left == NEVER || is_fine(context, l->kernel)) continue;
        count_line(s, i);
        l->left = s->line[i].given = NEVER;
    }
}
