/* check.h - the program that compares a gradient with differences: `ptoc run --check-grad`. */
#ifndef PTOC_GRAD_CHECK_H
#define PTOC_GRAD_CHECK_H
#include <stdbool.h>

struct ast;
struct grads;

/* Appends an entry `check_grad` for the function, whose gradient was printed; false: reported. */
bool check_print(struct grads *all, struct ast *item, struct ast *attr);

#endif
