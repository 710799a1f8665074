/* plan.c - the passes, in their order.
 * Idea       a pass reads what earlier ones left in the plan and in the IR; what it leaves stays true for later ones.
 * Invariant  in builds with checks the IR is verified behind each pass that writes it.
 * Tests      test/codegen/test_verify.c, test/lit/ir
 */
#include "passes/bounds.h"
#include "passes/frames.h"
#include "ir/lower.h"
#include "support/arena.h"
#include <string.h>

struct pass {
    const char *name;
    void (*run)(struct plan *p);
    bool writes_ir;
};

static const struct pass passes[] = {
#define PLAN_PASS(name, writes_ir) {#name, name##_run, writes_ir},
#include "passes.def"
};

/* A program that could not be lowered was refused. */
static void verify(const struct plan *p, const char *pass)
{
    for (size_t i = 0; i < p->functions.count && diag_error_count(p->front->diag) == 0; i++)
        ir_expect_valid(p->front, p->functions.data[i], pass);
}

struct plan *plan_create(struct front *front, const struct checked *checked, const struct memory_plan *memory,
                         bool checked_runs, const char *last)
{
    struct plan *p = arena_new(front->mem, struct plan);
    p->front = front;
    p->mem = front->mem;
    p->checked = checked;
    p->memory = *memory;
    p->checked_runs = checked_runs;
    p->ranges.mem = p->mem;
    p->lowering = lowering_begin(front, checked, p->mem, &p->ranges);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        passes[i].run(p);
        if (passes[i].writes_ir) verify(p, passes[i].name);
        if (last && strcmp(last, passes[i].name) == 0) break;
    }
    return p;
}

bool plan_has_pass(const char *name)
{
    bool is_lowered = false;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        is_lowered |= passes[i].writes_ir; /* the first that does is `lower` */
        if (is_lowered && strcmp(passes[i].name, name) == 0) return true;
    }
    return false;
}

void plan_destroy(struct plan *p)
{
    lowering_end(p->lowering);
    vec_free(&p->functions);
    vec_free(&p->exports);
    vec_free(&p->orchs);
    vec_free(&p->kernels);
    for (size_t i = 0; i < p->bound_list.count; i++)
        vec_free(&p->bound_list.data[i]->scopes), vec_free(&p->bound_list.data[i]->iterations);
    vec_free(&p->bound_list);
    ptrmap_free(&p->ring.bounds);
    ptrmap_free(&p->framed.bounds);
    ptrmap_free(&p->function_of);
    ptrmap_free(&p->moved_in);
    ptrmap_free(&p->gapped);
    ptrmap_free(&p->writers);
    for (size_t i = 0; i < p->frame_list.count; i++) {
        vec_free(&p->frame_list.data[i]->tensors);
        vec_free(&p->frame_list.data[i]->slots);
        vec_free(&p->frame_list.data[i]->added);
    }
    vec_free(&p->frame_list);
    vec_free(&p->joined_kernels);
    ptrmap_free(&p->joined);
    ptrmap_free(&p->last_of);
    ptrmap_free(&p->frames);
    ptrmap_free(&p->slots);
    ptrmap_free(&p->ranges.known);
    ptrmap_free(&p->ranges.given);
}

const struct call *plan_joined(const struct plan *p, const struct call *call)
{
    for (const struct call *next = call; next; next = ptrmap_get(&p->joined, call)) call = next;
    return call;
}

bool tensor_is_new(const struct symbol *s)
{
    return s->kind == SYM_LET && s->type && s->type->kind == TYPE_TENSOR && !s->region;
}

bool tensor_has_one_writer(const struct plan *p, const struct symbol *s)
{
    const struct tensor_writers *const it = ptrmap_get(&p->writers, s);
    return it && it->count == 1 && !it->is_shared;
}

bool formal_is_moved_in(const struct plan *p, const struct symbol *s)
{
    return s->kind == SYM_FORMAL && s->type->kind == TYPE_TENSOR &&
           (s->dir == DIR_OWN || ptrmap_get(&p->moved_in, s) != NULL);
}

void symbol_leaves(struct symbol *s, symbol_list *list)
{
    if (!type_is_struct(s->type)) vec_push(list, s);
    for (int i = 0; i < s->field_count; i++) symbol_leaves(s->fields[i], list);
}

void flat_formals(const struct symbol *callee, symbol_list *list)
{
    for (int i = 0; i < callee->formal_count; i++) symbol_leaves(callee->formals[i], list);
}

void flat_results(const struct symbol *callee, symbol_list *list)
{
    if (callee->result_place) symbol_leaves(callee->result_place, list);
    for (int i = 0; callee->result_place && i < callee->result_place->decided_count; i++)
        vec_push(list, callee->result_place->decided[i]);
}
