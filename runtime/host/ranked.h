/* ranked.h - a built program as one of several ranks.
 * Owner      the session has the wire.
 * Tests      test/wire/check_programs.py, check_options.py
 */
#ifndef PTO_HOST_RANKED_H
#define PTO_HOST_RANKED_H
#include "dist/dist.h"
#include "report/joined.h"
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
/* Is it zeros before the run, of which a rank has memory where it touches them? */
bool ptoi_ranked_begins_empty(const struct session *s, int32_t f);
/* The array of formal f, if its pages were counted; else NULL. */
struct tensor *ptoi_ranked_counted_array(const struct session *s, int32_t f);
/* ranked_files.c: all ranks open their file of formal f, and `code` is how that went; is_there: there is a file of this
 * name, though it may be wrong.  A rank that sees none takes the shape that rank 0 has. */
int ptoi_ranked_open_file(struct session *s, int32_t f, int code, bool is_there);
/* This rank sees no file for formal f, and gets its data from rank 0. */
bool ptoi_ranked_lacks(const struct session *s, int32_t f);
/* The array of formal f is to be there as a whole: it is in memory, or has its memory where the rank lacks the file, if
 * `code` says so. */
int ptoi_ranked_load_file(struct session *s, int32_t f, int code);
/* All ranks get the bytes of rank 0. */
int ptoi_ranked_broadcast(struct session *s, void *data, int64_t bytes);
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

/* The same for a rank that was asked for the help and does not run: HOST_OK where all were. */
int ptoi_ranked_agree_on_help(struct session *s);
/* alike.c: they are; were they started alike?  Else the first reports what differs. */
int ptoi_ranked_compare(struct session *s);
/* Before the files are opened, which all ranks do in the same order: do all open the same ones? */
int ptoi_ranked_compare_inputs(struct session *s);
/* The least and the most of numbers of all ranks, which all call it.  false: the wire failed. */
bool ptoi_ranked_reduce(struct session *s, const uint64_t *mine, uint64_t *least, uint64_t *most);

/* ranked_schedules.c: a schedule a rank.  Before the runtime is created: each rank has files of its own. */
int ptoi_ranked_name_schedules(struct session *s);
/* All ranks call it before the run: they replay one run, and record one. */
int ptoi_ranked_begin_schedules(struct session *s);
/* Another rank than the first, of a run that has ended well, writes its schedule. */
int ptoi_ranked_write_schedule(struct session *s);

/* ranked_records.c: all ranks call both, before the run and behind it, if it has come to its end; then the first has
 * the records of all. */
int ptoi_ranked_begin_records(struct session *s);
int ptoi_ranked_join_records(struct session *s);

/* ranked_stats.c: a number of all ranks, and the line that shows it. */
struct counted {
    uint64_t total, least, most;
    int32_t ranks, least_rank, most_rank; /* the first that have them */
};
void ptoi_ranked_count(struct counted *c, int32_t rank, uint64_t number);
void ptoi_ranked_print_counted(const char *text, const struct counted *c);
/* After a run without an error: all ranks call it, the first prints. */
void ptoi_ranked_print_stats(struct session *s);
/* ranked_pages.c: the same; without --stats too. */
void ptoi_ranked_advise_pages(struct session *s, FILE *out);

#endif
