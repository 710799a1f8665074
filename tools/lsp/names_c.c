/* names_c.c - the names of a kernel, and constants of its file, in its C body.
 * Idea       the body is C that nobody here reads as such; but a word of it that is a formal, `a_stride` of a tensor, a
 *            dimension variable or a constant means that, unless it is a member of a struct.
 * Tests      test/lsp/rename.py
 */
#include "names_parts.h"
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

static const struct symbol *find_constant(const struct module *m, const char *text, size_t length)
{
    for (int i = 0; i < m->symbol_count; i++) {
        const struct symbol *s = m->symbols[i];
        if (s->kind == SYM_CONST && strlen(s->name) == length && memcmp(s->name, text, length) == 0) return s;
    }
    return NULL;
}

static void add_word(struct names_work *w, const struct kernel_ast *k, struct span at, const char *text)
{
    const size_t length = at.end - at.begin;
    const struct ast *n = find(k->formals, text, length, false);
    if (!n) n = find(k->generics, text, length, false);
    if (!n && (n = find(k->formals, text, length, true))) at.end = at.begin + (uint32_t)strlen(n->name);
    const struct symbol *s = n ? n->symbol : find_constant(w->module, text, length);
    if (!s) return;
    const size_t before = w->names->count;
    uses_add_symbol(w, at, NULL, s);
    if (w->names->count > before) w->names->data[w->names->count - 1].is_in_c = true;
}

void names_of_c(struct names_work *w, const struct ast *kernel)
{
    const struct span body = kernel->kernel->body_at;
    const char *text = source_get(w->result->front.sources, body.file)->text;
    const char *begin = text + body.begin, *end = text + body.end;
    size_t length;
    for (const char *p = begin; (p = c_text_name(p, end, &length, NULL)) != NULL; p += length) {
        const uint32_t at = (uint32_t)(p - text);
        const bool is_member = p > begin && (p[-1] == '.' || (p - begin > 1 && p[-1] == '>' && p[-2] == '-'));
        if (!is_member) add_word(w, kernel->kernel, (struct span){body.file, at, at + (uint32_t)length}, p);
    }
}
