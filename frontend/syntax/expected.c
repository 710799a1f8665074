/* expected.c - a set of expected tokens as a person reads it.
 * Idea       sets that belong together get one word: thirty tokens that may begin a statement are "a statement".
 * Owner      nothing; reads names of tokens as they stand in grammar.y.
 * Invariant  at most MAX_LISTED tokens are listed; the order is that of the table, then of the grammar.
 * Blocks     never.
 * Tests      test/lit/parse/expected-tokens.pto
 */
#include "parse.h"
#include "support/strbuf.h"
#include <string.h>

enum { MAX_LISTED = 5, MAX_SET = 128, MAX_MEMBERS = 48 };

struct group {
    const char *text;                 /* NULL: the members are not listed when anything else is */
    const char *key[4];               /* all of these are expected: the group is meant */
    const char *members[MAX_MEMBERS]; /* listed as the group's text */
};

#define EXPRESSION "name", "integer", "number", "string", "true", "false", "(", "-", "!", "~", "await"
#define OPERATORS  "||", "&&", "==", "!=", "<", "<=", ">", ">=", "|", "^", "&", "<<", ">>", "+", "-", "*", "/", "%"

/* From the largest to the smallest: the first group that fits takes its members away. */
static const struct group groups[] = {
    {"a declaration",
     {"import", "orch"},
     {"import", "const", "param", "struct", "kernel", "export", "orch", "static_assert", "@"}},
    {"a statement",
     {"let", "for", "while"},
     {"name",   "integer",       "number", "string", "true",  "false", "(",    "let",    "var",   "view",
      "for",    "while",         "do",     "if",     "match", "scope", "drop", "return", "break", "continue",
      "assert", "static_assert", "print",  "@",      "{"}},
    {"an argument", {"integer", "await", "acc"}, {EXPRESSION, "out", "inout", "acc", "own"}},
    {"an extent", {"integer", "await", "?"}, {EXPRESSION, "?"}},
    {"an index", {"integer", "await", ":"}, {EXPRESSION, ":"}},
    {"an expression", {"integer", "await"}, {EXPRESSION}},
    {"a tensor", {"integer", "("}, {EXPRESSION}},
    {"a type", {"name", "array"}, {"name", "array"}},
    {"a parameter", {"name", "host", "acc"}, {"name", "in", "out", "inout", "acc", "own", "host", "scratch"}},
    {"a kernel attribute ('on', 'cost', 'extern', 'where')", {"on", "where"}, {"on", "cost", "extern", "where"}},
    {NULL, {"&&", "*", "+="}, {OPERATORS, "(", "[", ".", "as", "+="}},
    {NULL, {"&&", "*"}, {OPERATORS, "(", "[", ".", "as", ":", "in"}},
    {NULL, {"+", "*"}, {OPERATORS, "(", "[", ".", "as", ":", "in"}},
    {NULL, {";", "=", "("}, {"=", "+=", "(", "[", ".", "as"}}, // behind a call
    {NULL, {")", ",", ":"}, {":"}},                            // of a reduction
    {NULL, {"[", "("}, {"(", "[", ".", "as"}},
    {NULL, {"name", ")", ","}, {"name"}}, // behind the type of a formal: `by`
    {NULL, {"[", "."}, {"[", "."}},       // behind a type
};

static int find(const char *const *set, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (set[i] != NULL && strcmp(set[i], name) == 0) return i;
    return -1;
}

static bool fits(const struct group *g, const char *const *set, int count)
{
    for (int i = 0; i < 4 && g->key[i] != NULL; i++)
        if (find(set, count, g->key[i]) < 0) return false;
    return true;
}

static bool is_class_of_tokens(const char *name)
{
    static const char *const classes[] = {"name", "integer", "number", "string", "C body", "end of file"};
    return find(classes, (int)(sizeof classes / sizeof classes[0]), name) >= 0;
}

static void add_token_text(struct strbuf *out, const char *name)
{
    if (strcmp(name, "end of file") == 0)
        strbuf_puts(out, "the end of the file");
    else if (is_class_of_tokens(name))
        strbuf_printf(out, "%s %s", name[0] == 'i' ? "an" : "a", name);
    else
        strbuf_printf(out, "'%s'", name);
}

void expected_list(struct strbuf *out, const char *const *expected, int expected_count)
{
    const char *set[MAX_SET];
    int count = expected_count < MAX_SET ? expected_count : MAX_SET, listed = 0, hidden = 0;
    for (int i = 0; i < count; i++) set[i] = expected[i];
    // "the end of the file" is what a person wants least.
    int end = find(set, count, "end of file");
    if (end >= 0 && count > 1) set[end] = NULL;

    struct strbuf parts[MAX_LISTED] = {0};
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        if (!fits(&groups[g], set, count)) continue;
        if (groups[g].text != NULL && listed < MAX_LISTED) strbuf_puts(&parts[listed++], groups[g].text);
        for (int m = 0; m < MAX_MEMBERS && groups[g].members[m] != NULL; m++) {
            int i = find(set, count, groups[g].members[m]);
            if (i < 0) continue;
            set[i] = NULL;
            hidden += groups[g].text == NULL;
        }
    }
    for (int i = 0; i < count; i++) {
        if (set[i] == NULL) continue;
        if (listed == MAX_LISTED) break;
        add_token_text(&parts[listed++], set[i]);
    }
    if (listed == 0) strbuf_puts(&parts[listed++], hidden > 0 ? "an operator" : "something else");
    for (int i = 0; i < listed; i++) {
        strbuf_puts(out, i == 0 ? "" : i == listed - 1 ? " or " : ", ");
        strbuf_puts(out, strbuf_text(&parts[i]));
        strbuf_free(&parts[i]);
    }
}
