/* kernel_body.c - the names that the C body of a kernel uses.
 * Idea       the body is C, so the kernel's names must not be words of C; the names in it determine its requirements.
 * Gives      contiguous_dims of formals.
 * Tests      test/lit/sema/e16*.pto e18*.pto
 */
#include "checker.h"
#include "syntax/c_text.h"
#include <string.h>

static const char *const c_keywords[] = {
    "auto",   "bool",   "break",    "case",     "char",     "const", "continue", "default", "do",
    "double", "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline",
    "int",    "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static",
    "struct", "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while",
};

static void check_c_name(struct checker *c, const struct symbol *s)
{
    /* _Bool, __asm__ and all that a C compiler may add. */
    bool taken = s->name[0] == '_' && (s->name[1] == '_' || (s->name[1] >= 'A' && s->name[1] <= 'Z'));
    for (size_t i = 0; i < sizeof c_keywords / sizeof *c_keywords && !taken; i++)
        taken = strcmp(c_keywords[i], s->name) == 0;
    if (!taken) return;
    diag_error(c->diag, DIAG_E16, s->decl->kind == AST_FORMAL ? s->decl->name_at : s->decl->at,
               "'%s' is a word of C: a kernel with a C body cannot use it as a name", s->name);
    diag_help(c->diag, "give it another name; names are the kernel's own, callers do not see them");
}

static void check_stride_name(struct checker *c, const struct symbol *s, const struct symbol *tensor,
                              const char *stride)
{
    if (strcmp(s->name, stride) == 0)
        diag_error(c->diag, DIAG_E16, s->decl->name_at, "'%s' is already the name of the strides of '%s'", stride,
                   tensor->name);
}

void kernel_body_check(struct checker *c, struct symbol *s)
{
    struct span at = s->decl->kernel->body_at;
    const char *text = source_get(c->front->sources, at.file)->text;
    for (int i = 0; i < s->elem_count; i++) check_c_name(c, s->elems[i]);
    for (int i = 0; i < s->dim_count; i++) check_c_name(c, s->dims[i]);
    for (int i = 0; i < s->declared_count; i++) {
        struct symbol *f = s->declared[i];
        check_c_name(c, f);
        if (f->type->kind != TYPE_TENSOR) continue;
        const char *stride = arena_printf(c->mem, "%s_stride", f->name);
        const int named = c_text_indexed(text + at.begin, text + at.end, stride);
        if (named < f->type->rank) f->contiguous_dims = f->type->rank - named;
        for (int k = 0; k < s->declared_count; k++) check_stride_name(c, s->declared[k], f, stride);
        for (int k = 0; k < s->dim_count; k++) check_stride_name(c, s->dims[k], f, stride);
    }
}
