/* call.c - pto_program_call: arguments matched against the table of a loaded program, and its entry run on tensors.
 * Idea       as the command line does: names first, then types and ranks, then dimension variables; every mistake is
 *            found before a result is made, a tensor is bound, or anything runs.
 * Owner      the thread that calls; struct calling has all that belongs to the call.
 * Invariant  pins are held from before the run until after it, results until they are handed over; every way out
 *            drops what is held.
 * Tests      test/call/test_call.c, test/call/stress_call.c
 */
#include "call.h"
#include "api/misuse.h"
#include "params.h"
#include "values.h"
#include <inttypes.h>
#include <math.h>

static _Thread_local PTOComplaint last_complaint;

PTOComplaint pto_last_complaint(void) { return last_complaint; }

/* ---- memory of the call ------------------------------------------------------------------------------------------ */

static void *take(char **at, size_t count, size_t size)
{
    void *const taken = *at;
    *at += (count * size + 15) / 16 * 16;
    return taken;
}

/* Lays the lists out behind one another; NULL measures. */
static size_t lay_out(struct calling *c, char *memory)
{
    char *at = memory;
    const size_t formals = (size_t)c->entry->formal_count, dims = (size_t)c->entry->dim_count;
    c->formals = take(&at, formals, sizeof *c->formals);
    c->given = take(&at, formals, sizeof *c->given);
    c->scalars = take(&at, formals, sizeof *c->scalars);
    c->data = take(&at, formals, sizeof *c->data);
    c->views = take(&at, formals, sizeof *c->views);
    c->pins = take(&at, formals, sizeof *c->pins);
    c->dims = take(&at, dims, sizeof *c->dims);
    c->origin = take(&at, dims, sizeof *c->origin);
    c->params_given = take(&at, (size_t)c->program->param_count, sizeof *c->params_given);
    c->params = take(&at, 1, (size_t)c->program->param_bytes);
    return (size_t)(at - memory);
}

static void begin(struct calling *c)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        c->formals[f].array.type = c->entry->formals[f].type;
        c->formals[f].array.rank = c->entry->formals[f].rank;
    }
    for (int32_t v = 0; v < c->entry->dim_count; v++) c->origin[v] = BIND_NOTHING;
    ptoi_params_init(c->program, c->params);
    c->call = (PTOCall){.data = c->data,
                        .scalars = c->scalars,
                        .dims = c->dims,
                        .params = c->params,
                        .views = c->views,
                        .result = c->call.result};
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int complain(struct calling *c, PTOComplaint complaint, const char *format,
                                                          ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->complaint = complaint;
    return host_fail(&c->error, HOST_USAGE, "%s", text);
}

static int fail_name(struct calling *c, const char *name)
{
    const size_t most = (size_t)c->entry->formal_count + (size_t)c->entry->dim_count + (size_t)c->program->param_count;
    const char **names = calloc(most + 1, sizeof *names), *near;
    int count = 0;
    char list[512];
    if (!names) return host_fail_memory(&c->error);
    for (int32_t f = 0; f < c->entry->formal_count; f++) names[count++] = c->entry->formals[f].name;
    for (int32_t p = 0; p < c->program->param_count; p++) names[count++] = c->program->params[p].name;
    for (int32_t v = 0; v < c->entry->dim_count; v++) names[count++] = c->entry->dims[v];
    near = ptoi_nearest_name(name, (int)strlen(name), names, count);
    if (near)
        complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no argument '%s'; did you mean '%s'?", c->entry->name, name,
                 near);
    else
        complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no argument '%s'; there is: %s", c->entry->name, name,
                 ptoi_join_names(names, count, list, sizeof list));
    free(names);
    return HOST_USAGE;
}

static bool is_written(const PTOFormal *f)
{
    return f->rank > 0 && (f->direction == PTO_OUT || f->direction == PTO_INOUT_ || f->direction == PTO_ACC_);
}

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

/* A number as the type that the language declares. */
static int convert(struct calling *c, const char *name, PTOType type, const PTOArgument *a, PTOScalar *value)
{
    const bool is_integer = a->kind == PTO_ARGUMENT_INTEGER;
    const double real = is_integer ? (double)a->value.integer : a->value.real;
    char text[40];
    *value = (PTOScalar){.i64 = 0};
    if (type == PTO_F64 || type == PTO_F32) {
        if (type == PTO_F64)
            value->f64 = real;
        else
            value->f32 = (float)real;
        if (type == PTO_F64 || isinf(real) || !isinf(value->f32)) return HOST_OK;
        snprintf(text, sizeof text, "%.17g", real);
        return complain(c, PTO_COMPLAINT_SHAPE, "'%s' does not fit in '%s', which is %s", text, name,
                        pto_type_name(type));
    }
    if (is_integer && (type == PTO_I64 || (uint64_t)a->value.integer <= 1)) {
        if (type == PTO_I64)
            value->i64 = a->value.integer;
        else
            value->b = a->value.integer != 0;
        return HOST_OK;
    }
    if (is_integer)
        snprintf(text, sizeof text, "%" PRId64, a->value.integer);
    else
        snprintf(text, sizeof text, "%.17g", real);
    return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is %s, '%s' is not %s", name, pto_type_name(type), text,
                    type == PTO_BOOL ? "true, false, 1 or 0" : "an integer");
}

static bool is_number(const PTOArgument *a) { return a->kind == PTO_ARGUMENT_INTEGER || a->kind == PTO_ARGUMENT_REAL; }

static int fail_twice(struct calling *c, const char *name)
{
    return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is given twice", name);
}

/* A param, or a dimension variable; formals of the same name go before both. */
static int give_setting(struct calling *c, const PTOArgument *a)
{
    for (int32_t p = 0; is_number(a) && p < c->program->param_count; p++) {
        const PTOProgramParam *param = &c->program->params[p];
        PTOScalar value;
        if (strcmp(param->name, a->name) != 0) continue;
        if (c->params_given[p]) return fail_twice(c, a->name);
        c->params_given[p] = true;
        const int code = convert(c, a->name, param->type, a, &value);
        if (code == HOST_OK) ptoi_param_store(param, c->params, value);
        return code;
    }
    for (int32_t v = 0; is_number(a) && v < c->entry->dim_count; v++) {
        PTOScalar value;
        if (strcmp(c->entry->dims[v], a->name) != 0) continue;
        if (c->origin[v] != BIND_NOTHING) return fail_twice(c, a->name);
        c->origin[v] = BIND_OPTION;
        const int code = convert(c, a->name, PTO_I64, a, &value);
        c->dims[v] = value.i64;
        if (code == HOST_OK && value.i64 < 0)
            return complain(c, PTO_COMPLAINT_SHAPE, "dimension variable '%s' is %" PRId64, a->name, value.i64);
        return code;
    }
    return fail_name(c, a->name);
}

/* ---- formals ----------------------------------------------------------------------------------------------------- */

static int give_tensor(struct calling *c, int32_t f, PTOTensor *t)
{
    const PTOFormal *formal = &c->entry->formals[f];
    struct host_array *array = &c->formals[f].array;
    if (!t) {
        c->given[f].is_given = formal->direction == PTO_OUT;
        return HOST_OK; /* else it is missing */
    }
    const struct tensor_view view = ptoi_tensor_view(t);
    array->type = view.type;
    array->rank = view.rank;
    memcpy(array->shape, view.shape, (size_t)view.rank * sizeof *view.shape);
    c->formals[f].given = true;
    c->given[f].is_given = true;
    c->pins[f].tensor = t;
    if (view.type == formal->type && view.rank == formal->rank) return HOST_OK;
    char text[256];
    return complain(c, view.type == formal->type ? PTO_COMPLAINT_SHAPE : PTO_COMPLAINT_ARGUMENT,
                    "'%s' is %s, declared %s", formal->name, ptoi_array_text(array, text, sizeof text), formal->text);
}

static void keep_lent(struct DLManagedTensor *m) { (void)m; }

/* The producer keeps what it has lent: the tensor has a copy of the struct, which deletes nothing. */
static int give_dlpack(struct calling *c, int32_t f, const struct DLManagedTensor *m)
{
    struct given *g = &c->given[f];
    if (!m) return give_tensor(c, f, NULL);
    g->lent = *m;
    g->lent.deleter = keep_lent;
    g->made = pto_tensor_from_dlpack_unversioned(&g->lent);
    if (g->made) return give_tensor(c, f, g->made);
    return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s': %s", c->entry->formals[f].name, pto_last_error(NULL));
}

static int give_formal(struct calling *c, int32_t f, const PTOArgument *a)
{
    static const char *const directions[] = {"in", "out", "inout", "acc", "own", "host"};
    const PTOFormal *formal = &c->entry->formals[f];
    if (c->given[f].is_given || c->pins[f].tensor) return fail_twice(c, formal->name);
    if (formal->rank == 0) {
        if (!is_number(a))
            return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is a scalar, %s", formal->name, formal->text);
        c->given[f].is_given = true;
        return convert(c, formal->name, formal->type, a, &c->scalars[f]);
    }
    if (a->kind == PTO_ARGUMENT_TENSOR) return give_tensor(c, f, a->value.tensor);
    if (a->kind == PTO_ARGUMENT_DLPACK) return give_dlpack(c, f, a->value.dlpack);
    if (a->kind != PTO_ARGUMENT_RESULT)
        return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is an array, %s", formal->name, formal->text);
    if (formal->direction != PTO_OUT)
        return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is '%s': a call makes what is 'out'", formal->name,
                        directions[formal->direction]);
    c->given[f].is_given = true;
    c->given[f].result = a->value.result;
    return HOST_OK;
}

static int match(struct calling *c, const PTOArgument *arguments, int32_t count)
{
    int32_t position = 0;
    int code = HOST_OK;
    for (int32_t i = 0; i < count && code == HOST_OK; i++) {
        const PTOArgument *a = &arguments[i];
        int32_t f = 0;
        if (a->kind == PTO_ARGUMENT_FLAGS) {
            c->no_wait = (a->value.integer & PTO_CALL_NO_WAIT) != 0;
            continue;
        }
        if (a->kind == PTO_ARGUMENT_SCALAR_RESULT) {
            c->call.result = a->value.scalar;
            continue;
        }
        if (!a->name)
            f = position++;
        else
            while (f < c->entry->formal_count && strcmp(c->entry->formals[f].name, a->name) != 0) f++;
        if (f < c->entry->formal_count)
            code = give_formal(c, f, a);
        else if (a->name)
            code = give_setting(c, a);
        else
            code = complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has %d arguments, here are more", c->entry->name,
                            c->entry->formal_count);
    }
    return code;
}

/* Everything that needs a value has one. */
static int check_given(struct calling *c)
{
    char names[512];
    size_t at = 0;
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        const PTOFormal *formal = &c->entry->formals[f];
        if (bind_is_decided(formal))
            return complain(c, PTO_COMPLAINT_ARGUMENT,
                            "the run decides the extents of '%s' (%s): no tensor of that shape can be made yet",
                            formal->name, formal->text);
        if (c->given[f].is_given || formal->direction == PTO_OUT || at >= sizeof names) continue;
        if (formal->rank == 0)
            return complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no value (%s)", formal->name, formal->text);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "", formal->name);
    }
    if (at > 0) return complain(c, PTO_COMPLAINT_ARGUMENT, "no data for %s", names);
    c->complaint = PTO_COMPLAINT_SHAPE;
    return ptoi_params_settle(c->program, c->params, c->params_given, &c->error);
}

static int bind(struct calling *c)
{
    struct binding b = {
        .entry = c->entry, .formals = c->formals, .dims = c->dims, .origin = c->origin, .call = &c->call};
    c->complaint = PTO_COMPLAINT_SHAPE;
    const int code = ptoi_bind(&b, &c->error);
    if (code == HOST_OK) c->complaint = PTO_COMPLAINT_NONE;
    return code;
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static PTOStatus make_results(struct calling *c)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        const struct host_array *array = &c->formals[f].array;
        if (c->entry->formals[f].rank == 0 || c->pins[f].tensor) continue;
        c->pins[f].tensor = c->given[f].made = pto_tensor_new(NULL, array->type, array->rank, array->shape);
        if (!c->given[f].made) return pto_last_status();
    }
    return PTO_OK;
}

static void hand_over(struct calling *c, bool good)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        if (good && c->given[f].result)
            *c->given[f].result = c->given[f].made;
        else
            pto_tensor_release(c->given[f].made);
    }
}

static PTOAccess access_of(const PTOFormal *f)
{
    return f->direction == PTO_OUT ? PTO_WRITE : is_written(f) || f->direction == PTO_OWN ? PTO_READ_WRITE : PTO_READ;
}

/* Two arguments of different buffers whose memory overlaps are in one buffer of the run. */
static void join(struct calling *c)
{
    const int32_t count = c->entry->formal_count;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = 0; j < i; j++) {
                char *const a = c->data[i], *const b = c->data[j];
                if (!a || !b || (a == b && c->views[i].bytes == c->views[j].bytes)) continue;
                if (a >= b + c->views[j].bytes || b >= a + c->views[i].bytes) continue;
                char *const low = a < b ? a : b, *const end_a = a + c->views[i].bytes,
                            *const end_b = b + c->views[j].bytes;
                c->data[i] = c->data[j] = low;
                c->views[i].bytes = c->views[j].bytes = (end_a > end_b ? end_a : end_b) - low;
                changed = true;
            }
    }
}

static void place_views(struct calling *c)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        struct pin *pin = &c->pins[f];
        if (!pin->tensor || !pin->address) continue;
        c->data[f] = pin->base;
        c->views[f].bytes = pin->bytes;
    }
    join(c);
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        struct pin *pin = &c->pins[f];
        if (!c->data[f]) continue;
        const struct tensor_view view = ptoi_tensor_view(pin->tensor);
        const int64_t size = pto_type_bytes(view.type), from = (char *)pin->address - (char *)c->data[f];
        c->data[f] = (char *)c->data[f] + from % size;
        c->views[f].bytes -= from % size;
        c->views[f].at = from / size;
        memcpy(c->views[f].stride, view.strides, (size_t)view.rank * sizeof *view.strides);
    }
}

static PTOTaskParam region_of(const struct calling *c, int32_t f)
{
    const PTOFormal *formal = &c->entry->formals[f];
    return (PTOTaskParam){.kind = PTO_PARAM_INPUT,
                          .type = (uint8_t)formal->type,
                          .rank = (uint8_t)formal->rank,
                          .buffer = c->data[f],
                          .at = c->views[f].at,
                          .shape = c->formals[f].array.shape,
                          .stride = c->views[f].stride};
}

static PTOStatus check_overlap(struct calling *c)
{
    for (int32_t i = 0; i < c->entry->formal_count; i++) {
        if (!c->data[i] || !is_written(&c->entry->formals[i])) continue;
        for (int32_t j = 0; j < c->entry->formal_count; j++) {
            if (j == i || c->data[j] != c->data[i] || (j < i && is_written(&c->entry->formals[j]))) continue;
            const PTOTaskParam a = region_of(c, i), b = region_of(c, j);
            if (!pto_views_overlap(&a, &b)) continue;
            host_fail(&c->error, HOST_USAGE, "[E09] '%s' is written and shares elements with '%s'",
                      c->entry->formals[i].name, c->entry->formals[j].name);
            return PTO_ERR_OVERLAP;
        }
    }
    return PTO_OK;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* fn of pto_runtime_execute: the arrays are where the workers of another process see them. */
static void run_on_copies(PTORuntime *rt, void **inputs, void **outputs, void *params)
{
    struct calling *c = params;
    (void)inputs;
    int32_t at = 0;
    for (int32_t f = 0; f < c->entry->formal_count; f++)
        if (c->data[f]) c->data[f] = outputs[at++];
    c->entry->run(rt, &c->call);
}

/* The workers share no memory that was obtained later, so the buffers are copied. */
static PTOStatus run_split(struct calling *c)
{
    const size_t most = (size_t)c->entry->formal_count + 1;
    void **arrays = calloc(most, sizeof *arrays);
    int64_t *bytes = calloc(most, sizeof *bytes);
    int32_t count = 0;
    PTOStatus status = PTO_ERR_NOMEM;
    for (int32_t f = 0; arrays && bytes && f < c->entry->formal_count; f++)
        if (c->data[f]) {
            arrays[count] = c->data[f];
            bytes[count++] = c->views[f].bytes;
        }
    if (arrays && bytes) status = pto_runtime_execute(c->rt, run_on_copies, NULL, NULL, 0, arrays, bytes, count, c);
    free(arrays);
    free(bytes);
    return status;
}

/* A kernel that requires contiguous views: says which arguments have gaps. */
static void explain_gaps(struct calling *c)
{
    char names[256];
    size_t at = 0;
    if (!strstr(c->rt->core.run_status->message, "[E18]")) return;
    for (int32_t f = 0; f < c->entry->formal_count && at < sizeof names; f++)
        if (c->pins[f].tensor && !ptoi_tensor_is_dense(c->pins[f].tensor))
            at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "", c->entry->formals[f].name);
    char *const text = c->rt->core.run_status->message;
    const size_t used = strlen(text), room = sizeof c->rt->core.run_status->message;
    if (at > 0)
        snprintf(text + used, room - used, "\n  arguments that are strided: %s; pto_tensor_dense makes contiguous ones",
                 names);
}

static PTOStatus run(struct calling *c)
{
    const PTOStatus status = c->rt->core.engine->is_split ? run_split(c) : c->entry->run(c->rt, &c->call);
    if (status == PTO_ERR_ARGUMENT) explain_gaps(c);
    return status;
}

/* Everything was complained about: tensors and the run.  Texts of other parts are in the thread's message. */
static PTOStatus bound_call(struct calling *c)
{
    int which = 0;
    PTOStatus status = make_results(c);
    for (int32_t f = 0; f < c->entry->formal_count; f++) c->pins[f].access = access_of(&c->entry->formals[f]);
    if (status == PTO_OK) status = ptoi_pins_take(c->pins, c->entry->formal_count, c->no_wait, &which);
    if (status != PTO_OK) {
        host_fail(&c->error, HOST_USAGE, "'%s': %s", c->entry->formals[which].name, pto_last_error(NULL));
        return status;
    }
    place_views(c);
    status = check_overlap(c);
    if (status == PTO_OK) {
        c->has_run = true;
        status = run(c);
    }
    ptoi_pins_drop(c->pins, c->entry->formal_count, status != PTO_OK && c->has_run);
    return status;
}

static PTOStatus status_of(int code)
{
    return code == HOST_OK ? PTO_OK : code == HOST_INTERNAL ? PTO_ERR_NOMEM : PTO_ERR_ARGUMENT;
}

static PTOStatus with_memory(struct calling *c, const PTOArgument *arguments, int32_t count)
{
    begin(c);
    int code = match(c, arguments, count);
    if (code == HOST_OK) code = check_given(c);
    if (code == HOST_OK) code = bind(c);
    const PTOStatus status = code == HOST_OK ? bound_call(c) : status_of(code);
    hand_over(c, status == PTO_OK);
    return status;
}

static PTOStatus matched_call(struct calling *c, const PTOArgument *arguments, int32_t count)
{
    enum { ROOM = 6144 };
    _Alignas(16) char room[ROOM];
    const size_t bytes = lay_out(c, NULL);
    char *const memory = bytes <= ROOM ? room : malloc(bytes);
    if (!memory) {
        host_fail_memory(&c->error);
        return PTO_ERR_NOMEM;
    }
    memset(memory, 0, bytes);
    lay_out(c, memory);
    const PTOStatus status = with_memory(c, arguments, count);
    if (memory != room) free(memory);
    return status;
}

/* Before the run: the text is the thread's, and the runtime's unless a run of it is active. */
static PTOStatus refuse(struct calling *c, PTOStatus status)
{
    if (ptoi_is_running(c->rt)) return ptoi_thread_fail(status, "%s", c->error.text);
    ptoi_run_status_reset(c->rt->core.run_status);
    ptoi_fail(c->rt->core.run_status, status, NULL, "%s", c->error.text);
    return ptoi_thread_fail(status, "%s", c->rt->core.run_status->message);
}

/* What is recorded of a run names kernels and places of the program, so it stays as long as the record. */
static void keep(PTORuntime *rt, PTOLoaded *loaded)
{
    if (!rt->core.recorder) return;
    if (rt->recorded) ptoi_loaded_release(rt->recorded);
    rt->recorded = ptoi_loaded_retain(loaded);
    rt->forget = ptoi_loaded_release;
}

static PTOStatus call_idle(PTORuntime *rt, PTOLoaded *loaded, const char *name, const PTOArgument *arguments,
                           int32_t count)
{
    struct calling c;
    c.rt = rt;
    c.program = loaded->program;
    c.entry = ptoi_loaded_entry(loaded, name);
    c.complaint = PTO_COMPLAINT_NONE;
    c.no_wait = c.has_run = false;
    c.call.result = NULL;
    if (!c.entry) {
        last_complaint = PTO_COMPLAINT_ENTRY;
        host_fail(&c.error, HOST_USAGE, "%s", pto_last_error(NULL));
        return refuse(&c, PTO_ERR_ARGUMENT);
    }
    keep(rt, loaded);
    const PTOStatus status = matched_call(&c, arguments, count);
    last_complaint = c.complaint;
    if (status != PTO_OK && !c.has_run) refuse(&c, status);
    return status;
}

PTOStatus pto_program_call(PTORuntime *rt, PTOLoaded *program, const char *entry, const PTOArgument *arguments,
                           int32_t count)
{
    last_complaint = PTO_COMPLAINT_NONE;
    for (int32_t i = 0; arguments && i < count; i++)
        if (arguments[i].kind == PTO_ARGUMENT_RESULT && arguments[i].value.result) *arguments[i].value.result = NULL;
    const PTOStatus refused = ptoi_refuse_unless_idle(rt, "pto_program_call");
    if (refused != PTO_OK) return refused;
    if (!program || count < 0 || (count > 0 && !arguments))
        return ptoi_thread_fail(PTO_ERR_MISUSE, "pto_program_call: the program or the list of arguments is NULL");
    PTOStatus status = PTO_ERR_STATE;
    ptoi_loaded_retain(program); /* who sees that the runtime is called may close the program */
    if (atomic_exchange_explicit(&rt->is_called, true, memory_order_acquire)) {
        ptoi_thread_fail(status, "pto_program_call: another thread calls a program on this runtime");
    } else {
        status = call_idle(rt, program, entry, arguments, count);
        atomic_store_explicit(&rt->is_called, false, memory_order_release);
    }
    ptoi_loaded_release(program);
    return status;
}
