/* tensors.h - what the tests of the registry share: small tensors of counted numbers, and foreign memory that counts
 * its releases. */
#ifndef PTO_TEST_TENSORS_H
#define PTO_TEST_TENSORS_H
#include <pto/pto_registry.h>
#include <stdlib.h>
#include <string.h>
#include "unit.h"

/* Who takes pins waits for them: nothing cancels it. */
__attribute__((unused)) static const _Atomic uint32_t no_cancels = 0;
#define MAY_WAIT (&(const struct pins_wait){&no_cancels, 0})

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* i64 elements 0, 1, 2, ... in row-major order. */
static inline PTOTensor *numbers(int rank, const int64_t *shape)
{
    PTOTensor *t = pto_tensor_new(NULL, PTO_I64, rank, shape);
    EXPECT(t != NULL);
    PTODescription d;
    EXPECT_EQ(pto_tensor_describe(t, &d), PTO_OK);
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= shape[i];
    int64_t *at = pto_tensor_map(t, PTO_WRITE);
    EXPECT(at != NULL);
    for (int64_t i = 0; i < count; i++) at[i] = i;
    pto_tensor_unmap(t);
    return t;
}

/* One element; indices NULL: element [0, ..]. */
static inline int64_t element(PTOTensor *t, const int64_t *indices)
{
    PTODescription d;
    EXPECT_EQ(pto_tensor_describe(t, &d), PTO_OK);
    const int64_t *at = pto_tensor_map(t, PTO_READ);
    EXPECT(at != NULL);
    for (int i = 0; i < d.rank && indices; i++) at += indices[i] * d.strides[i];
    const int64_t value = *at;
    pto_tensor_unmap(t);
    return value;
}

static inline void set_first(PTOTensor *t, int64_t value)
{
    int64_t *at = pto_tensor_map(t, PTO_READ_WRITE);
    EXPECT(at != NULL);
    *at = value;
    pto_tensor_unmap(t);
}

static inline PTODescription describe(PTOTensor *t)
{
    PTODescription d;
    EXPECT_EQ(pto_tensor_describe(t, &d), PTO_OK);
    return d;
}

static inline void *address_of(PTOTensor *t)
{
    void *at = pto_tensor_map(t, PTO_READ);
    EXPECT(at != NULL);
    pto_tensor_unmap(t);
    return at;
}

/* The tensors that live, as the dump counts them. */
static inline long long living(void)
{
    char *text = NULL;
    size_t size = 0;
    long long count = -1;
    FILE *out = open_memstream(&text, &size);
    pto_registry_dump(out);
    fclose(out);
    sscanf(text, "Registry: %lld tensor", &count);
    free(text);
    return count;
}

/* malloc'ed memory that counts its releases. */
struct owned {
    int64_t *data;
    _Atomic int released;
};
static inline void release_owned(void *context)
{
    struct owned *o = context;
    o->released++;
    free(o->data);
    o->data = NULL;
}
static inline struct owned own(int64_t count)
{
    struct owned o = {.data = malloc((size_t)count * sizeof(int64_t))};
    for (int64_t i = 0; i < count; i++) o.data[i] = i;
    return o;
}
static inline PTOForeign foreign(struct owned *o, int64_t count, int rank, const int64_t *shape)
{
    return (PTOForeign){.address = o->data,
                        .bytes = count * (int64_t)sizeof(int64_t),
                        .type = PTO_I64,
                        .rank = rank,
                        .shape = shape,
                        .release = release_owned,
                        .context = o};
}

#endif
