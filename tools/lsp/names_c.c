/* names_c.c - the names of a kernel, and constants of its file, in its C body.
 * Idea       a word of the body that is a formal, `a_stride` of a tensor, a dimension variable or a constant means
 *            that, unless it is a member of a struct, where it is declared or used, or the tag of one.  No more of C is
 *            known: a rename has the C compiler look at what it changed.
 * Tests      test/lsp/rename.py
 */
#include "names_parts.h"
#include "support/intern.h"
#include "syntax/c_text.h"
#include <string.h>

/* The declaration with that name in the list, or whose name with "_stride" behind it that is. */
static const struct ast *find(const struct ast *list, const char *text, size_t length, bool is_stride)
{
    static const char suffix[] = "_stride";
    const size_t tail = is_stride ? sizeof suffix - 1 : 0;
    if (length <= tail || (is_stride && memcmp(text + length - tail, suffix, tail) != 0)) return NULL;
    for (; list; list = list->next)
        if (list->name && strlen(list->name) == length - tail && memcmp(list->name, text, length - tail) == 0)
            return list;
    return NULL;
}

static const struct symbol *find_constant(const struct names_work *w, const char *text, size_t length)
{
    const struct symbol *s = uses_lookup(w->module, intern(w->result->front.names, text, length));
    return s && s->kind == SYM_CONST ? s : NULL;
}

static void add_word(struct names_work *w, const struct kernel_ast *k, struct span at, const char *text)
{
    const size_t length = at.end - at.begin;
    const struct ast *n = find(k->formals, text, length, false);
    if (!n) n = find(k->generics, text, length, false);
    if (!n && (n = find(k->formals, text, length, true))) at.end = at.begin + (uint32_t)strlen(n->name);
    const struct symbol *s = n ? n->symbol : find_constant(w, text, length);
    if (!s) return;
    const size_t before = w->names->count;
    uses_add_symbol(w, at, NULL, s);
    if (w->names->count > before) w->names->data[w->names->count - 1].is_in_c = true;
}

/* What stands before a word of the body. */
struct before {
    struct strbuf open; /* brackets that are not closed yet: ( [ { or, of the members of a struct or union, s */
    char last, older;   /* the last two characters that are no blanks, outside comments and literals */
    bool is_tag;        /* the last word is struct, union or enum */
    bool has_members;   /* ... or the tag after it: a brace that comes now opens the members */
    bool is_width;      /* of a member: what follows is its number of bits */
};

static void see_mark(struct before *b, char c)
{
    b->older = b->last;
    b->last = c;
    if (c == '{' || c == '(' || c == '[') strbuf_putc(&b->open, c == '{' && b->has_members ? 's' : c);
    if ((c == '}' || c == ')' || c == ']') && b->open.length > 0) b->open.length--;
    b->is_width = c == ':' || (b->is_width && !strchr(";,{", c));
    b->is_tag = b->has_members = false;
}

/* The text between two words. */
static void see_marks(struct before *b, const char *p, const char *end)
{
    while (p < end) {
        const char *after = c_text_skip(p, end);
        if (!after) return;
        if (after == p && !strchr(" \t\r\n\\", *p)) see_mark(b, *p);
        p = after > p ? after : p + 1;
    }
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static void see_word(struct before *b, const char *text, size_t length)
{
    const bool has_members = is_word(text, length, "struct") || is_word(text, length, "union");
    b->has_members = has_members || (b->is_tag && b->has_members);
    b->is_tag = has_members || is_word(text, length, "enum");
    b->older = b->last;
    b->last = 'w';
}

/* Does a word that stands here belong to a struct? */
static bool is_of_struct(const struct before *b)
{
    const bool is_after_dot = b->last == '.' && b->older != '.'; /* `case 1 ... N` of GNU C has more dots */
    const bool is_after_arrow = b->last == '>' && b->older == '-';
    const bool is_declared = b->open.length > 0 && b->open.data[b->open.length - 1] == 's' && !b->is_width;
    return is_after_dot || is_after_arrow || is_declared || b->is_tag;
}

void names_of_c(struct names_work *w, const struct ast *kernel)
{
    const struct span body = kernel->kernel->body_at;
    const char *text = source_get(w->result->front.sources, body.file)->text;
    const char *seen = text + body.begin, *end = text + body.end;
    struct before before = {0};
    size_t length;
    for (const char *p = seen; (p = c_text_name(p, end, &length, NULL)) != NULL; seen = p += length) {
        const uint32_t at = (uint32_t)(p - text);
        see_marks(&before, seen, p);
        if (!is_of_struct(&before)) add_word(w, kernel->kernel, (struct span){body.file, at, at + (uint32_t)length}, p);
        see_word(&before, p, length);
    }
    strbuf_free(&before.open);
}
