/* mpi_types.h - views as types of MPI, so nothing is packed.
 *
 * Owner      nothing; a failure is explained in the wire.
 * Limits     a dimension of a view has at most 2^31 - 1 elements.
 * Tests      test/wire/check_wire.c */
#ifndef PTOI_WIRE_MPI_TYPES_H
#define PTOI_WIRE_MPI_TYPES_H
#include "wire.h"
#include <mpi.h>

/* Was there no error?  Otherwise its text becomes the wire's `why`. */
bool ptoi_mpi_explain(struct wire *w, int error);

MPI_Datatype ptoi_mpi_element(const PTOArg *view);

/* Is the view contiguous?  Then it needs no type of its own.  *count: its elements. */
bool ptoi_mpi_is_dense(const PTOArg *view, int *count);

/* One type of `count` views: of one from its address, of several from MPI_BOTTOM.  The caller frees it.  false: a view
 * has too many elements, or MPI failed. */
bool ptoi_mpi_type(struct wire *w, const PTOArg *view, int count, MPI_Datatype *type);

#endif
