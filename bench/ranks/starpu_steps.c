/* starpu_steps.c - chain, halo and grain of ranks.pto on StarPU-MPI, for two ranks; arguments as those of by_hand.c */
#include "starpu_ranks.h"
#include "steps.h"

enum { MOST_BANDS = 64 };

static void advance(void *buffers[], void *arg)
{
    (void)arg;
    bench_advance(data_of(buffers, 0), NULL);
}

static void chain(long count, const char *file)
{
    static float x[4];
    struct starpu_codelet *advances = codelet_of(advance, 1, (enum starpu_data_access_mode[]){STARPU_RW});
    starpu_data_handle_t handle = piece_of(0, x, 4, sizeof *x);
    for (long i = 0; i < count; i++)
        starpu_mpi_task_insert(MPI_COMM_WORLD, advances, STARPU_EXECUTE_ON_NODE, (int)((i + 1) % 2), STARPU_RW, handle,
                               0);
    end_tasks();
    forget(&handle, 1);
    if (my_rank == 0) save(file, x, sizeof x, 0);
}

/* A band is three handles on consecutive memory, so that a neighbour is sent one row: its first row, its middle, its
 * last row.  Arguments of a task: the band, to read and to write; the rows above and below, where there are any. */
enum { FIRST, MIDDLE, LAST, PARTS };

static void smooth(void *buffers[], bool has_above, bool has_below)
{
    const float *here = data_of(buffers, FIRST), *end = data_of(buffers, LAST);
    const float *above = has_above ? data_of(buffers, 2 * PARTS) : here;
    const float *below = has_below ? data_of(buffers, 2 * PARTS + has_above) : end;
    bench_smooth(above, NULL, here, NULL, below, NULL, data_of(buffers, PARTS + FIRST), NULL);
}

static void smooth_top(void *buffers[], void *arg) { (void)arg, smooth(buffers, false, true); }
static void smooth_inner(void *buffers[], void *arg) { (void)arg, smooth(buffers, true, true); }
static void smooth_bottom(void *buffers[], void *arg) { (void)arg, smooth(buffers, true, false); }

static struct starpu_codelet *smooths(starpu_cpu_func_t function, int rows_beside)
{
    const enum starpu_data_access_mode r = STARPU_R, w = STARPU_W, modes[] = {r, r, r, w, w, w, r, r};
    return codelet_of(function, 2 * PARTS + rows_beside, modes);
}

typedef starpu_data_handle_t band[PARTS];

static void insert_smooth(struct starpu_codelet *codelet, long i, long last, band *from, band *to)
{
    struct starpu_data_descr all[2 * PARTS + 2];
    int count = 0;
    for (int part = 0; part < PARTS; part++) all[count++] = (struct starpu_data_descr){from[i][part], STARPU_R};
    for (int part = 0; part < PARTS; part++) all[count++] = (struct starpu_data_descr){to[i][part], STARPU_W};
    if (i > 0) all[count++] = (struct starpu_data_descr){from[i - 1][LAST], STARPU_R};
    if (i < last) all[count++] = (struct starpu_data_descr){from[i + 1][FIRST], STARPU_R};
    starpu_mpi_task_insert(MPI_COMM_WORLD, codelet, STARPU_DATA_MODE_ARRAY, all, count, 0);
}

static void register_band(band made, int owner, float *memory)
{
    made[FIRST] = piece_of(owner, memory, WIDTH, sizeof *memory);
    made[MIDDLE] = piece_of(owner, memory + WIDTH, (ROWS - 2) * WIDTH, sizeof *memory);
    made[LAST] = piece_of(owner, memory + (ROWS - 1) * WIDTH, WIDTH, sizeof *memory);
}

static void halo(long count, long rows, const char *file)
{
    const long bands = rows / ROWS, half = bands / 2, size = (long)ROWS * WIDTH;
    static band at[2][MOST_BANDS];
    if (bands > MOST_BANDS) abort();
    float *memory[2] = {calloc((size_t)(half * size), sizeof(float)), calloc((size_t)(half * size), sizeof(float))};
    for (long i = 0; i < half * size; i++) memory[0][i] = bench_first_row(my_rank * half * ROWS + i / WIDTH, i % WIDTH);
    for (int side = 0; side < 2; side++)
        for (long i = 0; i < bands; i++) register_band(at[side][i], i >= half, memory[side] + i % half * size);
    struct starpu_codelet *top = smooths(smooth_top, 1), *inner = smooths(smooth_inner, 2),
                          *bottom = smooths(smooth_bottom, 1);
    const long from = my_rank == 0 ? 0 : half - 1, to = my_rank == 0 ? half : bands - 1; /* with one of the neighbour */
    for (long s = 0; s < count; s++)
        for (long i = from; i <= to; i++)
            insert_smooth(i == 0 ? top : i == bands - 1 ? bottom : inner, i, bands - 1, at[s % 2], at[(s + 1) % 2]);
    end_tasks();
    for (int side = 0; side < 2; side++) forget(&at[side][0][0], (size_t)bands * PARTS);
    save(file, memory[count % 2], (size_t)(half * size) * sizeof(float),
         (size_t)(my_rank * half * size) * sizeof(float));
}

/* One or two cells beside it, and the border's own again where there is none. */
static void step(void *buffers[], void *arg, bool has_left, bool has_right)
{
    long iterations;
    starpu_codelet_unpack_args(arg, &iterations);
    const double *here = data_of(buffers, 0);
    const double *left = has_left ? data_of(buffers, 2) : here,
                 *right = has_right ? data_of(buffers, 2 + has_left) : here;
    bench_step(left, NULL, here, NULL, right, NULL, data_of(buffers, 1), NULL, iterations);
}

static void step_first(void *buffers[], void *arg) { step(buffers, arg, false, true); }
static void step_inner(void *buffers[], void *arg) { step(buffers, arg, true, true); }
static void step_last(void *buffers[], void *arg) { step(buffers, arg, true, false); }

static void grain(long count, long iterations, const char *file)
{
    enum { HALF = POINTS / 2 };
    static double memory[2][HALF][CELL];
    starpu_data_handle_t at[2][POINTS];
    for (int i = 0; i < HALF; i++)
        for (int j = 0; j < CELL; j++) memory[0][i][j] = bench_first_cell(my_rank * HALF + i, j);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < POINTS; i++)
            at[side][i] = piece_of(i >= HALF, memory[side][i % HALF], CELL, sizeof(double));
    const enum starpu_data_access_mode modes[] = {STARPU_R, STARPU_W, STARPU_R, STARPU_R};
    struct starpu_codelet *first = codelet_of(step_first, 3, modes), *inner = codelet_of(step_inner, 4, modes),
                          *last = codelet_of(step_last, 3, modes);
    const int begin = my_rank == 0 ? 0 : HALF - 1, end = my_rank == 0 ? HALF : POINTS - 1;
    for (long s = 0; s < count; s++)
        for (int i = begin; i <= end; i++) {
            starpu_data_handle_t *from = at[s % 2], to = at[(s + 1) % 2][i];
            struct starpu_data_descr all[4] = {{from[i], STARPU_R}, {to, STARPU_W}};
            int used = 2;
            if (i > 0) all[used++] = (struct starpu_data_descr){from[i - 1], STARPU_R};
            if (i < POINTS - 1) all[used++] = (struct starpu_data_descr){from[i + 1], STARPU_R};
            starpu_mpi_task_insert(MPI_COMM_WORLD,
                                   i == 0            ? first
                                   : i == POINTS - 1 ? last
                                                     : inner,
                                   STARPU_DATA_MODE_ARRAY, all, used, STARPU_VALUE, &iterations, sizeof iterations, 0);
        }
    end_tasks();
    forget(at[0], POINTS);
    forget(at[1], POINTS);
    save(file, memory[count % 2], sizeof memory[0], sizeof memory[0] * (size_t)my_rank);
}

int main(int argc, char **argv)
{
    begin_ranks(&argc, &argv);
    if (argc != 5) MPI_Abort(MPI_COMM_WORLD, 2);
    const long count = atol(argv[2]), size = atol(argv[3]);
    if (strcmp(argv[1], "chain") == 0)
        chain(count, argv[4]);
    else if (strcmp(argv[1], "halo") == 0)
        halo(count, size, argv[4]);
    else
        grain(count, size, argv[4]);
    starpu_mpi_shutdown();
    return 0;
}
