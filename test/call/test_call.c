/* test_call.c - loading programs, and calls of their entries on tensors. */
#include "calls.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- loading ----------------------------------------------------------------------------------------------------- */

static void expect_unopened(const char *path, PTOStatus status, const char *text)
{
    EXPECT(pto_program_open(path) == NULL);
    EXPECT_EQ(pto_last_status(), status);
    if (!strstr(pto_last_error(NULL), text)) print_message("%s\n", pto_last_error(NULL));
    EXPECT(strstr(pto_last_error(NULL), text));
}

TEST(what_is_no_program_of_this_library_is_refused_before_anything_in_it_is_called)
{
    expect_unopened("missing.so", PTO_ERR_IO, "missing.so");
    expect_unopened("no_table.so", PTO_ERR_IO, "is not a program: ptoc build --emit=so makes one");
    expect_unopened("wrong_layout.so", PTO_ERR_VERSION, "another version of the library");
    expect_unopened("newer_cpu.so", PTO_ERR_UNSUPPORTED, "build it again here, or without --cpu");
    expect_unopened(NULL, PTO_ERR_MISUSE, "NULL");
    pto_program_close(NULL);
}

/* The first `bytes` of numbers.so, as a file of their own. */
static void cut(const char *whole, size_t bytes)
{
    FILE *const to = fopen("cut.so", "wb");
    EXPECT(to && fwrite(whole, 1, bytes, to) == bytes && fclose(to) == 0);
}

TEST(an_object_that_is_cut_off_is_refused_wherever_it_ends)
{
    enum { ROOM = 1 << 20, HEADER = 64 };
    char *const whole = malloc(ROOM), said[80];
    FILE *const from = fopen("numbers.so", "rb");
    EXPECT(whole && from);
    const size_t size = fread(whole, 1, ROOM, from);
    fclose(from);
    EXPECT(size > HEADER && size < ROOM);
    const size_t ends[] = {HEADER, HEADER + 1, 200, 4095, 4096, 4097, size / 4, size / 3, size / 2};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        cut(whole, ends[i]);
        snprintf(said, sizeof said, "./cut.so is cut off: it has %zu bytes and needs ", ends[i]);
        expect_unopened("cut.so", PTO_ERR_IO, said);
    }
    cut(whole, HEADER - 1); /* the dynamic linker has a sentence of its own */
    expect_unopened("cut.so", PTO_ERR_IO, "cannot load the program: ./cut.so: file too short");
    memset(whole + 32, 0x7f, 7); /* the program headers lie beyond every file */
    cut(whole, size);
    expect_unopened("cut.so", PTO_ERR_IO, "is cut off");
    memset(whole, 'x', 4);
    cut(whole, size);
    expect_unopened("cut.so", PTO_ERR_IO, "cannot load the program: ./cut.so: invalid ELF header");
    unlink("cut.so");
    free(whole);
}

TEST(a_program_describes_its_entries)
{
    begin();
    PTOSignature s;
    EXPECT_EQ(pto_program_describe(numbers, NULL, &s), PTO_OK);
    EXPECT(s.entry_count == 22 && s.name == NULL && s.param_count == 2);
    EXPECT_STR(s.entries[0], "f");
    EXPECT_STR(s.params[1].derived, "from + 1");
    EXPECT_EQ(pto_program_describe(numbers, "half", &s), PTO_OK);
    EXPECT(s.formal_count == 5 && s.dim_count == 1 && s.result == PTO_F64);
    EXPECT(s.formals[0].direction == PTO_IN && s.formals[0].rank == 1 && s.formals[0].type == PTO_F32);
    EXPECT_STR(s.formals[0].text, "f32[N + 2]");
    EXPECT_STR(s.head, "export orch half<N>(in a: f32[N + 2], out s: f32[1], n: i64, x: f64, big: bool) -> f64");
    EXPECT_EQ(pto_program_describe(numbers, "hafl", &s), PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(NULL), "there is no entry 'hafl'; did you mean 'half'?"));
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

TEST(arguments_go_by_name_or_position_and_results_are_made)
{
    begin();
    float a[] = {1, 2, 3, 4, 5}, s = 0;
    PTOTensor *ta = row(PTO_F32, a, 5), *ts = row(PTO_F32, &s, 1), *made = NULL;
    PTOScalar result;
    EXPECT_EQ(CALL(rt, numbers, "half", PTO_T(NULL, ta), PTO_T(NULL, ts), PTO_I(NULL, 7), PTO_F(NULL, 3.0),
                   PTO_I(NULL, 0), PTO_V(&result)),
              PTO_OK);
    EXPECT(s == 6 && result.f64 == 1.5); /* a[0 .. 3] */
    EXPECT_EQ(
        CALL(rt, numbers, "half", PTO_I("big", 1), PTO_F("x", 3.0), PTO_I("n", 7), PTO_V(&result), PTO_T("a", ta)),
        PTO_OK);
    EXPECT(result.f64 == 7);
    EXPECT_EQ(CALL(rt, numbers, "f", PTO_R("y", &made), PTO_I("N", 3)), PTO_OK);
    PTODescription d;
    pto_tensor_describe(made, &d);
    EXPECT(d.type == PTO_I64 && d.rank == 1 && d.shape[0] == 3 && d.references == 1 && d.pins == 0);
    const int64_t *y = pto_tensor_map(made, PTO_READ);
    EXPECT(y[0] == 1 && y[1] == 3 && y[2] == 5);
    pto_tensor_unmap(made);
    pto_tensor_release(made);
    EXPECT_EQ(CALL(rt, numbers, "f", PTO_I("N", 0), PTO_R("y", &made)), PTO_OK); /* empty */
    pto_tensor_release(made);
    pto_tensor_release(ta);
    pto_tensor_release(ts);
}

/* Memory that others wrote and gave back: the pool hands it out again. */
static void leave_marks(int64_t count)
{
    PTOTensor *used[4];
    for (int i = 0; i < 4; i++) {
        used[i] = pto_tensor_new(NULL, PTO_I64, 1, &count);
        memset(pto_tensor_map(used[i], PTO_WRITE), 0x5A, (size_t)count * sizeof(int64_t));
        pto_tensor_unmap(used[i]);
    }
    for (int i = 0; i < 4; i++) pto_tensor_release(used[i]);
}

static void expect_zeros(PTOTensor *t, int64_t bytes)
{
    const char *at = pto_tensor_map(t, PTO_READ);
    EXPECT(at);
    for (int64_t i = 0; i < bytes; i++) EXPECT_EQ(at[i], 0);
    pto_tensor_unmap(t);
    pto_tensor_release(t);
}

TEST(where_no_kernel_runs_results_are_zeros_and_given_arrays_keep_their_elements)
{
    begin();
    enum { COUNT = 1000 };
    const PTOConfig configs[] = {{.engine = PTO_ENGINE_GRAPH}, {.engine = PTO_ENGINE_TIMING, .skip_kernels = true}};
    for (int e = 0; e < 2; e++) {
        PTORuntime *draws = pto_runtime_create(&configs[e], NULL);
        PTOTensor *made = NULL, *x = pto_tensor_new(NULL, PTO_F32, 1, (int64_t[]){2 * COUNT});
        leave_marks(COUNT);
        EXPECT_EQ(CALL(draws, numbers, "f", PTO_I("N", COUNT), PTO_R("y", &made)), PTO_OK);
        expect_zeros(made, COUNT * 8);
        leave_marks(COUNT);
        EXPECT_EQ(CALL(draws, numbers, "outer", PTO_T("x", x), PTO_R("result", &made)), PTO_OK); /* f32[?m] */
        expect_zeros(made, 2 * COUNT * 4);
        PTOSparse *matrix = NULL;
        leave_marks(2);
        EXPECT_EQ(CALL(draws, numbers, "columns", PTO_I("R", 2), PTO_I("C", 2), PTO_RS("a", &matrix)), PTO_OK);
        expect_zeros(pto_tensor_retain(pto_sparse_array(matrix, 1)), 16);
        pto_sparse_release(matrix);
        PTOTensor *given = pto_tensor_new(NULL, PTO_I64, 1, (int64_t[]){COUNT});
        memset(pto_tensor_map(given, PTO_WRITE), 1, COUNT * 8);
        pto_tensor_unmap(given);
        EXPECT_EQ(CALL(draws, numbers, "f", PTO_T("y", given)), PTO_OK);
        EXPECT_EQ(*(const char *)pto_tensor_map(given, PTO_READ), 1);
        pto_tensor_unmap(given);
        pto_tensor_release(given);
        pto_tensor_release(x);
        pto_runtime_destroy(draws);
    }
}

TEST(every_mistake_is_found_before_anything_runs)
{
    begin();
    float a[12] = {0}, b[12] = {0};
    double wide[12] = {0};
    const int64_t square[] = {3, 4};
    PTOTensor *ta = view_of(PTO_F32, a, sizeof a, 2, square, NULL), *tb = row(PTO_F32, b, 12),
              *tw = view_of(PTO_F64, wide, sizeof wide, 2, square, NULL), *made = (PTOTensor *)&made;
    const int shape = PTO_COMPLAINT_SHAPE, argument = PTO_COMPLAINT_ARGUMENT;
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ENTRY, "there is no entry 'pluss'; did you mean 'plus'?",
            CALL(rt, numbers, "pluss", PTO_T("a", ta)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'plus' has no argument 'A'", CALL(rt, numbers, "plus", PTO_T("A", ta)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'from' is a param, a scalar of type i64, not a tensor",
            CALL(rt, numbers, "plus", PTO_T("from", ta)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'M' is a dimension variable, not a tensor",
            CALL(rt, numbers, "plus", PTO_R("M", &made)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "no data for 'a', 'b'", CALL(rt, numbers, "plus", PTO_R("c", &made)));
    EXPECT(made == NULL);
    REFUSED(PTO_ERR_ARGUMENT, argument, "'a' is given twice",
            CALL(rt, numbers, "plus", PTO_T(NULL, ta), PTO_T("a", ta)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'a' is f64[3, 4], declared f32[M, N]",
            CALL(rt, numbers, "plus", PTO_T("a", tw), PTO_T("b", ta)));
    REFUSED(PTO_ERR_ARGUMENT, shape, "'b' is f32[12], declared f32[M, N]",
            CALL(rt, numbers, "plus", PTO_T("a", ta), PTO_T("b", tb)));
    PTOTensor *part = pto_tensor_slice(ta, 0, 0, 2, 1);
    REFUSED(PTO_ERR_ARGUMENT, shape,
            "'b' is f32[2, 4], but extent 0 (of f32[M, N]) is 3 with 'a' f32[3, 4], which makes 'M' 3",
            CALL(rt, numbers, "plus", PTO_T("a", ta), PTO_T("b", part)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'plus' has 3 arguments, here are more",
            CALL(rt, numbers, "plus", PTO_T(NULL, ta), PTO_T(NULL, ta), PTO_T(NULL, NULL), PTO_I(NULL, 1)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'a' is 'in': a call makes what is 'out'",
            CALL(rt, numbers, "plus", PTO_R("a", &made)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'n' has no value (i64)",
            CALL(rt, numbers, "half", PTO_T("a", tb), PTO_F("x", 1)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'n' is i64, 2 is given as a real number: PTO_I",
            CALL(rt, numbers, "half", PTO_T("a", tb), PTO_F("n", 2)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'n' is i64, '1.5' is not an integer",
            CALL(rt, numbers, "half", PTO_T("a", tb), PTO_F("n", 1.5)));
    REFUSED(PTO_ERR_ARGUMENT, argument, "'big' is bool, '2' is not true, false, 1 or 0",
            CALL(rt, numbers, "half", PTO_T("a", tb), PTO_I("big", 2)));
    REFUSED(PTO_ERR_ARGUMENT, shape, "nothing binds 'N'", CALL(rt, numbers, "f", PTO_R("y", &made)));
    REFUSED(PTO_ERR_ARGUMENT, shape, "the default of param 'by', from + 1, has no value: give the argument by=VALUE",
            CALL(rt, numbers, "f", PTO_R("y", &made), PTO_I("N", 1), PTO_I("from", INT64_MAX)));
    PTOLoaded *others = pto_program_open("others.so");
    REFUSED(PTO_ERR_ARGUMENT, shape, "param 'scale' has no value",
            CALL(rt, others, NULL, PTO_R("y", &made), PTO_I("N", 1)));
    pto_program_close(others);
    EXPECT_EQ(CALL(rt, numbers, "plus", PTO_T("a", ta), PTO_T("b", ta)), PTO_OK);
    EXPECT_EQ(pto_last_complaint(), PTO_COMPLAINT_NONE);
    pto_tensor_release(part);
    pto_tensor_release(ta);
    pto_tensor_release(tb);
    pto_tensor_release(tw);
}

TEST(a_sparse_matrix_is_a_struct_of_its_arrays_and_binds_its_columns)
{
    begin();
    int64_t ptr[] = {0, 2, 3}, idx[] = {0, 4, 1};
    float val[] = {1, 2, 3}, x[] = {1, 10, 100, 1000, 10000}, y[2] = {0};
    PTOTensor *arrays[] = {row(PTO_I64, ptr, 3), row(PTO_I64, idx, 3), row(PTO_F32, val, 3)}, *tx = row(PTO_F32, x, 5),
              *ty = row(PTO_F32, y, 2), *less = pto_tensor_slice(tx, 0, 0, 4, 1);
    PTOSparse *a = pto_sparse_make(PTO_CSR, 2, 5, arrays, PTO_CHECK_ALL),
              *coo = pto_sparse_make(PTO_COO, 5, 5, (PTOTensor *[]){arrays[1], arrays[1], arrays[2]}, PTO_CHECK_SHAPE);
    PTOScalar width;
    EXPECT_EQ(CALL(rt, numbers, "spmv", PTO_S("a", a), PTO_T("x", tx), PTO_T("y", ty)), PTO_OK);
    EXPECT(y[0] == 20001 && y[1] == 30);
    y[0] = 0;
    EXPECT_EQ(CALL(rt, numbers, "spmv", PTO_S(NULL, a), PTO_T(NULL, tx), PTO_T(NULL, ty)), PTO_OK);
    EXPECT(y[0] == 20001);
    EXPECT_EQ(CALL(rt, numbers, "width", PTO_S(NULL, a), PTO_V(&width)), PTO_OK);
    EXPECT_EQ(width.i64, 502);
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_SHAPE, "'x' is f32[4], but extent 0 (of f32[C]) is 5 with C=5",
            CALL(rt, numbers, "spmv", PTO_S("a", a), PTO_T("x", less)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_SHAPE, "'a' has 5 columns, declared 'C', which is 3",
            CALL(rt, numbers, "width", PTO_I("C", 3), PTO_S("a", a)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_SHAPE, "'a' has 5 columns, declared 'N', which is 2",
            CALL(rt, numbers, "square", PTO_S("a", a)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_SHAPE, "'a' has 5 columns, declared '4', which is 4",
            CALL(rt, numbers, "four", PTO_S("a", a)));
    EXPECT_EQ(CALL(rt, numbers, "wider", PTO_S("a", a)), PTO_OK); /* R + 3 is an expression */
    /* a square matrix by columns has the same arrays: its transpose would be computed with */
    PTOSparse *even = pto_sparse_make(PTO_CSR, 2, 2, (PTOTensor *[]){arrays[0], arrays[1], arrays[2]}, PTO_CHECK_SHAPE),
              *turned = pto_sparse_transpose(even);
    PTOTensor *two = pto_tensor_slice(tx, 0, 0, 2, 1);
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT,
            "the ptr of 'a' counts rows, that of the matrix, which is CSC, counts columns",
            CALL(rt, numbers, "spmv", PTO_S("a", turned), PTO_T("x", two), PTO_T("y", ty)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "the ptr of 'a' counts rows",
            CALL(rt, numbers, "square", PTO_S("a", turned)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "the ptr of 'a' counts columns",
            CALL(rt, numbers, "by_columns", PTO_S("a", even)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "the ptr of 'a' counts columns",
            CALL(rt, numbers, "squared_columns", PTO_S("a", even)));
    EXPECT_EQ(CALL(rt, numbers, "by_columns", PTO_S("a", turned)), PTO_OK);
    pto_sparse_release(even);
    pto_sparse_release(turned);
    pto_tensor_release(two);
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "'width' has no formal 'a.row' for the sparse matrix",
            CALL(rt, numbers, "width", PTO_S("a", coo)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "'a.val' is given twice",
            CALL(rt, numbers, "width", PTO_T("a.val", arrays[2]), PTO_S("a", a)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "it is NULL", CALL(rt, numbers, "width", PTO_S("a", NULL)));
    pto_sparse_release(a);
    pto_sparse_release(coo);
    PTOTensor *const all[] = {arrays[0], arrays[1], arrays[2], tx, ty, less};
    for (int i = 0; i < 6; i++) pto_tensor_release(all[i]);
}

TEST(a_call_makes_a_sparse_matrix_of_a_struct)
{
    begin();
    PTOSparse *m = (PTOSparse *)&m;
    PTOSparseDescription d;
    float x[] = {1, 10, 100, 1000}, y[3] = {0};
    PTOTensor *tx = row(PTO_F32, x, 4), *ty = row(PTO_F32, y, 3);
    EXPECT_EQ(CALL(rt, numbers, "unit", PTO_T("y", ty), PTO_T("x", tx), PTO_I("n", 2), PTO_RS("result", &m)), PTO_OK);
    EXPECT_EQ(pto_sparse_describe(m, &d), PTO_OK);
    EXPECT(d.format == PTO_CSR && d.rows == 3 && d.columns == 4 && d.nnz == 2 && d.references == 1);
    EXPECT_EQ(CALL(rt, numbers, "spmv", PTO_S("a", m), PTO_T("x", tx), PTO_T("y", ty)), PTO_OK);
    EXPECT(y[0] == 1 && y[1] == 20 && y[2] == 0);
    pto_sparse_release(m);
    EXPECT_EQ(CALL(rt, numbers, "columns", PTO_RS(NULL, &m), PTO_I("R", 3), PTO_I("C", 5)), PTO_OK);
    EXPECT_EQ(pto_sparse_describe(m, &d), PTO_OK);
    EXPECT(d.format == PTO_CSC && d.rows == 3 && d.columns == 5 && d.nnz == 2);
    pto_sparse_release(m);
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "is no struct with the arrays of a sparse matrix",
            CALL(rt, numbers, "plus", PTO_RS("c", &m)));
    EXPECT(m == NULL);
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "'a' is not 'out'",
            CALL(rt, numbers, "spmv", PTO_RS("a", &m), PTO_T("x", tx)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "'result.ptr' is given twice",
            CALL(rt, numbers, "unit", PTO_RS("result", &m), PTO_RS("result", &m)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT, "no variable", CALL(rt, numbers, "unit", PTO_RS("result", NULL)));
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_SHAPE, "nothing binds 'R'", CALL(rt, numbers, "columns", PTO_RS("a", &m)));
    pto_tensor_release(tx);
    pto_tensor_release(ty);
}

/* ---- results whose extents the run decides ----------------------------------------------------------------------- */

TEST(a_result_whose_extent_the_run_decides_is_a_tensor_of_that_extent)
{
    begin();
    float x[] = {1, -2, 3, 0, 5};
    PTOTensor *tx = row(PTO_F32, x, 5), *none = pto_tensor_slice(tx, 0, 3, 1, 1), *y = NULL;
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING, APART};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        PTORuntime *const other = pto_runtime_create(&(PTOConfig){.engine = engines[i], .heap_bytes = 1 << 20}, NULL);
        PTODescription d;
        EXPECT_EQ(CALL(other, numbers, "compact", PTO_T("x", tx), PTO_I("most", 5), PTO_R("result", &y)), PTO_OK);
        EXPECT_EQ(pto_tensor_describe(y, &d), PTO_OK);
        EXPECT(d.rank == 1 && d.shape[0] == 3 && d.type == PTO_F32);
        const float *const at = pto_tensor_map(y, PTO_READ);
        EXPECT(at[0] == 1 && at[1] == 3 && at[2] == 5);
        pto_tensor_unmap(y);
        pto_tensor_release(y);
        EXPECT_EQ(CALL(other, numbers, "compact", PTO_T("x", none), PTO_I("most", 5), PTO_R("result", &y)), PTO_OK);
        EXPECT_EQ(pto_tensor_describe(y, &d), PTO_OK);
        EXPECT(d.rank == 1 && d.shape[0] == 0);
        pto_tensor_release(y);
        EXPECT_EQ(CALL(other, numbers, "compact", PTO_T("x", tx), PTO_I("most", 5)), PTO_OK); /* nobody wants it */
        y = tx;
        EXPECT(CALL(other, numbers, "compact", PTO_T("x", tx), PTO_I("most", 2), PTO_R("result", &y)) < 0);
        EXPECT(y == NULL && strstr(pto_last_error(other), "too many"));
        pto_runtime_destroy(other);
    }
    REFUSED(PTO_ERR_ARGUMENT, PTO_COMPLAINT_ARGUMENT,
            "the run decides the extents of 'result' (f32[?m]), so the call makes",
            CALL(rt, numbers, "compact", PTO_T("x", tx), PTO_I("most", 5), PTO_T("result", tx)));
    pto_tensor_release(none);
    pto_tensor_release(tx);
}

/* A heap that is smaller than the result does: it never lies there. */
TEST(such_a_result_is_made_where_it_stays)
{
    enum { MANY = 1 << 20 };
    begin();
    const int64_t shape = MANY;
    PTOTensor *x = pto_tensor_new(NULL, PTO_F32, 1, &shape), *y = NULL;
    float *const at = pto_tensor_map(x, PTO_WRITE);
    for (int i = 0; i < MANY; i++) at[i] = (float)(i % 2 ? i : -i);
    pto_tensor_unmap(x);
    static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_SERIAL, PTO_ENGINE_TIMING};
    for (size_t i = 0; i < 6; i++) {
        PTORuntime *const small = pto_runtime_create(
            &(PTOConfig){.engine = engines[i / 2], .heap_bytes = 1 << 16, .always_defer = i < 2}, NULL);
        const int64_t count = i % 2 ? MANY : MANY / 2;
        PTODescription d = {.rank = 0};
        EXPECT_EQ(i % 2 ? CALL(small, numbers, "outer", PTO_T("x", x), PTO_R("result", &y))
                        : CALL(small, numbers, "compact", PTO_T("x", x), PTO_I("most", MANY), PTO_R("result", &y)),
                  PTO_OK);
        EXPECT_EQ(pto_tensor_describe(y, &d), PTO_OK);
        EXPECT(d.shape[0] == count && d.references == 1 && d.tensors == 1 && d.pins == 0);
        const float *const made = pto_tensor_map(y, PTO_READ);
        EXPECT(made[count - 1] == MANY - 1);
        pto_tensor_unmap(y);
        pto_runtime_destroy(small);
        PTODetached out;
        EXPECT_EQ(pto_tensor_take(&y, &out), PTO_OK); /* all of its memory, and nobody else's */
        EXPECT_EQ(out.bytes, count * 4);
        out.release(out.context);
    }
    pto_tensor_release(x);
}

TEST(a_result_that_only_some_paths_make_is_copied_and_what_fails_is_freed)
{
    begin();
    float x[] = {1, 2, 3};
    PTOTensor *tx = row(PTO_F32, x, 3), *y = NULL;
    PTOPoolStats before, after;
    PTODescription d = {.rank = 0};
    for (int all = 0; all < 2; all++) {
        EXPECT_EQ(CALL(rt, numbers, "either", PTO_T("x", tx), PTO_I("all", all), PTO_R("result", &y)), PTO_OK);
        EXPECT_EQ(pto_tensor_describe(y, &d), PTO_OK);
        const float *const at = pto_tensor_map(y, PTO_READ);
        EXPECT(d.shape[0] == (all ? 3 : 1) && at[0] == (all ? 1 : 6));
        pto_tensor_unmap(y);
        pto_tensor_release(y);
    }
    pto_pool_stats(&before);
    EXPECT_EQ(CALL(rt, numbers, "made_in_vain", PTO_T("x", tx), PTO_R("result", &y)), PTO_ERR_ASSERT);
    /* the thread that called has the text too */
    EXPECT(strstr(pto_last_error(rt), "not below 0") && strcmp(pto_last_error(NULL), pto_last_error(rt)) == 0);
    EXPECT_EQ(pto_last_status(), PTO_ERR_ASSERT);
    EXPECT(y == NULL);
    x[0] = -1;
    EXPECT_EQ(CALL(rt, numbers, "made_in_vain", PTO_T("x", tx)), PTO_OK); /* nobody wants it */
    pto_pool_stats(&after);
    EXPECT_EQ(after.used_bytes, before.used_bytes);
    pto_tensor_release(tx);
}

TEST(results_of_calls_come_from_the_pool_of_the_runtime)
{
    begin();
    PTOPool *pool = pto_pool_shared(1 << 20);
    PTORuntime *const split =
        pto_runtime_create(&(PTOConfig){.engine = APART, .heap_bytes = 1 << 20, .heap_rings = 1, .pool = pool}, NULL);
    PTOTensor *y = NULL, *z = NULL, *m = NULL;
    PTODescription d;
    EXPECT_EQ(CALL(split, numbers, "f", PTO_R("y", &y), PTO_I("N", 4), PTO_I("from", 5)), PTO_OK);
    const int64_t *at = pto_tensor_map(y, PTO_READ);
    EXPECT(at[0] == 5 && at[3] == 23);
    pto_tensor_unmap(y);
    EXPECT_EQ(CALL(split, numbers, "f", PTO_T("y", y), PTO_I("from", 6)), PTO_OK); /* in place */
    at = pto_tensor_map(y, PTO_READ);
    EXPECT_EQ(at[0], 6);
    pto_tensor_unmap(y);
    float x[] = {1, -2, 3};
    PTOTensor *tx = row(PTO_F32, x, 3);
    EXPECT_EQ(CALL(split, numbers, "compact", PTO_T("x", tx), PTO_I("most", 5), PTO_R("result", &m)), PTO_OK);
    EXPECT_EQ(pto_tensor_describe(m, &d), PTO_OK);
    const float *const made = pto_tensor_map(m, PTO_READ);
    EXPECT(d.shape[0] == 2 && made[1] == 3);
    pto_tensor_unmap(m);
    EXPECT_EQ(CALL(split, numbers, "f", PTO_R("y", &z), PTO_I("N", 1 << 20)), PTO_ERR_NOMEM);
    EXPECT(z == NULL);
    pto_tensor_release(m);
    pto_tensor_release(tx);
    pto_tensor_release(y);
    pto_runtime_destroy(split);
    pto_pool_destroy(pool);
}

/* ---- views ------------------------------------------------------------------------------------------------------- */

TEST(sliced_and_transposed_tensors_go_in_as_they_are)
{
    begin();
    float a[4][6], b[3][4], c[3][8];
    for (int i = 0; i < 24; i++) a[i / 6][i % 6] = (float)i, c[i / 8][i % 8] = -1;
    for (int i = 0; i < 12; i++) b[i / 4][i % 4] = (float)(100 * i);
    const int64_t sa[] = {4, 6}, sb[] = {3, 4}, sc[] = {3, 8};
    PTOTensor *ta = view_of(PTO_F32, a, sizeof a, 2, sa, NULL), *tb = view_of(PTO_F32, b, sizeof b, 2, sb, NULL),
              *tc = view_of(PTO_F32, c, sizeof c, 2, sc, NULL);
    PTOTensor *columns = pto_tensor_slice(ta, 1, 5, 3, -2), *turned = pto_tensor_transpose(columns, NULL), /* 5 3 1 */
                                                                *odd = pto_tensor_slice(tc, 1, 1, 4, 2);
    EXPECT_EQ(CALL(rt, numbers, "plus", PTO_T("a", turned), PTO_T("b", tb), PTO_T("c", odd)), PTO_OK);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 8; j++) EXPECT(c[i][j] == (j % 2 ? a[j / 2][5 - 2 * i] + b[i][j / 2] : -1));
    PTOTensor *const all[] = {ta, tb, tc, columns, turned, odd};
    for (int i = 0; i < 6; i++) pto_tensor_release(all[i]);
}

TEST(a_kernel_that_needs_no_gaps_says_which_argument_has_some)
{
    begin();
    float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, s = 0;
    PTOTensor *ta = row(PTO_F32, a, 8), *ts = row(PTO_F32, &s, 1), *even = pto_tensor_slice(ta, 0, 0, 4, 2);
    EXPECT_EQ(CALL(rt, numbers, "total", PTO_T("a", even), PTO_T("s", ts)), PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(rt), "[E18]"));
    EXPECT(
        strstr(pto_last_error(rt),
               "arguments that are strided: 'a'; pto_tensor_dense, in Python Tensor.dense(), makes contiguous ones"));
    PTOTensor *dense = pto_tensor_dense(even);
    EXPECT_EQ(CALL(rt, numbers, "total", PTO_T("a", dense), PTO_T("s", ts)), PTO_OK);
    EXPECT(s == 16);
    pto_tensor_release(dense);
    pto_tensor_release(even);
    pto_tensor_release(ta);
    pto_tensor_release(ts);
}

TEST(written_elements_belong_to_one_argument)
{
    begin();
    float a[16] = {1, 2, 3, 4};
    const int64_t shape[] = {2, 4};
    PTOTensor *all = row(PTO_F32, a, 16), *first = view_of(PTO_F32, a, 32, 2, shape, NULL),
              *second = view_of(PTO_F32, a + 4, 32, 2, shape, NULL),
              *third = view_of(PTO_F32, a + 8, 32, 2, shape, NULL);
    REFUSED(PTO_ERR_OVERLAP, 0, "error[E09]: 'c' is written and shares elements with 'a'",
            CALL(rt, numbers, "plus", PTO_T("a", first), PTO_T("b", first), PTO_T("c", second)));
    EXPECT_EQ(CALL(rt, numbers, "plus", PTO_T("a", first), PTO_T("b", first), PTO_T("c", third)), PTO_OK);
    EXPECT(a[8] == 2 && a[11] == 8);
    const PTOForeign f = {
        .address = a, .bytes = 64, .type = PTO_F32, .rank = 2, .shape = shape, .flags = PTO_READ_ONLY};
    PTOTensor *fixed = pto_tensor_attach(&f);
    REFUSED(PTO_ERR_READ_ONLY, 0, "'c'",
            CALL(rt, numbers, "plus", PTO_T("a", third), PTO_T("b", third), PTO_T("c", fixed)));
    EXPECT_EQ(CALL(rt, numbers, "plus", PTO_T("a", fixed), PTO_T("b", fixed), PTO_T("c", third)), PTO_OK);
    PTOTensor *const list[] = {all, first, second, third, fixed};
    for (int i = 0; i < 5; i++) pto_tensor_release(list[i]);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

TEST(two_programs_have_an_entry_of_one_name)
{
    begin();
    PTOLoaded *others = pto_program_open("others.so"), *again = pto_program_open("./others.so");
    int64_t y[2] = {0};
    PTOTensor *ty = row(PTO_I64, y, 2);
    EXPECT_EQ(CALL(rt, numbers, "f", PTO_T("y", ty), PTO_I("from", 5)), PTO_OK);
    EXPECT(y[0] == 5 && y[1] == 11);
    EXPECT_EQ(CALL(rt, others, "f", PTO_T("y", ty), PTO_I("scale", 9)), PTO_OK);
    EXPECT(y[0] == 9 && y[1] == 9);
    pto_program_close(others);
    EXPECT_EQ(CALL(rt, again, NULL, PTO_T("y", ty), PTO_I("scale", 8)), PTO_OK);
    EXPECT(y[0] == 8);
    pto_program_close(again);
    EXPECT_EQ(CALL(rt, numbers, "f", PTO_T("y", ty), PTO_I("by", 1)), PTO_OK);
    EXPECT(y[0] == 1 && y[1] == 2);
    pto_tensor_release(ty);
}

TEST(every_engine_finds_ordinary_memory)
{
    begin();
    float a[6] = {1, 2, 3, 4, 5, 6}, c[6] = {0};
    const int64_t shape[] = {3, 2};
    for (PTOEngine engine = 0; engine < PTO_ENGINES; engine++) {
        if (engine == PTO_ENGINE_GRAPH) continue;
#ifdef __SANITIZE_THREAD__
        if (engine == PTO_ENGINE_PROCESS) continue; /* it forks, which this sanitizer does not follow */
#endif
        PTORuntime *own = pto_runtime_create(&(PTOConfig){.engine = engine}, NULL);
        PTOTensor *ta = view_of(PTO_F32, a, sizeof a, 2, shape, NULL),
                  *tc = view_of(PTO_F32, c, sizeof c, 2, shape, NULL), *made = NULL;
        memset(c, 0, sizeof c);
        EXPECT_EQ(CALL(own, numbers, "plus", PTO_T("a", ta), PTO_T("b", ta), PTO_T("c", tc)), PTO_OK);
        EXPECT(c[0] == 2 && c[5] == 12);
        EXPECT_EQ(CALL(own, numbers, "plus", PTO_T("a", ta), PTO_T("b", tc), PTO_R("c", &made)), PTO_OK);
        const float *m = pto_tensor_map(made, PTO_READ);
        EXPECT(m[0] == 3 && m[5] == 18);
        pto_tensor_unmap(made);
        pto_tensor_release(made);
        pto_tensor_release(ta);
        pto_tensor_release(tc);
        pto_runtime_destroy(own);
    }
}

static void call_inside(PTORuntime *run, void *arg)
{
    *(PTOStatus *)arg = CALL(run, numbers, "f", PTO_I("N", 1));
    EXPECT_STR(pto_last_error(NULL), "pto_program_call inside a run");
}

TEST(a_runtime_in_a_run_refuses_and_so_do_null_and_destroyed_ones)
{
    begin();
    PTOStatus inside = PTO_OK;
    EXPECT_EQ(pto_runtime_run(rt, call_inside, &inside), PTO_OK);
    EXPECT_EQ(inside, PTO_ERR_STATE);
    EXPECT_EQ(CALL(NULL, numbers, "f", PTO_I("N", 1)), PTO_ERR_MISUSE);
    EXPECT_EQ(CALL(rt, NULL, "f", PTO_I("N", 1)), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_program_call(rt, numbers, "f", NULL, 1), PTO_ERR_MISUSE);
    EXPECT(strstr(pto_last_error(NULL), "the list of arguments is NULL"));
    EXPECT_EQ(CALL(rt, numbers, "f", PTO_I("N", 1)), PTO_OK);
    EXPECT_EQ(pto_program_call(rt, numbers, "f", (PTOArgument[]){PTO_I("N", 1)}, -1), PTO_ERR_MISUSE);
    EXPECT(strstr(pto_last_error(NULL), "-1 arguments"));
    end();
}
