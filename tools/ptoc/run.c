/* run.c - ptoc run: builds into a temporary folder, runs the program there, and hands on its exit code; ptoc graph: the same with
 * an engine that runs nothing, and the graph as the result.
 *            A program that was built before from the same is started from the cache.
 * Invariant  the program has ptoc's standard streams and its working folder; what ends it by a signal is said.
 * Tests      test/lit/run/exit-codes.test
 */
#include "build.h"
#include "process.h"
#include "support/vec.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* named: the path that the program would have where it was built, for its name.  more: arguments after the user's, NULL-terminated,
 * or NULL. */
static int start(const struct options *o, const char *program, const char *named, const char *const *more)
{
    VEC(const char *) argv = {0};
    const char *slash = strrchr(named, '/');
    vec_push(&argv, slash ? slash + 1 : named);
    for (int i = 0; i < o->run_arg_count; i++) vec_push(&argv, o->run_args[i]);
    for (; more && *more; more++) vec_push(&argv, *more);
    vec_push(&argv, NULL);
    int code = process_run(program, argv.data, o->verbose);
    vec_free(&argv);
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

int run_main(const struct options *o)
{
    char *temp = temp_dir_create(), *program = temp ? program_path(temp, o->input) : NULL, *kept = NULL;
    int result = program ? build_binary(o, temp, program, &kept) : EXIT_INTERNAL;
    if (result == EXIT_OK) result = start(o, kept ? kept : program, program, NULL);
    if (temp) temp_dir_remove(temp, o->keep);
    free(program);
    free(kept);
    return result;
}

/* false: the message is printed. */
static bool copy_to(const char *from, const char *path)
{
    FILE *in = fopen(from, "r"), *out = path ? fopen(path, "w") : stdout;
    bool good = in && out;
    char block[65536];
    for (size_t n; good && (n = fread(block, 1, sizeof block, in)) > 0;) good = fwrite(block, 1, n, out) == n;
    good = good && !ferror(in);
    if (in) fclose(in);
    if (out && path) good = fclose(out) == 0 && good;
    if (!good) fprintf(stderr, "ptoc: error: cannot write '%s'\n", path ? path : "standard output");
    return good;
}

int graph_main(const struct options *o)
{
    const char *format = !o->graph_format ? "dot" : strcmp(o->graph_format, "text") == 0 ? "txt" : o->graph_format;
    const char *output = o->output && strcmp(o->output, "-") != 0 ? o->output : NULL;
    char *temp = temp_dir_create(), *program = temp ? program_path(temp, o->input) : NULL, *graph = NULL, *kept = NULL;
    int result = program && asprintf(&graph, "%s/graph.%s", temp, format) >= 0 ? build_binary(o, temp, program, &kept) : EXIT_INTERNAL;
    const char *const more[] = {"--engine", "graph", "--graph", graph, NULL};
    if (result == EXIT_OK) result = start(o, kept ? kept : program, program, more);
    if (result == EXIT_OK && !copy_to(graph, output)) result = EXIT_FILE;
    if (temp) temp_dir_remove(temp, o->keep);
    free(program);
    free(kept);
    free(graph);
    return result;
}
