/* bounds_points.c - which tensors are held on the way through a function, and the points where most bytes are.
 * Idea       the state says which tensors may, and which must, be held; every allocation is a point: the bytes held
 *            there and the new ones.  The largest points are kept, as symbolic sizes.
 * Tests      test/lit/memory/bounds.pto, e14.pto, e14-kept.pto, kept.test
 *
 * Note [one buffer]: after `let t = a;` two names surely have one buffer.  It counts once: one of the names is marked
 * MUST.  `same` has the classes of such names.  A name that ends, or gets another buffer, hands its mark on in its
 * class.  Where paths meet, a mark and a class stay if both paths have them, so no buffer has two marks.
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
    if (!s->same) return r;
    r.same = arena_array(w->plan->mem, size_t, w->tensors.count + 1);
    memcpy(r.same, s->same, w->tensors.count * sizeof *r.same);
    return r;
}

struct held bounds_nowhere(struct walk *w)
{
    struct held s = {.tensors = arena_array(w->plan->mem, unsigned char, w->tensors.count + 1),
                     .may = size_const(w->sizes, 0),
                     .must_of_call = size_const(w->sizes, 0),
                     .dead = true};
    if (!w->has_shared) return s;
    s.same = arena_array(w->plan->mem, size_t, w->tensors.count + 1);
    for (size_t n = 0; n < w->tensors.count; n++) s.same[n] = n;
    return s;
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

/* ---- names that surely have one buffer, see Note [one buffer] ---- */

/* 1 + its number; 0: it has no buffer of the heap. */
static size_t number_of(const struct walk *w, const struct symbol *t)
{
    return (size_t)(uintptr_t)ptrmap_get(&w->numbers, t);
}

/* Another name of the buffer that has the flag; n: there is none. */
static size_t other_name(const struct walk *w, const struct held *s, size_t n, unsigned char flag)
{
    const struct exchange *names = s->same ? w->tensors.data[n]->exchange : NULL;
    for (int i = 0; names && i < names->count; i++) {
        const size_t m = number_of(w, names->names[i]);
        if (m > 0 && m - 1 != n && s->same[m - 1] == s->same[n] && s->tensors[m - 1] & flag) return m - 1;
    }
    return n;
}

/* Name n has another buffer than its class, or none. */
static void leave_class(struct walk *w, struct held *s, size_t n)
{
    const struct exchange *names = s->same ? w->tensors.data[n]->exchange : NULL;
    size_t first = n;
    for (int i = 0; names && i < names->count; i++) {
        const size_t m = number_of(w, names->names[i]);
        if (m == 0 || m - 1 == n || s->same[m - 1] != n) continue;
        if (first == n) first = m - 1;
        s->same[m - 1] = first;
    }
    if (s->same) s->same[n] = n;
}

/* Two names had one buffer on both paths, or they have none in common. */
static void join_classes(struct walk *w, struct held *into, const struct held *other)
{
    const size_t count = w->tensors.count;
    if (!into->same || memcmp(into->same, other->same, count * sizeof *into->same) == 0) return;
    size_t *before = arena_array(w->plan->mem, size_t, count + 1);
    memcpy(before, into->same, count * sizeof *before);
    for (size_t n = 0; n < count; n++) {
        const struct exchange *names = w->tensors.data[n]->exchange;
        into->same[n] = n;
        for (int i = 0; names && i < names->count; i++) {
            const size_t m = number_of(w, names->names[i]);
            if (m == 0 || m > n || before[m - 1] != before[n] || other->same[m - 1] != other->same[n]) continue;
            into->same[n] = into->same[m - 1];
            break;
        }
    }
    w->work -= 1 + (long)count / 16;
}

/* into = into or other */
void bounds_join(struct walk *w, struct held *into, const struct held *other)
{
    if (other->dead) return;
    if (into->dead) {
        memcpy(into->tensors, other->tensors, w->tensors.count);
        if (into->same) memcpy(into->same, other->same, w->tensors.count * sizeof *into->same);
        into->may = other->may, into->must = other->must, into->must_of_call = other->must_of_call;
        into->buffers = other->buffers, into->kept = other->kept, into->dead = false;
        return;
    }
    for (size_t n = 0; n < w->tensors.count; n++) {
        unsigned char a = into->tensors[n], b = other->tensors[n];
        if (a != b) change(w, into, n, ((a | b) & (MAY | KEPT)) | (a & b & MUST));
    }
    join_classes(w, into, other);
}

static void hold(struct walk *w, const struct symbol *t, unsigned char held)
{
    const size_t n = number_of(w, t);
    if (n > 0) change(w, w->now, n - 1, held);
}

/* Where the name had a buffer on some path, another name may have that one, too, and may count for it. */
void bounds_hold_new(struct walk *w, const struct symbol *t)
{
    const size_t n = number_of(w, t);
    const bool is_surely_new = !t->exchange || !t->exchange->is_shared || bounds_is_held(w, t) == 0;
    if (n == 0 || bounds_is_there(w, t)) return;
    leave_class(w, w->now, n - 1);
    change(w, w->now, n - 1, is_surely_new ? MAY | MUST : MAY);
}

void bounds_end(struct walk *w, const struct symbol *t)
{
    const size_t n = number_of(w, t);
    if (n == 0) return;
    change(w, w->now, n - 1, 0);
    leave_class(w, w->now, n - 1);
}

unsigned char bounds_is_held(const struct walk *w, const struct symbol *t)
{
    const size_t n = number_of(w, t);
    return n > 0 ? w->now->tensors[n - 1] : 0;
}

bool bounds_is_there(const struct walk *w, const struct symbol *t)
{
    const size_t n = number_of(w, t);
    return n > 0 && (w->now->tensors[n - 1] & MUST || other_name(w, w->now, n - 1, MUST) != n - 1);
}

bool bounds_is_alone(const struct walk *w, const struct symbol *t)
{
    const size_t n = number_of(w, t);
    return n == 0 || other_name(w, w->now, n - 1, MAY | MUST | KEPT) == n - 1;
}

/* The name is about to lose its buffer, which stays for another name. */
static void hand_on(struct walk *w, const struct symbol *t)
{
    const size_t n = number_of(w, t);
    if (n == 0) return;
    const size_t heir = w->now->tensors[n - 1] & MUST ? other_name(w, w->now, n - 1, MAY) : n - 1;
    if (heir != n - 1) change(w, w->now, heir, w->now->tensors[heir] | MUST);
    leave_class(w, w->now, n - 1);
}

static void join_class_of(struct walk *w, const struct symbol *to, const struct symbol *from)
{
    const size_t n = number_of(w, to), m = number_of(w, from);
    if (n > 0 && m > 0 && w->now->same) w->now->same[n - 1] = w->now->same[m - 1];
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
            hold(w, s, MAY);
        else
            others++;
    }
}

static void keep(struct walk *w, const struct symbol *name)
{
    hold(w, name, KEPT);
    if (ptrmap_get(&w->is_keeper, name)) return;
    ptrmap_set(&w->is_keeper, name, w);
    vec_push(&w->keepers, name);
}

/* A name that keeps the value of a var counts once the var has another value: until then both have one buffer. */
void bounds_take(struct walk *w, const struct symbol *to, const struct symbol *from, bool is_kept)
{
    const unsigned char may = bounds_is_held(w, from) ? MAY : 0;
    count_kept(w, to);
    hand_on(w, to);
    if (is_kept && to->keeps == from && may) {
        keep(w, to);
    } else {
        if (!is_kept) count_kept(w, from);
        hold(w, to, may | (is_kept ? 0 : bounds_is_held(w, from) & MUST));
    }
    join_class_of(w, to, from);
    if (!is_kept) bounds_end(w, from);
}

void bounds_take_copy(struct walk *w, const struct symbol *to, struct maker at)
{
    bounds_release(w, to);
    bounds_note_new(w, to, at);
}

void bounds_release(struct walk *w, const struct symbol *t)
{
    if (t->exchange) count_kept(w, t);
    hand_on(w, t);
    bounds_end(w, t);
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

/* In a walk of the second iteration, only places that every iteration reaches are of interest. */
static bool notes_sure(const struct walk *w)
{
    return !w->now->dead && (!w->silent || (w->is_second && w->is_certain));
}

/* Every call of the function comes here, and then `bytes` more than is held are needed. */
void bounds_note_sure_of_call(struct walk *w, const struct size *bytes)
{
    struct function_bounds *f = w->out;
    const struct size *all = !notes_sure(w) || !w->is_certain ? NULL : bounds_add(w, w->now->must_of_call, bytes);
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
    const struct size *all = w->silent ? NULL : bounds_add(w, now->may, p.bytes);
    if (!notes_sure(w)) return;
    for (size_t i = 0; !w->silent && i < w->open.count; i++) {
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
    const unsigned char before = bounds_is_held(w, t);
    if (bounds_is_there(w, t)) return;
    const struct size *bytes = bounds_bytes_of(w, t->type);
    const int64_t least = bounds_least_bytes(w, t->type);
    if (!(before & MUST)) {
        /* Where an earlier iteration may have made it, its bytes are in what may be held: the first iteration needs
         * them all the same, and was walked silently. */
        const struct size *added = before & MAY ? size_const(w->sizes, 0) : bytes;
        bounds_note_point(w, (struct need_point){added, bytes, at, 0}, bounds_round_up(least));
        bounds_note_sure_of_call(w, bounds_sure_bytes(w, t->type));
        bounds_note_safe(w, (struct need_point){added, bytes, at, 0});
    }
    bounds_hold_new(w, t);
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
