/* ahead_make.c - the making of ahead.h: `ptoc build --emit=objects`.
 * Idea       the facts are described before anything is compiled and again behind it, and each file that the compiler
 *            reports to have read must be one of them.
 * Owner      the folder of each level: what is no object of these kernels is removed.
 * Invariant  the facts are written last: objects without them are never found.
 * Blocks     in the C compiler.
 * Tests      test/lit/run/objects-make.test
 */
#include "ahead.h"
#include "ahead_facts.h"
#include "options.h"
#include "output.h"
#include "process.h"
#include "support/arena.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct making {
    struct toolchain t; /* of the level, and it notes what is read */
    const struct codegen_parts *kernels;
    struct cache cache;
    struct strbuf headers, facts;
    struct reads reads;
    struct strbuf *keys;  /* of each object */
    const char **objects; /* NULL: it is in the folder */
};

static int refuse(const char *reason)
{
    fprintf(stderr, "ptoc: error: no objects are made: %s\n", reason);
    return EXIT_ERRORS;
}

/* Each line of the kernels that names a header, once. */
static void collect_headers(const struct codegen_parts *kernels, struct strbuf *headers)
{
    for (size_t i = 0; i < kernels->list.count; i++)
        for (const char *p = strbuf_text(&kernels->list.data[i].text); *p; p += strcspn(p, "\n"), p += *p == '\n') {
            const size_t length = strcspn(p, "\n");
            if (strncmp(p, "#include ", 9) != 0 || memmem(strbuf_text(headers), headers->length, p, length)) continue;
            strbuf_add(headers, p, length);
            strbuf_putc(headers, '\n');
        }
}

/* Has the folder objects that were made from the same? */
static bool is_current(const struct making *m)
{
    STRBUF(kept);
    return ahead_read_facts(m->cache.path, &kept) && kept.length == m->facts.length &&
           memcmp(kept.data, m->facts.data, kept.length) == 0;
}

static int compile_missing(struct making *m)
{
    compilations work = {0};
    const bool any_is_kept = is_current(m);
    int result = EXIT_OK;
    for (size_t i = 0; i < m->kernels->list.count && result == EXIT_OK; i++) {
        const struct codegen_part *kernel = &m->kernels->list.data[i];
        char *path = NULL;
        ahead_add_key(&m->facts, kernel, &m->keys[i]);
        const int kept = any_is_kept ? cache_find(&m->cache, &m->keys[i], &path) : -1;
        free(path);
        if (kept >= 0) {
            close(kept);
            continue;
        }
        m->objects[i] = arena_printf(m->t.mem, "%s/%s.o", m->t.temp_dir, strbuf_text(&kernel->name));
        result = toolchain_add_kernel(&m->t, strbuf_text(&kernel->name), &kernel->text, m->objects[i], &work);
    }
    if (result == EXIT_OK) result = toolchain_compile(&work);
    vec_free(&work);
    return result;
}

/* Are all the files that were read those of the facts, with the same content?  Those were found by asking for
 * headers. */
static int check_reads(struct making *m)
{
    STRBUF(list);
    STRBUF(again);
    toolchain_note_compiler(&m->t);
    if (!reads_list(&m->reads, &list)) return refuse(m->reads.unsure);
    if (m->reads.asked.count > 0) return refuse("a header asks by __has_include what there is");
    if (!ahead_describe(&m->t, &m->headers, &again) || again.length != m->facts.length ||
        memcmp(again.data, m->facts.data, again.length) != 0)
        return refuse("a file was changed meanwhile, or a kernel reads one that its headers do not name");
    return EXIT_OK;
}

static bool is_of_kernel(const struct making *m, const char *file)
{
    char name[CACHE_NAME_BYTES];
    for (size_t i = 0; i < m->kernels->list.count; i++) {
        cache_name(&m->cache, &m->keys[i], name);
        if (strcmp(name, file) == 0) return true;
    }
    return strcmp(file, "facts") == 0;
}

/* Objects of another compiler, and of kernels that are no more. */
static void remove_others(const struct making *m)
{
    DIR *entries = opendir(m->cache.path);
    for (struct dirent *e; entries && (e = readdir(entries));) {
        const size_t length = strlen(e->d_name);
        if (length > 2 && strcmp(e->d_name + length - 2, ".o") == 0 && !is_of_kernel(m, e->d_name))
            unlinkat(m->cache.folder, e->d_name, 0);
    }
    if (entries) closedir(entries);
}

static int keep_all(const struct making *m)
{
    const struct strbuf no_list = {0};
    for (size_t i = 0; i < m->kernels->list.count; i++)
        if (m->objects[i] && !cache_keep(&m->cache, &m->keys[i], &no_list, m->objects[i]))
            return refuse(arena_printf(m->t.mem, "'%s' cannot be written", m->cache.path));
    remove_others(m);
    return output_text(arena_printf(m->t.mem, "%s/facts", m->cache.path), &m->facts);
}

static int make_in(struct making *m)
{
    const size_t count = m->kernels->list.count;
    collect_headers(m->kernels, &m->headers);
    if (!ahead_describe(&m->t, &m->headers, &m->facts))
        return refuse("the environment changes what the C compiler does, or it does not answer");
    m->keys = arena_array(m->t.mem, struct strbuf, count + 1);
    m->objects = arena_array(m->t.mem, const char *, count + 1);
    int result = compile_missing(m);
    if (result == EXIT_OK) result = check_reads(m);
    if (result == EXIT_OK) result = keep_all(m);
    for (size_t i = 0; i < count; i++) strbuf_free(&m->keys[i]);
    return result;
}

static bool make_folder(const char *path)
{
    if (mkdir(path, 0755) == 0 || errno == EEXIST) return true;
    fprintf(stderr, "ptoc: error: cannot make '%s': %s\n", path, strerror(errno));
    return false;
}

static int make_level(const struct toolchain *t, const struct codegen_parts *kernels, const char *folder,
                      const char *level)
{
    struct making m = {.t = *t, .kernels = kernels};
    const char *const path = arena_printf(t->mem, "%s/%s", folder, level ? level : "any");
    if (!make_folder(path)) return EXIT_FILE;
    m.t.level = level;
    m.t.is_ahead = true;
    m.t.reads = &m.reads;
    reads_begin(&m.reads, t->mem, t->temp_dir, arena_printf(t->mem, "%s/include/", t->prefix));
    cache_open_installed(&m.cache, path);
    const int result = make_in(&m);
    cache_close(&m.cache);
    reads_free(&m.reads);
    strbuf_free(&m.headers);
    strbuf_free(&m.facts);
    return result;
}

/* Of the levels that are made ahead those that --cpu asks for. */
static bool is_asked_for(const struct toolchain *t, const char *level)
{
    return !level || !t->o->cpu || strcmp(level, t->o->cpu) == 0;
}

/* The compiler works in the folder for temporary files, which its objects call the folder of the modules: there a
 * debugger finds the text of std/ where ptoc is installed under /usr. */
int ahead_make(const struct toolchain *t, const struct codegen_parts *kernels, const char *folder)
{
#ifdef __x86_64__
    static const char *const levels[] = {"v3", "v4"}; /* processors since 2013; on others all is compiled */
#else
    static const char *const levels[] = {NULL};
#endif
    const char *const opaque = toolchain_compiler_is_opaque(t);
    char real[PATH_MAX];
    int result = opaque ? refuse(opaque) : make_folder(folder) ? EXIT_OK : EXIT_FILE;
    if (result != EXIT_OK) return result;
    if (!realpath(folder, real) || chdir(t->temp_dir) != 0) return refuse(strerror(errno));
    for (size_t i = 0; i < sizeof levels / sizeof *levels && result == EXIT_OK; i++)
        if (is_asked_for(t, levels[i])) result = make_level(t, kernels, real, levels[i]);
    return result;
}
