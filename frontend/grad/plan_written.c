/* plan_written.c - is a tensor that a loop in segments changes written before it is read, wherever its body runs?
 * Idea       a copy of the tensor before a segment reads all of it, so all of it has to be written before the loop; no
 *            copy is needed where the body reads only what it has written itself.
 * Tests      test/lit/grad/segments.pto, refused.test
 */
#include "parts.h"

bool plan_has_inside(const struct plan *p, const struct step *s) { return order_encloses(p->loop->blocks[0], s->in); }

/* The loop of the function's own block whose body is this block; NULL: there is none. */
static const struct step *loop_of(const struct gradient *g, const struct block *body)
{
    for (size_t i = 0; i < g->steps.count; i++) {
        const struct step *s = g->steps.data[i];
        if (s->kind == STEP_FOR && s->in == g->body && s->blocks[0] == body) return s;
    }
    return NULL;
}

/* Do the iterations write pieces that follow each other, from the first to the last of one dimension? */
static bool is_filled_by(const struct gradient *g, const struct step *loop, const struct region *r)
{
    struct size_table *t = g->c->sizes;
    const struct ast *n = loop->ast;
    const struct size *const high = n->loop.high->value;
    int64_t low, by = 1;
    int pieces = 0;
    if (!size_is_const(n->loop.low->value, &low) || low != 0 || !high || r->steps || r->is_part || r->is_left_out ||
        (n->loop.step && !size_is_const(n->loop.step->value, &by)) || by != 1)
        return false;
    for (int d = 0; d < r->base_rank; d++) {
        const struct size *const extent = size_expand(t, r->base->type->extent[d]), *const span = r->span[d];
        if (size_is_const(r->low[d], &low) && low == 0 && size_expand(t, span) == extent) continue;
        const struct size *const begin = size_binary(t, SIZE_MUL, size_symbol(t, n->symbol), span);
        const struct size *const end = size_binary(t, SIZE_MUL, high, span);
        if (!begin || !end || size_expand(t, begin) != size_expand(t, r->low[d]) || size_expand(t, end) != extent)
            return false;
        pieces++;
    }
    return pieces == 1;
}

bool plan_is_written_before(struct gradient *g, const struct plan *p, const struct tensor *t)
{
    if (t->is_formal && t->symbol->dir != DIR_OUT) return true;
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *s = g->calls.data[i];
        const struct step *const loop = loop_of(g, s->in);
        if (t->block != g->body || (s->in != g->body && !loop) || s->order > p->loop->order) continue;
        for (int k = 0; k < s->place_count; k++) {
            const struct region *const r = s->places[k].region;
            if (s->places[k].base != t || active_direction(s, k) != DIR_OUT || !r) continue;
            if (loop ? loop != p->loop && is_filled_by(g, loop, r) : r->whole) return true;
        }
    }
    return false;
}

bool plan_begins_anew(struct gradient *g, const struct plan *p, const struct tensor *t)
{
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *s = g->calls.data[i];
        int found = -1;
        for (int k = 0; plan_has_inside(p, s) && k < s->place_count; k++)
            if (s->places[k].base == t) found = found < 0 && active_direction(s, k) == DIR_OUT ? k : s->place_count;
        if (found < 0) continue;
        return found < s->place_count && s->in == p->loop->blocks[0] && s->places[found].region &&
               s->places[found].region->whole;
    }
    return false;
}

bool plan_only_writes(struct gradient *g, const struct plan *p, const struct tensor *t)
{
    for (size_t i = 0; i < g->calls.count; i++) {
        const struct step *s = g->calls.data[i];
        for (int k = 0; plan_has_inside(p, s) && k < s->place_count; k++)
            if (s->places[k].base == t && active_direction(s, k) != DIR_OUT) return false;
    }
    return true;
}
