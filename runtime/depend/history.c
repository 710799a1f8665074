/* history.c - see history.h.
 *
 * Structure  a piece is one region with the tasks that accessed it in one way: the one that wrote it, those that
 *            accumulated into it, or those that read it since it was written.  Pieces of one space that have about
 *            the same shape form a level, and a level finds its pieces by the cell of their first byte; see Note
 *            [levels].
 * Invariant  every access that a later one must follow is in a piece, or is followed by one that is, and that the
 *            later one must follow.
 * Source     hierarchical spatial hashing: Ericson, Real-Time Collision Detection, ch. 7.1. */
#include "history.h"
#include <stdlib.h>
#include <string.h>

/* Note [levels]
 * With a pitch, the bytes of a row of the matrix, a region has a box of rows and columns; without one it is a row of
 * bytes.  The pitch of a region is its own largest stride.  Boxes whose height and width round up to the same powers
 * of two are a level; its cells are as large as that, and a box hangs in the cell of its first corner.  So what meets
 * a box hangs in at most nine cells of a level if it is no smaller, and there are few levels.  A box may be too
 * large, never too small: exact overlap is asked afterwards.  As long as every box of a level lies in one cell, as
 * tiles do that are powers of two, the cells before are not looked at. */
enum { PITCHES = 8 }; /* of a space; regions with others count as rows of bytes */

struct touch { /* one task, in a list from newer to older */
    uint64_t task;
    struct touch *older;
};

struct piece {
    struct piece *next, **link;             /* in the chain of its cell */
    struct piece *level_next, **level_link; /* in its level */
    struct level *level;
    uint64_t cell; /* its key */
    struct touch *touch;
    const PTOKernel *kernel; /* of accumulations */
    uint8_t access;
    bool is_doomed;       /* the task that is being submitted covers it */
    struct region region; /* only `rank` of its dimensions are there */
};

struct level {
    struct level *next; /* of its space */
    struct piece *first;
    uint64_t key, count;
    int64_t pitch; /* 0: none */
    uint8_t row_bits, column_bits;
    bool reads;
    bool is_over_rows, is_over_columns; /* a piece went beyond its cell: those before a cell count, too */
};

struct space { /* the accesses of one heap buffer, or of all memory outside the heap */
    struct level *level;
    int64_t pitch[PITCHES];
    int pitches;
};

struct numbered {
    int64_t address; /* 0: none */
    int32_t number;
};

union slot { /* what is given back, by size */
    union slot *next;
    max_align_t align;
};

struct block {
    struct block *next;
    max_align_t align;
};

enum { BLOCK_BYTES = 1 << 16, SIZE_CLASSES = 32, CLASS_BYTES = 16 };

struct history {
    struct block *block;
    size_t block_used;
    union slot *free[SIZE_CLASSES];
    struct space **space; /* by number; NULL: nothing of it was touched */
    int64_t spaces;
    uint64_t keys;
    struct piece **chain;
    uint64_t chains, pieces;
    struct history_edge *edge;
    int64_t edges, edges_max;
    struct piece **doomed;
    int64_t dooms, dooms_max;
    struct numbered *number;
    uint64_t numbers, numbers_max;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t class_of(size_t bytes) { return (bytes + CLASS_BYTES - 1) / CLASS_BYTES; }

static void *take(struct history *h, size_t bytes)
{
    const size_t class = class_of(bytes), size = class * CLASS_BYTES;
    union slot *slot = h->free[class];
    if (slot) {
        h->free[class] = slot->next;
        return slot;
    }
    if (!h->block || h->block_used + size > BLOCK_BYTES) {
        struct block *b = malloc(BLOCK_BYTES);
        if (!b) return NULL;
        b->next = h->block;
        h->block = b;
        h->block_used = sizeof *b;
    }
    void *memory = (char *)h->block + h->block_used;
    h->block_used += size;
    return memory;
}

static void give(struct history *h, void *memory, size_t bytes)
{
    union slot *slot = memory;
    slot->next = h->free[class_of(bytes)];
    h->free[class_of(bytes)] = slot;
}

/* Room for one more element. */
static bool grow(void **array, int64_t count, int64_t *capacity, size_t size)
{
    if (count < *capacity) return true;
    const int64_t more = *capacity ? 2 * *capacity : 64;
    void *larger = malloc((size_t)more * size);
    if (!larger) return false;
    if (*array) memcpy(larger, *array, (size_t)count * size);
    free(*array);
    *array = larger;
    *capacity = more;
    return true;
}

static size_t piece_bytes(int32_t rank)
{
    return offsetof(struct piece, region.dim) + (size_t)rank * sizeof(struct region_dim);
}

_Static_assert(sizeof(struct piece) <= (SIZE_CLASSES - 1) * CLASS_BYTES, "the largest piece has a size class");
_Static_assert(sizeof(struct space) <= (SIZE_CLASSES - 1) * CLASS_BYTES, "and so has a space");

/* ---- boxes and cells ------------------------------------------------------------------------- */

struct box {
    int64_t row, column, last_row, last_column;
};

static struct box box_of(const struct region *r, int64_t pitch)
{
    const int64_t at = r->low, end = r->high - 1;
    if (pitch == 0) return (struct box){0, at, 0, end};
    int64_t rows = 0, span = r->run;
    bool fits = true;
    for (int32_t k = 0; k < r->rank; k++) {
        const int64_t stride = r->dim[k].stride_bytes, steps = r->dim[k].count - 1;
        if (stride < pitch)
            span += stride * steps;
        else if (stride % pitch == 0)
            rows += stride / pitch * steps;
        else
            fits = false;
    }
    const int64_t row = at / pitch, column = at % pitch;
    if (fits && column + span <= pitch) return (struct box){row, column, row + rows, column + span - 1};
    return (struct box){row, 0, end / pitch, pitch - 1};
}

static uint8_t bits_for(int64_t size) /* least b with size <= 2^b */
{
    return size <= 1 ? 0 : (uint8_t)(64 - __builtin_clzll((uint64_t)size - 1));
}

static int64_t pitch_of(struct space *s, const struct region *r)
{
    if (r->rank == 0) return 0;
    const int64_t pitch = r->dim[0].stride_bytes;
    for (int k = 0; k < s->pitches; k++)
        if (s->pitch[k] == pitch) return pitch;
    if (s->pitches == PITCHES) return 0;
    return s->pitch[s->pitches++] = pitch;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    return x ^ x >> 29;
}

static uint64_t cell_key(const struct level *l, int64_t x, int64_t y)
{
    return mix(l->key + (uint64_t)x * UINT64_C(0xC2B2AE3D27D4EB4F) + (uint64_t)y * UINT64_C(0x9FB21C651E98DF25));
}

static struct piece **chain_of(const struct history *h, uint64_t cell) { return &h->chain[cell & (h->chains - 1)]; }

/* ---- pieces ---------------------------------------------------------------------------------- */

static void link_piece(struct piece *p, struct piece **at)
{
    p->next = *at;
    p->link = at;
    if (p->next) p->next->link = &p->next;
    *at = p;
}

static bool widen(struct history *h)
{
    const uint64_t chains = h->chains ? 2 * h->chains : 256;
    struct piece **wider = calloc(chains, sizeof *wider), **before = h->chain;
    if (!wider) return false;
    const uint64_t count = h->chains;
    h->chain = wider;
    h->chains = chains;
    for (uint64_t i = 0; i < count; i++)
        for (struct piece *p = before[i], *next; p; p = next) {
            next = p->next;
            link_piece(p, chain_of(h, p->cell));
        }
    free(before);
    return true;
}

static void remove_level(struct history *h, struct space *s, struct level *l)
{
    struct level **at = &s->level;
    while (*at != l) at = &(*at)->next;
    *at = l->next;
    give(h, l, sizeof *l);
}

static void remove_piece(struct history *h, struct piece *p)
{
    for (struct touch *t = p->touch, *older; t; t = older) {
        older = t->older;
        give(h, t, sizeof *t);
    }
    *p->link = p->next;
    if (p->next) p->next->link = p->link;
    *p->level_link = p->level_next;
    if (p->level_next) p->level_next->level_link = p->level_link;
    p->level->count--;
    h->pieces--;
    give(h, p, piece_bytes(p->region.rank));
}

static struct level *find_level(struct history *h, struct space *s, int64_t pitch, const struct box *b, bool reads)
{
    const uint8_t row_bits = bits_for(b->last_row - b->row + 1), column_bits = bits_for(b->last_column - b->column + 1);
    for (struct level *l = s->level; l; l = l->next)
        if (l->pitch == pitch && l->row_bits == row_bits && l->column_bits == column_bits && l->reads == reads)
            return l;
    struct level *l = take(h, sizeof *l);
    if (!l) return NULL;
    *l = (struct level){.next = s->level,
                        .key = mix(++h->keys),
                        .pitch = pitch,
                        .row_bits = row_bits,
                        .column_bits = column_bits,
                        .reads = reads};
    return s->level = l;
}

/* The piece that such an access belongs to; a new one has no touch yet.  NULL: no memory. */
static struct piece *find_piece(struct history *h, struct space *s, const struct history_access *a,
                                const PTOKernel *kernel)
{
    if (h->pieces >= h->chains && !widen(h)) return NULL;
    const int64_t pitch = pitch_of(s, a->region);
    const struct box b = box_of(a->region, pitch);
    struct level *l = find_level(h, s, pitch, &b, a->access == ACCESS_READ);
    if (!l) return NULL;
    const uint64_t cell = cell_key(l, b.row >> l->row_bits, b.column >> l->column_bits);
    struct piece **chain = chain_of(h, cell), *p = a->access == ACCESS_READ || a->access == ACCESS_ACC ? *chain : NULL;
    const PTOKernel *const accumulates = a->access == ACCESS_ACC ? kernel : NULL;
    for (; p; p = p->next)
        if (p->level == l && p->access == a->access && p->kernel == accumulates &&
            ptoi_region_equals(&p->region, a->region))
            return p;
    const size_t bytes = piece_bytes(a->region->rank);
    p = take(h, bytes);
    if (!p) {
        if (l->count == 0) remove_level(h, s, l);
        return NULL;
    }
    memset(p, 0, offsetof(struct piece, region));
    memcpy(&p->region, a->region, bytes - offsetof(struct piece, region));
    p->level = l;
    p->cell = cell;
    p->kernel = accumulates;
    p->access = (uint8_t)a->access;
    const int64_t height = INT64_C(1) << l->row_bits, width = INT64_C(1) << l->column_bits;
    l->is_over_rows |= (b.row & (height - 1)) + (b.last_row - b.row) >= height;
    l->is_over_columns |= (b.column & (width - 1)) + (b.last_column - b.column) >= width;
    link_piece(p, chain);
    p->level_next = l->first;
    p->level_link = &l->first;
    if (l->first) l->first->level_link = &p->level_next;
    l->first = p;
    l->count++;
    h->pieces++;
    return p;
}

/* They belonged to a task that was not submitted. */
static void spare_doomed(struct history *h)
{
    for (int64_t i = 0; i < h->dooms; i++) h->doomed[i]->is_doomed = false;
    h->dooms = 0;
}

/* ---- spaces ---------------------------------------------------------------------------------- */

static bool more_spaces(struct history *h, uint32_t number)
{
    int64_t more = h->spaces ? 2 * h->spaces : 64;
    while (more <= number) more *= 2;
    struct space **table = calloc((size_t)more, sizeof *table);
    if (!table) return false;
    if (h->space) memcpy(table, h->space, (size_t)h->spaces * sizeof *table);
    free(h->space);
    h->space = table;
    h->spaces = more;
    return true;
}

static struct space *known_space(const struct history *h, uint32_t number)
{
    return number < h->spaces ? h->space[number] : NULL;
}

static struct space *space_of(struct history *h, uint32_t number)
{
    struct space *s = known_space(h, number);
    if (s) return s;
    if (number >= h->spaces && !more_spaces(h, number)) return NULL;
    s = take(h, sizeof *s);
    if (!s) return NULL;
    memset(s, 0, sizeof *s);
    return h->space[number] = s;
}

void ptoi_history_close(struct history *h, uint32_t number)
{
    struct space *s = known_space(h, number);
    if (!s) return;
    h->space[number] = NULL;
    spare_doomed(h);
    while (s->level) {
        struct level *l = s->level;
        while (l->first) remove_piece(h, l->first);
        remove_level(h, s, l);
    }
    give(h, s, sizeof *s);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* One access of the task that is being submitted. */
struct look {
    struct history *h;
    const struct history_access *a;
    const PTOKernel *kernel;
    uint64_t covered; /* a write of all of the region is the task below: what is older is followed by it; 0: none */
    bool is_full;     /* there is no memory */
};

static const uint8_t reason_of[4][4] = {
    /* earlier      then READ, WRITE, UPDATE, ACC */
    [ACCESS_READ] = {0, EDGE_WAR, EDGE_WAR, EDGE_ACC},
    [ACCESS_WRITE] = {EDGE_RAW, EDGE_WAW, EDGE_RAW | EDGE_WAW, EDGE_ACC},
    [ACCESS_ACC] = {EDGE_ACC, EDGE_ACC, EDGE_ACC, EDGE_ACC},
    [ACCESS_UPDATE] = {EDGE_RAW, EDGE_WAW, EDGE_RAW | EDGE_WAW, EDGE_ACC},
};

static bool is_write(uint8_t access) { return access == ACCESS_WRITE || access == ACCESS_UPDATE; }

/* Mostly both are runs. */
static inline bool overlap(const struct region *a, const struct region *b)
{
    if (a->low >= b->high || b->low >= a->high) return false;
    return a->rank + b->rank == 0 || ptoi_region_overlaps(a, b);
}

static inline bool contains(const struct region *outer, const struct region *inner)
{
    if (inner->low < outer->low || inner->high > outer->high) return false;
    return outer->rank == 0 || ptoi_region_contains(outer, inner);
}

static void visit(struct look *l, struct piece *p)
{
    struct history *h = l->h;
    const struct region *r = l->a->region;
    if (!overlap(r, &p->region)) return;
    if (is_write(p->access) && p->touch->task >= l->covered && contains(&p->region, r)) l->covered = p->touch->task;
    const bool commutes = l->a->access == ACCESS_ACC && p->access == ACCESS_ACC && p->kernel == l->kernel &&
                          ptoi_region_equals(r, &p->region);
    const uint8_t reasons = reason_of[p->access][l->a->access];
    for (const struct touch *t = commutes ? NULL : p->touch; t && t->task >= l->covered; t = t->older) {
        if (!grow((void **)&h->edge, h->edges, &h->edges_max, sizeof *h->edge)) {
            l->is_full = true;
            return;
        }
        h->edge[h->edges++] = (struct history_edge){t->task, reasons};
    }
    if (!is_write((uint8_t)l->a->access) || p->is_doomed || !contains(r, &p->region)) return;
    if (!grow((void **)&h->doomed, h->dooms, &h->dooms_max, sizeof(struct piece *))) {
        l->is_full = true;
        return;
    }
    p->is_doomed = true;
    h->doomed[h->dooms++] = p;
}

static void visit_cell(struct look *l, const struct level *level, uint64_t cell)
{
    for (struct piece *p = *chain_of(l->h, cell); p; p = p->next)
        if (p->cell == cell && p->level == level) visit(l, p);
}

static void visit_level(struct look *l, const struct level *level)
{
    if (level->count == 0) return;
    const struct box b = box_of(l->a->region, level->pitch);
    const int64_t over = level->is_over_rows ? (INT64_C(1) << level->row_bits) - 1 : 0;
    const int64_t before = level->is_over_columns ? (INT64_C(1) << level->column_bits) - 1 : 0;
    const int64_t top = b.row < over ? 0 : (b.row - over) >> level->row_bits, bottom = b.last_row >> level->row_bits;
    const int64_t left = b.column < before ? 0 : (b.column - before) >> level->column_bits;
    const int64_t right = b.last_column >> level->column_bits;
    const int64_t rows = bottom - top + 1, columns = right - left + 1;
    if (rows > (int64_t)level->count / columns) { /* more cells than pieces */
        for (struct piece *p = level->first; p; p = p->level_next) visit(l, p);
        return;
    }
    for (int64_t x = top; x <= bottom; x++)
        for (int64_t y = left; y <= right; y++) visit_cell(l, level, cell_key(level, x, y));
}

/* Edges are added behind the first `before`. */
static bool find_one(struct history *h, const struct history_access *a, const PTOKernel *kernel)
{
    const struct space *s = known_space(h, a->space);
    const int64_t before = h->edges;
    struct look l = {.h = h, .a = a, .kernel = kernel};
    for (const struct level *level = s ? s->level : NULL; level; level = level->next)
        if (!level->reads || a->access != ACCESS_READ) visit_level(&l, level);
    int64_t kept = before;
    for (int64_t i = before; i < h->edges; i++)
        if (h->edge[i].from >= l.covered) h->edge[kept++] = h->edge[i];
    h->edges = kept;
    return !l.is_full;
}

static int by_task(const void *a, const void *b)
{
    const uint64_t x = ((const struct history_edge *)a)->from, y = ((const struct history_edge *)b)->from;
    return x < y ? -1 : x > y;
}

static void sort_edges(struct history_edge *e, int64_t count)
{
    enum { FEW = 16 };
    if (count > FEW) {
        qsort(e, (size_t)count, sizeof *e, by_task);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        const struct history_edge moved = e[i];
        int64_t at = i;
        for (; at > 0 && e[at - 1].from > moved.from; at--) e[at] = e[at - 1];
        e[at] = moved;
    }
}

bool ptoi_history_find(struct history *h, const struct history_access *a, int count, const PTOKernel *kernel)
{
    spare_doomed(h);
    h->edges = 0;
    for (int i = 0; i < count; i++)
        if (!find_one(h, &a[i], kernel)) return false;
    sort_edges(h->edge, h->edges);
    int64_t kept = 0;
    for (int64_t i = 0; i < h->edges; i++)
        if (kept > 0 && h->edge[kept - 1].from == h->edge[i].from)
            h->edge[kept - 1].reasons |= h->edge[i].reasons;
        else
            h->edge[kept++] = h->edge[i];
    h->edges = kept;
    return true;
}

const struct history_edge *ptoi_history_edges(const struct history *h, int64_t *count)
{
    *count = h->edges;
    return h->edge;
}

bool ptoi_history_add(struct history *h, const struct history_access *a, int count, const PTOKernel *kernel,
                      uint64_t task)
{
    for (int64_t i = 0; i < h->dooms; i++)
        remove_piece(h, h->doomed[i]); /* levels stay: they are few, and mostly used again */
    h->dooms = 0;
    for (int i = 0; i < count; i++) {
        struct space *s = space_of(h, a[i].space);
        struct piece *p = s ? find_piece(h, s, &a[i], kernel) : NULL;
        struct touch *t = p ? take(h, sizeof *t) : NULL;
        if (!t) {
            if (p && !p->touch) remove_piece(h, p);
            return false;
        }
        *t = (struct touch){.task = task, .older = p->touch};
        p->touch = t;
    }
    return true;
}

/* ---- accumulators ---------------------------------------------------------------------------- */

static struct numbered *numbered_at(struct numbered *table, uint64_t size, int64_t address)
{
    uint64_t at = mix((uint64_t)address);
    while (table[at & (size - 1)].address != 0 && table[at & (size - 1)].address != address) at++;
    return &table[at & (size - 1)];
}

static bool more_numbers(struct history *h)
{
    const uint64_t size = h->numbers_max ? 2 * h->numbers_max : 64;
    struct numbered *table = calloc(size, sizeof *table);
    if (!table) return false;
    for (uint64_t i = 0; i < h->numbers_max; i++)
        if (h->number[i].address != 0) *numbered_at(table, size, h->number[i].address) = h->number[i];
    free(h->number);
    h->number = table;
    h->numbers_max = size;
    return true;
}

int32_t ptoi_history_accumulator(struct history *h, int64_t address)
{
    if (2 * h->numbers >= h->numbers_max && !more_numbers(h)) return -1;
    struct numbered *n = numbered_at(h->number, h->numbers_max, address);
    if (n->address == 0) *n = (struct numbered){address, (int32_t)h->numbers++};
    return n->number;
}

/* ---- making ---------------------------------------------------------------------------------- */

int64_t ptoi_history_regions(const struct history *h) { return (int64_t)h->pieces; }

struct history *ptoi_history_create(void) { return calloc(1, sizeof(struct history)); }

void ptoi_history_reset(struct history *h)
{
    while (h->block) {
        struct block *b = h->block;
        h->block = b->next;
        free(b);
    }
    free(h->space);
    free(h->chain);
    free(h->edge);
    free(h->doomed);
    free(h->number);
    *h = (struct history){0};
}

void ptoi_history_destroy(struct history *h)
{
    if (!h) return;
    ptoi_history_reset(h);
    free(h);
}
