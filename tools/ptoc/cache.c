/* cache.c - programs that were built before.
 * Idea       one file a program, KEY.HASH: the program, then the key it was built from, then the key's length and a mark.  It is made
 *            under another name and renamed, so whoever opens it sees all of it.
 * Owner      the folder $PTOC_CACHE, else $XDG_CACHE_HOME/ptoc, else $HOME/.cache/ptoc, shared by all runs of the user.
 * Invariant  a program is found only by the very text it was kept with; MAX_KEPT programs are kept, the ones used last.
 * Blocks     in files.  What fails there only means that the program is built.
 * Tests      test/lit/run/cache.test
 */
#include "cache.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_KEPT = 64, MAX_INCLUDES = 256, MAX_SOURCE = 16 << 20 };
static const char mark[8] = "ptoc-k1";

struct tail { /* the end of a kept file */
    uint64_t key_bytes;
    char mark[8];
};

/* ---- keys ---- */

void cache_add_text(struct cache_key *k, const char *what, const char *text, size_t length)
{
    strbuf_printf(&k->text, "%s %zu:", what, length);
    strbuf_add(&k->text, text, length);
    strbuf_putc(&k->text, '\n');
}

void cache_add_words(struct cache_key *k, const char *what, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) cache_add_text(k, what, words[i], strlen(words[i]));
}

void cache_add_file(struct cache_key *k, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        strbuf_printf(&k->text, "no file %s\n", path);
        return;
    }
    strbuf_printf(&k->text, "file %s %ju %ju %jd %jd.%09ld %jd.%09ld\n", path, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, (intmax_t)st.st_size,
                  (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

void cache_add_program(struct cache_key *k, const char *name)
{
    const char *path = getenv("PATH");
    cache_add_text(k, "word", name, strlen(name));
    if (strchr(name, '/')) {
        cache_add_file(k, name);
        return;
    }
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char candidate[PATH_MAX];
        int n = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
        if (n > 0 && (size_t)n < sizeof candidate && access(candidate, X_OK) == 0) {
            cache_add_file(k, candidate);
            return;
        }
        path += length + (path[length] == ':');
    }
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

void cache_add_headers(struct cache_key *k, const char *folder)
{
    struct dirent **found;
    int count = scandir(folder, &found, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s", folder, found[i]->d_name) < (int)sizeof path) cache_add_file(k, path);
        free(found[i]);
    }
    if (count >= 0) free(found);
}

/* All of a file, to be freed; NULL where it can not be read. */
static char *read_all(const char *path, size_t *length)
{
    struct stat st;
    FILE *in = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_SOURCE ? fopen(path, "r") : NULL;
    char *text = in ? malloc((size_t)st.st_size + 1) : NULL;
    if (text) {
        *length = fread(text, 1, (size_t)st.st_size, in);
        text[*length] = '\0';
    }
    if (in) fclose(in);
    return text;
}

static void add_source(struct cache_key *k, const char *path, const char *include, int *left);

/* `name`, as an include of the file at `path` says it. */
static void add_include(struct cache_key *k, const char *path, const char *name, int length, const char *include, int *left)
{
    const char *slash = strrchr(path, '/');
    char beside[PATH_MAX], there[PATH_MAX];
    snprintf(beside, sizeof beside, "%.*s%.*s", slash ? (int)(slash + 1 - path) : 0, path, length, name);
    snprintf(there, sizeof there, "%s/%.*s", include, length, name);
    if (access(beside, R_OK) == 0) add_source(k, beside, include, left);
    else if (access(there, R_OK) == 0) add_source(k, there, include, left);
    else k->is_unsure = true;
}

static void add_source(struct cache_key *k, const char *path, const char *include, int *left)
{
    size_t length = 0;
    char *text = --*left >= 0 ? read_all(path, &length) : NULL;
    if (!text || strlen(text) != length || strstr(text, "__TIME") || strstr(text, "__DATE__")) k->is_unsure = true;
    if (text && !k->is_unsure) {
        cache_add_text(k, path, text, length);
        for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
            const char *p = line + strspn(line, " \t");
            if (*p != '#') continue;
            p += 1 + strspn(p + 1, " \t");
            if (strncmp(p, "include", 7) != 0) continue;
            p += 7 + strspn(p + 7, " \t");
            if (*p == '"') add_include(k, path, p + 1, (int)strcspn(p + 1, "\"\n"), include, left);
            else if (*p != '<') k->is_unsure = true; /* a macro says what is included */
        }
    }
    free(text);
}

void cache_add_source(struct cache_key *k, const char *path, const char *include)
{
    int left = MAX_INCLUDES;
    add_source(k, path, include, &left);
}

void cache_key_free(struct cache_key *k)
{
    strbuf_free(&k->text);
}

/* ---- the folder ---- */

/* To be freed; NULL: nothing is kept. */
static char *folder_path(void)
{
    const char *own = getenv("PTOC_CACHE"), *user = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (own) return *own == '/' ? strdup(own) : NULL;
    if (user && *user == '/') return asprintf(&path, "%s/ptoc", user) < 0 ? NULL : path;
    if (home && *home == '/') return asprintf(&path, "%s/.cache/ptoc", home) < 0 ? NULL : path;
    return NULL;
}

/* It, and the one above it. */
static void make_folder(const char *path)
{
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (mkdir(path, 0700) == 0 || !slash || slash == path) return;
    snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
    mkdir(above, 0700);
    mkdir(path, 0700);
}

/* FNV-1a; it only chooses a name. */
static uint64_t hash_of(const struct strbuf *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text->length; i++) h = (h ^ (unsigned char)text->data[i]) * 0x100000001b3u;
    return h;
}

static char *place_of(const struct cache_key *k)
{
    char *folder = k->is_unsure ? NULL : folder_path(), *path = NULL;
    if (folder && asprintf(&path, "%s/%016jx", folder, (uintmax_t)hash_of(&k->text)) < 0) path = NULL;
    free(folder);
    return path;
}

/* Does the file end with this key?  Only a file of this user is believed. */
static bool is_of(const char *path, const struct cache_key *k)
{
    struct tail tail;
    struct stat st;
    size_t key_bytes = k->text.length;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool same = fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && (size_t)st.st_size > key_bytes + sizeof tail &&
                pread(file, &tail, sizeof tail, st.st_size - (off_t)sizeof tail) == (ssize_t)sizeof tail &&
                memcmp(tail.mark, mark, sizeof mark) == 0 && tail.key_bytes == key_bytes;
    char *kept = same ? malloc(key_bytes) : NULL;
    same = kept && pread(file, kept, key_bytes, st.st_size - (off_t)(sizeof tail + key_bytes)) == (ssize_t)key_bytes &&
           memcmp(kept, k->text.data, key_bytes) == 0;
    free(kept);
    close(file);
    return same;
}

char *cache_find(const struct cache_key *k)
{
    char *path = place_of(k);
    if (path && is_of(path, k) && access(path, X_OK) == 0) {
        utimensat(AT_FDCWD, path, NULL, 0); /* used now */
        return path;
    }
    free(path);
    return NULL;
}

struct kept { char name[32]; struct timespec used; };

static int by_use(const void *pa, const void *pb)
{
    const struct timespec *a = &((const struct kept *)pa)->used, *b = &((const struct kept *)pb)->used;
    return a->tv_sec != b->tv_sec ? (a->tv_sec > b->tv_sec) - (a->tv_sec < b->tv_sec) : (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* The programs that were not used for longest go. */
static void forget_old(const char *folder)
{
    enum { MAX_SEEN = 4 * MAX_KEPT };
    struct kept seen[MAX_SEEN];
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *e; entries && count < MAX_SEEN && (e = readdir(entries));) {
        struct stat st;
        if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof seen->name || fstatat(dirfd(entries), e->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode)) continue;
        strcpy(seen[count].name, e->d_name);
        seen[count++].used = st.st_mtim;
    }
    qsort(seen, (size_t)count, sizeof *seen, by_use);
    for (int i = 0; i < count - MAX_KEPT; i++) unlinkat(dirfd(entries), seen[i].name, 0);
    if (entries) closedir(entries);
}

static bool write_kept(FILE *out, FILE *program, const struct cache_key *k)
{
    char block[65536];
    struct tail tail = {.key_bytes = k->text.length};
    memcpy(tail.mark, mark, sizeof mark);
    for (size_t n; (n = fread(block, 1, sizeof block, program)) > 0;)
        if (fwrite(block, 1, n, out) != n) return false;
    return !ferror(program) && fwrite(k->text.data, 1, k->text.length, out) == k->text.length && fwrite(&tail, sizeof tail, 1, out) == 1;
}

void cache_keep(const struct cache_key *k, const char *program)
{
    char *folder = folder_path(), *path = place_of(k), *fresh = NULL;
    if (path && folder) make_folder(folder);
    int file = path && asprintf(&fresh, "%s-XXXXXX", path) >= 0 ? mkostemp(fresh, O_CLOEXEC) : -1;
    FILE *out = file < 0 ? NULL : fdopen(file, "w"), *in = out ? fopen(program, "r") : NULL;
    bool good = in && write_kept(out, in, k) && fchmod(file, 0700) == 0;
    if (in) fclose(in);
    if (out) good = fclose(out) == 0 && good && rename(fresh, path) == 0;
    if (out && !good) unlink(fresh);
    if (good) forget_old(folder);
    free(folder);
    free(path);
    free(fresh);
}
