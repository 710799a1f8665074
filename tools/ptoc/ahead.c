/* ahead.c - see ahead.h.
 * Idea       the cheap part of the facts, the words of the compiler, is compared when the folder is opened; the rest
 *            only when a kernel's object is there, and not again before something that it was found in has changed.
 * Owner      the caller's struct.
 * Invariant  an object that is found is that which the compiler would make now, but for the name of the folder in its
 *            debug information.
 * Blocks     in files, and in asking the C compiler which headers it reads.
 * Tests      test/lit/run/objects-ahead.test, objects-gdb.test
 */
#include "ahead.h"
#include "ahead_facts.h"
#include "support/digest.h"
#include "support/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char headers_mark[] = "headers ";

/* The level of this machine. */
static char *folder_of_run(const struct toolchain *t)
{
    const char *level = toolchain_level_of_machine();
    return arena_printf(t->mem, "%s/lib/pto/kernels/%s", t->prefix, level ? level : "any");
}

/* ---- facts ---- */

bool ahead_describe(const struct toolchain *t, const struct strbuf *headers, struct strbuf *facts)
{
    if (!toolchain_describe_kernel(t, facts)) return false;
    cache_key_text(facts, "headers", strbuf_text(headers), headers->length);
    if (!toolchain_note_headers(t, headers)) return false;
    toolchain_note_compiler(t);
    return reads_contents(t->reads, facts);
}

bool ahead_read_facts(const char *folder, struct strbuf *facts)
{
    char path[4096], block[4096];
    if (snprintf(path, sizeof path, "%s/facts", folder) >= (int)sizeof path) return false;
    FILE *in = fopen(path, "re");
    for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;) strbuf_add(facts, block, n);
    if (in) fclose(in);
    return in && facts->length > 0;
}

/* Are the words of the compiler those of the file?  Then its lines of C are taken from there. */
static bool take_headers(const struct toolchain *t, const struct strbuf *facts, struct strbuf *headers)
{
    STRBUF(words);
    const bool good = toolchain_describe_kernel(t, &words) && facts->length > words.length &&
                      memcmp(facts->data, words.data, words.length) == 0;
    const char *p = good ? strbuf_text(facts) + words.length : "";
    if (strncmp(p, headers_mark, sizeof headers_mark - 1) != 0) return false;
    char *text = NULL;
    const size_t length = strtoul(p + sizeof headers_mark - 1, &text, 10), left = strlen(text);
    if (*text != ':' || length >= left) return false;
    strbuf_add(headers, text + 1, length);
    return true;
}

void ahead_add_key(const struct strbuf *facts, const struct codegen_part *kernel, struct strbuf *key)
{
    const struct digest digest = digest_of(facts->data, facts->length);
    cache_key_text(key, "facts", (const char *)&digest, sizeof digest);
    cache_key_text(key, "kernel", strbuf_text(&kernel->name), kernel->name.length);
    cache_key_text(key, "text", strbuf_text(&kernel->text), kernel->text.length);
}

/* ---- finding ---- */

void ahead_open(struct ahead *a, const struct toolchain *t)
{
    *a = (struct ahead){.t = t, .cache.folder = -1};
    const char *folder = folder_of_run(t);
    if (t->level || !ahead_read_facts(folder, &a->facts) || !take_headers(t, &a->facts, &a->headers)) return;
    cache_open_installed(&a->cache, folder);
}

void ahead_close(struct ahead *a)
{
    cache_close(&a->cache);
    strbuf_free(&a->facts);
    strbuf_free(&a->headers);
}

/* What was read meanwhile is in noting->reads. */
static bool facts_hold(const struct ahead *a, const struct toolchain *noting)
{
    STRBUF(facts);
    return ahead_describe(noting, &a->headers, &facts) && facts.length == a->facts.length &&
           memcmp(facts.data, a->facts.data, facts.length) == 0;
}

/* Looks, and keeps that they hold where it is known what they were found in.  list: that. */
static bool look_and_keep(const struct ahead *a, const struct cache *cache, const struct strbuf *key,
                          struct strbuf *list)
{
    struct toolchain noting = *a->t;
    struct reads reads = {.mem = a->t->mem,
                          .temp_dir = a->t->temp_dir,
                          .installed = arena_printf(a->t->mem, "%s/include/", a->t->prefix)};
    noting.reads = &reads;
    if (a->t->reads) reads.begin = a->t->reads->begin;
    const bool holds = facts_hold(a, &noting);
    if (holds && a->t->reads) {
        if (reads_list(&reads, list))
            cache_keep(cache, key, list, "/dev/null");
        else
            reads_are_unsure(a->t->reads, reads.unsure);
    }
    reads_free(&reads);
    return holds;
}

/* An entry of the user's cache without a program stands for facts that hold: to look takes 10 ms and more. */
static bool look(const struct ahead *a)
{
    struct cache cache;
    STRBUF(key);
    STRBUF(list);
    char *path = NULL;
    toolchain_describe_compiler(a->t, &key);
    cache_key_text(&key, "facts", strbuf_text(&a->facts), a->facts.length);
    cache_key_text(&key, "installed", a->t->prefix, strlen(a->t->prefix));
    cache_open(&cache, "facts", CACHE_PROGRAMS);
    const int kept = cache_find(&cache, &key, &path);
    const bool holds = kept >= 0 ? cache_list(kept, &list) : look_and_keep(a, &cache, &key, &list);
    if (holds && a->t->reads) reads_add_list(a->t->reads, &list);
    if (kept >= 0) close(kept);
    free(path);
    cache_close(&cache);
    return holds;
}

int ahead_find(struct ahead *a, const struct codegen_part *kernel, char **path)
{
    if (a->cache.folder < 0 || a->state == AHEAD_HOLDS_NOT) return -1;
    STRBUF(key);
    ahead_add_key(&a->facts, kernel, &key);
    const int file = cache_find(&a->cache, &key, path);
    if (file >= 0 && a->state == AHEAD_UNKNOWN) {
        a->state = look(a) ? AHEAD_HOLDS : AHEAD_HOLDS_NOT;
        if (a->state == AHEAD_HOLDS_NOT && a->t->o->verbose)
            fprintf(stderr, "not used: '%s': the C compiler or a header is another one\n", a->cache.path);
    }
    if (file < 0 || a->state == AHEAD_HOLDS) return file;
    close(file);
    free(*path);
    *path = NULL;
    return -1;
}
