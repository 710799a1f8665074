/* test_decode.c - every reason to refuse a submit has one sentence and one status on all three paths; and a parameter
 * that is plain is decoded as any other one is.
 * Method     a table with one wrong submit for each line of refusals.def and more.  Each is tried as a call that the
 *            caller completes itself (fast), as a call of the library that executes the task inline (immediate), and
 *            with all tasks deferred. */
#define PTO_INLINE_SUBMITS 1 /* with a sanitizer, too */
#include "submit/decode.h"
#include "unit.h"
#include <pto/pto_runtime.h>
#include <string.h>

enum path { FAST, IMMEDIATE, DEFERRED, PATHS };

static char cells[4096] __attribute__((aligned(64)));
static int nothing(const PTOArg *a) { return (void)a, 0; }
static const PTOKernel quiet = {.name = "quiet", .worker = PTO_WORKER_VECTOR, .fn = nothing};
static const PTOKernel no_function = {.name = "none", .worker = PTO_WORKER_CUBE};
static const PTOKernel lost = {.name = "lost", .worker = (PTOWorkerType)9, .fn = nothing};
static const PTOKernel request = {.name = "move", .worker = PTO_WORKER_ACCELERATOR, .opcode = PTO_OP_COPY};

/* The fast path inlines a submit of one parameter; the others call the library. */
static int64_t submit(PTORuntime *rt, enum path path, const PTOKernel *kernel, const PTOTaskParam *p, int32_t count)
{
    if (path != FAST) return (pto_submit_task)(rt, kernel, p, count);
    if (count == 1) return pto_submit_task(rt, kernel, p, 1);
    return count == 2 ? pto_submit_task(rt, kernel, p, 2) : pto_submit_task(rt, kernel, p, count);
}

static const int64_t square[] = {4, 4}, negative[] = {4, -3}, huge[] = {INT64_MAX / 2, 4}, backwards[] = {-4, 1},
                     gaps[] = {8, 1}, falling[] = {-4, -1};
static const PTOPart behind = {.at = 1, .shape = square, .stride = gaps, .rank = 2},
                     before = {.at = 14, .shape = square, .stride = falling, .rank = 2},
                     torn = {.shape = square, .rank = 2}, flat_part = {.shape = square, .stride = gaps, .rank = 1};

struct wrong {
    enum refusal why;
    PTOStatus status;
    const char *sentence;
};

/* In the order of submit_wrong. */
static const struct wrong wrongs[] = {
    {REFUSED_FUNCTION, PTO_ERR_ARGUMENT,
     "kernel 'none' has no function: its fn is NULL, and only a kernel of "
     "PTO_WORKER_ACCELERATOR may have an opcode instead"},
    {REFUSED_COUNT, PTO_ERR_ARGUMENT, "kernel 'quiet' with 69 parameters; at most 64 are possible"},
    {REFUSED_ARGUMENTS, PTO_ERR_ARGUMENT, "a task has at most 64 parameters"},
    {REFUSED_SCALARS, PTO_ERR_ARGUMENT, "work request 'move' with 17 scalars; at most 16 are possible"},
    {REFUSED_TIMEOUT, PTO_ERR_ARGUMENT, "@timeout(-5): at least 1 ms is needed"},
    {REFUSED_KIND, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0 is of no known kind"},
    {REFUSED_TYPE, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0 has no valid type and shape"}, /* type */
    {REFUSED_TYPE, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0 has no valid type and shape"}, /* rank */
    {REFUSED_TYPE, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0 has no valid type and shape"}, /* shape */
    {REFUSED_RANGE, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0: -8 bytes at tile 3 is no size"},
    {REFUSED_EXTENT, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0 has extent -3"},
    {REFUSED_VARIABLE, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 0: PTO_OUTPUT of no variable"},
    {REFUSED_REGION, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0: offset, shape and strides give no region of memory"}, /* offset */
    {REFUSED_REGION, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0: offset, shape and strides give no region of memory"}, /* size */
    {REFUSED_REGION, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0: offset, shape and strides give no region of memory"}, /* stride */
    {REFUSED_REGION, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0: offset, shape and strides give no region of memory"}, /* below */
    {REFUSED_REGION, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0: offset, shape and strides give no region of memory"}, /* address */
    {REFUSED_UNWRITTEN, PTO_ERR_UNWRITTEN, "kernel 'quiet': parameter 0 (b) was never written"},
    {REFUSED_NEW_OUTPUT, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (p): a new output begins at 0 and is row-major"}, /* offset */
    {REFUSED_NEW_OUTPUT, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (p): a new output begins at 0 and is row-major"}, /* strides */
    {REFUSED_HANDLE, PTO_ERR_HANDLE, "kernel 'quiet': parameter 0 (b) is a buffer whose lifetime has ended"},
    {REFUSED_BOUNDS, PTO_ERR_BOUNDS,
     "kernel 'quiet': parameter 0 (b) exceeds its buffer of 64 bytes"}, /* a flat range */
    {REFUSED_BOUNDS, PTO_ERR_BOUNDS, "kernel 'quiet': parameter 0 (b) exceeds its buffer of 64 bytes"}, /* a view */
    {REFUSED_SCOPE, PTO_ERR_ARGUMENT, "kernel 'quiet': parameter 1 (p): its scope is closed"},
    {REFUSED_PART, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (b): the part that the task writes goes beyond what it is given"}, /* behind */
    {REFUSED_PART, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (b): the part that the task writes goes beyond what it is given"}, /* before */
    {REFUSED_NO_PART, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (b): PTO_INOUT_PART without a part: it, its shape or its stride is NULL"},
    {REFUSED_NO_PART, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (b): PTO_INOUT_PART without a part: it, its shape or its stride is NULL"},
    {REFUSED_PART_RANK, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0 (b): its part has 1 dimensions, but the parameter has 2"},
    {REFUSED_KERNEL, PTO_ERR_ARGUMENT, "pto_submit_task without a kernel: it is NULL"},
    {REFUSED_WORKER, PTO_ERR_ARGUMENT, "kernel 'lost' is for workers of type 9, but there is no such type"},
    {REFUSED_LIST, PTO_ERR_ARGUMENT, "kernel 'quiet' with 3 parameters, but the list of them is NULL"},
    {REFUSED_BYTES, PTO_ERR_OVERFLOW, "[E15]: integer overflow: the bytes of p, 4 * 4611686018427387903 * 4"},
    {REFUSED_REGION, PTO_ERR_ARGUMENT,
     "kernel 'quiet': parameter 0: offset, shape and strides give no region of memory"}, /* a view */
};
enum { WRONGS = sizeof wrongs / sizeof wrongs[0] };

/* `held` is a buffer of 64 bytes; `gone` has been released. */
static int64_t submit_wrong(PTORuntime *rt, enum path path, int which, void *held, void *gone)
{
    void *p = NULL;
    PTOTaskParam many[PTO_TASK_PARAMS + 1] = {[0] = PTO_INPUT(cells, 0, 64)};
    for (int i = 1; i < PTO_TASK_PARAMS + 1; i++) many[i] = (PTOTaskParam)PTO_SCALAR((int64_t)i);
    PTOTaskParam flat = PTO_INPUT(cells, 3, 8), made = PTO_OUTPUT(&p, 0, 64), view = PTO_INPUT(cells, 0, 0);
    view.type = PTO_F32;
    view.rank = 2;
    view.shape = square;
    view.name = flat.name = "b";
    const PTOTaskParam timed = PTO_TIMEOUT(-5), ranked = PTO_PRIORITY(1);
    switch (which) {
    case 0: return submit(rt, path, &no_function, &flat, 1);
    case 1: return submit(rt, path, &quiet, many, PTO_TASK_PARAMS + 1);
    case 2: return submit(rt, path, &quiet, many, PTO_MAX_PARAMS + 1);
    case 3: return submit(rt, path, &request, many, PTO_REQUEST_PARAMS + 2);
    case 4: return submit(rt, path, &quiet, &timed, 1);
    case 5: flat.kind = 99; return submit(rt, path, &quiet, &flat, 1);
    case 6: view.type = PTO_TYPE_COUNT; return submit(rt, path, &quiet, &view, 1);
    case 7: view.rank = PTO_MAX_RANK + 1; return submit(rt, path, &quiet, &view, 1);
    case 8: view.shape = NULL; return submit(rt, path, &quiet, &view, 1);
    case 9: flat.bytes = -8; return submit(rt, path, &quiet, &flat, 1);
    case 10: view.shape = negative; return submit(rt, path, &quiet, &view, 1);
    case 11: made.ref = NULL; return submit(rt, path, &quiet, &made, 1);
    case 12: view.at = -1; return submit(rt, path, &quiet, &view, 1);
    case 13: view.shape = huge; return submit(rt, path, &quiet, &view, 1);
    case 14: view.stride = backwards; return submit(rt, path, &quiet, &view, 1);
    case 15: view.at = 2, view.stride = backwards; return submit(rt, path, &quiet, &view, 1);
    case 16: flat.buffer = (void *)(uintptr_t)(INT64_MAX - 4); return submit(rt, path, &quiet, &flat, 1);
    case 17: view.buffer = NULL; return submit(rt, path, &quiet, &view, 1);
    case 18: made.at = 1; return submit(rt, path, &quiet, &made, 1);
    case 19:
        made.type = PTO_F32, made.rank = 2, made.shape = square, made.stride = gaps;
        return submit(rt, path, &quiet, &made, 1);
    case 20: flat.buffer = gone; return submit(rt, path, &quiet, &flat, 1);
    case 21: flat.buffer = held, flat.at = 8; return submit(rt, path, &quiet, &flat, 1);
    case 22: view.buffer = held, view.at = 1; return submit(rt, path, &quiet, &view, 1);
    case 23: made.scope = 77; return submit(rt, path, &quiet, (PTOTaskParam[]){ranked, made}, 2);
    case 24: view.kind = PTO_PARAM_INOUT_PART, view.ref = (void *)(uintptr_t)&behind; break;
    case 25: view.kind = PTO_PARAM_INOUT_PART, view.ref = (void *)(uintptr_t)&before; break;
    case 26: view.kind = PTO_PARAM_INOUT_PART, view.ref = NULL; break;
    case 27: view.kind = PTO_PARAM_INOUT_PART, view.ref = (void *)(uintptr_t)&torn; break;
    case 28: view.kind = PTO_PARAM_INOUT_PART, view.ref = (void *)(uintptr_t)&flat_part; break;
    case 29: return submit(rt, path, NULL, &flat, 1);
    case 30: return submit(rt, path, &lost, &flat, 1);
    case 31: return submit(rt, path, &quiet, NULL, 3);
    case 32: made.type = PTO_F32, made.rank = 2, made.shape = huge; return submit(rt, path, &quiet, &made, 1);
    case 33:
        made.type = PTO_F32, made.rank = 2, made.shape = huge, made.stride = gaps;
        return submit(rt, path, &quiet, &made, 1);
    default: return INT64_MIN;
    }
    return submit(rt, path, &quiet, &view, 1);
}

struct attempt {
    enum path path;
    int which;
    int64_t returned;
};

static void attempt(PTORuntime *rt, void *arg)
{
    static const PTOSite site = {"a.pto", 7, 3, "here"};
    struct attempt *a = arg;
    void *held = NULL, *gone = NULL;
    pto_at(rt, &site);
    for (int i = 0; i < 4; i++) { /* the first submit of a run measures the kernel */
        const PTOTaskParam p = PTO_OUTPUT(i < 3 ? &held : &gone, 0, 64);
        submit(rt, a->path, &quiet, &p, 1);
    }
    pto_release(rt, gone);
    a->returned = submit_wrong(rt, a->path, a->which, held, gone);
}

static void submit_fullest(PTORuntime *rt, void *arg)
{
    PTOTaskParam p[PTO_TASK_PARAMS] = {PTO_PRIORITY(1), PTO_NAME("n"), PTO_TIMEOUT(60000), PTO_AT(0),
                                       PTO_INPUT(cells, 0, 64)};
    for (int i = 5; i < PTO_TASK_PARAMS; i++) p[i] = (PTOTaskParam)PTO_SCALAR((int64_t)i);
    *(int64_t *)arg = submit(rt, DEFERRED, &quiet, p, PTO_TASK_PARAMS);
}

TEST(a_task_of_64_arguments_may_have_every_attribute)
{
    int64_t returned = -1;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096}, NULL);
    assert_non_null(rt);
    EXPECT_EQ(pto_runtime_run(rt, submit_fullest, &returned), PTO_OK);
    EXPECT_EQ(returned >= 0, true);
    pto_runtime_destroy(rt);
}

TEST(every_refusal_has_one_sentence_and_one_status_on_all_paths)
{
    static const char place[] = "a.pto:7:3: error";
    for (int path = 0; path < PATHS; path++) {
        PTORuntime *rt = pto_runtime_create(
            &(PTOConfig){.engine = PTO_ENGINE_SERIAL, .heap_bytes = 4096, .always_defer = path == DEFERRED}, NULL);
        assert_non_null(rt);
        for (int i = 0; i < WRONGS; i++) {
            struct attempt a = {.path = (enum path)path, .which = i};
            EXPECT_EQ(pto_runtime_run(rt, attempt, &a), wrongs[i].status);
            EXPECT_EQ(a.returned, wrongs[i].status);
            const char *text = pto_last_error(rt);
            EXPECT_EQ(strncmp(text, place, strlen(place)), 0);
            text += strlen(place);
            if (strncmp(text, ": ", 2) == 0) text += 2; /* else there is an id before it */
            if (wrongs[i].sentence) {
                EXPECT_EQ(strncmp(text, wrongs[i].sentence, strlen(wrongs[i].sentence)), 0);
                EXPECT(strchr("\n", text[strlen(wrongs[i].sentence)]) != NULL);
            }
        }
        struct attempt fine = {.path = (enum path)path, .which = WRONGS};
        EXPECT_EQ(pto_runtime_run(rt, attempt, &fine), PTO_OK);
        EXPECT(fine.returned == INT64_MIN); /* WRONGS is their number */
        pto_runtime_destroy(rt);
    }
}

/* ---- bounds of registered arrays --------------------------------------------------------------------------------- */

struct exceeding {
    char *array; /* 64 bytes, followed by others */
    int form;
    bool is_registered, fits;
};
enum { FORMS = 4 };

static void exceed(PTORuntime *rt, void *arg)
{
    const struct exceeding *e = arg;
    static const PTOKernel first = {.name = "first", .worker = PTO_WORKER_VECTOR, .fn = nothing};
    const int64_t extent = 17 - e->fits, rows[] = {2, 4 + !e->fits}, row[] = {8, 1};
    if (e->is_registered) pto_buffer(rt, e->array, 64);
    const PTOTaskParam forms[] = {
        PTO_INOUT(e->array, 0, 64 + 4 * !e->fits),
        PTO_INOUT(e->array, !e->fits, 64), /* none of it lies in the array */
        PTO_INPUT(e->array, 0, PTO_ARRAY(PTO_F32, extent)),
        {.kind = PTO_PARAM_INPUT,
         .type = PTO_F32,
         .rank = 2,
         .buffer = e->array,
         .at = 4,
         .shape = rows,
         .stride = row},
    };
    for (int i = 0; e->fits && i < 20; i++) PTO_SUBMIT(rt, &first, forms[e->form]);
    (pto_submit_task)(rt, e->fits ? &first : &quiet, &forms[e->form], 1);
}

TEST(a_region_that_exceeds_a_registered_array_is_refused_on_every_engine)
{
    char *const array = pto_shared_alloc(256);
    const char *const sentence = " exceeds its buffer of 64 bytes";
    for (int e = 0; e < 2 * PTO_ENGINES; e++) {
        PTORuntime *rt = pto_runtime_create(
            &(PTOConfig){.engine = (PTOEngine)(e / 2), .heap_bytes = 4096, .always_defer = e % 2}, NULL);
        for (int form = 0; form < FORMS; form++) {
            struct exceeding x = {.array = array, .form = form, .is_registered = true};
            EXPECT_EQ(pto_runtime_run(rt, exceed, &x), PTO_ERR_BOUNDS);
            EXPECT(strstr(pto_last_error(rt), "': parameter 0") && strstr(pto_last_error(rt), sentence));
            x.fits = true;
            EXPECT_EQ(pto_runtime_run(rt, exceed, &x), PTO_OK);
            x.fits = x.is_registered = false; /* in the run before it was */
            EXPECT_EQ(pto_runtime_run(rt, exceed, &x), PTO_OK);
        }
        pto_runtime_destroy(rt);
    }
    pto_shared_free(array, 256);
}

static void await_too_much(PTORuntime *rt, void *arg)
{
    pto_buffer(rt, arg, 64);
    EXPECT_EQ(pto_await(rt, arg, 60, 4), PTO_OK);
    EXPECT_EQ(pto_await(rt, arg, 60, 8), PTO_ERR_BOUNDS);
}

TEST(an_await_of_more_than_a_registered_array_is_refused)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.heap_bytes = 4096}, NULL);
    EXPECT_EQ(pto_runtime_run(rt, await_too_much, cells), PTO_ERR_BOUNDS);
    EXPECT(strstr(pto_last_error(rt), "await: the range exceeds its buffer of 64 bytes"));
    pto_runtime_destroy(rt);
}

TEST(the_table_has_every_refusal)
{
    static const enum refusal all[] = {
#define REFUSAL(name, ...) REFUSED_##name,
#include "submit/refusals.def"
#undef REFUSAL
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        int count = 0;
        for (int i = 0; i < WRONGS; i++) count += wrongs[i].why == all[k];
        EXPECT(count > 0);
    }
}

/* ---- plain parameters -------------------------------------------------------------------------------------------- */

static uint64_t state = 1;
static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* Mostly small, sometimes at a limit of what is plain. */
static int64_t number(int limit_bits)
{
    switch (below(12)) {
    case 0: return ((int64_t)1 << limit_bits) - 2 + below(5);
    case 1: return -below(3);
    case 2: return INT64_MAX - below(3);
    default: return below(9);
    }
}

static void make_param(PTOTaskParam *p, int64_t *shape, int64_t *stride, void **variable)
{
    *p = (PTOTaskParam){.kind = (uint8_t)(PTO_PARAM_INPUT + below(4)),
                        .type = (uint8_t)below(PTO_TYPE_COUNT + (below(9) == 0)),
                        .rank = (uint8_t)below(4),
                        .at = number(below(2) ? 30 : 40),
                        .bytes = number(30),
                        .shape = shape,
                        .stride = below(2) ? stride : NULL};
    if (p->rank == 0 && below(8) != 0) p->type = PTO_BYTE;
    void *address = below(6) == 0 ? NULL : below(20) == 0 ? (void *)((uintptr_t)1 << 60) : cells + below(64);
    if (p->kind == PTO_PARAM_OUTPUT)
        *variable = address, p->ref = below(9) == 0 ? NULL : (void *)variable;
    else
        p->buffer = address;
    for (int d = 0; d < 3; d++) {
        shape[d] = number(30);
        stride[d] = number(24);
    }
}

TEST(a_plain_parameter_is_decoded_as_any_other)
{
    int plain = 0, refused = 0, odd = 0;
    for (int i = 0; i < 1000000; i++) {
        int64_t shape[3], stride[3], lay[PTO_MAX_RANK], lay_any[PTO_MAX_RANK];
        long long about = 0;
        void *variable;
        PTOTaskParam p;
        PTOArg arg, any;
        PTOAccess_ a, b;
        make_param(&p, shape, stride, &variable);
        const bool is_plain = pto_decode_(&p, &arg, lay, &a);
        const enum refusal why = ptoi_decode_any(&p, &any, lay_any, &b, &about);
        plain += is_plain;
        refused += why != REFUSED_NOT;
        odd += !is_plain && why == REFUSED_NOT;
        if (!is_plain) continue;
        EXPECT_EQ(why, REFUSED_NOT);
        EXPECT(a.base == b.base && a.low == b.low && a.high == b.high && a.is_contiguous == b.is_contiguous);
        EXPECT(arg.ptr == any.ptr && arg.kind == any.kind && arg.type == any.type && arg.rank == any.rank);
        for (int d = 0; d < arg.rank; d++) EXPECT(arg.shape[d] == any.shape[d] && arg.stride[d] == any.stride[d]);
        EXPECT(a.low < a.high && (a.base || (p.kind == PTO_PARAM_OUTPUT && a.low == 0)));
    }
    EXPECT(plain > 100000 && refused > 100000 && odd > 50000);
}
