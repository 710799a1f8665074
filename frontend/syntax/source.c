/* source.c - the bytes of the files, and where in them a place is.
 * Idea       each file is read once, whole; a table of line starts is made the first time a place is asked for.
 * Owner      the source map owns every text and path it was given.
 * Invariant  text[length] == 0; line_starts is sorted, begins with 0 and is as long as the file has lines.
 * Blocks     only in reading standard input; a FIFO or a device is refused before it is read.
 * Tests      test/lit/diag/bad-files.test, test/lit/lexer/line-ends.test
 */
#include "source.h"
#include "support/vec.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 1 << 30, READ_BYTES = 64 * 1024 };

struct loaded {
    struct source source;
    uint64_t path_hash;
    VEC(uint32_t) line_starts;
};

/* A text that is read in place of a file. */
struct overlay {
    char *path, *real; /* real: without links and `..` */
    const char *text;
    size_t length;
};

struct source_map {
    VEC(struct loaded *) files;
    VEC(struct overlay) overlays;
    uint32_t *slots; /* by path: the number of a file, from 1; 0: empty */
    size_t slot_count;
};

static void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (p == NULL) {
        fputs("ptoc: out of memory\n", stderr);
        exit(3);
    }
    return p;
}

struct source_map *source_map_create(void) { return allocate(sizeof(struct source_map)); }

void source_map_destroy(struct source_map *m)
{
    if (m == NULL) return;
    for (size_t i = 0; i < m->files.count; i++) {
        struct loaded *f = m->files.data[i];
        free((char *)f->source.path);
        free((char *)f->source.text);
        vec_free(&f->line_starts);
        free(f);
    }
    vec_free(&m->files);
    for (size_t i = 0; i < m->overlays.count; i++) {
        free(m->overlays.data[i].path);
        free(m->overlays.data[i].real);
    }
    vec_free(&m->overlays);
    free(m->slots);
    free(m);
}

/* ---- files by their paths ---- */

static uint64_t hash_path(const char *path)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *path != '\0'; path++) h = (h ^ (unsigned char)*path) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}

/* The slot of the file of that path, or the empty one where it would be put. */
static uint32_t *find_slot(const struct source_map *m, const char *path, uint64_t hash)
{
    size_t i = (size_t)hash & (m->slot_count - 1);
    for (; m->slots[i] != 0; i = (i + 1) & (m->slot_count - 1)) {
        const struct loaded *f = m->files.data[m->slots[i] - 1];
        if (f->path_hash == hash && strcmp(f->source.path, path) == 0) break;
    }
    return &m->slots[i];
}

static void remember_path(struct source_map *m, uint32_t number)
{
    const struct loaded *f = m->files.data[number - 1];
    uint32_t *slot = find_slot(m, f->source.path, f->path_hash);
    if (*slot == 0) *slot = number; // of two files of one path the first is found
}

static void grow_slots(struct source_map *m)
{
    free(m->slots);
    m->slot_count = m->slot_count == 0 ? 64 : m->slot_count * 4;
    m->slots = allocate(m->slot_count * sizeof *m->slots);
    for (size_t i = 0; i < m->files.count; i++) remember_path(m, (uint32_t)i + 1);
}

static int find_path(const struct source_map *m, const char *path)
{
    return m->slot_count == 0 ? -1 : (int)*find_slot(m, path, hash_path(path)) - 1;
}

/* ---- reading ---- */

/* Takes over text, which has room for the sentinel. */
static int add_owned(struct source_map *m, const char *path, char *text, size_t length)
{
    struct loaded *f = allocate(sizeof *f);
    size_t path_bytes = strlen(path) + 1;
    f->source = (struct source){memcpy(allocate(path_bytes), path, path_bytes), text, length, false};
    f->path_hash = hash_path(path);
    text[length] = '\0';
    vec_push(&m->files, f);
    if (m->files.count * 2 > m->slot_count)
        grow_slots(m);
    else
        remember_path(m, (uint32_t)m->files.count);
    return (int)m->files.count - 1;
}

int source_map_add(struct source_map *m, const char *path, const char *text, size_t length)
{
    char *copy = allocate(length + 1);
    if (length > 0) memcpy(copy, text, length);
    return add_owned(m, path, copy, length);
}

int source_map_add_generated(struct source_map *m, const char *path, const char *text, size_t length)
{
    int file = source_map_add(m, path, text, length);
    m->files.data[file]->source.is_generated = true;
    return file;
}

/* ---- texts in place of files ---- */

/* Without links and `..`; of a file that is not there, in a folder that is, too.  To be freed. */
static char *canonical(const char *path)
{
    char *real = realpath(path, NULL);
    if (real != NULL) return real;
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    char *there = folder == NULL ? NULL : realpath(folder, NULL);
    if (there == NULL || asprintf(&real, "%s/%s", there, slash == NULL ? path : slash + 1) < 0) real = strdup(path);
    free(folder);
    free(there);
    return real;
}

void source_map_overlay(struct source_map *m, const char *path, const char *text, size_t length)
{
    const struct overlay o = {strdup(path), canonical(path), text, length};
    vec_push(&m->overlays, o);
}

static const struct overlay *find_overlay(const struct source_map *m, const char *path)
{
    if (m->overlays.count == 0) return NULL;
    const struct overlay *found = NULL;
    char *real = canonical(path);
    for (size_t i = 0; i < m->overlays.count && found == NULL; i++) {
        const struct overlay *o = &m->overlays.data[i];
        if (strcmp(o->path, path) == 0 || (real && o->real && strcmp(o->real, real) == 0)) found = o;
    }
    free(real);
    return found;
}

bool source_map_can_read(const struct source_map *m, const char *path)
{
    return find_overlay(m, path) != NULL || access(path, R_OK) == 0;
}

static const char *reason_of_errno(int error)
{
    switch (error) {
    case ENOENT: return "no such file";
    case ENOTDIR: return "a part of the path is not a directory";
    case EACCES: return "permission denied";
    case EISDIR: return "is a directory";
    case ENAMETOOLONG: return "the name is too long";
    case ELOOP: return "too many symbolic links";
    case EMFILE:
    case ENFILE: return "too many open files";
    default: return "cannot be read";
    }
}

/* Reads to the end of fd; NULL with a reason in *why.  A file may grow or shrink meanwhile: the bytes read count, not
 * stat. */
static char *read_all(int fd, size_t expected, size_t *length, const char **why)
{
    size_t capacity = expected + READ_BYTES + 1;
    char *text = allocate(capacity);
    size_t have = 0;
    for (;;) {
        if (capacity - have <= READ_BYTES) {
            capacity *= 2;
            char *grown = realloc(text, capacity);
            if (grown == NULL) {
                free(text);
                *why = "does not fit into memory";
                return NULL;
            }
            text = grown;
        }
        ssize_t n = read(fd, text + have, READ_BYTES);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            *why = reason_of_errno(errno);
            free(text);
            return NULL;
        }
        if (n == 0) break;
        have += (size_t)n;
        if (have > MAX_FILE_BYTES) {
            *why = "is larger than 1 GiB";
            free(text);
            return NULL;
        }
    }
    *length = have;
    char *fitting = realloc(text, have + 1); // many small files must not hold a large buffer each
    return fitting == NULL ? text : fitting;
}

static const char *refusal_of(const struct stat *st)
{
    if (S_ISDIR(st->st_mode)) return "is a directory";
    if (S_ISFIFO(st->st_mode)) return "is a pipe; use - to read standard input";
    if (!S_ISREG(st->st_mode)) return "is not a regular file";
    if (st->st_size > MAX_FILE_BYTES) return "is larger than 1 GiB";
    return NULL;
}

int source_map_read(struct source_map *m, const char *path, const char **why)
{
    size_t length = 0;
    bool is_stdin = strcmp(path, "-") == 0;
    const char *shown = is_stdin ? "<stdin>" : path;
    int known = find_path(m, shown);
    if (known >= 0) return known;
    if (is_stdin) {
        char *text = read_all(STDIN_FILENO, 0, &length, why);
        return text == NULL ? -1 : add_owned(m, shown, text, length);
    }
    const struct overlay *o = find_overlay(m, path);
    if (o != NULL) return source_map_add(m, path, o->text, o->length);
    // O_NONBLOCK: opening a FIFO without a writer must not hang before it can be refused.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *why = reason_of_errno(errno);
        return -1;
    }
    struct stat st;
    *why = fstat(fd, &st) != 0 ? reason_of_errno(errno) : refusal_of(&st);
    char *text = *why == NULL ? read_all(fd, (size_t)st.st_size, &length, why) : NULL;
    close(fd);
    return text == NULL ? -1 : add_owned(m, path, text, length);
}

const struct source *source_get(const struct source_map *m, uint32_t file) { return &m->files.data[file]->source; }

static void find_lines(struct loaded *f)
{
    const char *text = f->source.text, *end = text + f->source.length, *at = text;
    vec_push(&f->line_starts, 0);
    while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        vec_push(&f->line_starts, (uint32_t)(at - text));
    }
}

/* The number, from 0, of the line that contains offset. */
static size_t line_of(const struct source_map *m, uint32_t file, uint32_t offset)
{
    struct loaded *f = m->files.data[file];
    if (f->line_starts.count == 0) find_lines(f);
    size_t low = 0, high = f->line_starts.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (f->line_starts.data[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct place source_place(const struct source_map *m, uint32_t file, uint32_t offset)
{
    size_t line = line_of(m, file, offset);
    uint32_t begin = m->files.data[file]->line_starts.data[line];
    return (struct place){(int)line + 1, (int)(offset - begin) + 1};
}

const char *source_line(const struct source_map *m, uint32_t file, uint32_t offset, size_t *length)
{
    size_t line = line_of(m, file, offset);
    const struct loaded *f = m->files.data[file];
    size_t begin = f->line_starts.data[line];
    size_t end = line + 1 < f->line_starts.count ? f->line_starts.data[line + 1] - 1 : f->source.length;
    if (end > begin && f->source.text[end - 1] == '\r') end--;
    *length = end - begin;
    return f->source.text + begin;
}
