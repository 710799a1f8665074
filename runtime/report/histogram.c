/* histogram.c - how long the tasks of a kernel took, as bars: each covers the same span of time, or, where the longest
 * took many times as long as the shortest, the same ratio.
 * Tests      test/lit/host/report.test */
#include "page.h"

enum { BARS = 24, BAR = 6, HEIGHT = 24, MANY_TIMES = 8 };

/* The upper end of bar i. */
static int64_t end_of(const struct kernel_times *k, int i)
{
    const int64_t least = k->ns[0], most = k->ns[k->count - 1];
    if (i == BARS - 1) return most;
    if (least <= 0 || most < MANY_TIMES * least) return least + (most - least) / BARS * (i + 1);
    double ratio = 1, end = (double)least; /* the BARS-th root, by Newton: ratio^BARS = most / least */
    for (int step = 0; step < 200; step++) {
        double power = 1;
        for (int n = 1; n < BARS; n++) power *= ratio;
        ratio += ((double)most / (double)least / power - ratio) / BARS;
    }
    for (int n = 0; n <= i; n++) end *= ratio;
    return (int64_t)end;
}

void ptoi_histogram_write(struct page *p, const struct kernel_times *k, const char *color)
{
    uint64_t tasks[BARS] = {0}, highest = 1, n = 0;
    int64_t end[BARS];
    for (int i = 0; i < BARS; i++) {
        end[i] = end_of(k, i);
        for (; n < k->count && (k->ns[n] <= end[i] || i == BARS - 1); n++) tasks[i]++;
        if (tasks[i] > highest) highest = tasks[i];
    }
    fprintf(p->out, "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"durations\">", BARS * BAR, HEIGHT);
    for (int i = 0; i < BARS; i++) {
        if (tasks[i] == 0) continue;
        const double height = 1 + (double)tasks[i] * (HEIGHT - 1) / (double)highest;
        fprintf(p->out,
                "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"><title>%llu of %llu tasks took "
                "%.3f to %.3f %s</title></rect>",
                i * BAR, HEIGHT - height, BAR - 1, height, color, (unsigned long long)tasks[i],
                (unsigned long long)k->count, ptoi_page_time(p, i ? end[i - 1] : k->ns[0]), ptoi_page_time(p, end[i]),
                ptoi_page_unit(p));
    }
    fputs("</svg>", p->out);
}
