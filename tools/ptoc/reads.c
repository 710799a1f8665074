/* reads.c - see reads.h.
 * Idea       a line of the list is a fact that can be asked of the system again:
 *                read DIGEST BYTES PATH            the file has this content
 *                same DEVICE INODE BYTES MTIME CTIME PATH   the large file was not written (Note [large files])
 *                none PATH                         there is no such file; a compiler that looks there goes on looking
 * Owner      names are the arena's.
 * Invariant  a file counts only if it was last changed before the build began, so that the compiler and the digest saw
 *            the same; more places count as looked at than were: a file that appears there costs a build.
 * Blocks     in reading files.
 * Tests      test/lit/run/cache-reads.test, scripts/cache_edits.py
 *
 * Note [large files]: the compiler, the linker and the libraries are 90 MB, and a digest of them would cost 30 ms.  A
 * file above LARGE_BYTES goes by device, inode, size and times.  Every write() moves the time of the last change
 * (ctime), which no call can set back; a store through a shared mapping moves it when the page is next written back, 30
 * s later at most, so the file has to have rested for RESTED_SECONDS and to lie in a file system of which this is
 * known.  Else its content is digested.
 */
#include "reads.h"
#include "scan.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LARGE_BYTES = 64 << 10, RESTED_SECONDS = 120, MAX_SOURCE = 64 << 20 };

static bool is_before(struct timespec a, struct timespec b)
{
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

void reads_begin(struct reads *r, struct arena *mem, const char *temp_dir, const char *installed)
{
    struct timespec first;
    *r = (struct reads){.mem = mem, .temp_dir = temp_dir, .installed = installed};
    /* A file system stamps a change with the coarse clock, or with the fine one, which is up to two ticks ahead.  So a
     * change before this call has a time before `begin`, and a later one has not. */
    clock_gettime(CLOCK_REALTIME, &first);
    do {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        clock_gettime(CLOCK_REALTIME_COARSE, &r->begin);
    } while (!is_before(first, r->begin));
}

void reads_free(struct reads *r)
{
    read_names *const all[] = {&r->sources,      &r->libraries, &r->programs, &r->include_dirs,
                               &r->library_dirs, &r->asked,     &r->lines};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vec_free(all[i]);
}

void reads_are_unsure(struct reads *r, const char *reason)
{
    if (!r->unsure) r->unsure = reason;
}

static void add_name(struct reads *r, read_names *names, const char *name, size_t length)
{
    vec_push(names, arena_copy(r->mem, name, length));
}

/* All of the file with a zero behind it, in the arena; NULL: it cannot be read, or it is not a file. */
static char *text_of(struct reads *r, int file, size_t *length)
{
    struct stat st;
    if (file < 0 || fstat(file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_SOURCE) return NULL;
    char *text = arena_alloc(r->mem, (size_t)st.st_size + 1);
    for (*length = 0; *length < (size_t)st.st_size;) {
        const ssize_t got = pread(file, text + *length, (size_t)st.st_size - *length, (off_t)*length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return NULL;
        *length += (size_t)got;
    }
    return text;
}

static char *text_of_path(struct reads *r, const char *path, size_t *length)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = text_of(r, file, length);
    if (file >= 0) close(file);
    return text;
}

/* ---- what the tools report ---- */

/* The first rule: `target: name name \` and so on; \ escapes a blank and a #, $ itself. */
static void add_rule(struct reads *r, read_names *names, const char *path)
{
    size_t length;
    const char *text = text_of_path(r, path, &length), *p = text ? strstr(text, ": ") : NULL;
    char name[PATH_MAX];
    if (!p) {
        reads_are_unsure(r, "the C compiler does not report which files it has read");
        return;
    }
    for (p += 2; *p && *p != '\n';) {
        size_t n = 0;
        for (; *p && *p != ' ' && *p != '\n' && n + 1 < sizeof name; p++) {
            if (*p == '\\' && p[1] == '\n') break;
            if ((*p == '\\' && (p[1] == ' ' || p[1] == '#')) || (*p == '$' && p[1] == '$')) p++;
            name[n++] = *p;
        }
        if (n + 1 == sizeof name) reads_are_unsure(r, "a path is too long");
        if (n > 0) add_name(r, names, name, n);
        if (*p == '\\' && p[1] == '\n')
            p += 2;
        else if (*p == ' ')
            p++;
        else if (n + 1 == sizeof name)
            return;
    }
}

void reads_add_sources(struct reads *r, const char *make_rule) { add_rule(r, &r->sources, make_rule); }
void reads_add_libraries(struct reads *r, const char *make_rule) { add_rule(r, &r->libraries, make_rule); }

static void add_asked(void *context, const char *name, size_t length)
{
    struct reads *r = context;
    add_name(r, &r->asked, name, length);
}

void reads_add_text(struct reads *r, const char *text, size_t length)
{
    const char *reason = scan_source(text, length, false, add_asked, r);
    if (reason) reads_are_unsure(r, arena_printf(r->mem, "a kernel's body: %s", reason));
}

void reads_add_assembly(struct reads *r, const char *path)
{
    size_t length;
    const char *text = text_of_path(r, path, &length),
               *reason = text ? scan_assembly(text, length) : "its assembly cannot be read";
    if (reason) reads_are_unsure(r, reason);
}

/* The text between two quotes behind `start`, if the line begins so. */
static void add_quoted(struct reads *r, const char *line, const char *start)
{
    const size_t n = strlen(start);
    if (strncmp(line, start, n) == 0) add_name(r, &r->include_dirs, line + n, strcspn(line + n, "\"\n"));
}

void reads_add_include_dirs(struct reads *r, const char *log)
{
    size_t length;
    const char *line = text_of_path(r, log, &length);
    bool in_list = false, complete = false;
    for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        static const char specs[] = "Reading specs from ", configuration[] = "Configuration file: ";
        const size_t n = strcspn(line, "\n");
        if (strncmp(line, "#include \"...\"", 14) == 0)
            in_list = true;
        else if (strncmp(line, "End of search list", 18) == 0)
            complete = in_list;
        else if (in_list && !complete && *line == ' ') {
            const char *remark = memmem(line, n, " (framework", 11);
            add_name(r, &r->include_dirs, line + 1, remark ? (size_t)(remark - line - 1) : n - 1);
        }
        add_quoted(r, line, "ignoring nonexistent directory \"");
        add_quoted(r, line, "ignoring duplicate directory \"");
        if (strncmp(line, specs, sizeof specs - 1) == 0)
            add_name(r, &r->programs, line + sizeof specs - 1, n - (sizeof specs - 1));
        if (strncmp(line, configuration, sizeof configuration - 1) == 0)
            add_name(r, &r->programs, line + sizeof configuration - 1, n - (sizeof configuration - 1));
    }
    if (!complete) reads_are_unsure(r, "the C compiler does not report where it looks for headers");
}

void reads_add_library_dirs(struct reads *r, const char *log)
{
    size_t length;
    const char *text = text_of_path(r, log, &length);
    for (const char *p = text; p && (p = strstr(p, "-L")) != NULL; p += 2)
        if (p > text && (p[-1] == ' ' || p[-1] == '"'))
            add_name(r, &r->library_dirs, p + 2, strcspn(p + 2, p[-1] == '"' ? "\"\n" : " \n"));
    if (r->library_dirs.count == 0) reads_are_unsure(r, "the C compiler does not report where it looks for libraries");
}

void reads_add_list(struct reads *r, const struct strbuf *list)
{
    const char *line = strbuf_text(list);
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') add_name(r, &r->lines, line, strcspn(line, "\n"));
}

/* ---- programs ---- */

char *program_find(const char *name, void (*passed)(void *context, const char *path), void *context)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/')) return access(name, X_OK) == 0 ? strdup(name) : NULL;
    while (path && *path) {
        const size_t length = strcspn(path, ":");
        char candidate[PATH_MAX];
        const int n = snprintf(candidate, sizeof candidate, "%.*s%s%s", (int)length, path, length ? "/" : "", name);
        if (n > 0 && (size_t)n < sizeof candidate) {
            if (access(candidate, X_OK) == 0) return strdup(candidate);
            if (passed) passed(context, candidate);
        }
        path += length + (path[length] == ':');
    }
    return NULL;
}

bool program_is_elf(const char *path)
{
    char mark[SELFMAG];
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_elf =
        file >= 0 && read(file, mark, sizeof mark) == (ssize_t)sizeof mark && memcmp(mark, ELFMAG, SELFMAG) == 0;
    if (file >= 0) close(file);
    return is_elf;
}

void reads_add_program(struct reads *r, const char *name)
{
    char *path = program_find(name, NULL, NULL);
    if (path) add_name(r, &r->programs, path, strlen(path));
    free(path);
}

/* ---- the list ---- */

struct listing {
    struct reads *r;
    read_names lines, names; /* names: of headers and libraries, as an include or an option may have them */
};

static void add_line(struct listing *l, const char *line, const char *path)
{
    if (strchr(path, '\n')) reads_are_unsure(l->r, "a path has two lines");
    vec_push(&l->lines, line);
}

static bool is_same_change(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static const char *identity_line(struct arena *mem, const struct stat *st, const char *path)
{
    return arena_printf(mem, "same %ju %ju %jd %jd.%09ld %jd.%09ld %s", (uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
                        (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
                        (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec, path);
}

static bool times_are_kept(int file)
{
    static const unsigned long known[] = {
        0xEF53 /* ext */,     0x58465342 /* XFS */,  0x9123683E /* Btrfs */,    0x794c7630 /* overlay */,
        0x2fc12fc1 /* ZFS */, 0xF2F52010 /* F2FS */, 0x73717368 /* squashfs */, 0xE0F5E1E2 /* EROFS */};
    struct statfs fs;
    if (fstatfs(file, &fs) != 0) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned long)fs.f_type == known[i]) return true;
    return false;
}

static bool is_of_system(const struct reads *r, const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 || strncmp(path, r->installed, strlen(r->installed)) == 0;
}

/* Its line, and where it is C text a look at that. */
static void add_open_file(struct listing *l, const char *path, int file, bool is_source)
{
    struct reads *r = l->r;
    struct stat before, after;
    struct digest digest;
    uint64_t bytes;
    if (fstat(file, &before) != 0 || !S_ISREG(before.st_mode))
        return reads_are_unsure(r, arena_printf(r->mem, "'%s' is not a file", path));
    if (!is_before(before.st_ctim, r->begin))
        return reads_are_unsure(r, arena_printf(r->mem, "'%s' was changed meanwhile", path));
    if (is_source) {
        size_t length;
        const char *text = text_of(r, file, &length);
        const char *reason =
            text ? scan_source(text, length, is_of_system(r, path), add_asked, r) : "it cannot be read";
        if (reason) reads_are_unsure(r, arena_printf(r->mem, "'%s': %s", path, reason));
    }
    const bool has_rested = before.st_ctim.tv_sec + RESTED_SECONDS < r->begin.tv_sec;
    if (before.st_size > LARGE_BYTES && has_rested && times_are_kept(file))
        return add_line(l, identity_line(r->mem, &before, path), path);
    if (!digest_of_file(file, &digest, &bytes) || fstat(file, &after) != 0 || !is_same_change(&before, &after))
        return reads_are_unsure(r, arena_printf(r->mem, "'%s' cannot be read, or was changed meanwhile", path));
    add_line(l,
             arena_printf(r->mem, "read %016" PRIx64 "%016" PRIx64 " %" PRIu64 " %s", digest.word[0], digest.word[1],
                          bytes, path),
             path);
}

static void add_file(struct listing *l, const char *path, bool is_source)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        reads_are_unsure(l->r, arena_printf(l->r->mem, "'%s': %s", path, strerror(errno)));
    else
        add_open_file(l, path, file, is_source);
    if (file >= 0) close(file);
}

/* "none" names the outermost missing folder, so that a thousand names become one line.  Returns that name. */
static const char *add_missing(struct listing *l, const char *path)
{
    char *shortest = arena_copy(l->r->mem, path, strlen(path));
    for (char *slash; (slash = strrchr(shortest, '/')) != NULL && slash > shortest;) {
        *slash = '\0';
        if (access(shortest, F_OK) == 0) {
            *slash = '/';
            break;
        }
    }
    add_line(l, arena_printf(l->r->mem, "none %s", shortest), path);
    return shortest;
}

/* A place where a tool may have looked.  What is there and was not read does not matter: if it is to be read one day,
 * then because another file is gone, or has come, which this list knows.  Returns NULL, or the outermost part of the
 * path that is missing. */
static const char *add_candidate(struct listing *l, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) return add_missing(l, path);
    if (S_ISDIR(st.st_mode)) reads_are_unsure(l->r, arena_printf(l->r->mem, "'%s' is a folder", path));
    return NULL;
}

static void pass(void *context, const char *path) { add_missing(context, path); }

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void sort_unique(read_names *names)
{
    size_t kept = 0;
    if (names->count > 0) qsort(names->data, names->count, sizeof *names->data, by_text);
    for (size_t i = 0; i < names->count; i++)
        if (kept == 0 || strcmp(names->data[kept - 1], names->data[i]) != 0) names->data[kept++] = names->data[i];
    names->count = kept;
}

static void drop_temporary(struct reads *r, read_names *names)
{
    size_t kept = 0;
    const size_t n = strlen(r->temp_dir);
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->data[i], r->temp_dir, n) != 0 || names->data[i][n] != '/')
            names->data[kept++] = names->data[i];
    names->count = kept;
    sort_unique(names);
}

/* The folder of a file with its slash, as it is written: "" for a name alone. */
static const char *folder_of(struct reads *r, const char *path)
{
    const char *slash = strrchr(path, '/');
    return arena_copy(r->mem, path, slash ? (size_t)(slash + 1 - path) : 0);
}

static const char *with_slash(struct reads *r, const char *folder)
{
    const size_t n = strlen(folder);
    return n == 0 || folder[n - 1] == '/' ? folder : arena_printf(r->mem, "%s/", folder);
}

static bool is_below(const char *path, const char *folder)
{
    const size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n] == '/';
}

/* A header was found in a folder of the search or beside the file that includes it.  Which it was does not matter: each
 * name that it can have had is looked for in each folder. */
static void add_header_places(struct listing *l)
{
    struct reads *r = l->r;
    read_names folders = {0}, names = {0};
    for (size_t i = 0; i < r->include_dirs.count; i++) vec_push(&folders, with_slash(r, r->include_dirs.data[i]));
    for (size_t i = 0; i < r->sources.count; i++) vec_push(&folders, folder_of(r, r->sources.data[i]));
    vec_push(&folders, "");
    sort_unique(&folders);
    for (size_t i = 0; i < r->sources.count; i++)
        for (size_t k = 0; k < folders.count; k++) {
            const char *path = r->sources.data[i], *folder = folders.data[k];
            const size_t n = strlen(folder);
            if (strncmp(path, folder, n) == 0 && path[n] != '/') vec_push(&names, path + n);
        }
    for (size_t i = 0; i < r->asked.count; i++) vec_push(&names, r->asked.data[i]);
    sort_unique(&names);
    const char **missing = arena_array(r->mem, const char *, folders.count + 1); /* the last one below each folder */
    for (size_t i = 0; i < names.count; i++)
        for (size_t k = 0; k < folders.count; k++) {
            const bool is_whole = names.data[i][0] == '/';
            const char *path = is_whole ? names.data[i] : arena_printf(r->mem, "%s%s", folders.data[k], names.data[i]);
            if (!missing[k] || !is_below(path, missing[k])) missing[k] = add_candidate(l, path);
        }
    for (size_t i = 0; i < r->sources.count; i++) { /* a header that was compiled before goes before it */
        const char *path = arena_printf(r->mem, "%s.gch", r->sources.data[i]);
        if (access(path, F_OK) == 0)
            reads_are_unsure(r, arena_printf(r->mem, "'%s' may be read", path));
        else
            add_missing(l, path);
    }
    vec_free(&folders);
    vec_free(&names);
}

/* __has_include of a file that is there: it has to stay. */
static void add_asked_files(struct listing *l)
{
    struct reads *r = l->r;
    for (size_t i = 0; i < r->asked.count; i++)
        for (size_t k = 0; k < r->include_dirs.count; k++) {
            const char *path = arena_printf(r->mem, "%s%s", with_slash(r, r->include_dirs.data[k]), r->asked.data[i]);
            if (access(path, F_OK) == 0) add_file(l, path, false);
        }
}

/* -lname is libname.so or libname.a of the first folder that has one; the files of the C library are found in the same
 * folders. */
static void add_library_places(struct listing *l)
{
    struct reads *r = l->r;
    for (size_t i = 0; i < r->libraries.count; i++) {
        const char *slash = strrchr(r->libraries.data[i], '/'), *base = slash ? slash + 1 : r->libraries.data[i],
                   *end = strstr(base, ".so");
        if (!end) end = strrchr(base, '.');
        const int stem = end ? (int)(end - base) : (int)strlen(base);
        for (size_t k = 0; k < r->library_dirs.count; k++) {
            const char *folder = with_slash(r, r->library_dirs.data[k]);
            add_candidate(l, arena_printf(r->mem, "%s%s", folder, base));
            if (strncmp(base, "lib", 3) != 0) continue;
            add_candidate(l, arena_printf(r->mem, "%s%.*s.so", folder, stem, base));
            add_candidate(l, arena_printf(r->mem, "%s%.*s.a", folder, stem, base));
        }
    }
}

static void add_program_places(struct listing *l)
{
    for (size_t i = 0; i < l->r->programs.count; i++) {
        const char *slash = strrchr(l->r->programs.data[i], '/');
        if (slash) free(program_find(slash + 1, pass, l));
    }
}

bool reads_list(struct reads *r, struct strbuf *list)
{
    struct listing l = {.r = r};
    drop_temporary(r, &r->sources);
    drop_temporary(r, &r->libraries);
    sort_unique(&r->programs);
    sort_unique(&r->library_dirs);
    for (size_t i = 0; i < r->sources.count; i++) add_file(&l, r->sources.data[i], true);
    for (size_t i = 0; i < r->libraries.count; i++) add_file(&l, r->libraries.data[i], false);
    for (size_t i = 0; i < r->programs.count; i++) add_file(&l, r->programs.data[i], false);
    sort_unique(&r->asked);
    add_header_places(&l);
    add_asked_files(&l);
    add_library_places(&l);
    add_program_places(&l);
    for (size_t i = 0; i < r->lines.count; i++) vec_push(&l.lines, r->lines.data[i]);
    sort_unique(&l.lines);
    for (size_t i = 0; i < l.lines.count && !r->unsure; i++) strbuf_printf(list, "%s\n", l.lines.data[i]);
    vec_free(&l.lines);
    return !r->unsure;
}

/* ---- contents ---- */

static void add_contents(struct reads *r, const char *kind, const char *path, read_names *lines)
{
    const size_t n = strlen(r->installed);
    const bool is_installed = strncmp(path, r->installed, n) == 0 && strncmp(path + n, "pto/", 4) == 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct digest digest;
    uint64_t bytes;
    if (file < 0 || !digest_of_file(file, &digest, &bytes))
        reads_are_unsure(r, arena_printf(r->mem, "'%s' cannot be read", path));
    else
        vec_push(lines, arena_printf(r->mem, "%s %016" PRIx64 "%016" PRIx64 " %" PRIu64 " %s%s", kind, digest.word[0],
                                     digest.word[1], bytes, is_installed ? "<installed>/" : "",
                                     is_installed ? path + n : path));
    if (file >= 0) close(file);
}

bool reads_contents(struct reads *r, struct strbuf *text)
{
    read_names lines = {0};
    drop_temporary(r, &r->sources);
    for (size_t i = 0; i < r->programs.count; i++) {
        char *real = realpath(r->programs.data[i], NULL);
        add_contents(r, "program", real ? real : r->programs.data[i], &lines);
        free(real);
    }
    for (size_t i = 0; i < r->sources.count; i++) add_contents(r, "header", r->sources.data[i], &lines);
    sort_unique(&lines);
    for (size_t i = 0; i < lines.count; i++) strbuf_printf(text, "%s\n", lines.data[i]);
    vec_free(&lines);
    return !r->unsure;
}

/* ---- later ---- */

static bool has_content(const char *facts, const char *path)
{
    struct digest wanted, digest;
    uint64_t wanted_bytes, bytes;
    struct stat st;
    if (sscanf(facts, "%16" SCNx64 "%16" SCNx64 " %" SCNu64, &wanted.word[0], &wanted.word[1], &wanted_bytes) != 3)
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool same = file >= 0 && fstat(file, &st) == 0 && S_ISREG(st.st_mode) &&
                      (uint64_t)st.st_size == wanted_bytes && digest_of_file(file, &digest, &bytes) &&
                      bytes == wanted_bytes && digest_is_equal(digest, wanted);
    if (file >= 0) close(file);
    return same;
}

static bool is_absent(const char *path) { return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR); }

static bool has_identity(const char *line, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) return false;
    struct arena *mem = arena_create();
    const bool same = strcmp(identity_line(mem, &st, path), line) == 0;
    arena_destroy(mem);
    return same;
}

/* Behind the n-th blank. */
static const char *behind_blanks(const char *line, int n)
{
    for (; n > 0 && line; n--) line = (line = strchr(line, ' ')) != NULL ? line + 1 : NULL;
    return line ? line : "";
}

static bool holds(const char *line)
{
    if (strncmp(line, "none ", 5) == 0) return is_absent(line + 5);
    if (strncmp(line, "read ", 5) == 0) return has_content(line + 5, behind_blanks(line, 3));
    return strncmp(line, "same ", 5) == 0 && has_identity(line, behind_blanks(line, 6));
}

bool reads_are_unchanged(const char *list, size_t length)
{
    char line[PATH_MAX + 256];
    for (const char *p = list, *end = list + length; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop || (size_t)(stop - p) >= sizeof line) return false;
        memcpy(line, p, (size_t)(stop - p));
        line[stop - p] = '\0';
        if (!holds(line)) return false;
        p = stop + 1;
    }
    return length > 0;
}
