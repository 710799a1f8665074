/* npz.h - archives of NumPy files, as numpy.savez writes them: a zip file whose members are NAME.npy.
 *
 * Idea       a member that is stored lies in the archive as it would in a file of its own, so it is read from there.  A
 *            compressed one is refused.
 * Source     PKWARE, .ZIP File Format Specification 6.3.
 * Tests      test/lit/host/npz.test */
#ifndef PTO_HOST_NPZ_H
#define PTO_HOST_NPZ_H
#include "npy.h"

/* Does the open file begin as an archive does? */
bool ptoi_npz_is(int fd);
/* Sets f->base to where the member for the array `name` begins, NAME.npy or else the only one there is, and *size, on
 * entry that of the file, to its bytes. */
int ptoi_npz_find(struct npy_file *f, const char *name, int64_t *size, struct host_error *e);

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
