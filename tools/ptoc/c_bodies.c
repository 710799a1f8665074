/* c_bodies.c - see c_bodies.h.
 * Idea       a text that the C compiler accepted, and that it would read the same files for, is accepted again: an
 *            entry of the cache without a program stands for that.
 * Owner      nothing.
 * Invariant  what the C compiler says of no place in a body is shown as it says it.
 * Blocks     in the C compiler.
 * Tests      test/lit/sema/bodies.pto, test/lit/build/body-help.pto, test/lit/run/c-errors.pto, cache-bodies.test
 */
#include "c_bodies.h"
#include "bodies.h"
#include "cache.h"
#include "codegen.h"
#include "process.h"
#include "support/arena.h"
#include "toolchain.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Asks, and keeps the answer where there is nothing to say. */
static bool ask_and_keep(struct toolchain *t, const struct cache *cache, const struct strbuf *key,
                         const struct strbuf *text, struct strbuf *said)
{
    struct reads reads;
    STRBUF(list);
    reads_begin(&reads, t->mem, t->temp_dir, arena_printf(t->mem, "%s/include/", t->prefix));
    t->reads = &reads;
    const char *log = toolchain_check(t, text, said);
    if (log && said->length == 0 && reads_list(&reads, &list)) cache_keep(cache, key, &list, log);
    reads_free(&reads);
    return log != NULL;
}

static bool ask_in(struct toolchain *t, const struct strbuf *text, struct strbuf *said)
{
    if (t->o->no_cache || toolchain_is_opaque(t)) return toolchain_check(t, text, said) != NULL;
    struct cache cache;
    STRBUF(key);
    char *path = NULL;
    toolchain_describe(t, &key);
    cache_key_text(&key, "bodies", strbuf_text(text), text->length);
    cache_open(&cache, "bodies", CACHE_PROGRAMS);
    const int kept = cache_find(&cache, &key, &path);
    if (kept >= 0) close(kept);
    free(path);
    const bool was_asked = kept >= 0          ? true
                           : cache.folder < 0 ? toolchain_check(t, text, said) != NULL
                                              : ask_and_keep(t, &cache, &key, text, said);
    cache_close(&cache);
    return was_asked;
}

bool c_bodies_ask(const struct options *o, const struct strbuf *text, struct strbuf *said)
{
    char *prefix = prefix_find(o->program), *folder = prefix ? temp_dir_create() : NULL;
    bool was_asked = false;
    if (folder) {
        struct arena *mem = arena_create();
        struct toolchain t = {.o = o, .mem = mem, .prefix = prefix, .temp_dir = folder};
        was_asked = ask_in(&t, text, said);
        arena_destroy(mem);
        temp_dir_remove(folder, false);
    }
    free(prefix);
    return was_asked;
}

void c_bodies_check(struct front *front, const struct checked *checked, const struct options *o)
{
    STRBUF(program);
    STRBUF(log);
    if (!bodies_any(checked)) return;
    codegen_bodies(front, checked, &(struct codegen_options){.input = o->input, .no_main = true}, &program);
    if (c_bodies_ask(o, &program, &log)) bodies_report(front, checked, strbuf_text(&log));
}

bool c_bodies_refused(const struct options *o, const char *log)
{
    struct front_session s;
    if (strcmp(o->input, "-") == 0 || session_open(&s, o) != EXIT_OK) return false;
    /* said before */
    for (int i = 0; i < DIAG_COUNT; i++) diag_set_warning_enabled(s.front.diag, (enum diag_id)i, false);
    s.sema.only_checks = true;
    bodies_report(&s.front, codegen_check(&s.front, o->input, &s.sema), log);
    return session_close(&s) == EXIT_ERRORS;
}
