/* scalapack.c - the product and the Cholesky factorisation of matrix.pto with ScaLAPACK:
 *     mpirun -np P * Q scalapack product|cholesky N BLOCK P Q COUNT FILE
 * Matrices lie in columns, in square blocks on a P x Q grid, cyclically.  FILE: where the result goes, in columns, or
 * "-". */
#include "save.h"
#include "tiles.h"

extern void Cblacs_pinfo(int *me, int *count);
extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void Cblacs_gridinfo(int context, int *rows, int *columns, int *my_row, int *my_column);
extern void Cblacs_gridexit(int context);
extern void Cblacs_exit(int go_on);
extern int numroc_(const int *n, const int *block, const int *me, const int *first, const int *count);
extern void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row,
                      const int *column, const int *context, const int *ld, int *info);
extern void pdgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k, const double *alpha,
                    const double *a, const int *ia, const int *ja, const int *desca, const double *b, const int *ib,
                    const int *jb, const int *descb, const double *beta, double *c, const int *ic, const int *jc,
                    const int *descc);
extern void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desc,
                     int *info);

static const int zero = 0, one = 1;
static int n, block, grid_rows, grid_columns, my_row, my_column;
static int rows, columns; /* of this rank */
static int desc[9];

static double *new_matrix(void) { return calloc((size_t)rows * (size_t)columns + 1, sizeof(double)); }

static int least(int a, int b) { return a < b ? a : b; }

/* Calls visit for each block of this rank: its elements, its first row and column, its size. */
static void each_block(double *a, void (*visit)(double *p, int row, int column, int high, int wide, const void *with),
                       const void *with)
{
    for (int j = 0; j < columns; j += block)
        for (int i = 0; i < rows; i += block)
            visit(a + (size_t)j * (size_t)rows + i, (i / block * grid_rows + my_row) * block,
                  (j / block * grid_columns + my_column) * block, least(block, rows - i), least(block, columns - j),
                  with);
}

static void fill_block(double *p, int row, int column, int high, int wide, const void *which)
{
    bench_fill(p, (int64_t[]){1, rows}, *(const int *)which, row, column, high, wide);
}

static void save_block(double *p, int row, int column, int high, int wide, const void *file)
{
    for (int j = 0; j < wide; j++)
        save(file, p + (size_t)j * (size_t)rows, (size_t)high * sizeof *p,
             ((size_t)(column + j) * (size_t)n + (size_t)row) * sizeof *p);
}

static double *filled(int which)
{
    double *made = new_matrix();
    each_block(made, fill_block, &which);
    return made;
}

static double *product(long count)
{
    const double scale = 1;
    double *a = filled(LEFT), *b = filled(RIGHT), *c = new_matrix();
    for (long s = 0; s < count; s++) {
        bench_negate(a, (int64_t[]){rows, 1}, columns, rows);
        bench_negate(b, (int64_t[]){rows, 1}, columns, rows);
        pdgemm_("N", "N", &n, &n, &n, &scale, a, &one, &one, desc, b, &one, &one, desc, &scale, c, &one, &one, desc);
    }
    free(a);
    free(b);
    return c;
}

static double *cholesky(long count)
{
    double *first = filled(POSITIVE), *a = new_matrix();
    for (long s = 0; s < count; s++) {
        int failed = 0;
        bench_copy(first, (int64_t[]){rows, 1}, a, (int64_t[]){rows, 1}, columns, rows);
        pdpotrf_("L", &n, a, &one, &one, desc, &failed);
        if (failed) abort();
    }
    free(first);
    return a;
}

int main(int argc, char **argv)
{
    int me, ranks, context, failed;
    if (argc != 8) return 2;
    n = atoi(argv[2]), block = atoi(argv[3]), grid_rows = atoi(argv[4]), grid_columns = atoi(argv[5]);
    Cblacs_pinfo(&me, &ranks);
    if (ranks != grid_rows * grid_columns) return 2;
    Cblacs_get(-1, 0, &context);
    Cblacs_gridinit(&context, "Row", grid_rows, grid_columns);
    Cblacs_gridinfo(context, &grid_rows, &grid_columns, &my_row, &my_column);
    rows = numroc_(&n, &block, &my_row, &zero, &grid_rows);
    columns = numroc_(&n, &block, &my_column, &zero, &grid_columns);
    descinit_(desc, &n, &n, &block, &block, &zero, &zero, &context, &rows, &failed);
    if (failed) return 2;
    double *result = strcmp(argv[1], "product") == 0 ? product(atol(argv[6])) : cholesky(atol(argv[6]));
    each_block(result, save_block, argv[7]);
    free(result);
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return 0;
}
