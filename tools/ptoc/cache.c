/* cache.c - programs that were built before.
 * Idea       one file a program, named by a digest of its key: the program, the key, the list of what was read, and an
 *            end with a digest of all before it.  It is written under another name and renamed, so a reader always sees
 *            the whole file.
 * Owner      the folder $PTOC_CACHE, else $XDG_CACHE_HOME/ptoc, else $HOME/.cache/ptoc, shared by all runs of the user.
 * Invariant  an entry that was verified is executed by the descriptor that was verified; MAX_KEPT programs are kept,
 *            the ones used last; nobody but the user and root can have written to the folder.
 * Blocks     in files.  A failure there only means that the program is built.
 * Tests      test/lit/run/cache.test, cache-reads.test, cache-folder.test, scripts/cache_edits.py
 */
#include "cache.h"
#include "options.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char mark[8] = "ptoc-k2";

struct tail { /* the end of a kept file */
    uint64_t key_bytes, list_bytes;
    struct digest digest;
    char mark[8];
};

void cache_key_text(struct strbuf *key, const char *what, const char *text, size_t length)
{
    strbuf_printf(key, "%s %zu:", what, length);
    strbuf_add(key, text, length);
    strbuf_putc(key, '\n');
}

void cache_key_words(struct strbuf *key, const char *what, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) cache_key_text(key, what, words[i], strlen(words[i]));
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
    if (mkdir(path, 0700) == 0 || errno == EEXIST || !slash || slash == path) return;
    snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
    mkdir(above, 0700);
    mkdir(path, 0700);
}

static bool is_trusted(uid_t owner) { return owner == geteuid() || owner == 0; }

/* Is this folder, or one above it, another user's to change?  A sticky folder lets others add names and leaves ours
 * alone. real: without links; it is cut up. */
static bool others_may_write(int folder, char *real)
{
    struct stat st;
    if (fstat(folder, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022)) return true;
    for (char *slash; (slash = strrchr(real, '/')) != NULL;) {
        slash[slash == real] = '\0';
        if (lstat(real, &st) != 0 || !is_trusted(st.st_uid) || ((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
            return true;
        if (slash == real) break;
    }
    return false;
}

void cache_open(struct cache *c, const char *kind, int most)
{
    char *path = folder_path();
    *c = (struct cache){.folder = -1, .path = path, .most = most};
    if (!path || access("/proc/self/fd", X_OK) != 0) return;
    make_folder(path);
    if (kind) {
        if (asprintf(&c->path, "%s/%s", path, kind) < 0) c->path = NULL;
        free(path);
        if (!c->path) return;
        make_folder(c->path);
    }
    char *real = realpath(c->path, NULL);
    if (real) c->folder = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (c->folder >= 0 && others_may_write(c->folder, real)) {
        fprintf(stderr, "ptoc: warning: '%s' can be changed by other users: programs are not kept\n", c->path);
        close(c->folder);
        c->folder = -1;
    }
    free(real);
}

void cache_open_installed(struct cache *c, const char *path)
{
    *c = (struct cache){.folder = -1, .path = strdup(path), .is_installed = true};
    if (c->path) c->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void cache_close(struct cache *c)
{
    if (c->folder >= 0) close(c->folder);
    free(c->path);
    *c = (struct cache){.folder = -1};
}

void cache_name(const struct cache *c, const struct strbuf *key, char name[CACHE_NAME_BYTES])
{
    const struct digest d = digest_of(key->data, key->length);
    snprintf(name, CACHE_NAME_BYTES, "%016" PRIx64 "%016" PRIx64 "%s", d.word[0], d.word[1],
             c->is_installed ? ".o" : "");
}

/* ---- finding ---- */

/* Is the file, all of it as it was written, of this key, and is what it was built from as it was? */
static bool is_good(const struct cache *c, const char *data, size_t size, const struct strbuf *key)
{
    struct tail tail;
    if (size <= sizeof tail) return false;
    const size_t body = size - sizeof tail;
    memcpy(&tail, data + body, sizeof tail);
    if (memcmp(tail.mark, mark, sizeof mark) != 0 || tail.key_bytes != key->length || tail.list_bytes >= body ||
        tail.key_bytes > body - tail.list_bytes)
        return false;
    const char *list = data + body - tail.list_bytes, *kept_key = list - tail.key_bytes;
    return memcmp(kept_key, key->data, key->length) == 0 && digest_is_equal(digest_of(data, body), tail.digest) &&
           (c->is_installed ? tail.list_bytes == 0 : reads_are_unchanged(list, tail.list_bytes));
}

static bool is_found(const struct cache *c, int file, const struct strbuf *key)
{
    struct stat st;
    if (fstat(file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) return false;
    if (!c->is_installed && (st.st_uid != geteuid() || (st.st_mode & 022))) return false;
    char *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (data == MAP_FAILED) return false;
    const bool good = is_good(c, data, (size_t)st.st_size, key);
    munmap(data, (size_t)st.st_size);
    return good;
}

int cache_find(const struct cache *c, const struct strbuf *key, char **path)
{
    char name[CACHE_NAME_BYTES];
    if (c->folder < 0) return -1;
    cache_name(c, key, name);
    const int file = c->is_installed || faccessat(c->folder, name, X_OK, 0) == 0
                         ? openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
                         : -1;
    if (file >= 0 && is_found(c, file, key) && asprintf(path, "%s/%s", c->path, name) >= 0) {
        if (!c->is_installed) futimens(file, NULL); /* used now */
        return file;
    }
    if (file >= 0) close(file);
    return -1;
}

/* Where it begins; -1: it cannot be read. */
static int64_t read_tail(int file, struct tail *tail)
{
    struct stat st;
    if (fstat(file, &st) != 0) return -1;
    const int64_t at = (int64_t)st.st_size - (int64_t)sizeof *tail;
    return at >= 0 && pread(file, tail, sizeof *tail, at) == (ssize_t)sizeof *tail ? at : -1;
}

int64_t cache_program_bytes(int file)
{
    struct tail tail;
    const int64_t at = read_tail(file, &tail);
    return at < 0 ? -1 : at - (int64_t)tail.list_bytes - (int64_t)tail.key_bytes;
}

bool cache_list(int file, struct strbuf *list)
{
    struct tail tail;
    const int64_t at = read_tail(file, &tail);
    char block[4096];
    for (uint64_t done = 0; at >= 0 && done < tail.list_bytes;) {
        const uint64_t left = tail.list_bytes - done;
        const ssize_t got = pread(file, block, left < sizeof block ? left : sizeof block, (off_t)(at - (int64_t)left));
        if (got <= 0) return false;
        strbuf_add(list, block, (size_t)got);
        done += (uint64_t)got;
    }
    return at >= 0;
}

int cache_copy(int kept, const char *path)
{
    char block[65536];
    int64_t left = cache_program_bytes(kept);
    ssize_t got = 1;
    FILE *out = left >= 0 ? fopen(path, "we") : NULL;
    bool good = out != NULL;
    while (good && left > 0 &&
           (got = read(kept, block, left < (int64_t)sizeof block ? (size_t)left : sizeof block)) > 0) {
        good = fwrite(block, 1, (size_t)got, out) == (size_t)got;
        left -= got;
    }
    if (out && fclose(out) != 0) good = false;
    if (left != 0) good = false;
    if (!good) fprintf(stderr, "ptoc: error: cannot write '%s': %s\n", path, strerror(errno));
    close(kept);
    return good ? EXIT_OK : EXIT_FILE;
}

/* ---- keeping ---- */

struct kept {
    char name[CACHE_NAME_BYTES];
    struct timespec used;
};

static int by_use(const void *pa, const void *pb)
{
    const struct timespec *a = &((const struct kept *)pa)->used, *b = &((const struct kept *)pb)->used;
    return a->tv_sec != b->tv_sec ? (a->tv_sec > b->tv_sec) - (a->tv_sec < b->tv_sec)
                                  : (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

/* The programs that were not used for longest go, and what processes that were killed have left. */
static void forget_old(int folder, int most)
{
    enum { ABANDONED_SECONDS = 3600 };
    const int most_seen = 4 * most;
    struct kept *seen = calloc((size_t)most_seen, sizeof *seen);
    int count = 0;
    if (!seen) return;
    const time_t now = time(NULL);
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (!entries && again >= 0) close(again);
    for (struct dirent *e; entries && count < most_seen && (e = readdir(entries));) {
        struct stat st;
        if (strlen(e->d_name) >= sizeof seen->name || fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            continue;
        if (e->d_name[0] == '.') {
            if (st.st_mtim.tv_sec + ABANDONED_SECONDS < now) unlinkat(folder, e->d_name, 0);
            continue;
        }
        strcpy(seen[count].name, e->d_name);
        seen[count++].used = st.st_mtim;
    }
    qsort(seen, (size_t)count, sizeof *seen, by_use);
    for (int i = 0; i < count - most; i++) unlinkat(folder, seen[i].name, 0);
    if (entries) closedir(entries);
    free(seen);
}

struct writer {
    int file;
    bool good;
    struct digest_state digest;
};

static void put(struct writer *w, const void *bytes, size_t length)
{
    digest_add(&w->digest, bytes, length);
    for (const char *at = bytes; w->good && length > 0;) {
        const ssize_t n = write(w->file, at, length);
        if (n < 0 && errno == EINTR) continue;
        w->good = n > 0;
        if (n > 0) at += n, length -= (size_t)n;
    }
}

static bool write_entry(int file, const char *program, const struct strbuf *key, const struct strbuf *list)
{
    static char block[1 << 16];
    struct writer w = {.file = file, .good = true};
    struct tail tail = {.key_bytes = key->length, .list_bytes = list->length};
    const int in = open(program, O_RDONLY | O_CLOEXEC);
    digest_begin(&w.digest);
    ssize_t n = in < 0 ? -1 : 1;
    while (n > 0 && w.good)
        if ((n = read(in, block, sizeof block)) > 0)
            put(&w, block, (size_t)n);
        else if (n < 0 && errno == EINTR)
            n = 1;
    if (in >= 0) close(in);
    put(&w, key->data, key->length);
    put(&w, list->data, list->length);
    tail.digest = digest_end(&w.digest);
    memcpy(tail.mark, mark, sizeof mark);
    put(&w, &tail, sizeof tail);
    return n == 0 && w.good;
}

bool cache_keep(const struct cache *c, const struct strbuf *key, const struct strbuf *list, const char *program)
{
    char name[CACHE_NAME_BYTES], fresh[CACHE_NAME_BYTES];
    const mode_t mode = c->is_installed ? 0644 : 0700;
    if (c->folder < 0) return false;
    cache_name(c, key, name);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(fresh, sizeof fresh, ".%ld-%09ld", (long)getpid(), now.tv_nsec);
    const int file = openat(c->folder, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0) return false;
    bool good = write_entry(file, program, key, list) && fchmod(file, mode) == 0;
    good = close(file) == 0 && good && renameat(c->folder, fresh, c->folder, name) == 0;
    if (!good)
        unlinkat(c->folder, fresh, 0);
    else if (!c->is_installed)
        forget_old(c->folder, c->most);
    return good;
}
