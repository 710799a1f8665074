/* scipy.c - what SciPy's save_npz says of a sparse matrix beside its arrays, see npz.h.
 * Idea       an archive that has a member `format` is one of SciPy's, whose `format` is a word and whose `shape` is two
 *            extents.  Nothing else determines the columns of a CSR matrix, so both are read strictly.
 * Tests      test/lit/host/npz-matrix.test
 */
#include "npz.h"
#include "read_at.h"
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ELEMENTS = 32 }; /* bytes of what is read here at most: two extents, or a word of seven letters of NumPy's <U */

struct small_array {
    struct npy_header header;
    int64_t at;    /* in the archive; -1: it has none */
    int64_t bytes; /* of the elements */
    unsigned char elements[ELEMENTS];
    char place[512]; /* for messages */
};

static int complain(const struct small_array *a, const char *name, const char *what, struct host_error *e)
{
    return host_fail(e, HOST_FILE, "'%s': %s is %s", name, a->place, what);
}

/* The member of f, an archive of `size` bytes that is closed here. */
static int read_member(struct npy_file *f, const char *name, const char *member, int64_t size, struct small_array *a,
                       struct host_error *e)
{
    int code = ptoi_npz_find_small(f, name, member, &size, &a->at, e);
    if (code != HOST_OK || a->at < 0) return code;
    snprintf(a->place, sizeof a->place, "'%s' of %.400s (at byte %" PRId64 ")", member, f->path, a->at);
    f->path = a->place;
    if ((code = ptoi_npy_read_header(f, name, size, &a->header, e)) != HOST_OK) return code;
    a->bytes = size - f->data_at;
    if (a->bytes > ELEMENTS) return complain(a, name, "too large", e);
    if (a->bytes < 0 || !ptoi_read_at(f->fd, f->base + f->data_at, a->elements, a->bytes))
        return complain(a, name, "truncated", e);
    return HOST_OK;
}

static int read_of(const char *path, const char *name, const char *member, struct small_array *a, struct host_error *e)
{
    struct npy_file f = {.path = path, .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    struct stat st;
    const bool is_archive = f.fd >= 0 && fstat(f.fd, &st) == 0 && S_ISREG(st.st_mode) && ptoi_npz_is(f.fd);
    *a = (struct small_array){.at = -1};
    const int code = is_archive ? read_member(&f, name, member, st.st_size, a, e) : HOST_OK;
    ptoi_npy_close(&f);
    return code;
}

/* SciPy writes bytes; what is a text in Python is one of UCS-4. */
static int parse_format(const struct small_array *a, const char *name, char format[4], struct host_error *e)
{
    static const char *const formats[] = {"csr", "csc", "coo", "bsr"};
    const char *const descr = a->header.descr;
    const int64_t width = strncmp(descr, "|S", 2) == 0 ? 1 : strncmp(descr, "<U", 2) == 0 ? 4 : 0;
    char word[ELEMENTS + 1] = "";
    for (int64_t i = 0; width > 0 && i < a->bytes / width; i++) word[i] = (char)a->elements[i * width];
    for (size_t i = 0; a->header.rank == 0 && i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(word, formats[i]) == 0) {
            memcpy(format, formats[i], sizeof "csr");
            return HOST_OK;
        }
    return complain(a, name, "not csr, csc, coo or bsr, the formats of SciPy's matrices that have such arrays", e);
}

static int parse_shape(const struct small_array *a, const char *name, struct npz_matrix *m, struct host_error *e)
{
    const char *const descr = a->header.descr;
    const bool are_two = a->header.rank == 1 && a->header.shape[0] == 2;
    int64_t extents[2] = {-1, -1};
    int32_t narrow[2];
    if (are_two && strcmp(descr, "<i8") == 0 && a->bytes == sizeof extents)
        memcpy(extents, a->elements, sizeof extents);
    if (are_two && strcmp(descr, "<i4") == 0 && a->bytes == sizeof narrow) {
        memcpy(narrow, a->elements, sizeof narrow);
        for (int d = 0; d < 2; d++) extents[d] = narrow[d];
    }
    if (extents[0] < 0 || extents[1] < 0) return complain(a, name, "not two extents in i64 or i32", e);
    m->rows = extents[0];
    m->columns = extents[1];
    return HOST_OK;
}

int ptoi_npz_find_matrix(const char *path, const char *name, struct npz_matrix *m, struct host_error *e)
{
    struct small_array format, shape;
    *m = (struct npz_matrix){.format = ""};
    int code = read_of(path, name, "format", &format, e);
    if (code != HOST_OK || format.at < 0) return code;
    if ((code = parse_format(&format, name, m->format, e)) != HOST_OK) return code;
    if ((code = read_of(path, name, "shape", &shape, e)) != HOST_OK) return code;
    if (shape.at < 0) return host_fail(e, HOST_FILE, "'%s': %s has 'format' and no 'shape'", name, path);
    return parse_shape(&shape, name, m, e);
}
