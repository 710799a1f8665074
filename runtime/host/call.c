/* call.c - pto_program_call: arguments matched against the table of a loaded program, and its entry run on tensors.
 * Idea       as the command line does: names first, then types and ranks, then dimension variables; every mistake is
 *            found before a result is made, a tensor is bound, or anything runs.
 * Owner      the thread that calls; struct calling has all that belongs to the call.
 * Invariant  pins are held from before the run until after it, results until they are handed over; every way out
 *            drops what is held.
 * Tests      test/call/test_call.c, test/call/test_call_refused.c, test/call/stress_call.c
 */
#include "call.h"
#include "api/misuse.h"
#include "params.h"

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

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

static int bind(struct calling *c)
{
    struct binding b = {
        .entry = c->entry, .formals = c->formals, .dims = c->dims, .origin = c->origin, .call = &c->call};
    c->complaint = PTO_COMPLAINT_SHAPE;
    const int code = ptoi_bind(&b, &c->error);
    if (code == HOST_OK) c->complaint = PTO_COMPLAINT_NONE;
    return code;
}

/* *which: the formal whose tensor could not be made. */
static PTOStatus make_results(struct calling *c, int *which)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        const struct host_array *array = &c->formals[f].array;
        if (c->entry->formals[f].rank == 0 || c->pins[f].tensor || bind_is_decided(&c->entry->formals[f])) continue;
        c->pins[f].tensor = c->given[f].made = ptoi_call_new_tensor(c, array->type, array->rank, array->shape);
        *which = f;
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

/* Where no kernel runs, an `out` keeps what it had. */
static PTOAccess access_of(const struct calling *c, const PTOFormal *f)
{
    return f->direction == PTO_OUT && ptoi_runs_kernels(c->rt) ? PTO_WRITE
           : call_is_written(f) || f->direction == PTO_OWN     ? PTO_READ_WRITE
                                                               : PTO_READ;
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
        if (!c->data[i] || !call_is_written(&c->entry->formals[i])) continue;
        for (int32_t j = 0; j < c->entry->formal_count; j++) {
            if (j == i || c->data[j] != c->data[i] || (j < i && call_is_written(&c->entry->formals[j]))) continue;
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
        if (c->pins[f].address) c->data[f] = outputs[at++];
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
        if (c->pins[f].address) {
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
    if (!strstr(ptoi_run_message(c->rt->core.run_status), "[E18]")) return;
    for (int32_t f = 0; f < c->entry->formal_count && at < sizeof names; f++)
        if (c->pins[f].tensor && !ptoi_tensor_is_dense(c->pins[f].tensor))
            at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "", c->entry->formals[f].name);
    char *const text = ptoi_run_message(c->rt->core.run_status);
    const size_t used = strlen(text), room = RUN_STATUS_BYTES;
    if (at > 0)
        snprintf(
            text + used, room - used,
            "\n  arguments that are strided: %s; pto_tensor_dense, in Python Tensor.dense(), makes contiguous ones",
            names);
}

/* The device of the runtime has what it keeps of the tensors, and what the run writes stays there. */
static PTOStatus run_on_device(struct calling *c, const struct mirror *mirror)
{
    const struct backend *const b = c->rt->core.backend;
    const PTOStatus handed = mirror->hand(b, c->pins, c->entry->formal_count);
    if (handed != PTO_OK) host_fail(&c->error, HOST_INTERNAL, "%s", mirror->failure(b));
    c->has_run = handed == PTO_OK;
    const PTOStatus status = handed == PTO_OK ? c->entry->run(c->rt, &c->call) : handed;
    mirror->let_go(b);
    return status;
}

/* A record of the run, the times of its waits and what outlived its scopes name kernels, tensors and places of the
 * program, so it stays until another run is what the reports are of. */
static void keep(const struct calling *c)
{
    PTORuntime *const rt = c->rt;
    if (!rt->core.recorder && !rt->core.config.time_causes && !rt->core.config.checked) return;
    PTOLoaded *const last = rt->named;
    rt->named = ptoi_loaded_retain(c->loaded);
    rt->forget = ptoi_loaded_release;
    if (last) ptoi_loaded_release(last);
}

static PTOStatus run(struct calling *c)
{
    const struct mirror *const mirror = c->rt->core.backend->mirror;
    for (int32_t f = 0; f < c->entry->formal_count; f++)
        if (bind_is_decided(&c->entry->formals[f])) c->data[f] = &c->given[f].decided;
    ptoi_call_keep_results(c);
    keep(c);
    c->rt->called = &c->cancels;
    const PTOStatus status = mirror                         ? run_on_device(c, mirror)
                             : c->rt->core.engine->is_split ? run_split(c)
                                                            : c->entry->run(c->rt, &c->call);
    c->rt->called = NULL;
    c->rt->keeper = NULL;
    if (status == PTO_ERR_ARGUMENT) explain_gaps(c);
    return status;
}

/* Everything was complained about: tensors and the run.  Texts of other parts are in the thread's message. */
static PTOStatus bound_call(struct calling *c)
{
    int which = 0;
    PTOStatus status = make_results(c, &which);
    const struct mirror *const mirror = c->rt->core.backend->mirror;
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        c->pins[f].access = access_of(c, &c->entry->formals[f]);
        /* the host reads what is declared `host` */
        if (mirror && c->entry->formals[f].direction != PTO_HOST)
            c->pins[f].holder = mirror->holder(c->rt->core.backend);
    }
    const struct pins_wait wait = {&c->rt->cancels, c->cancels};
    if (status == PTO_OK) status = ptoi_pins_take(c->pins, c->entry->formal_count, c->no_wait ? NULL : &wait, &which);
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
    if (status != PTO_OK) return status;
    status = ptoi_call_make_empty(c);
    if (status != PTO_OK) host_fail(&c->error, HOST_INTERNAL, "%s", pto_last_error(NULL));
    c->has_run = status == PTO_OK; /* else the message is not of the run */
    return status;
}

static PTOStatus status_of(int code)
{
    return code == HOST_OK ? PTO_OK : code == HOST_INTERNAL ? PTO_ERR_NOMEM : PTO_ERR_ARGUMENT;
}

static PTOStatus with_memory(struct calling *c, const PTOArgument *arguments, int32_t count)
{
    begin(c);
    int code = ptoi_call_match(c, arguments, count);
    if (code == HOST_OK) code = ptoi_call_check_given(c);
    if (code == HOST_OK) code = bind(c);
    const PTOStatus status = code == HOST_OK ? bound_call(c) : status_of(code);
    hand_over(c, status == PTO_OK);
    ptoi_call_forget_rooms(c);
    return status == PTO_OK && c->matrix_count > 0 ? ptoi_call_make_matrices(c) : status;
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
    return ptoi_thread_fail(status, "%s", ptoi_run_message(c->rt->core.run_status));
}

static PTOStatus call_idle(PTORuntime *rt, PTOLoaded *loaded, const char *name, const PTOArgument *arguments,
                           int32_t count)
{
    struct calling c;
    c.rt = rt;
    c.loaded = loaded;
    c.program = loaded->program;
    c.entry = ptoi_loaded_entry(loaded, name);
    c.error.is_of_call = true;
    c.complaint = PTO_COMPLAINT_NONE;
    c.no_wait = c.has_run = false;
    c.cancels = load_relaxed(&rt->cancels); /* relaxed: a number */
    c.call.result = NULL;
    c.rooms = NULL;
    c.room_count = c.matrix_count = 0;
    if (!c.entry) {
        last_complaint = PTO_COMPLAINT_ENTRY;
        host_fail(&c.error, HOST_USAGE, "%s", pto_last_error(NULL));
        return refuse(&c, PTO_ERR_ARGUMENT);
    }
    const PTOStatus status = matched_call(&c, arguments, count);
    last_complaint = c.complaint;
    if (status != PTO_OK && !c.has_run) return refuse(&c, status);
    const char *const text = ptoi_run_message(rt->core.run_status);
    return status == PTO_OK || !*text ? status : ptoi_thread_fail(status, "%s", text);
}

PTOStatus pto_program_call(PTORuntime *rt, PTOLoaded *program, const char *entry, const PTOArgument *arguments,
                           int32_t count)
{
    last_complaint = PTO_COMPLAINT_NONE;
    for (int32_t i = 0; arguments && i < count; i++) {
        const PTOArgument *a = &arguments[i];
        if (a->kind == PTO_ARGUMENT_RESULT && a->value.result) *a->value.result = NULL;
        if (a->kind == PTO_ARGUMENT_SPARSE_RESULT && a->value.sparse_result) *a->value.sparse_result = NULL;
    }
    if (program && !ptoi_loaded_is_open(program)) return ptoi_loaded_refuse("pto_program_call");
    if (program) ptoi_loaded_retain(program); /* a thread that sees that the runtime is called may close the program */
    PTOStatus status = ptoi_take_for_call(rt);
    if (status == PTO_OK) {
        if (count < 0)
            status = ptoi_thread_fail(PTO_ERR_MISUSE, "pto_program_call: %d arguments", count);
        else if (!program || (count > 0 && !arguments))
            status = ptoi_thread_fail(PTO_ERR_MISUSE, "pto_program_call: the program or the list of arguments is NULL");
        else
            status = call_idle(rt, program, entry, arguments, count);
        fflush(stdout); /* a host of another language has a buffer of its own, and what it prints later comes later */
        ptoi_lifetime_return(&rt->lifetime);
    }
    if (program) ptoi_loaded_release(program);
    return status;
}
