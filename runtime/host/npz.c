/* npz.c - see npz.h.
 * Invariant  every offset of an archive is compared with the size of the file before it is used.
 */
#include "crc.h"
#include "npz.h"
#include "read_at.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
    LOCAL = 0x04034b50,   /* signatures: of a member, */
    CENTRAL = 0x02014b50, /* of its entry in the directory at the end, */
    END = 0x06054b50,     /* of the end, */
    END_64 = 0x06064b50,  /* of the end of a large file, */
    LOCATOR = 0x07064b50, /* and of the place of that */
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    END_64_BYTES = 56,
    LOCATOR_BYTES = 20,
    COMMENT_MAX = 65535,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    METHOD_NONE = -1,
    DEFLATE_MAX = 1032, /* bytes that one byte becomes at most */
    NAMES = 256,        /* bytes of the list of members in a message */
    SMALL = 4096        /* bytes of a small member at most */
};

static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t n = 0;
    for (int i = bytes; i-- > 0;) n = n << 8 | at[i];
    return n;
}

/* false: the file has not so many bytes there. */
static bool read_at(int fd, int64_t at, void *to, int64_t bytes, int64_t size)
{
    return at >= 0 && bytes >= 0 && at <= size && bytes <= size - at && ptoi_read_at(fd, at, to, bytes);
}

bool ptoi_npz_is(int fd)
{
    unsigned char first[4];
    return read_at(fd, 0, first, 4, 4) && (number(first, 4) == LOCAL || number(first, 4) == END);
}

struct directory {
    int64_t at, bytes;
    uint64_t count;
};

static bool find_directory(int fd, int64_t size, struct directory *d)
{
    const int64_t most = END_BYTES + COMMENT_MAX, tail_bytes = size < most ? size : most;
    unsigned char *tail = malloc((size_t)tail_bytes + 1), end[END_64_BYTES], locator[LOCATOR_BYTES];
    int64_t at = tail_bytes - END_BYTES;
    bool found = tail && read_at(fd, size - tail_bytes, tail, tail_bytes, size);
    while (found && at >= 0 && number(tail + at, 4) != END) at--;
    found = found && at >= 0;
    if (found)
        *d = (struct directory){.at = (int64_t)number(tail + at + 16, 4),
                                .bytes = (int64_t)number(tail + at + 12, 4),
                                .count = number(tail + at + 10, 2)};
    free(tail);
    const int64_t before = size - tail_bytes + at - LOCATOR_BYTES;
    if (!found || !read_at(fd, before, locator, LOCATOR_BYTES, size) || number(locator, 4) != LOCATOR) return found;
    if (!read_at(fd, (int64_t)number(locator + 8, 8), end, END_64_BYTES, size) || number(end, 4) != END_64)
        return false;
    *d = (struct directory){
        .at = (int64_t)number(end + 48, 8), .bytes = (int64_t)number(end + 40, 8), .count = number(end + 32, 8)};
    return true;
}

struct member {
    char name[sizeof((struct npy_checksum *)0)->member]; /* without .npy */
    int64_t at, bytes, stored;
    uint32_t checksum;
    int method; /* METHOD_STORED, METHOD_DEFLATED; another one: it cannot be read */
};

/* What does not fit into four bytes stands in a field behind the name: the bytes, the stored bytes, the place. */
static void read_large(const unsigned char *extra, int64_t length, uint64_t *values[3])
{
    for (int64_t at = 0; at + 4 <= length;) {
        const int64_t bytes = (int64_t)number(extra + at + 2, 2);
        int64_t from = at + 4;
        if (number(extra + at, 2) == 1)
            for (int i = 0; i < 3; i++)
                if (*values[i] == UINT32_MAX && from + 8 <= length && from + 8 <= at + 4 + bytes)
                    *values[i] = number(extra + from, 8), from += 8;
        at += 4 + bytes;
    }
}

/* The name that stands in the archive before the member is the one in the directory. */
static bool is_named_so(int fd, int64_t size, int64_t at, const unsigned char *name, int64_t length)
{
    unsigned char *const there = malloc((size_t)length + 1);
    const bool is_same = there && read_at(fd, at, there, length, size) && memcmp(there, name, (size_t)length) == 0;
    free(there);
    return is_same;
}

/* Reads the entry at *at and leaves *at behind it. */
static bool read_member(int fd, int64_t size, int64_t *at, struct member *m)
{
    unsigned char entry[CENTRAL_BYTES], local[LOCAL_BYTES];
    if (!read_at(fd, *at, entry, CENTRAL_BYTES, size) || number(entry, 4) != CENTRAL) return false;
    const int64_t name = (int64_t)number(entry + 28, 2), extra = (int64_t)number(entry + 30, 2);
    uint64_t stored = number(entry + 20, 4), bytes = number(entry + 24, 4), place = number(entry + 42, 4);
    unsigned char *more = malloc((size_t)(name + extra) + 1);
    bool good = more && read_at(fd, *at + CENTRAL_BYTES, more, name + extra, size);
    if (good) {
        read_large(more + name, extra, (uint64_t *[3]){&bytes, &stored, &place});
        good = place <= INT64_MAX / 2 && read_at(fd, (int64_t)place, local, LOCAL_BYTES, size) &&
               number(local, 4) == LOCAL && (int64_t)number(local + 26, 2) == name &&
               is_named_so(fd, size, (int64_t)place + LOCAL_BYTES, more, name);
        const int64_t length = name > 4 && memcmp(more + name - 4, ".npy", 4) == 0 ? name - 4 : name;
        for (int64_t i = 0; i < length; i++) /* for messages: a name of ours is plain letters */
            if (more[i] < ' ' || more[i] > '~') more[i] = '?';
        snprintf(m->name, sizeof m->name, "%.*s", (int)length, (const char *)more);
    }
    free(more);
    if (!good || bytes > INT64_MAX / 2) return false;
    m->at = (int64_t)place + LOCAL_BYTES + name + (int64_t)number(local + 28, 2);
    m->bytes = (int64_t)bytes;
    m->stored = (int64_t)stored;
    m->checksum = (uint32_t)number(entry + 16, 4);
    const bool is_encrypted = number(entry + 8, 2) & 1, is_stored = number(entry + 10, 2) == METHOD_STORED;
    m->method = is_encrypted || (is_stored && stored != bytes) ? METHOD_NONE : (int)number(entry + 10, 2);
    if (m->method == METHOD_DEFLATED && bytes / DEFLATE_MAX > stored) m->method = METHOD_NONE;
    *at += CENTRAL_BYTES + name + extra + (int64_t)number(entry + 32, 2);
    return m->at <= size && stored <= (uint64_t)(size - m->at);
}

/* How well a member fits the array: 0 not at all, 3 by its name, less by that of a field or by SciPy's. */
static int fit(const char *member, const char *name)
{
    static const char *const scipy[][2] = {
        {"ptr", "indptr"}, {"idx", "indices"}, {"val", "data"}, {"row", "row"}, {"column", "col"}};
    const char *const dot = strrchr(name, '.'), *const field = dot ? dot + 1 : NULL;
    if (strcmp(member, name) == 0) return 3;
    if (field && strcmp(member, field) == 0) return 2;
    for (size_t i = 0; field && i < sizeof scipy / sizeof scipy[0]; i++)
        if (strcmp(field, scipy[i][0]) == 0 && strcmp(member, scipy[i][1]) == 0) return 1;
    return 0;
}

static int fail_member(const struct npy_file *f, const char *name, const struct member *m, const char *what,
                       struct host_error *e)
{
    return host_fail(e, HOST_FILE, "'%s': '%s' of %s (at byte %" PRId64 ") is %s", name, m->name, f->path, m->at, what);
}

static int use_packed(struct npy_file *f, const char *name, const struct member *m, struct host_error *e)
{
    const struct npz_packed p = {.at = m->at, .stored = m->stored, .bytes = m->bytes, .checksum = m->checksum};
    const int unpacked = ptoi_npz_unpack(f->fd, &p);
    if (unpacked < 0 && errno == ELIBACC)
        return fail_member(f, name, m,
                           "compressed, and there is no libz.so.1: save it with numpy.savez, not savez_compressed", e);
    if (unpacked < 0 && errno == EILSEQ) return fail_member(f, name, m, "damaged: it cannot be unpacked", e);
    if (unpacked < 0) return host_fail(e, HOST_FILE, "'%s': cannot unpack %s: %s", name, f->path, strerror(errno));
    close(f->fd);
    f->fd = unpacked;
    f->base = 0;
    return HOST_OK;
}

static int use(struct npy_file *f, const char *name, const struct member *m, int64_t *size, struct host_error *e)
{
    *size = m->bytes;
    if (m->method == METHOD_DEFLATED) return use_packed(f, name, m, e);
    if (m->method != METHOD_STORED)
        return fail_member(f, name, m, "compressed or encrypted in a way that NumPy does not use", e);
    f->base = m->at;
    return HOST_OK;
}

/* The member that fits best; at < 0: there is none.  `names` is the list of all. */
static int look_for(const struct npy_file *f, const char *name, const char *wanted, int64_t size, struct member *found,
                    char names[NAMES], struct host_error *e)
{
    struct directory d;
    struct member m;
    int best = 0;
    *found = (struct member){.at = -1};
    names[0] = '\0';
    if (!find_directory(f->fd, size, &d))
        return host_fail(e, HOST_FILE, "'%s': %s is truncated: an archive ends in its directory", name, f->path);
    int64_t at = d.at;
    for (uint64_t i = 0; i < d.count; i++) {
        if (!read_member(f->fd, size, &at, &m))
            return host_fail(e, HOST_FILE, "'%s': the directory of %s is wrong", name, f->path);
        const int now = fit(m.name, wanted);
        if (now > best || d.count == 1) *found = m, best = now;
        const size_t used = strlen(names);
        snprintf(names + used, NAMES - used, "%s'%.60s'", i ? ", " : "", m.name);
    }
    return HOST_OK;
}

int ptoi_npz_find(struct npy_file *f, const char *name, int64_t *size, struct host_error *e)
{
    struct member found;
    char names[NAMES];
    const int code = look_for(f, name, name, *size, &found, names, e);
    if (code != HOST_OK) return code;
    if (found.at < 0)
        return host_fail(e, HOST_FILE, "'%s': %s has no array of this name; it has %s", name, f->path,
                         names[0] ? names : "none");
    if (found.method == METHOD_STORED) {
        f->checksum = (struct npy_checksum){.name = name, .sum = found.checksum};
        memcpy(f->checksum.member, found.name, sizeof found.name);
    }
    return use(f, name, &found, size, e);
}

int ptoi_npz_check(const struct npy_file *f, struct host_error *e)
{
    if (!f->checksum.name) return HOST_OK;
    struct member m = {.at = f->base};
    memcpy(m.name, f->checksum.member, sizeof m.name);
    unsigned char *const header = malloc((size_t)f->data_at);
    if (!header) return host_fail_memory(e);
    const bool is_there = read_at(f->fd, f->base, header, f->data_at, INT64_MAX);
    const uint32_t sum = is_there ? ptoi_crc(~0u, header, f->data_at) : 0;
    free(header);
    if (is_there && (uint32_t)~ptoi_crc(sum, f->array.data, f->array.bytes) == f->checksum.sum) return HOST_OK;
    return fail_member(f, f->checksum.name, &m, "damaged: its checksum is wrong", e);
}

/* A compressed member was compared when it was unpacked. */
static bool has_its_checksum(const struct npy_file *f, const struct member *m)
{
    unsigned char bytes[SMALL];
    return m->method != METHOD_STORED || (read_at(f->fd, m->at, bytes, m->bytes, m->at + m->bytes) &&
                                          (uint32_t)~ptoi_crc(~0u, bytes, m->bytes) == m->checksum);
}

int ptoi_npz_find_small(struct npy_file *f, const char *name, const char *member, int64_t *size, int64_t *at,
                        struct host_error *e)
{
    struct member found;
    char names[NAMES];
    int code = look_for(f, name, member, *size, &found, names, e);
    *at = code == HOST_OK && strcmp(found.name, member) == 0 ? found.at : -1;
    if (*at < 0) return code;
    if (found.bytes > SMALL) return fail_member(f, name, &found, "too large", e);
    code = use(f, name, &found, size, e);
    if (code == HOST_OK && !has_its_checksum(f, &found))
        return fail_member(f, name, &found, "damaged: its checksum is wrong", e);
    return code;
}
