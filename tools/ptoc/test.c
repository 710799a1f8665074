/* test.c - ptoc test: runs programs that say in comments what is expected of them.
 * Idea       a test is a command `ptoc run` with what the comments ask for, and its output is compared line by line;
 *            arrays are compared by the run itself, with --expect.
 * Owner      a folder for what the runs print.
 * Blocks     in the runs, one after the other.
 * Tests      test/lit/build/test-verb.test
 */
#include "build.h"
#include "process.h"
#include "support/strbuf.h"
#include "support/vec.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct lines {
    VEC(char *) text;
};

struct expected {
    struct lines output, errors; /* lines of standard output; parts of messages */
    struct lines options;        /* words of the command line */
    bool is_test;                /* anything is expected */
};

struct testing {
    const struct options *o;
    const char *folder; /* for what runs print */
    int tests, failed, unreadable, without_tests;
};

static void add(struct lines *l, const char *text, size_t length)
{
    char *copy = strndup(text, length);
    if (copy) vec_push(&l->text, copy);
}

static void free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->text.count; i++) free(l->text.data[i]);
    vec_free(&l->text);
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "r");
    STRBUF(b);
    char block[4096];
    if (!in) return NULL;
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;) strbuf_add(&b, block, n);
    fclose(in);
    return strdup(strbuf_text(&b));
}

/* ---- what is expected ---- */

/* Blank-separated words; quotes keep blanks together. */
static void add_words(struct lines *l, const char *text, const char *end)
{
    while (text < end) {
        STRBUF(word);
        while (text < end && isspace((unsigned char)*text)) text++;
        bool any = false;
        for (char quote = 0; text < end && (quote || !isspace((unsigned char)*text)); text++, any = true)
            if (quote ? *text == quote : (*text == '"' || *text == '\''))
                quote = quote ? 0 : *text;
            else
                strbuf_putc(&word, *text);
        if (any) add(l, strbuf_text(&word), word.length);
    }
}

/* "expect C: c.npy" -> --expect C=FOLDER/c.npy */
static void add_golden(struct expected *x, const char *path, const char *name, const char *colon, const char *end)
{
    const char *slash = strrchr(path, '/'), *file = colon + 1;
    STRBUF(word);
    while (file < end && isspace((unsigned char)*file)) file++;
    strbuf_printf(&word, "--expect=%.*s=", (int)(colon - name), name);
    if (slash && *file != '/') strbuf_add(&word, path, (size_t)(slash - path + 1));
    strbuf_add(&word, file, (size_t)(end - file));
    add(&x->options, strbuf_text(&word), word.length);
    x->is_test = true;
}

/* "expect NAME: F.npy", and no sentence that begins so. */
static bool is_golden(const char *line, const char *colon, const char *end)
{
    const char *name = line + strlen("expect ");
    return colon && colon > name && strncmp(line, "expect ", strlen("expect ")) == 0 &&
           !memchr(name, ' ', (size_t)(colon - name)) && end - colon > 4 && strncmp(end - 4, ".npy", 4) == 0;
}

static void read_line(struct expected *x, const char *path, const char *line, const char *end)
{
    static const char run[] = "run:", expect[] = "expect:", error[] = "expect-error:";
    while (end > line && isspace((unsigned char)end[-1])) end--;
    while (line < end && isspace((unsigned char)*line)) line++;
    if (end - line < 2 || strncmp(line, "//", 2) != 0) return;
    for (line += 2; line < end && *line == ' ';) line++;
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (strncmp(line, run, sizeof run - 1) == 0) {
        add_words(&x->options, line + sizeof run - 1, end);
    } else if (strncmp(line, expect, sizeof expect - 1) == 0 || strncmp(line, error, sizeof error - 1) == 0) {
        struct lines *l = line[sizeof expect - 2] == ':' ? &x->output : &x->errors;
        const char *text = colon + 1;
        if (text < end && *text == ' ') text++;
        add(l, text, (size_t)(end - text));
        x->is_test = true;
    } else if (is_golden(line, colon, end)) {
        add_golden(x, path, line + strlen("expect "), colon, end);
    }
}

static void read_expected(struct expected *x, const char *path, const char *text)
{
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        read_line(x, path, line, line + length);
        line += length + (line[length] == '\n');
    }
}

/* ---- a run ---- */

static int run_program(const struct testing *t, const char *path, const struct expected *x, const char *out,
                       const char *err)
{
    VEC(const char *) argv = {0};
    vec_push(&argv, t->o->program);
    vec_push(&argv, "run");
    vec_push(&argv, path);
    vec_push(&argv, "--color=never");
    for (size_t i = 0; i < x->options.text.count; i++) vec_push(&argv, (const char *)x->options.text.data[i]);
    vec_push(&argv, "--quiet");
    vec_push(&argv, NULL);
    const int code = process_run_to(out, err, "/proc/self/exe", argv.data, t->o->verbose);
    vec_free(&argv);
    return code;
}

/* NULL: the output is as expected.  To be freed. */
static char *compare_output(const struct lines *expected, const char *out)
{
    STRBUF(why);
    size_t n = 0;
    for (const char *line = out; *line || n < expected->text.count; n++) {
        const size_t length = strcspn(line, "\n");
        const char *want = n < expected->text.count ? expected->text.data[n] : NULL;
        size_t shown = length;
        while (shown > 0 && isspace((unsigned char)line[shown - 1])) shown--;
        if (!want || !*line || strlen(want) != shown || strncmp(want, line, shown) != 0) {
            strbuf_printf(&why, "line %zu of the output\n    expected  %s\n    found     ", n + 1,
                          want ? want : "(nothing more)");
            if (*line)
                strbuf_add(&why, line, shown);
            else
                strbuf_puts(&why, "(nothing more)");
            return strdup(strbuf_text(&why));
        }
        line += length + (line[length] == '\n');
    }
    return NULL;
}

static char *first_lines(const char *text)
{
    enum { SHOWN = 12 };
    STRBUF(b);
    int lines = 0;
    for (const char *line = text; *line && lines < SHOWN; lines++) {
        const size_t length = strcspn(line, "\n");
        strbuf_printf(&b, "\n    %.*s", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return strdup(strbuf_text(&b));
}

/* NULL: it passes.  To be freed. */
static char *judge(const struct expected *x, int code, const char *out, const char *err)
{
    char *why = NULL;
    for (size_t i = 0; i < x->errors.text.count; i++)
        if (!strstr(err, x->errors.text.data[i]))
            return asprintf(&why, "no message has '%s'", x->errors.text.data[i]) < 0 ? NULL : why;
    if (x->errors.text.count > 0 && code == EXIT_OK) return strdup("it succeeded, and an error was expected");
    if (x->errors.text.count == 0 && code != EXIT_OK) {
        char *lines = first_lines(err);
        const int got = asprintf(&why, "exit code %d%s", code, lines ? lines : "");
        free(lines);
        return got < 0 ? NULL : why;
    }
    return compare_output(&x->output, out);
}

static void test_program(struct testing *t, const char *path, const struct expected *x)
{
    STRBUF(out_path);
    STRBUF(err_path);
    strbuf_printf(&out_path, "%s/out", t->folder);
    strbuf_printf(&err_path, "%s/err", t->folder);
    const int code = run_program(t, path, x, out_path.data, err_path.data);
    if (process_interrupted()) return;
    char *out = read_file(out_path.data), *err = read_file(err_path.data);
    char *why = out && err ? judge(x, code, out, err) : strdup("what it printed cannot be read");
    t->tests++;
    t->failed += why != NULL;
    printf(why ? "FAIL %s: %s\n" : "ok   %s\n", path, why);
    fflush(stdout);
    free(why);
    free(out);
    free(err);
}

/* is_named: on the command line, so it is a test. */
static void test_file(struct testing *t, const char *path, bool is_named)
{
    struct expected x = {0};
    char *text = read_file(path);
    if (text) read_expected(&x, path, text);
    if (text && x.is_test) {
        test_program(t, path, &x);
    } else if (is_named && text) {
        fprintf(stderr, "ptoc: error: '%s' is no test: it has no comment '// expect:'\n", path);
        t->without_tests++;
    } else if (is_named) {
        fprintf(stderr, "ptoc: error: cannot read '%s': %s\n", path, strerror(errno));
        t->unreadable++;
    }
    free_lines(&x.output);
    free_lines(&x.errors);
    free_lines(&x.options);
    free(text);
}

static int is_listed(const struct dirent *e) { return e->d_name[0] != '.'; }

/* In the order of names, so that the list is the same everywhere. */
static void test_folder(struct testing *t, const char *path)
{
    struct dirent **entries = NULL;
    const int count = scandir(path, &entries, is_listed, alphasort);
    if (count < 0) {
        fprintf(stderr, "ptoc: error: cannot read '%s': %s\n", path, strerror(errno));
        t->unreadable++;
    }
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        const size_t length = strlen(name);
        STRBUF(inner);
        struct stat st;
        strbuf_printf(&inner, "%s%s%s", strcmp(path, ".") == 0 ? "" : path,
                      strcmp(path, ".") == 0 || path[strlen(path) - 1] == '/' ? "" : "/", name);
        if (!process_interrupted() && lstat(inner.data, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                test_folder(t, inner.data);
            else if (length > 4 && strcmp(name + length - 4, ".pto") == 0)
                test_file(t, inner.data, false);
        }
        free(entries[i]);
    }
    free(entries);
}

int test_main(const struct options *o)
{
    char *folder = temp_dir_create();
    struct testing t = {.o = o, .folder = folder};
    struct stat st;
    if (!folder) return EXIT_INTERNAL;
    if (o->operand_count == 0) test_folder(&t, ".");
    for (int i = 0; i < o->operand_count && !process_interrupted(); i++)
        if (stat(o->operands[i], &st) == 0 && S_ISDIR(st.st_mode))
            test_folder(&t, o->operands[i]);
        else
            test_file(&t, o->operands[i], true);
    temp_dir_remove(folder, false);
    if (process_interrupted()) return 128 + process_interrupted();
    printf("%d test%s, %d failed\n", t.tests, t.tests == 1 ? "" : "s", t.failed);
    return t.failed ? EXIT_ERRORS : t.unreadable ? EXIT_FILE : t.without_tests ? EXIT_USAGE : EXIT_OK;
}
