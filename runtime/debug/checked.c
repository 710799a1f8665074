/* checked.c - see checked.h. */
#include "checked.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, LEAST_MARGIN = 16 * 1024, LARGEST_MARGIN = 1024 * 1024, BLOCK = 4096 };

static int64_t element_bytes(const PTOArg *a) { return pto_type_bytes((PTOType)a->type); }

/* From the lowest byte of the region to behind its highest; 0: it is empty.  below: how many of them lie below the
 * element whose indices are all 0. */
static int64_t reach_of(const PTOArg *a, int64_t *below)
{
    int64_t reach = 1, down = 0;
    *below = 0;
    for (int d = 0; d < a->rank; d++) {
        if (a->shape[d] == 0) return 0;
        const int64_t step = (a->shape[d] - 1) * a->stride[d];
        if (step < 0)
            down -= step;
        else
            reach += step;
    }
    *below = down * element_bytes(a);
    return (reach + down) * element_bytes(a);
}

typedef void (*run_fn)(void *cx, int64_t at, int64_t bytes);

/* Calls visit for each run of elements below dimension d that lie side by side, in order. */
static void visit_runs(const PTOArg *a, int d, int64_t at, run_fn visit, void *cx)
{
    const int64_t element = element_bytes(a);
    if (d == a->rank) {
        visit(cx, at, element);
    } else if (d == a->rank - 1 && a->stride[d] == 1) {
        visit(cx, at, a->shape[d] * element);
    } else {
        for (int64_t i = 0; i < a->shape[d]; i++) visit_runs(a, d + 1, at + i * a->stride[d] * element, visit, cx);
    }
}

struct pair {
    unsigned char *to;
    const unsigned char *from;
    int64_t differs; /* the first byte that does, or -1 */
};

static void copy_run(void *cx, int64_t at, int64_t bytes)
{
    const struct pair *p = cx;
    memcpy(p->to + at, p->from + at, (size_t)bytes);
}

static void compare_run(void *cx, int64_t at, int64_t bytes)
{
    struct pair *p = cx;
    if (p->differs >= 0 || memcmp(p->to + at, p->from + at, (size_t)bytes) == 0) return;
    while (p->to[at] == p->from[at]) at++;
    p->differs = at;
}

/* ---- margins and gaps -------------------------------------------------------------------------------------------- */

/* Note [patterns that differ]: a kernel that goes one element too far copies, adds or combines an element that lies
 * outside of one argument to one that lies outside of another; of equal patterns nothing would change.  So the pattern
 * of an element depends on its argument and its number.  Of an element
 *   - the highest byte is PTOI_POISON if there are several: a huge number, of one magnitude everywhere, so that a sum
 *     of two is neither of them;
 *   - the next byte has bits that only inputs have, and others that only written arguments have: AND and OR change the
 *     latter.  That of inputs is alternately above and below that of written arguments, by element and by task: a
 *     maximum changes every second element, a minimum the others;
 *   - the low bits of this byte differ from those of its neighbours;
 *   - the rest is scrambled.
 * Untyped bytes are mostly words. */
enum { READ_LOW = 0x90, WRITTEN = 0xA8, READ_HIGH = 0xD0, WORD = 4 };

static inline uint64_t pattern(const struct checked_call *c, int i, int64_t number, int64_t bytes)
{
    const PTOArg *a = &c->arg[i];
    const uint64_t n = (uint64_t)number, argument = (uint64_t)i;
    /* the more a number below 0 has there, the less it is, if it is no integer */
    const uint64_t is_less = a->type == PTO_BYTE || (a->type >= PTO_F16 && a->type <= PTO_F64);
    const uint64_t read = (n + c->task + is_less) % 2 == 0 ? READ_HIGH : READ_LOW;
    const uint64_t low = (n + (n >> 3) + (n >> 6) + 3 * argument) % 8;
    const uint64_t byte = (a->kind == PTO_PARAM_INPUT ? read : WRITTEN) | low;
    if (bytes == 1) return byte;
    const uint64_t scrambled = (n * PTO_MAX_PARAMS + argument) * 0x9e3779b97f4a7c15u >> 16;
    const int rest = 8 * (int)(bytes - 2);
    return ((uint64_t)PTOI_POISON << 8 | byte) << rest | (scrambled & (((uint64_t)1 << rest) - 1));
}

static int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Writes the pattern of the bytes from `from` on, counted from the region's first one. */
static void write_pattern(const struct checked_call *c, int i, int64_t from, int64_t bytes, unsigned char *to)
{
    const int64_t unit = c->arg[i].type == PTO_BYTE ? WORD : element_bytes(&c->arg[i]);
    int64_t number = divide_down(from, unit), skipped = from - number * unit;
    for (; bytes > 0; number++, skipped = 0) {
        const uint64_t word = pattern(c, i, number, unit) >> 8 * skipped;
        const int64_t n = unit - skipped < bytes ? unit - skipped : bytes;
        if (bytes >= (int64_t)sizeof word)
            memcpy(to, &word, sizeof word); /* the next elements go over the rest */
        else
            memcpy(to, &word, (size_t)n);
        to += n;
        bytes -= n;
    }
}

struct patterned {
    const struct checked_call *call;
    int argument;
};

static void fill_run(void *cx, int64_t at, int64_t bytes)
{
    const struct patterned *p = cx;
    const struct checked_call *c = p->call;
    write_pattern(c, p->argument, at, bytes, c->memory[p->argument] + c->before[p->argument] + at);
}

static int64_t round_up(int64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static void copy_argument(struct checked_call *c, int i)
{
    PTOArg *a = &c->arg[i];
    int64_t below = 0;
    const int64_t reach = a->kind != PTO_PARAM_SCALAR && a->ptr ? reach_of(a, &below) : 0;
    c->memory[i] = NULL;
    if (reach == 0) return;
    int64_t margin = round_up(reach);
    if (margin < LEAST_MARGIN) margin = LEAST_MARGIN;
    if (margin > LARGEST_MARGIN) margin = LARGEST_MARGIN;
    c->before[i] =
        margin + round_up(below) + (int64_t)((uintptr_t)a->ptr % ALIGNMENT); /* as well aligned as the region */
    c->bytes[i] = round_up(c->before[i] + reach) + margin;
    c->memory[i] = aligned_alloc(ALIGNMENT, (size_t)c->bytes[i]);
    if (!c->memory[i]) return;
    write_pattern(c, i, -c->before[i], c->bytes[i], c->memory[i]);
    struct pair p = {.to = c->memory[i] + c->before[i], .from = a->ptr};
    visit_runs(a, 0, 0, copy_run, &p);
    a->ptr = p.to;
}

void ptoi_checked_begin(struct checked_call *c, const PTOArg *args, int count)
{
    c->count = count;
    memcpy(c->arg, args, (size_t)count * sizeof *args);
    for (int i = 0; i < count; i++) copy_argument(c, i);
}

/* A byte of a block of the memory that is not as it was, the first or the last; -1: all are. */
static int64_t find_changed(const struct checked_call *c, int i, int64_t from, int64_t bytes, bool last)
{
    unsigned char want[BLOCK];
    const unsigned char *memory = c->memory[i] + from;
    write_pattern(c, i, from - c->before[i], bytes, want);
    if (memcmp(memory, want, (size_t)bytes) == 0) return -1;
    int64_t b = last ? bytes - 1 : 0;
    while (memory[b] == want[b]) b += last ? -1 : 1;
    return from + b;
}

/* The first byte around the region that is not as it was, from the region's first one; false: all are. */
static bool find_outside(const struct checked_call *c, int i, int64_t *at)
{
    const int64_t before = c->before[i], all = c->bytes[i];
    int64_t found = -1;
    visit_runs(&c->arg[i], 0, 0, fill_run, &(struct patterned){c, i});
    /* behind it, and in its gaps, first: that is what mostly happens */
    for (int64_t b = before; b < all && found < 0; b += BLOCK)
        found = find_changed(c, i, b, all - b < BLOCK ? all - b : BLOCK, false);
    for (int64_t b = before; b > 0 && found < 0; b -= BLOCK)
        found = find_changed(c, i, b < BLOCK ? 0 : b - BLOCK, b < BLOCK ? b : BLOCK, true);
    *at = found - before;
    return found >= 0;
}

/* A part as an argument of its own. */
static PTOArg part_of(const struct checked_call *c, const PTOArg *args, int i)
{
    PTOArg a = args[i];
    a.shape = c->parts[i].shape;
    a.stride = c->parts[i].stride;
    return a;
}

static bool has_part(const struct checked_call *c, int i) { return c->parts && c->parts[i].shape; }

/* The part is copied back; the first byte of the rest that is not as it was, or -1. */
static int64_t end_part(const struct checked_call *c, const PTOArg *args, int i)
{
    const PTOArg part = part_of(c, args, i);
    struct pair p = {args[i].ptr, c->memory[i] + c->before[i], -1};
    bool is_empty = false;
    for (int d = 0; d < part.rank; d++) is_empty |= part.shape[d] == 0;
    if (!is_empty) visit_runs(&part, 0, c->parts[i].at * element_bytes(&part), copy_run, &p);
    visit_runs(&args[i], 0, 0, compare_run, &p);
    return p.differs;
}

struct checked_fault ptoi_checked_end(struct checked_call *c, const PTOArg *args)
{
    struct checked_fault fault = {0};
    for (int i = 0; i < c->count && fault.result == 0; i++) {
        if (!c->memory[i] || args[i].kind != PTO_PARAM_INPUT) continue;
        struct pair p = {c->memory[i] + c->before[i], args[i].ptr, -1};
        visit_runs(&args[i], 0, 0, compare_run, &p);
        if (p.differs >= 0) fault = (struct checked_fault){PTOI_INPUT_CHANGED + i, p.differs};
    }
    for (int i = 0; i < c->count; i++) {
        if (!c->memory[i]) continue;
        struct pair p = {args[i].ptr, c->memory[i] + c->before[i], -1};
        int64_t at;
        if (has_part(c, i)) {
            at = end_part(c, args, i);
            if (fault.result == 0 && at >= 0) fault = (struct checked_fault){PTOI_WROTE_NO_PART + i, at};
        } else if (args[i].kind != PTO_PARAM_INPUT) {
            visit_runs(&args[i], 0, 0, copy_run, &p);
        }
        if (fault.result == 0 && find_outside(c, i, &at)) fault = (struct checked_fault){PTOI_WROTE_OUTSIDE + i, at};
        free(c->memory[i]);
    }
    return fault;
}

static int64_t length_of(int64_t stride) { return stride < 0 ? -stride : stride; }

void ptoi_checked_element(const PTOArg *a, int64_t at, char *text, size_t size)
{
    int64_t below, index[PTO_MAX_RANK];
    reach_of(a, &below);
    int64_t rest = divide_down(at + below, element_bytes(a)); /* from the lowest element */
    uint32_t done = 0;
    for (int i = 0; i < a->rank; i++) { /* by the longest stride first: a view may have its dimensions in any order */
        int most = -1;
        for (int d = 0; d < a->rank; d++)
            if (!(done >> d & 1) && (most < 0 || length_of(a->stride[d]) > length_of(a->stride[most]))) most = d;
        const int64_t stride = length_of(a->stride[most]), steps = stride > 0 ? divide_down(rest, stride) : 0;
        index[most] = a->stride[most] < 0 ? a->shape[most] - 1 - steps : steps;
        rest -= steps * stride;
        done |= 1u << most;
    }
    size_t n = (size_t)snprintf(text, size, "[");
    for (int d = 0; d < a->rank && n < size; d++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", d ? ", " : "", (long long)index[d]);
    if (n < size) snprintf(text + n, size - n, "]");
}

/* Guards differ as patterns do, see Note [patterns that differ]. */
static unsigned char guard_byte(uint64_t which, int at)
{
    return (unsigned char)((which * PTOI_GUARD_BYTES + (uint64_t)at) * 0x9e3779b97f4a7c15u >> 32);
}

void ptoi_guard_write(unsigned char *guard, uint64_t which)
{
    for (int i = 0; i < PTOI_GUARD_BYTES; i++) guard[i] = guard_byte(which, i);
}

bool ptoi_guard_is_whole(const unsigned char *guard, uint64_t which)
{
    for (int i = 0; i < PTOI_GUARD_BYTES; i++)
        if (guard[i] != guard_byte(which, i)) return false;
    return true;
}
