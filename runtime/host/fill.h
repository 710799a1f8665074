/* fill.h - made data: --input A=zeros, ones, iota, random[:seed]. */
#ifndef PTO_HOST_FILL_H
#define PTO_HOST_FILL_H
#include "array.h"

enum fill_kind { FILL_NONE, FILL_ZEROS, FILL_ONES, FILL_IOTA, FILL_RANDOM };

struct fill_spec {
    enum fill_kind kind;
    uint64_t seed; /* of FILL_RANDOM */
};

/* FILL_NONE: the word is none of these.  false: it starts like one, but its seed is no number. */
bool ptoi_fill_parse(const char *text, struct fill_spec *spec);

/* Fills array->data.  Random data depends on the seed, the name, the type and the position and on nothing else. */
void ptoi_fill(struct host_array *array, const struct fill_spec *spec, const char *name);
#endif
