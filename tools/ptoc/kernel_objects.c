/* kernel_objects.c - see kernel_objects.h.
 * Idea       the key of an object is the text of its file and the compiler with its options; the list of files that
 *            were read is that of all kernels of this build, so that the compiler is asked once where it looks.  The
 *            program was built from these files too, so the lists, new and kept, are added to its own.
 * Owner      nothing.
 * Invariant  an object from the cache is that which the compiler would make now.
 * Blocks     in the C compiler.
 * Tests      test/lit/run/cache-kernels.test
 */
#include "kernel_objects.h"
#include "cache.h"
#include "support/arena.h"
#include <stdio.h>
#include <stdlib.h>

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
    const bool good = kept >= 0 && cache_copy(kept, object) == EXIT_OK;
    if (good && t->o->verbose) fprintf(stderr, "unchanged: the kernel '%s', %s\n", name, path);
    free(path);
    return good;
}

/* Compiles those that have no object yet, and keeps them. */
static int compile_rest(const struct toolchain *t, const struct cache *cache, const struct codegen_parts *parts,
                        const struct strbuf *keys, const char *const *objects, const bool *is_found)
{
    struct reads reads;
    struct toolchain noting = *t;
    STRBUF(list);
    int result = EXIT_OK;
    const bool are_kept = cache->folder >= 0;
    noting.reads = are_kept ? &reads : t->reads;
    if (are_kept) reads_begin(&reads, t->mem, t->temp_dir, arena_printf(t->mem, "%s/include/", t->prefix));
    for (size_t i = 0; i < parts->list.count && result == EXIT_OK; i++) {
        const struct codegen_part *kernel = &parts->list.data[i];
        if (!is_found[i])
            result = toolchain_compile_kernel(&noting, strbuf_text(&kernel->name), &kernel->text, objects[i]);
    }
    if (result == EXIT_OK && are_kept) {
        toolchain_note_compiler(&noting);
        if (!reads_list(&reads, &list)) {
            if (t->reads) reads_are_unsure(t->reads, reads.unsure);
        } else {
            if (t->reads) reads_add_list(t->reads, &list);
            for (size_t i = 0; i < parts->list.count; i++)
                if (!is_found[i]) cache_keep(cache, &keys[i], &list, objects[i]);
        }
    }
    if (are_kept) reads_free(&reads);
    return result;
}

int kernel_objects_make(const struct toolchain *t, const struct codegen_parts *parts, const char **objects)
{
    const size_t count = parts->list.count;
    struct cache cache = {.folder = -1};
    bool *is_found = arena_array(t->mem, bool, count + 1);
    size_t found = 0;
    if (count == 0) return EXIT_OK;
    if (!t->o->no_cache && !toolchain_compiler_is_opaque(t)) cache_open(&cache, "kernels", CACHE_KERNELS);
    struct strbuf *keys = describe(t, parts);
    for (size_t i = 0; i < count; i++) {
        const char *name = strbuf_text(&parts->list.data[i].name);
        objects[i] = arena_printf(t->mem, "%s/%s.o", t->temp_dir, name);
        is_found[i] = take_kept(t, &cache, &keys[i], name, objects[i]);
        found += is_found[i];
    }
    const int result = found < count ? compile_rest(t, &cache, parts, keys, objects, is_found) : EXIT_OK;
    for (size_t i = 0; i < count; i++) strbuf_free(&keys[i]);
    cache_close(&cache);
    return result;
}
