/* intern.c - one copy of every name.
 * Idea       an open-addressing hash table of pointers into an arena; it doubles when it is three quarters full.
 * Owner      the front end, one table a run; not for two threads.
 * Invariant  slot_count is a power of two and at least one slot is empty, so every search ends.
 * Blocks     never; out of memory ends the program with exit code 3.
 * Tests      every lit test
 */
#include "intern.h"
#include "arena.h"
#include <stdint.h>
#include <string.h>

struct entry {
    const char *text; /* NULL: empty */
    size_t length;
    uint64_t hash;
};

struct interner {
    struct arena *mem;      /* the names */
    struct arena *slots_in; /* the table of now; thrown away when it grows */
    struct entry *slots;
    size_t slot_count, used;
};

enum { FIRST_SLOT_COUNT = 256 };

struct interner *interner_create(void)
{
    struct arena *mem = arena_create();
    struct interner *in = arena_new(mem, struct interner);
    in->mem = mem;
    in->slots_in = arena_create();
    in->slot_count = FIRST_SLOT_COUNT;
    in->slots = arena_array(in->slots_in, struct entry, in->slot_count);
    return in;
}

void interner_destroy(struct interner *in)
{
    if (in == NULL) return;
    arena_destroy(in->slots_in);
    arena_destroy(in->mem);
}

/* FNV-1a: short names, no need for more. */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}

static struct entry *find_slot(struct entry *slots, size_t slot_count, const char *text, size_t length, uint64_t hash)
{
    size_t i = (size_t)hash & (slot_count - 1);
    while (slots[i].text != NULL) {
        if (slots[i].hash == hash && slots[i].length == length && memcmp(slots[i].text, text, length) == 0) break;
        i = (i + 1) & (slot_count - 1);
    }
    return &slots[i];
}

static void grow(struct interner *in)
{
    struct arena *mem = arena_create();
    size_t slot_count = in->slot_count * 2;
    struct entry *slots = arena_array(mem, struct entry, slot_count);
    for (size_t i = 0; i < in->slot_count; i++) {
        struct entry *old = &in->slots[i];
        if (old->text != NULL) *find_slot(slots, slot_count, old->text, old->length, old->hash) = *old;
    }
    arena_destroy(in->slots_in);
    in->slots_in = mem;
    in->slots = slots;
    in->slot_count = slot_count;
}

const char *intern(struct interner *in, const char *text, size_t length)
{
    uint64_t hash = hash_text(text, length);
    struct entry *e = find_slot(in->slots, in->slot_count, text, length, hash);
    if (e->text == NULL) {
        *e = (struct entry){arena_copy(in->mem, text, length), length, hash};
        const char *name = e->text;
        if (++in->used >= in->slot_count / 4 * 3) grow(in);
        return name;
    }
    return e->text;
}

const char *intern_str(struct interner *in, const char *text) { return intern(in, text, strlen(text)); }
