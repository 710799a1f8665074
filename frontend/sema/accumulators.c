/* accumulators.c - `acc d: f32[1] by max`: a formal whose parts combine.
 * Gives      by of a formal.
 * Tests      test/lit/sema/by.pto, by-wrong.pto
 */
#include "checker.h"
#include "support/nearest.h"
#include <string.h>

static const struct {
    const char *word, *id;
    bool is_bitwise;
} operations[BY_COUNT] = {
    {"", "NONE", false},
#define PTO_BY_OPERATION(id, name, is_bitwise) {#name, #id, is_bitwise},
#include <pto/by.def>
};

const char *accumulators_word(enum by_operation by) { return operations[by].word; }
const char *accumulators_id(enum by_operation by) { return operations[by].id; }

static enum by_operation find_operation(struct checker *c, const struct ast *by)
{
    const char *words[BY_COUNT];
    const struct span at = {by->at.file, by->name_at.begin, by->name_at.end};
    for (int i = 0; i < BY_COUNT; i++) {
        words[i] = operations[i].word;
        if (i > 0 && strcmp(by->name, words[i]) == 0) return (enum by_operation)i;
    }
    diag_error(c->diag, DIAG_E01, at, "unknown operation '%s' after 'by'", by->name);
    static const struct {
        const char *word, *meant; /* meant NULL: there is no such operation */
    } foreign[] = {{"add", "sum"},     {"plus", "sum"}, {"mul", "prod"}, {"product", "prod"}, {"maximum", "max"},
                   {"minimum", "min"}, {"all", "and"},  {"any", "or"},   {"avg", NULL},       {"mean", NULL}};
    const char *near = nearest_word(by->name, words + 1, BY_COUNT - 1);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(by->name, foreign[i].word) == 0) near = foreign[i].meant;
    if (near)
        diag_fix(c->diag, at, near, "did you mean '%s'?", near);
    else
        diag_help(c->diag, "the operations are sum, prod, min, max, and, or and xor");
    return BY_NONE;
}

/* From the end of the type to the end of the formal. */
static struct span tail_of(const struct ast *node)
{
    return (struct span){node->at.file, node->formal.type->at.end, node->formal.by->at.end};
}

/* Has the formal of this kernel or function a `by` that means something? */
static bool is_accumulator(struct checker *c, const struct symbol *s, const struct symbol *f, const struct ast *node)
{
    const struct ast *by = node->formal.by;
    if (strcmp(by->by.word, "by") != 0) {
        diag_error(c->diag, DIAG_E00, by->by.word_at, "unknown word '%s' after the type of '%s'", by->by.word, f->name);
        diag_fix(c->diag, by->by.word_at, "by", "'by' follows the type of an 'acc' formal");
        return false;
    }
    if (s->kind != SYM_KERNEL) {
        diag_error(c->diag, DIAG_E08, by->at,
                   "'by' has no meaning in a function: the kernels that '%s' is given to have it", f->name);
        diag_fix(c->diag, tail_of(node), "", "remove 'by %s'", by->name);
        return false;
    }
    if (node->formal.dir == DIR_ACC) return true;
    diag_error(c->diag, DIAG_E08, by->at, "'%s' is no 'acc' formal: only an accumulator has 'by'", f->name);
    if (f->type->kind != TYPE_TENSOR)
        diag_fix(c->diag, tail_of(node), "", "remove 'by %s'", by->name);
    else if (node->formal.dir == DIR_NONE)
        diag_fix(c->diag, (struct span){node->at.file, node->name_at.begin, node->name_at.begin}, "acc ",
                 "make it 'acc'");
    else
        diag_fix(c->diag, node->formal.dir_at, "acc", "make it 'acc'");
    return false;
}

static bool combines(enum by_operation by, enum elem e)
{
    const bool is_float = e >= ELEM_F16 && e <= ELEM_F64;
    return operations[by].is_bitwise ? !is_float : e != ELEM_BOOL;
}

static bool check_elements(struct checker *c, const struct symbol *f, const struct ast *node, enum by_operation by)
{
    const struct symbol *variable = f->type->variable;
    for (int e = ELEM_F16; e <= ELEM_BOOL; e++) {
        const bool is_possible = variable ? variable->elem_set >> e & 1 : f->type->elem == (enum elem)e;
        if (!is_possible || combines(by, (enum elem)e)) continue;
        diag_error(c->diag, DIAG_E02, node->formal.by->at, "elements of type %s do not combine by %s",
                   variable ? arena_printf(c->mem, "%s, which may be %s,", variable->name, elem_name((enum elem)e))
                            : elem_name((enum elem)e),
                   operations[by].word);
        diag_help(c->diag, operations[by].is_bitwise ? "and, or and xor are for integers and bool"
                                                     : "sum, prod, min and max are for integers and floats; and, or "
                                                       "and xor for bool");
        return false;
    }
    return true;
}

void accumulators_check(struct checker *c, struct symbol *s, struct symbol *f, const struct ast *node)
{
    const enum by_operation by = is_accumulator(c, s, f, node) ? find_operation(c, node->formal.by) : BY_NONE;
    if (by != BY_NONE && (f->type->kind != TYPE_TENSOR || check_elements(c, f, node, by)))
        f->by = by;
    else
        notes_bad(s->decl);
}
