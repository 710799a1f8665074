/* npy.c - NumPy files, read and written exactly.
 * Idea       a file is magic, version, header length, a Python dict as text, data.  The dict is read by a small strict
 *            parser that knows its three keys and nothing else of Python.
 * Owner      the file descriptor of an open npy_file; the caller owns the data.
 * Invariant  nothing is allocated that the size of the file does not bear out: a header can lie, the file system does
 *            not.
 * Blocks     only in read and write of regular files; FIFOs are opened without waiting and refused as input.
 * Tests      test/runtime/test_npy.c, test/lit/host/npy-*.test
 */
#include "npz.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pto/pto_types.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are read as they lie in the file");

enum {
    PREFIX_BYTES = 12,      /* magic, version, and the longer of the two forms of the header's length */
    MAX_HEADER = 64 * 1024, /* NumPy itself stops at 10,000 */
    MAX_CHUNK = 1 << 30     /* Linux moves at most 2 GiB at once */
};
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static const char *const descr_of[PTO_TYPE_COUNT] = {
    [PTO_F16] = "<f2", [PTO_BF16] = "<u2", [PTO_F32] = "<f4",  [PTO_F64] = "<f8",  [PTO_I8] = "|i1",
    [PTO_I16] = "<i2", [PTO_I32] = "<i4",  [PTO_I64] = "<i8",  [PTO_U8] = "|u1",   [PTO_U16] = "<u2",
    [PTO_U32] = "<u4", [PTO_U64] = "<u8",  [PTO_BOOL] = "|b1", [PTO_BYTE] = "|u1",
};

/* ---- the header's text ------------------------------------------------------------------------------------------- */

struct header {
    const char *at, *end;
    struct npy_header *found;
    const char *wrong; /* why parsing stopped */
};

static bool wrong(struct header *h, const char *why)
{
    h->wrong = why;
    return false;
}

static void skip_blanks(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\t')) h->at++;
}

static bool take(struct header *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

static bool take_word(struct header *h, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(h);
    if ((size_t)(h->end - h->at) < length || memcmp(h->at, word, length) != 0) return false;
    h->at += length;
    return true;
}

/* A quoted string without escapes, as all that belong here are. */
static bool take_string(struct header *h, char *text, size_t size)
{
    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return false;
    char quote = *h->at++;
    size_t length = 0;
    for (; h->at < h->end && *h->at != quote; h->at++) {
        if (*h->at == '\\' || *h->at == '\0' || length + 1 >= size) return false;
        text[length++] = *h->at;
    }
    text[length] = '\0';
    return take(h, quote);
}

static bool parse_extent(struct header *h, int64_t *extent)
{
    skip_blanks(h);
    if (h->at < h->end && *h->at == '-') return wrong(h, "an extent is negative");
    const char *first = h->at;
    *extent = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, *h->at - '0', extent))
            return wrong(h, "an extent does not fit in 64 bits");
    if (h->at == first) return wrong(h, "'shape' is not a tuple of numbers");
    if (h->at < h->end && *h->at == 'L') /* how Python 2 wrote long numbers */
        h->at++;
    return true;
}

static bool parse_shape(struct header *h)
{
    if (!take(h, '(')) return wrong(h, "'shape' is not a tuple");
    h->found->rank = 0;
    while (!take(h, ')')) {
        int64_t extent;
        if (!parse_extent(h, &extent)) return false;
        if (h->found->rank < PTO_MAX_RANK) h->found->shape[h->found->rank] = extent;
        h->found->rank++;
        bool comma = take(h, ',');
        if (!comma && take(h, ')')) {
            if (h->found->rank == 1) return wrong(h, "'shape' is a number, not a tuple"); /* (3) is 3 in Python */
            return true;
        }
        if (!comma) return wrong(h, "'shape' is not a tuple of numbers");
    }
    return true;
}

static bool parse_value(struct header *h, const char *key, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned k = 0;
    while (k < 3 && strcmp(key, keys[k]) != 0) k++;
    if (k == 3) return wrong(h, "it has an unknown key");
    if (*seen & 1u << k) return wrong(h, "it has a key twice");
    *seen |= 1u << k;
    if (k == 2) return parse_shape(h);
    if (k == 0)
        return take_string(h, h->found->descr, sizeof h->found->descr) ||
               wrong(h, "'descr' is not a simple element type");
    h->found->fortran = take_word(h, "True");
    return h->found->fortran || take_word(h, "False") || wrong(h, "'fortran_order' is neither True nor False");
}

static bool parse_header(struct header *h)
{
    char key[24];
    unsigned seen = 0;
    if (!take(h, '{')) return wrong(h, "it is not a dict");
    while (!take(h, '}')) {
        if (!take_string(h, key, sizeof key) || !take(h, ':'))
            return wrong(h, "it is not a dict of the three known keys");
        if (!parse_value(h, key, &seen)) return false;
        if (!take(h, ',') && !(h->at < h->end && *h->at == '}'))
            return wrong(h, "it is not a dict of the three known keys");
    }
    if (seen != 7) return wrong(h, "one of 'descr', 'fortran_order' and 'shape' is missing");
    skip_blanks(h);
    if (h->at < h->end && *h->at == '\n') h->at++;
    return h->at == h->end || wrong(h, "text follows the dict");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Returns how many bytes came before the end of the file, or -1 with errno. */
static int64_t read_fully(int fd, void *to, int64_t bytes)
{
    int64_t done = 0;
    while (done < bytes) {
        int64_t want = bytes - done < MAX_CHUNK ? bytes - done : MAX_CHUNK;
        ssize_t got = read(fd, (char *)to + done, (size_t)want);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += got;
    }
    return done;
}

/* The program's name for the elements of a file, whatever their byte order; NULL: the language has no such type. */
static const char *type_in_file(const char *descr)
{
    for (int t = 0; t < PTO_TYPE_COUNT; t++)
        if (t != PTO_BF16 && t != PTO_BYTE && descr_of[t] && descr[0] && strcmp(descr + 1, descr_of[t] + 1) == 0)
            return pto_type_name((PTOType)t);
    return NULL;
}

/* The same element type by another name, or with another byte order: the hint for the user. */
static int check_descr(const struct npy_file *f, const char *name, PTOType type, const char *descr,
                       struct host_error *e)
{
    const char *expected = descr_of[type], *found = type_in_file(descr);
    const bool one_byte = expected[2] == '1', is_same = descr[0] && strcmp(descr + 1, expected + 1) == 0;
    if (is_same && strchr(one_byte ? "<=|>" : "<=|", descr[0]))
        return HOST_OK; /* of any type | is this machine's order */
    if (is_same && descr[0] == '>')
        return host_fail(e, HOST_FILE,
                         "%s holds big-endian %s, '%s' is little-endian: save it with NumPy's astype('%s')", f->path,
                         found, name, expected);
    const char *as = type == PTO_BF16 ? ", which a file has as u16" : "";
    if (!found)
        return host_fail(e, HOST_FILE, "%s holds elements that NumPy calls '%s', '%s' is %s%s", f->path, descr, name,
                         pto_type_name(type), as);
    return host_fail(e, HOST_FILE, "%s holds %s, '%s' is %s%s", f->path, found, name, pto_type_name(type), as);
}

int ptoi_npy_read_header(struct npy_file *f, const char *name, int64_t size, struct npy_header *found,
                         struct host_error *e)
{
    unsigned char prefix[PREFIX_BYTES];
    const int64_t want = size < PREFIX_BYTES ? size : PREFIX_BYTES; /* behind a member others follow */
    int64_t got = lseek(f->fd, f->base, SEEK_SET) < 0 ? -1 : read_fully(f->fd, prefix, want);
    if (got < 0) return host_fail(e, HOST_FILE, "'%s': cannot read %s: %s", name, f->path, strerror(errno));
    int64_t head = got < (int64_t)sizeof magic ? got : (int64_t)sizeof magic;
    if (got == 0) return host_fail(e, HOST_FILE, "'%s': %s is empty, not a NumPy file", name, f->path);
    if (memcmp(prefix, magic, (size_t)head) != 0)
        return host_fail(e, HOST_FILE, "'%s': %s is not a NumPy file (wrong magic)", name, f->path);
    if (got < 10 || (prefix[6] > 1 && got < PREFIX_BYTES))
        return host_fail(e, HOST_FILE, "'%s': %s is truncated in its header", name, f->path);
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return host_fail(e, HOST_FILE, "'%s': %s has format version %d.%d; 1.0, 2.0 and 3.0 are known", name, f->path,
                         prefix[6], prefix[7]);
    int64_t length = prefix[8] | prefix[9] << 8;
    int64_t header_at = 10;
    if (prefix[6] > 1) {
        length |= (int64_t)prefix[10] << 16 | (int64_t)prefix[11] << 24;
        header_at = 12;
    }
    if (length > size - header_at) return host_fail(e, HOST_FILE, "'%s': %s is truncated in its header", name, f->path);
    if (length > MAX_HEADER)
        return host_fail(e, HOST_FILE, "'%s': the header of %s is %" PRId64 " bytes long, more than %d", name, f->path,
                         length, (int)MAX_HEADER);
    f->data_at = header_at + length;

    char *text = malloc((size_t)length + 1);
    if (!text) return host_fail_memory(e);
    int code = HOST_OK;
    if (lseek(f->fd, f->base + header_at, SEEK_SET) < 0 || (got = read_fully(f->fd, text, length)) < 0) {
        code = host_fail(e, HOST_FILE, "'%s': cannot read %s: %s", name, f->path, strerror(errno));
        free(text);
        return code;
    }
    struct header h = {.at = text, .end = text + got, .found = found};
    bool good = parse_header(&h);
    free(text);
    return good ? HOST_OK : host_fail(e, HOST_FILE, "'%s': the header of %s is wrong: %s", name, f->path, h.wrong);
}

static int parse_file(struct npy_file *f, const char *name, PTOType type, int32_t rank, int64_t size,
                      struct host_error *e)
{
    struct npy_header h;
    int code = ptoi_npy_read_header(f, name, size, &h, e);
    if (code != HOST_OK || (code = check_descr(f, name, type, h.descr, e)) != HOST_OK) return code;
    if (h.rank != rank)
        return host_fail(e, HOST_FILE, "'%s': %s has rank %d, rank %d is needed", name, f->path, h.rank, rank);
    if (h.fortran && rank > 1)
        return host_fail(e, HOST_FILE, "'%s': %s is in Fortran order; save it with numpy.ascontiguousarray", name,
                         f->path);
    f->array.type = type;
    f->array.rank = rank;
    memcpy(f->array.shape, h.shape, (size_t)rank * sizeof h.shape[0]);
    if (!array_measure(&f->array)) return host_fail(e, HOST_FILE, "'%s': the size of %s overflows", name, f->path);
    int64_t have = size - f->data_at;
    if (have < f->array.bytes)
        return host_fail(e, HOST_FILE, "'%s': %s is truncated: it has %" PRId64 " of %" PRId64 " bytes of data", name,
                         f->path, have, f->array.bytes);
    if (have > f->array.bytes)
        return host_fail(e, HOST_FILE, "'%s': %s has %" PRId64 " bytes after its data", name, f->path,
                         have - f->array.bytes);
    return HOST_OK;
}

int ptoi_npy_open(struct npy_file *f, const char *path, const char *name, PTOType type, int32_t rank,
                  struct host_error *e)
{
    *f = (struct npy_file){.path = path, .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (f->fd < 0) return host_fail(e, HOST_FILE, "'%s': cannot open %s: %s", name, path, strerror(errno));
    struct stat st;
    int code = HOST_OK;
    if (fstat(f->fd, &st) != 0)
        code = host_fail(e, HOST_FILE, "'%s': cannot read %s: %s", name, path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        code = host_fail(e, HOST_FILE, "'%s': %s is %s, not a regular file", name, path,
                         S_ISDIR(st.st_mode)    ? "a directory"
                         : S_ISFIFO(st.st_mode) ? "a FIFO"
                                                : "special");
    else {
        int64_t size = st.st_size;
        if (ptoi_npz_is(f->fd)) code = ptoi_npz_find(f, name, &size, e);
        if (code == HOST_OK) code = parse_file(f, name, type, rank, size, e);
    }
    if (code != HOST_OK) ptoi_npy_close(f);
    return code;
}

int ptoi_npy_read(struct npy_file *f, struct host_error *e)
{
    struct host_array *a = &f->array;
    if (!array_allocate(a, false))
        return host_fail(e, HOST_INTERNAL, "out of memory: %s needs %" PRId64 " bytes", f->path, a->bytes);
    int64_t got = lseek(f->fd, f->base + f->data_at, SEEK_SET) < 0 ? -1 : read_fully(f->fd, a->data, a->bytes);
    if (got < 0) return host_fail(e, HOST_FILE, "cannot read %s: %s", f->path, strerror(errno));
    if (got < a->bytes) /* it shrank since it was opened */
        return host_fail(e, HOST_FILE, "%s is truncated: it has %" PRId64 " of %" PRId64 " bytes of data", f->path, got,
                         a->bytes);
    const int code = ptoi_npz_check(f, e);
    if (code != HOST_OK) return code;
    if (a->type == PTO_BOOL)
        for (int64_t i = 0; i < a->count; i++)
            if (((const uint8_t *)a->data)[i] > 1)
                return host_fail(e, HOST_FILE, "%s: element %" PRId64 " is %d, not a bool", f->path, i,
                                 ((const uint8_t *)a->data)[i]);
    return HOST_OK;
}

void ptoi_npy_close(struct npy_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static int fail_write(struct host_error *e, const char *path)
{
    /* The error of open() for a FIFO without a reader. */
    const char *why = errno == ENXIO ? "nobody reads it" : strerror(errno);
    return host_fail(e, HOST_FILE, "cannot write %s: %s", path, why);
}

int ptoi_npy_check_writable(const char *path, struct host_error *e)
{
    struct whole_file file;
    if (!ptoi_whole_open(&file, path)) return fail_write(e, path);
    ptoi_whole_drop(&file);
    return HOST_OK;
}

/* Format version 1.0, as NumPy writes it: the dict, blanks up to a multiple of 64, a newline. */
int64_t ptoi_npy_header(const struct host_array *a, char *text, size_t size)
{
    int64_t at = 10;
    at +=
        snprintf(text + at, size - (size_t)at, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of[a->type]);
    for (int d = 0; d < a->rank; d++)
        at += snprintf(text + at, size - (size_t)at, d == 0 ? "%" PRId64 : ", %" PRId64, a->shape[d]);
    at += snprintf(text + at, size - (size_t)at, a->rank == 1 ? ",), }" : "), }");
    while ((at + 1) % 64 != 0) text[at++] = ' ';
    text[at++] = '\n';
    memcpy(text, magic, sizeof magic);
    text[6] = 1;
    text[7] = 0;
    text[8] = (char)((at - 10) & 0xff);
    text[9] = (char)((at - 10) >> 8);
    return at;
}

int ptoi_npy_write(struct whole_file *file, const char *path, const struct host_array *array, struct host_error *e)
{
    char header[NPY_HEADER];
    int64_t length = ptoi_npy_header(array, header, sizeof header);
    if (!ptoi_whole_open(file, path)) return fail_write(e, path);
    fwrite(header, 1, (size_t)length, file->out);
    if (array->bytes > 0) fwrite(array->data, 1, (size_t)array->bytes, file->out);
    return ptoi_whole_finish(file) ? HOST_OK : fail_write(e, path);
}
