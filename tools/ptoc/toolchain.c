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
#include "output.h"
#include "process.h"
#include "support/vec.h"
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;
typedef VEC(const char *) words;

/* ---- command lines ---- */

/* Adds the blank-separated words of a one-line file, if there is one. */
static void add_words_of_file(words *argv, struct arena *mem, const char *path)
{
    FILE *in = fopen(path, "r");
    char line[4096];
    if (!in) return;
    if (fgets(line, sizeof line, in)) {
        char *rest = NULL;
        for (char *w = strtok_r(line, " \t\r\n", &rest); w; w = strtok_r(NULL, " \t\r\n", &rest))
            vec_push(argv, arena_copy(mem, w, strlen(w)));
    }
    fclose(in);
}

/* $CC may be `ccache gcc`. */
static void add_compiler(words *argv, const struct toolchain *t)
{
    const char *cc = t->o->cc ? t->o->cc : getenv("CC");
    char *rest = NULL, *text = arena_copy(t->mem, cc ? cc : "", cc ? strlen(cc) : 0);
    if (cc && access(cc, X_OK) == 0) {
        vec_push(argv, cc);
        return;
    }
    for (char *w = strtok_r(text, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) vec_push(argv, w);
    if (argv->count == 0) vec_push(argv, "cc");
}

static bool is_shared(const struct toolchain *t) { return t->o->emit == EMIT_SO; }

bool toolchain_is_for_one_run(const struct toolchain *t) { return t->o->verb == VERB_RUN; }

/* Lines, for the report of a crash.  To follow the variables of optimized code takes the C compiler a third of its
 * time, so a debugger sees them only where -g or -O0 asks for it. */
static const char *debug_information(const struct toolchain *t)
{
    return t->o->debug || (t->o->optimize == 0 && !toolchain_is_for_one_run(t)) ? "-g" : "-g1";
}

static void add_common(words *argv, const struct toolchain *t)
{
    vec_push(argv, t->o->optimize < 0 ? "-O2" : arena_printf(t->mem, "-O%d", t->o->optimize));
    vec_push(argv, debug_information(t));
    if (is_shared(t)) {
        vec_push(argv, "-fPIC");
        vec_push(argv, "-fvisibility=hidden"); /* calls within the object are as those of a program */
    }
    vec_push(argv, arena_printf(t->mem, "-I%s/include", t->prefix));
    add_words_of_file(argv, t->mem, arena_printf(t->mem, "%s/share/pto/cflags", t->prefix));
}

const char *toolchain_level_of_machine(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2"))
        return "base";
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? "v4"
               : "v3";
#else
    return NULL;
#endif
}

/* The only level of kernels in index notation, or NULL.  A program that is built for this run needs no other level than
 * this machine's, unless --cpu asks for one. */
static const char *only_level(const struct toolchain *t)
{
    if (!toolchain_is_for_one_run(t)) return t->o->cpu;
    for (int i = 0; i < t->o->run_arg_count; i++)
        if (strncmp(t->o->run_args[i], "--cpu", strlen("--cpu")) == 0) return NULL;
    return toolchain_level_of_machine();
}

/* For the C that ptoc wrote. */
static void add_strict(words *argv, const struct toolchain *t)
{
    vec_push(argv, "-std=c11");
    vec_push(argv, "-Wall");
    vec_push(argv, "-Wextra");
    vec_push(argv, "-Werror=implicit-function-declaration"); /* no C since 1999: a result would be taken for an int */
    vec_push(argv, "-Werror=return-type"); /* a task without a status would succeed or fail by chance */
    if (t->o->warnings_are_errors) vec_push(argv, "-Werror");
    const char *const level = only_level(t);
    if (level) {
        char *const define = arena_printf(t->mem, "-DPTO_ONLY_LEVEL=%s", level); /* in capitals */
        for (char *c = strchr(define, '=') + 1; *c; c++) *c = (char)toupper((unsigned char)*c);
        vec_push(argv, define);
    }
    if (toolchain_is_for_one_run(t)) {
        vec_push(argv, "-DPTO_FOR_ONE_RUN=1");
        /* To inline them costs the compiler 10 to 20 ms each, and saves the run some nanoseconds each. */
        vec_push(argv, "-DPTO_CALL_SUBMITS=1");
    }
    add_common(argv, t);
}

/* The instructions of a level for the whole file: each function has them by its attribute too, but GCC sets up its
 * tables anew where a function has others than the file. */
static void add_instructions(words *argv, const char *level)
{
    static const char *const v3[] = {"-mavx2",  "-mfma",   "-mbmi",  "-mbmi2", "-mf16c",
                                     "-mlzcnt", "-mmovbe", "-mcx16", "-msahf", "-mpopcnt"};
    static const char *const v4[] = {"-mavx512f", "-mavx512bw", "-mavx512cd", "-mavx512dq", "-mavx512vl"};
    const bool has_v4 = level && strcmp(level, "v4") == 0, has_v3 = has_v4 || (level && strcmp(level, "v3") == 0);
    for (size_t i = 0; i < sizeof v3 / sizeof *v3 && has_v3; i++) vec_push(argv, v3[i]);
    for (size_t i = 0; i < sizeof v4 / sizeof *v4 && has_v4; i++) vec_push(argv, v4[i]);
}

/* A kernel in index notation.  By its pragma alone GCC calls a root, which may set errno, and makes no vectors. */
static void add_kernel(words *argv, const struct toolchain *t)
{
    add_strict(argv, t);
    vec_push(argv, "-fno-math-errno");
    if (toolchain_is_for_one_run(t)) add_instructions(argv, only_level(t));
}

/* A program whose kernels are compiled apart, or are others', only submits tasks: to optimize that takes the C compiler
 * longer than what most runs gain, some nanoseconds a task. */
static void add_program(words *argv, const struct toolchain *t)
{
    add_strict(argv, t);
    if (toolchain_is_for_one_run(t) && t->only_submits && t->o->optimize < 0) vec_push(argv, "-O0");
}

/* An object has the kernels that it calls, and shares the runtime with the program that loads it.  To copy the debug
 * information of the archives takes the linker twice as long as all else. */
static void add_libraries(words *argv, const struct toolchain *t)
{
    const char *const lib = arena_printf(t->mem, t->o->debug ? "%s/lib/pto/debug" : "%s/lib", t->prefix);
    vec_push(argv, arena_printf(t->mem, "%s/libpto_kernels.a", lib));
    vec_push(argv, is_shared(t) ? arena_printf(t->mem, "%s/lib/libpto.so", t->prefix)
                                : arena_printf(t->mem, "%s/libpto_runtime.a", lib));
    if (is_shared(t)) {
        vec_push(argv, "-shared");
        vec_push(argv, "-Wl,--no-undefined");
        vec_push(argv, arena_printf(t->mem, "-Wl,--version-script=%s/share/pto/program.map", t->prefix));
    }
    // A program that is launched as several ranks opens the library that joins them while it runs.
    if (!is_shared(t)) vec_push(argv, arena_printf(t->mem, "-Wl,-rpath,%s/lib", t->prefix));
    add_words_of_file(argv, t->mem, arena_printf(t->mem, "%s/share/pto/ldflags", t->prefix));
    vec_push(argv, "-lm");
    vec_push(argv, "-pthread");
    if (toolchain_is_for_one_run(t)) vec_push(argv, "-Wl,--build-id=none"); /* a digest of all of it */
}

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

void toolchain_describe_compiler(const struct toolchain *t, struct strbuf *key)
{
    words cc = {0}, flags = {0};
    char *folder = getcwd(NULL, 0);
    add_compiler(&cc, t);
    add_kernel(&flags, t); /* and those of a program */
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
    add_program(&flags, t);
    cache_key_words(key, "flag of the program", flags.data, flags.count);
    vec_free(&flags);
    add_libraries(&libraries, t);
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
    add_compiler(&cc, t);
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

/* Prints what the compiler said, and returns an exit code.  code: its own; log: where it said it.  of: what was
 * compiled, for a message; NULL: the program, whose bodies of kernels have messages of their own. */
static int report_compiler(const struct toolchain *t, int code, const char *log, const char *of)
{
    if (process_interrupted()) return 128 + process_interrupted();
    STRBUF(said);
    if (code >= 0) read_log(log, &said);
    if (code > 0 && !of && c_bodies_refused(t->o, strbuf_text(&said))) return EXIT_ERRORS;
    fputs(strbuf_text(&said), stderr);
    if (code > 0) fprintf(stderr, "ptoc: error: the C compiler does not accept %s\n", of ? of : "the program");
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
    add_compiler(argv, t);
    if (origin == COMPILES_PROGRAM)
        add_program(argv, t);
    else if (origin == COMPILES_KERNEL)
        add_kernel(argv, t);
    else
        add_common(argv, t);
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
    add_compiler(&argv, t);
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

static void add_link(words *argv, const struct toolchain *t, const words *objects, const char *output)
{
    add_compiler(argv, t);
    add_common(argv, t);
    for (size_t i = 0; i < objects->count; i++) vec_push(argv, objects->data[i]);
    add_libraries(argv, t);
    vec_push(argv, "-o");
    vec_push(argv, output[0] == '-' ? arena_printf(t->mem, "./%s", output) : output);
}

/* Links, and says what is wrong in the words of the program where a kernel is. */
static int run_linker(const struct toolchain *t, words *argv)
{
    const char *log = arena_printf(t->mem, "%s/link.log", t->temp_dir);
    vec_push(argv, NULL);
    int code = process_run_logged(log, argv->data, t->o->verbose);
    if (process_interrupted()) return 128 + process_interrupted();
    bool all_said = code >= 0 && missing_report(t->o, log);
    if (code > 0 && !all_said) fprintf(stderr, "ptoc: error: the program could not be linked\n");
    return code == 0 ? EXIT_OK : EXIT_ERRORS;
}

/* Links a program for one run in a third of the time; it comes with binutils, but not on every system. */
static const char *fast_linker(const struct toolchain *t)
{
    char *const path = toolchain_is_for_one_run(t) ? program_find("ld.gold", NULL, NULL) : NULL;
    free(path);
    return path ? "gold" : NULL;
}

/* Asks the linker for a list of what it reads.  False: it knows no such option, or it does not accept the program. */
static bool link_and_note(const struct toolchain *t, const words *objects, const char *output)
{
    const char *rule = arena_printf(t->mem, "%s/link.d", t->temp_dir),
               *log = arena_printf(t->mem, "%s/link.log", t->temp_dir);
    words argv = {0};
    add_link(&argv, t, objects, output);
    vec_push(&argv, "-Xlinker");
    vec_push(&argv, arena_printf(t->mem, "--dependency-file=%s", rule));
    const char *linker = fast_linker(t);
    if (linker) vec_push(&argv, arena_printf(t->mem, "-fuse-ld=%s", linker));
    vec_push(&argv, NULL);
    bool good = process_run_logged(log, argv.data, t->o->verbose) == 0;
    if (good)
        reads_add_libraries(t->reads, rule);
    else
        reads_are_unsure(t->reads, "the linker does not report which files it has read");
    vec_free(&argv);
    return good;
}

static int link_program(const struct toolchain *t, const words *objects, const char *output)
{
    words argv = {0};
    if (t->reads && link_and_note(t, objects, output)) {
        missing_report(t->o, arena_printf(t->mem, "%s/link.log", t->temp_dir)); /* warnings */
        return EXIT_OK;
    }
    if (process_interrupted()) return 128 + process_interrupted();
    add_link(&argv, t, objects, output);
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
    add_compiler(&argv, t);
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
    add_compiler(&cc, t);
    reads_add_program(t->reads, cc.data[0]);
    vec_free(&cc);
    note_program(t, "cc1");
    note_program(t, "as");
    add_compiler(&headers, t);
    add_strict(&headers, t);
    vec_push(&headers, "-v");
    vec_push(&headers, "-xc");
    vec_push(&headers, "/dev/null");
    add_output(&headers, "-E", "/dev/null");
    reads_add_include_dirs(t->reads, ask(t, &headers, "headers"));
}

static void note_linker(const struct toolchain *t, const words *objects, const char *output)
{
    words libraries = {0};
    const char *linker = fast_linker(t);
    note_program(t, "collect2");
    note_program(t, linker ? arena_printf(t->mem, "ld.%s", linker) : "ld");
    add_link(&libraries, t, objects, output);
    vec_push(&libraries, "-###");
    reads_add_library_dirs(t->reads, ask(t, &libraries, "libraries"));
}

/* ---- a check ---- */

const char *toolchain_check(const struct toolchain *t, const struct strbuf *text, struct strbuf *said)
{
    const char *source = arena_printf(t->mem, "%s/program.c", t->temp_dir),
               *log = arena_printf(t->mem, "%s/log", t->temp_dir),
               *rule = arena_printf(t->mem, "%s/program.d", t->temp_dir);
    words argv = {0};
    add_source(t, &argv, COMPILES_PROGRAM, source);
    vec_push(&argv, "-fsyntax-only");
    if (t->reads) add_rule(&argv, rule);
    vec_push(&argv, NULL);
    const bool was_asked =
        output_text(source, text) == EXIT_OK && process_run_logged(log, argv.data, t->o->verbose) >= 0;
    vec_free(&argv);
    if (!was_asked) return NULL;
    read_log(log, said);
    if (t->reads && said->length == 0) {
        reads_add_text(t->reads, strbuf_text(text), text->length);
        reads_add_sources(t->reads, rule);
        toolchain_note_compiler(t);
    }
    return log;
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
