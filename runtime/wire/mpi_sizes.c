/* mpi_sizes.c - see mpi_sizes.h. */
#include "mpi_types.h"
#include "mpi_sizes.h"
#include <pto/detail/decode.h>

struct mpi_tags ptoi_mpi_tags(MPI_Comm ranks)
{
    enum { NUMBERS = 1 << 20 };
    struct mpi_tags t = {1, 1};
    int *largest = NULL, has_largest = 0;
    MPI_Comm_get_attr(ranks, MPI_TAG_UB, &largest, &has_largest);
    const uint64_t most = has_largest ? (uint64_t)*largest + 1 : 1 << 15;
    while (2 * t.numbers <= most && t.numbers < NUMBERS) t.numbers *= 2;
#ifdef OPEN_MPI
    while (2 * t.sizes * t.numbers <= most) t.sizes *= 2;
#endif
    return t;
}

int ptoi_mpi_tag(const struct mpi_tags *t, uint64_t number, int64_t bytes)
{
    const uint64_t size = (uint64_t)bytes * 0x9e3779b97f4a7c15u >> 32;
    return (int)((number & (t->numbers - 1)) + (size & (t->sizes - 1)) * t->numbers);
}

int64_t ptoi_mpi_bytes(const PTOArg *view, int32_t count)
{
    int64_t all = 0;
    for (int32_t k = 0; k < count; k++) {
        int64_t bytes = pto_bytes_of_(view[k].type);
        for (int d = 0; d < view[k].rank; d++) bytes *= view[k].shape[d];
        all += bytes;
    }
    return all;
}

void ptoi_mpi_begin_returning(MPI_Errhandler *kept)
{
#ifndef OPEN_MPI
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, kept);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#else
    (void)kept;
#endif
}

void ptoi_mpi_end_returning(MPI_Errhandler *kept)
{
#ifndef OPEN_MPI
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, *kept);
    MPI_Errhandler_free(kept);
#else
    (void)kept;
#endif
}

enum wire_end ptoi_mpi_end(struct wire *w, int64_t bytes, int error, const MPI_Status *status)
{
    int class = MPI_SUCCESS;
    MPI_Count found = 0;
    if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
    if (bytes >= 0 && class == MPI_ERR_TRUNCATE) return WIRE_OTHER_SIZE;
    if (!ptoi_mpi_explain(w, error)) return WIRE_BROKEN;
    if (bytes < 0) return WIRE_GOOD;
    MPI_Get_elements_x(status, MPI_BYTE, &found);
    return found == bytes ? WIRE_GOOD : WIRE_OTHER_SIZE;
}
