/* mpi_sizes.h - messages of another size than their receive, over MPI.
 *
 * Note [other sizes]: a message that is larger than its receive must not end the process, and one of another size must
 * not be taken for the right one: dist/standstill.h names what the ranks disagree about.  MPI reports both.  But MPICH
 * takes the error of a receive that has ended to MPI_COMM_WORLD, so the handler of that is changed for the calls that
 * end receives, where it belongs to a host program.  And Open MPI 4.1 copies a large message from the memory of the
 * other process as a whole, also behind the end of its receive.  So there the tag depends on the size, too: such a
 * message never arrives.
 *
 * Owner      the wire over MPI of a rank.
 * Blocks     never.
 * Tests      test/wire/check_wire.c, check_disagree.py */
#ifndef PTOI_MPI_SIZES_H
#define PTOI_MPI_SIZES_H
#include "wire.h"
#include <mpi.h>

/* Powers of two: tags of one size, and sizes that have tags of their own. */
struct mpi_tags {
    uint64_t numbers, sizes;
};
struct mpi_tags ptoi_mpi_tags(MPI_Comm ranks);
int ptoi_mpi_tag(const struct mpi_tags *t, uint64_t number, int64_t bytes);

int64_t ptoi_mpi_bytes(const PTOArg *view, int32_t count); /* of all */

/* Between the two an error that MPI takes to MPI_COMM_WORLD is returned; *kept: its handler before. */
void ptoi_mpi_begin_returning(MPI_Errhandler *kept);
void ptoi_mpi_end_returning(MPI_Errhandler *kept);

/* A receive of so many bytes has ended with that error and status, or a send, bytes < 0. */
enum wire_end ptoi_mpi_end(struct wire *w, int64_t bytes, int error, const MPI_Status *status);

#endif
