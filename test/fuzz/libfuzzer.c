/* libfuzzer.c - the entry of libFuzzer: half of its changes are its own, half are those of mutate.c.  Tests: ./dev
 * fuzz */
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input(data, size);
    return 0;
}

/* The text that was changed last is where pieces of the next one come from. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static uint8_t other[FUZZ_MAX_BYTES];
    static size_t other_size;
    bool is_kept = seed % 4 == 0 && size <= sizeof other;
    uint8_t *before = is_kept ? malloc(size + 1) : NULL;
    if (before != NULL) memcpy(before, data, size);
    size_t result =
        seed % 2 ? LLVMFuzzerMutate(data, size, max_size) : fuzz_mutate(data, size, max_size, other, other_size, seed);
    if (before != NULL) memcpy(other, before, other_size = size);
    free(before);
    return result;
}
