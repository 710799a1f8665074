/* outliving.c - see outliving.h. */
#include "outliving.h"
#include "shared/map_memory.h"
#include <string.h>

bool ptoi_outliving_init(struct outliving *p, uint64_t buffers)
{
    *p = (struct outliving){.buffers = buffers};
    p->serial = ptoi_memory_map(buffers * sizeof *p->serial, false);
    p->place = ptoi_memory_map(buffers * sizeof *p->place, false);
    return p->serial && p->place;
}

void ptoi_outliving_free(struct outliving *p)
{
    ptoi_memory_unmap(p->serial, p->buffers * sizeof *p->serial);
    ptoi_memory_unmap(p->place, p->buffers * sizeof *p->place);
    *p = (struct outliving){0};
}

void ptoi_outliving_born(struct outliving *p, uint32_t buffer, uint64_t serial)
{
    p->serial[buffer - 1] = serial;
    p->place[buffer - 1] = 0;
}

void ptoi_outliving_gone(struct outliving *p, uint32_t buffer, uint64_t bytes)
{
    const uint32_t place = p->place[buffer - 1];
    if (place == 0) return;
    p->places[place - 1].count--;
    p->places[place - 1].bytes -= (int64_t)bytes;
}

/* NULL: there are too many. */
static struct outliving_place *find_place(struct outliving *p, const struct buffer_record *r, const PTOSite *scope,
                                          const PTOSite *owner)
{
    for (int i = 0; i < p->count; i++) {
        struct outliving_place *e = &p->places[i];
        if (e->site == r->site && e->scope == scope && e->owner == owner &&
            (e->name == r->name || (e->name && r->name && strcmp(e->name, r->name) == 0)))
            return e;
    }
    if (p->count == OUTLIVING_PLACES) return NULL;
    p->places[p->count] = (struct outliving_place){.name = r->name, .site = r->site, .scope = scope, .owner = owner};
    return &p->places[p->count++];
}

static void note_outliving(struct outliving *p, uint32_t buffer, const struct buffer_record *r, const PTOSite *scope,
                           const PTOSite *owner)
{
    struct outliving_place *e = find_place(p, r, scope, owner);
    if (!e) return;
    p->place[buffer - 1] = (uint32_t)(e - p->places) + 1;
    e->bytes += (int64_t)r->bytes;
    if (e->bytes > e->bytes_max) e->bytes_max = e->bytes;
    if (++e->count > e->count_max) e->count_max = e->count;
}

void ptoi_outliving_scope_ends(struct outliving *p, const struct scope_stack *s)
{
    const struct scope *ends = &s->scope[s->depth - 1];
    for (int32_t i = s->depth - 2; i >= 0; i--) /* the lists are newest first: mostly the first look is the last */
        for (uint32_t b = s->scope[i].first; b && p->serial[b - 1] >= ends->serial; b = ptoi_record(s, b)->next)
            if (p->place[b - 1] == 0) note_outliving(p, b, ptoi_record(s, b), ends->site, s->scope[i].site);
}

static void write_scope(FILE *out, const PTOSite *site)
{
    if (site)
        fprintf(out, "%s (%s:%d)", site->text ? site->text : "a scope", site->file, site->line);
    else
        fputs("the run", out);
}

void ptoi_outliving_write(const struct outliving *p, FILE *out)
{
    for (int i = 0; i < p->count; i++) {
        const struct outliving_place *e = &p->places[i];
        fprintf(out, "'%s'", e->name ? e->name : "a buffer");
        if (e->site) fprintf(out, " of %s:%d", e->site->file, e->site->line);
        fprintf(out, ": %lld at once, %lld bytes, outlived the scope that made them, held by ", (long long)e->count_max,
                (long long)e->bytes_max);
        write_scope(out, e->owner);
        fputc('\n', out);
    }
}
