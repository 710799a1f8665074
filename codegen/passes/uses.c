/* uses.c - what is asked of a function when its body has been checked.
 * Idea       the uses of the function are lowered, each pass walks them, and they are gone: only what the passes noted
 *            with its tensors stays.
 * Tests      test/lit/sema/
 */
#include "uses.h"
#include "codegen.h"
#include "ir/lower_uses.h"
#include "sema/checker.h"
#include "support/arena.h"

static void run_passes(struct checker *c, struct symbol *orch)
{
    struct arena *mem = arena_create();
    c->function = orch;
    struct ir_function *f = lower_uses(c, mem, orch);
    ir_expect_valid(c->front, f, "uses");
    if (c->options->uses && c->module->is_main) ir_print(c->front, f, c->options->uses);
#define CHECK_PASS(name) pass_##name(c, f);
#include "passes.def"
    c->function = NULL;
    arena_destroy(mem);
}

struct checked *codegen_check(struct front *front, const char *path, const struct sema_options *options)
{
    struct sema_options with_passes = *options;
    with_passes.passes = run_passes;
    return sema_check(front, path, &with_passes);
}
