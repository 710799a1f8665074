/* options.h - the options on the command line.
 *
 * options_parse() fills the struct or reports a mistake of the command line; nothing here opens a file.  Everything
 * points into argv or into memory that options_free() returns.  main.c hands the struct to the verb:
 *     int build_main(const struct options *);   build.h
 *     int run_main(const struct options *);     build.h   (VERB_RUN and VERB_GRAPH) */
#ifndef PTOC_OPTIONS_H
#define PTOC_OPTIONS_H
#include "syntax/diag.h"
#include "memory_plan.h"
#include "sema/sema.h"

/* The exit codes of every program of the project. */
enum exit_code { EXIT_OK = 0, EXIT_ERRORS = 1, EXIT_USAGE = 2, EXIT_INTERNAL = 3, EXIT_FILE = 4 };

/* Text for people; an object a line; a SARIF file of all messages. */
enum diag_form { DIAG_TEXT, DIAG_JSON, DIAG_SARIF };

enum verb {
#define VERB(id, ...) VERB_##id,
#include "verbs.def"
#undef VERB
    VERBS
};

enum emit_kind {
#define EMIT(id, name, function) EMIT_##id,
#include "emits.def"
#undef EMIT
    EMIT_COUNT
};

struct options {
    enum verb verb;
    const char *program;   /* argv[0] as called; to find std/ and the run-time library beside the binary */
    const char *input;     /* the .pto file ("-": standard input); NULL where the verb takes none */
    const char *topic;     /* EXPLAIN: "E08"; HELP: the verb; NEW: the folder; COMPLETION: the shell; or NULL */
    const char **operands; /* TEST: files and folders; WATCH: the words of the command; NULL after the last */
    int operand_count;
    const char **programs; /* CHECK, FMT, WATCH: each .pto file, of which `input` is the first */
    int program_count;
    bool man;                 /* --man of HELP */
    const char **link_inputs; /* k.c k.o libk.a as written, in order */
    int link_input_count;
    const char *output;     /* -o, or NULL; "-" is standard output */
    enum emit_kind emit;    /* EMIT_BIN where none was asked for */
    struct define *defines; /* -D name=value; plain -D name is name=true */
    int define_count;
    const char **import_dirs; /* -I */
    int import_dir_count;
    unsigned dumps;            /* --dump: DUMP_SCOPES ... */
    char *dump_pass;           /* --dump=ir:PASS; or NULL */
    struct memory_plan memory; /* --plan=ring|free|min|budget=BYTES, apart */
    const char *cc;            /* --cc=..., or NULL: the C compiler to use for a binary */
    int optimize;              /* -O0 .. -O3; -1 where none was given */
    bool debug;                /* -g */
    bool no_fma;               /* --no-fma: products and sums are rounded apart */
    const char *cpu;           /* --cpu of `build`: base, v3 or v4; NULL: every level */
    bool no_line;              /* --no-line: no #line in --emit=c */
    bool no_main;              /* --no-main: C for a host program of its own */
    const char *prefix;        /* --prefix: of every name that a host program sees, or NULL */
    const char *depfile;       /* --depfile: where to list the files that were read, or NULL */
    bool checked;              /* --checked of `build`: every run of the program is checked */
    bool check_grad;           /* --check-grad of `run`: a gradient is compared with differences */
    bool no_bodies;            /* --no-bodies of `check`: C bodies are not compiled */
    bool keep;                 /* --keep: do not remove the generated C */
    bool no_cache;             /* --no-cache of `run`: no program that was built before, and none kept */
    bool verbose;              /* -v: print the commands that are run */
    int64_t heap_bytes;        /* --heap (also in run_args for `run`); 0 where none was given */
    const char *heap_text;     /* as written, or NULL */
    int rings;                 /* --rings (also in run_args for `run`); 4 where none was given */

    const char *log;          /* --log of `lsp`, or NULL */
    enum diag_form diag_form; /* --diag=json|sarif */
    enum diag_color color;
    bool warnings_are_errors;     /* -Werror */
    bool warning_off[DIAG_COUNT]; /* -w, -Wno-W03 */
    bool no_warnings;             /* -w: none of the C compiler on C bodies either */

    const char *graph_format; /* --format=dot|json|text of `graph`, or NULL */
    bool fmt_check, fmt_diff;

    /* RUN, GRAPH: the run options, verbatim and in order ("--set", "n=4096", "--engine=serial"), then whatever stood
     * after `--`.  To be given to the built program behind its name; run_args[run_arg_count] is NULL. */
    const char **run_args;
    int run_arg_count;
};

/* Returns EXIT_OK, or EXIT_USAGE after saying on standard error what is wrong.  To be freed in both cases. */
int options_parse(struct options *o, int argc, char **argv);
bool options_ends_with(const char *text, const char *suffix); /* and has something before it */
/* The last value of an option of the built program; NULL: none. */
const char *options_run_value(const struct options *o, const char *option);
void options_free(struct options *o);

int lsp_main(const struct options *o);        /* VERB_LSP, in lsp.c */
int help_main(const struct options *o);       /* VERB_HELP, in help.c */
int completion_main(const struct options *o); /* VERB_COMPLETION, in completion.c */
int complete_main(const struct options *o);   /* VERB_COMPLETE, there too */

/* The data of one run of the compiler: opened here, so that every verb shows messages the same way. */
struct front_session {
    struct front front;
    struct sarif *sarif;      /* --diag=sarif; else NULL */
    struct sema_options sema; /* the search path ends with the folder of std/ */
    const char **import_dirs;
    char *share;
};

/* Returns EXIT_OK; or EXIT_FILE after saying why the program can not be read, and then there is nothing to close. */
int session_open(struct front_session *s, const struct options *o);
/* Flushes the messages and frees everything.  EXIT_ERRORS if there was an error, else EXIT_OK. */
int session_close(struct front_session *s);

/* The folder above bin/ that the running compiler was started from, without a slash at its end: it has share/pto,
 * include and lib.  To be freed; NULL if it can not be found out. */
char *prefix_find(const char *program);
int prefix_missing(void); /* says so; returns the exit code */

#endif
