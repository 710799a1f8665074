/* elements.c - E11 for elements of an array of tensors: one was dropped or moved, and the others stay.
 * Idea       the elements that may be gone on some path to here are a list of pieces, as those that may have
 *            been written are.  A use is right where it is proved to be apart from all of them.
 * Tests      test/lit/sema/e11-elements.pto, test/lit/run/elements-dropped.pto
 */
#include "elements.h"

void elements_touch(struct checker *c, struct parts *ended, const struct ir_use *use, bool is_silent)
{
    const struct part *near = NULL;
    struct symbol *t = use->tensor->symbol;
    const bool is_whole_drop = use->kind == IR_USE_DROP && !use->region;
    if ((!ended->any && !ended->list) || use->kind == IR_USE_TOUCH || is_whole_drop) return;
    if (parts_are_apart(c, ended, use->region ? use->region : region_whole(c, t), &near)) return;
    const char *const how = !near ? "dropped or moved" : near->is_moved ? "moved" : "dropped";
    *ended = (struct parts){0};
    if (is_silent) return;
    diag_error(c->diag, DIAG_E11, use->at->at, "an element of '%s' was %s, and this may have it", t->name, how);
    if (near)
        diag_note(c->diag, near->at->at, "it is %s here%s", how,
                  near->at->at.begin >= use->at->at.begin ? ", in an earlier iteration of the loop" : "");
    diag_help(c->diag, "another element can be used where the indices are known to differ");
}

void elements_end(struct checker *c, struct parts *ended, const struct ir_use *use)
{
    const struct part part = {.region = use->region, .at = use->at, .is_moved = use->kind == IR_USE_MOVE};
    parts_add(c, ended, &part);
}
