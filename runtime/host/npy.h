/* npy.h - NumPy files: one array, its element type and its shape.
 *
 * Reading is in two steps, so that shapes can be checked against each other before anything large is read:
 *     open -> f.array has type, rank, shape, count, bytes;   read -> f.array.data;   close at any time.
 * All return an exit code of fail.h. */
#ifndef PTO_HOST_NPY_H
#define PTO_HOST_NPY_H
#include "array.h"
#include "fail.h"
#include "report/whole_file.h"

/* The checksum of a member that is stored in an archive, which is compared when it is read. */
struct npy_checksum {
    const char *name; /* what messages call the array; NULL: there is nothing to compare */
    char member[128];
    uint32_t sum;
};

struct npy_file {
    const char *path; /* the caller's */
    int fd;           /* -1: not open */
    int64_t base;     /* where it begins in the file: 0, or a member of an archive (npz.h) */
    int64_t data_at;  /* where the data starts, from there */
    struct npy_checksum checksum;
    struct host_array array;
};

/* Opens path, which must hold `rank` dimensions of `type`; `name` is what messages call the array.  Never blocks: what
 * is not a regular file is refused. */
int ptoi_npy_open(struct npy_file *f, const char *path, const char *name, PTOType type, int32_t rank,
                  struct host_error *e);
/* What a header declares. */
struct npy_header {
    char descr[24];
    bool fortran;
    int32_t rank; /* may be more than PTO_MAX_RANK: shape has the first ones only */
    int64_t shape[PTO_MAX_RANK];
};
/* Of an open file, or a member of `size` bytes of it: reads the header alone, and sets f->data_at. */
int ptoi_npy_read_header(struct npy_file *f, const char *name, int64_t size, struct npy_header *h,
                         struct host_error *e);
/* Allocates f->array.data and fills it, and compares the checksum that an archive has; the caller owns it, also after
 * ptoi_npy_close. */
int ptoi_npy_read(struct npy_file *f, struct host_error *e);
void ptoi_npy_close(struct npy_file *f); /* leaves array alone */

/* Would ptoi_npy_write be allowed to write here?  Leaves nothing behind and changes nothing. */
int ptoi_npy_check_writable(const char *path, struct host_error *e);
enum { NPY_HEADER = 512 }; /* bytes that are enough for a header */
/* The header for the array, into text; returns its length. */
int64_t ptoi_npy_header(const struct host_array *a, char *text, size_t size);
/* Writes all of it to a file that the caller renames to `path` or drops, whatever is returned. */
int ptoi_npy_write(struct whole_file *file, const char *path, const struct host_array *array, struct host_error *e);
#endif
