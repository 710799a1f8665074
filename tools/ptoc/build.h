/* build.h - the verbs that end in C, a binary or a run. */
#ifndef PTOC_BUILD_H
#define PTOC_BUILD_H
#include "options.h"

struct checked;
struct front;

int build_main(const struct options *o);        /* VERB_BUILD */
bool build_reads_only(const struct options *o); /* --emit of something that exists before the program is checked */
int fmt_main(const struct options *o);          /* VERB_FMT, in fmt.c */
int run_main(const struct options *o);          /* VERB_RUN, in run.c */
int test_main(const struct options *o);         /* VERB_TEST, in test.c */
int new_main(const struct options *o);          /* VERB_NEW, in new.c */
int doc_main(const struct options *o);          /* VERB_DOC, in doc.c */
int watch_main(const struct options *o);        /* VERB_WATCH, in watch.c */
/* VERB_GRAPH, in run.c: orchestrates without running a kernel, prints the graph */
int graph_main(const struct options *o);

/* Compiles and links the program into `output`.  replaced: NULL, or the file whose place it will take.  kept: NULL, or
 * where a descriptor of a program goes that was built before from the same: then there is no output; -1 else.  Returns
 * an exit code; messages are on standard error. */
int build_binary(const struct options *o, const char *temp_dir, const char *output, const char *replaced, int *kept);

/* In plans.c: in how many segments the loops of gradients run, so that the program fits into --heap. */
int plans_segments(const struct options *o);
/* E14 for what does not fit, with the sizes that the run is given. */
void plans_check_heap(const struct options *o, struct front *front, const struct checked *checked);

/* The messages of a link: E12 for kernels without a function.  true: nothing else is left to say. */
bool missing_report(const struct options *o, const char *log);

#endif
