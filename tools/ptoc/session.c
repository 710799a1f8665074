/* session.c - one run of the compiler: the arena, the names, the files, the messages.
 * Idea       every verb opens one, works, and closes it; so messages look the same everywhere and nothing is left
 *            allocated.
 * Owner      the verb that opened it.
 * Invariant  the program's own file is read before anything else, because not being able to is another exit code.
 * Blocks     in reading files.
 * Tests      test/lit/diag/bad-files.test
 */
#include "options.h"
#include "support/arena.h"
#include "support/intern.h"
#include "syntax/sarif.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The path of the running program; where there is no /proc, as the shell would have found it.  To be freed, or NULL. */
static char *own_path(const char *program)
{
    char *own = realpath("/proc/self/exe", NULL);
    if (own != NULL || strchr(program, '/') != NULL) return own != NULL ? own : realpath(program, NULL);
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char candidate[PATH_MAX];
        int n = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, program);
        if (n > 0 && (size_t)n < sizeof candidate && access(candidate, X_OK) == 0) return realpath(candidate, NULL);
        path += length + (path[length] == ':');
    }
    return NULL;
}

char *prefix_find(const char *program)
{
    char *path = own_path(program);
    for (int up = 0; path != NULL && up < 2; up++) { // .../bin/ptoc
        char *slash = strrchr(path, '/');
        if (slash == NULL) break;
        *slash = '\0';
    }
    return path;
}

int prefix_missing(void)
{
    fputs("ptoc: error: cannot find the folder that ptoc is installed in\n", stderr);
    return EXIT_INTERNAL;
}

static char *share_folder(const char *program)
{
    char *prefix = prefix_find(program), *share = NULL;
    if (prefix != NULL && asprintf(&share, "%s/share/pto", prefix) < 0) share = NULL;
    free(prefix);
    return share;
}

static void set_diag(struct diag *d, const struct options *o)
{
    diag_set_json(d, o->diag_form == DIAG_JSON);
    diag_set_color(d, o->color);
    diag_set_warnings_are_errors(d, o->warnings_are_errors);
    for (int i = 0; i < DIAG_COUNT; i++) diag_set_warning_enabled(d, (enum diag_id)i, !o->warning_off[i]);
}

static void set_search_path(struct front_session *s, const struct options *o)
{
    s->share = share_folder(o->program);
    s->import_dirs = arena_array(s->front.mem, const char *, o->import_dir_count + 1);
    int count = 0;
    for (; count < o->import_dir_count; count++) s->import_dirs[count] = o->import_dirs[count];
    if (s->share != NULL) s->import_dirs[count++] = s->share;
    const char *entry = o->check_grad ? options_run_value(o, "--entry") : NULL;
    s->sema = (struct sema_options){
        .import_dirs = s->import_dirs,
        .import_dir_count = count,
        .defines = o->defines,
        .define_count = o->define_count,
        .heap_bytes = o->heap_bytes,
        .check_grad = o->check_grad && !entry ? "" : entry,
    };
}

int session_open(struct front_session *s, const struct options *o)
{
    struct source_map *sources = source_map_create();
    *s = (struct front_session){
        .front = {.mem = arena_create(),
                  .names = interner_create(),
                  .sources = sources,
                  .diag = diag_create(sources, stderr)},
    };
    set_diag(s->front.diag, o);
    if (o->diag_form == DIAG_SARIF) {
        s->sarif = arena_new(s->front.mem, struct sarif);
        *s->sarif = (struct sarif){.sources = sources, .out = stderr};
        diag_set_receiver(s->front.diag, sarif_receive, s->sarif);
    }
    set_search_path(s, o);
    const char *why = NULL;
    if (source_map_read(sources, o->input, &why) >= 0) return EXIT_OK;
    diag_error_plain(s->front.diag, DIAG_E16, "cannot read '%s': %s", o->input, why);
    session_close(s);
    return EXIT_FILE;
}

int session_close(struct front_session *s)
{
    diag_flush(s->front.diag);
    if (s->sarif != NULL) sarif_end(s->sarif);
    int result = diag_error_count(s->front.diag) > 0 ? EXIT_ERRORS : EXIT_OK;
    diag_destroy(s->front.diag);
    source_map_destroy(s->front.sources);
    interner_destroy(s->front.names);
    arena_destroy(s->front.mem);
    free(s->share);
    *s = (struct front_session){0};
    return result;
}
