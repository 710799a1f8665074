/* kernel_objects.c - see kernel_objects.h.
 * Idea       the key of an object is the text of its file and the compiler with its options; the list of files that
 *            were read is that of all kernels of this build, so that the compiler is asked once where it looks.  The
 *            program was built from these files too, so the lists, new and kept, are added to its own.
 *            For a run, and without optimization, all new kernels are one file: alone each takes the compiler a quarter
 *            longer, at -O0 twice as long.  That object is kept for each of them, and linked once.
 * Owner      nothing.
 * Invariant  an object from the cache, or from the installation, is that which the compiler would make now.
 * Blocks     in the C compiler.
 * Tests      test/lit/run/cache-kernels.test, test/lit/run/objects-ahead.test
 */
#include "kernel_objects.h"
#include "cache.h"
#include "file_digest.h"
#include "support/arena.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The key of each kernel's object, to be freed one by one. */
static struct strbuf *describe(const struct toolchain *t, const struct codegen_parts *parts)
{
    struct strbuf *keys = arena_array(t->mem, struct strbuf, parts->list.count + 1);
    STRBUF(compiler);
    toolchain_describe_compiler(t, &compiler);
    for (size_t i = 0; i < parts->list.count; i++) {
        const struct codegen_part *kernel = &parts->list.data[i];
        strbuf_add(&keys[i], strbuf_text(&compiler), compiler.length);
        cache_key_text(&keys[i], "kernel", strbuf_text(&kernel->name), kernel->name.length);
        cache_key_text(&keys[i], "text", strbuf_text(&kernel->text), kernel->text.length);
    }
    return keys;
}

/* file: of cache_find; path: where it is, freed here. */
static bool take(const struct toolchain *t, int file, char *path, const char *name, const char *object)
{
    const bool good = file >= 0 && cache_copy(file, object) == EXIT_OK;
    if (good && t->o->verbose) fprintf(stderr, "unchanged: the kernel '%s', %s\n", name, path);
    free(path);
    return good;
}

static bool take_kept(const struct toolchain *t, const struct cache *cache, const struct strbuf *key, const char *name,
                      const char *object)
{
    char *path = NULL;
    const int kept = cache_find(cache, key, &path);
    STRBUF(list);
    if (kept >= 0 && t->reads) {
        if (cache_list(kept, &list))
            reads_add_list(t->reads, &list);
        else
            reads_are_unsure(t->reads, "a kept kernel cannot be read");
    }
    return take(t, kept, path, name, object);
}

/* Of the installation.  What it was built from is in t->reads then. */
static bool take_ahead(const struct toolchain *t, struct ahead *ahead, const struct codegen_part *kernel,
                       const char *object)
{
    char *path = NULL;
    const int made = ahead_find(ahead, kernel, &path);
    return take(t, made, path, strbuf_text(&kernel->name), object);
}

/* Those that have no object yet, as one file.  They get the object of the first. */
static int add_together(struct kernel_objects *k, compilations *work)
{
    STRBUF(text);
    const char *name = NULL, *object = NULL;
    for (size_t i = 0; i < k->parts->list.count; i++) {
        const struct codegen_part *kernel = &k->parts->list.data[i];
        if (k->is_found[i]) continue;
        if (!name) name = strbuf_text(&kernel->name), object = k->objects[i];
        k->objects[i] = object;
        strbuf_add(&text, strbuf_text(&kernel->text), kernel->text.length);
    }
    return toolchain_add_kernel(&k->noting, name, &text, object, work);
}

static int add_each(const struct kernel_objects *k, compilations *work)
{
    int result = EXIT_OK;
    for (size_t i = 0; i < k->parts->list.count && result == EXIT_OK; i++) {
        const struct codegen_part *kernel = &k->parts->list.data[i];
        if (!k->is_found[i])
            result = toolchain_add_kernel(&k->noting, strbuf_text(&kernel->name), &kernel->text, k->objects[i], work);
    }
    return result;
}

/* Those that have been compiled now. */
static void keep(struct kernel_objects *k)
{
    const struct toolchain *t = k->t;
    STRBUF(list);
    toolchain_note_compiler(&k->noting);
    if (!reads_list(&k->reads, &list)) {
        if (t->reads) reads_are_unsure(t->reads, k->reads.unsure);
        return;
    }
    if (t->reads) reads_add_list(t->reads, &list);
    for (size_t i = 0; i < k->parts->list.count; i++)
        if (!k->is_found[i]) cache_keep(&k->cache, &k->keys[i], &list, k->objects[i]);
}

static struct digest digest_of_object(const char *path)
{
    struct digest digest = {0};
    uint64_t length;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && !digest_of_file(file, &digest, &length)) digest = (struct digest){0};
    if (file >= 0) close(file);
    return digest;
}

/* Moves those that differ to the front, and returns how many.  Kernels that were compiled together have the same. */
static size_t keep_distinct(const struct toolchain *t, const char **objects, size_t count)
{
    struct digest *digests = arena_array(t->mem, struct digest, count + 1);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct digest digest = digest_of_object(objects[i]);
        size_t same = 0;
        while (same < kept && !digest_is_equal(digests[same], digest)) same++;
        if (same < kept) continue;
        digests[kept] = digest;
        objects[kept++] = objects[i];
    }
    return kept;
}

int kernel_objects_begin(struct kernel_objects *k, const struct toolchain *t, const struct codegen_parts *parts,
                         compilations *work)
{
    const size_t count = parts->list.count;
    *k = (struct kernel_objects){.t = t, .parts = parts, .noting = *t, .cache.folder = -1, .ahead.cache.folder = -1};
    if (count == 0) return EXIT_OK;
    k->objects = arena_array(t->mem, const char *, count);
    k->is_found = arena_array(t->mem, bool, count);
    if (!t->o->no_cache && !toolchain_compiler_is_opaque(t)) {
        cache_open(&k->cache, "kernels", CACHE_KERNELS);
        if (toolchain_is_for_one_run(t)) ahead_open(&k->ahead, t);
    }
    k->keys = describe(t, parts);
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = strbuf_text(&parts->list.data[i].name);
        k->objects[i] = arena_printf(t->mem, "%s/%s.o", t->temp_dir, name);
        k->is_found[i] = take_kept(t, &k->cache, &k->keys[i], name, k->objects[i]) ||
                         take_ahead(t, &k->ahead, &parts->list.data[i], k->objects[i]);
        found += k->is_found[i];
    }
    if (found == count) return EXIT_OK;
    k->are_kept = k->cache.folder >= 0;
    if (k->are_kept) {
        reads_begin(&k->reads, t->mem, t->temp_dir, arena_printf(t->mem, "%s/include/", t->prefix));
        k->noting.reads = &k->reads;
    }
    return toolchain_compiles_together(t) ? add_together(k, work) : add_each(k, work);
}

void kernel_objects_end(struct kernel_objects *k, bool good)
{
    const size_t count = k->parts->list.count;
    if (good && k->are_kept) keep(k);
    if (good) k->count = toolchain_compiles_together(k->t) ? keep_distinct(k->t, k->objects, count) : count;
    if (k->are_kept) reads_free(&k->reads);
    for (size_t i = 0; i < count; i++) strbuf_free(&k->keys[i]);
    cache_close(&k->cache);
    ahead_close(&k->ahead);
}
