/* compare.c - is this array what the oracle made?
 * Idea       bytes are compared, not numbers: a NaN equals the same NaN, and -0 differs from 0, because both engines
 *            run the same kernels and have no reason to differ in a single bit.
 * Tests      test/lit/host/check.test, test/runtime/test_bind.c
 */
#include "compare.h"
#include "print.h"

#include <inttypes.h>
#include <stdio.h>

static int64_t first_difference(const char *a, const char *b, int64_t bytes)
{
    int64_t at = 0;
    const int64_t block = 4096;
    while (bytes - at > block && memcmp(a + at, b + at, (size_t)block) == 0) at += block;
    while (a[at] == b[at]) at++;
    return at;
}

bool ptoi_compare(const char *name, const struct host_array *made, const struct host_array *oracle, char *text,
                  size_t size)
{
    if (memcmp(made->shape, oracle->shape, (size_t)made->rank * sizeof *made->shape) != 0) {
        char a_shape[256], b_shape[256];
        snprintf(text, size, "%s is %s, the serial engine made %s", name,
                 ptoi_array_text(made, a_shape, sizeof a_shape), ptoi_array_text(oracle, b_shape, sizeof b_shape));
        return false;
    }
    if (made->bytes == 0 || memcmp(made->data, oracle->data, (size_t)made->bytes) == 0) return true;
    int64_t element = pto_type_bytes(made->type);
    int64_t at = first_difference(made->data, oracle->data, made->bytes) / element, rest = at;
    int64_t index[PTO_MAX_RANK];
    for (int d = made->rank - 1; d >= 0; d--) {
        index[d] = rest % made->shape[d];
        rest /= made->shape[d];
    }
    const unsigned char *a = (const unsigned char *)made->data + at * element;
    const unsigned char *b = (const unsigned char *)oracle->data + at * element;
    char a_text[PTO_NUMBER_TEXT], b_text[PTO_NUMBER_TEXT];
    ptoi_element_text(made->type, a, a_text);
    ptoi_element_text(made->type, b, b_text);
    bool same_text = strcmp(a_text, b_text) == 0; /* two NaNs: their bytes distinguish them */
    for (int64_t i = 0; same_text && i < element; i++) {
        snprintf(a_text + 2 * i, sizeof a_text - (size_t)(2 * i), "%02x", a[element - 1 - i]);
        snprintf(b_text + 2 * i, sizeof b_text - (size_t)(2 * i), "%02x", b[element - 1 - i]);
    }
    size_t used = (size_t)snprintf(text, size, "%s[", name);
    for (int d = 0; d < made->rank && used < size; d++)
        used += (size_t)snprintf(text + used, size - used, d == 0 ? "%" PRId64 : ", %" PRId64, index[d]);
    const char *mark = same_text ? "0x" : "";
    if (used < size)
        snprintf(text + used, size - used, "] is %s%s, the serial engine made %s%s", mark, a_text, mark, b_text);
    return false;
}
