/* reads.h - the files that a build has read, and those that it has looked for and not found.
 *
 * While a program is built a struct reads collects them from what the C compiler and the linker report.  reads_list()
 * makes a text of them, a line a file; reads_are_unchanged() answers later whether each line of it still holds: then a
 * build would give the same. */
#ifndef PTOC_READS_H
#define PTOC_READS_H
#include "file_digest.h"
#include "support/arena.h"
#include "support/strbuf.h"
#include "support/vec.h"
#include <time.h>

typedef VEC(const char *) read_names;

struct reads {
    struct arena *mem;
    const char *temp_dir;  /* files of the build itself do not count */
    const char *installed; /* headers of this folder are like those of the system */
    /* of the build, on the clock of the file systems: what is younger may have been read in another form */
    struct timespec begin;
    const char *unsure;   /* the reason why the list of files may be incomplete, or NULL */
    read_names sources;   /* C text */
    read_names libraries; /* what the linker has read */
    read_names programs;  /* the compiler, and what it is made of */
    read_names include_dirs, library_dirs;
    read_names asked; /* names of __has_include */
    read_names lines; /* of lists of parts */
};

/* Waits for the next tick of that clock, at most a few milliseconds. */
void reads_begin(struct reads *r, struct arena *mem, const char *temp_dir, const char *installed);
void reads_free(struct reads *r);

void reads_add_sources(struct reads *r, const char *make_rule); /* a file of -MD */
/* C text that ptoc wrote, with bodies of the user */
void reads_add_text(struct reads *r, const char *text, size_t length);
void reads_add_libraries(struct reads *r, const char *make_rule); /* a file of the linker's --dependency-file */
void reads_add_assembly(struct reads *r, const char *path);       /* nothing is to be read from there */
void reads_add_include_dirs(struct reads *r, const char *log);    /* a file with the output of -v */
void reads_add_library_dirs(struct reads *r, const char *log);    /* a file with the output of -### */
void reads_add_program(struct reads *r, const char *name);        /* looked for in PATH where the name has no slash */
/* The list of a part, an object that was built apart: the facts that it was built from are facts of the whole. */
void reads_add_list(struct reads *r, const struct strbuf *list);
void reads_are_unsure(struct reads *r, const char *reason);

/* What lies in the programs and in the C text, a line a file, whatever is the time of its last change.  A header of the
 * installation goes by its name in there, a program by its own name and not by that of a link.  False: as below. */
bool reads_contents(struct reads *r, struct strbuf *text);

/* False: the files cannot be vouched for, r->unsure says why. */
bool reads_list(struct reads *r, struct strbuf *list);
bool reads_are_unchanged(const char *list, size_t length);

/* The program that `name` is in PATH.  To be freed; NULL: there is none.  passed: NULL, or is called with each place
 * that was looked at before. */
char *program_find(const char *name, void (*passed)(void *context, const char *path), void *context);
bool program_is_elf(const char *path);

#endif
