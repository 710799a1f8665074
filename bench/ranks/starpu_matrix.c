/* starpu_matrix.c - the product and the Cholesky factorisation of matrix.pto on StarPU-MPI; arguments as those of
 * scalapack.c, for two ranks.  A tile is a handle on memory of its own, on a P x Q grid of owners, cyclically; FILE
 * gets the result in rows.  Each task runs where the tile that it writes lives. */
#include "starpu_ranks.h"
#include "tiles.h"

static long n, tile, tiles, grid_rows, grid_columns;

/* ---- the tasks ---- */

static int64_t stride[2]; /* of every tile */

static void negate(void *b[], void *arg) { (void)arg, bench_negate(data_of(b, 0), stride, tile, tile); }

static void copy(void *b[], void *arg)
{
    (void)arg, bench_copy(data_of(b, 0), stride, data_of(b, 1), stride, tile, tile);
}

static void multiply(void *b[], void *arg)
{
    (void)arg;
    bench_multiply(data_of(b, 0), stride, data_of(b, 1), stride, data_of(b, 2), stride, tile, tile, tile);
}

static void potrf(void *b[], void *arg)
{
    (void)arg;
    if (bench_potrf(data_of(b, 0), stride, tile)) abort();
}

static void trsm(void *b[], void *arg) { (void)arg, bench_trsm(data_of(b, 0), stride, data_of(b, 1), stride, tile); }
static void syrk(void *b[], void *arg) { (void)arg, bench_syrk(data_of(b, 0), stride, data_of(b, 1), stride, tile); }

static void subtract(void *b[], void *arg)
{
    (void)arg, bench_subtract(data_of(b, 0), stride, data_of(b, 1), stride, data_of(b, 2), stride, tile);
}

/* ---- matrices of tiles ---- */

static struct matrix {
    starpu_data_handle_t *handles;
    double **memory; /* NULL where another rank is the owner */
} left, right, result, first;

static int owner_of(long at) { return (int)(at / tiles % grid_rows * grid_columns + at % tiles % grid_columns); }

static struct matrix new_matrix(int which)
{
    struct matrix made = {calloc((size_t)(tiles * tiles), sizeof *made.handles),
                          calloc((size_t)(tiles * tiles), sizeof *made.memory)};
    const size_t count = (size_t)(tile * tile);
    for (long at = 0; at < tiles * tiles; at++) {
        if (owner_of(at) == my_rank) {
            made.memory[at] = aligned_alloc(64, count * sizeof(double));
            memset(made.memory[at], 0, count * sizeof(double));
            if (which >= 0)
                bench_fill(made.memory[at], stride, which, at / tiles * tile, at % tiles * tile, tile, tile);
        }
        made.handles[at] = piece_of(owner_of(at), made.memory[at], count, sizeof(double));
    }
    return made;
}

static void free_matrix(struct matrix *m, const char *file)
{
    forget(m->handles, (size_t)(tiles * tiles));
    for (long at = 0; at < tiles * tiles; at++) {
        for (long i = 0; m->memory[at] != NULL && i < tile; i++)
            save(file, m->memory[at] + i * tile, (size_t)tile * sizeof(double),
                 (size_t)((at / tiles * tile + i) * n + at % tiles * tile) * sizeof(double));
        free(m->memory[at]);
    }
    free(m->handles);
    free(m->memory);
}

/* ---- what inserts tasks ---- */

struct use {
    struct matrix *of;
    long row, column;
};

static int owner(struct use u) { return owner_of(u.row * tiles + u.column); }

/* Every rank inserts a task that changes a tile of which ranks have copies: it ends them. */
enum where { INVOLVED, EVERYWHERE };

static void insert(enum where where, struct starpu_codelet *codelet, int priority, const struct use *uses)
{
    struct starpu_data_descr all[3];
    bool is_mine = where == EVERYWHERE;
    for (int i = 0; i < codelet->nbuffers; i++) {
        all[i] = (struct starpu_data_descr){uses[i].of->handles[uses[i].row * tiles + uses[i].column],
                                            STARPU_CODELET_GET_MODE(codelet, i)};
        is_mine = is_mine || owner(uses[i]) == my_rank;
    }
    if (is_mine)
        starpu_mpi_task_insert(MPI_COMM_WORLD, codelet, STARPU_PRIORITY, priority, STARPU_DATA_MODE_ARRAY, all,
                               codelet->nbuffers, 0);
}

#define INSERT(where, codelet, priority, ...) insert(where, codelet, priority, (struct use[]){__VA_ARGS__})

static void insert_product(struct starpu_codelet *negates, struct starpu_codelet *multiplies)
{
    for (long i = 0; i < tiles; i++)
        for (long j = 0; j < tiles; j++) {
            INSERT(EVERYWHERE, negates, 0, {&left, i, j});
            INSERT(EVERYWHERE, negates, 0, {&right, i, j});
        }
    for (long l = 0; l < tiles; l++)
        for (long i = 0; i < tiles; i++)
            for (long j = 0; j < tiles; j++)
                INSERT(INVOLVED, multiplies, 0, {&left, i, l}, {&right, l, j}, {&result, i, j});
}

static void product(long count)
{
    const enum starpu_data_access_mode r = STARPU_R, w = STARPU_RW;
    struct starpu_codelet *negates = codelet_of(negate, 1, &w),
                          *multiplies = codelet_of(multiply, 3, (enum starpu_data_access_mode[]){r, r, w});
    left = new_matrix(LEFT), right = new_matrix(RIGHT), result = new_matrix(-1);
    for (long s = 0; s < count; s++) insert_product(negates, multiplies);
    end_tasks();
    free_matrix(&left, "-");
    free_matrix(&right, "-");
}

static struct {
    struct starpu_codelet *copies, *potrfs, *trsms, *syrks, *subtracts;
} of;

static void insert_cholesky(void)
{
    for (long i = 0; i < tiles; i++)
        for (long j = 0; j <= i; j++) INSERT(EVERYWHERE, of.copies, 0, {&first, i, j}, {&result, i, j});
    for (long k = 0; k < tiles; k++) {
        const int urgent = (int)(tiles - k);
        INSERT(INVOLVED, of.potrfs, urgent, {&result, k, k});
        for (long i = k + 1; i < tiles; i++) INSERT(INVOLVED, of.trsms, urgent, {&result, k, k}, {&result, i, k});
        for (long i = k + 1; i < tiles; i++) {
            INSERT(INVOLVED, of.syrks, 0, {&result, i, k}, {&result, i, i});
            for (long j = k + 1; j < i; j++)
                INSERT(INVOLVED, of.subtracts, 0, {&result, i, k}, {&result, j, k}, {&result, i, j});
        }
    }
}

static void cholesky(long count)
{
    const enum starpu_data_access_mode r = STARPU_R, w = STARPU_RW, o = STARPU_W;
    of.copies = codelet_of(copy, 2, (enum starpu_data_access_mode[]){r, o});
    of.potrfs = codelet_of(potrf, 1, &w);
    of.trsms = codelet_of(trsm, 2, (enum starpu_data_access_mode[]){r, w});
    of.syrks = codelet_of(syrk, 2, (enum starpu_data_access_mode[]){r, w});
    of.subtracts = codelet_of(subtract, 3, (enum starpu_data_access_mode[]){r, r, w});
    first = new_matrix(POSITIVE), result = new_matrix(-1);
    for (long s = 0; s < count; s++) insert_cholesky();
    end_tasks();
    free_matrix(&first, "-");
}

int main(int argc, char **argv)
{
    begin_ranks(&argc, &argv);
    if (argc != 8) MPI_Abort(MPI_COMM_WORLD, 2);
    n = atol(argv[2]), tile = atol(argv[3]), grid_rows = atol(argv[4]), grid_columns = atol(argv[5]);
    tiles = n / tile;
    stride[0] = tile, stride[1] = 1;
    if (strcmp(argv[1], "product") == 0)
        product(atol(argv[6]));
    else
        cholesky(atol(argv[6]));
    free_matrix(&result, argv[7]);
    starpu_mpi_shutdown();
    return 0;
}
