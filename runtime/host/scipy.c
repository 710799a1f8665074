/* scipy.c - what SciPy's save_npz says of a sparse matrix beside its arrays, see npz.h.
 * Idea       `shape` is an array as any other; the elements of `format`, which are bytes, are the last of its member.
 * Tests      test/lit/host/npz.test
 */
#include "npz.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_format(const char *path, char format[4])
{
    struct npy_file f = {.path = path, .fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    struct host_error e;
    struct stat st;
    static const char *const formats[] = {"csr", "csc", "coo", "bsr"};
    bool good = f.fd >= 0 && fstat(f.fd, &st) == 0 && S_ISREG(st.st_mode) && ptoi_npz_is(f.fd);
    int64_t size = good ? st.st_size : 0;
    good = good && ptoi_npz_find(&f, "format", &size, &e) == HOST_OK && size > 3 &&
           pread(f.fd, format, 3, f.base + size - 3) == 3;
    ptoi_npy_close(&f);
    format[3] = '\0';
    for (size_t i = 0; good && i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(format, formats[i]) == 0) return true;
    return false;
}

bool ptoi_npz_find_matrix(const char *path, struct npz_matrix *m)
{
    struct npy_file shape;
    struct host_error e;
    if (!read_format(path, m->format)) return false;
    if (ptoi_npy_open(&shape, path, "shape", PTO_I64, 1, &e) != HOST_OK) return false;
    const bool good = shape.array.count == 2 && ptoi_npy_read(&shape, &e) == HOST_OK;
    if (good) m->rows = ((const int64_t *)shape.array.data)[0], m->columns = ((const int64_t *)shape.array.data)[1];
    array_free(&shape.array);
    ptoi_npy_close(&shape);
    return good;
}
