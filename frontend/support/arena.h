/* arena.h - memory that is freed all at once.  Allocation never fails: out of memory ends the program with exit code
 * 3. */
#ifndef PTOC_ARENA_H
#define PTOC_ARENA_H
#include <stddef.h>

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *a);
void arena_reset(struct arena *a); /* frees all that was allocated; the memory of the newest block is used again */
void *arena_alloc(struct arena *a, size_t bytes);                   /* zeroed, aligned for anything */
char *arena_copy(struct arena *a, const char *text, size_t length); /* NUL-terminated copy */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define arena_new(a, type)          ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))

#endif
