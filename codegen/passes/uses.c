/* uses.c - what is asked of a function when its body has been checked.
 * Idea       the function is lowered, and each pass walks it.  Where code may be asked for, it is kept; else only what
 *            the passes noted with its tensors stays.
 * Tests      test/lit/sema/
 */
#include "uses.h"
#include "codegen.h"
#include "grad/grad.h"
#include "ir/lower.h"
#include "sema/checker.h"
#include "support/arena.h"

static struct ir_function *lower(struct checker *c, struct arena *mem, struct symbol *orch)
{
    struct ranges ranges = {.mem = mem};
    struct lowering *l = lowering_begin(c->front, c->checked, mem, &ranges);
    struct ir_function *f = lower_function(l, orch);
    lowering_end(l);
    ptrmap_free(&ranges.known);
    if (!f->unsupported) ir_expect_valid(c->front, f, "lower");
    return f;
}

static void run_passes(struct checker *c, struct symbol *orch)
{
    struct arena *scratch = c->options->scratch, *mem = scratch ? scratch : c->mem;
    c->function = orch;
    struct ir_function *f = lower(c, mem, orch);
    if (c->options->uses && c->module->is_main) ir_print_uses(c->front, f, c->options->uses);
#define CHECK_PASS(name) pass_##name(c, f);
#include "passes.def"
    c->function = NULL;
    if (scratch)
        arena_reset(scratch);
    else
        ptrmap_set(&c->checked->functions, orch, f);
}

struct checked *codegen_check(struct front *front, const char *path, const struct sema_options *options)
{
    struct sema_options with_passes = *options;
    with_passes.passes = run_passes;
    with_passes.gradients = grad_module;
    if (options->only_checks) with_passes.scratch = arena_create();
    struct checked *checked = sema_check(front, path, &with_passes);
    arena_destroy(with_passes.scratch);
    return checked;
}
