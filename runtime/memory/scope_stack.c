/* scope_stack.c - see scope_stack.h. */
#include "scope_stack.h"
#include "shared/check.h"
#include <sys/mman.h>

/* Touched as far as scopes are open and buffers are alive at once: most of it never becomes memory. */
static void *reserve(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool ptoi_scopes_init(struct scope_stack *s, int32_t capacity, uint64_t granules)
{
    *s = (struct scope_stack){.capacity = capacity, .granules = granules};
    s->scope = reserve((uint64_t)capacity * sizeof *s->scope);
    s->record = reserve(granules * sizeof *s->record);
    s->starts = reserve(granules * sizeof *s->starts);
    s->lifetime = reserve((granules + 1) * sizeof *s->lifetime);
    if (s->scope && s->record && s->starts && s->lifetime) return true;
    ptoi_scopes_free(s);
    return false;
}

void ptoi_scopes_free(struct scope_stack *s)
{
    if (s->scope) munmap(s->scope, (uint64_t)s->capacity * sizeof *s->scope);
    if (s->record) munmap(s->record, s->granules * sizeof *s->record);
    if (s->starts) munmap(s->starts, s->granules * sizeof *s->starts);
    if (s->lifetime) munmap(s->lifetime, (s->granules + 1) * sizeof *s->lifetime);
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
