/* ranked.h - a built program as one of several ranks.
 * Owner      the session has the wire.
 * Tests      test/wire/check_programs.py, check_options.py
 */
#ifndef PTO_HOST_RANKED_H
#define PTO_HOST_RANKED_H
#include "dist/dist.h"
#include "session.h"

/* Joins the other ranks, if a launcher has started several; the others than the first print nothing. */
int ptoi_ranked_join(struct session *s);
/* The options are parsed: does --ranks agree with the launcher? */
int ptoi_ranked_check(struct session *s);
/* Of the runtime that is about to be created. */
struct dist_config ptoi_ranked_config(const struct session *s);
/* The extents are bound: reads --dist. */
int ptoi_ranked_bind(struct session *s);
/* Is the file of formal f read where its cells live, while the program runs? */
bool ptoi_ranked_reads_cells(const struct session *s, int32_t f);
/* in_place.c: before the arrays are given to the runtime.  Which outputs do all ranks write? */
void ptoi_in_place_begin(struct session *s);
/* And after a run without an error: all ranks write them, or none of them appears. */
int ptoi_in_place_write(struct session *s);
/* The data is there: the runtime gets to know the arrays. */
void ptoi_ranked_give(struct session *s);
/* How long a run that has failed waits for kernels of other ranks; 0: there is one rank. */
int64_t ptoi_ranked_grace_ms(const struct session *s);
/* All ranks are ready to run, or none runs.  The first that is not says why. */
int ptoi_ranked_agree(struct session *s, int code);
/* alike.c: they are; were they started alike?  Else the first reports what differs. */
int ptoi_ranked_compare(struct session *s);
/* The least and the most of numbers of all ranks, which all call it.  false: the wire failed. */
bool ptoi_ranked_reduce(struct session *s, const uint64_t *mine, uint64_t *least, uint64_t *most);

/* Numbers of all ranks, and the line that shows them. */
struct counted {
    uint64_t total, least, most;
};
#define COUNTED_NOTHING                                                                                                \
    {                                                                                                                  \
        0, UINT64_MAX, 0                                                                                               \
    }
void ptoi_ranked_count(struct counted *c, uint64_t number);
void ptoi_ranked_print_counted(const char *text, const struct counted *c, int32_t ranks);
/* After a run without an error: all ranks call it, the first prints. */
void ptoi_ranked_print_stats(struct session *s);

#endif
