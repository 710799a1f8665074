/* waits.c - see waits.h. */
#include "waits.h"
#include "shared/task.h"
#include <stdlib.h>

static struct arrival *arrival_at(const struct waits *w, uint64_t id)
{
    return &w->arrival[id & (2 * w->window->task_mask + 1)];
}

void ptoi_waits_arrived(struct waits *w, uint64_t id, int64_t began)
{
    if (!w->arrival) return;
    struct arrival *const a = arrival_at(w, id);
    store_relaxed(&a->began, began); /* relaxed: see waits.h */
    store_relaxed(&a->ended, ptoi_clock_ns());
    store_relaxed(&a->task, id + 1);
}

/* Under the lock. */
static void add(struct waits *w, const PTOKernel *kernel, int64_t ns)
{
    int32_t k = 0;
    while (k < w->kernels && w->kernel[k].kernel != kernel) k++;
    if (k == WAITED_KERNELS)
        w->kernel[--k].kernel = NULL;
    else if (k == w->kernels)
        w->kernel[w->kernels++] = (struct kernel_wait){.kernel = kernel};
    w->kernel[k].ns += ns;
    w->kernel[k].tasks++;
}

void ptoi_waits_began(struct waits *w, uint64_t id, int64_t idle_since)
{
    const struct task_slot *const t = window_task(w->window, id);
    int64_t first = INT64_MAX, last = 0, since = idle_since > w->began ? idle_since : w->began;
    for (uint32_t k = 0; k < t->dep_count; k++) {
        const uint64_t producer = *window_dep(w->window, t->dep_begin + k);
        struct arrival *const a = arrival_at(w, producer);
        if (load_relaxed(&a->task) != producer + 1) continue; /* relaxed: see waits.h */
        const int64_t began = load_relaxed(&a->began), ended = load_relaxed(&a->ended);
        if (began < first) first = began;
        if (ended > last) last = ended;
    }
    if (first > since) since = first;
    if (last <= since) return;
    ptoi_lock_take(&w->lock);
    add(w, ptoi_task_kernel(w->window, id), last - since);
    ptoi_lock_leave(&w->lock);
}

void ptoi_waits_begin(struct waits *w)
{
    w->kernels = 0;
    w->began = ptoi_clock_ns();
    for (uint64_t k = 0; w->arrival && k <= 2 * w->window->task_mask + 1; k++)
        store_relaxed(&w->arrival[k].task, 0); /* relaxed: no run is active */
}

bool ptoi_waits_open(struct waits *w, const struct window *window)
{
    *w = (struct waits){.window = window, .lock = PTOI_LOCK_OPEN};
    w->arrival = calloc(2 * (size_t)(window->task_mask + 1), sizeof *w->arrival);
    return w->arrival != NULL;
}

void ptoi_waits_close(struct waits *w)
{
    free(w->arrival);
    *w = (struct waits){0};
}
