/* test_sentences.c - every failing call of the public headers leaves a sentence, with the thread or with the runtime.
 * Method     a table of wrong calls.  Before each both messages are made empty, by a create and a run that succeed. */
#include "unit.h"
#include <pto/pto_call.h>
#include <pto/pto_program.h>
#include <string.h>

static PTORuntime *rt;      /* nothing is recorded */
static PTORuntime *records; /* as its name says; it has run nothing */
static PTOTensor *t;        /* f32[4] */
static PTOSparse *no_matrix;
static const int64_t four[] = {4}, negative[] = {-4}, huge[] = {INT64_MAX, INT64_MAX};
static PTODescription about;
static PTOSignature signature;
static PTODetached detached;

static void nothing(PTORuntime *r, void *arg) { (void)r, (void)arg; }
static PTOStatus made(const void *p) { return p ? PTO_OK : pto_last_status(); }
static PTOStatus number(int64_t n) { return n < 0 ? (PTOStatus)n : PTO_OK; }
static const PTOKernel kernel = {.name = "k"};

/* clang-format off */
#define CALLS(X)                                                                                                       \
    X(run_of_null, pto_runtime_run(NULL, nothing, NULL))                                                               \
    X(run_of_nothing, pto_runtime_run(rt, NULL, NULL))                                                                 \
    X(entry_of_nothing, pto_run_entry(rt, NULL, NULL))                                                                 \
    X(execute_of_nothing, pto_runtime_execute(rt, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL))                           \
    X(execute_of_minus_one, pto_runtime_execute(rt, NULL, NULL, NULL, -1, NULL, NULL, 0, NULL))                        \
    X(status_of_null, pto_runtime_status(NULL))                                                                        \
    X(operation_of_the_library, pto_operation(rt, 0, NULL, NULL))                                                      \
    X(operation_of_null, pto_operation(NULL, PTO_OP_OWN, NULL, NULL))                                                  \
    X(submit_outside, number((pto_submit_task)(rt, &kernel, NULL, 0)))                                                 \
    X(await_outside, pto_await(rt, &rt, 0, 1))                                                                         \
    X(await_users_outside, pto_await_users(rt, &rt, 0, 1))                                                             \
    X(trace_of_no_record, pto_runtime_write_trace(rt, "/dev/null"))                                                    \
    X(report_of_no_record, pto_runtime_write_report(rt, "/dev/null"))                                                  \
    X(graph_of_no_record, pto_runtime_write_graph(rt, "/dev/null"))                                                    \
    X(schedule_of_no_record, pto_runtime_write_schedule(rt, "/dev/null"))                                              \
    X(trace_nowhere, pto_runtime_write_trace(records, "/no/such/folder/t.json"))                                       \
    X(report_nowhere, pto_runtime_write_report(records, "/no/such/folder/r.html"))                                     \
    X(graph_nowhere, pto_runtime_write_graph(records, "/no/such/folder/g.dot"))                                        \
    X(schedule_nowhere, pto_runtime_write_schedule(records, "/no/such/folder/s"))                                      \
    X(trace_without_a_path, pto_runtime_write_trace(records, NULL))                                                    \
    X(report_without_a_path, pto_runtime_write_report(records, NULL))                                                  \
    X(graph_without_a_path, pto_runtime_write_graph(records, NULL))                                                    \
    X(schedule_without_a_path, pto_runtime_write_schedule(records, NULL))                                              \
    X(trace_of_null, pto_runtime_write_trace(NULL, "/dev/null"))                                                       \
    X(open_of_null, made(pto_program_open(NULL)))                                                                      \
    X(open_of_no_file, made(pto_program_open("/no/such.so")))                                                          \
    X(describe_of_no_program, pto_program_describe(NULL, NULL, &signature))                                            \
    X(call_of_no_program, pto_program_call(rt, NULL, NULL, NULL, 0))                                                   \
    X(call_of_null, pto_program_call(NULL, NULL, NULL, NULL, 0))                                                       \
    X(new_of_no_type, made(pto_tensor_new(NULL, (PTOType)99, 1, four)))                                                \
    X(new_of_rank_nine, made(pto_tensor_new(NULL, PTO_F32, 9, four)))                                                  \
    X(new_of_no_shape, made(pto_tensor_new(NULL, PTO_F32, 1, NULL)))                                                   \
    X(new_of_minus_four, made(pto_tensor_new(NULL, PTO_F32, 1, negative)))                                             \
    X(new_of_too_much, made(pto_tensor_new(NULL, PTO_F32, 2, huge)))                                                   \
    X(attach_of_null, made(pto_tensor_attach(NULL)))                                                                   \
    X(slice_of_null, made(pto_tensor_slice(NULL, 0, 0, 1, 1)))                                                         \
    X(slice_of_no_dimension, made(pto_tensor_slice(t, 3, 0, 1, 1)))                                                    \
    X(slice_behind, made(pto_tensor_slice(t, 0, 2, 9, 1)))                                                             \
    X(index_behind, made(pto_tensor_index(t, 0, 4)))                                                                   \
    X(index_of_null, made(pto_tensor_index(NULL, 0, 0)))                                                               \
    X(transpose_of_null, made(pto_tensor_transpose(NULL, NULL)))                                                       \
    X(transpose_of_no_order, made(pto_tensor_transpose(t, (const int[]){5})))                                          \
    X(reshape_of_null, made(pto_tensor_reshape(NULL, 1, four)))                                                        \
    X(reshape_of_more, made(pto_tensor_reshape(t, 2, huge)))                                                           \
    X(broadcast_of_null, made(pto_tensor_broadcast(NULL, 1, four)))                                                    \
    X(broadcast_of_four, made(pto_tensor_broadcast(t, 1, (const int64_t[]){5})))                                       \
    X(share_of_null, made(pto_tensor_share(NULL)))                                                                     \
    X(detach_of_null, made(pto_tensor_detach(NULL)))                                                                   \
    X(copy_of_null, made(pto_tensor_copy(NULL)))                                                                       \
    X(dense_of_null, made(pto_tensor_dense(NULL)))                                                                     \
    X(writable_of_null, pto_tensor_writable(&(PTOTensor *){NULL}))                                                     \
    X(take_of_null, pto_tensor_take(&(PTOTensor *){NULL}, &detached))                                                  \
    X(map_of_null, made(pto_tensor_map(NULL, PTO_READ)))                                                               \
    X(map_of_no_access, made(pto_tensor_map(t, (PTOAccess)0)))                                                         \
    X(about_null, pto_tensor_describe(NULL, &about))                                                                   \
    X(from_no_dlpack, made(pto_tensor_from_dlpack(NULL)))                                                              \
    X(from_no_old_dlpack, made(pto_tensor_from_dlpack_unversioned(NULL)))                                              \
    X(to_dlpack_of_null, made(pto_tensor_to_dlpack(NULL, 1, 0)))                                                       \
    X(to_old_dlpack_of_null, made(pto_tensor_to_dlpack_unversioned(NULL)))                                             \
    X(from_no_arrow, made(pto_tensor_from_arrow(NULL, NULL)))                                                          \
    X(to_no_arrow, pto_tensor_to_arrow(t, NULL, NULL))                                                                 \
    X(sparse_of_nothing, made(pto_sparse_make(PTO_CSR, 1, 1, NULL, PTO_CHECK_SHAPE)))                                  \
    X(sparse_of_no_format, made(pto_sparse_make((PTOFormat)77, 1, 1, NULL, PTO_CHECK_SHAPE)))                          \
    X(sparse_attached_to_nothing, made(pto_sparse_attach(PTO_CSR, 1, 1, NULL, PTO_CHECK_SHAPE)))                       \
    X(sparse_share_of_null, made(pto_sparse_share(NULL)))                                                              \
    X(sparse_detach_of_null, made(pto_sparse_detach(NULL)))                                                            \
    X(sparse_rows_of_null, made(pto_sparse_rows(NULL, 0, 1)))                                                          \
    X(sparse_pick_of_null, made(pto_sparse_pick(NULL, four, 1)))                                                       \
    X(sparse_transpose_of_null, made(pto_sparse_transpose(NULL)))                                                      \
    X(sparse_convert_of_null, made(pto_sparse_convert(NULL, PTO_CSC)))                                                 \
    X(sparse_array_of_null, made(pto_sparse_array(NULL, 0)))                                                           \
    X(sparse_take_of_null, pto_sparse_take(&no_matrix, &detached))                                                     \
    X(shared_pool_of_nothing, made(pto_pool_shared(-1)))
/* clang-format on */

#define X(name, call)                                                                                                  \
    static PTOStatus name(void) { return call; }
CALLS(X)
#undef X

static const struct {
    const char *name;
    PTOStatus (*call)(void);
} calls[] = {
#define X(name, call) {#name, name},
    CALLS(X)
#undef X
};

TEST(every_failing_call_leaves_a_sentence)
{
    int silent = 0;
    rt = pto_runtime_create(&(PTOConfig){.heap_bytes = 4096}, NULL);
    records = pto_runtime_create(&(PTOConfig){.heap_bytes = 4096, .record_tasks = 4}, NULL);
    EXPECT_EQ(pto_runtime_run(records, nothing, NULL), PTO_OK);
    t = pto_tensor_new(NULL, PTO_F32, 1, four);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        pto_runtime_destroy(pto_runtime_create(&(PTOConfig){.heap_bytes = 4096, .engine = PTO_ENGINE_SERIAL}, NULL));
        EXPECT_EQ(pto_runtime_run(rt, nothing, NULL), PTO_OK);
        EXPECT(strlen(pto_last_error(NULL)) + strlen(pto_last_error(rt)) == 0);
        const PTOStatus status = calls[i].call();
        const bool is_right = status < 0 && strlen(pto_last_error(NULL)) + strlen(pto_last_error(rt)) > 10;
        if (!is_right) print_message("%s: %d '%s'\n", calls[i].name, status, pto_last_error(NULL));
        silent += !is_right;
    }
    EXPECT_EQ(silent, 0);
    pto_tensor_release(t);
    pto_runtime_destroy(rt);
    pto_runtime_destroy(records);
}

TEST(a_run_of_nothing_leaves_its_sentence_with_the_runtime_too)
{
    PTORuntime *idle = pto_runtime_create(&(PTOConfig){.heap_bytes = 4096}, NULL);
    EXPECT_EQ(pto_runtime_run(idle, NULL, NULL), PTO_ERR_ARGUMENT);
    EXPECT(strstr(pto_last_error(idle), "pto_runtime_run without an orchestration: fn is NULL"));
    EXPECT_EQ(pto_runtime_run(idle, nothing, NULL), PTO_OK);
    EXPECT_STR(pto_last_error(idle), "");
    pto_runtime_destroy(idle);
}
