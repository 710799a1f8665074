/* build.c - from a .pto file to C, a header or a binary.
 * Idea       check, generate, and for a binary hand the C to a C compiler with the run-time library that stands beside ptoc.
 * Invariant  nothing is written when there was an error, and never over something that was read.
 * Blocks     in files and in the C compiler.
 * Tests      test/lit/run/build.test, test/lit/run/c-errors.pto
 */
#include "build.h"
#include "cache.h"
#include "codegen.h"
#include "process.h"
#include "support/arena.h"
#include "support/vec.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef VEC(const char *) words;

/* ---- what was read is not written over ---- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino && S_ISREG(sa.st_mode);
}

static bool would_destroy(const struct options *o, const struct checked *checked, const char *output)
{
    const char *input = is_same_file(output, o->input) ? o->input : NULL;
    for (int i = 0; i < o->link_input_count && !input; i++)
        if (is_same_file(output, o->link_inputs[i])) input = o->link_inputs[i];
    for (int i = 0; checked && i < checked->module_count && !input; i++)
        if (is_same_file(output, checked->modules[i]->path)) input = checked->modules[i]->path;
    if (input) fprintf(stderr, "ptoc: error: '%s' is an input: it is not written over\n", input);
    return input != NULL;
}

static int write_text(const char *path, const struct strbuf *text)
{
    bool is_file = path && strcmp(path, "-") != 0;
    FILE *out = is_file ? fopen(path, "w") : stdout;
    bool ok = out && fwrite(strbuf_text(text), 1, text->length, out) == text->length && fflush(out) == 0;
    int why = errno;
    if (out && is_file && fclose(out) != 0) ok = false;
    if (!ok) fprintf(stderr, "ptoc: error: cannot write '%s': %s\n", is_file ? path : "standard output", strerror(why));
    return ok ? EXIT_OK : EXIT_FILE;
}

/* ---- text ---- */

/* C or header of the program, when it has no error.  output: for the guard; *stem: of the file, to be freed. */
static int generate(const struct options *o, const char *output, struct strbuf *text, char **stem)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    const struct checked *checked = sema_check(&s.front, o->input, &s.sema);
    if (diag_error_count(s.front.diag) == 0 && o->heap_bytes > 0) codegen_check_heap(&s.front, checked, o->heap_bytes, o->rings);
    if (diag_error_count(s.front.diag) == 0) {
        struct codegen_options options = {.input = o->input, .no_line = o->no_line, .no_main = o->no_main, .memory = o->memory, .checked = o->checked};
        if (o->dumps)
            codegen_dump(&s.front, checked, &o->memory, o->dumps, text);
        else if (o->emit == EMIT_BIN && !codegen_has_entry(checked))
            diag_error_plain(s.front.diag, DIAG_E19, "'%s' has no 'export orch': there is nothing to run", o->input);
        else if (o->emit == EMIT_BOUNDS)
            codegen_bounds(&s.front, checked, &o->memory, text);
        else if (o->emit == EMIT_TYPES)
            codegen_types(&s.front, checked, text);
        else if (o->emit == EMIT_TASKS)
            codegen_tasks(&s.front, checked, &o->memory, text);
        else if (o->emit == EMIT_MEMORY)
            codegen_memory(&s.front, checked, &o->memory, text);
        else if (o->emit == EMIT_HEADER)
            codegen_header(&s.front, checked, &options, text);
        else if (o->emit == EMIT_KERNELS)
            codegen_kernels(&s.front, checked, &options, text);
        else if (o->emit == EMIT_ASCENDC)
            codegen_ascendc(&s.front, checked, &options, text);
        else
            codegen_c(&s.front, checked, &options, text);
        if (output && strcmp(output, "-") != 0 && would_destroy(o, checked, output)) result = EXIT_USAGE;
        if (stem && asprintf(stem, "%s", checked->modules[0]->name) < 0) result = EXIT_INTERNAL;
    }
    int closed = session_close(&s);
    return closed != EXIT_OK ? closed : result;
}

static int emit_text(const struct options *o)
{
    struct strbuf text = {0};
    int result = generate(o, o->output, &text, NULL);
    if (result == EXIT_OK) result = write_text(o->output, &text);
    strbuf_free(&text);
    return result;
}

/* ---- the C compiler ---- */

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
static void add_compiler(words *argv, struct arena *mem, const struct options *o)
{
    const char *cc = o->cc ? o->cc : getenv("CC");
    char *rest = NULL, *text = arena_copy(mem, cc ? cc : "", cc ? strlen(cc) : 0);
    if (cc && access(cc, X_OK) == 0) {
        vec_push(argv, cc);
        return;
    }
    for (char *w = strtok_r(text, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest)) vec_push(argv, w);
    if (argv->count == 0) vec_push(argv, "cc");
}

static void add_common(words *argv, struct arena *mem, const struct options *o, const char *prefix)
{
    vec_push(argv, o->optimize < 0 ? "-O2" : arena_printf(mem, "-O%d", o->optimize));
    vec_push(argv, "-g");
    vec_push(argv, arena_printf(mem, "-I%s/include", prefix));
    add_words_of_file(argv, mem, arena_printf(mem, "%s/share/pto/cflags", prefix));
}

static int run_compiler(words *argv, const struct options *o, const char *what)
{
    vec_push(argv, NULL);
    int code = process_run(NULL, argv->data, o->verbose);
    if (process_interrupted()) return 128 + process_interrupted();
    if (code > 0) fprintf(stderr, "ptoc: error: %s\n", what);
    return code == 0 ? EXIT_OK : EXIT_ERRORS;
}

static void add_compile_flags(words *argv, struct arena *mem, const struct options *o, const char *prefix)
{
    vec_push(argv, "-std=c11");
    vec_push(argv, "-Wall");
    vec_push(argv, "-Wextra");
    if (o->warnings_are_errors) vec_push(argv, "-Werror");
    add_common(argv, mem, o, prefix);
}

static int compile(const struct options *o, struct arena *mem, const char *prefix, const char *source, const char *object,
                   const char *temp_dir)
{
    words argv = {0};
    add_compiler(&argv, mem, o);
    add_compile_flags(&argv, mem, o, prefix);
    vec_push(&argv, arena_printf(mem, "-ffile-prefix-map=%s/=", temp_dir));
    vec_push(&argv, "-c");
    vec_push(&argv, source);
    vec_push(&argv, "-o");
    vec_push(&argv, object);
    int result = run_compiler(&argv, o, "the C compiler does not accept the program");
    vec_free(&argv);
    return result;
}

/* Links, and says what is wrong in the words of the program where a kernel is. */
static int run_linker(words *argv, const struct options *o, const char *log)
{
    vec_push(argv, NULL);
    int code = process_run_logged(log, argv->data, o->verbose);
    if (process_interrupted()) return 128 + process_interrupted();
    bool all_said = code >= 0 && missing_report(o, log);
    if (code > 0 && !all_said) fprintf(stderr, "ptoc: error: the program could not be linked\n");
    return code == 0 ? EXIT_OK : EXIT_ERRORS;
}

static void add_libraries(words *argv, struct arena *mem, const char *prefix)
{
    vec_push(argv, arena_printf(mem, "%s/lib/libpto_kernels.a", prefix));
    vec_push(argv, arena_printf(mem, "%s/lib/libpto_runtime.a", prefix));
    add_words_of_file(argv, mem, arena_printf(mem, "%s/share/pto/ldflags", prefix));
    vec_push(argv, "-lm");
    vec_push(argv, "-pthread");
}

static int link_program(const struct options *o, struct arena *mem, const char *prefix, const char *object, const char *output,
                        const char *temp_dir)
{
    words argv = {0};
    add_compiler(&argv, mem, o);
    add_common(&argv, mem, o, prefix);
    vec_push(&argv, object);
    /* A relative name that begins with a dash is a flag for the linker, -lfoo. */
    for (int i = 0; i < o->link_input_count; i++) vec_push(&argv, o->link_inputs[i]);
    add_libraries(&argv, mem, prefix);
    vec_push(&argv, "-o");
    vec_push(&argv, output[0] == '-' ? arena_printf(mem, "./%s", output) : output);
    int result = run_linker(&argv, o, arena_printf(mem, "%s/link.log", temp_dir));
    vec_free(&argv);
    return result;
}

static int check_link_inputs(const struct options *o)
{
    for (int i = 0; i < o->link_input_count; i++)
        if (o->link_inputs[i][0] != '-' && access(o->link_inputs[i], R_OK) != 0) {
            fprintf(stderr, "ptoc: error: cannot read '%s': %s\n", o->link_inputs[i], strerror(errno));
            return EXIT_FILE;
        }
    return EXIT_OK;
}

/* ---- built before ---- */

/* What the program is made from, the paths of temporary files left out. */
static void describe(struct cache_key *k, const struct options *o, struct arena *mem, const char *prefix, const struct strbuf *text)
{
    static const char *const heard[] = {"CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH"};
    const char *include = arena_printf(mem, "%s/include", prefix);
    words cc = {0}, flags = {0};
    add_compiler(&cc, mem, o);
    for (size_t i = 0; i < cc.count; i++) cache_add_program(k, cc.data[i]);
    add_compile_flags(&flags, mem, o, prefix);
    add_libraries(&flags, mem, prefix);
    cache_add_words(k, "flag", flags.data, flags.count);
    for (size_t i = 0; i < flags.count; i++)
        if (flags.data[i][0] == '/') cache_add_file(k, flags.data[i]);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) {
        const char *value = getenv(heard[i]);
        if (value) cache_add_text(k, heard[i], value, strlen(value));
    }
    cache_add_headers(k, arena_printf(mem, "%s/pto", include));
    for (int i = 0; i < o->link_input_count; i++) {
        const char *input = o->link_inputs[i], *dot = strrchr(input, '.');
        if (input[0] == '-') k->is_unsure = true; /* -lfoo: who knows which file that is */
        else if (dot && strcmp(dot, ".c") == 0) cache_add_source(k, input, include);
        else cache_add_file(k, input);
    }
    cache_add_text(k, "program", strbuf_text(text), text->length);
    vec_free(&cc);
    vec_free(&flags);
}

static int compile_and_link(const struct options *o, struct arena *mem, const char *prefix, const char *temp_dir, const char *stem,
                            const struct strbuf *text, const char *output)
{
    const char *source = arena_printf(mem, "%s/%s.c", temp_dir, stem), *object = arena_printf(mem, "%s/%s.o", temp_dir, stem);
    int result = write_text(source, text);
    if (result == EXIT_OK) result = compile(o, mem, prefix, source, object, temp_dir);
    if (result == EXIT_OK) result = link_program(o, mem, prefix, object, output, temp_dir);
    return result;
}

static int build_in(const struct options *o, struct arena *mem, const char *temp_dir, const char *output, char **kept)
{
    struct strbuf text = {0};
    struct cache_key key = {.is_unsure = !kept || o->keep};
    char *stem = NULL, *prefix = prefix_find(o->program);
    int result = check_link_inputs(o);
    if (result == EXIT_OK) result = generate(o, output, &text, &stem);
    if (result == EXIT_OK && !prefix) {
        fprintf(stderr, "ptoc: error: cannot find the folder that ptoc is installed in\n");
        result = EXIT_INTERNAL;
    }
    if (result == EXIT_OK && !key.is_unsure) {
        describe(&key, o, mem, prefix, &text);
        *kept = cache_find(&key);
        if (*kept && o->verbose) fprintf(stderr, "unchanged: %s\n", *kept);
    }
    if (result == EXIT_OK && !(kept && *kept)) {
        result = compile_and_link(o, mem, prefix, temp_dir, stem, &text, output);
        if (result == EXIT_OK) cache_keep(&key, output);
    }
    cache_key_free(&key);
    strbuf_free(&text);
    free(stem);
    free(prefix);
    return result;
}

int build_binary(const struct options *o, const char *temp_dir, const char *output, char **kept)
{
    struct arena *mem = arena_create();
    int result = build_in(o, mem, temp_dir, output, kept);
    arena_destroy(mem);
    return result;
}

/* f.pto -> f */
/* Told before anything is compiled, and not by the linker. */
static bool can_write(const char *output)
{
    struct stat st;
    const char *slash = strrchr(output, '/');
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output + 1) : 1, slash ? output : ".");
    int why = stat(output, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : access(folder, W_OK) == 0 ? 0 : errno;
    if (why) fprintf(stderr, "ptoc: error: cannot write '%s': %s\n", output, strerror(why));
    return why == 0;
}

static char *default_output(const char *input)
{
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input, *dot = strrchr(base, '.');
    char *name = NULL;
    if (strcmp(input, "-") == 0 || !dot || dot == base) return strdup("a.out");
    return asprintf(&name, "%.*s", (int)(dot - base), base) < 0 ? NULL : name;
}

int build_main(const struct options *o)
{
    if (o->emit != EMIT_BIN || o->dumps) return emit_text(o);
    if (o->output && strcmp(o->output, "-") == 0) {
        fprintf(stderr, "ptoc: error: a binary is not written to standard output: name it with -o\n");
        return EXIT_USAGE;
    }
    if (o->output && !can_write(o->output)) return EXIT_FILE;
    char *output = o->output ? strdup(o->output) : default_output(o->input), *temp = output ? temp_dir_create() : NULL;
    int result = output && temp ? build_binary(o, temp, output, NULL) : EXIT_INTERNAL;
    if (temp) temp_dir_remove(temp, o->keep);
    free(output);
    return result;
}
