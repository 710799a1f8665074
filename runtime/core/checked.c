/* checked.c - see checked.h. */
#include "checked.h"
#include <string.h>

static uint64_t sum_of(uint64_t sum, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) sum = (sum ^ bytes[i]) * 0x100000001b3u; /* FNV-1a */
    return sum;
}

/* The elements below dimension d, in order. */
static uint64_t sum_from(uint64_t sum, const char *at, const PTOArg *a, int d, int64_t element)
{
    if (d == a->rank) return sum_of(sum, (const unsigned char *)at, (size_t)element);
    if (d == a->rank - 1 && a->stride[d] == 1) return a->shape[d] > 0 ? sum_of(sum, (const unsigned char *)at, (size_t)(a->shape[d] * element)) : sum;
    for (int64_t i = 0; i < a->shape[d]; i++) sum = sum_from(sum, at + i * a->stride[d] * element, a, d + 1, element);
    return sum;
}

static uint64_t sum_arg(const PTOArg *a)
{
    const bool is_read_only = a->kind == PTO_PARAM_INPUT && a->ptr;
    return is_read_only ? sum_from(0xcbf29ce484222325u, a->ptr, a, 0, pto_type_bytes((PTOType)a->type)) : 0;
}

void ptoi_checked_before(const PTOArg *args, int count, uint64_t *sums)
{
    for (int i = 0; i < count; i++) sums[i] = sum_arg(&args[i]);
}

int ptoi_checked_after(const PTOArg *args, int count, const uint64_t *sums)
{
    for (int i = 0; i < count; i++)
        if (sum_arg(&args[i]) != sums[i]) return i;
    return -1;
}

void ptoi_guard_write(unsigned char *guard)
{
    for (int i = 0; i < PTOI_GUARD_BYTES; i++) guard[i] = (unsigned char)(0xA7 + i);
}

bool ptoi_guard_is_whole(const unsigned char *guard)
{
    for (int i = 0; i < PTOI_GUARD_BYTES; i++)
        if (guard[i] != (unsigned char)(0xA7 + i)) return false;
    return true;
}
