/* equations.h - a kernel in index notation, checked: the form that the checker builds and printers of code read.
 *
 * A kernel is a list of statements in the order of the text.  A statement is done for every value of its variables:
 * those of the `for`s around it (outermost first, shared by pointer with the other statements of that `for`), then its
 * free variables in the order of the left side.  Names are resolved, types decided and casts explicit: a reader of this
 * form needs no tree and no rules of the language.  Everything lives in the front end's arena and never changes.
 *
 * Integers that depend on variables, dimension variables, constants and i64 formals alone are sizes (size.h).  There,
 * an index variable is SIZE_SYMBOL of its symbol (SYM_LOOP), a dimension variable of a SYM_DIM, a scalar of a
 * SYM_FORMAL. */
#ifndef PTOC_EQUATIONS_H
#define PTOC_EQUATIONS_H
#include "sema/symbol.h"

/* ---- variables --------------------------------------------------------------------------------------------------- */

enum eq_role {
    EQ_FREE, /* on the left of its statement */
    EQ_FOR,  /* of a `for`: its iterations run in order wherever a statement in it is `carried` */
    EQ_BOUND /* of a reduction */
};

/* low <= v < high, step 1; empty where high <= low.  The bounds may name variables that stand further out: those of
 * `for`s around, of a reduction the free variables and the binders before it, too. */
struct eq_var {
    enum eq_role role;
    const struct symbol *symbol; /* symbol->name: as in the text, not unique in the kernel */
    const struct size *low, *high;
    int id;         /* unique in the kernel, in source order, from 0 */
    struct span at; /* where it was first seen, or declared */
};

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* `let t[i, j]`: its elements are dense, row-major; extents are >= 0 by construction and name no index variable. */
struct eq_temp {
    const char *name;
    enum elem elem;    /* of the storage: never f16 or bf16, whose values are computed as f32 */
    enum elem nominal; /* as the text has it, for the checker */
    bool is_tainted;   /* its value depends on a formal that the kernel writes: no index may depend on it */
    int rank;          /* 0: one number */
    /* Index variables of the dimensions: free ones of its statement, or those of `for`s.  An element is found at
     * v - low; the indices of loads (struct eq_index) have had `low` subtracted already.  low .. high is the range
     * of that statement, also where it is empty; the extent is the room that it takes. */
    const struct size *low[MAX_RANK], *high[MAX_RANK], *extent[MAX_RANK];
    /* The number of leading `for`s around its statement that its dimensions do not name: one set of elements serves
     * each iteration of them, and it is read only inside of those `for`s.  0: it is seen to the end of the kernel. */
    struct eq_var **private_to;
    int private_count;
    int id;
    struct span at;
};

enum eq_fate {
    EQ_PROVED,          /* 0 <= index < extent wherever it is used */
    EQ_CHECKED_AT_CALL, /* the caller has tested it before the call: the kernel may rely on it */
    EQ_CHECKED_HERE     /* the kernel tests it before it writes any formal */
};

/* The condition of a select around a place in an expression: cond == truth there.  The list goes outwards. */
struct eq_guard {
    const struct eq_expr *cond;
    bool truth;
    const struct eq_guard *outer;
};

/* One index of an access. */
struct eq_index {
    const struct size *size;    /* its value, where that is a size; else NULL and: */
    const struct eq_expr *expr; /* its value, i64; holds loads */
    bool is_affine;             /* size is a sum of variables with constant factors, and a rest without variables */
    enum eq_fate fate;
    bool needs_guard; /* inside only with the conditions of the enclosing selects: no address is formed without them */
    /* CHECKED_HERE: where these corners are inside, too, it is inside wherever it is used, and no element is tested.  A
     * side that is proved has none; both NULL: each element is tested. */
    const struct size *least, *largest;
    struct span at;
};

/* A load, or the left side of a statement. */
struct eq_access {
    const struct symbol *formal; /* a tensor; or NULL and: */
    const struct eq_temp *temp;
    int rank;
    struct eq_index index[MAX_RANK];
    const struct eq_stmt *stmt;
    const struct eq_var *const *vars; /* all that are in scope here, outermost first: `for`, free, bound */
    int var_count;
    const struct eq_guard *guard; /* enclosing selects, innermost first; NULL: none */
    bool is_target;
    struct span at;
};

/* ---- expressions ------------------------------------------------------------------------------------------------- */

enum eq_kind {
    EQ_INT,    /* integer: a literal or constant of an integer type (or of bool: 0, 1) */
    EQ_REAL,   /* real: of f32 or f64 */
    EQ_SIZE,   /* size: i64, of index variables, dimension variables, i64 formals */
    EQ_SCALAR, /* scalar: a formal f64, f32, bool */
    EQ_LOAD,   /* access */
    EQ_NEG,    /* a; integers are modulo 2^w here and in all that follows */
    EQ_NOT,    /* a: bool */
    EQ_BITNOT,
    EQ_ADD,
    EQ_SUB,
    EQ_MUL,
    EQ_DIV, /* of integers: towards zero; may_fail: fails the task with b == 0, or least / -1 */
    EQ_MOD, /* of integers, sign of a; may_fail likewise */
    EQ_BITOR,
    EQ_BITXOR,
    EQ_BITAND,
    EQ_SHL, /* by b bits; of b < 0 or b >= w no bit of a is left: 0 */
    EQ_SHR, /* likewise: 0, or -1 of a < 0 */
    EQ_AND, /* bool; the second is evaluated only where the first has not decided */
    EQ_OR,
    EQ_EQ, /* of two of the same type; bool */
    EQ_NE,
    EQ_LT,
    EQ_LE,
    EQ_GT,
    EQ_GE,
    EQ_MIN, /* of two; a not-a-number stays one */
    EQ_MAX,
    EQ_SELECT, /* a ? b : c; only the chosen one is evaluated (loads!) */
    EQ_CAST,   /* a, to `type`; to an integer: truncates, to the nearest that fits, NaN is 0; to bool: a != 0 */
    EQ_EXP,    /* f32 or f64, of a */
    EQ_LOG,
    EQ_TANH,
    EQ_SQRT,
    EQ_RSQRT,
    EQ_SIN,
    EQ_COS,
    EQ_ERF,
    EQ_POW,   /* a, b */
    EQ_ABS,   /* f32, f64 or an integer */
    EQ_FLOOR, /* f32, f64 */
    EQ_CEIL,
    EQ_ROUND, /* to even */
    EQ_REDUCE /* reduction, vars, a; not evaluated in order of the text: see `vector` */
};

enum eq_reduction { EQ_SUM, EQ_PROD, EQ_RED_MAX, EQ_RED_MIN, EQ_ARGMAX, EQ_ARGMIN, EQ_ANY, EQ_ALL };

struct eq_expr {
    enum eq_kind kind;
    /* Of the value.  f16 and bf16 only of an EQ_LOAD (whose parent is a cast to f32), of the cast to it below a store,
     * and of a cast that the text has (whose parent is a cast back to f32).  Operands have the type of the result, but
     * for EQ_CAST, comparisons (bool), the condition of EQ_SELECT (bool), EQ_ARGMAX and EQ_ARGMIN (i64, of any number).
     */
    enum elem type;
    struct span at;
    const struct eq_expr *a, *b, *c;
    /* EQ_DIV, EQ_MOD of integers; EQ_ARGMAX, EQ_ARGMIN over a range that may be empty */
    bool may_fail;
    union {
        int64_t integer; /* a u64 above 2^63: its bits */
        double real;     /* of an f32: already rounded to f32 */
        const struct size *size;
        const struct symbol *scalar;
        const struct eq_access *access;
        struct {
            enum eq_reduction kind;
            struct eq_var **vars; /* EQ_ARGMAX, EQ_ARGMIN: one */
            int var_count;
            /* The variable along which vectors run where a sum runs inside: the last of `vars` that is, alone, the last
             * index of some operand; 64 partial sums, k counts from its lower bound.  NULL: the sum runs in order. */
            const struct eq_var *vector;
        } reduce;
    };
};

/* ---- statements -------------------------------------------------------------------------------------------------- */

enum eq_stmt_kind {
    EQ_LET,    /* writes all of a temporary: access.temp */
    EQ_ASSIGN, /* =, injective in the free variables and the `for`s that the target names */
    EQ_PLUS    /* +=, in the order of the variables: `for`s, then free ones as written */
};

struct eq_stmt {
    enum eq_stmt_kind kind;
    struct span at; /* the equation, for #line and messages */
    int id;         /* in source order, from 0 */
    struct eq_var *const *loops;
    int loop_count; /* `for`s around it, outermost first */
    struct eq_var *const *frees;
    int free_count; /* as on the left, by first occurrence */
    const struct eq_access *target;
    const struct eq_expr *value; /* its type is that of the target's elements; of EQ_PLUS: the type to add in */
    bool carried;                /* an iteration of a `for` around it reads what an earlier one wrote */
    bool is_injective;           /* EQ_PLUS too: no element is the target of two values of the variables */
    const struct symbol *part;   /* of a kernel that was joined: the kernel of the text that has it; else NULL */
};

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* What the caller tests: where all of `guard` holds, least < most each, a >= 0; else E05 with the text. */
struct eq_demand {
    const struct size *index, *extent; /* the index at its corner (dimension variables and scalars only), the extent */
    bool is_low;                       /* index >= 0; else index < extent */
    bool is_alone;                     /* at this corner the other side says nothing: it is not tested with it */
    const struct guard *guard;         /* ranges that are not empty; NULL: always */
    const struct eq_access *access;
    int dim;
    struct eq_demand *next;
};

struct equations {
    const struct symbol *kernel; /* an instance, of a generic kernel */
    struct eq_stmt **stmts;
    int stmt_count;
    struct eq_temp **temps;
    int temp_count;
    struct eq_var **vars; /* all, by id */
    int var_count;
    const struct eq_access **accesses; /* all, in source order: loads of a statement, then its target */
    int access_count;
    const struct eq_demand *demands;
    bool may_fail;           /* an index CHECKED_HERE, or an operation with may_fail */
    const struct size *work; /* weighted operations; never NULL */
    const struct size *cost; /* ceil_div(work, lanes) + 1, for a kernel without `cost` */
    /* of a kernel that was joined: those of the text that it is made of, in order; else none */
    const struct symbol *const *parts;
    int part_count;
};

/* NULL: the kernel is not in index notation, or in error. */
static inline const struct equations *equations_of(const struct symbol *kernel) { return kernel->equations; }
/* Of a comparison: what holds where it does not, of numbers that are no NaN. */
enum eq_kind equations_opposite(enum eq_kind comparison);

#endif
