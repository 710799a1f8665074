#include "bounds.h"
#include "frames.h"
#include "support/arena.h"

struct pass {
    const char *name;
    void (*run)(struct plan *p);
};

static const struct pass passes[] = {
    // read top to bottom: this is the order
    {"reach", reach_analyze},   {"scopes", scopes_analyze}, {"liveness", liveness_analyze},
    {"bounds", bounds_analyze}, {"frames", frames_analyze},
};

struct plan *plan_create(const struct checked *checked, const struct memory_plan *memory, struct arena *mem)
{
    struct plan *p = arena_new(mem, struct plan);
    p->mem = mem;
    p->checked = checked;
    p->memory = *memory;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) passes[i].run(p);
    return p;
}

void plan_destroy(struct plan *p)
{
    vec_free(&p->exports);
    vec_free(&p->orchs);
    vec_free(&p->kernels);
    for (size_t i = 0; i < p->block_list.count; i++) vec_free(&p->block_list.data[i]->tensors);
    vec_free(&p->block_list);
    for (size_t i = 0; i < p->end_list.count; i++) {
        vec_free(&p->end_list.data[i]->before);
        vec_free(&p->end_list.data[i]->behind);
        vec_free(&p->end_list.data[i]->other);
    }
    vec_free(&p->end_list);
    for (size_t i = 0; i < p->bound_list.count; i++)
        vec_free(&p->bound_list.data[i]->scopes), vec_free(&p->bound_list.data[i]->iterations);
    vec_free(&p->bound_list);
    ptrmap_free(&p->bounds);
    for (size_t i = 0; i < p->frame_list.count; i++) {
        vec_free(&p->frame_list.data[i]->tensors);
        vec_free(&p->frame_list.data[i]->slots);
        vec_free(&p->frame_list.data[i]->added);
    }
    vec_free(&p->frame_list);
    ptrmap_free(&p->frames);
    ptrmap_free(&p->slots);
    ptrmap_free(&p->ends);
    ptrmap_free(&p->blocks);
    ptrmap_free(&p->ranges);
}

bool tensor_is_new(const struct symbol *s)
{
    return s->kind == SYM_LET && s->type && s->type->kind == TYPE_TENSOR && !s->region;
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
}
