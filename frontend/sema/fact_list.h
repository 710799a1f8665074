/* fact_list.h - the known facts at one place of a function, as a stack: a block adds facts, and its end removes them.
 *
 * Of the facts that differ in their constant alone only the strongest is *visible*: the others say nothing more, and a
 * function of many thousand slices has as many of them. */
#ifndef PTOC_FACT_LIST_H
#define PTOC_FACT_LIST_H
#include "size.h"
#include "support/vec.h"

enum {
    NO_FACT = -1,
    FACT_BUCKETS = 1024,
    MENTION_DEPTH = 2 /* of quotients in quotients, when it is asked what a fact is about */
};

struct fact {
    const struct size *size;   /* >= 0; NULL: it only holds a place */
    const struct size *linear; /* without its constant */
    int64_t constant;
    /* a bit for each of its unknowns, by their numbers: what shares no bit shares no unknown */
    uint64_t atoms;
    uint64_t state; /* of the list that ends with this fact: no other list has had the number */
    bool names_var;
    int older, newer; /* visible neighbours */
    int same;         /* the next visible one of its bucket */
    int hides;        /* the weaker one that it took the place of */
    bool is_weaker;   /* one before it says as much: it was never visible */
};

struct fact_list {
    struct size_table *sizes;
    VEC(struct fact) all;
    int newest;               /* visible */
    int bucket[FACT_BUCKETS]; /* the visible ones, by `linear` */
    uint64_t states;          /* given out so far */
};

void fact_list_init(struct fact_list *l, struct size_table *sizes);
void fact_list_push(struct fact_list *l, const struct size *a); /* NULL: holds a place */
void fact_list_pop(struct fact_list *l, size_t count);          /* down to so many */
void fact_list_free(struct fact_list *l);
uint64_t fact_list_state(const struct fact_list *l);
/* Is a >= 0 a fact, or weaker than one? */
bool fact_list_says(const struct fact_list *l, const struct size *a);
/* Facts about var are about `old` from now on. */
void fact_list_rename(struct fact_list *l, const struct symbol *var, const struct symbol *old);
uint64_t fact_bit(const struct size *atom);

#endif
