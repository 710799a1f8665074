/* emit_bounds.c - prints the bounds of memory that bounds.c computed, and reports E14 if a heap is given.
 * Idea       a function, then its scopes, each with the statement that needs most.
 * Tests      test/lit/memory/bounds.pto, e14.pto
 */
#include "passes/bounds.h"
#include "codegen.h"
#include "emit.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *emit_bytes_text(struct emitter *e, const struct size *s)
{
    STRBUF(b);
    int64_t value;
    size_text(s, &b);
    const char *text =
        arena_printf(e->mem, size_is_const(s, &value) && value == 1 ? "%s byte" : "%s bytes", strbuf_text(&b));
    return text;
}

static int line_of(struct emitter *e, struct span at)
{
    return source_place(e->front->sources, at.file, at.begin).line;
}

static const char *point_text(struct emitter *e, const struct maker *at)
{
    return at->is_frame ? "its frame" : emit_source_text(e, at->at);
}

static bool is_need(const struct bound *need, const struct bound *safe)
{
    return need->point_count == 1 && safe->point_count == 1 && need->point[0].bytes == safe->point[0].bytes;
}

static void print_need(struct emitter *e, const char *indent, const char *name, const struct bound *b)
{
    if (b->unknown.name)
        out_line(e->out, "%s%s  not known before the run: line %d  %s", indent, name, line_of(e, b->unknown.at),
                 emit_source_text(e, b->unknown.at));
    else if (b->point_count == 0)
        out_line(e->out, "%s%s  0 bytes", indent, name);
    for (int i = 0; i < b->point_count; i++) {
        const char *what = i == 0 && !b->unknown.name ? name : b->unknown.name ? "and " : "or  ";
        out_line(e->out, "%s%s  %s: line %d  %s", indent, what, emit_bytes_text(e, b->point[i].bytes),
                 line_of(e, b->point[i].at.at), point_text(e, &b->point[i].at));
    }
}

/* Of a gradient: the loops that run in segments. */
static void print_plans(struct emitter *e, const struct symbol *orch)
{
    for (const struct grad_plan *p = orch->module->plans; p; p = p->next) {
        if (strcmp(p->function, orch->name) != 0) continue;
        out_line(e->out, "  keeps  %s of each of %s iterations%s%s, in segments: %s: line %d  %s", p->values, p->kept,
                 *p->copies ? ", and before each segment but the last " : "", p->copies, p->segments,
                 line_of(e, p->loop), emit_source_text(e, p->loop));
        out_line(e->out,
                 "         of %d calls of an iteration, %d run once more in each segment but the last: %.2f times the "
                 "tasks at most",
                 p->calls, p->calls_again, p->calls ? 1.0 + (double)p->calls_again / p->calls : 1.0);
    }
}

static void print_function(struct emitter *e, const struct symbol *orch)
{
    const struct function_bounds *f = bounds_of(e->plan, orch, orch->decl->orch.exported);
    struct span head = orch->decl->at;
    head.end = orch->decl->orch.body->at.begin;
    out_line(e->out, "%s:%d  %s", source_get(e->front->sources, head.file)->path, line_of(e, orch->decl->at),
             emit_source_text(e, head));
    print_need(e, "  ", "need", &f->whole);
    if (!f->whole.unknown.name && f->whole.point_count > 0 && !is_need(&f->whole, &f->safe))
        print_need(e, "  ", "safe", &f->safe);
    if (f->recursive.name) {
        out_line(e->out, "  and   for every level of recursion: line %d  %s", line_of(e, f->recursive.at),
                 emit_source_text(e, f->recursive.at));
        if (f->level) out_line(e->out, "        where a level holds %s", emit_bytes_text(e, f->level));
    }
    out_line(e->out, "  peak  %s", f->peak ? emit_bytes_text(e, f->peak) : "not known before the run");
    for (size_t i = 0; f->peak && i < f->iterations.count; i++) {
        const struct ir_op *loop = f->iterations.data[i].loop;
        const struct span says = loop->kind == IR_FOR ? loop->loop.high_at : loop->while_.cond.at;
        out_line(e->out, "  and   %s for every iteration of a loop: line %d  %s",
                 emit_bytes_text(e, f->iterations.data[i].bytes), line_of(e, loop->at), emit_source_text(e, says));
    }
    print_plans(e, orch);
    const struct ir_function *function = ptrmap_get(&e->plan->function_of, orch);
    if (function) ir_each(function->body, scratch_print_bounds, e);
    for (size_t i = 0; i < f->scopes.count; i++) {
        const struct scope_bound *s = f->scopes.data[i];
        STRBUF(b);
        for (int t = 0; t < s->scope->scope.count; t++)
            strbuf_printf(&b, "%s%s%s", t ? ", " : "", s->scope->scope.tensors[t]->name,
                          s->scope->scope.tensors[t]->hidden ? "()" : "");
        out_line(e->out, "  scope of line %d, holds %s", line_of(e, s->scope->at), strbuf_text(&b));
        print_need(e, "    ", "need", &s->need);
    }
}

void codegen_bounds(struct front *front, const struct checked *checked, const struct codegen_options *options,
                    struct strbuf *to)
{
    emit_listing(front, checked, &options->memory, print_function, to);
}

/* ---- the heap of a run ---- */

/* The symbols of the function that the run gives a value. */
struct given {
    struct size_table *sizes;
    const struct symbol *symbol[2 * MAX_FORMALS];
    const struct size *value[2 * MAX_FORMALS];
    int count;
};

static void give(struct given *g, const struct codegen_run *run, const struct symbol *s)
{
    for (int i = 0; i < run->value_count && g->count < 2 * MAX_FORMALS; i++) {
        char *end;
        const int64_t value = strtoll(run->values[i].value, &end, 10);
        if (strcmp(run->values[i].name, s->name) != 0 || *end || end == run->values[i].value) continue;
        g->symbol[g->count] = s;
        g->value[g->count++] = size_const(g->sizes, value);
    }
}

static struct given given_to(const struct checked *checked, const struct symbol *orch, const struct codegen_run *run)
{
    struct given g = {.sizes = checked->sizes};
    for (int i = 0; i < orch->dim_count; i++) give(&g, run, orch->dims[i]);
    for (int i = 0; i < orch->formal_count; i++)
        if (type_is_scalar(orch->formals[i]->type)) give(&g, run, orch->formals[i]);
    return g;
}

/* The largest of the points in that run; false: a size is not known. */
static bool largest_given(const struct given *g, const struct bound *b, bool of_fresh, int64_t *largest)
{
    for (int i = 0; i < b->point_count; i++) {
        int64_t bytes;
        const struct size *s = of_fresh ? b->point[i].fresh : b->point[i].bytes;
        if (s && g->count > 0) s = size_substitute(g->sizes, s, g->symbol, g->value, g->count);
        if (!s || !size_is_const(s, &bytes)) return false;
        if (bytes > *largest) *largest = bytes;
    }
    return !b->unknown.name;
}

/* A heap ring in which the function completes in that run; -1: its need is not known. */
static int64_t least_ring_of(struct plan *plan, const struct given *given, const struct symbol *orch, int rings)
{
    const struct function_bounds *f = bounds_of(plan, orch, orch->decl->orch.exported);
    int64_t all = 0, one = 0;
    if (!largest_given(given, &f->whole, false, &all) || f->recursive.name) return -1;
    /* A sum too large to be written hides the largest buffer; no buffer is larger than all that is held. */
    if (!largest_given(given, &f->safe, true, &one)) one = all;
    if (f->one && f->one_bytes > one) one = f->one_bytes;
    const int64_t share = (all + rings - 1) / rings;
    return share > one ? share : one;
}

static bool is_run(const struct codegen_run *run, const struct symbol *orch)
{
    return orch->decl->orch.exported && (!run->entry || strcmp(run->entry, orch->name) == 0);
}

int64_t codegen_least_ring(struct front *front, const struct checked *checked, int rings, const struct codegen_run *run)
{
    const struct memory_plan ring = {.kind = PLAN_RING};
    struct plan *plan = plan_create(front, checked, &ring, false, "frames");
    int64_t least = -1;
    for (size_t i = 0; i < plan->orchs.count; i++) {
        const struct symbol *orch = plan->orchs.data[i];
        if (!is_run(run, orch)) continue;
        const struct given given = given_to(checked, orch, run);
        const int64_t own = least_ring_of(plan, &given, orch, rings);
        if (own > least) least = own;
    }
    plan_destroy(plan);
    return least;
}

/* ---- E14 ---- */

/* The heap is cut into segments and rounded up to them: window.c of the run time, choose_segment_bytes. */
static int64_t capacity_of(int64_t ring, int rings)
{
    if (ring > INT64_MAX / 2 / rings) return INT64_MAX;
    int64_t segment = PTO_GRANULE, bytes = ring * rings;
    while (segment < PTO_HEAP_MAX_SEGMENT_BYTES && bytes / segment > PTO_HEAP_MAX_SEGMENTS) segment *= 2;
    return (bytes + segment - 1) / segment * segment;
}

static bool is_function(const struct symbol *callee) { return callee && callee->kind == SYM_ORCH; }

/* With a smaller heap ring the function is refused, as what it holds is sure. */
static int64_t sure_ring_of(const struct function_bounds *f, int rings)
{
    const struct sure_point *p = &f->worst;
    const int64_t share = (p->bytes + rings - 1) / rings;
    int64_t one = f->one ? f->one_bytes : 0;
    if (!is_function(p->at.callee) && p->fresh > one) one = p->fresh; /* a callee's buffers share the rings, too */
    return share > one ? share : one;
}

/* The heap ring to ask for: with it no function is refused, and every function completes, if all that may be run is
 * known; else there is at least twice as much as now. */
static int64_t advised_ring(struct emitter *e, const struct codegen_run *run, int64_t ring, int rings)
{
    int64_t wanted = 0, least = 0;
    bool is_known = true;
    for (size_t i = 0; i < e->plan->orchs.count; i++) {
        const struct symbol *orch = e->plan->orchs.data[i];
        const struct given none = {.sizes = e->checked->sizes}, given = given_to(e->checked, orch, run);
        const int64_t own = least_ring_of(e->plan, is_run(run, orch) ? &given : &none, orch, rings);
        const int64_t sure = sure_ring_of(bounds_of(e->plan, orch, orch->decl->orch.exported), rings);
        is_known &= own >= 0 || !is_run(run, orch);
        if (own > wanted) wanted = own;
        if (sure > least) least = sure;
    }
    const int64_t twice = ring > INT64_MAX / 2 ? ring : 2 * ring, known = is_known ? wanted : twice;
    return known > least ? known : least;
}

/* A call of a function that does not fit by itself, whatever it is given. */
static bool is_said_there(struct emitter *e, const struct symbol *callee, int64_t ring, int64_t capacity)
{
    if (!is_function(callee)) return false;
    const struct function_bounds *f = bounds_of(e->plan, callee, callee->decl->orch.exported);
    return f && (f->worst.bytes > capacity || (f->one && f->one_bytes > ring));
}

static void check_function(struct emitter *e, const struct symbol *orch, const struct codegen_run *run, int64_t ring,
                           int rings)
{
    const struct function_bounds *f = bounds_of(e->plan, orch, orch->decl->orch.exported);
    const struct sure_point *p = &f->worst;
    const int64_t capacity = capacity_of(ring, rings);
    if (f->one && f->one_bytes > ring) {
        diag_error(e->front->diag, DIAG_E14, f->one_at.at, "'%s' has %" PRId64 " bytes, and a heap ring has %" PRId64,
                   f->one->name, f->one_bytes, ring);
        diag_help(e->front->diag, "run with --heap %" PRId64 " or more", advised_ring(e, run, ring, rings));
        return;
    }
    if (!p->at.name || is_said_there(e, p->at.callee, ring, capacity)) return;
    if (p->bytes > capacity) {
        diag_error(e->front->diag, DIAG_E14, p->at.at,
                   "%" PRId64 " bytes are held here at once, and the heap has %" PRId64 ": %d ring%s of %" PRId64,
                   p->bytes, capacity, rings, rings == 1 ? "" : "s", ring);
        if (p->largest)
            diag_note(e->front->diag, p->largest->decl->name_at.end ? p->largest->decl->name_at : p->largest->decl->at,
                      "the largest that is held then is '%s' with %" PRId64 " bytes; '%s' adds %" PRId64,
                      p->largest->name, p->largest_bytes, p->at.name, p->fresh);
        diag_help(e->front->diag, "run with --heap %" PRId64 " or more, or end a lifetime earlier",
                  advised_ring(e, run, ring, rings));
    }
}

/* The same once more with the sizes that the run gives to the function.  This run may never come to a statement that
 * needs too much, so it is only refused for what every path does. */
static void check_run(struct emitter *e, const struct symbol *orch, const struct codegen_run *run, int64_t ring,
                      int rings)
{
    const struct memory_plan memory = {.kind = PLAN_RING};
    const struct given given = given_to(e->checked, orch, run);
    if (given.count == 0) return;
    struct emitter of_run = *e;
    of_run.plan = plan_create(e->front, e->checked, &memory, false, "bounds");
    ptrmap_free(&of_run.plan->ranges.known); /* found without these values */
    for (int i = 0; i < given.count; i++) {
        struct interval *value = arena_new(e->mem, struct interval);
        value->lo = value->hi = given.value[i]->value;
        ptrmap_set(&of_run.plan->ranges.given, given.symbol[i], value);
    }
    if (bounds_of(of_run.plan, orch, true)->sure > capacity_of(ring, rings))
        check_function(&of_run, orch, run, ring, rings);
    plan_destroy(of_run.plan);
}

void codegen_check_heap(struct front *front, const struct checked *checked, int64_t heap_bytes, int rings,
                        const struct codegen_run *run)
{
    /* A frame that does not fit is refused, and tasks that are joined need no more: only this is sure. */
    const struct memory_plan ring = {.kind = PLAN_RING};
    struct emitter e = {.front = front,
                        .checked = checked,
                        .mem = front->mem,
                        .plan = plan_create(front, checked, &ring, false, "frames")};
    for (size_t i = 0; i < e.plan->orchs.count; i++) check_function(&e, e.plan->orchs.data[i], run, heap_bytes, rings);
    for (size_t i = 0; i < e.plan->orchs.count && diag_error_count(front->diag) == 0; i++)
        if (is_run(run, e.plan->orchs.data[i])) check_run(&e, e.plan->orchs.data[i], run, heap_bytes, rings);
    plan_destroy(e.plan);
}
