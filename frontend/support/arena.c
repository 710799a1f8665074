/* arena.c - memory that is freed all at once.
 * Idea       a list of blocks, each twice as large as the one before up to a limit; allocation moves a pointer.
 * Owner      the creator of the arena; one thread.
 * Invariant  used <= size in every block; only the first block of the list is filled.
 * Blocks     never; out of memory ends the program with exit code 3, so no caller tests for NULL.
 * Tests      every lit test; test/lit/lexer/long-name.test for a piece larger than a block
 */
#include "arena.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is not allocated, and a gap behind every piece, is out of bounds for AddressSanitizer as it would be with
// malloc.
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 32 };
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
enum { GAP_BYTES = 0 };
#endif

enum { FIRST_BLOCK_BYTES = 16 * 1024, LAST_BLOCK_BYTES = 1024 * 1024 };

struct block {
    struct block *older;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

struct arena {
    struct block *newest;
    size_t next_bytes;
};

static void die_out_of_memory(void)
{
    fputs("ptoc: out of memory\n", stderr);
    exit(3);
}

struct arena *arena_create(void)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a == NULL) die_out_of_memory();
    a->next_bytes = FIRST_BLOCK_BYTES;
    return a;
}

void arena_destroy(struct arena *a)
{
    if (a == NULL) return;
    for (struct block *b = a->newest; b != NULL;) {
        struct block *older = b->older;
        ASAN_UNPOISON_MEMORY_REGION(b->bytes, b->size);
        free(b);
        b = older;
    }
    free(a);
}

void arena_reset(struct arena *a)
{
    struct block *b = a->newest;
    if (b == NULL) return;
    for (struct block *older = b->older, *next; older != NULL; older = next) {
        next = older->older;
        ASAN_UNPOISON_MEMORY_REGION(older->bytes, older->size);
        free(older);
    }
    b->older = NULL;
    ASAN_UNPOISON_MEMORY_REGION(b->bytes, b->size);
    memset(b->bytes, 0, b->used);
    ASAN_POISON_MEMORY_REGION(b->bytes, b->size);
    b->used = 0;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    const size_t align = 8; // nothing that is put in here asks for more
    if (bytes > SIZE_MAX / 2) die_out_of_memory();
    // A piece of no bytes still gets an address of its own.
    const size_t asked = bytes;
    bytes = (bytes == 0 ? align : (bytes + align - 1) / align * align) + GAP_BYTES;
    if (a->newest == NULL || a->newest->size - a->newest->used < bytes) {
        size_t size = a->next_bytes > bytes ? a->next_bytes : bytes;
        // calloc, because memory fresh from the system is zero already and needs no second pass.
        struct block *b = calloc(1, sizeof *b + size);
        if (b == NULL) die_out_of_memory();
        ASAN_POISON_MEMORY_REGION(b->bytes, size);
        b->older = a->newest;
        b->size = size;
        a->newest = b;
        if (a->next_bytes < LAST_BLOCK_BYTES) a->next_bytes *= 2;
    }
    void *piece = a->newest->bytes + a->newest->used;
    a->newest->used += bytes;
    ASAN_UNPOISON_MEMORY_REGION(piece, asked);
    return piece;
}

char *arena_copy(struct arena *a, const char *text, size_t length)
{
    char *copy = arena_alloc(a, length + 1);
    if (length > 0) memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) die_out_of_memory();
    char *text = arena_alloc(a, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
