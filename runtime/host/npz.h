/* npz.h - archives of NumPy files, as numpy.savez writes them: a zip file whose members are NAME.npy.
 *
 * Idea       a member that is stored lies in the archive as it would in a file of its own, so it is read from there.  A
 *            compressed one is unpacked into a file without a name.
 * Source     PKWARE, .ZIP File Format Specification 6.3.
 * Tests      test/lit/host/npz.test */
#ifndef PTO_HOST_NPZ_H
#define PTO_HOST_NPZ_H
#include "npy.h"

/* Does the open file begin as an archive does? */
bool ptoi_npz_is(int fd);
/* Sets f->base to where the member for the array `name` begins, and *size, on entry that of the file, to its bytes; a
 * compressed member replaces f->fd.  The member is NAME.npy; for a field `a.idx` of a struct also idx.npy, or the name
 * that SciPy gives this array of a sparse matrix, indices.npy; else the only one there is. */
int ptoi_npz_find(struct npy_file *f, const char *name, int64_t *size, struct host_error *e);
/* After the array was read: HOST_OK: its bytes have the checksum of the archive, or f is none of an archive. */
int ptoi_npz_check(const struct npy_file *f, struct host_error *e);
/* The same as ptoi_npz_find for a small member of exactly this name, whose checksum is compared. *at is its place in
 * the archive; -1: it has none, and f and *size are as before. `name` is what messages call the array that it belongs
 * to. */
int ptoi_npz_find_small(struct npy_file *f, const char *name, const char *member, int64_t *size, int64_t *at,
                        struct host_error *e);

/* A member that is compressed (deflate): where it lies, how many bytes it has there and unpacked, and their CRC. */
struct npz_packed {
    int64_t at, stored, bytes;
    uint32_t checksum;
};
/* A new file that has its bytes; -1: errno, ELIBACC where there is no zlib, EILSEQ where the bytes are wrong. */
int ptoi_npz_unpack(int from, const struct npz_packed *p);

/* What SciPy's save_npz says of a matrix beside its arrays. */
struct npz_matrix {
    char format[4]; /* "csr", "csc", "coo" or "bsr"; "": the archive is none of SciPy's */
    int64_t rows, columns;
};
int ptoi_npz_find_matrix(const char *path, const char *name, struct npz_matrix *m, struct host_error *e);

struct npz_item {
    const char *name;
    const struct host_array *array;
};

/* Is an array that is written to this path a member of an archive? */
bool ptoi_npz_is_path(const char *path);
/* As ptoi_npy_write. */
int ptoi_npz_write(struct whole_file *file, const char *path, const struct npz_item *item, int count,
                   struct host_error *e);

#endif
