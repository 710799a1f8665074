/* members.c - members that other languages have, after a name that has none.
 * Owner      nothing: attaches help to the message that is being built.
 * Tests      test/lit/reject/mistakes.test
 */
#include "checker.h"
#include <string.h>

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

static bool help_with_word(struct checker *c, const char *name, const char *object)
{
    static const char *const sizes[] = {"shape", "size", "len", "length", "count", "dim", "extent", "rows", "cols"},
                             *const shapes[] = {"reshape", "view", "flatten", "ravel"},
                             *const orders[] = {"transpose", "t", "swapaxes"}, *const values[] = {"item", "get", "at"};
    if (is_one_of(name, sizes, sizeof sizes / sizeof *sizes))
        diag_help(c->diag, "the extent of its first dimension is 'dim(%s, 0)'", object);
    else if (is_one_of(name, shapes, sizeof shapes / sizeof *shapes))
        diag_help(c->diag, "the same elements with other extents are '%s as [M, K]'", object);
    else if (is_one_of(name, orders, sizeof orders / sizeof *orders))
        diag_help(c->diag, "'%s.T' exchanges the last two dimensions, '%s.permute(1, 0)' any", object, object);
    else if (is_one_of(name, values, sizeof values / sizeof *values))
        diag_help(c->diag, "the value of one element is 'await %s[0]'", object);
    else
        return false;
    return true;
}

void members_help(struct checker *c, const struct ast *e)
{
    if (e->member.object->kind == AST_NAME) help_with_word(c, e->name, e->member.object->name);
}

void members_help_call(struct checker *c, const struct ast *callee, const struct symbol *object)
{
    const struct type *t = object->type;
    if (object->kind < SYM_FORMAL && object->kind != SYM_CONST && object->kind != SYM_PARAM) return;
    for (const struct symbol *s = names_in_module(c->module, object->name); s && s->kind == SYM_MODULE && s->decl;) {
        diag_note(c->diag, object->decl->name_at, "this '%s' hides the module of that name", object->name);
        return;
    }
    if (t->kind == TYPE_TENSOR && strcmp(callee->name, "T") == 0)
        diag_help(c->diag, "it is no call: '%s.T'", object->name);
    else if (t->kind != TYPE_TENSOR || !help_with_word(c, callee->name, object->name))
        diag_help(c->diag, "the name of the function comes first: %s(%s)", callee->name, object->name);
}
