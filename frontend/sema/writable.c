/* writable.c - may a function write there: a call through a marked argument, or an assignment.
 * Tests      test/lit/sema/e08*.pto test/lit/reject/markers.test
 */
#include "checker.h"
#include "syntax/ast_walk.h"

struct count {
    const struct ast *formal;
    int names;
};

static bool count_name(void *cx, struct ast *n)
{
    struct count *count = cx;
    count->names += n->kind == AST_NAME && n->symbol && n->symbol->decl == count->formal;
    return true;
}

/* The function has named the formal before, so it reads it: `out` would be E06 there.  A struct has other fields. */
static bool has_other_uses(struct checker *c, const struct symbol *base)
{
    if (base->name != base->decl->name) return true;
    struct count count = {.formal = base->decl};
    ast_walk(c->function->decl->orch.body, count_name, &count);
    return count.names > 1;
}

static void fix_direction(struct checker *c, const struct symbol *base, enum direction dir)
{
    const struct ast *d = base->decl;
    const bool is_marked = d->formal.dir != DIR_NONE;
    const char *need = dir == DIR_OWN ? "own" : dir == DIR_OUT && !has_other_uses(c, base) ? "out" : "inout";
    diag_note(c->diag, d->at, "'%s' is declared here", base->name);
    diag_fix(c->diag, is_marked ? d->formal.dir_at : (struct span){d->at.file, d->name_at.begin, d->name_at.begin},
             is_marked ? need : arena_printf(c->mem, "%s ", need), "make it '%s'", need);
}

bool writable_check(struct checker *c, const struct ast *at, const struct symbol *base, enum direction dir)
{
    if (base->kind != SYM_FORMAL || !direction_writes(dir)) return true;
    const enum direction has = base->dir;
    if (has == DIR_OUT || has == DIR_INOUT || has == DIR_OWN || (has == DIR_ACC && dir == DIR_ACC)) return true;
    if (structs_is_host_field(base)) {
        diag_error(c->diag, DIAG_E08, at->at, "'%s' is a host field: no task writes it", base->name);
        diag_note(c->diag, base->decl->at, "'%s' is declared here", base->decl->name);
        return false;
    }
    diag_error(c->diag, DIAG_E08, at->at, "'%s' is %s '%s' formal of '%s' and cannot be %s here", base->name,
               has == DIR_HOST ? "a" : "an", direction_text(has), c->function->name,
               dir == DIR_OWN   ? "moved"
               : dir == DIR_ACC ? "accumulated into"
                                : "written");
    if (base->decl) fix_direction(c, base, dir);
    return false;
}
