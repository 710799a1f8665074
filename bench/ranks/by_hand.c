/* by_hand.c - what ranks.pto does, written with MPI for two ranks:  mpirun -np 2 by_hand chain|halo COUNT ROWS */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256, WIDTH = 2048 };

static void smooth(const float *above, const float *here, const float *below, float *to)
{
    for (int64_t i = 0; i < ROWS; i++) {
        const float *up = i == 0 ? above : here + (i - 1) * WIDTH,
                    *down = i == ROWS - 1 ? below : here + (i + 1) * WIDTH;
        to[i * WIDTH] = here[i * WIDTH];
        to[i * WIDTH + WIDTH - 1] = here[i * WIDTH + WIDTH - 1];
        for (int64_t j = 1; j < WIDTH - 1; j++)
            to[i * WIDTH + j] = 0.25f * (up[j] + down[j] + here[i * WIDTH + j - 1] + here[i * WIDTH + j + 1]);
    }
}

static void chain(int rank, long count)
{
    float x[4] = {0};
    for (long i = 0; i < count; i++) {
        const int runs = (int)((i + 1) % 2);
        if (rank == runs) {
            if (i > 0) MPI_Recv(x, 4, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            x[0] += 1;
        }
        if (rank == runs && i + 1 < count) MPI_Send(x, 4, MPI_FLOAT, 1 - rank, 0, MPI_COMM_WORLD);
    }
}

/* Each rank has half of the rows, and one of its neighbour: above them on rank 1, below on rank 0. */
static void halo(int rank, long count, long rows)
{
    const long half = rows / 2;
    float *from = calloc((size_t)(half + 2) * WIDTH, sizeof *from),
          *to = calloc((size_t)(half + 2) * WIDTH, sizeof *to);
    for (long s = 0; s < count; s++) {
        float *first = from + WIDTH, *last = from + half * WIDTH, *other = rank == 0 ? last + WIDTH : from;
        MPI_Sendrecv(rank == 0 ? last : first, WIDTH, MPI_FLOAT, 1 - rank, 0, other, WIDTH, MPI_FLOAT, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(rank == 0 ? from : last + WIDTH, rank == 0 ? first : last, WIDTH * sizeof *from); /* the border of all */
        for (long i = 0; i < half; i += ROWS)
            smooth(first + (i - 1) * WIDTH, first + i * WIDTH, first + (i + ROWS) * WIDTH, to + (i + 1) * WIDTH);
        float *done = to;
        to = from;
        from = done;
    }
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 4 || ranks != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    if (strcmp(argv[1], "chain") == 0)
        chain(rank, atol(argv[2]));
    else
        halo(rank, atol(argv[2]), atol(argv[3]));
    MPI_Finalize();
    return 0;
}
