/* emit_listing.c - the common part of the listings of a program: --emit=bounds, memory, tasks, and --dump.
 * Owner      nothing.
 * Tests      test/lit/memory, test/lit/build
 */
#include "emit.h"

void emit_listing(struct front *front, const struct checked *checked, const struct memory_plan *memory,
                  void (*print)(struct emitter *e, const struct symbol *orch), struct strbuf *to)
{
    struct out out = {0};
    struct emitter e = {.front = front,
                        .checked = checked,
                        .mem = front->mem,
                        .out = &out,
                        .plan = plan_create(front, checked, memory, false, NULL)};
    for (size_t i = 0; i < e.plan->orchs.count; i++) {
        if (i > 0) out_line(e.out, "%s", "");
        print(&e, e.plan->orchs.data[i]);
    }
    out_render(&out, "", false, to);
    out_clear(&out);
    plan_destroy(e.plan);
}
