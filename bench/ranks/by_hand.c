/* by_hand.c - chain, halo and grain of ranks.pto, written with MPI for two ranks:
 *     mpirun -np 2 by_hand chain|halo|grain COUNT SIZE FILE
 * SIZE: rows of halo, iterations of grain.  FILE: where the result goes, or "-". */
#include "save.h"
#include "steps.h"
#include <mpi.h>

static void chain(int rank, long count, const char *file)
{
    float x[4] = {0};
    for (long i = 0; i < count; i++) {
        const int runs = (int)((i + 1) % 2);
        if (rank == runs) {
            if (i > 0) MPI_Recv(x, 4, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            bench_advance(x, NULL);
        }
        if (rank == runs && i + 1 < count) MPI_Send(x, 4, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD);
    }
    if (rank == (int)(count % 2)) save(file, x, sizeof x, 0);
}

/* Each rank has half of the rows, and one of its neighbour: above them on rank 1, below on rank 0. */
static void halo(int rank, long count, long rows, const char *file)
{
    const long half = rows / 2;
    float *from = calloc((size_t)(half + 2) * WIDTH, sizeof *from),
          *to = calloc((size_t)(half + 2) * WIDTH, sizeof *to);
    for (long i = 0; i < half; i++)
        for (long j = 0; j < WIDTH; j++) from[(i + 1) * WIDTH + j] = bench_first_row(rank * half + i, j);
    for (long s = 0; s < count; s++) {
        float *first = from + WIDTH, *last = from + half * WIDTH, *other = rank == 0 ? last + WIDTH : from;
        MPI_Sendrecv(rank == 0 ? last : first, WIDTH, MPI_FLOAT, 1 - rank, 0, other, WIDTH, MPI_FLOAT, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(rank == 0 ? from : last + WIDTH, rank == 0 ? first : last, WIDTH * sizeof *from); /* the border of all */
        for (long i = 0; i < half; i += ROWS)
            bench_smooth(first + (i - 1) * WIDTH, NULL, first + i * WIDTH, NULL, first + (i + ROWS) * WIDTH, NULL,
                         to + (i + 1) * WIDTH, NULL);
        float *done = to;
        to = from;
        from = done;
    }
    save(file, from + WIDTH, (size_t)half * WIDTH * sizeof *from, (size_t)(rank * half) * WIDTH * sizeof *from);
    free(from);
    free(to);
}

/* Cells 1 to HALF are this rank's; 0 and HALF + 1 are those beside them, or the border's own again.  Messages travel
 * while the cells that need none are computed. */
static void grain(int rank, long count, long iterations, const char *file)
{
    enum { HALF = POINTS / 2 };
    double at[2][HALF + 2][CELL] = {0};
    for (int i = 0; i < HALF; i++)
        for (int j = 0; j < CELL; j++) at[0][i + 1][j] = bench_first_cell(rank * HALF + i, j);
    const int edge = rank == 0 ? HALF : 1, beside = rank == 0 ? HALF + 1 : 0, border = rank == 0 ? 1 : HALF;
    for (long s = 0; s < count; s++) {
        double(*from)[CELL] = at[s % 2], (*to)[CELL] = at[(s + 1) % 2];
        MPI_Request both[2];
        MPI_Irecv(from[beside], CELL, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(from[edge], CELL, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &both[1]);
        memcpy(from[rank == 0 ? 0 : HALF + 1], from[border], sizeof from[border]);
        for (int i = 1; i <= HALF; i++)
            if (i != edge) bench_step(from[i - 1], NULL, from[i], NULL, from[i + 1], NULL, to[i], NULL, iterations);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        bench_step(from[edge - 1], NULL, from[edge], NULL, from[edge + 1], NULL, to[edge], NULL, iterations);
    }
    save(file, at[count % 2][1], sizeof at[0][0] * HALF, sizeof at[0][0] * HALF * (size_t)rank);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5 || ranks != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    const long count = atol(argv[2]), size = atol(argv[3]);
    if (strcmp(argv[1], "chain") == 0)
        chain(rank, count, argv[4]);
    else if (strcmp(argv[1], "halo") == 0)
        halo(rank, count, size, argv[4]);
    else
        grain(rank, count, size, argv[4]);
    MPI_Finalize();
    return 0;
}
