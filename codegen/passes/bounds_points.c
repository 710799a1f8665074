/* bounds_points.c - which tensors are held on the way through a function, and the points where most bytes are.
 * Idea       the state says which tensors may, and which must, be held; every allocation is a point: the bytes held
 *            there and the new ones.  The largest points are kept, as symbolic sizes.
 * Tests      test/lit/memory/bounds.pto, e14.pto
 */
#include "bounds_parts.h"
#include "support/arena.h"
#include <string.h>

/* ---- tensors that are held ---- */

struct held bounds_copy_held(struct walk *w, const struct held *s)
{
    struct held r = *s;
    w->work -= 1 + (long)w->tensors.count / 16;
    r.tensors = arena_array(w->plan->mem, unsigned char, w->tensors.count + 1);
    memcpy(r.tensors, s->tensors, w->tensors.count);
    return r;
}

struct held bounds_nowhere(struct walk *w)
{
    return (struct held){.tensors = arena_array(w->plan->mem, unsigned char, w->tensors.count + 1),
                         .may = size_const(w->sizes, 0),
                         .must_of_call = size_const(w->sizes, 0),
                         .dead = true};
}

static void change(struct walk *w, struct held *s, size_t n, unsigned char held)
{
    const struct type *t = w->tensors.data[n]->type;
    const struct size *bytes = bounds_bytes_of(w, t);
    unsigned char before = s->tensors[n];
    if ((held & MAY) && !(before & MAY)) s->may = bounds_add(w, s->may, bytes), s->buffers++;
    if (!(held & MAY) && (before & MAY))
        s->may = s->may && bytes ? size_sub(w->sizes, s->may, bytes) : NULL, s->buffers--;
    if ((held & MUST) && !(before & MUST)) s->must += bounds_round_up(bounds_least_bytes(w, t));
    if (!(held & MUST) && (before & MUST)) s->must -= bounds_round_up(bounds_least_bytes(w, t));
    if ((held ^ before) & MUST && s->must_of_call)
        s->must_of_call =
            bounds_unless_large(held & MUST ? size_binary(w->sizes, SIZE_ADD, s->must_of_call, bounds_sure_bytes(w, t))
                                            : size_sub(w->sizes, s->must_of_call, bounds_sure_bytes(w, t)));
    s->kept += ((held & KEPT) != 0) - ((before & KEPT) != 0);
    s->tensors[n] = held;
}

/* into = into or other */
void bounds_join(struct walk *w, struct held *into, const struct held *other)
{
    if (other->dead) return;
    if (into->dead) {
        memcpy(into->tensors, other->tensors, w->tensors.count);
        into->may = other->may, into->must = other->must, into->must_of_call = other->must_of_call;
        into->buffers = other->buffers, into->kept = other->kept, into->dead = false;
        return;
    }
    for (size_t n = 0; n < w->tensors.count; n++) {
        unsigned char a = into->tensors[n], b = other->tensors[n];
        if (a != b) change(w, into, n, ((a | b) & (MAY | KEPT)) | (a & b & MUST));
    }
}

void bounds_hold(struct walk *w, const struct symbol *t, unsigned char held)
{
    size_t n = (size_t)(uintptr_t)ptrmap_get(&w->numbers, t);
    if (n > 0) change(w, w->now, n - 1, held);
}

unsigned char bounds_is_held(const struct walk *w, const struct symbol *t)
{
    size_t n = (size_t)(uintptr_t)ptrmap_get(&w->numbers, t);
    return n > 0 ? w->now->tensors[n - 1] : 0;
}

/* The var gets another buffer, or none: from here on the names that keep its value count.  The name that was kept last
 * is the likeliest. */
static void count_kept(struct walk *w, const struct symbol *var)
{
    int others = 0; /* seen so far that keep the value of another var */
    for (size_t i = w->keepers.count; i-- > 0 && w->now->kept > others;) {
        const struct symbol *s = w->keepers.data[i];
        if (!(bounds_is_held(w, s) & KEPT)) continue;
        if (s->keeps == var)
            bounds_hold(w, s, MAY);
        else
            others++;
    }
}

static void keep(struct walk *w, const struct symbol *name)
{
    bounds_hold(w, name, KEPT);
    if (ptrmap_get(&w->is_keeper, name)) return;
    ptrmap_set(&w->is_keeper, name, w);
    vec_push(&w->keepers, name);
}

/* A name that keeps the value of a var counts once the var has another value: until then both have one buffer. */
void bounds_take(struct walk *w, const struct symbol *to, const struct symbol *from, bool is_kept)
{
    const unsigned char held = bounds_is_held(w, from) & KEPT ? MAY : bounds_is_held(w, from);
    count_kept(w, to);
    if (is_kept && to->keeps == from && held) {
        keep(w, to);
        return;
    }
    if (!is_kept) count_kept(w, from);
    bounds_hold(w, to, to->exchange->is_shared ? held & MAY : held);
    if (!is_kept) bounds_hold(w, from, 0);
}

void bounds_take_copy(struct walk *w, const struct symbol *to, struct maker at)
{
    bounds_release(w, to);
    bounds_note_new(w, to, at);
    if (to->exchange->is_shared) bounds_hold(w, to, MAY);
}

void bounds_release(struct walk *w, const struct symbol *t)
{
    if (t->exchange) count_kept(w, t);
    bounds_hold(w, t, 0);
}

/* ---- points ---- */

/* Can a never be what counts, because b is? */
static bool is_covered(struct walk *w, const struct need_point *a, const struct need_point *b, bool gaps)
{
    return bounds_is_at_most(w, a->bytes, b->bytes) && (!gaps || bounds_is_at_most(w, a->fresh, b->fresh));
}

static void keep_point(struct walk *w, struct bound *b, struct need_point p, bool gaps)
{
    if (!p.bytes || !p.fresh) {
        if (!b->unknown.name) b->unknown = p.at;
        return;
    }
    for (int i = 0; i < b->point_count; i++) {
        if (is_covered(w, &p, &b->point[i], gaps)) return;
        if (is_covered(w, &b->point[i], &p, gaps)) {
            b->point[i] = b->point[--b->point_count];
            i--;
        }
    }
    if (b->point_count < MAX_POINTS) {
        b->point[b->point_count++] = p;
        return;
    }
    struct need_point *last = &b->point[MAX_POINTS - 1];
    last->bytes = size_binary(w->sizes, SIZE_MAXIMUM, last->bytes, p.bytes);
    last->fresh = size_binary(w->sizes, SIZE_MAXIMUM, last->fresh, p.fresh);
    if (p.buffers > last->buffers) last->buffers = p.buffers;
}

static void note_worst(struct walk *w, struct sure_point p)
{
    for (size_t n = 0; n < w->tensors.count; n++) {
        if (!(w->now->tensors[n] & MUST)) continue;
        const struct symbol *t = w->tensors.data[n];
        const int64_t bytes = bounds_round_up(bounds_least_bytes(w, t->type));
        if (bytes <= p.largest_bytes) continue;
        p.largest = t;
        p.largest_bytes = bytes;
    }
    w->out->worst = p;
}

/* n * (fresh - g), see Note [gaps]. */
static const struct size *gaps(struct walk *w, int n, const struct size *fresh)
{
    const struct size *gap = fresh ? size_sub(w->sizes, fresh, size_const(w->sizes, w->model->granule)) : NULL;
    return gap ? size_scale(w->sizes, gap, n) : NULL;
}

/* Every call of the function comes here, and then `bytes` more than is held are needed. */
void bounds_note_sure_of_call(struct walk *w, const struct size *bytes)
{
    struct function_bounds *f = w->out;
    const struct size *all =
        w->silent || w->now->dead || !w->is_certain ? NULL : bounds_add(w, w->now->must_of_call, bytes);
    if (!all || all->kind == SIZE_CONST) return; /* a number is in f->sure */
    for (int i = 0; i < f->sure_count; i++) {
        if (bounds_is_at_most(w, all, f->sure_of_call[i])) return;
        if (bounds_is_at_most(w, f->sure_of_call[i], all)) f->sure_of_call[i--] = f->sure_of_call[--f->sure_count];
    }
    if (f->sure_count < (int)(sizeof f->sure_of_call / sizeof *f->sure_of_call)) f->sure_of_call[f->sure_count++] = all;
}

/* p is needed in addition to the bytes held now; at least `surely` bytes of p are new. */
void bounds_note_point(struct walk *w, struct need_point p, int64_t surely)
{
    const struct held *now = w->now;
    if (w->silent || now->dead) return;
    const struct size *all = bounds_add(w, now->may, p.bytes);
    for (size_t i = 0; i < w->open.count; i++) {
        const struct size *own = all && w->start.data[i] ? size_sub(w->sizes, all, w->start.data[i]) : NULL;
        keep_point(w, w->open.data[i], (struct need_point){own, p.fresh, p.at, now->buffers + p.buffers}, false);
    }
    const int64_t sure = now->must + surely;
    if (w->is_certain && sure > w->out->sure) w->out->sure = sure;
    if (sure > w->out->worst.bytes) note_worst(w, (struct sure_point){.bytes = sure, .fresh = surely, .at = p.at});
}

/* The same with room for the gaps: p.bytes has it for what p itself holds. */
void bounds_note_safe(struct walk *w, struct need_point p)
{
    const struct held *now = w->now;
    if (w->silent || now->dead) return;
    const struct size *bytes = bounds_add(w, bounds_add(w, now->may, p.bytes), gaps(w, now->buffers, p.fresh));
    keep_point(w, &w->out->safe, (struct need_point){bytes, p.fresh, p.at, now->buffers + p.buffers}, true);
}

void bounds_note_new(struct walk *w, const struct symbol *t, struct maker at)
{
    unsigned char before = bounds_is_held(w, t);
    if (before & MUST) return;
    const struct size *bytes = bounds_bytes_of(w, t->type);
    const int64_t least = bounds_least_bytes(w, t->type);
    if (!(before & MAY)) {
        bounds_note_point(w, (struct need_point){bytes, bytes, at, 0}, bounds_round_up(least));
        bounds_note_sure_of_call(w, bounds_sure_bytes(w, t->type));
        bounds_note_safe(w, (struct need_point){bytes, bytes, at, 0});
    }
    bounds_hold(w, t, MAY | MUST);
    if (w->silent || w->now->dead || least <= w->out->one_bytes) return;
    w->out->one_bytes = least;
    w->out->one = t;
    w->out->one_at = at;
}

/* A buffer that one task holds, and no name of the program. */
void bounds_hold_part(struct walk *w, const struct type *t, struct maker at, bool begins)
{
    struct held *now = w->now;
    const struct size *bytes = bounds_bytes_of(w, t), *sure = bounds_sure_bytes(w, t);
    const int64_t least = bounds_round_up(bounds_least_bytes(w, t));
    if (begins) {
        bounds_note_point(w, (struct need_point){bytes, bytes, at, 0}, least);
        bounds_note_sure_of_call(w, sure);
        bounds_note_safe(w, (struct need_point){bytes, bytes, at, 0});
        now->may = bounds_add(w, now->may, bytes);
        if (now->must_of_call)
            now->must_of_call = bounds_unless_large(size_binary(w->sizes, SIZE_ADD, now->must_of_call, sure));
    } else {
        now->may = now->may && bytes ? size_sub(w->sizes, now->may, bytes) : NULL;
        if (now->must_of_call) now->must_of_call = bounds_unless_large(size_sub(w->sizes, now->must_of_call, sure));
    }
    now->buffers += begins ? 1 : -1;
    now->must += begins ? least : -least;
}

/* A loop variable ends: its worst value counts. */
void bounds_end_variable(struct walk *w, struct bound *b, const struct symbol *name, const struct size *low,
                         const struct size *high)
{
    for (int i = 0; i < b->point_count; i++) {
        struct need_point *p = &b->point[i];
        const struct maker at = p->at;
        p->bytes = bounds_extreme(w, p->bytes, name, low, high, true);
        p->fresh = bounds_extreme(w, p->fresh, name, low, high, true);
        if (p->bytes && p->fresh) continue;
        b->point[i--] = b->point[--b->point_count];
        if (!b->unknown.name) b->unknown = at;
    }
}

const struct size *bounds_need(struct plan *p, const struct symbol *orch, bool has_place)
{
    const struct bound *need = &bounds_in(p, &p->framed, orch, has_place, bounds_all_copied(p, orch))->whole;
    if (need->unknown.name) return NULL;
    const struct size *most = need->point_count > 0 ? need->point[0].bytes : size_const(p->checked->sizes, 0);
    for (int i = 1; i < need->point_count; i++)
        most = size_binary(p->checked->sizes, SIZE_MAXIMUM, most, need->point[i].bytes);
    return most;
}
