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
static int ask_and_keep(struct toolchain *t, const struct cache *cache, const struct strbuf *key,
                        const struct strbuf *text, struct strbuf *said, int *code)
{
    struct reads reads;
    STRBUF(list);
    reads_begin(&reads, t->mem, t->temp_dir, arena_printf(t->mem, "%s/include/", t->prefix));
    t->reads = &reads;
    const int result = toolchain_check(t, text, said, code);
    if (result == EXIT_OK && *code == 0 && said->length == 0 && reads_list(&reads, &list))
        cache_keep(cache, key, &list, "/dev/null");
    reads_free(&reads);
    return result;
}

static int ask_in(struct toolchain *t, const struct strbuf *text, struct strbuf *said, int *code)
{
    if (t->o->no_cache || toolchain_is_opaque(t)) return toolchain_check(t, text, said, code);
    struct cache cache;
    STRBUF(key);
    char *path = NULL;
    toolchain_describe(t, &key);
    cache_key_text(&key, "bodies", strbuf_text(text), text->length);
    cache_open(&cache, "bodies", CACHE_PROGRAMS);
    const int kept = cache_find(&cache, &key, &path);
    if (kept >= 0) close(kept);
    free(path);
    const int result = kept >= 0          ? EXIT_OK
                       : cache.folder < 0 ? toolchain_check(t, text, said, code)
                                          : ask_and_keep(t, &cache, &key, text, said, code);
    cache_close(&cache);
    return result;
}

int c_bodies_ask(const struct options *o, const struct strbuf *text, struct strbuf *said, int *code)
{
    char *prefix = prefix_find(o->program), *folder = prefix ? temp_dir_create() : NULL;
    int result = prefix ? EXIT_INTERNAL : prefix_missing();
    *code = 0;
    if (folder) {
        struct arena *mem = arena_create();
        struct toolchain t = {.o = o, .mem = mem, .prefix = prefix, .temp_dir = folder};
        result = ask_in(&t, text, said, code);
        arena_destroy(mem);
        temp_dir_remove(folder, false);
    }
    free(prefix);
    return result;
}

int c_bodies_check(struct front *front, const struct checked *checked, const struct options *o)
{
    STRBUF(program);
    STRBUF(said);
    int code;
    if (!bodies_any(checked)) return EXIT_OK;
    codegen_bodies(front, checked, &(struct codegen_options){.input = o->input, .no_main = true}, &program);
    const int result = c_bodies_ask(o, &program, &said, &code);
    if (result != EXIT_OK) return result;
    bodies_report(front, checked, strbuf_text(&said));
    if (code == 0 || diag_error_count(front->diag) > 0) return EXIT_OK;
    return toolchain_refused(code, strbuf_text(&said), "the C compiler does not accept the C bodies of the program");
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
