/* option_values.h - the values of ptoc's options: each function takes the text of one, sets its members, and returns
 * EXIT_OK, or EXIT_USAGE after saying what is wrong. */
#ifndef PTOC_OPTION_VALUES_H
#define PTOC_OPTION_VALUES_H
#include "options.h"

/* A bit for each verb, as the rows of options.def and host/options.def name them. */
enum {
#define VERB(id, ...) FOR_##id = 1 << VERB_##id,
#include "verbs.def"
#undef VERB
    FOR_BOTH = FOR_RUN | FOR_GRAPH, /* as host/options.def calls them */
    FOR_COMPILE = FOR_CHECK | FOR_BUILD | FOR_RUN | FOR_GRAPH,
    FOR_MODULES = FOR_DOC | FOR_COMPLETE
};

extern const char *const option_emit_names[EMIT_COUNT];

/* One line on standard error, as every complaint about a command line looks.  Returns EXIT_USAGE. */
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool option_size(const char *text, int64_t *bytes); /* digits as the language has them, and K, M or G behind */
bool option_is_name(const char *text, size_t length);
bool option_is_warning(int id);

int option_set_emit(struct options *o, const char *text);
int option_set_cpu(struct options *o, const char *text);
int option_set_plan(struct options *o, const char *text);
int option_set_dumps(struct options *o, const char *text);
int option_set_color(struct options *o, const char *text);
int option_set_diag(struct options *o, const char *text);
int option_set_format(struct options *o, const char *text);
int option_set_warning(struct options *o, const char *arg); /* -W... in all its forms */

#endif
