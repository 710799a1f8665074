/* options.c - the command line of ptoc.
 * Idea       a table with a row for each option: name, kind of value, verbs, destination.
 * Owner      the struct owns its arrays; the texts in them are argv's.
 * Invariant  options that stand for the built program are kept verbatim and in order: ptoc knows only which of them
 *            take a value, the program itself checks the value.
 * Blocks     never.
 * Tests      test/lit/diag/usage.test
 */
#include "option_values.h"
#include "support/nearest.h"
#include "support/vec.h"
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPTION_OUTPUT,
    OPTION_EMIT,
    OPTION_DEFINE,
    OPTION_IMPORT,
    OPTION_PLAN,
    OPTION_DUMP,
    OPTION_CC,
    OPTION_DEBUG,
    OPTION_NO_LINE,
    OPTION_NO_FMA,
    OPTION_CPU,
    OPTION_NO_MAIN,
    OPTION_NO_BODIES,
    OPTION_CHECK_GRAD,
    OPTION_PREFIX,
    OPTION_DEPFILE,
    OPTION_KEEP,
    OPTION_NO_CACHE,
    OPTION_VERBOSE,
    OPTION_HEAP,
    OPTION_RINGS,
    OPTION_CHECKED,
    OPTION_LOG,
    OPTION_DIAG,
    OPTION_COLOR,
    OPTION_NO_WARNINGS,
    OPTION_FORMAT,
    OPTION_FMT_CHECK,
    OPTION_FMT_DIFF,
    OPTION_MAN,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_PROGRAM
};

struct row {
    const char *name;
    const char *value; /* what to call its value, or NULL: it has none */
    unsigned verbs;
    enum option_id id;
};

/* PROGRAM: for the built program. */
static const struct row rows[] = {
#define ROW(name, value, verbs, id, form, help) {name, value, verbs, OPTION_##id},
#include "options.def"
#undef ROW
#define OPTION(name, text, value, verbs, help) {"--" text, value, FOR_##verbs, OPTION_PROGRAM},
#include "host/options.def"
#undef OPTION
};

static const char *const verb_names[] = {
#define VERB(id, name, ...) name,
#include "verbs.def"
#undef VERB
};

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

struct building { /* what grows while the command line is read */
    struct options *o;
    bool has_verb;    /* one is named */
    bool is_answered; /* --help, --version: the rest is not read */
    VEC(const char *) links, imports, run_args, operands, programs;
    VEC(struct define) defines;
    VEC(char *) names; /* copies that defines point to */
};

/* `T`, or `tile.T` of a module, `layer.tile.T` of one that another imports. */
static bool is_setting_name(const char *text, size_t length)
{
    for (const char *dot; (dot = memchr(text, '.', length)); text = dot + 1) {
        if (!option_is_name(text, (size_t)(dot - text))) return false;
        length -= (size_t)(dot + 1 - text);
    }
    return option_is_name(text, length);
}

static int set_define(struct building *b, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || !is_setting_name(text, (size_t)(equals - text)) || equals[1] == '\0')
        return usage_error("-D needs name=value, not '%s'", text);
    char *name = strndup(text, (size_t)(equals - text));
    if (name == NULL) {
        fputs("ptoc: out of memory\n", stderr);
        exit(EXIT_INTERNAL);
    }
    vec_push(&b->names, name);
    for (size_t i = 0; i < b->defines.count; i++)
        if (strcmp(b->defines.data[i].name, name) == 0) return usage_error("-D %s is given twice", name);
    struct define d = {name, equals + 1};
    vec_push(&b->defines, d);
    return EXIT_OK;
}

/* ---- options ---- */

static int apply(struct building *b, const struct row *row, const char *value)
{
    struct options *o = b->o;
    switch (row->id) {
    case OPTION_OUTPUT:
        if (o->output != NULL && strcmp(o->output, value) != 0)
            return usage_error("-o is given twice: '%s' and '%s'", o->output, value);
        o->output = value;
        return EXIT_OK;
    case OPTION_EMIT: return option_set_emit(o, value);
    case OPTION_DEFINE: return set_define(b, value);
    case OPTION_IMPORT: vec_push(&b->imports, value); return EXIT_OK;
    case OPTION_PLAN: return option_set_plan(o, value);
    case OPTION_DUMP: return option_set_dumps(o, value);
    case OPTION_CC: o->cc = value; return EXIT_OK;
    case OPTION_DEBUG: o->debug = true; return EXIT_OK;
    case OPTION_NO_LINE: o->no_line = true; return EXIT_OK;
    case OPTION_NO_FMA: o->no_fma = true; return EXIT_OK;
    case OPTION_CPU: return option_set_cpu(o, value);
    case OPTION_NO_MAIN: o->no_main = true; return EXIT_OK;
    case OPTION_PREFIX:
        o->prefix = value;
        return option_is_name(value, strlen(value)) ? EXIT_OK
                                                    : usage_error("--prefix begins names of C: '%s' does not", value);
    case OPTION_DEPFILE: o->depfile = value; return EXIT_OK;
    case OPTION_CHECKED: o->checked = true; return EXIT_OK;
    case OPTION_CHECK_GRAD: o->check_grad = true; return EXIT_OK;
    case OPTION_NO_BODIES: o->no_bodies = true; return EXIT_OK;
    case OPTION_KEEP: o->keep = true; return EXIT_OK;
    case OPTION_NO_CACHE: o->no_cache = true; return EXIT_OK;
    case OPTION_VERBOSE: o->verbose = true; return EXIT_OK;
    case OPTION_HEAP:
        o->heap_text = value;
        if (!option_size(value, &o->heap_bytes))
            return usage_error("--heap needs a size such as 64K or 16M, not '%s'", value);
        return EXIT_OK;
    case OPTION_RINGS: {
        int64_t rings;
        if (!option_size(value, &rings) || rings > 64)
            return usage_error("--rings needs a number from 1 to 64, not '%s'", value);
        o->rings = (int)rings;
        return EXIT_OK;
    }
    case OPTION_LOG: o->log = value; return EXIT_OK;
    case OPTION_DIAG: return option_set_diag(o, value);
    case OPTION_COLOR: return option_set_color(o, value);
    case OPTION_NO_WARNINGS:
        for (int i = 0; i < DIAG_COUNT; i++) o->warning_off[i] = option_is_warning(i);
        o->no_warnings = true;
        return EXIT_OK;
    case OPTION_FORMAT: return option_set_format(o, value);
    case OPTION_FMT_CHECK: o->fmt_check = true; return EXIT_OK;
    case OPTION_FMT_DIFF: o->fmt_diff = true; return EXIT_OK;
    case OPTION_MAN: o->man = true; return EXIT_OK;
    case OPTION_HELP:
        if (b->has_verb && (o->verb != VERB_HELP || o->topic == NULL)) o->topic = verb_names[o->verb];
        o->verb = VERB_HELP;
        b->is_answered = true;
        return EXIT_OK;
    case OPTION_VERSION:
        o->verb = VERB_VERSION;
        b->is_answered = true;
        return EXIT_OK;
    case OPTION_PROGRAM: return EXIT_OK;
    }
    return EXIT_OK;
}

/* Does arg name this option?  *value: what stands in the same word behind it, or NULL. */
static bool names_option(const struct row *row, const char *arg, const char **value)
{
    size_t length = strlen(row->name);
    *value = NULL;
    if (strncmp(arg, row->name, length) != 0) return false;
    if (arg[length] == '\0') return true;
    bool is_long = row->name[1] == '-';
    if (is_long && arg[length] != '=') return false;
    if (!is_long && row->value == NULL) return false;
    *value = arg + length + is_long;
    return true;
}

static int unknown_option(const char *arg, unsigned verb_bit, enum verb verb)
{
    size_t length = strcspn(arg, "=");
    char name[64];
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, arg);
    const char *names[COUNT(rows)];
    int count = 0;
    for (int i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].name, name) == 0)
            return usage_error("'%s' is not an option of 'ptoc %s'", name, verb_names[verb]);
        if (rows[i].verbs & verb_bit) names[count++] = rows[i].name;
    }
    if (strcmp(name, "--param") == 0 && (verb_bit & FOR_BOTH))
        return usage_error("unknown option '%s'; did you mean '--set NAME=VALUE'?", arg);
    const char *nearest = nearest_word(name, names, count);
    if (nearest != NULL) return usage_error("unknown option '%s'; did you mean '%s'?", arg, nearest);
    return usage_error("unknown option '%s'; 'ptoc --help' lists the options", arg);
}

/* Reads the option at argv[*at] and leaves *at on its last word. */
static int parse_option(struct building *b, unsigned verb_bit, int argc, char **argv, int *at)
{
    const char *arg = argv[*at], *value;
    if (strncmp(arg, "-W", 2) == 0 && (verb_bit & FOR_COMPILE)) return option_set_warning(b->o, arg);
    if (strncmp(arg, "-O", 2) == 0 && (verb_bit & (FOR_BUILD | FOR_RUN | FOR_GRAPH))) {
        if (arg[2] < '0' || arg[2] > '3' || arg[3] != '\0') return usage_error("-O0 to -O3, not '%s'", arg);
        b->o->optimize = arg[2] - '0';
        return EXIT_OK;
    }
    for (int i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        if (!(row->verbs & verb_bit) || !names_option(row, arg, &value)) continue;
        if (row->value == NULL && value != NULL) return usage_error("'%s' takes no value", row->name);
        bool is_for_program = row->id == OPTION_PROGRAM ||
                              ((row->id == OPTION_HEAP || row->id == OPTION_RINGS) && verb_bit & (FOR_RUN | FOR_GRAPH));
        if (is_for_program) vec_push(&b->run_args, arg);
        if (row->value != NULL && value == NULL) {
            if (*at + 1 >= argc) return usage_error("'%s' needs %s", row->name, row->value);
            value = argv[++*at];
            if (is_for_program) vec_push(&b->run_args, value);
        }
        if (value != NULL && *value == '\0' && !is_for_program)
            return usage_error("'%s' needs %s", row->name, row->value);
        return apply(b, row, value);
    }
    return unknown_option(arg, verb_bit, b->o->verb);
}

/* ---- what is no option ---- */

bool options_ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length > tail && strcmp(text + length - tail, suffix) == 0;
}

static bool is_link_input(const char *path)
{
    return options_ends_with(path, ".c") || options_ends_with(path, ".o") || options_ends_with(path, ".a") ||
           options_ends_with(path, ".so");
}

static bool is_cpp(const char *path)
{
    return options_ends_with(path, ".cpp") || options_ends_with(path, ".cc") || options_ends_with(path, ".cxx");
}

/* `ptoc run f.pto n=4`: the value of a param, it seems. */
static bool is_setting(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals != NULL && equals[1] != '\0' && is_setting_name(word, (size_t)(equals - word));
}

/* check and fmt take any number of programs, each by itself. */
static int add_each(struct building *b, const char *path)
{
    struct options *o = b->o;
    if (is_link_input(path)) return usage_error("'ptoc %s' takes .pto files, not '%s'", verb_names[o->verb], path);
    if (o->input == NULL) o->input = path;
    vec_push(&b->programs, path);
    return EXIT_OK;
}

static int add_program(struct building *b, unsigned verb_bit, const char *path)
{
    struct options *o = b->o;
    if (is_link_input(path)) {
        if (!(verb_bit & (FOR_BUILD | FOR_RUN | FOR_GRAPH)))
            return usage_error("'ptoc %s' takes one .pto file, not '%s'", verb_names[o->verb], path);
        vec_push(&b->links, path);
    } else if (is_cpp(path) && (verb_bit & (FOR_BUILD | FOR_RUN | FOR_GRAPH))) {
        return usage_error("'%s' is of C++: compile it to an object, as 'c++ -O2 -fPIC -c %s' does, and give ptoc that",
                           path, path);
    } else if (o->input != NULL) {
        if (is_setting(path) && (options_ends_with(path, ".npy") || options_ends_with(path, ".npz")) &&
            (verb_bit & FOR_BOTH))
            return usage_error("'%s' is no input; did you mean '--input %s'?", path, path);
        if (is_setting(path) && (verb_bit & FOR_BOTH))
            return usage_error("'%s' is no input; did you mean '--set %s'?", path, path);
        if (!options_ends_with(path, ".pto"))
            return usage_error("'%s' is no input: ptoc takes one .pto file, and C files, objects and libraries", path);
        return usage_error("two programs: '%s' and '%s'", o->input, path);
    } else {
        o->input = path;
    }
    return EXIT_OK;
}

static int add_input(struct building *b, unsigned verb_bit, const char *path)
{
    struct options *o = b->o;
    if (*path == '\0')
        return o->verb == VERB_EXPLAIN ? usage_error("'ptoc explain' takes an id such as E08")
                                       : usage_error("a file name is empty");
    switch (o->verb) {
    case VERB_LSP: return usage_error("'ptoc lsp' takes no file: its client names them, not '%s'", path);
    case VERB_TEST: vec_push(&b->operands, path); return EXIT_OK;
    case VERB_CHECK:
    case VERB_FMT: return add_each(b, path);
    case VERB_EXPLAIN:
    case VERB_HELP:
    case VERB_NEW:
    case VERB_COMPLETION:
        if (o->topic != NULL)
            return usage_error("'ptoc %s' takes one %s", verb_names[o->verb],
                               o->verb == VERB_EXPLAIN      ? "id"
                               : o->verb == VERB_HELP       ? "verb"
                               : o->verb == VERB_COMPLETION ? "shell"
                                                            : "folder");
        o->topic = path;
        return EXIT_OK;
    case VERB_COMPLETE:
        if (o->input != NULL && o->topic == NULL) {
            o->topic = path;
            return EXIT_OK;
        }
        break;
    default: break;
    }
    return add_program(b, verb_bit, path);
}

/* The verb that word is; else what the user probably meant. */
static int parse_verb(struct options *o, const char *word)
{
    for (int i = 0; i < COUNT(verb_names); i++)
        if (strcmp(verb_names[i], word) == 0) {
            o->verb = (enum verb)i;
            return EXIT_OK;
        }
    const char *nearest = nearest_word(word, verb_names, COUNT(verb_names));
    if (nearest != NULL) return usage_error("unknown verb '%s'; did you mean '%s'?", word, nearest);
    return usage_error("unknown verb '%s'; 'ptoc --help' lists the verbs", word);
}

/* `ptoc watch` hands the words on: to the verb that it names, or to check. */
static int keep_words(struct building *b, int argc, char **argv)
{
    struct options *o = b->o;
    int at = 2;
    bool is_verb =
        argc > 2 && (strcmp(argv[2], "check") == 0 || strcmp(argv[2], "build") == 0 || strcmp(argv[2], "run") == 0);
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        o->topic = verb_names[VERB_WATCH];
        o->verb = VERB_HELP;
        return EXIT_OK;
    }
    const bool is_check = !is_verb || strcmp(argv[at], "check") == 0;
    vec_push(&b->operands, is_verb ? (const char *)argv[at++] : "check");
    for (; at < argc; at++) {
        vec_push(&b->operands, (const char *)argv[at]);
        if (strcmp(argv[at], "--") == 0) break;
        if (options_ends_with(argv[at], ".pto") && (o->input == NULL || is_check))
            vec_push(&b->programs, (const char *)argv[at]);
        if (b->programs.count > 0) o->input = b->programs.data[0];
        if (is_link_input(argv[at])) vec_push(&b->links, (const char *)argv[at]);
        if (strcmp(argv[at], "-I") == 0 && at + 1 < argc) vec_push(&b->imports, (const char *)argv[at + 1]);
    }
    for (at++; at < argc; at++) vec_push(&b->operands, (const char *)argv[at]);
    return o->input != NULL ? EXIT_OK : usage_error("no .pto file given");
}

static int check_operands(const struct building *b)
{
    const struct options *o = b->o;
    switch (o->verb) {
    case VERB_EXPLAIN:
    case VERB_LSP:
    case VERB_TEST: return EXIT_OK;
    case VERB_NEW: return o->topic ? EXIT_OK : usage_error("'ptoc new' needs the name of a folder");
    case VERB_COMPLETION: return o->topic ? EXIT_OK : usage_error("'ptoc completion' needs a shell: bash, zsh or fish");
    case VERB_CHECK:
    case VERB_FMT:
        for (size_t i = 0; b->programs.count > 1 && i < b->programs.count; i++)
            if (strcmp(b->programs.data[i], "-") == 0) return usage_error("'-' is standard input, and the only file");
        if (b->programs.count > 1 && o->diag_form == DIAG_SARIF)
            return usage_error("--diag=sarif is a file of the messages of one program, not of %zu", b->programs.count);
        return o->input ? EXIT_OK : usage_error("no .pto file given");
    case VERB_COMPLETE:
        if (o->input && o->topic) return EXIT_OK;
        return usage_error("'ptoc complete' needs a program and an option");
    default: return o->input ? EXIT_OK : usage_error("no .pto file given");
    }
}

static int parse_words(struct building *b, int argc, char **argv)
{
    struct options *o = b->o;
    int at = 1;
    o->verb = VERB_BUILD;
    if (argc < 2) return usage_error("no file given; 'ptoc --help' lists the verbs");
    bool is_file_or_option = argv[1][0] == '-' || strchr(argv[1], '.') != NULL || strchr(argv[1], '/') != NULL;
    if (!is_file_or_option) {
        int result = parse_verb(o, argv[1]);
        if (result != EXIT_OK) return result;
        b->has_verb = true;
        at = 2;
    }
    const unsigned bit = 1U << o->verb;
    if (o->verb == VERB_WATCH) return keep_words(b, argc, argv);
    for (; at < argc; at++) {
        int result = EXIT_OK;
        if (strcmp(argv[at], "--") == 0) {
            if (!(bit & (FOR_RUN | FOR_GRAPH)))
                return usage_error("'--' and the arguments after it are for 'ptoc run'");
            while (++at < argc) vec_push(&b->run_args, (const char *)argv[at]);
        } else if (o->verb == VERB_COMPLETE && o->input != NULL) { // the name of an option, as it is
            result = add_input(b, bit, argv[at]);
        } else if (argv[at][0] == '-' && argv[at][1] != '\0') {
            result = parse_option(b, bit, argc, argv, &at);
        } else {
            result = add_input(b, bit, argv[at]);
        }
        if (result != EXIT_OK) return result;
        if (b->is_answered) return EXIT_OK;
    }
    if (o->verb == VERB_HELP || o->verb == VERB_VERSION) return EXIT_OK;
    if (o->no_main && o->emit == EMIT_BIN) return usage_error("--no-main is for --emit=c: a program needs its main");
    if (o->no_main && o->emit == EMIT_SO) return usage_error("--no-main is for --emit=c: an object has no main");
    if (o->prefix && !o->no_main && o->emit != EMIT_HEADER)
        return usage_error(
            "--prefix is for --emit=header and --emit=c --no-main: only there a host program sees names");
    if (o->cpu && o->emit != EMIT_BIN && o->emit != EMIT_SO && o->emit != EMIT_OBJECTS)
        return usage_error("--cpu is for a program, --emit=so or --emit=objects: what compiles the C chooses the level "
                           "itself");
    if (o->depfile && !o->output) return usage_error("--depfile needs -o: it says what the output was made from");
    if (o->no_cache && o->verb == VERB_BUILD && o->emit != EMIT_SO && o->emit != EMIT_BIN)
        return usage_error("--no-cache is for programs, check, run and graph: a text is not kept");
    if (o->verb == VERB_RUN && o->emit != EMIT_BIN)
        return usage_error("'ptoc run' runs a program: --emit=%s makes none", option_emit_names[o->emit]);
    return check_operands(b);
}

int options_parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){.program = argc > 0 ? argv[0] : "ptoc", .optimize = -1, .rings = 4};
    struct building b = {.o = o};
    int result = parse_words(&b, argc, argv);
    vec_push(&b.run_args, NULL);
    o->link_inputs = b.links.data;
    o->link_input_count = (int)b.links.count;
    o->import_dirs = b.imports.data;
    o->import_dir_count = (int)b.imports.count;
    o->defines = b.defines.data;
    o->define_count = (int)b.defines.count;
    vec_push(&b.operands, NULL);
    o->operands = b.operands.data;
    o->operand_count = (int)b.operands.count - 1;
    o->programs = b.programs.data;
    o->program_count = (int)b.programs.count;
    o->run_args = b.run_args.data;
    o->run_arg_count = (int)b.run_args.count - 1;
    if (result != EXIT_OK && b.defines.count < b.names.count) {
        // The one name that was copied and refused is in no define.
        free(b.names.data[b.names.count - 1]);
    }
    vec_free(&b.names);
    return result;
}

const char *options_run_value(const struct options *o, const char *option)
{
    const size_t length = strlen(option);
    const char *value = NULL;
    for (int i = 0; i < o->run_arg_count; i++) {
        const char *arg = o->run_args[i];
        if (strcmp(arg, option) == 0 && i + 1 < o->run_arg_count) value = o->run_args[++i];
        if (strncmp(arg, option, length) == 0 && arg[length] == '=') value = arg + length + 1;
    }
    return value;
}

void options_free(struct options *o)
{
    for (int i = 0; i < o->define_count; i++) free((char *)o->defines[i].name);
    free(o->dump_pass);
    free(o->link_inputs);
    free(o->import_dirs);
    free(o->defines);
    free(o->run_args);
    free(o->operands);
    free(o->programs);
    *o = (struct options){0};
}
