/* broken.c - what is checked of a program with syntax errors.
 * Idea       an error in the body of a function says nothing against its head, nor against the other functions: these
 *            are checked, so that one run shows mistakes that do not depend on each other.
 * Invariant  where an error may have to do with more than one body, nothing is checked: it lies outside of the bodies,
 *            or a body seems to have taken in the declaration behind it, as it does where a brace is missing.
 * Tests      test/lit/sema/broken.pto, broken-outside.test
 */
#include "checker.h"
#include "syntax/c_text.h"
#include <string.h>

/* Does the word stand in the body? */
static bool has_word(struct checker *c, struct span body, const char *word)
{
    const char *text = source_get(c->front->sources, body.file)->text, *const end = text + body.end;
    const size_t length = strlen(word);
    for (const char *p = text + body.begin; (p = memmem(p, (size_t)(end - p), word, length)) != NULL; p += length)
        if (!c_text_is_word(p[-1]) && !c_text_is_word(p[length])) return true;
    return false;
}

static bool takes_in_another(struct checker *c, struct span body)
{
    return has_word(c, body, "orch") || has_word(c, body, "kernel") || has_word(c, body, "struct") ||
           has_word(c, body, "import");
}

bool broken_is_body(const struct checker *c, const struct ast *item)
{
    return c->has_syntax_error && item->kind == AST_ORCH && item->orch.body &&
           diag_errors_in(c->diag, item->orch.body->at) > 0;
}

bool broken_only_bodies(struct checker *c)
{
    int count = 0;
    for (size_t i = 0; i < c->modules.count; i++)
        for (const struct ast *item = c->modules.data[i]->ast->items; item; item = item->next)
            if (broken_is_body(c, item)) {
                if (takes_in_another(c, item->orch.body->at)) return false;
                count += diag_errors_in(c->diag, item->orch.body->at);
            }
    return count == diag_error_count(c->diag);
}
