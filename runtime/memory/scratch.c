/* scratch.c - memory of a worker for the temporaries of the kernel that it runs (pto_scratch in pto_equations.h).
 * Idea       one block for each thread; it grows and is freed when the thread ends.
 * Owner      the thread.
 * Tests      test/runtime/test_mathematics.c
 */
#include <pto/pto_equations.h>
#include <pthread.h>
#include <stdlib.h>

enum { LEAST_BYTES = 1 << 16 };

struct scratch {
    void *block;
    size_t bytes;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;
static _Thread_local struct scratch own;

static void make_key(void) { has_key = pthread_key_create(&key, free) == 0; }

void *pto_scratch(size_t bytes)
{
    if (bytes <= own.bytes) return own.block;
    if (bytes > SIZE_MAX / 4) return NULL;
    size_t room = LEAST_BYTES;
    while (room < bytes) room *= 2;
    pthread_once(&once, make_key);
    void *block = has_key ? aligned_alloc(64, room) : NULL;
    if (!block) return NULL;
    if (pthread_setspecific(key, block) != 0) {
        free(block);
        return NULL;
    }
    free(own.block);
    own = (struct scratch){block, room};
    return block;
}
