/* vec.h - a growing array of any type:  VEC(struct ast *) items = {0};  vec_push(&items, n);  items.data[i],
 * items.count */
#ifndef PTOC_VEC_H
#define PTOC_VEC_H
#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                                      \
    struct {                                                                                                           \
        type *data;                                                                                                    \
        size_t count, capacity;                                                                                        \
    }

/* out of memory ends the program with exit code 3 */
void *vec_grow(void *data, size_t *capacity, size_t element_bytes);

#define vec_push(v, item)                                                                                              \
    do {                                                                                                               \
        if ((v)->count == (v)->capacity) (v)->data = vec_grow((v)->data, &(v)->capacity, sizeof *(v)->data);           \
        (v)->data[(v)->count++] = (item);                                                                              \
    } while (0)
#define vec_free(v) (free((v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)

#endif
