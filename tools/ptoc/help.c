/* help.c - ptoc help: the verbs, and the usage and the options of one, on a terminal or as a man page.
 * Idea       both are made from the tables that the command line is read with, so they cannot differ.
 * Owner      nothing.
 * Tests      test/lit/diag/help.test, usage.test
 */
#include "option_values.h"
#include "run_lists.h"
#include "support/nearest.h"
#include <stdio.h>
#include <string.h>

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name, *operands, *summary, *text;
} verbs[] = {
#define VERB(id, name, operands, summary, text) {name, operands, summary, text},
#include "verbs.def"
#undef VERB
};

struct row {
    unsigned verbs;
    const char *form, *help;
};

/* --emit has the list of kinds as its help. */
static const struct row rows[] = {
#define ROW(name, value, verbs, id, form, help) {verbs, form, help},
#include "options.def"
#undef ROW
};

static const struct {
    const char *name, *value;
    unsigned verbs;
    const char *help;
} run_rows[] = {
#define OPTION(name, text, value, verbs, help) {"--" text, value, FOR_##verbs, help},
#include "host/options.def"
#undef OPTION
};

static void print_kinds(FILE *out)
{
    for (int i = 0; i < EMIT_COUNT; i++)
        fprintf(out, "%s%s%s", i ? ", " : "", option_emit_names[i], i == EMIT_BIN ? " (default)" : "");
    fputs("; text goes to standard output without -o", out);
}

/* ---- on a terminal ---- */

static void print_row(FILE *out, const struct row *row)
{
    fprintf(out, "  %-26s ", row->form);
    if (strlen(row->form) > 26) fprintf(out, "\n%29s", "");
    if (row->help)
        fputs(row->help, out);
    else
        print_kinds(out);
    fputc('\n', out);
}

static void print_rows(FILE *out, unsigned verbs_bits)
{
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].form && (rows[i].verbs & verbs_bits || (rows[i].verbs == 0 && verbs_bits & FOR_BUILD)))
            print_row(out, &rows[i]);
}

static void print_all(FILE *out)
{
    for (int i = 0; i < VERBS; i++) {
        char usage[80];
        if (!verbs[i].text) continue;
        snprintf(usage, sizeof usage, "ptoc %s %s", verbs[i].name, verbs[i].operands);
        fprintf(out, "%-40s %s\n", usage, verbs[i].summary);
    }
    fputs("ptoc VERB --help, ptoc --version\n\n", out);
    print_rows(out, FOR_BUILD);
    fputs(
        "\nRun options are those of the built program: ptoc help run lists them.\n'-' as the file is standard input.\n",
        out);
}

static void print_run_rows(FILE *out, unsigned bit)
{
    for (int i = 0; i < COUNT(run_rows); i++) {
        char form[64];
        if (!(run_rows[i].verbs & bit)) continue;
        snprintf(form, sizeof form, "%s%s%s", run_rows[i].name, run_rows[i].value ? " " : "",
                 run_rows[i].value ? run_rows[i].value : "");
        print_row(out, &(struct row){0, form, run_rows[i].help});
    }
}

/* Paragraphs, in lines of a terminal; a line with a `//` stays as it is. */
static void print_text(FILE *out, const char *text)
{
    enum { WIDTH = 100 };
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        size_t column = 0;
        if (strncmp(line, "//", 2) == 0) {
            fprintf(out, "  %.*s", (int)length, line);
        } else {
            for (const char *word = line; word < line + length;) {
                const size_t end = strcspn(word, " \n");
                if (column > 0 && column + 1 + end > WIDTH) fputc('\n', out), column = 0;
                fprintf(out, "%s%.*s", column ? " " : "", (int)end, word);
                column += (column > 0) + end;
                word += end + (word[end] == ' ');
            }
        }
        fputc('\n', out);
        line += length + (line[length] == '\n');
    }
}

static void print_verb(FILE *out, int v)
{
    fprintf(out, "usage: ptoc %s %s [options]\n\n", verbs[v].name, verbs[v].operands);
    if (verbs[v].text) print_text(out, verbs[v].text);
    fputs("\noptions\n", out);
    print_rows(out, 1U << v);
    if (1 << v & FOR_BOTH) {
        fputs("\noptions of the run\n", out);
        print_run_rows(out, 1U << v);
    }
}

/* ---- as a man page ---- */

static void man_text(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (p == text && (*p == '.' || *p == '\'')) fputs("\\&", out);
        if (*p == '\\')
            fputs("\\e", out);
        else if (*p == '-')
            fputs("\\-", out);
        else
            fputc(*p, out);
        if (*p == '\n' && (p[1] == '.' || p[1] == '\'')) fputs("\\&", out);
    }
}

static void man_item(FILE *out, const char *form, const char *help)
{
    fputs(".TP\n.B ", out);
    man_text(out, form);
    fputc('\n', out);
    if (help)
        man_text(out, help);
    else
        print_kinds(out);
    fputc('\n', out);
}

static void man_paragraphs(FILE *out, const char *text)
{
    bool is_table = false;
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        char part[1024];
        snprintf(part, sizeof part, "%.*s", (int)length, line);
        const bool is_row = strncmp(part, "//", 2) == 0;
        if (is_row != is_table) fputs(is_row ? ".nf\n" : ".fi\n", out);
        is_table = is_row;
        if (length == 0)
            fputs(".PP\n", out);
        else
            man_text(out, part), fputc('\n', out);
        line += length + (line[length] == '\n');
    }
    if (is_table) fputs(".fi\n", out);
}

static void man_head(FILE *out, const char *title, const char *name, const char *summary)
{
    fprintf(out,
            ".\\\" Made by 'ptoc help --man' from the tables of the command line.\n.TH %s 1 \"\" ptoc ptoc\n.SH NAME\n",
            title);
    man_text(out, name);
    fputs(" \\- ", out);
    man_text(out, summary);
    fputs("\n.SH SYNOPSIS\n.B ", out);
}

static void man_verb(FILE *out, int v)
{
    char title[40], name[40];
    snprintf(title, sizeof title, "PTOC\\-%s", verbs[v].name);
    snprintf(name, sizeof name, "ptoc-%s", verbs[v].name);
    man_head(out, title, name, verbs[v].summary);
    fprintf(out, "ptoc %s\n", verbs[v].name);
    man_text(out, verbs[v].operands);
    fputs(" [options]\n.SH DESCRIPTION\n", out);
    if (verbs[v].text) man_paragraphs(out, verbs[v].text);
    fputs(".SH OPTIONS\n", out);
    for (int i = 0; i < COUNT(rows); i++)
        if (rows[i].form && (rows[i].verbs & 1U << v || (rows[i].verbs == 0 && 1 << v & FOR_BUILD)))
            man_item(out, rows[i].form, rows[i].help);
    if (1 << v & FOR_BOTH) fputs(".SS Options of the run\n", out);
    for (int i = 0; i < COUNT(run_rows); i++) {
        char form[64];
        if (!(run_rows[i].verbs & 1U << v)) continue;
        snprintf(form, sizeof form, "%s%s%s", run_rows[i].name, run_rows[i].value ? " " : "",
                 run_rows[i].value ? run_rows[i].value : "");
        man_item(out, form, run_rows[i].help);
    }
    fputs(
        ".SH \"EXIT STATUS\"\n0 ok; 1 an error in the program or the run; 2 usage; 3 internal error or out of memory; "
        "4 a file.\n.SH \"SEE ALSO\"\n.BR ptoc (1)\n",
        out);
}

static void man_all(FILE *out)
{
    man_head(out, "PTOC", "ptoc", "compiler of .pto programs and runner of what they make");
    fputs("ptoc\nVERB [operands] [options]\n.SH VERBS\n", out);
    for (int i = 0; i < VERBS; i++) {
        char usage[80];
        if (!verbs[i].text) continue;
        snprintf(usage, sizeof usage, "ptoc %s %s", verbs[i].name, verbs[i].operands);
        man_item(out, usage, verbs[i].summary);
    }
    fputs(".SH \"SEE ALSO\"\n", out);
    const char *between = "";
    for (int i = 0; i < VERBS; i++)
        if (verbs[i].text) {
            fprintf(out, "%s.BR ptoc\\-%s (1)", between, verbs[i].name);
            between = ",\n";
        }
    fputc('\n', out);
}

int help_main(const struct options *o)
{
    const char *names[VERBS];
    if (!o->topic) {
        (o->man ? man_all : print_all)(stdout);
        return EXIT_OK;
    }
    for (int v = 0; v < VERBS; v++) {
        names[v] = verbs[v].name;
        if (strcmp(verbs[v].name, o->topic) != 0) continue;
        (o->man ? man_verb : print_verb)(stdout, v);
        return EXIT_OK;
    }
    const char *nearest = nearest_word(o->topic, names, VERBS);
    if (nearest) return usage_error("unknown verb '%s'; did you mean '%s'?", o->topic, nearest);
    return usage_error("unknown verb '%s'; 'ptoc --help' lists the verbs", o->topic);
}
