/* toolchain.c - see toolchain.h.
 * Idea       a C file becomes an object in the folder for temporary files; where the reads are wanted, by way of its
 *            assembly, because an assembler reads files too.
 * Owner      the caller's; words are the arena's.
 * Invariant  the program is the same whether its reads are wanted or not.
 * Blocks     in the C compiler and the linker.
 * Tests      test/lit/run/build.test, c-errors.pto, e12-missing.test, cache-reads.test
 */
#include "toolchain.h"
#include "build.h"
#include "c_bodies.h"
#include "cache.h"
#include "command_lines.h"
#include "output.h"
#include "process.h"
#include "support/vec.h"
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* ---- the key of a build ---- */

/* The environment variables that GCC, Clang and GNU ld read. */
static bool is_heard(const char *variable)
{
    static const char *const heard[] = {"PATH=*",
                                        "CPATH=*",
                                        "C_INCLUDE_PATH=*",
                                        "LIBRARY_PATH=*",
                                        "COMPILER_PATH=*",
                                        "GCC_*",
                                        "LD_*",
                                        "SOURCE_DATE_EPOCH=*",
                                        "CCC_*",
                                        "COLLECT_*",
                                        "CLANG_*",
                                        "LANG=*",
                                        "LC_ALL=*",
                                        "LC_CTYPE=*",
                                        "GNUTARGET=*",
                                        "LDEMULATION=*",
                                        "DEPENDENCIES_OUTPUT=*",
                                        "SUNPRO_DEPENDENCIES=*",
                                        "DEBUGINFOD_*"};
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        if (fnmatch(heard[i], variable, 0) == 0) return true;
    return false;
}

/* What such a variable says is found out by asking the compiler, or does not change an object. */
static bool is_heard_by_kernels(const char *variable)
{
    static const char *const others[] = {"PATH=*", "COMPILER_PATH=*", "LIBRARY_PATH=*", "LANG=*",
                                         "LC_*=*", "GCC_COLORS=*",    "LDEMULATION=*",  "DEBUGINFOD_*"};
    bool good = is_heard(variable);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) good &= fnmatch(others[i], variable, 0) != 0;
    return good;
}

bool toolchain_describe_kernel(const struct toolchain *t, struct strbuf *key)
{
    words cc = {0}, flags = {0};
    const char *const headers = arena_printf(t->mem, "-I%s/include", t->prefix);
    bool good = true;
    command_add_compiler(&cc, t);
    command_add_kernel(&flags, t);
    for (size_t i = 0; i < flags.count; i++)
        if (strcmp(flags.data[i], headers) == 0) flags.data[i] = "-I<installed>";
    const char *const slash = strrchr(cc.data[0], '/'), *const name = slash ? slash + 1 : cc.data[0];
    if (strcmp(name, "gcc") == 0 || strcmp(name, "cc") == 0) cc.data[0] = "cc"; /* which that is, its content says */
    cache_key_words(key, "word", cc.data, cc.count);
    cache_key_words(key, "flag", flags.data, flags.count);
    for (char **variable = environ; *variable; variable++) good &= !is_heard_by_kernels(*variable);
    vec_free(&cc);
    vec_free(&flags);
    return good;
}

void toolchain_describe_compiler(const struct toolchain *t, struct strbuf *key)
{
    words cc = {0}, flags = {0};
    char *folder = getcwd(NULL, 0);
    command_add_compiler(&cc, t);
    command_add_kernel(&flags, t); /* and those of a program */
    cache_key_words(key, "word", cc.data, cc.count);
    cache_key_words(key, "flag", flags.data, flags.count);
    for (char **variable = environ; *variable; variable++)
        if (is_heard(*variable)) cache_key_text(key, "environment", *variable, strlen(*variable));
    cache_key_text(key, "folder", folder ? folder : "", folder ? strlen(folder) : 0);
    free(folder);
    vec_free(&cc);
    vec_free(&flags);
}

void toolchain_describe(const struct toolchain *t, struct strbuf *key)
{
    words flags = {0}, libraries = {0};
    toolchain_describe_compiler(t, key);
    command_add_program(&flags, t);
    cache_key_words(key, "flag of the program", flags.data, flags.count);
    vec_free(&flags);
    command_add_libraries(&libraries, t, command_links_quickly(t));
    cache_key_words(key, "library", libraries.data, libraries.count);
    cache_key_words(key, "input", t->o->link_inputs, (size_t)t->o->link_input_count);
    vec_free(&libraries);
}

/* Words that change what the compiler makes and name no file that it would read unseen. */
static bool is_plain_option(const char *word)
{
    static const char *const plain[] = {"-D*",      "-U*",   "-I*", "-m*",       "-g*",   "-O*", "-std=*",
                                        "-pthread", "-pipe", "-w",  "-W[!alp]*", "-Wall", "-f*"};
    if (strncmp(word, "-f", 2) == 0 &&
        (strpbrk(word, "/.") || strstr(word, "plugin") || strstr(word, "profile") || strstr(word, "use-ld")))
        return false;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (fnmatch(plain[i], word, 0) == 0) return true;
    return false;
}

/* A wrapper may read anything and say nothing. */
static bool is_known_compiler(const char *name)
{
    static const char *const known[] = {"gcc", "clang", "*-gcc", "gcc-[0-9]*", "*-gcc-[0-9]*", "clang-[0-9]*"};
    char *path = program_find(name, NULL, NULL), *real = path ? realpath(path, NULL) : NULL;
    const char *slash = real ? strrchr(real, '/') : NULL;
    bool good = false;
    for (size_t i = 0; slash && i < sizeof known / sizeof *known; i++) good |= fnmatch(known[i], slash + 1, 0) == 0;
    good = good && program_is_elf(real);
    free(real);
    free(path);
    return good;
}

const char *toolchain_compiler_is_opaque(const struct toolchain *t)
{
    words cc = {0};
    const char *reason = NULL;
    command_add_compiler(&cc, t);
    if (!is_known_compiler(cc.data[0]))
        reason = arena_printf(t->mem, "'%s' is neither GCC nor Clang, which report what they read", cc.data[0]);
    for (size_t i = 1; i < cc.count && !reason; i++)
        if (!is_plain_option(cc.data[i]))
            reason = arena_printf(t->mem, "'%s' may make the compiler read a file", cc.data[i]);
    vec_free(&cc);
    return reason;
}

const char *toolchain_is_opaque(const struct toolchain *t)
{
    const char *reason = toolchain_compiler_is_opaque(t);
    for (int i = 0; i < t->o->link_input_count && !reason; i++)
        if (t->o->link_inputs[i][0] == '-')
            reason = arena_printf(t->mem, "'%s' is for the linker", t->o->link_inputs[i]);
    return reason;
}

/* ---- compiling ---- */

static void read_log(const char *log, struct strbuf *said)
{
    FILE *in = fopen(log, "r");
    char block[4096];
    for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;) strbuf_add(said, block, n);
    if (in) fclose(in);
}

/* "PATH:LINE:COLUMN: error: TEXT": a mistake in a file. */
static bool names_mistake(const char *said)
{
    static const char *const kinds[] = {": error: ", ": fatal error: "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (const char *at = said; (at = strstr(at, kinds[i])) != NULL; at++) {
            const char *number = at;
            while (number > said && number[-1] >= '0' && number[-1] <= '9') number--;
            if (number < at && number > said && number[-1] == ':') return true;
        }
    return false;
}

static bool is_signal(int code) { return code > 128 && code <= 128 + SIGRTMAX; }

/* Has the compiler or the linker failed itself, for want of memory or of one of its parts?  They end with the same code
 * as for a program that they refuse, so their words decide: those of GCC, Clang, GNU ld and the dynamic linker. */
static bool has_failed_itself(int code, const char *said)
{
    static const char *const words[] = {
        "internal compiler error",   "memory exhausted",        "out of memory",
        "Cannot allocate memory",    "std::bad_alloc",          "cannot execute",
        "unable to execute",         "frontend command failed", "LLVM ERROR",
        "terminated program",        "terminated with signal",  "error while loading shared libraries",
        "fatal error: cannot find '"};
    if (names_mistake(said)) return false;
    if (is_signal(code)) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(said, words[i])) return true;
    return false;
}

int toolchain_refused(int code, const char *said, const char *what)
{
    const bool is_silent = *said == '\0';
    fputs(said, stderr);
    if (strstr(said, strerror(ENOSPC)) || strstr(said, strerror(EDQUOT)) || (is_silent && temp_dir_is_full())) {
        fputs("ptoc: error: the C compiler could not write a file: its disk is full\n", stderr);
        return EXIT_FILE;
    }
    if (code == 128 + SIGXFSZ || strstr(said, strsignal(SIGXFSZ))) {
        fputs("ptoc: error: the C compiler could not write a file: files may not be so large (ulimit -f)\n", stderr);
        return EXIT_FILE;
    }
    if (is_silent && is_signal(code))
        fprintf(stderr, "ptoc: error: the C compiler was ended by signal %d (%s)\n", code - 128, strsignal(code - 128));
    else if (is_silent)
        fprintf(stderr, "ptoc: error: the C compiler ended with exit code %d and no message\n", code);
    if (has_failed_itself(code, said)) {
        fputs("ptoc: error: the C compiler failed itself, so the program may be right\n", stderr);
        return EXIT_INTERNAL;
    }
    fprintf(stderr, "ptoc: error: %s\n", what);
    return EXIT_ERRORS;
}

/* Prints what the compiler said, and returns an exit code.  code: its own; log: where it said it.  of: what was
 * compiled, for a message; NULL: the program, whose bodies of kernels have messages of their own. */
static int report_compiler(const struct toolchain *t, int code, const char *log, const char *of)
{
    if (process_interrupted()) return 128 + process_interrupted();
    STRBUF(said);
    if (code >= 0) read_log(log, &said);
    if (code > 0 && !of && c_bodies_refused(t->o, strbuf_text(&said))) return EXIT_ERRORS;
    if (code > 0)
        return toolchain_refused(code, strbuf_text(&said),
                                 arena_printf(t->mem, "the C compiler does not accept %s", of ? of : "the program"));
    fputs(strbuf_text(&said), stderr);
    return code == 0 ? EXIT_OK : EXIT_ERRORS;
}

/* A list of what is read. */
static void add_rule(words *argv, const char *rule)
{
    vec_push(argv, "-MD");
    vec_push(argv, "-MF");
    vec_push(argv, rule);
}

static void add_source(const struct toolchain *t, words *argv, enum compilation_origin origin, const char *source)
{
    command_add_compiler(argv, t);
    if (origin == COMPILES_PROGRAM)
        command_add_program(argv, t);
    else if (origin == COMPILES_KERNEL)
        command_add_kernel(argv, t);
    else
        command_add_common(argv, t);
    if (t->is_ahead) { /* the one that is given last is tried first */
        vec_push(argv, arena_printf(t->mem, "-ffile-prefix-map=%s/=/usr/", t->prefix));
        vec_push(argv, arena_printf(t->mem, "-ffile-prefix-map=%s=/usr/share/pto", t->temp_dir));
    }
    if (origin != COMPILES_INPUT) vec_push(argv, arena_printf(t->mem, "-ffile-prefix-map=%s/=", t->temp_dir));
    vec_push(argv, source[0] == '-' ? arena_printf(t->mem, "./%s", source) : source);
}

static void add_output(words *argv, const char *step, const char *output)
{
    vec_push(argv, step);
    vec_push(argv, "-o");
    vec_push(argv, output);
}

static const char *file_of(const struct compilation *c, const char *kind)
{
    return arena_printf(c->t->mem, "%s.%s", c->object, kind);
}

/* Where the reads are wanted by way of the assembly, with a list of what was read. */
static int start_compiler(const struct compilation *c)
{
    words argv = {0};
    add_source(c->t, &argv, c->origin, c->source);
    if (c->t->reads) add_rule(&argv, file_of(c, "d"));
    add_output(&argv, c->t->reads ? "-S" : "-c", c->t->reads ? file_of(c, "s") : c->object);
    vec_push(&argv, NULL);
    const int child = process_start(file_of(c, "log"), argv.data, c->t->o->verbose);
    vec_free(&argv);
    return child;
}

/* When the compiler has ended. */
static int assemble(const struct compilation *c)
{
    const struct toolchain *t = c->t;
    words argv = {0};
    if (!t->reads) return EXIT_OK;
    reads_add_sources(t->reads, file_of(c, "d"));
    reads_add_assembly(t->reads, file_of(c, "s"));
    command_add_compiler(&argv, t);
    vec_push(&argv, file_of(c, "s"));
    add_output(&argv, "-c", c->object);
    vec_push(&argv, NULL);
    const int code = process_run_logged(file_of(c, "log"), argv.data, t->o->verbose);
    vec_free(&argv);
    return report_compiler(t, code, file_of(c, "log"), c->what);
}

/* The first that is refused speaks for all: the others are waited for, and say nothing. */
int toolchain_compile(const compilations *work)
{
    enum { MOST = PROCESS_CHILDREN / 2 };
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t room = processors < 1 ? 1 : processors > MOST ? MOST : (size_t)processors;
    int child[MOST], result = EXIT_OK;
    for (size_t ended = 0, started = 0; ended < work->count; ended++) {
        for (; started < work->count && started < ended + room && result == EXIT_OK; started++)
            child[started % room] = start_compiler(&work->data[started]);
        if (ended == started) break; /* one was refused */
        const struct compilation *c = &work->data[ended];
        const int code = process_wait(child[ended % room]);
        if (result == EXIT_OK) result = report_compiler(c->t, code, file_of(c, "log"), c->what);
        if (result == EXIT_OK) result = assemble(c);
    }
    return result;
}

static int add_text(const struct toolchain *t, enum compilation_origin origin, const char *name,
                    const struct strbuf *text, const char *object, const char *what, compilations *work)
{
    const char *source = arena_printf(t->mem, "%s/%s.c", t->temp_dir, name);
    vec_push(work, ((struct compilation){t, origin, source, object, what}));
    return output_text(source, text);
}

int toolchain_add_kernel(const struct toolchain *t, const char *name, const struct strbuf *text, const char *object,
                         compilations *work)
{
    return add_text(t, COMPILES_KERNEL, name, text, object, arena_printf(t->mem, "the kernel '%s'", name), work);
}

static const char *input_object(const struct toolchain *t, int i)
{
    return arena_printf(t->mem, "%s/input-%d.o", t->temp_dir, i);
}

/* A C file of the command line, and no option. */
static bool is_c(const char *input)
{
    const char *dot = strrchr(input, '.');
    return input[0] != '-' && dot && strcmp(dot, ".c") == 0;
}

int toolchain_add_program(const struct toolchain *t, const char *stem, const struct strbuf *text, compilations *work)
{
    const char *object = arena_printf(t->mem, "%s/%s.o", t->temp_dir, stem);
    if (t->reads) reads_add_text(t->reads, strbuf_text(text), text->length);
    const int result = add_text(t, COMPILES_PROGRAM, stem, text, object, NULL, work);
    for (int i = 0; i < t->o->link_input_count; i++) {
        const char *input = t->o->link_inputs[i];
        if (!is_c(input)) continue;
        vec_push(work, ((struct compilation){t, COMPILES_INPUT, input, input_object(t, i),
                                             arena_printf(t->mem, "'%s'", input)}));
    }
    return result;
}

/* ---- linking ---- */

static void add_link(words *argv, const struct toolchain *t, bool is_quick, const words *objects, const char *output)
{
    command_add_compiler(argv, t);
    command_add_common(argv, t);
    if (is_quick) command_add_quick_link(argv);
    for (size_t i = 0; i < objects->count; i++) vec_push(argv, objects->data[i]);
    command_add_libraries(argv, t, is_quick);
    vec_push(argv, "-o");
    vec_push(argv, output[0] == '-' ? arena_printf(t->mem, "./%s", output) : output);
}

/* The linker misses the library of C++, as an object of the command line needs it. */
static bool misses_cpp(const char *said)
{
    return strstr(said, "undefined") && (strstr(said, "__gxx_personality") || strstr(said, "std::"));
}

/* Links, and says what is wrong in the words of the program where a kernel is. */
static int run_linker(const struct toolchain *t, words *argv)
{
    const char *log = arena_printf(t->mem, "%s/link.log", t->temp_dir);
    vec_push(argv, NULL);
    int code = process_run_logged(log, argv->data, t->o->verbose);
    if (process_interrupted()) return 128 + process_interrupted();
    if (code < 0) return EXIT_ERRORS;
    STRBUF(said);
    read_log(log, &said);
    const bool is_explained = missing_report(t->o, strbuf_text(&said));
    if (code > 0 && !is_explained)
        return toolchain_refused(code, strbuf_text(&said),
                                 misses_cpp(strbuf_text(&said))
                                     ? "the program could not be linked: an object is of C++, so give its library, "
                                       "too: \"$(c++ -print-file-name=libstdc++.so)\""
                                     : "the program could not be linked");
    if (!is_explained) fputs(strbuf_text(&said), stderr);
    return code == 0 ? EXIT_OK : EXIT_ERRORS;
}

/* Links, and reports no refusal.  Where the reads are wanted, the linker lists the files that it has read.
 * False: it knows no such option, or it does not accept the program. */
static bool try_link(const struct toolchain *t, bool is_quick, const words *objects, const char *output)
{
    const char *rule = arena_printf(t->mem, "%s/link.d", t->temp_dir),
               *log = arena_printf(t->mem, "%s/link.log", t->temp_dir);
    words argv = {0};
    add_link(&argv, t, is_quick, objects, output);
    if (t->reads) {
        vec_push(&argv, "-Xlinker");
        vec_push(&argv, arena_printf(t->mem, "--dependency-file=%s", rule));
    }
    vec_push(&argv, NULL);
    const bool good = process_run_logged(log, argv.data, t->o->verbose) == 0;
    vec_free(&argv);
    if (t->reads && good)
        reads_add_libraries(t->reads, rule);
    else if (t->reads)
        reads_are_unsure(t->reads, "the linker does not report which files it has read");
    return good;
}

static int link_program(const struct toolchain *t, const words *objects, const char *output)
{
    const bool is_quick = command_links_quickly(t);
    words argv = {0};
    if ((t->reads || is_quick) && try_link(t, is_quick, objects, output)) {
        STRBUF(warnings);
        read_log(arena_printf(t->mem, "%s/link.log", t->temp_dir), &warnings);
        fputs(strbuf_text(&warnings), stderr);
        return EXIT_OK;
    }
    if (process_interrupted()) return 128 + process_interrupted();
    add_link(&argv, t, false, objects, output);
    int result = run_linker(t, &argv);
    vec_free(&argv);
    return result;
}

/* ---- what the tools are, and where they look ---- */

/* A file with the answer.  The kernels of a build and its program ask the same, so the second finds the answer. */
static const char *ask(const struct toolchain *t, words *argv, const char *question)
{
    const char *log = arena_printf(t->mem, "%s/ask-%s", t->temp_dir, question);
    vec_push(argv, NULL);
    if (access(log, F_OK) != 0 && process_ask(log, argv->data) != 0) {
        unlink(log);
        reads_are_unsure(t->reads, "the C compiler does not answer");
    }
    vec_free(argv);
    return log;
}

static void note_program(const struct toolchain *t, const char *name)
{
    words argv = {0};
    char line[4096];
    command_add_compiler(&argv, t);
    vec_push(&argv, arena_printf(t->mem, "-print-prog-name=%s", name));
    FILE *in = fopen(ask(t, &argv, name), "r");
    if (in && fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = '\0';
        reads_add_program(t->reads, line);
    }
    if (in) fclose(in);
}

void toolchain_note_compiler(const struct toolchain *t)
{
    words headers = {0}, cc = {0};
    command_add_compiler(&cc, t);
    reads_add_program(t->reads, cc.data[0]);
    vec_free(&cc);
    note_program(t, "cc1");
    note_program(t, "as");
    command_add_compiler(&headers, t);
    command_add_strict(&headers, t);
    vec_push(&headers, "-v");
    vec_push(&headers, "-xc");
    vec_push(&headers, "/dev/null");
    add_output(&headers, "-E", "/dev/null");
    reads_add_include_dirs(t->reads, ask(t, &headers, "headers"));
}

/* Its log also answers the question of toolchain_note_compiler. */
bool toolchain_note_headers(const struct toolchain *t, const struct strbuf *text)
{
    const char *source = arena_printf(t->mem, "%s/headers.c", t->temp_dir),
               *rule = arena_printf(t->mem, "%s/headers.d", t->temp_dir),
               *log = arena_printf(t->mem, "%s/ask-headers", t->temp_dir);
    words argv = {0};
    command_add_compiler(&argv, t);
    command_add_kernel(&argv, t);
    vec_push(&argv, "-v");
    vec_push(&argv, "-M");
    vec_push(&argv, "-MF");
    vec_push(&argv, rule);
    vec_push(&argv, source);
    vec_push(&argv, NULL);
    const bool good = output_text(source, text) == EXIT_OK && process_ask(log, argv.data) == 0;
    vec_free(&argv);
    if (good)
        reads_add_sources(t->reads, rule);
    else
        unlink(log);
    return good;
}

static void note_linker(const struct toolchain *t, const words *objects, const char *output)
{
    const bool is_quick = command_links_quickly(t);
    words libraries = {0};
    note_program(t, "collect2");
    note_program(t, is_quick ? "ld.gold" : "ld");
    add_link(&libraries, t, is_quick, objects, output);
    vec_push(&libraries, "-###");
    reads_add_library_dirs(t->reads, ask(t, &libraries, "libraries"));
}

/* ---- a check ---- */

int toolchain_check(const struct toolchain *t, const struct strbuf *text, struct strbuf *said, int *code)
{
    const char *source = arena_printf(t->mem, "%s/program.c", t->temp_dir),
               *log = arena_printf(t->mem, "%s/log", t->temp_dir),
               *rule = arena_printf(t->mem, "%s/program.d", t->temp_dir);
    words argv = {0};
    add_source(t, &argv, COMPILES_PROGRAM, source);
    vec_push(&argv, "-fsyntax-only");
    if (t->reads) add_rule(&argv, rule);
    vec_push(&argv, NULL);
    const int written = output_text(source, text);
    *code = written == EXIT_OK ? process_run_logged(log, argv.data, t->o->verbose) : -1;
    vec_free(&argv);
    if (written != EXIT_OK) return written;
    if (process_interrupted()) return 128 + process_interrupted();
    if (*code < 0) return EXIT_ERRORS;
    read_log(log, said);
    if (t->reads && *code == 0 && said->length == 0) {
        reads_add_text(t->reads, strbuf_text(text), text->length);
        reads_add_sources(t->reads, rule);
        toolchain_note_compiler(t);
    }
    return EXIT_OK;
}

/* ---- all of it ---- */

int toolchain_link(const struct toolchain *t, const char *stem, const char *const *kernels, size_t kernel_count,
                   const char *output)
{
    words objects = {0};
    vec_push(&objects, arena_printf(t->mem, "%s/%s.o", t->temp_dir, stem));
    for (size_t i = 0; i < kernel_count; i++) vec_push(&objects, kernels[i]);
    for (int i = 0; i < t->o->link_input_count; i++) {
        const char *input = t->o->link_inputs[i];
        vec_push(&objects, is_c(input) ? input_object(t, i) : input);
    }
    const int result = link_program(t, &objects, output);
    if (result == EXIT_OK && t->reads) {
        toolchain_note_compiler(t);
        note_linker(t, &objects, output);
    }
    vec_free(&objects);
    return result;
}
