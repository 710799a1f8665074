/* short_way.c - see short_way.h. */
#include "short_way.h"
#include <string.h>

enum { NEVER = -1 };
#ifdef PTO_TINY
enum { SHORT_NS = 2000, SAMPLE = 3 };
#else
enum { SHORT_NS = 2000, SAMPLE = 16 };
#endif

const int ptoi_short_closed = 1;

void ptoi_short_init(struct short_way *s, PTOShortWay *open)
{
    *s = (struct short_way){.open = open};
    open->closed = &ptoi_short_closed;
}

/* The word that threads swap is one that a caller reads as [RUN_STATUS] does: with an acquire load of an int. */
_Static_assert(sizeof(_Atomic int) == sizeof(int), "an atomic int is an int");

void ptoi_short_open(struct short_way *s, const _Atomic int *status) { s->open->closed = (const int *)status; }

void ptoi_short_close(struct short_way *s)
{
    s->open->closed = &ptoi_short_closed;
    s->open->running = NULL;
}

static void count_line(struct short_way *s, int i)
{
    const PTOKernelLine *l = &s->open->line[i];
    if (!l->kernel) return;
    const int64_t calls = s->line[i].given - l->left;
    s->tasks[l->kernel->worker] += calls;
    s->busy_ns[l->kernel->worker] += calls * s->line[i].last_ns;
    s->line[i].given = l->left;
}

void ptoi_short_count(struct short_way *s)
{
    for (int i = 0; i < PTO_SHORT_LINES; i++) count_line(s, i);
}

/* Kernels are the program's, and may be gone when the next run begins. */
void ptoi_short_begin(struct short_way *s)
{
    memset(s->open->line, 0, sizeof s->open->line);
    memset(s->tasks, 0, sizeof s->tasks);
    memset(s->busy_ns, 0, sizeof s->busy_ns);
}

bool ptoi_short_is_due(struct short_way *s, const PTOKernel *kernel)
{
    PTOKernelLine *l = &s->open->line[pto_kernel_line_(kernel)];
    if (l->kernel != kernel || l->left <= 0) return true;
    l->left--;
    return false;
}

void ptoi_short_measured(struct short_way *s, const PTOKernel *kernel, int64_t ns, bool is_fine)
{
    const int i = (int)pto_kernel_line_(kernel);
    count_line(s, i);
    s->line[i].given = is_fine && ns < SHORT_NS ? SAMPLE - 1 : NEVER;
    s->line[i].last_ns = ns;
    s->open->line[i] = (PTOKernelLine){.kernel = kernel, .left = s->line[i].given};
    s->tasks[kernel->worker]++;
    s->busy_ns[kernel->worker] += ns;
}

void ptoi_short_ask(struct short_way *s, bool (*is_fine)(void *context, const PTOKernel *kernel), void *context)
{
    for (int i = 0; i < PTO_SHORT_LINES; i++) {
        PTOKernelLine *l = &s->open->line[i];
        if (!l->kernel || l->left == NEVER || is_fine(context, l->kernel)) continue;
        count_line(s, i);
        l->left = s->line[i].given = NEVER;
    }
}
