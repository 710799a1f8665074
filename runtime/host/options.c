/* options.c - the run options of a built program's command line.
 * Idea       a table with a row for each option: name, kind of value, action, line of help.  `--name value` and
 *            `--name=value` are the same.  An option with a value may be given once, and one that takes NAME=VALUE once
 *            for each name.
 * Invariant  o->config is either what pto_runtime_create accepts or refuses with a better message than we have; a 0 in
 *            it was not asked for, because 0 given by hand is refused here wherever 0 would mean the default.
 * Tests      test/runtime/test_options.c, test/lit/host/usage-refused.test
 */
#include "options.h"
#include "api/config.h"
#include "npz.h"
#include "shared/cpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

bool ptoi_setting_is(const struct host_setting *s, const char *name)
{
    return (int)strlen(name) == s->length && memcmp(s->name, name, (size_t)s->length) == 0;
}

/* ---- one function an option -------------------------------------------------------------------------------------- */

static int take_setting(struct host_setting *list, int *count, const char *option, const char *text,
                        struct host_error *e)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals[1] == '\0')
        return host_fail(e, HOST_USAGE, "--%s takes name=value, not '%s'", option, text);
    struct host_setting s = {.name = text, .length = (int)(equals - text), .value = equals + 1};
    for (int i = 0; i < *count; i++)
        if (list[i].length == s.length && memcmp(list[i].name, s.name, (size_t)s.length) == 0)
            return host_fail(e, HOST_USAGE, "--%s gives '%.*s' twice", option, s.length, s.name);
    list[(*count)++] = s;
    return HOST_OK;
}

static int take_set(struct host_options *o, const char *text, struct host_error *e)
{
    return take_setting(o->sets, &o->set_count, "set", text, e);
}

static int take_output(struct host_options *o, const char *text, struct host_error *e)
{
    for (int i = 0; i < o->output_count; i++) {
        const char *equals = strchr(text, '=');
        if (equals && strcmp(o->outputs[i].value, equals + 1) == 0 && !ptoi_npz_is_path(equals + 1))
            return host_fail(e, HOST_USAGE, "--output writes two arrays to %s", equals + 1);
    }
    return take_setting(o->outputs, &o->output_count, "output", text, e);
}

static int take_expect(struct host_options *o, const char *text, struct host_error *e)
{
    return take_setting(o->expects, &o->expect_count, "expect", text, e);
}

static int take_input(struct host_options *o, const char *text, struct host_error *e)
{
    struct host_setting s = {.name = NULL};
    int before = 0;
    int code = take_setting(&s, &before, "input", text, e);
    for (int i = 0; i < o->input_count && code == HOST_OK; i++)
        if (o->inputs[i].setting.length == s.length && memcmp(o->inputs[i].setting.name, s.name, (size_t)s.length) == 0)
            code = host_fail(e, HOST_USAGE, "--input gives '%.*s' twice", s.length, s.name);
    if (code != HOST_OK) return code;
    struct host_input *input = &o->inputs[o->input_count++];
    input->setting = s;
    if (!ptoi_fill_parse(s.value, &input->fill))
        return host_fail(e, HOST_USAGE, "--input %.*s=random:SEED takes an integer, not '%s'", s.length, s.name,
                         s.value + 7);
    return HOST_OK;
}

static int take_dim(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t extent;
    bool fits = true;
    int code = take_setting(o->dims, &o->dim_count, "dim", text, e);
    if (code != HOST_OK) return code;
    const struct host_setting *s = &o->dims[o->dim_count - 1];
    if (!ptoi_parse_i64(s->value, &extent, &fits))
        return host_fail(e, HOST_USAGE, "--dim %.*s takes an integer%s, not '%s'", s->length, s->name,
                         fits ? "" : " of 64 bits", s->value);
    if (extent < 0) return host_fail(e, HOST_USAGE, "--dim %.*s is negative: %s", s->length, s->name, s->value);
    return HOST_OK;
}

static int take_entry(struct host_options *o, const char *text, struct host_error *e)
{
    (void)e;
    o->entry = text;
    return HOST_OK;
}

static const char backend_list[] =
#define BACKEND(name, note) ", " #name note
#include "backend/backends.def"
#undef BACKEND
    ;
static const char engine_list[] =
#define PTO_ENGINE(id, name, note) ", " #name note
#include <pto/engines.def>
#undef PTO_ENGINE
    ;
static const char worker_list[] =
#define PTO_WORKER(id, name) ", " name
#include <pto/workers.def>
#undef PTO_WORKER
    "; one of each that is not named";

static int take_backend(struct host_options *o, const char *text, struct host_error *e)
{
    static const char *const names[] = {
#define BACKEND(name, note) #name,
#include "backend/backends.def"
#undef BACKEND
    };
    enum { BACKENDS = sizeof names / sizeof *names };
    o->config.backend = text;
    for (int i = 0; i < BACKENDS; i++)
        if (strcmp(text, names[i]) == 0) return HOST_OK;
    const char *near = ptoi_nearest_name(text, (int)strlen(text), names, BACKENDS);
    if (near) return host_fail(e, HOST_USAGE, "there is no backend '%s'; did you mean '%s'?", text, near);
    return host_fail(e, HOST_USAGE, "there is no backend '%s'; there are %s", text, backend_list + 2);
}

static const char *const engine_names[PTO_ENGINES] = {
#define PTO_ENGINE(id, name, note) #name,
#include <pto/engines.def>
#undef PTO_ENGINE
};

static int take_engine(struct host_options *o, const char *text, struct host_error *e)
{
    for (int i = 0; i < PTO_ENGINES; i++)
        if (strcmp(text, engine_names[i]) == 0) {
            o->config.engine = (PTOEngine)i;
            return HOST_OK;
        }
    const char *near = ptoi_nearest_name(text, (int)strlen(text), engine_names, PTO_ENGINES);
    if (near) return host_fail(e, HOST_USAGE, "there is no engine '%s'; did you mean '%s'?", text, near);
    return host_fail(e, HOST_USAGE, "there is no engine '%s'; there are %s", text, engine_list + 2);
}

static const char *const worker_names[PTO_WORKER_TYPES] = {
#define PTO_WORKER(id, name) name,
#include <pto/workers.def>
#undef PTO_WORKER
};
static const char worker_form[] =
#define PTO_WORKER(id, name) name "=N,"
#include <pto/workers.def>
#undef PTO_WORKER
    ;

/* cube=4,vector=2: types that are not named get one worker. */
static int take_workers(struct host_options *o, const char *text, struct host_error *e)
{
    bool given[PTO_WORKER_TYPES] = {false};
    int64_t total = 0;
    for (const char *part = text; part; part = strchr(part, ',') ? strchr(part, ',') + 1 : NULL) {
        int length = (int)strcspn(part, ","), name_length = (int)strcspn(part, "=,");
        char number[32];
        int64_t count = 0;
        bool fits = true;
        int digits = length - name_length - 1, type = 0;
        while (type < PTO_WORKER_TYPES && ((int)strlen(worker_names[type]) != name_length ||
                                           memcmp(part, worker_names[type], (size_t)name_length) != 0))
            type++;
        if (digits < 0 || name_length == 0)
            return host_fail(e, HOST_USAGE, "--workers takes %s not '%s'", worker_form, text);
        if (type == PTO_WORKER_TYPES) {
            const char *near = ptoi_nearest_name(part, name_length, worker_names, PTO_WORKER_TYPES);
            if (near)
                return host_fail(e, HOST_USAGE,
                                 "there is no worker type '%.*s'; did you mean '%s'? --workers takes %.*s", name_length,
                                 part, near, (int)sizeof worker_form - 2, worker_form);
            return host_fail(e, HOST_USAGE, "there is no worker type '%.*s'; --workers takes %.*s", name_length, part,
                             (int)sizeof worker_form - 2, worker_form);
        }
        snprintf(number, sizeof number, "%.*s", digits, part + name_length + 1);
        if (digits >= (int)sizeof number || !ptoi_parse_i64(number, &count, &fits) || count < 0 ||
            count > PTOI_WORKERS_MAX)
            return host_fail(e, HOST_USAGE, "--workers %s takes a number from 0 to %d, not '%.*s'", worker_names[type],
                             PTOI_WORKERS_MAX, digits, part + name_length + 1);
        if (given[type]) return host_fail(e, HOST_USAGE, "--workers gives '%s' twice", worker_names[type]);
        given[type] = true;
        o->config.workers[type] = (int32_t)count;
    }
    for (int type = 0; type < PTO_WORKER_TYPES; type++) {
        if (!given[type]) o->config.workers[type] = 1;
        total += o->config.workers[type];
    }
    return total > 0 ? HOST_OK : host_fail(e, HOST_USAGE, "--workers leaves no worker at all");
}

static int take_size(const char *option, const char *text, int64_t least, int64_t most, int64_t *value,
                     struct host_error *e)
{
    bool fits = true;
    if (!ptoi_parse_size(text, value, &fits) && fits)
        return host_fail(e, HOST_USAGE, "--%s takes a number, optionally followed by K, M or G, not '%s'", option,
                         text);
    if (fits ? *value < least : *text == '-')
        return host_fail(e, HOST_USAGE, "--%s must be at least %" PRId64 ", not %s", option, least, text);
    if (!fits || *value > most)
        return host_fail(e, HOST_USAGE, "--%s must be at most %" PRId64 ", not %s", option, most, text);
    return HOST_OK;
}

static int take_seconds(const char *option, const char *text, int64_t most, double *seconds, struct host_error *e)
{
    bool fits;
    if (!ptoi_parse_float(text, false, seconds, &fits) || !(*seconds > 0) || *seconds > (double)most)
        return host_fail(e, HOST_USAGE, "--%s '%s': a number of seconds above 0, and at most %" PRId64 ", is expected",
                         option, text, most);
    return HOST_OK;
}

static int take_window(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t *value = &o->config.task_window;
    int code = take_size("window", text, 2, PTOI_WINDOW_MAX, value, e);
    if (code == HOST_OK && (*value & (*value - 1)) != 0)
        return host_fail(e, HOST_USAGE, "--window must be a power of two, not %s", text);
    return code;
}

static int take_heap(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("heap", text, PTO_GRANULE, PTOI_HEAP_MAX, &o->config.heap_bytes, e);
}

static int take_rings(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t rings = 0;
    int code = take_size("rings", text, 1, PTO_MAX_RINGS, &rings, e);
    o->config.heap_rings = (int32_t)rings;
    return code;
}

static int take_ranks(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t ranks = 0;
    int code = take_size("ranks", text, 1, INT32_MAX, &ranks, e);
    o->ranks = (int32_t)ranks;
    return code;
}

static int take_sends(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t sends = 0;
    int code = take_size("sends", text, 1, INT32_MAX, &sends, e);
    o->sends = (int32_t)sends;
    return code;
}

static int take_copies(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("copies", text, 0, INT64_MAX, &o->copy_bytes, e);
}

static int take_everywhere(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("everywhere", text, 0, INT64_MAX, &o->everywhere_bytes, e);
}

static int take_net(struct host_options *o, const char *text, struct host_error *e)
{
    char latency[32];
    bool fits;
    const char *comma = strchr(text, ',');
    const int length = comma && comma - text < (int)sizeof latency ? (int)(comma - text) : 0;
    snprintf(latency, sizeof latency, "%.*s", length, text);
    if (length == 0 || !ptoi_parse_i64(latency, &o->net_latency, &fits) || o->net_latency < 0 ||
        !ptoi_parse_float(comma + 1, false, &o->net_bytes_a_cycle, &fits) || !(o->net_bytes_a_cycle > 0))
        return host_fail(e, HOST_USAGE,
                         "--net '%s': cycles of a message and bytes a cycle, above 0, are expected, as 2000,12.5",
                         text);
    return HOST_OK;
}

static int take_grace(struct host_options *o, const char *text, struct host_error *e)
{
    return take_seconds("grace", text, 1000000000, &o->grace_seconds, e);
}

static int take_dist(struct host_options *o, const char *text, struct host_error *e)
{
    return take_setting(o->dists, &o->dist_count, "dist", text, e);
}

static int take_deps(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("deps", text, 2, PTOI_DEPLIST_MAX, &o->config.deplist_entries, e);
}

static int take_tensormap(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("tensormap", text, 2, PTOI_TENSORMAP_MAX, &o->config.tensormap_entries, e);
}

static int take_recursion(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t limit = 0;
    int code = take_size("recursion", text, 1, PTOI_RECURSION_MAX, &limit, e);
    o->config.recursion_limit = (int32_t)limit;
    return code;
}

#define FLAG(name, member)                                                                                             \
    static int take_##name(struct host_options *o, const char *text, struct host_error *e)                             \
    {                                                                                                                  \
        (void)text, (void)e;                                                                                           \
        o->member = true;                                                                                              \
        return HOST_OK;                                                                                                \
    }
FLAG(check, check)
FLAG(stats, stats)
FLAG(advise, advise)
FLAG(quiet, quiet)
FLAG(progress, progress)
FLAG(help, help)
FLAG(checked, config.checked)
FLAG(skip_kernels, config.skip_kernels)
FLAG(prealloc, config.prealloc)
FLAG(bind, config.bind_workers)
FLAG(defer, config.always_defer)

/* ---- the table --------------------------------------------------------------------------------------------------- */

static int take_trace(struct host_options *o, const char *text, struct host_error *e)
{
    return (void)e, o->trace = text, HOST_OK;
}
static int take_report(struct host_options *o, const char *text, struct host_error *e)
{
    return (void)e, o->report = text, HOST_OK;
}
static int take_graph(struct host_options *o, const char *text, struct host_error *e)
{
    return (void)e, o->graph = text, HOST_OK;
}
static int take_traces(struct host_options *o, const char *text, struct host_error *e)
{
    return (void)e, o->traces = text, HOST_OK;
}
static int take_record(struct host_options *o, const char *text, struct host_error *e)
{
    return (void)e, o->record = text, HOST_OK;
}

static int take_replay(struct host_options *o, const char *text, struct host_error *e)
{
    (void)e;
    o->config.replay = text;
    return HOST_OK;
}

static int take_kernels(struct host_options *o, const char *text, struct host_error *e)
{
    (void)e;
    o->config.kernels = text;
    return HOST_OK;
}

static int take_device(struct host_options *o, const char *text, struct host_error *e)
{
    int64_t number = 0;
    int code = take_size("device", text, 0, 65535, &number, e);
    o->config.device = (int32_t)number;
    return code;
}

static int take_stream_timeout(struct host_options *o, const char *text, struct host_error *e)
{
    return take_seconds("stream-timeout", text, 1000000, &o->config.stream_timeout_seconds, e);
}

static int take_watchdog(struct host_options *o, const char *text, struct host_error *e)
{
    return take_seconds("watchdog", text, 1000000000, &o->config.watchdog_seconds, e);
}

static int take_cpu(struct host_options *o, const char *text, struct host_error *e)
{
    PTOCpu level;
    o->cpu = text;
    if (!ptoi_cpu_named(text, &level)) return host_fail(e, HOST_USAGE, "--cpu '%s': base, v3 or v4 is expected", text);
    return ptoi_cpu_force(level) ? HOST_OK
                                 : host_fail(e, HOST_USAGE, "--cpu '%s': this machine does not have that level", text);
}

static int take_submit_cycles(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("submit-cycles", text, 0, PTOI_CYCLES_MAX, &o->config.submit_cycles, e);
}

static int take_dispatch_cycles(struct host_options *o, const char *text, struct host_error *e)
{
    return take_size("dispatch-cycles", text, 0, PTOI_CYCLES_MAX, &o->config.dispatch_cycles, e);
}

static const struct option_row {
    const char *name, *value; /* value NULL: a flag */
    int (*take)(struct host_options *o, const char *text, struct host_error *e);
    const char *help;
} rows[] = {
#define OPTION(name, text, value, verbs, help) {text, value, take_##name, help},
#include "options.def"
#undef OPTION
};
enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert(ROWS <= 64, "host_options.given has a bit for each");

void ptoi_options_print_help(FILE *out)
{
    for (int i = 0; i < ROWS; i++) {
        char left[40];
        snprintf(left, sizeof left, "--%s %s", rows[i].name, rows[i].value ? rows[i].value : "");
        fprintf(out, "  %-24s %s\n", left, rows[i].help);
    }
}

static int fail_unknown(const char *name, int length, struct host_error *e)
{
    const char *names[ROWS];
    for (int i = 0; i < ROWS; i++) names[i] = rows[i].name;
    const char *near = ptoi_nearest_name(name, length, names, ROWS);
    if (near) return host_fail(e, HOST_USAGE, "unknown option '--%.*s'; did you mean '--%s'?", length, name, near);
    return host_fail(e, HOST_USAGE, "unknown option '--%.*s'; --help lists them", length, name);
}

/* Is the value one of NAME=VALUE, so that the option may be given for several names? */
static bool is_of_name(const struct option_row *row)
{
    const char *equals = row->value ? strchr(row->value, '=') : NULL;
    return equals && row->take != take_workers;
}

static int fail_second(struct host_options *o, const struct option_row *row, struct host_error *e)
{
    const uint64_t bit = (uint64_t)1 << (row - rows);
    if (row->value && !is_of_name(row) && (o->given & bit))
        return host_fail(e, HOST_USAGE, "--%s is given twice", row->name);
    o->given |= bit;
    return HOST_OK;
}

/* argv[*at] is an option; takes its value too. */
static int parse_option(struct host_options *o, int argc, char **argv, int *at, struct host_error *e)
{
    const char *name = argv[*at] + 2;
    int length = (int)strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const struct option_row *row = NULL;
    for (int i = 0; i < ROWS; i++)
        if ((int)strlen(rows[i].name) == length && memcmp(rows[i].name, name, (size_t)length) == 0) row = &rows[i];
    if (!row) return fail_unknown(name, length, e);
    if (!row->value && value) return host_fail(e, HOST_USAGE, "--%s takes no value", row->name);
    if (row->value && !value) {
        if (*at + 1 == argc || strncmp(argv[*at + 1], "--", 2) == 0)
            return host_fail(e, HOST_USAGE, "--%s needs %s", row->name, row->value);
        value = argv[++*at];
    }
    if (row->value && *value == '\0')
        return host_fail(e, HOST_USAGE, "--%s needs %s, not nothing", row->name, row->value);
    const int code = fail_second(o, row, e);
    return code == HOST_OK ? row->take(o, value, e) : code;
}

int ptoi_options_parse(struct host_options *o, int argc, char **argv, struct host_error *e)
{
    size_t most = (size_t)(argc > 0 ? argc : 1);
    *o = (struct host_options){.sets = calloc(most, sizeof *o->sets),
                               .outputs = calloc(most, sizeof *o->outputs),
                               .expects = calloc(most, sizeof *o->expects),
                               .dims = calloc(most, sizeof *o->dims),
                               .dists = calloc(most, sizeof *o->dists),
                               .everywhere_bytes = -1,
                               .copy_bytes = -1,
                               .net_latency = -1,
                               .inputs = calloc(most, sizeof *o->inputs)};
    if (!o->sets || !o->outputs || !o->expects || !o->dims || !o->dists || !o->inputs) return host_fail_memory(e);
    int code = HOST_OK;
    bool options = true;
    for (int at = 1; at < argc && code == HOST_OK && !o->help; at++) {
        if (options && strcmp(argv[at], "--") == 0)
            options = false;
        else if (options && strcmp(argv[at], "-h") == 0)
            o->help = true;
        else if (options && strncmp(argv[at], "--", 2) == 0)
            code = parse_option(o, argc, argv, &at, e);
        else
            code = host_fail(e, HOST_USAGE, "unexpected argument '%s'; --help lists the options", argv[at]);
    }
    return code;
}

void ptoi_options_free(struct host_options *o)
{
    free(o->sets);
    free(o->outputs);
    free(o->expects);
    free(o->dims);
    free(o->dists);
    free(o->inputs);
    *o = (struct host_options){.entry = NULL};
}
