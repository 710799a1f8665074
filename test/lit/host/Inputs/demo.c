/* A hand-written program table, as a compiler would make it:
 *     param n: i64 = 2;  param tol: f32 = 0.5;  param loud: bool = false;  param must: i64;      (-DMUST only)
 *     export orch scale<N, M>(in x: f32[N, M], inout y: f32[N + 2, M], out z: f32[n * M], s: f64)   y[0 .. N] += s * x;
 *     z = n export orch types<K>(in h: f16[K], in b: bf16[K], in t: bool[K], in i: i8[K], in u: u64[K], out k: i64[K])
 *     k = u export orch broken(out z: f32[1])                      a kernel that fails
 *     export orch drift(out z: f32[2, 3])                    a kernel that makes something else each time
 * -DONE leaves the first entry only, -DNONE none. */
#include <pto/pto_program.h>
#include <stdio.h>

struct params {
    int64_t n, must;
    float tol;
    bool loud;
};
static const struct params defaults = {.n = 2, .tol = 0.5f};

static const PTOProgramParam settings[] = {
    {.name = "n", .type = PTO_I64, .at = offsetof(struct params, n), .has_default = true, .derived = "1 / 0"},
    {.name = "tol", .type = PTO_F32, .at = offsetof(struct params, tol), .has_default = true},
    {.name = "loud", .type = PTO_BOOL, .at = offsetof(struct params, loud), .has_default = true},
#ifdef MUST
    {.name = "must", .type = PTO_I64, .at = offsetof(struct params, must), .has_default = false},
#endif
};

static int add_scaled(const PTOArg *a)
{
    const float *x = a[0].ptr;
    float *y = a[1].ptr;
    for (int64_t i = 0; i < a[3].value.i64; i++) y[i] += (float)a[2].value.f64 * x[i];
    return 0;
}

static int fill(const PTOArg *a)
{
    float *z = a[0].ptr;
    for (int64_t i = 0; i < a[2].value.i64; i++) z[i] = a[1].value.f32;
    return 0;
}

static int copy(const PTOArg *a)
{
    const uint64_t *u = a[0].ptr;
    int64_t *k = a[1].ptr;
    for (int64_t i = 0; i < a[2].value.i64; i++) k[i] = (int64_t)u[i];
    return 0;
}

static int fail(const PTOArg *a)
{
    (void)a;
    return 3;
}

static int count_calls(const PTOArg *a)
{
    static float calls;
    float *z = a[0].ptr;
    for (int i = 0; i < 6; i++) z[i] = i == 4 ? calls : 0;
    calls++;
    return 0;
}

static const PTOKernel add_scaled_kernel = {.name = "add_scaled", .worker = PTO_WORKER_VECTOR, .fn = add_scaled};
static const PTOKernel fill_kernel = {.name = "fill", .worker = PTO_WORKER_VECTOR, .fn = fill};
static const PTOKernel copy_kernel = {.name = "copy", .worker = PTO_WORKER_VECTOR, .fn = copy};
static const PTOKernel fail_kernel = {.name = "fail", .worker = PTO_WORKER_VECTOR, .fn = fail};
static const PTOKernel count_kernel = {.name = "count_calls", .worker = PTO_WORKER_VECTOR, .fn = count_calls};
static const PTOSite site = {"demo.pto", 7, 5, "call"};

static void scale_body(PTORuntime *rt, void *arg)
{
    const PTOCall *c = arg;
    const struct params *const p = c->params;
    void *z = c->data[2];
    int64_t N = c->dims[0], M = c->dims[1];
    if (p->loud)
        printf("N %lld M %lld n %lld tol %g s %g\n", (long long)N, (long long)M, (long long)p->n, (double)p->tol,
               c->scalars[3].f64);
    pto_at(rt, &site);
    pto_scope_begin(rt);
    pto_submit_task(rt, &add_scaled_kernel,
                    (PTOTaskParam[]){PTO_INPUT(c->data[0], 0, N * M * 4), PTO_INOUT(c->data[1], 0, N * M * 4),
                                     PTO_SCALAR(c->scalars[3].f64), PTO_SCALAR(N * M)},
                    4);
    pto_submit_task(rt, &fill_kernel,
                    (PTOTaskParam[]){PTO_OUTPUT(&z, 0, p->n * M * 4), PTO_SCALAR((float)p->n), PTO_SCALAR(p->n * M)},
                    3);
    pto_scope_end(rt);
}

static void types_body(PTORuntime *rt, void *arg)
{
    const PTOCall *c = arg;
    void *k = c->data[5];
    pto_at(rt, &site);
    pto_submit_task(rt, &copy_kernel,
                    (PTOTaskParam[]){PTO_INPUT(c->data[4], 0, c->dims[0] * 8), PTO_OUTPUT(&k, 0, c->dims[0] * 8),
                                     PTO_SCALAR(c->dims[0])},
                    3);
}

static void broken_body(PTORuntime *rt, void *arg)
{
    void *z = ((const PTOCall *)arg)->data[0];
    pto_at(rt, &site);
    pto_submit_task(rt, &fail_kernel, (PTOTaskParam[]){PTO_OUTPUT(&z, 0, 4)}, 1);
}

static void drift_body(PTORuntime *rt, void *arg)
{
    void *z = ((const PTOCall *)arg)->data[0];
    pto_at(rt, &site);
    pto_submit_task(rt, &count_kernel, (PTOTaskParam[]){PTO_OUTPUT(&z, 0, 24)}, 1);
}

#define RUN(name)                                                                                                      \
    static PTOStatus name##_run(PTORuntime *rt, const PTOCall *call)                                                   \
    {                                                                                                                  \
        return pto_run_entry(rt, name##_body, (void *)(uintptr_t)call);                                                \
    }
RUN(scale)
RUN(types)
RUN(broken)
RUN(drift)

static bool scale_extent(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value)
{
    const int64_t *const dims = call->dims, n = ((const struct params *)call->params)->n;
    *value = dim == 1 ? dims[1] : dims[0];
    if (formal == 1 && dim == 0) return !__builtin_add_overflow(dims[0], 2, value);
    if (formal == 2) return !__builtin_mul_overflow(n, dims[1], value);
    return true;
}

static bool types_extent(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value)
{
    (void)formal, (void)dim;
    *value = call->dims[0];
    return true;
}

static bool fixed_extent(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value)
{
    (void)formal, (void)call;
    *value = dim == 0 ? 2 : 3;
    return true;
}

static bool one_extent(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value)
{
    (void)formal, (void)dim, (void)call;
    *value = 1;
    return true;
}

static const int32_t none[] = {-1, -1}, first[] = {0}, both[] = {0, 1}, second[] = {-1, 1};
static const uint64_t uses_none[] = {0, 0}, uses_first[] = {1}, uses_both[] = {1, 2}, uses_second[] = {2};

static const PTOFormal scale_formals[] = {
    {"x", PTO_IN, PTO_F32, 2, "f32[N, M]", both, uses_both},
    {"y", PTO_INOUT_, PTO_F32, 2, "f32[N + 2, M]", second, uses_both},
    {"z", PTO_OUT, PTO_F32, 1, "f32[n * M]", none, uses_second},
    {"s", PTO_IN, PTO_F64, 0, "f64", NULL, NULL},
};
static const PTOFormal types_formals[] = {
    {"h", PTO_IN, PTO_F16, 1, "f16[K]", first, uses_first},   {"b", PTO_IN, PTO_BF16, 1, "bf16[K]", first, uses_first},
    {"t", PTO_IN, PTO_BOOL, 1, "bool[K]", first, uses_first}, {"i", PTO_IN, PTO_I8, 1, "i8[K]", first, uses_first},
    {"u", PTO_IN, PTO_U64, 1, "u64[K]", first, uses_first},   {"k", PTO_OUT, PTO_I64, 1, "i64[K]", first, uses_first},
};
static const PTOFormal one_formals[] = {{"z", PTO_OUT, PTO_F32, 1, "f32[1]", none, uses_none}};
static const PTOFormal drift_formals[] = {{"z", PTO_OUT, PTO_F32, 2, "f32[2, 3]", none, uses_none}};
static const char *const scale_dims[] = {"N", "M"};
static const char *const types_dims[] = {"K"};

static const PTOEntry entries[] = {
    {.name = "scale",
     .dims = scale_dims,
     .dim_count = 2,
     .formals = scale_formals,
     .formal_count = 4,
     .extent = scale_extent,
     .run = scale_run},
    {.name = "types",
     .dims = types_dims,
     .dim_count = 1,
     .formals = types_formals,
     .formal_count = 6,
     .extent = types_extent,
     .run = types_run},
    {.name = "broken",
     .dims = NULL,
     .dim_count = 0,
     .formals = one_formals,
     .formal_count = 1,
     .extent = one_extent,
     .run = broken_run},
    {.name = "drift",
     .dims = NULL,
     .dim_count = 0,
     .formals = drift_formals,
     .formal_count = 1,
     .extent = fixed_extent,
     .run = drift_run},
};

/* The default of n has no value where n is negative. */
static int32_t derive_params(void *record, const bool *given)
{
    const struct params *const p = record;
    (void)given;
    return p->n < 0 ? 0 : -1;
}

static const PTOProgram program = {
    .file = "demo.pto",
    .params = settings,
    .param_count = sizeof settings / sizeof settings[0],
    .param_bytes = sizeof(struct params),
    .defaults = &defaults,
    .entries = entries,
#if defined NONE
    .entry_count = 0,
#elif defined ONE
    .entry_count = 1,
#else
    .entry_count = sizeof entries / sizeof entries[0],
#endif
    .derive_params = derive_params,
};

int main(int argc, char **argv) { return pto_program_main(&program, argc, argv); }
