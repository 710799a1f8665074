/* region_text.h - the arguments of the tasks of a report, as numbers that timeline.js reads when a task is selected.
 * Tests      test/lit/host/report.test, test/report/report.py */
#ifndef PTOI_REGION_TEXT_H
#define PTOI_REGION_TEXT_H
#include "record/record.h"
#include <stdio.h>

enum { PTOI_REGION_NAMES = 256 };

/* What the numbers name. */
struct region_names {
    const char *name[PTOI_REGION_NAMES]; /* of tensors; 0 is none */
    int count;
    uint64_t tasks; /* whose arguments are known: the first ones */
};

void ptoi_regions_write(const struct recorder *r, FILE *out, struct region_names *names);
/* ,"regions":COUNT,"tensors":[...],"types":[...] */
void ptoi_region_names_write(const struct region_names *names, FILE *out);

#endif
