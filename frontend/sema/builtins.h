/* builtins.h - the table of builtin functions, for builtins.c and builtin_calls.c. */
#ifndef PTOC_BUILTINS_H
#define PTOC_BUILTINS_H
#include "checker.h"

enum gives {
    GIVES_DIM,
    GIVES_COMMON, /* the type that the numbers have in common; of integers a size of `kind` */
    GIVES_REAL,   /* f64 */
    GIVES_SELECT,
    GIVES_CAST,
    GIVES_RANKS
};

enum { ANY_COUNT = 1000000 };

struct builtin {
    const char *name;
    enum gives gives;
    int least, most;
    enum size_kind kind; /* COMMON */
    double (*real)(double, double);
};

#endif
