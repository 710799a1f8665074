/* program.c - main() of a built program.
 * Idea       the command line, matched against the program's table, in an order that finds every mistake before
 *            anything long begins: names, headers of files, dimension variables, places to write, the runtime; then
 *            data, run, results, check.
 * Owner      struct session: everything; session_free returns it on every way out.
 * Invariant  a mistake is one line on standard error and an exit code of fail.h; nothing else here writes to standard
 *            error, except --progress and the advice of ranked_pages.c.
 * Tests      test/lit/host/
 */
#include "arguments.h"
#include "api/runtime.h"
#include "compare.h"
#include "exits.h"
#include "expect.h"
#include "npz.h"
#include "print.h"
#include "planned.h"
#include "ranked.h"
#include "report/critical.h"
#include "report/ending.h"
#include "report/report.h"
#include "session.h"
#include "shared/cpu.h"
#include "summary.h"
#include "watch.h"
#include "written.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* ---- the entry --------------------------------------------------------------------------------------------------- */

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
    ptoi_join_names(names, p->entry_count, list, sizeof list);
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

/* Whether there will be results. */
static bool runs_kernels(const struct host_options *o)
{
    return o->config.engine != PTO_ENGINE_GRAPH && !o->config.skip_kernels;
}

/* Where no kernel runs, the elements of these arrays are never read: addresses suffice, and no memory is allocated for
 * them. */
static bool is_only_named(const struct session *s, const PTOFormal *f)
{
    return !runs_kernels(&s->options) && f->direction != PTO_OWN && f->direction != PTO_HOST;
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
    s->params = calloc(1, (size_t)s->program->param_bytes + 1);
    s->given = calloc((size_t)s->program->param_count + 1, sizeof *s->given);
    enum { RECORDS = 4 }; /* trace, report, graph, schedule */
    s->written = calloc(formals + RECORDS, sizeof *s->written);
    if (!s->written || !s->arguments || !s->formals || !s->scalars || !s->data || !s->dims || !s->origin ||
        !s->params || !s->given)
        return host_fail_memory(&s->error);
    ptoi_params_init(s->program, s->params);
    s->call = (PTOCall){.data = s->data, .scalars = s->scalars, .dims = s->dims, .params = s->params};
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        s->arguments[f].file.fd = -1;
        s->formals[f].array.type = s->entry->formals[f].type;
        s->formals[f].array.rank = s->entry->formals[f].rank;
        if (bind_is_decided(&s->entry->formals[f])) continue;
        s->formals[f].array.shared = s->options.config.engine == PTO_ENGINE_PROCESS;
        s->formals[f].array.reserved = is_only_named(s, &s->entry->formals[f]);
    }
    for (int32_t v = 0; v < s->entry->dim_count; v++) s->origin[v] = BIND_NOTHING;
    return HOST_OK;
}

static void session_free(struct session *s)
{
    pto_runtime_destroy(s->rt);
    ptoi_joined_free(s->joined);
    free(s->clocks);
    free(s->record);
    free(s->replay);
    for (int32_t f = 0; s->arguments && s->formals && f < s->entry->formal_count; f++) {
        ptoi_npy_close(&s->arguments[f].file);
        free(s->arguments[f].lacks);
        array_free(&s->arguments[f].oracle);
        array_free(&s->formals[f].array);
    }
    if (s->arguments && s->formals) ptoi_expect_close(s);
    for (int i = 0; i < s->written_count; i++) ptoi_whole_drop(&s->written[i].file);
    free(s->written);
    free(s->arguments);
    free(s->formals);
    free(s->scalars);
    free(s->data);
    free(s->dims);
    free(s->origin);
    free(s->params);
    free(s->given);
    ptoi_options_free(&s->options);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* With a schedule, a run refuses an argument where that is the schedule of another run. */
static int exit_of_status(const struct session *s, PTOStatus status)
{
    const bool is_of_file = status == PTO_ERR_ARGUMENT && s->options.config.replay;
    return status == PTO_ERR_NOMEM ? HOST_INTERNAL : is_of_file ? HOST_FILE : HOST_RUN;
}

/* is_ranked: it is one of several ranks, or plans them. */
static int create_runtime(struct session *s, const PTOConfig *config, bool is_ranked, PTORuntime **rt)
{
    PTOStatus status = PTO_OK;
    const struct dist_config ranks = ptoi_ranked_config(s);
    *rt = ptoi_create_ranked(config, is_ranked ? &ranks : NULL, &status);
    if (*rt) return HOST_OK;
    const char *why = pto_last_error(NULL);
    const bool is_of_file = status == PTO_ERR_IO || status == PTO_ERR_ARGUMENT; /* the map of kernels; the schedule */
    const int code = status == PTO_ERR_NOMEM    ? HOST_INTERNAL
                     : status == PTO_ERR_DEVICE ? HOST_RUN
                     : is_of_file               ? HOST_FILE
                                                : HOST_USAGE;
    return host_fail(&s->error, code, "%s", why && *why ? why : pto_status_text(status));
}

/* The array that the run has made; its memory is that of the array now. */
static void take_result(const PTOFormal *formal, PTOResult *result, struct host_array *array)
{
    if (!bind_is_decided(formal)) return;
    array->type = formal->type;
    array->rank = formal->rank;
    memcpy(array->shape, result->shape, sizeof array->shape);
    array_measure(array); /* it fits: it has been in memory */
    array->data = result->data;
    result->data = NULL;
}

static int run_entry(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        s->data[f] =
            bind_is_decided(&s->entry->formals[f]) ? (void *)&s->arguments[f].result : s->formals[f].array.data;
    session_progress(s, "running %s", s->entry->name);
    ptoi_exits_begin(s->rt);
    PTOStatus status = s->entry->run(s->rt, &s->call);
    ptoi_exits_end();
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        take_result(&s->entry->formals[f], &s->arguments[f].result, &s->formals[f].array);
    if (status < 0) {
        fflush(stdout);
        s->has_stopped |= s->rt->dist && s->rt->dist->has_met;
        if (ptoi_watch_reports() && (session_is_first(s) || !s->has_stopped)) ptoi_print_run_error(s->rt, status);
        return exit_of_status(s, status);
    }
    return HOST_OK;
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
    ptoi_ending_hold();
    for (int i = 0; i < s->written_count; i++)
        if (!ptoi_whole_rename(&s->written[i].file) && code == HOST_OK)
            code = host_fail(&s->error, HOST_FILE, "cannot write %s: %s", s->written[i].path, strerror(errno));
    ptoi_ending_release();
    return code;
}

/* Formal f is the first that goes to its archive: writes all that do. */
static int write_archive(struct session *s, int32_t f)
{
    const char *path = s->arguments[f].output;
    struct npz_item *item = calloc((size_t)s->entry->formal_count, sizeof *item);
    int count = 0;
    if (!item) return host_fail_memory(&s->error);
    for (int32_t k = f; k < s->entry->formal_count; k++)
        if (s->arguments[k].output && strcmp(s->arguments[k].output, path) == 0)
            item[count++] = (struct npz_item){s->entry->formals[k].name, &s->formals[k].array};
    const int code = ptoi_npz_write(add_written(s, path), path, item, count, &s->error);
    free(item);
    return code;
}

static bool is_in_earlier_archive(const struct session *s, int32_t f)
{
    for (int32_t k = 0; k < f; k++)
        if (s->arguments[k].output && strcmp(s->arguments[k].output, s->arguments[f].output) == 0) return true;
    return false;
}

static int write_output(struct session *s, int32_t f)
{
    const char *path = s->arguments[f].output;
    if (s->arguments[f].is_in_place) return HOST_OK;
    session_progress(s, "writing %s to %s", s->entry->formals[f].name, path);
    if (!ptoi_npz_is_path(path)) return ptoi_npy_write(add_written(s, path), path, &s->formals[f].array, &s->error);
    return is_in_earlier_archive(s, f) ? HOST_OK : write_archive(s, f);
}

static int write_results(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const int code = s->arguments[f].output ? write_output(s, f) : HOST_OK;
        if (code != HOST_OK) return code;
    }
    if (s->options.output_count == 0 && !s->options.quiet && runs_kernels(&s->options))
        for (int32_t f = 0; f < s->entry->formal_count; f++)
            if (session_is_written(&s->entry->formals[f]))
                ptoi_summary_print(s->entry->formals[f].name, &s->formals[f].array);
    return HOST_OK;
}

/* The program prints its lines in the first run already: what the oracle's run prints goes nowhere. */
static PTOStatus run_silently(struct session *s, PTORuntime *rt)
{
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    bool redirected = kept >= 0 && nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0;
    ptoi_exits_begin(rt);
    PTOStatus status = s->entry->run(rt, &s->call);
    ptoi_exits_end();
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
    int code = create_runtime(s, &config, false, &rt);
    if (code != HOST_OK) return code;
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        s->data[f] = bind_is_decided(&s->entry->formals[f]) ? (void *)&s->arguments[f].oracle_result
                                                            : s->arguments[f].oracle.data;
    session_progress(s, "running %s on the serial engine", s->entry->name);
    PTOStatus status = run_silently(s, rt);
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        take_result(&s->entry->formals[f], &s->arguments[f].oracle_result, &s->arguments[f].oracle);
    if (status < 0) {
        fflush(stdout);
        ptoi_print_run_error(rt, status);
        pto_runtime_destroy(rt);
        return exit_of_status(s, status);
    }
    pto_runtime_destroy(rt);
    char text[512];
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        if (session_is_written(&s->entry->formals[f]) &&
            !ptoi_compare(s->entry->formals[f].name, &s->formals[f].array, &s->arguments[f].oracle, text, sizeof text))
            return host_fail(&s->error, HOST_RUN, "check: %s", text);
    printf("check: ok\n");
    return HOST_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void print_param(const PTOProgram *program, const PTOProgramParam *param)
{
    char text[PTO_NUMBER_TEXT];
    printf("  %s: %s", param->name, pto_type_name(param->type));
    if (param->derived)
        printf(" = %s", param->derived);
    else if (param->has_default)
        printf(" = %s", ptoi_element_text(param->type, (const char *)program->defaults + param->at, text));
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
            printf("  %s%s%s: %s\n", session_is_tensor(formal) ? session_direction(formal->direction) : "",
                   session_is_tensor(formal) ? " " : "", formal->name, formal->text);
        }
    }
    if (program->param_count > 0) printf("\nparams, to be given with --set\n");
    for (int32_t p = 0; p < program->param_count; p++) print_param(program, &program->params[p]);
    printf("\noptions\n");
    ptoi_options_print_help(stdout);
}

/* Where no kernel runs, no output can be written or compared. */
static int check_combination(struct session *s)
{
    const struct host_options *o = &s->options;
    if (!runs_kernels(o) && (o->check || o->output_count > 0 || o->expect_count > 0))
        return host_fail(&s->error, HOST_USAGE, "%s runs no kernel: it has no results for %s",
                         o->config.skip_kernels ? "--skip-kernels" : "--engine graph",
                         o->check              ? "--check"
                         : o->output_count > 0 ? "--output"
                                               : "--expect");
    if (o->record && !ptoi_has_schedule(o->config.engine))
        return host_fail(&s->error, HOST_USAGE,
                         "--record needs --engine threads or process: with the others nothing starts in an order that "
                         "--replay could repeat");
    if ((o->config.submit_cycles || o->config.dispatch_cycles) && o->config.engine != PTO_ENGINE_TIMING &&
        !session_plans_ranks(s))
        return host_fail(&s->error, HOST_USAGE, "%s is for --engine timing",
                         o->config.submit_cycles ? "--submit-cycles" : "--dispatch-cycles");
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
    if (code == HOST_OK) code = ptoi_written_check(s);
    if (code == HOST_OK) code = allocate_session(s);
    if (code == HOST_OK) code = ptoi_arguments_apply(s);
    if (code == HOST_OK) code = ptoi_arguments_check(s);
    code = ptoi_ranked_agree(s, code);
    if (code == HOST_OK) code = ptoi_ranked_compare_inputs(s);
    if (code == HOST_OK) code = ptoi_arguments_open(s);
    if (code == HOST_OK) code = ptoi_expect_open(s);
    code = ptoi_ranked_agree(s, code);
    if (code == HOST_OK) code = ptoi_ranked_compare(s);
    if (code == HOST_OK) code = ptoi_ranked_name_schedules(s);
    /* A worker process sees the arrays that were there when it was made. */
    const bool data_first = s->options.config.engine == PTO_ENGINE_PROCESS;
    if (code == HOST_OK && data_first) code = ptoi_arguments_load(s);
    if (code == HOST_OK) code = create_runtime(s, &s->options.config, s->wire || session_plans_ranks(s), &s->rt);
    if (code == HOST_OK && !data_first) code = ptoi_arguments_load(s);
    return code;
}

typedef PTOStatus record_writer(PTORuntime *rt, const char *path, struct whole_file *file);

static int record_written(struct session *s, PTOStatus status, const char *path, const char *what)
{
    if (status == PTO_OK) return HOST_OK;
    const int code = status == PTO_ERR_IO ? HOST_FILE : status == PTO_ERR_NOMEM ? HOST_INTERNAL : HOST_RUN;
    return host_fail(&s->error, code, "cannot write the %s %s: %s", what, path,
                     status == PTO_ERR_IO      ? strerror(errno)
                     : status == PTO_ERR_NOMEM ? "out of memory"
                                               : "more tasks than are recorded");
}

static int write_record(struct session *s, record_writer *write, const char *path, const char *what)
{
    return path ? record_written(s, write(s->rt, path, add_written(s, path)), path, what) : HOST_OK;
}

static int write_report(struct session *s, const char *check)
{
    const char *path = s->options.report;
    const struct report_head head = {s->program->file, s->command, s->command_count, check};
    return path ? record_written(s, ptoi_write_report(s->rt, &head, path, add_written(s, path)), path, "report")
                : HOST_OK;
}

/* Reports are most useful after a run that failed, so they are written then too. */
static int write_records(struct session *s, bool has_run, const char *check)
{
    const struct host_options *o = &s->options;
    int code = write_record(s, ptoi_write_trace, o->trace, "trace");
    if (code == HOST_OK) code = write_report(s, check);
    if (code == HOST_OK) code = write_record(s, ptoi_write_graph, o->graph, "graph");
    if (code == HOST_OK && has_run)
        code = write_record(s, ptoi_write_schedule, s->wire ? s->record : o->record, "schedule");
    return code;
}

static int run_and_report(struct session *s)
{
    int begun = ptoi_ranked_begin_schedules(s);
    if (begun == HOST_OK) begun = ptoi_ranked_begin_records(s);
    if (begun != HOST_OK) return begun;
    ptoi_in_place_begin(s);
    ptoi_ranked_give(s);
    ptoi_watch_begin(s->rt, &(struct watch_config){.has_watchdog = s->options.config.watchdog_seconds > 0,
                                                   .has_progress = s->options.progress,
                                                   .grace_ms = ptoi_ranked_grace_ms(s),
                                                   .is_first = session_is_first(s)});
    int code = run_entry(s), written = HOST_OK;
    ptoi_watch_end();
    if (code == HOST_OK && !s->wire && ptoi_watch_signal()) ptoi_watch_raise(); /* it came as the run ended */
    const int joined = ptoi_ranked_join_records(s);
    if (code == HOST_OK) code = ptoi_in_place_write(s);
    if (code == HOST_OK && session_is_first(s))
        written = write_results(s);
    else if (code != HOST_OK && ptoi_watch_signal())
        code = 128 + ptoi_watch_signal();
    if (code == HOST_OK && s->options.stats) ptoi_ranked_print_stats(s);
    if (code == HOST_OK) ptoi_ranked_advise_pages(s, s->options.stats ? stdout : stderr);
    if (code == HOST_OK && !session_is_first(s)) code = ptoi_ranked_write_schedule(s);
    if (code == HOST_OK) code = ptoi_planned_report(s);
    if (!session_is_first(s)) return code;
    if (s->options.stats) {
        ptoi_summary_print_run(s->rt);
        pto_pool_print(stdout);
        pto_print_flow_stats(s->rt);
    }
    if (s->options.advise) ptoi_advise_write(s->rt, stdout);
    const bool has_run = code == HOST_OK;
    const char *check = NULL;
    if (has_run && written == HOST_OK && s->options.check) {
        code = check_against_oracle(s);
        check = code == HOST_OK ? "ok" : s->error.text[0] ? s->error.text : "the serial engine's run failed";
    }
    if (written == HOST_OK) written = joined;
    if (written == HOST_OK) written = write_records(s, has_run, check);
    if (code == HOST_OK && written == HOST_OK) code = ptoi_expect_check(s);
    if (written == HOST_OK) written = rename_written(s);
    return code != HOST_OK ? code : written;
}

/* A program that has one level of kernels runs on what has that level, and with no other. */
static int check_cpu(struct session *s)
{
    const char *const only = s->program->cpu, *const asked = s->options.cpu;
    if (!only[0]) return HOST_OK;
    if (!ptoi_cpu_has(only))
        return host_fail(
            &s->error, HOST_RUN,
            "the program was built for processors of level %s alone, and this one is older: build it again "
            "here, or without --cpu",
            only);
    if (asked && strcmp(asked, only) != 0)
        return host_fail(&s->error, HOST_USAGE, "--cpu '%s': the program was built for level %s alone", asked, only);
    return HOST_OK;
}

int pto_program_main(const PTOProgram *program, int argc, char **argv)
{
    struct session s = {.program = program, .command = argv, .command_count = argc};
    if (program->layout != 0 && pto_check_library(program->fingerprint) != PTO_OK) {
        fputs("error: the program was compiled for another version of libpto: build it again\n", stderr);
        return HOST_INTERNAL;
    }
    ptoi_ending_begin();
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is a failed write, with a message */
    int code = ptoi_ranked_join(&s);
    if (code == HOST_OK) code = ptoi_options_parse(&s.options, argc, argv, &s.error);
    if (code == HOST_OK) code = check_cpu(&s);
    if (code == HOST_OK && !s.options.help) code = ptoi_planned_check(&s);
    if (code == HOST_OK && !s.options.help) code = ptoi_ranked_check(&s);
    enum { RECORDED_TASKS = 1 << 20 };
    s.options.config.names = PTO_NAMES_OPTIONS;
    s.options.config.time_causes = s.options.stats;
    s.options.config.checked |= program->checked;
    if (s.options.trace || s.options.graph || s.options.record || s.options.report || s.options.advise)
        s.options.config.record_tasks = RECORDED_TASKS;
    if (code == HOST_OK && s.options.help) {
        const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
        print_help(program, name ? name + 1 : argc > 0 ? argv[0] : "program");
        code = ptoi_ranked_agree_on_help(&s);
    } else {
        if (code == HOST_OK) code = prepare(&s);
        code = ptoi_ranked_agree(&s, code);
        if (code == HOST_OK) code = run_and_report(&s);
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
    if (s.wire) ptoi_wire_close(s.wire, code, code == HOST_OK || s.has_stopped);
    return code;
}
