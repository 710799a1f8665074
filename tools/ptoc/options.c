/* options.c - the command line of ptoc.
 * Idea       a table with a row for each option: name, kind of value, verbs, destination.
 * Owner      the struct owns its arrays; the texts in them are argv's.
 * Invariant  options that stand for the built program are kept verbatim and in order: ptoc knows only which of them
 *            take a value, the program itself checks the value.
 * Blocks     never.
 * Tests      test/lit/diag/usage.test
 */
#include "options.h"
#include "codegen.h"
#include "support/nearest.h"
#include "support/vec.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOR_CHECK = 1,
    FOR_BUILD = 2,
    FOR_RUN = 4,
    FOR_GRAPH = 8,
    FOR_FMT = 16,
    FOR_LSP = 32,
    FOR_OTHERS = 64,
    FOR_BOTH = FOR_RUN | FOR_GRAPH, /* as host/options.def calls them */
    FOR_COMPILE = FOR_CHECK | FOR_BUILD | FOR_RUN | FOR_GRAPH
};

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
    OPTION_NO_MAIN,
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

/* PROGRAM: for the built program.  A name may have a row for each group of verbs. */
static const struct row rows[] = {
    {"-o", "a file", FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_OUTPUT},
    {"--emit", "a kind", FOR_BUILD | FOR_RUN, OPTION_EMIT},
    {"-D", "name=value", FOR_COMPILE | FOR_LSP, OPTION_DEFINE},
    {"-I", "a folder", FOR_COMPILE | FOR_LSP, OPTION_IMPORT},
    {"--plan", "a plan", FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_PLAN},
    {"--dump", "what to show", FOR_BUILD, OPTION_DUMP},
    {"--cc", "a program", FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_CC},
    {"-g", NULL, FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_DEBUG},
    {"--no-line", NULL, FOR_BUILD | FOR_RUN, OPTION_NO_LINE},
    {"--no-fma", NULL, FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_NO_FMA},
    {"--no-main", NULL, FOR_BUILD, OPTION_NO_MAIN},
    {"--keep", NULL, FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_KEEP},
    {"--no-cache", NULL, FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_NO_CACHE},
    {"-v", NULL, FOR_BUILD | FOR_RUN | FOR_GRAPH, OPTION_VERBOSE},
    {"--heap", "a size", FOR_COMPILE, OPTION_HEAP},
    {"--rings", "a number", FOR_COMPILE, OPTION_RINGS},
    {"--log", "a file", FOR_LSP, OPTION_LOG},
    {"--diag", "text or json", FOR_COMPILE | FOR_FMT, OPTION_DIAG},
    {"--color", "auto, always or never", FOR_COMPILE | FOR_FMT, OPTION_COLOR},
    {"-w", NULL, FOR_COMPILE, OPTION_NO_WARNINGS},
    {"--format", "dot, json or text", FOR_GRAPH, OPTION_FORMAT},
    {"--check", NULL, FOR_FMT, OPTION_FMT_CHECK},
    {"--diff", NULL, FOR_FMT, OPTION_FMT_DIFF},
    {"--help", NULL, ~0u, OPTION_HELP},
    {"-h", NULL, ~0u, OPTION_HELP},
    {"--version", NULL, ~0u, OPTION_VERSION},

    {"--checked", NULL, FOR_BUILD, OPTION_CHECKED},
#define OPTION(name, text, value, verbs, help) {"--" text, value, FOR_##verbs, OPTION_PROGRAM},
#include "host/options.def"
#undef OPTION
};

static const struct {
    const char *name;
    enum verb verb;
    unsigned bit;
} verbs[] = {
    {"check", VERB_CHECK, FOR_CHECK},      {"build", VERB_BUILD, FOR_BUILD}, {"run", VERB_RUN, FOR_RUN},
    {"graph", VERB_GRAPH, FOR_GRAPH},      {"fmt", VERB_FMT, FOR_FMT},       {"lsp", VERB_LSP, FOR_LSP},
    {"explain", VERB_EXPLAIN, FOR_OTHERS}, {"help", VERB_HELP, FOR_OTHERS},  {"version", VERB_VERSION, FOR_OTHERS},
};

static const char *const emit_names[] = {
#define EMIT(id, name, function) name,
#include "emits.def"
#undef EMIT
};

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

/* Everything an option may do goes through here, so that every complaint looks the same. */
static int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int usage_error(const char *format, ...)
{
    va_list args;
    fputs("ptoc: error: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\n", stderr);
    return EXIT_USAGE;
}

/* ---- values ---- */

/* Digits as the language has them, and K, M or G behind. */
static bool parse_size(const char *text, int64_t *bytes)
{
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *p = is_hex ? text + 2 : text, *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    char plain[32];
    size_t count = 0;
    for (; strchr(digits, *p) != NULL || (*p == '_' && count > 0 && p[-1] != '_' && p[1] != '_'); p++) {
        if (*p == '\0' || count + 1 == sizeof plain) break;
        if (*p != '_') plain[count++] = *p;
    }
    plain[count] = '\0';
    if (count == 0 || p[-1] == '_') return false;
    int shift = *p == '\0'               ? 0
                : p[1] != '\0'           ? -1
                : *p == 'K' || *p == 'k' ? 10
                : *p == 'M' || *p == 'm' ? 20
                : *p == 'G' || *p == 'g' ? 30
                                         : -1;
    errno = 0;
    intmax_t value = strtoimax(plain, NULL, is_hex ? 16 : 10);
    if (shift < 0 || errno != 0 || value <= 0 || value > INT64_MAX >> shift) return false;
    *bytes = (int64_t)value << shift;
    return true;
}

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return length > 0;
}

struct building { /* what grows while the command line is read */
    struct options *o;
    VEC(const char *) links, imports, run_args;
    VEC(struct define) defines;
    VEC(char *) names; /* copies that defines point to */
};

static int set_define(struct building *b, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || !is_name(text, (size_t)(equals - text)) || equals[1] == '\0')
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

static int set_emit(struct options *o, const char *text)
{
    for (int i = 0; i < COUNT(emit_names); i++)
        if (strcmp(emit_names[i], text) == 0) {
            o->emit = (enum emit_kind)i;
            return EXIT_OK;
        }
    const char *nearest = nearest_word(text, emit_names, COUNT(emit_names));
    if (nearest != NULL) return usage_error("--emit can not make '%s'; did you mean '%s'?", text, nearest);
    return usage_error("--emit can not make '%s'; 'ptoc --help' lists the kinds", text);
}

static int choose(const char *option, const char *text, const char *const *choices, int count, int *chosen)
{
    for (int i = 0; i < count; i++)
        if (strcmp(choices[i], text) == 0) {
            *chosen = i;
            return EXIT_OK;
        }
    return usage_error("%s takes %s%s%s or %s, not '%s'", option, choices[0], count == 3 ? ", " : "",
                       count == 3 ? choices[1] : "", choices[count - 1], text);
}

static int set_plan(struct options *o, const char *text)
{
    static const struct {
        const char *name;
        enum plan_kind kind;
    } plans[] = {{"ring", PLAN_RING}, {"free", PLAN_FREE}, {"min", PLAN_MIN}};
    for (int i = 0; i < COUNT(plans); i++)
        if (strcmp(plans[i].name, text) == 0) {
            o->memory.kind = plans[i].kind;
            return EXIT_OK;
        }
    o->memory.kind = PLAN_BUDGET;
    if (strncmp(text, "budget=", 7) == 0 && parse_size(text + 7, &o->memory.budget)) return EXIT_OK;
    return usage_error("--plan takes ring, free, min or budget=BYTES, not '%s'", text);
}

static int refuse_dump(const char *word, size_t length)
{
    char words[200] = "";
    for (int i = 0; i < DUMP_COUNT; i++) {
        const char *before = i == 0 ? "" : i + 1 < DUMP_COUNT ? ", " : " and ";
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", before, codegen_dump_words[i]);
    }
    return usage_error("--dump takes %s, with commas, not '%.*s'", words, (int)length, word);
}

/* Words with commas; `ir` may be ir:PASS. */
static int set_dumps(struct options *o, const char *text)
{
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        unsigned bit = 0;
        for (int i = 0; i < DUMP_COUNT; i++)
            if (strlen(codegen_dump_words[i]) == length && strncmp(codegen_dump_words[i], at, length) == 0)
                bit = 1U << i;
        if (bit == 0 && length > 3 && strncmp(at, "ir:", 3) == 0) {
            char *pass = strndup(at + 3, length - 3);
            const bool is_known = codegen_has_pass(pass);
            free(o->dump_pass);
            o->dump_pass = pass;
            if (!is_known) return usage_error("--dump=ir: has no pass '%s'; see docs/architecture.md", pass);
            bit = 1U << DUMP_IR;
        }
        if (bit == 0) return refuse_dump(at, length);
        o->dumps |= bit;
        at += length;
        if (*at == '\0') return EXIT_OK;
    }
}

static int set_color(struct options *o, const char *text)
{
    static const char *const choices[] = {"auto", "always", "never"};
    int chosen = 0, result = choose("--color", text, choices, 3, &chosen);
    o->color = chosen == 0 ? DIAG_COLOR_AUTO : chosen == 1 ? DIAG_COLOR_ALWAYS : DIAG_COLOR_NEVER;
    return result;
}

static int set_diag(struct options *o, const char *text)
{
    static const char *const choices[] = {"text", "json"};
    int chosen = 0, result = choose("--diag", text, choices, 2, &chosen);
    o->json = chosen == 1;
    return result;
}

static int set_format(struct options *o, const char *text)
{
    static const char *const choices[] = {"dot", "json", "text"};
    int chosen = 0;
    o->graph_format = text;
    return choose("--format", text, choices, 3, &chosen);
}

static bool is_warning(int id) { return diag_id_name((enum diag_id)id)[0] == 'W'; }

/* -W... in all its forms. */
static int set_warning(struct options *o, const char *arg)
{
    const char *text = arg + 2;
    bool on = strncmp(text, "no-", 3) != 0;
    const char *name = on ? text : text + 3;
    if (strcmp(name, "error") == 0) {
        o->warnings_are_errors = on;
        return EXIT_OK;
    }
    bool is_known = strcmp(name, "all") == 0;
    for (int i = 0; i < DIAG_COUNT; i++) {
        if (!is_warning(i) || (strcmp(name, "all") != 0 && strcmp(name, diag_id_name((enum diag_id)i)) != 0)) continue;
        o->warning_off[i] = !on;
        is_known = true;
    }
    for (int i = 0; i < DIAG_COUNT && !is_known; i++)
        if (strcmp(name, diag_id_name((enum diag_id)i)) == 0)
            return usage_error("'%s': %s is an error, which cannot be turned off", arg, name);
    return is_known ? EXIT_OK
                    : usage_error("unknown warning '%s'; warnings are W01 to %s, as in -Wno-W03, and -Werror", arg,
                                  diag_id_name((enum diag_id)(DIAG_COUNT - 1)));
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
    case OPTION_EMIT: return set_emit(o, value);
    case OPTION_DEFINE: return set_define(b, value);
    case OPTION_IMPORT: vec_push(&b->imports, value); return EXIT_OK;
    case OPTION_PLAN: return set_plan(o, value);
    case OPTION_DUMP: return set_dumps(o, value);
    case OPTION_CC: o->cc = value; return EXIT_OK;
    case OPTION_DEBUG: o->debug = true; return EXIT_OK;
    case OPTION_NO_LINE: o->no_line = true; return EXIT_OK;
    case OPTION_NO_FMA: o->no_fma = true; return EXIT_OK;
    case OPTION_NO_MAIN: o->no_main = true; return EXIT_OK;
    case OPTION_CHECKED: o->checked = true; return EXIT_OK;
    case OPTION_KEEP: o->keep = true; return EXIT_OK;
    case OPTION_NO_CACHE: o->no_cache = true; return EXIT_OK;
    case OPTION_VERBOSE: o->verbose = true; return EXIT_OK;
    case OPTION_HEAP:
        o->heap_text = value;
        if (!parse_size(value, &o->heap_bytes))
            return usage_error("--heap needs a size such as 64K or 16M, not '%s'", value);
        return EXIT_OK;
    case OPTION_RINGS: {
        int64_t rings;
        if (!parse_size(value, &rings) || rings > 64)
            return usage_error("--rings needs a number from 1 to 64, not '%s'", value);
        o->rings = (int)rings;
        return EXIT_OK;
    }
    case OPTION_LOG: o->log = value; return EXIT_OK;
    case OPTION_DIAG: return set_diag(o, value);
    case OPTION_COLOR: return set_color(o, value);
    case OPTION_NO_WARNINGS:
        for (int i = 0; i < DIAG_COUNT; i++) o->warning_off[i] = is_warning(i);
        return EXIT_OK;
    case OPTION_FORMAT: return set_format(o, value);
    case OPTION_FMT_CHECK: o->fmt_check = true; return EXIT_OK;
    case OPTION_FMT_DIFF: o->fmt_diff = true; return EXIT_OK;
    case OPTION_HELP: o->verb = VERB_HELP; return EXIT_OK;
    case OPTION_VERSION: o->verb = VERB_VERSION; return EXIT_OK;
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

static const char *verb_name(enum verb verb)
{
    for (int i = 0; i < COUNT(verbs); i++)
        if (verbs[i].verb == verb) return verbs[i].name;
    return "";
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
            return usage_error("'%s' is not an option of 'ptoc %s'", name, verb_name(verb));
        if (rows[i].verbs & verb_bit) names[count++] = rows[i].name;
    }
    const char *nearest = nearest_word(name, names, count);
    if (nearest != NULL) return usage_error("unknown option '%s'; did you mean '%s'?", arg, nearest);
    return usage_error("unknown option '%s'; 'ptoc --help' lists the options", arg);
}

/* Reads the option at argv[*at] and leaves *at on its last word. */
static int parse_option(struct building *b, unsigned verb_bit, int argc, char **argv, int *at)
{
    const char *arg = argv[*at], *value;
    if (strncmp(arg, "-W", 2) == 0 && (verb_bit & FOR_COMPILE)) return set_warning(b->o, arg);
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

static bool ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text), tail = strlen(suffix);
    return length > tail && strcmp(text + length - tail, suffix) == 0;
}

static bool is_link_input(const char *path)
{
    return ends_with(path, ".c") || ends_with(path, ".o") || ends_with(path, ".a") || ends_with(path, ".so");
}

static int add_input(struct building *b, unsigned verb_bit, const char *path)
{
    struct options *o = b->o;
    if (*path == '\0')
        return o->verb == VERB_EXPLAIN ? usage_error("'ptoc explain' takes an id such as E08")
                                       : usage_error("a file name is empty");
    if (o->verb == VERB_LSP) return usage_error("'ptoc lsp' takes no file: its client names them, not '%s'", path);
    if (o->verb == VERB_EXPLAIN) {
        if (o->topic != NULL) return usage_error("'ptoc explain' takes one id");
        o->topic = path;
    } else if (is_link_input(path)) {
        if (!(verb_bit & (FOR_BUILD | FOR_RUN | FOR_GRAPH)))
            return usage_error("'ptoc %s' takes one .pto file, not '%s'", verb_name(o->verb), path);
        vec_push(&b->links, path);
    } else if (o->input != NULL) {
        if (!ends_with(path, ".pto"))
            return usage_error("'%s' is no input: ptoc takes one .pto file, and C files, objects and libraries", path);
        return usage_error("two programs: '%s' and '%s'", o->input, path);
    } else {
        o->input = path;
    }
    return EXIT_OK;
}

/* The verb that word is; else what the user probably meant. */
static int parse_verb(struct options *o, const char *word, unsigned *bit)
{
    const char *names[COUNT(verbs)];
    for (int i = 0; i < COUNT(verbs); i++) {
        names[i] = verbs[i].name;
        if (strcmp(verbs[i].name, word) == 0) {
            o->verb = verbs[i].verb;
            *bit = verbs[i].bit;
            return EXIT_OK;
        }
    }
    const char *nearest = nearest_word(word, names, COUNT(verbs));
    if (nearest != NULL) return usage_error("unknown verb '%s'; did you mean '%s'?", word, nearest);
    return usage_error("unknown verb '%s'; 'ptoc --help' lists the verbs", word);
}

static int parse_words(struct building *b, int argc, char **argv)
{
    struct options *o = b->o;
    unsigned bit = FOR_BUILD;
    int at = 1;
    o->verb = VERB_BUILD;
    if (argc < 2) return usage_error("no file given; 'ptoc --help' lists the verbs");
    bool is_file_or_option = argv[1][0] == '-' || strchr(argv[1], '.') != NULL || strchr(argv[1], '/') != NULL;
    if (!is_file_or_option) {
        int result = parse_verb(o, argv[1], &bit);
        if (result != EXIT_OK) return result;
        at = 2;
    }
    for (; at < argc; at++) {
        int result = EXIT_OK;
        if (strcmp(argv[at], "--") == 0) {
            if (!(bit & (FOR_RUN | FOR_GRAPH)))
                return usage_error("'--' and the arguments after it are for 'ptoc run'");
            while (++at < argc) vec_push(&b->run_args, (const char *)argv[at]);
        } else if (argv[at][0] == '-' && argv[at][1] != '\0') {
            result = parse_option(b, bit, argc, argv, &at);
        } else {
            result = add_input(b, bit, argv[at]);
        }
        if (result != EXIT_OK) return result;
        if (o->verb == VERB_HELP || o->verb == VERB_VERSION) return EXIT_OK;
    }
    if (o->verb == VERB_HELP || o->verb == VERB_VERSION) return EXIT_OK;
    if (o->no_main && o->emit == EMIT_BIN) return usage_error("--no-main is for --emit=c: a program needs its main");
    if (o->no_main && o->emit == EMIT_SO) return usage_error("--no-main is for --emit=c: an object has no main");
    if (o->no_cache && o->verb == VERB_BUILD && o->emit != EMIT_SO)
        return usage_error("--no-cache is for --emit=so, run and graph: nothing else is kept");
    if (o->verb == VERB_RUN && o->emit != EMIT_BIN)
        return usage_error("'ptoc run' runs a program: --emit=%s makes none", emit_names[o->emit]);
    if (o->input == NULL && o->verb != VERB_EXPLAIN && o->verb != VERB_LSP) return usage_error("no .pto file given");
    return EXIT_OK;
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
    o->run_args = b.run_args.data;
    o->run_arg_count = (int)b.run_args.count - 1;
    if (result != EXIT_OK && b.defines.count < b.names.count) {
        // The one name that was copied and refused is in no define.
        free(b.names.data[b.names.count - 1]);
    }
    vec_free(&b.names);
    return result;
}

void options_free(struct options *o)
{
    for (int i = 0; i < o->define_count; i++) free((char *)o->defines[i].name);
    free(o->dump_pass);
    free(o->link_inputs);
    free(o->import_dirs);
    free(o->defines);
    free(o->run_args);
    *o = (struct options){0};
}
