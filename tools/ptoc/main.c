/* main.c - ptoc: reads the command line and hands it to the verb.
 * Idea       a verb is a function from options to an exit code.
 * Owner      nothing.
 * Invariant  exit codes are those of options.h, whatever happens.
 * Blocks     in what the verbs do.
 * Tests      test/lit/diag/usage.test
 */
#include "build.h"
#include "c_bodies.h"
#include "codegen.h"
#include "explain.h"
#include "options.h"
#include "output.h"
#include "report/ending.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int check_main(const struct options *o)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    s.sema.only_checks = o->heap_bytes == 0;
    s.sema.grad_segments = plans_segments(o);
    const struct checked *checked = codegen_check(&s.front, o->input, &s.sema);
    plans_check_heap(o, &s.front, checked);
    if (diag_error_count(s.front.diag) == 0 && !o->no_bodies) result = c_bodies_check(&s.front, checked, o);
    const int closed = session_close(&s);
    return result != EXIT_OK ? result : closed;
}

/* --emit=tokens and --emit=ast: the file as it was read, with errors or without. */
static int read_main(const struct options *o)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    struct output to;
    const bool is_input = output_is_input(o->output, o->input);
    if (is_input || !output_open(&to, o->output)) {
        session_close(&s);
        return is_input ? EXIT_USAGE : EXIT_FILE;
    }
    if (o->emit == EMIT_TOKENS)
        tokens_dump(&s.front, 0, to.out);
    else
        ast_dump(&s.front, parse_file(&s.front, 0), to.out);
    const int written = output_close(&to, true);
    result = session_close(&s);
    return written == EXIT_OK ? result : written;
}

static int compile_main(const struct options *o)
{
    if (build_reads_only(o)) return read_main(o);
    return o->verb == VERB_RUN ? run_main(o) : build_main(o);
}

/* Each program by itself; the exit code is the greatest. */
static int each_main(const struct options *o, int (*verb)(const struct options *))
{
    int worst = EXIT_OK;
    for (int i = 0; i < o->program_count; i++) {
        struct options one = *o;
        one.input = o->programs[i];
        const int result = verb(&one);
        if (result > worst) worst = result;
    }
    return worst;
}

static int verb_main(const struct options *o)
{
    switch (o->verb) {
    case VERB_HELP: return help_main(o);
    case VERB_TEST: return test_main(o);
    case VERB_NEW: return new_main(o);
    case VERB_DOC: return doc_main(o);
    case VERB_WATCH: return watch_main(o);
    case VERB_COMPLETION: return completion_main(o);
    case VERB_COMPLETE: return complete_main(o);
    case VERB_VERSION: puts(PTOC_VERSION); return EXIT_OK;
    case VERB_CHECK: return each_main(o, check_main);
    case VERB_BUILD:
    case VERB_RUN: return compile_main(o);
    case VERB_GRAPH: return graph_main(o);
    case VERB_FMT: return each_main(o, fmt_main);
    case VERB_LSP: return lsp_main(o);
    case VERB_EXPLAIN: return explain_main(o);
    case VERBS: break;
    }
    return EXIT_INTERNAL;
}

int main(int argc, char **argv)
{
    struct options o;
    ptoi_ending_begin();
    int result = options_parse(&o, argc, argv);
    if (result == EXIT_OK) result = verb_main(&o);
    options_free(&o);
    // Text that could not be written is no result: a full disk, a closed pipe.
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == EXIT_OK) {
        fprintf(stderr, "ptoc: error: cannot write standard output: %s\n", strerror(errno ? errno : EIO));
        result = EXIT_FILE;
    }
    return result;
}
