/* body_help.c - a C body that the C compiler has refused, and that was meant in index notation.
 * Idea       in C a name is declared before it is an index: one that is first seen between brackets, and that is not
 *            of the head of the kernel, is an index variable.
 * Owner      nothing.
 * Tests      test/lit/build/body-help.pto
 */
#include "build.h"
#include "codegen.h"
#include "syntax/c_text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_word(char c) { return c == '_' || isalnum((unsigned char)c); }

static bool is_same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static bool is_of_head(const struct symbol *k, const char *text, size_t length)
{
    for (int i = 0; i < k->formal_count; i++)
        if (is_same(k->formals[i]->name, text, length)) return true;
    for (int i = 0; i < k->dim_count; i++)
        if (is_same(k->dims[i]->name, text, length)) return true;
    for (int i = 0; i < k->module->symbol_count; i++)
        if (is_same(k->module->symbols[i]->name, text, length)) return true;
    return length > 7 && memcmp(text + length - 7, "_stride", 7) == 0;
}

/* Does the name stand in [begin, at)? */
static bool is_seen(const char *begin, const char *at, const char *text, size_t length)
{
    for (const char *p = begin; p + length <= at; p++)
        if (memcmp(p, text, length) == 0 && (p == begin || !is_word(p[-1])) && !is_word(p[length])) return true;
    return false;
}

static const char *find_index(const struct symbol *k, const char *begin, const char *end)
{
    int depth = 0;
    for (const char *p = begin; p < end;) {
        const char *behind = c_text_skip(p, end);
        if (!behind) return NULL;
        if (behind == p && is_word(*p)) {
            while (behind < end && is_word(*behind)) behind++;
            const size_t length = (size_t)(behind - p);
            if (depth > 0 && !isdigit((unsigned char)*p) && !is_of_head(k, p, length) && !is_seen(begin, p, p, length))
                return p;
        } else if (behind == p) {
            depth += (*p == '[') - (*p == ']');
            behind++;
        }
        p = behind;
    }
    return NULL;
}

void body_help(const struct options *o)
{
    struct front_session s;
    if (session_open(&s, o) != EXIT_OK) return;
    for (int i = 0; i < DIAG_COUNT; i++) diag_set_warning_enabled(s.front.diag, (enum diag_id)i, false);
    s.sema.only_checks = true;
    const struct checked *checked = codegen_check(&s.front, o->input, &s.sema);
    const struct module *m = checked->modules[0];
    for (int i = 0; i < m->symbol_count; i++)
        for (const struct symbol *k = m->symbols[i]; k && k->kind == SYM_KERNEL; k = k->next_overload) {
            if (!k->decl->kernel->has_body) continue;
            const struct span at = k->decl->kernel->body_at;
            const char *text = source_get(s.front.sources, at.file)->text;
            const char *found = find_index(k, text + at.begin, text + at.end);
            if (!found) continue;
            int length = 0;
            while (is_word(found[length])) length++;
            fprintf(stderr,
                    "%s: help: in kernel '%s' the index '%.*s' is not declared: a body in index notation begins "
                    "with '=>'\n",
                    o->input, k->name, length, found);
        }
    session_close(&s);
}
