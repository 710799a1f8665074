/* scratch.c - see scratch.h. */
#include "scratch.h"
#include "debug/checked.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BYTES = 1 << 16, LINE = 64 };

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;
static _Thread_local struct scratch own;

static void make_key(void) { has_key = pthread_key_create(&key, free) == 0; }

void *pto_scratch(size_t bytes)
{
    own.is_lent = true;
    if (own.block && bytes <= own.bytes) return own.block;
    if (bytes > SIZE_MAX / 4) return NULL;
    size_t room = LEAST_BYTES;
    while (room < bytes) room *= 2;
    pthread_once(&once, make_key);
    void *block = has_key ? aligned_alloc(LINE, room) : NULL;
    if (!block) return NULL;
    if (pthread_setspecific(key, block) != 0) {
        free(block);
        return NULL;
    }
    free(own.block);
    own.block = block;
    own.bytes = room;
    return block;
}

/* ---- runs inside of a kernel ---- */

struct scratch ptoi_scratch_begin_run(void)
{
    const struct scratch outer = own;
    if (outer.is_lent) own = (struct scratch){0};
    own.check = NULL;
    return outer;
}

void ptoi_scratch_end_run(struct scratch outer)
{
    if (outer.is_lent) {
        free(own.block);
        own = outer;
        if (has_key) pthread_setspecific(key, own.block); /* it was set before: there is room for it */
    } else {
        own.is_lent = false;
        own.check = outer.check;
    }
}

/* ---- scratch tensors ---- */

void ptoi_scratch_check(struct scratch_check *check)
{
    own.check = check;
    if (check) check->count = 0;
}

const char *ptoi_scratch_fault(const struct scratch_check *check)
{
    for (int32_t i = 0; i < check->count; i++)
        if (!ptoi_guard_is_whole(check->guard[i], (uint64_t)i)) return check->name[i];
    return NULL;
}

/* Also in an empty tensor there is an address. */
static bool add_room(size_t *all, int64_t bytes)
{
    const size_t room = ((size_t)bytes + LINE) / LINE * LINE + (own.check ? PTOI_GUARD_BYTES : 0);
    return bytes < INT64_MAX / 2 && !__builtin_add_overflow(*all, room, all);
}

/* Writes the strides.  -1: the bytes do not fit in 64 bits. */
static int64_t lay_out(PTOScratch *t)
{
    int64_t bytes = 1;
    for (int32_t d = t->rank - 1; d >= 0; d--) {
        t->stride[d] = bytes;
        if (__builtin_mul_overflow(bytes, t->shape[d], &bytes)) return -1;
    }
    return __builtin_mul_overflow(bytes, t->element, &bytes) ? -1 : bytes;
}

static void watch(PTOScratch *t, int64_t bytes)
{
    unsigned char *guard = (unsigned char *)t->memory + bytes;
    memset(t->memory, PTOI_POISON, (size_t)bytes);
    ptoi_guard_write(guard, (uint64_t)own.check->count);
    own.check->name[own.check->count] = t->name;
    own.check->guard[own.check->count++] = guard;
}

bool pto_scratch_tensors(PTOScratch *tensors, int32_t count)
{
    size_t at[PTO_MAX_PARAMS], all = 0;
    int64_t bytes[PTO_MAX_PARAMS];
    for (int32_t i = 0; i < count; i++) {
        PTOScratch *t = &tensors[i];
        for (int32_t d = 0; d < t->rank; d++) {
            if (t->shape[d] >= 0) continue;
            pto_kernel_failed("extent %d of its scratch tensor '%s' is %lld", d, t->name, (long long)t->shape[d]);
            return false;
        }
        at[i] = all;
        bytes[i] = lay_out(t);
        if (bytes[i] >= 0 && add_room(&all, bytes[i])) continue;
        pto_kernel_failed("its scratch tensor '%s' is too large", t->name);
        return false;
    }
    char *block = pto_scratch(all);
    if (!block) {
        pto_kernel_failed("there is no memory for its scratch tensors, %llu bytes", (unsigned long long)all);
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        tensors[i].memory = block + at[i];
        if (own.check) watch(&tensors[i], bytes[i]);
    }
    return true;
}
