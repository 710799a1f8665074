/* scope_stack.c - see scope_stack.h. */
#include "scope_stack.h"
#include "shared/check.h"
#include "shared/map_memory.h"

/* Touched as far as scopes are open and buffers are alive at once: most of it never becomes memory. */
static uint64_t cut_arrays(struct scope_stack *s, char *memory)
{
    struct ptoi_cut c = {.memory = memory};
    s->scope = ptoi_cut(&c, (uint64_t)s->capacity, sizeof *s->scope);
    s->record = ptoi_cut(&c, s->granules, sizeof *s->record);
    s->starts = ptoi_cut(&c, s->granules, sizeof *s->starts);
    s->lifetime = ptoi_cut(&c, s->granules + 1, sizeof *s->lifetime);
    return c.bytes;
}

uint64_t ptoi_scopes_bytes(int32_t capacity, uint64_t granules)
{
    struct scope_stack s = {.capacity = capacity, .granules = granules};
    return cut_arrays(&s, NULL);
}

bool ptoi_scopes_init(struct scope_stack *s, int32_t capacity, uint64_t granules)
{
    *s = (struct scope_stack){.capacity = capacity, .granules = granules};
    cut_arrays(s, ptoi_memory_map(cut_arrays(s, NULL), false));
    return s->scope != NULL;
}

void ptoi_scopes_free(struct scope_stack *s)
{
    void *memory = s->scope;
    ptoi_memory_unmap(memory, cut_arrays(s, NULL));
    *s = (struct scope_stack){0};
}

/* Is what `starts` says about this granule a buffer that lives and has the offset in it?  Live buffers do not
 * overlap. */
static bool is_inside(const struct scope_stack *s, uint64_t granule, uint64_t offset)
{
    const uint32_t b = s->starts[granule];
    if (b == 0) return false;
    const struct buffer_record *r = ptoi_record(s, b);
    return r->owner > 0 && r->at <= offset && offset < r->at + r->bytes;
}

uint32_t ptoi_buffer_at(const struct scope_stack *s, uint64_t offset)
{
    const uint64_t asked = offset / PTO_GRANULE;
    if (is_inside(s, asked, offset)) return s->starts[asked];
    /* An interior pointer, a slot of a frame: the buffer starts further down.  It is found at once the next time. */
    for (uint64_t granule = asked; granule-- > 0;) {
        const uint32_t b = s->starts[granule];
        const struct buffer_record *r = b ? ptoi_record(s, b) : NULL;
        if (!r || r->owner == 0 || r->at != granule * PTO_GRANULE) continue;
        if (offset >= r->at + r->bytes) return 0;
        s->starts[asked] = b;
        return b;
    }
    return 0;
}

uint32_t ptoi_buffer_of_task(const struct scope_stack *s, uint64_t maker, int32_t output)
{
    for (int32_t i = s->depth; i-- > 0;)
        for (uint32_t b = s->scope[i].first; b; b = ptoi_record(s, b)->next)
            if (ptoi_record(s, b)->maker == maker && ptoi_record(s, b)->output == output) return b;
    return 0;
}
