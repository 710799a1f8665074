/* program.c - main() of a built program.
 * Idea       the command line, matched against the program's table, in an order that finds every mistake before
 *            anything long begins: names, headers of files, dimension variables, places to write, the runtime; then
 *            data, run, results, check.
 * Owner      struct session: everything; session_free returns it on every way out.
 * Invariant  a mistake is one line on standard error and an exit code of fail.h; nothing else here writes to standard
 *            error, except --progress.
 * Tests      test/lit/host/
 */
#include "bind.h"
#include "compare.h"
#include "fail.h"
#include "npy.h"
#include "options.h"
#include "print.h"
#include "report/report.h"
#include "summary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <pto/pto_program.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* What belongs to one formal of the entry. */
struct argument {
    const struct host_input *input; /* NULL: none was given */
    const char *output;             /* path, or NULL */
    struct npy_file file;
    struct host_array oracle; /* --check: its own copy */
    bool scalar_set;
};

struct session {
    const PTOProgram *program;
    const PTOEntry *entry;
    struct host_options options;
    struct host_error error;
    PTORuntime *rt;
    struct argument *arguments; /* entry->formal_count of each of these */
    struct bind_formal *formals;
    PTOScalar *scalars;
    void **data;
    int64_t *dims; /* entry->dim_count */
    int32_t *origin;
    /* files that are renamed together at the end */
    struct written {
        struct whole_file file;
        const char *path;
    } * written;
    int written_count;
};

static bool is_tensor(const PTOFormal *f) { return f->rank > 0; }

static bool is_written(const PTOFormal *f)
{
    return is_tensor(f) && (f->direction == PTO_OUT || f->direction == PTO_INOUT_ || f->direction == PTO_ACC_);
}

static const char *direction_name(PTODirection direction)
{
    static const char *const names[] = {"in", "out", "inout", "acc", "own", "host"};
    return names[direction];
}

__attribute__((format(printf, 2, 3))) static void progress(const struct session *s, const char *format, ...)
{
    if (!s->options.progress) return;
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- the entry --------------------------------------------------------------------------------------------------- */

/* "a, b, c" of as many as fit, or "none". */
static const char *join(const char *const *names, int count, char *text, size_t size)
{
    size_t at = 0;
    snprintf(text, size, "none");
    for (int i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, i == 0 ? "%s" : ", %s", names[i]);
    return text;
}

static int choose_entry(struct session *s)
{
    const PTOProgram *p = s->program;
    const char **names = calloc((size_t)p->entry_count + 1, sizeof *names);
    char list[512];
    int code = HOST_OK;
    if (!names) return host_fail_memory(&s->error);
    for (int32_t i = 0; i < p->entry_count; i++) {
        names[i] = p->entries[i].name;
        if (s->options.entry && strcmp(s->options.entry, names[i]) == 0) s->entry = &p->entries[i];
    }
    join(names, p->entry_count, list, sizeof list);
    if (p->entry_count == 0) {
        code = host_fail(&s->error, HOST_USAGE, "%s has no 'export orch': nothing to run", p->file);
    } else if (s->options.entry && !s->entry) {
        const char *near = ptoi_nearest_name(s->options.entry, (int)strlen(s->options.entry), names, p->entry_count);
        code = host_fail(&s->error, HOST_USAGE,
                         near ? "there is no entry '%s'; did you mean '%s'?" : "there is no entry '%s'; entries: %s",
                         s->options.entry, near ? near : list);
    } else if (!s->entry && p->entry_count > 1) {
        code = host_fail(&s->error, HOST_USAGE, "%s has several entries, choose one with --entry: %s", p->file, list);
    } else if (!s->entry) {
        s->entry = &p->entries[0];
    }
    free(names);
    return code;
}

/* Where no kernel runs, the elements of these are never looked at: addresses are enough, and no memory is obtained for
 * them. */
static bool is_only_named(const struct session *s, const PTOFormal *f)
{
    return s->options.config.engine == PTO_ENGINE_GRAPH && f->direction != PTO_OWN && f->direction != PTO_HOST;
}

static int allocate_session(struct session *s)
{
    size_t formals = (size_t)s->entry->formal_count + 1, dims = (size_t)s->entry->dim_count + 1;
    s->arguments = calloc(formals, sizeof *s->arguments);
    s->formals = calloc(formals, sizeof *s->formals);
    s->scalars = calloc(formals, sizeof *s->scalars);
    s->data = calloc(formals, sizeof *s->data);
    s->dims = calloc(dims, sizeof *s->dims);
    s->origin = calloc(dims, sizeof *s->origin);
    enum { RECORDS = 4 }; /* trace, report, graph, schedule */
    s->written = calloc(formals + RECORDS, sizeof *s->written);
    if (!s->written || !s->arguments || !s->formals || !s->scalars || !s->data || !s->dims || !s->origin)
        return host_fail_memory(&s->error);
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        s->arguments[f].file.fd = -1;
        s->formals[f].array.type = s->entry->formals[f].type;
        s->formals[f].array.rank = s->entry->formals[f].rank;
        s->formals[f].array.shared = s->options.config.engine == PTO_ENGINE_PROCESS;
        s->formals[f].array.reserved = is_only_named(s, &s->entry->formals[f]);
    }
    for (int32_t v = 0; v < s->entry->dim_count; v++) s->origin[v] = BIND_NOTHING;
    return HOST_OK;
}

static void session_free(struct session *s)
{
    pto_runtime_destroy(s->rt);
    for (int32_t f = 0; s->arguments && s->formals && f < s->entry->formal_count; f++) {
        ptoi_npy_close(&s->arguments[f].file);
        array_free(&s->arguments[f].oracle);
        array_free(&s->formals[f].array);
    }
    for (int i = 0; i < s->written_count; i++) ptoi_whole_drop(&s->written[i].file);
    free(s->written);
    free(s->arguments);
    free(s->formals);
    free(s->scalars);
    free(s->data);
    free(s->dims);
    free(s->origin);
    ptoi_options_free(&s->options);
}

/* ---- names on the command line ----------------------------------------------------------------------------------- */

static int32_t find_formal(const struct session *s, const struct host_setting *setting)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        if (ptoi_setting_is(setting, s->entry->formals[f].name)) return f;
    return -1;
}

static int32_t find_dim(const struct session *s, const struct host_setting *setting)
{
    for (int32_t v = 0; v < s->entry->dim_count; v++)
        if (ptoi_setting_is(setting, s->entry->dims[v])) return v;
    return -1;
}

static int32_t find_param(const struct session *s, const struct host_setting *setting)
{
    for (int32_t p = 0; p < s->program->param_count; p++)
        if (ptoi_setting_is(setting, s->program->params[p].name)) return p;
    return -1;
}

enum wanted { WANT_SCALAR, WANT_INPUT, WANT_OUTPUT, WANT_DIM };

/* The names that an option could have meant. */
static int list_names(const struct session *s, enum wanted wanted, const char **names)
{
    int count = 0;
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const PTOFormal *formal = &s->entry->formals[f];
        if ((wanted == WANT_SCALAR && !is_tensor(formal)) || (wanted == WANT_OUTPUT && is_written(formal)) ||
            (wanted == WANT_INPUT && is_tensor(formal) && formal->direction != PTO_OUT))
            names[count++] = formal->name;
    }
    for (int32_t p = 0; wanted == WANT_SCALAR && p < s->program->param_count; p++)
        names[count++] = s->program->params[p].name;
    for (int32_t v = 0; wanted == WANT_DIM && v < s->entry->dim_count; v++) names[count++] = s->entry->dims[v];
    return count;
}

/* The name fits no place of this kind: says where else it would, or what is near. */
static int fail_name(struct session *s, enum wanted wanted, const struct host_setting *setting)
{
    static const char *const options[] = {"set", "input", "output", "dim"};
    static const char *const kinds[] = {"param or scalar", "array to read", "array to write", "dimension variable"};
    struct host_error *e = &s->error;
    int32_t f = find_formal(s, setting);
    bool param = find_param(s, setting) >= 0, dim = find_dim(s, setting) >= 0;
    int code;
    if (f >= 0 && is_tensor(&s->entry->formals[f]) && (wanted == WANT_SCALAR || wanted == WANT_DIM))
        code = host_fail(e, HOST_USAGE, "'%.*s' is an array: give --input %.*s=FILE.npy, not --%s", setting->length,
                         setting->name, setting->length, setting->name, options[wanted]);
    else if (f >= 0 && is_tensor(&s->entry->formals[f]))
        code = host_fail(e, HOST_USAGE, "'%.*s' is '%s': it takes no --%s", setting->length, setting->name,
                         direction_name(s->entry->formals[f].direction), options[wanted]);
    else if (f >= 0 || param)
        code = host_fail(e, HOST_USAGE, "'%.*s' is a %s: give --set %.*s=VALUE, not --%s", setting->length,
                         setting->name, param ? "param" : "scalar", setting->length, setting->name, options[wanted]);
    else if (dim)
        code = host_fail(e, HOST_USAGE, "'%.*s' is a dimension variable: give --dim %.*s=N, not --%s", setting->length,
                         setting->name, setting->length, setting->name, options[wanted]);
    else {
        size_t most = (size_t)s->entry->formal_count + (size_t)s->entry->dim_count + (size_t)s->program->param_count;
        const char **names = calloc(most + 1, sizeof *names);
        if (!names) return host_fail_memory(e);
        char list[512];
        int count = list_names(s, wanted, names);
        const char *near = ptoi_nearest_name(setting->name, setting->length, names, count);
        if (near)
            code = host_fail(e, HOST_USAGE, "--%s: there is no %s '%.*s'; did you mean '%s'?", options[wanted],
                             kinds[wanted], setting->length, setting->name, near);
        else
            code = host_fail(e, HOST_USAGE, "--%s: there is no %s '%.*s'; there is: %s", options[wanted], kinds[wanted],
                             setting->length, setting->name, join(names, count, list, sizeof list));
        free(names);
    }
    if (wanted == WANT_SCALAR) e->id = "E16";
    return code;
}

static void store_param(const PTOProgramParam *param, PTOScalar value)
{
    switch (param->type) {
    case PTO_F64: *(double *)param->value = value.f64; break;
    case PTO_F32: *(float *)param->value = value.f32; break;
    case PTO_BOOL: *(bool *)param->value = value.b; break;
    default: *(int64_t *)param->value = value.i64;
    }
}

/* A scalar of the entry hides a param of the same name, as it does in the program. */
static int apply_set(struct session *s, const struct host_setting *setting)
{
    int32_t f = find_formal(s, setting), p = find_param(s, setting);
    PTOScalar value;
    if (f >= 0 && !is_tensor(&s->entry->formals[f])) {
        s->arguments[f].scalar_set = true;
        return ptoi_parse_scalar(s->entry->formals[f].name, setting->value, s->entry->formals[f].type, &s->scalars[f],
                                 &s->error);
    }
    if (p < 0) return fail_name(s, WANT_SCALAR, setting);
    int code =
        ptoi_parse_scalar(s->program->params[p].name, setting->value, s->program->params[p].type, &value, &s->error);
    if (code == HOST_OK) store_param(&s->program->params[p], value);
    s->program->params[p].is_given = true;
    return code;
}

static int apply_names(struct session *s)
{
    struct host_options *o = &s->options;
    int code = HOST_OK;
    for (int i = 0; i < o->set_count && code == HOST_OK; i++) code = apply_set(s, &o->sets[i]);
    for (int i = 0; i < o->dim_count && code == HOST_OK; i++) {
        int32_t v = find_dim(s, &o->dims[i]);
        bool fits;
        if (v < 0) return fail_name(s, WANT_DIM, &o->dims[i]);
        ptoi_parse_i64(o->dims[i].value, &s->dims[v], &fits);
        s->origin[v] = BIND_OPTION;
    }
    for (int i = 0; i < o->input_count && code == HOST_OK; i++) {
        int32_t f = find_formal(s, &o->inputs[i].setting);
        if (f < 0 || !is_tensor(&s->entry->formals[f]) || s->entry->formals[f].direction == PTO_OUT)
            return fail_name(s, WANT_INPUT, &o->inputs[i].setting);
        s->arguments[f].input = &o->inputs[i];
    }
    for (int i = 0; i < o->output_count && code == HOST_OK; i++) {
        int32_t f = find_formal(s, &o->outputs[i]);
        if (f < 0 || !is_written(&s->entry->formals[f])) return fail_name(s, WANT_OUTPUT, &o->outputs[i]);
        s->arguments[f].output = o->outputs[i].value;
    }
    return code;
}

/* Everything that needs a value has one. */
static int check_complete(struct session *s)
{
    struct host_error *e = &s->error;
    for (int32_t p = 0; p < s->program->param_count; p++) {
        const PTOProgramParam *param = &s->program->params[p];
        if (!param->has_default && !param->is_given)
            return host_fail(e, HOST_USAGE, "param '%s' has no value: give --set %s=VALUE (%s)", param->name,
                             param->name, pto_type_name(param->type));
    }
    char names[512];
    size_t at = 0;
    const char *first = NULL;
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const PTOFormal *formal = &s->entry->formals[f];
        if (!is_tensor(formal) && !s->arguments[f].scalar_set)
            return host_fail(e, HOST_USAGE, "'%s' has no value: give --set %s=VALUE (%s)", formal->name, formal->name,
                             pto_type_name(formal->type));
        /* there: never read */
        const bool needed = formal->direction != PTO_OUT && s->options.config.engine != PTO_ENGINE_GRAPH;
        if (is_tensor(formal) && needed && !s->arguments[f].input && at < sizeof names) {
            at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", first ? ", " : "", formal->name);
            first = first ? first : formal->name;
        }
    }
    if (first)
        return host_fail(e, HOST_USAGE,
                         "no data for %s: give --input %s=FILE.npy, or --input %s=zeros (ones, iota, random)", names,
                         first, first);
    char message[512] = "";
    if (s->program->derive_params && !s->program->derive_params(message, sizeof message))
        return host_fail(e, HOST_USAGE, "%s", message);
    return HOST_OK;
}

/* ---- files and shapes -------------------------------------------------------------------------------------------- */

static int open_input(struct session *s, int32_t f)
{
    static const char *const words[] = {"zeros", "ones", "iota", "random"};
    const PTOFormal *formal = &s->entry->formals[f];
    struct argument *a = &s->arguments[f];
    const char *path = a->input->setting.value;
    int code = ptoi_npy_open(&a->file, path, formal->name, formal->type, formal->rank, &s->error);
    if (code != HOST_OK) {
        const char *near = ptoi_nearest_name(path, (int)strlen(path), words, 4);
        size_t at = strlen(s->error.text);
        if (near && access(path, F_OK) != 0)
            snprintf(s->error.text + at, sizeof s->error.text - at, "; did you mean '%s'?", near);
        return code;
    }
    a->file.array.shared = s->formals[f].array.shared;
    a->file.array.reserved = s->formals[f].array.reserved;
    s->formals[f].array = a->file.array;
    s->formals[f].given = true;
    return HOST_OK;
}

static int open_and_bind(struct session *s)
{
    int code = HOST_OK;
    for (int32_t f = 0; f < s->entry->formal_count && code == HOST_OK; f++)
        if (s->arguments[f].input && s->arguments[f].input->fill.kind == FILL_NONE) code = open_input(s, f);
    if (code != HOST_OK) return code;
    struct binding b = {
        .entry = s->entry, .formals = s->formals, .dims = s->dims, .origin = s->origin, .scalars = s->scalars};
    if ((code = ptoi_bind(&b, &s->error)) != HOST_OK) return code;
    for (int32_t f = 0; f < s->entry->formal_count && code == HOST_OK; f++)
        if (s->arguments[f].output) code = ptoi_npy_check_writable(s->arguments[f].output, &s->error);
    return code;
}

static int fail_no_room(struct session *s, int32_t f)
{
    return host_fail(&s->error, HOST_INTERNAL, "out of memory: '%s' needs %" PRId64 " bytes", s->entry->formals[f].name,
                     s->formals[f].array.bytes);
}

static int load_data(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        struct argument *a = &s->arguments[f];
        struct host_array *array = &s->formals[f].array;
        if (!is_tensor(&s->entry->formals[f])) continue;
        if (array->reserved) {
            ptoi_npy_close(&a->file);
            if (!array_allocate(array, false)) return fail_no_room(s, f);
        } else if (s->formals[f].given) {
            progress(s, "reading %s from %s", s->entry->formals[f].name, a->file.path);
            int code = ptoi_npy_read(&a->file, &s->error);
            array->data = a->file.array.data;
            ptoi_npy_close(&a->file);
            if (code != HOST_OK) return code;
        } else {
            if (!array_allocate(array, a->input == NULL)) return fail_no_room(s, f);
            if (a->input) ptoi_fill(array, &a->input->fill, s->entry->formals[f].name);
        }
        if (s->options.check) {
            a->oracle = *array;
            a->oracle.shared = false; /* the oracle runs in this process */
            if (!array_allocate(&a->oracle, false)) return fail_no_room(s, f);
            if (array->bytes > 0) memcpy(a->oracle.data, array->data, (size_t)array->bytes);
        }
    }
    return HOST_OK;
}

/* ---- beside a run ------------------------------------------------------------------------------------------------ */

/* The runtime's own text: it names the place in the program and may have several lines. */
static void print_run_error(PTORuntime *rt, PTOStatus status)
{
    const char *text = pto_last_error(rt);
    if (!text || !*text) text = pto_status_text(status);
    size_t first_line = strcspn(text, "\n");
    const char *error = strncmp(text, "error", 5) == 0 ? text : strstr(text, ": error");
    bool named = error && (size_t)(error - text) < first_line;
    fprintf(stderr, "%s%s%s", named ? "" : "error: ", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* While a run is active, the first SIGINT or SIGTERM cancels it and the second ends the process.  A handler may not
 * cancel, so it wakes a thread that does.  That thread also reports what the watchdog has found, while the run still
 * waits for a kernel.  One run at a time: handlers have no other way to find this.  A signal that was ignored stays
 * so. */
static struct {
    sem_t wake;
    _Atomic int taken;        /* the first signal; 0: none */
    _Atomic bool is_over;     /* the run */
    _Atomic bool is_reported; /* its error was printed */
    PTORuntime *rt;
    bool has_watchdog;
    pthread_t thread;
    struct sigaction before[2];
    bool active;
} signals;

static const int watched[] = {SIGINT, SIGTERM};
enum {
    KERNEL_GRACE_MS =
        5000 /* how long a run that has failed waits for the kernels that run: a thread cannot be stopped */,
    LOOK_MS = 100
};

static void on_signal(int number)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&signals.taken, &none, number)) _exit(128 + number);
    sem_post(&signals.wake);
}

/* false: nothing woke this thread for so long.  sem_timedwait knows no other clock; a step of it only moves the end. */
static bool wait_for_wake(int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    int waited;
    while ((waited = sem_timedwait(&signals.wake, &until)) != 0 && errno == EINTR) {}
    return waited == 0;
}

/* The run has failed: it ends within the grace, or the process does. */
static void end_if_stuck(const char *text, int code)
{
    for (int64_t waited = 0; waited < KERNEL_GRACE_MS; waited += LOOK_MS) {
        if (signals.is_over) return;
        wait_for_wake(LOOK_MS);
    }
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
    _exit(signals.taken ? 128 + signals.taken : code);
}

static void *watch_run(void *arg)
{
    (void)arg;
    while (!signals.is_over) {
        if (!signals.has_watchdog)
            while (sem_wait(&signals.wake) != 0) {}
        else if (!wait_for_wake(LOOK_MS) && pto_runtime_status(signals.rt) == PTO_ERR_WATCHDOG) {
            if (!atomic_exchange(&signals.is_reported, true)) print_run_error(signals.rt, PTO_ERR_WATCHDOG);
            end_if_stuck("error: the kernel has not returned 5 s later, so the program ends without results\n",
                         HOST_RUN);
        }
        if (!signals.taken) continue;
        pto_cancel(signals.rt);
        end_if_stuck("error: cancelled, but a kernel has not returned after 5 s\n", HOST_RUN);
    }
    return NULL;
}

static void watch_signals(const struct session *s)
{
    signals.rt = s->rt;
    signals.has_watchdog = s->options.config.watchdog_seconds > 0;
    signals.is_over = signals.is_reported = false;
    signals.active = sem_init(&signals.wake, 0, 0) == 0 && pthread_create(&signals.thread, NULL, watch_run, NULL) == 0;
    for (int i = 0; signals.active && i < 2; i++) {
        struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigaction(watched[i], NULL, &signals.before[i]);
        if (signals.before[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, NULL);
    }
}

static void stop_watching(void)
{
    if (!signals.active) return;
    for (int i = 0; i < 2; i++) sigaction(watched[i], &signals.before[i], NULL);
    signals.is_over = true;
    sem_post(&signals.wake);
    pthread_join(signals.thread, NULL);
    sem_destroy(&signals.wake);
    signals.active = false;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static int exit_of_status(PTOStatus status) { return status == PTO_ERR_NOMEM ? HOST_INTERNAL : HOST_RUN; }

static int create_runtime(struct session *s, const PTOConfig *config, PTORuntime **rt)
{
    PTOStatus status = PTO_OK;
    *rt = pto_runtime_create(config, &status);
    if (*rt) return HOST_OK;
    const char *why = pto_last_error(NULL);
    const bool is_ascend = config->backend && strcmp(config->backend, "ascend") == 0;
    const int code = status == PTO_ERR_NOMEM             ? HOST_INTERNAL
                     : status == PTO_ERR_DEVICE          ? HOST_RUN
                     : status == PTO_ERR_IO && is_ascend ? HOST_FILE
                                                         : HOST_USAGE;
    return host_fail(&s->error, code, "%s", why && *why ? why : pto_status_text(status));
}

static int run_entry(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++) s->data[f] = s->formals[f].array.data;
    progress(s, "running %s", s->entry->name);
    PTOStatus status = s->entry->run(s->rt, s->data, s->scalars, s->dims);
    if (status < 0) {
        fflush(stdout);
        if (!atomic_exchange(&signals.is_reported, true)) print_run_error(s->rt, status);
        return exit_of_status(status);
    }
    return HOST_OK;
}

/* Whether there will be results. */
static bool runs_kernels(const struct host_options *o)
{
    return o->config.engine != PTO_ENGINE_GRAPH && !o->config.skip_kernels;
}

static struct whole_file *add_written(struct session *s, const char *path)
{
    struct written *w = &s->written[s->written_count++];
    w->path = path;
    return &w->file;
}

/* All files of the run are whole: they take their places. */
static int rename_written(struct session *s)
{
    int code = HOST_OK;
    for (int i = 0; i < s->written_count; i++)
        if (!ptoi_whole_rename(&s->written[i].file) && code == HOST_OK)
            code = host_fail(&s->error, HOST_FILE, "cannot write %s: %s", s->written[i].path, strerror(errno));
    return code;
}

static int write_results(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        if (s->arguments[f].output) {
            progress(s, "writing %s to %s", s->entry->formals[f].name, s->arguments[f].output);
            const char *path = s->arguments[f].output;
            int code = ptoi_npy_write(add_written(s, path), path, &s->formals[f].array, &s->error);
            if (code != HOST_OK) return code;
        }
    if (s->options.output_count == 0 && !s->options.quiet && runs_kernels(&s->options))
        for (int32_t f = 0; f < s->entry->formal_count; f++)
            if (is_written(&s->entry->formals[f])) ptoi_summary_print(s->entry->formals[f].name, &s->formals[f].array);
    return HOST_OK;
}

/* The program prints its lines in the first run already: what the oracle's run prints goes nowhere. */
static PTOStatus run_silently(struct session *s, PTORuntime *rt)
{
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool redirected = kept >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
    PTOStatus status = s->entry->run(rt, s->data, s->scalars, s->dims);
    fflush(stdout);
    if (redirected) dup2(kept, STDOUT_FILENO);
    if (kept >= 0) close(kept);
    if (nowhere >= 0) close(nowhere);
    return status;
}

static int check_against_oracle(struct session *s)
{
    PTOConfig config = s->options.config;
    config.engine = PTO_ENGINE_SERIAL;
    config.backend = NULL;
    config.kernels = NULL;
    config.replay = NULL;
    config.record_tasks = 0;
    PTORuntime *rt;
    int code = create_runtime(s, &config, &rt);
    if (code != HOST_OK) return code;
    for (int32_t f = 0; f < s->entry->formal_count; f++) s->data[f] = s->arguments[f].oracle.data;
    progress(s, "running %s on the serial engine", s->entry->name);
    PTOStatus status = run_silently(s, rt);
    if (status < 0) {
        fflush(stdout);
        print_run_error(rt, status);
        pto_runtime_destroy(rt);
        return exit_of_status(status);
    }
    pto_runtime_destroy(rt);
    char text[512];
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        if (is_written(&s->entry->formals[f]) &&
            !ptoi_compare(s->entry->formals[f].name, &s->formals[f].array, &s->arguments[f].oracle, text, sizeof text))
            return host_fail(&s->error, HOST_RUN, "check: %s", text);
    printf("check: ok\n");
    return HOST_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void print_param(const PTOProgramParam *param)
{
    char text[PTO_NUMBER_TEXT];
    printf("  %s: %s", param->name, pto_type_name(param->type));
    if (param->derived)
        printf(" = %s", param->derived);
    else if (param->has_default)
        printf(" = %s", ptoi_element_text(param->type, param->value, text));
    printf("\n");
}

static void print_help(const PTOProgram *program, const char *name)
{
    printf("usage: %s [options]\n\nRuns %s.\n", name, program->file);
    for (int32_t i = 0; i < program->entry_count; i++) {
        const PTOEntry *entry = &program->entries[i];
        printf("\nentry %s", entry->name);
        for (int32_t v = 0; v < entry->dim_count; v++)
            printf("%s%s%s", v == 0 ? "<" : ", ", entry->dims[v], v + 1 == entry->dim_count ? ">" : "");
        printf("\n");
        for (int32_t f = 0; f < entry->formal_count; f++) {
            const PTOFormal *formal = &entry->formals[f];
            printf("  %s%s%s: %s\n", is_tensor(formal) ? direction_name(formal->direction) : "",
                   is_tensor(formal) ? " " : "", formal->name, formal->text);
        }
    }
    if (program->param_count > 0) printf("\nparams, to be given with --set\n");
    for (int32_t p = 0; p < program->param_count; p++) print_param(&program->params[p]);
    printf("\noptions\n");
    ptoi_options_print_help(stdout);
}

/* Where no kernel runs there is nothing that could be written or compared. */
static int check_combination(struct session *s)
{
    const struct host_options *o = &s->options;
    if (!runs_kernels(o) && (o->check || o->output_count > 0))
        return host_fail(&s->error, HOST_USAGE, "%s runs no kernel: it has no results for %s",
                         o->config.skip_kernels ? "--skip-kernels" : "--engine graph",
                         o->check ? "--check" : "--output");
    const bool is_ascend = o->config.backend && strcmp(o->config.backend, "ascend") == 0;
    if (is_ascend && !o->config.kernels)
        return host_fail(&s->error, HOST_USAGE, "the backend ascend needs a map of kernels: --kernels FILE");
    if (!is_ascend && (o->config.kernels || o->config.device || o->config.stream_timeout_seconds > 0))
        return host_fail(&s->error, HOST_USAGE, "%s is for --backend ascend",
                         o->config.kernels  ? "--kernels"
                         : o->config.device ? "--device"
                                            : "--stream-timeout");
    return HOST_OK;
}

static int prepare(struct session *s)
{
    int code = choose_entry(s);
    if (code == HOST_OK) code = check_combination(s);
    if (code == HOST_OK) code = allocate_session(s);
    if (code == HOST_OK) code = apply_names(s);
    if (code == HOST_OK) code = check_complete(s);
    if (code == HOST_OK) code = open_and_bind(s);
    /* A worker process sees the arrays that were there when it was made. */
    const bool data_first = s->options.config.engine == PTO_ENGINE_PROCESS;
    if (code == HOST_OK && data_first) code = load_data(s);
    if (code == HOST_OK) code = create_runtime(s, &s->options.config, &s->rt);
    if (code == HOST_OK && !data_first) code = load_data(s);
    return code;
}

typedef PTOStatus record_writer(PTORuntime *rt, const char *path, struct whole_file *file);

static int write_record(struct session *s, record_writer *write, const char *path, const char *what)
{
    if (!path) return HOST_OK;
    PTOStatus status = write(s->rt, path, add_written(s, path));
    if (status == PTO_OK) return HOST_OK;
    const int code = status == PTO_ERR_IO ? HOST_FILE : status == PTO_ERR_NOMEM ? HOST_INTERNAL : HOST_RUN;
    return host_fail(&s->error, code, "cannot write the %s %s: %s", what, path,
                     status == PTO_ERR_IO      ? strerror(errno)
                     : status == PTO_ERR_NOMEM ? "out of memory"
                                               : "more tasks than are recorded");
}

/* What was recorded is most wanted after a run that failed. */
static int write_records(struct session *s, bool has_run)
{
    const struct host_options *o = &s->options;
    int code = write_record(s, ptoi_write_trace, o->trace, "trace");
    if (code == HOST_OK) code = write_record(s, ptoi_write_report, o->report, "report");
    if (code == HOST_OK) code = write_record(s, ptoi_write_graph, o->graph, "graph");
    if (code == HOST_OK && has_run) code = write_record(s, ptoi_write_schedule, o->record, "schedule");
    return code;
}

static int run_and_report(struct session *s)
{
    watch_signals(s);
    int code = run_entry(s), written = HOST_OK;
    stop_watching();
    if (code == HOST_OK)
        written = write_results(s);
    else if (signals.taken)
        code = 128 + signals.taken;
    if (s->options.stats) {
        ptoi_summary_print_run(s->rt);
        pto_pool_print(stdout);
        pto_print_flow_stats(s->rt);
    }
    if (written == HOST_OK) written = write_records(s, code == HOST_OK);
    if (code == HOST_OK && written == HOST_OK && s->options.check) code = check_against_oracle(s);
    if (written == HOST_OK) written = rename_written(s);
    return code != HOST_OK ? code : written;
}

int pto_program_main(const PTOProgram *program, int argc, char **argv)
{
    struct session s = {.program = program};
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is a failed write, with a message */
    int code = ptoi_options_parse(&s.options, argc, argv, &s.error);
    enum { RECORDED_TASKS = 1 << 20 };
    s.options.config.names_options = true;
    s.options.config.checked |= program->checked;
    if (s.options.trace || s.options.graph || s.options.record || s.options.report)
        s.options.config.record_tasks = RECORDED_TASKS;
    if (code == HOST_OK && s.options.help) {
        const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
        print_help(program, name ? name + 1 : argc > 0 ? argv[0] : "program");
    } else if (code == HOST_OK && (code = prepare(&s)) == HOST_OK) {
        code = run_and_report(&s);
    }
    if (s.rt) {
        pto_runtime_destroy(s.rt);
        s.rt = NULL;
        if (code == HOST_OK && *pto_last_error(NULL)) code = host_fail(&s.error, HOST_RUN, "%s", pto_last_error(NULL));
    }
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == HOST_OK)
        code = host_fail(&s.error, HOST_FILE, "cannot write standard output: %s", strerror(errno));
    if (code != HOST_OK && s.error.text[0])
        fprintf(stderr, "error%s%s%s: %s\n", s.error.id ? "[" : "", s.error.id ? s.error.id : "", s.error.id ? "]" : "",
                s.error.text);
    session_free(&s);
    return code;
}
