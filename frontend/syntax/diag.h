/* diag.h - errors, warnings, notes: the one place that speaks to the user.
 *
 * A message is built by diag_error()/diag_warning(), then any number of notes and fixes are attached to it, and it is
 * printed when the next one begins or at diag_flush().  Text: lower case, no full stop, names in quotes. */
#ifndef PTOC_DIAG_H
#define PTOC_DIAG_H
#include "source.h"
#include <stdio.h>

enum diag_id {
#define DIAG(id, title) DIAG_##id,
#include "diag.def"
#undef DIAG
    DIAG_COUNT
};

enum diag_color { DIAG_COLOR_AUTO, DIAG_COLOR_ALWAYS, DIAG_COLOR_NEVER };

enum diag_part_kind { DIAG_NOTE, DIAG_HELP, DIAG_FIX };

struct diag_part { /* what is attached to a message */
    enum diag_part_kind kind;
    bool has_place;
    struct span at;
    char *text;
    char *replacement; /* FIX */
};

/* A message that is complete, as a receiver sees it: nothing of it is there after the call. */
struct diag_message {
    bool is_error;
    enum diag_id id;
    bool has_place;
    struct span at;
    const char *text;
    const struct diag_part *parts;
    size_t part_count;
};

struct diag;

struct diag *diag_create(const struct source_map *sources, FILE *out);
void diag_destroy(struct diag *d); /* flushes */
/* Instead of being printed each message is given to this function. */
void diag_set_receiver(struct diag *d, void (*receive)(void *cx, const struct diag_message *m), void *cx);
void diag_set_json(struct diag *d, bool on);
void diag_set_color(struct diag *d, enum diag_color color);
void diag_set_warnings_are_errors(struct diag *d, bool on);
void diag_set_warning_enabled(struct diag *d, enum diag_id id, bool on);

void diag_error(struct diag *d, enum diag_id id, struct span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_warning(struct diag *d, enum diag_id id, struct span at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A message about no place in a file: a missing file, bad usage. */
void diag_error_plain(struct diag *d, enum diag_id id, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_note(struct diag *d, struct span at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_help(struct diag *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A machine-applicable fix: replace `at` by text, unless it is that text.  Shown as help, carried in JSON. */
void diag_fix(struct diag *d, struct span at, const char *text, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_flush(struct diag *d);
/* Is the message that is being built printed?  Else help that is dear to find need not be looked for. */
bool diag_is_shown(const struct diag *d);

int diag_error_count(const struct diag *d);
int diag_errors_in(const struct diag *d, struct span at); /* that are shown, and begin there */
const char *diag_id_name(enum diag_id id);                /* "E08" */
const char *diag_id_title(enum diag_id id);               /* "marker missing or wrong" */

#endif
