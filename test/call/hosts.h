/* hosts.h - what the hosts of this folder share: tensors of their arrays. */
#ifndef PTO_TEST_HOSTS_H
#define PTO_TEST_HOSTS_H
#include <pto/pto_call.h>

static inline PTOTensor *view_of(PTOType type, void *data, int64_t bytes, int rank, const int64_t *shape,
                                 const int64_t *strides)
{
    const PTOForeign f = {
        .address = data, .bytes = bytes, .type = type, .rank = rank, .shape = shape, .strides = strides};
    return pto_tensor_attach(&f);
}
static inline PTOTensor *row(PTOType type, void *data, int64_t count)
{
    return view_of(type, data, count * pto_type_bytes(type), 1, &count, NULL);
}
#define CALL(rt, program, entry, ...)                                                                                  \
    pto_program_call(rt, program, entry, (const PTOArgument[]){__VA_ARGS__},                                           \
                     (int32_t)(sizeof((const PTOArgument[]){__VA_ARGS__}) / sizeof(PTOArgument)))
#endif
