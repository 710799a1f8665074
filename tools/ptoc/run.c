/* run.c - ptoc run: builds into a temporary folder, runs the program there, and hands on its exit code.
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

static int start(const struct options *o, const char *program)
{
    VEC(const char *) argv = {0};
    const char *slash = strrchr(program, '/');
    vec_push(&argv, slash ? slash + 1 : program);
    for (int i = 0; i < o->run_arg_count; i++) vec_push(&argv, o->run_args[i]);
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
    char *temp = temp_dir_create(), *program = temp ? program_path(temp, o->input) : NULL;
    int result = program ? build_binary(o, temp, program) : EXIT_INTERNAL;
    if (result == EXIT_OK) result = start(o, program);
    if (temp) temp_dir_remove(temp, o->keep);
    free(program);
    return result;
}
