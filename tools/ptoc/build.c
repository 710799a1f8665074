/* build.c - from a .pto file to C, a header or a binary.
 * Idea       check, generate, and for a binary hand the C to a C compiler with the run-time library beside ptoc.
 * Invariant  nothing is written when there was an error, and never over something that was read.
 * Blocks     in files and in the C compiler.
 * Tests      test/lit/run/build.test, test/lit/run/c-errors.pto
 */
#include "build.h"
#include "ahead.h"
#include "cache.h"
#include "codegen.h"
#include "kernel_objects.h"
#include "output.h"
#include "process.h"
#include "support/arena.h"
#include "toolchain.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what was read is not written over ---- */

/* What ptoc makes of a .pto file for a C compiler. */
struct program {
    char *stem; /* of the file with the orchestration */
    struct strbuf text;
    struct codegen_parts kernels; /* each in a file of its own */
};

static bool would_destroy(const struct options *o, const struct checked *checked, const char *output)
{
    bool is_input = output_is_input(output, o->input);
    for (int i = 0; i < o->link_input_count && !is_input; i++) is_input = output_is_input(output, o->link_inputs[i]);
    for (int i = 0; i < checked->module_count && !is_input; i++)
        is_input = output_is_input(output, checked->modules[i]->path);
    for (int i = 0; i < o->run_arg_count; i++) /* --input x=a.npy, --replay=s.txt */
        for (const char *at = o->run_args[i]; at && !is_input; at = strchr(at, '=') ? strchr(at, '=') + 1 : NULL)
            is_input = output_is_input(output, at);
    return is_input;
}

/* At such a name no binary is looked for: other compilers write C there without being asked to. */
static bool is_name_of_source(const char *output)
{
    static const char *const ends[][2] = {{".c", "C: to write it, add --emit=c"},
                                          {".h", "a header: to write it, add --emit=header"},
                                          {".pto", "a program's text"}};
    for (size_t i = 0; output && i < sizeof ends / sizeof *ends; i++)
        if (options_ends_with(output, ends[i][0])) {
            fprintf(stderr, "ptoc: error: a binary is not written to '%s', which is a name of %s\n", output,
                    ends[i][1]);
            return true;
        }
    return false;
}

/* ---- text ---- */

static void (*const emitters[])(struct front *front, const struct checked *checked,
                                const struct codegen_options *options, struct strbuf *out) = {
#define EMIT(id, name, function) function,
#include "emits.def"
#undef EMIT
};

/* A program or an object, not a text. */
static bool build_links(const struct options *o)
{
    return o->emit == EMIT_BIN || o->emit == EMIT_SO || o->emit == EMIT_OBJECTS;
}

/* A name as make reads it. */
static void print_name(FILE *out, const char *name)
{
    for (; *name; name++) {
        if (strchr(" #\\", *name)) putc('\\', out);
        if (*name == '$') putc('$', out);
        putc(*name, out);
    }
}

/* The output depends on the modules, and on what is linked. */
static int write_depfile(const struct options *o, const struct checked *checked)
{
    struct output to;
    if (!output_open(&to, o->depfile)) return EXIT_FILE;
    print_name(to.out, o->output);
    putc(':', to.out);
    for (int i = 0; i < checked->module_count; i++) {
        fputs(" \\\n  ", to.out);
        print_name(to.out, checked->modules[i]->real_path);
    }
    for (int i = 0; i < o->link_input_count; i++) {
        if (o->link_inputs[i][0] == '-') continue;
        fputs(" \\\n  ", to.out);
        print_name(to.out, o->link_inputs[i]);
    }
    putc('\n', to.out);
    return output_close(&to, true);
}

/* C or header of the program, when it has no error.  output: for the guard; program: NULL, or where its name and the
 * kernels that are compiled apart go. */
static int generate(const struct options *o, const char *output, struct strbuf *text, struct program *program)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    if (o->dumps & 1U << DUMP_USES) s.sema.uses = text;
    s.sema.grad_segments = plans_segments(o);
    const struct checked *checked = codegen_check(&s.front, o->input, &s.sema);
    plans_check_heap(o, &s.front, checked);
    if (diag_error_count(s.front.diag) == 0) {
        struct codegen_options options = {.input = o->input,
                                          .no_line = o->no_line,
                                          .no_fma = o->no_fma,
                                          .cpu = o->cpu,
                                          .no_main = o->no_main,
                                          .prefix = o->prefix,
                                          .is_shared = o->emit == EMIT_SO,
                                          .memory = o->memory,
                                          .checked = o->checked,
                                          .parts = program && (!o->keep || o->emit == EMIT_OBJECTS) ? &program->kernels
                                                                                                    : NULL};
        if (o->dumps & ~(1U << DUMP_USES))
            codegen_dump(&s.front, checked, &o->memory, o->dumps, o->dump_pass, text);
        else if (o->dumps)
            ; /* the uses are there already */
        else if (build_links(o) && !codegen_has_entry(checked))
            diag_error_plain(s.front.diag, DIAG_E19, "'%s' has no 'export orch': there is nothing to run", o->input);
        else
            emitters[o->emit](&s.front, checked, &options, text);
        if (would_destroy(o, checked, output) || would_destroy(o, checked, o->depfile) ||
            (program && o->emit != EMIT_OBJECTS && is_name_of_source(output)))
            result = EXIT_USAGE;
        if (result == EXIT_OK && o->depfile && ptoi_whole_is_same(o->depfile, o->output)) {
            fprintf(stderr, "ptoc: error: -o and --depfile write one file, '%s'\n", o->depfile);
            result = EXIT_USAGE;
        }
        if (program && asprintf(&program->stem, "%s", checked->modules[0]->name) < 0) result = process_out_of_memory();
        if (result == EXIT_OK && o->depfile) result = write_depfile(o, checked);
    }
    int closed = session_close(&s);
    return closed != EXIT_OK ? closed : result;
}

static int emit_text(const struct options *o)
{
    struct strbuf text = {0};
    int result = generate(o, o->output, &text, NULL);
    /* skeletons are printed for the kernels of which no AscendC is made, too */
    const bool is_partial = o->emit == EMIT_ASCENDC && result == EXIT_ERRORS && text.length > 0;
    const int written = result == EXIT_OK || is_partial ? output_text(o->output, &text) : EXIT_OK;
    if (written != EXIT_OK) result = written;
    strbuf_free(&text);
    return result;
}

/* ---- a program ---- */

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

/* All that was generated of it. */
static void describe_program(const struct program *p, struct strbuf *key)
{
    cache_key_text(key, "program", strbuf_text(&p->text), p->text.length);
    for (size_t i = 0; i < p->kernels.list.count; i++) {
        const struct codegen_part *kernel = &p->kernels.list.data[i];
        cache_key_text(key, strbuf_text(&kernel->name), strbuf_text(&kernel->text), kernel->text.length);
    }
}

static int build_anew(const struct toolchain *t, const struct program *p, const char *output)
{
    struct kernel_objects kernels;
    compilations work = {0};
    int result = kernel_objects_begin(&kernels, t, &p->kernels, &work);
    if (result == EXIT_OK) result = toolchain_add_program(t, p->stem, &p->text, &work);
    if (result == EXIT_OK) result = toolchain_compile(&work);
    kernel_objects_end(&kernels, result == EXIT_OK);
    vec_free(&work);
    return result == EXIT_OK ? toolchain_link(t, p->stem, kernels.objects, kernels.count, output) : result;
}

/* The contents of the C files and libraries of the command line, so that a return to an older text finds its
 * program. */
static bool describe_inputs(const struct options *o, struct strbuf *key)
{
    bool good = true;
    for (int i = 0; i < o->link_input_count && good; i++) {
        struct digest digest;
        uint64_t bytes;
        const int file = open(o->link_inputs[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        good = file >= 0 && digest_of_file(file, &digest, &bytes);
        if (good) cache_key_text(key, "digest", (const char *)&digest, sizeof digest);
        if (file >= 0) close(file);
    }
    return good;
}

/* Finds the program, or builds and keeps it. */
static int find_or_build(const struct toolchain *t, const struct program *p, const char *output, int *kept)
{
    struct cache cache;
    struct reads reads;
    struct strbuf key = {0}, list = {0};
    char *path = NULL;
    const char *reason = toolchain_is_opaque(t);
    if (!reason && !describe_inputs(t->o, &key)) reason = "a file of the command line cannot be read";
    if (reason) {
        if (t->o->verbose) fprintf(stderr, "not kept: %s\n", reason);
        strbuf_free(&key);
        return build_anew(t, p, output);
    }
    toolchain_describe(t, &key);
    describe_program(p, &key);
    cache_open(&cache, NULL, CACHE_PROGRAMS);
    int result = EXIT_OK;
    *kept = cache_find(&cache, &key, &path);
    if (*kept >= 0) {
        if (t->o->verbose) fprintf(stderr, "unchanged: %s\n", path);
    } else if (cache.folder < 0) {
        result = build_anew(t, p, output);
    } else {
        struct toolchain noting = *t;
        noting.reads = &reads;
        reads_begin(&reads, t->mem, t->temp_dir, arena_printf(t->mem, "%s/include/", t->prefix));
        result = build_anew(&noting, p, output);
        if (result == EXIT_OK && reads_list(&reads, &list))
            cache_keep(&cache, &key, &list, output);
        else if (result == EXIT_OK && t->o->verbose)
            fprintf(stderr, "not kept: %s\n", reads.unsure);
        reads_free(&reads);
    }
    cache_close(&cache);
    free(path);
    strbuf_free(&key);
    strbuf_free(&list);
    return result;
}

static int build_in(const struct options *o, struct arena *mem, const char *temp_dir, const char *output,
                    const char *replaced, int *kept)
{
    struct program p = {0};
    char *prefix = prefix_find(o->program);
    int result = check_link_inputs(o);
    if (result == EXIT_OK) result = generate(o, replaced, &p.text, &p);
    if (result == EXIT_OK && !prefix) result = prefix_missing();
    if (result == EXIT_OK) {
        const struct toolchain t = {.o = o,
                                    .mem = mem,
                                    .prefix = prefix,
                                    .temp_dir = temp_dir,
                                    .only_submits = p.kernels.are_all,
                                    .defines_kernels = p.kernels.defines_all};
        const bool may_be_kept = kept && !o->keep && !o->no_cache;
        result = o->emit == EMIT_OBJECTS ? ahead_make(&t, &p.kernels, output)
                 : may_be_kept           ? find_or_build(&t, &p, output, kept)
                                         : build_anew(&t, &p, output);
    }
    strbuf_free(&p.text);
    codegen_parts_free(&p.kernels);
    free(p.stem);
    free(prefix);
    return result;
}

int build_binary(const struct options *o, const char *temp_dir, const char *output, const char *replaced, int *kept)
{
    struct arena *mem = arena_create();
    int result = build_in(o, mem, temp_dir, output, replaced, kept);
    arena_destroy(mem);
    return result;
}

/* Said before anything is compiled, and not by the linker. */
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

/* Said before anything about the output. */
static int check_input(const struct options *o)
{
    struct front_session s;
    if (strcmp(o->input, "-") == 0) return EXIT_OK;
    const int result = session_open(&s, o);
    return result == EXIT_OK ? session_close(&s) : result;
}

/* f.pto -> f, f.so */
static char *default_output(const char *input, bool is_shared)
{
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input, *dot = strrchr(base, '.');
    char *name = NULL;
    const char *const end = is_shared ? ".so" : "";
    if (strcmp(input, "-") == 0 || !dot || dot == base) return strdup(is_shared ? "a.so" : "a.out");
    return asprintf(&name, "%.*s%s", (int)(dot - base), base, end) < 0 ? NULL : name;
}

bool build_reads_only(const struct options *o) { return emitters[o->emit] == NULL; }

/* A folder, of which nothing else is known: it may have objects already. */
static int make_objects(const struct options *o)
{
    if (!o->output || strcmp(o->output, "-") == 0) {
        fprintf(stderr, "ptoc: error: --emit=objects fills a folder: name it with -o\n");
        return EXIT_USAGE;
    }
    char *temp = temp_dir_create();
    if (!temp) return EXIT_INTERNAL;
    const int result = build_binary(o, temp, o->output, NULL, NULL);
    temp_dir_remove(temp, o->keep);
    return result;
}

int build_main(const struct options *o)
{
    if (!build_links(o) || o->dumps) return emit_text(o);
    if (o->emit == EMIT_OBJECTS) return make_objects(o);
    if (o->output && strcmp(o->output, "-") == 0) {
        fprintf(stderr, "ptoc: error: a binary is not written to standard output: name it with -o\n");
        return EXIT_USAGE;
    }
    const bool is_shared = o->emit == EMIT_SO;
    char *output = o->output ? strdup(o->output) : default_output(o->input, is_shared), *temp = NULL;
    int kept = -1; /* objects are built by programs that start often, so they are kept as those of `ptoc run` are */
    struct output place = {0};
    int result = output ? check_input(o) : process_out_of_memory();
    if (result == EXIT_OK && o->output && !can_write(output)) result = EXIT_FILE;
    if (result == EXIT_OK && (temp = temp_dir_create()) == NULL) result = EXIT_INTERNAL;
    if (result == EXIT_OK && !output_place(&place, output)) result = EXIT_FILE;
    if (result == EXIT_OK) result = build_binary(o, temp, output_name(&place), output, is_shared ? &kept : NULL);
    if (result == EXIT_OK && kept >= 0) result = cache_copy(kept, output_name(&place));
    int closed = output_close(&place, result == EXIT_OK);
    if (temp) temp_dir_remove(temp, o->keep);
    free(output);
    return result != EXIT_OK ? result : closed;
}
