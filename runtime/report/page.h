/* page.h - what the parts of a report share: the record, the text of a page, and its units.
 * Owner      page.c.
 * Tests      test/lit/host/report.test, test/report/report.py */
#ifndef PTOI_PAGE_H
#define PTOI_PAGE_H
#include "report.h"

struct kernel_times {
    const PTOKernel *kernel;
    uint64_t count;
    int64_t *ns; /* of the tasks that ran, in ascending order */
};

struct page {
    FILE *out;
    PTORuntime *rt;
    const struct recorder *record; /* of all ranks */
    const struct recorder *own;    /* of this one */
    int32_t ranks;
    const char *of; /* " of rank 0" where there are several: what is about one of them */
    int64_t end;    /* of the last task, from the origin */
    struct kernel_times *kernel;
    int kernels;
    int64_t *times; /* what kernel[].ns points into */
};

void ptoi_page_text(FILE *out, const char *s); /* no mark of XML is left in it */
const char *ptoi_page_unit(const struct page *p);
double ptoi_page_time(const struct page *p, int64_t ticks); /* in that unit */

static inline bool ptoi_page_has_run(const struct recorded_task *t) { return t->begin != 0 || t->end != 0; }

/* Each writes a section, or a part of one. */
void ptoi_head_write(struct page *p, const struct report_head *head);
void ptoi_histogram_write(struct page *p, const struct kernel_times *k, const char *color);
void ptoi_heap_chart_write(struct page *p);
bool ptoi_scopes_write(struct page *p); /* false: no memory */

#endif
