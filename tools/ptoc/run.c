/* run.c - ptoc run: builds into a temporary folder, runs the program there, and hands on its exit code; ptoc graph: the
 * same with an engine that runs nothing, and the graph as the result.
 *            A program that was built before from the same is started from the cache.
 * Invariant  the program has ptoc's standard streams and its working folder; a signal that ends it is reported.
 * Tests      test/lit/run/exit-codes.test, ranks.test
 */
#include "build.h"
#include "option_values.h"
#include "output.h"
#include "process.h"
#include "support/vec.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does the program make a plan of its ranks, alone? */
static bool plans_ranks(const struct options *o)
{
    const char *engine = options_run_value(o, "--engine");
    return engine && (strcmp(engine, "timing") == 0 || strcmp(engine, "graph") == 0);
}

/* false: a launcher has started ptoc several times, and each would build. */
static bool is_started_once(const struct options *o)
{
    const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, *ranks = options_run_value(o, "--ranks");
    bool is_launched = false;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) is_launched |= getenv(counts[i]) != NULL;
    if (!is_launched) return true;
    fprintf(stderr,
            "ptoc: error: 'ptoc run' under a launcher would build the program several times: build it with 'ptoc build "
            "%s -o PROGRAM', then start it with 'mpirun -np %s PROGRAM'\n",
            o->input, ranks ? ranks : "N");
    return false;
}

/* How many processes a launcher is to start, from a number as the program reads it; 1: none.  false: an error. */
static bool count_launched(const struct options *o, int64_t *ranks)
{
    const char *text = options_run_value(o, "--ranks");
    *ranks = 1;
    if (!text || plans_ranks(o) || (option_size(text, ranks) && *ranks <= INT32_MAX)) return true;
    usage_error("--ranks takes a number from 1 to %" PRId32 ", not '%s'", INT32_MAX, text);
    return false;
}

/* Is the option one of those with a value in the list, which may be NULL? */
static bool is_among(const char *option, const char *const *list)
{
    const size_t length = strcspn(option, "=");
    for (; list && *list; list += 2)
        if (strlen(*list) == length && memcmp(*list, option, length) == 0) return true;
    return false;
}

/* program: the path that it was built at, for its name too.  kept: a descriptor of a program that is executed instead,
 * or -1; closed here.  ranks: that a launcher starts; 1: none.  more: arguments after the user's, NULL-terminated, of
 * ptoc graph; or NULL. */
static int start(const struct options *o, const char *program, int kept, int64_t ranks, const char *const *more)
{
    static const char *const chosen[] = {"--entry", "check_grad", NULL}; /* of --check-grad */
    VEC(const char *) argv = {0};
    char by_descriptor[64], count[32];
    const char *slash = strrchr(program, '/');
    const bool is_launched = ranks > 1;
    snprintf(count, sizeof count, "%" PRId64, ranks);
    snprintf(by_descriptor, sizeof by_descriptor, "/proc/%ld/fd/%d", (long)getpid(), kept);
    const char *path = kept >= 0 ? by_descriptor : program;
    if (is_launched) {
        const char *const launcher[] = {"mpirun", "-np", count, path};
        for (size_t i = 0; i < sizeof launcher / sizeof *launcher; i++) vec_push(&argv, launcher[i]);
        setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0); /* more ranks than processors are welcome */
    } else {
        vec_push(&argv, slash ? slash + 1 : program);
    }
    for (int i = 0; i < o->run_arg_count; i++) {
        const char *arg = o->run_args[i];
        if (!is_among(arg, more) &&
            !(o->check_grad &&
              is_among(arg, chosen))) /* `ptoc graph` takes the options of a run and chooses some itself */
            vec_push(&argv, arg);
        else if (!strchr(arg, '='))
            i++;
    }
    for (; more && *more; more++) vec_push(&argv, *more);
    for (int i = 0; o->check_grad && chosen[i]; i++) vec_push(&argv, chosen[i]);
    vec_push(&argv, NULL);
    int code = process_run(is_launched ? NULL : path, argv.data, o->verbose);
    vec_free(&argv);
    if (kept >= 0) close(kept);
    if (is_launched && code < 0)
        fputs("ptoc: --ranks needs an MPI, whose 'mpirun' starts the ranks: install openmpi-bin or mpich\n", stderr);
    if (code > 128 && code - 128 != SIGINT && code - 128 != SIGTERM && code - 128 != SIGPIPE)
        fprintf(stderr, "ptoc: error: the program was ended by signal %d (%s)\n", code - 128, strsignal(code - 128));
    return code < 0 ? EXIT_ERRORS : code;
}

/* "examples/bgemm.pto" -> "bgemm": what the program calls itself */
static char *program_path(const char *dir, const char *input)
{
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input, *dot = strrchr(base, '.');
    char *path = NULL;
    bool plain = strcmp(input, "-") == 0 || !dot || dot == base;
    /* A name of its own: NAME.c and NAME.o stand beside it. */
    return asprintf(&path, "%s/%.*s", dir, plain ? 7 : (int)(dot - base), plain ? "program" : base) < 0 ? NULL : path;
}

/* Builds the program in the folder temp and starts it, with `more` arguments. */
static int build_and_start(const struct options *o, const char *temp, int64_t ranks, const char *const *more)
{
    char *program = program_path(temp, o->input);
    int kept = -1, result = program ? build_binary(o, temp, program, o->output, &kept) : process_out_of_memory();
    if (result == EXIT_OK) result = start(o, program, kept, ranks, more);
    free(program);
    return result;
}

static int run_in_folder(const struct options *o, int64_t ranks, const char *const *more)
{
    char *temp = temp_dir_create();
    if (!temp) return EXIT_INTERNAL;
    const int result = build_and_start(o, temp, ranks, more);
    temp_dir_remove(temp, o->keep);
    return result;
}

int run_main(const struct options *o)
{
    int64_t ranks;
    return is_started_once(o) && count_launched(o, &ranks) ? run_in_folder(o, ranks, NULL) : EXIT_USAGE;
}

static int copy_to(const char *from, const char *path)
{
    struct output to;
    FILE *in = fopen(from, "r");
    char block[65536];
    if (!in) {
        fprintf(stderr, "ptoc: error: cannot read '%s': %s\n", from, strerror(errno));
        return EXIT_FILE;
    }
    int result = output_open(&to, path) ? EXIT_OK : EXIT_FILE;
    if (result == EXIT_OK) {
        for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0 && fwrite(block, 1, n, to.out) == n;) {}
        const bool good = !ferror(in);
        if (!good) fprintf(stderr, "ptoc: error: cannot read '%s'\n", from);
        result = output_close(&to, good);
        if (!good) result = EXIT_FILE;
    }
    fclose(in);
    return result;
}

/* Time-independent traces: a folder, which the program writes. */
static int traces_main(const struct options *o)
{
    if (!o->output || strcmp(o->output, "-") == 0 || !options_run_value(o, "--ranks")) {
        fputs("ptoc: error: --format=ti writes what each rank does: it needs --ranks N and -o FOLDER\n", stderr);
        return EXIT_USAGE;
    }
    const char *const more[] = {"--engine", "graph", "--traces", o->output, NULL};
    return run_in_folder(o, 1, more);
}

int graph_main(const struct options *o)
{
    if (o->graph_format && strcmp(o->graph_format, "ti") == 0) return traces_main(o);
    const char *format = !o->graph_format ? "dot" : strcmp(o->graph_format, "text") == 0 ? "txt" : o->graph_format;
    char *temp = temp_dir_create(), *graph = NULL;
    if (!temp) return EXIT_INTERNAL;
    if (asprintf(&graph, "%s/graph.%s", temp, format) < 0) graph = NULL;
    const char *const more[] = {"--engine", "graph", "--graph", graph, NULL};
    int result = graph ? build_and_start(o, temp, 1, more) : process_out_of_memory();
    if (result == EXIT_OK) result = copy_to(graph, o->output);
    temp_dir_remove(temp, o->keep);
    free(graph);
    return result;
}
