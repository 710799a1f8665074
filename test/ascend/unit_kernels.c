/* unit_kernels.c - the kernels of unit_kernels.h as an object for the stub: functions of the argument block. */
#include "unit_kernels.h"

#define POINTER(word) ((void *)(uintptr_t)(block[word] + reach))
#define EXTENT(word)  ((const int64_t *)(const void *)&block[word])

int device_mix(const uint64_t *block, size_t words, uint64_t reach);
int device_mix(const uint64_t *block, size_t words, uint64_t reach)
{
    const PTOArg a[3] = {{.ptr = POINTER(0), .shape = EXTENT(2), .stride = EXTENT(3)},
                         {.ptr = POINTER(1), .shape = EXTENT(4), .stride = EXTENT(5)},
                         {.value.i64 = (int64_t)block[6]}};
    const int result = words == 8 ? k_mix(a) : 99;
    *(int32_t *)POINTER(7) = result;
    return result;
}

#define OF_ONE(name)                                                                                                   \
    int device_##name(const uint64_t *block, size_t words, uint64_t reach);                                            \
    int device_##name(const uint64_t *block, size_t words, uint64_t reach)                                             \
    {                                                                                                                  \
        const PTOArg a[2] = {{.ptr = POINTER(0), .shape = EXTENT(1), .stride = EXTENT(2)},                             \
                             {.value.i64 = (int64_t)block[3]}};                                                        \
        const int result = words == 5 ? k_##name(a) : 99;                                                              \
        *(int32_t *)POINTER(4) = result;                                                                               \
        return result;                                                                                                 \
    }
OF_ONE(set)
OF_ONE(fail)
OF_ONE(sleep)
OF_ONE(overrun)
