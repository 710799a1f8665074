/* ahead.c - see ahead.h.
 * Idea       the cheap part of the facts, the words of the compiler, is compared when the folder is opened; the rest,
 *            a few milliseconds for the programs of the compiler, only when a kernel's object is there.
 * Owner      the caller's struct.
 * Invariant  an object that is found is that which the compiler would make now, but for the name of the folder in its
 *            debug information.
 * Blocks     in files, and in asking the C compiler which headers it reads.
 * Tests      test/lit/run/objects-ahead.test, test/lit/run/objects-make.test
 */
#include "ahead.h"
#include "ahead_facts.h"
#include "digest.h"
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

/* The programs of the compiler and the headers, by their contents.  *rule: a file with the names of the headers. */
static bool describe_reads(const struct toolchain *t, const struct strbuf *headers, const char **rule,
                           struct strbuf *facts)
{
    struct toolchain noting = *t;
    struct reads reads = {
        .mem = t->mem, .temp_dir = t->temp_dir, .installed = arena_printf(t->mem, "%s/include/", t->prefix)};
    noting.reads = &reads;
    *rule = toolchain_note_headers(&noting, headers);
    if (*rule) toolchain_note_compiler(&noting);
    const bool good = *rule && reads_contents(&reads, facts);
    reads_free(&reads);
    return good;
}

bool ahead_describe(const struct toolchain *t, const struct strbuf *headers, const char **rule, struct strbuf *facts)
{
    if (!toolchain_describe_kernel(t, facts)) return false;
    cache_key_text(facts, "headers", strbuf_text(headers), headers->length);
    return describe_reads(t, headers, rule, facts);
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

static void look(struct ahead *a)
{
    const char *rule;
    STRBUF(facts);
    const bool holds = ahead_describe(a->t, &a->headers, &rule, &facts) && facts.length == a->facts.length &&
                       memcmp(facts.data, a->facts.data, facts.length) == 0;
    a->state = holds ? AHEAD_HOLDS : AHEAD_HOLDS_NOT;
    if (holds && a->t->reads) reads_add_sources(a->t->reads, rule);
    if (!holds && a->t->o->verbose)
        fprintf(stderr, "not used: '%s': the C compiler or a header is another one\n", a->cache.path);
}

int ahead_find(struct ahead *a, const struct codegen_part *kernel, char **path)
{
    if (a->cache.folder < 0 || a->state == AHEAD_HOLDS_NOT) return -1;
    STRBUF(key);
    ahead_add_key(&a->facts, kernel, &key);
    const int file = cache_find(&a->cache, &key, path);
    if (file >= 0 && a->state == AHEAD_UNKNOWN) look(a);
    if (file < 0 || a->state == AHEAD_HOLDS) return file;
    close(file);
    free(*path);
    *path = NULL;
    return -1;
}
