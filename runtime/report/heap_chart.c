/* heap_chart.c - how many bytes of the heap were in use, and how many tasks were in the window, over the time of a run.
 * Idea       a column shows the most that any submit of its time saw; a column without a submit, what the last one saw.
 * Tests      test/lit/host/report.test */
#include "page.h"

enum { COLUMNS = 500, HEIGHT = 80 };

struct column {
    uint64_t heap, tasks;
    bool is_seen;
};

static void write_line(struct page *p, const struct column *column, bool is_heap, uint64_t most, const char *name)
{
    fprintf(p->out,
            "<p>%s, at most %llu</p>\n<svg width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s\"><path class=\"area\" d=\"M0 %d",
            name, (unsigned long long)most, HEIGHT, COLUMNS, HEIGHT, name, HEIGHT);
    for (int c = 0; c < COLUMNS; c++) {
        const uint64_t value = is_heap ? column[c].heap : column[c].tasks;
        fprintf(p->out, "V%.1fH%d", HEIGHT - (most ? (double)value * HEIGHT / (double)most : 0), c + 1);
    }
    fprintf(p->out, "V%dZ\"/></svg>\n", HEIGHT);
}

void ptoi_heap_chart_write(struct page *p)
{
    static const struct column none;
    struct column column[COLUMNS] = {{0}};
    const struct recorder *r = p->own;
    uint64_t heap = 0, tasks = 0;
    if (r->samples == 0 || p->end <= 0) return;
    for (uint64_t i = 0; i < r->samples; i++) {
        const struct recorded_sample *s = &r->sample[i];
        const int64_t at = s->at - r->origin;
        struct column *c = &column[at <= 0        ? 0
                                   : at >= p->end ? COLUMNS - 1
                                                  : (int)((double)at / (double)p->end * COLUMNS)];
        c->is_seen = true;
        if (s->heap > c->heap) c->heap = s->heap;
        if (s->tasks > c->tasks) c->tasks = s->tasks;
        if (s->heap > heap) heap = s->heap;
        if (s->tasks > tasks) tasks = s->tasks;
    }
    for (int c = 0; c < COLUMNS; c++)
        if (!column[c].is_seen) column[c] = c > 0 ? column[c - 1] : none;
    fprintf(p->out, "<h2>Memory over time%s</h2>\n<p>from 0 to %.1f %s, at each submit</p>\n", p->of,
            ptoi_page_time(p, p->end), ptoi_page_unit(p));
    write_line(p, column, true, heap, "bytes of the heap in use");
    write_line(p, column, false, tasks, "tasks in the window");
}
