/* fill.c - made data for inputs that no file is given for.
 * Idea       element i is a function of the spec, the array's name and i, so that it is the same on every machine and
 *            in any order. zeros; ones; iota: i, wrapped to the type; random: floats in [-1, 1), signed -99 to 99,
 *            unsigned 0 to 99, bools.
 * Invariant  two arrays of one run get different random data from one seed.
 * Tests      test/runtime/test_bind.c, test/lit/host/made-data.test
 */
#include "fill.h"
#include "shared/half.h"
#include "values.h"

static uint64_t mix(uint64_t x) /* the finalizer of splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

bool ptoi_fill_parse(const char *text, struct fill_spec *spec)
{
    static const char *const words[] = {"", "zeros", "ones", "iota", "random"};
    *spec = (struct fill_spec){.kind = FILL_NONE};
    for (int kind = FILL_ZEROS; kind <= FILL_RANDOM; kind++)
        if (strcmp(text, words[kind]) == 0) spec->kind = (enum fill_kind)kind;
    if (strncmp(text, "random:", 7) == 0) {
        int64_t seed;
        bool fits;
        if (!ptoi_parse_i64(text + 7, &seed, &fits)) return false;
        spec->kind = FILL_RANDOM;
        spec->seed = (uint64_t)seed;
    }
    return true;
}

/* Writes the integer i, or for floats the number f, as element at of the array. */
static void put(struct host_array *a, int64_t at, int64_t i, double f)
{
    uint16_t half;
    switch (a->type) {
    case PTO_F64: ((double *)a->data)[at] = f; break;
    case PTO_F32: ((float *)a->data)[at] = (float)f; break;
    case PTO_F16:
    case PTO_BF16:
        half = a->type == PTO_F16 ? f16_of_f32((float)f) : bf16_of_f32((float)f);
        ((uint16_t *)a->data)[at] = half;
        break;
    case PTO_BOOL: ((uint8_t *)a->data)[at] = i & 1; break;
    default: /* little-endian: the low bytes come first */
        memcpy((char *)a->data + at * pto_type_bytes(a->type), &i, (size_t)pto_type_bytes(a->type));
    }
}

static bool is_signed(PTOType type) { return type == PTO_I8 || type == PTO_I16 || type == PTO_I32 || type == PTO_I64; }

void ptoi_fill(struct host_array *array, const struct fill_spec *spec, const char *name)
{
    uint64_t stream = mix(spec->seed);
    for (const char *c = name; *c; c++) stream = mix(stream ^ (unsigned char)*c);
    if (spec->kind == FILL_ZEROS && array->bytes > 0) memset(array->data, 0, (size_t)array->bytes);
    for (int64_t at = 0; at < array->count && spec->kind != FILL_ZEROS; at++) {
        if (spec->kind == FILL_ONES)
            put(array, at, 1, 1);
        else if (spec->kind == FILL_IOTA)
            put(array, at, at, (double)at);
        else {
            uint64_t bits = mix(stream + (uint64_t)at);
            int64_t whole = array->type == PTO_BOOL  ? (int64_t)(bits >> 63)
                            : is_signed(array->type) ? (int64_t)((bits >> 32) % 199) - 99
                                                     : (int64_t)((bits >> 32) % 100);
            /* 20 bits are exact in every float type but the 16-bit ones, which round, never up to 1 in what is below
             * 1. */
            put(array, at, whole, (double)(int64_t)(bits >> 44) * 0x1p-19 - 1);
        }
    }
}
