/* ast.h - the program as written, and the results of checking.
 *
 * One struct for every kind, in an arena; children by name in a union; lists are chained by `next`.  The members under
 * "set by sema" are NULL or zero after parsing; a node that has an error keeps `bad` and raises no second one. */
#ifndef PTOC_AST_H
#define PTOC_AST_H
#include "source.h"

enum ast_kind {
#define AST(kind, name) AST_##kind,
#include "ast.def"
#undef AST
    AST_KIND_COUNT
};

enum ast_op {
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_MOD,
    OP_BITOR,
    OP_BITXOR,
    OP_BITAND,
    OP_SHL,
    OP_SHR, /* binary */
    OP_NEG,
    OP_NOT,
    OP_BITNOT /* unary */
};

/* The marker of a formal or an argument.  NONE: as written, without one. */
enum direction { DIR_NONE, DIR_IN, DIR_OUT, DIR_INOUT, DIR_ACC, DIR_OWN, DIR_HOST, DIR_SCRATCH };

struct type;   /* types.h */
struct symbol; /* symbol.h */
struct size;   /* size.h */
struct note;   /* checker.h */

struct kernel_ast {
    struct ast *generics, *formals;
    const char *worker; /* "on", interned, or NULL */
    struct span worker_at;
    struct ast *cost, *where; /* where: list, one node an attribute */
    struct ast *extern_name;  /* STRING or NULL */
    struct span body_at;      /* the text between the braces of a C body, braces excluded */
    bool has_body;
    struct ast *block;    /* BLOCK of a body in index notation, or NULL */
    struct ast *repeated; /* attributes given twice, for the checker: a list of nodes */
};

/* A large program has a node for every four bytes of its text: this struct is kept to two cache lines. */
struct ast {
    enum ast_kind kind;
    uint16_t depth;      /* levels of nodes below; the parser keeps it under 2000, so that every pass may recurse */
    bool bad;            /* set by sema: an error was reported here or below */
    struct span at;      /* the whole construct */
    struct span name_at; /* where `name` stands, for kinds that have one */
    struct ast *next;    /* the next in the list this node is in */
    const char *name;    /* interned; the kinds marked (name) below */

    union {
        /* (name) GENERIC; the class of an element type, or NULL: a dimension */
        struct {
            const char *elements;
            struct span elements_at;
        } generic;
        struct {
            struct ast *path;
        } import; /* (name: after `as`, or NULL) path: STRING */
        /* (name) CONST PARAM LET VAR; either may be NULL.  LET of a kernel in index notation: indices, or NULL */
        struct {
            struct ast *type, *value, *indices;
        } decl;
        struct {
            struct ast *generics, *fields;
        } structure;               /* (name) */
        struct kernel_ast *kernel; /* (name) KERNEL */
        /* (name) result: type or NULL */
        struct {
            struct ast *generics, *formals, *result, *body;
            bool exported;
        } orch;
        struct {
            struct ast *type;
            enum direction dir;
            struct span dir_at;
            struct ast *writes, *by; /* FORMAL: WRITES and BY, or NULL */
        } formal;                    /* (name) FORMAL, FIELD; dir as written */
        struct {
            const char *word; /* "by", or a mistake */
            struct span word_at;
        } by; /* (name) BY: the operation */
        struct {
            struct ast *cond, *message;
        } check; /* STATIC_ASSERT, ASSERT; message: STRING or NULL */
        /* (name) module: before the dot, or NULL */
        struct {
            const char *module;
            struct span module_at;
            struct ast *dims;
        } type_name;
        struct {
            struct ast *length, *element;
        } type_array;
        struct {
            struct ast *stmts;
        } block;
        struct {
            struct ast *tensor, *tiles;
        } view; /* (name) view name = tensor tiled [tiles] */
        struct {
            struct ast *expr;
        } expr_stmt;
        struct {
            struct ast *target, *value;
            struct span adds_at; /* the `+=`; end 0: it is `=` */
        } assign;
        struct {
            struct ast *low, *high, *step, *body;
        } loop; /* (name) FOR; step or NULL */
        struct {
            struct ast *cond, *body;
        } while_; /* WHILE, DO_WHILE */
        struct {
            struct ast *cond, *then, *other;
        } if_; /* other: NULL, BLOCK or IF */
        struct {
            struct ast *value, *arms, *other;
        } match; /* other: BLOCK or NULL */
        struct {
            struct ast *values, *body;
        } arm;
        struct {
            struct ast *label, *body;
        } scope; /* label: STRING or NULL */
        struct {
            struct ast *names;
        } drop; /* list of NAME, MEMBER; what else is there is refused */
        struct {
            struct ast *value;
        } ret; /* or NULL */
        struct {
            struct ast *values;
        } print;
        struct {
            struct ast *args;
        } attr; /* (name) */
        /* too_large: for 64 bits; 2^63 and more are no i64, except that a minus sign makes one of 2^63 */
        struct {
            const char *digits;
            uint64_t value;
            bool too_large;
        } integer;
        struct {
            double value;
        } real;
        struct {
            const char *text;
            size_t length;
        } string; /* decoded; may contain NUL */
        struct {
            bool value;
        } boolean;
        struct {
            enum ast_op op;
            struct ast *left, *right;
            struct span op_at;
        } binary; /* UNARY: left only */
        struct {
            struct ast *operand;
        } await;
        struct {
            struct ast *callee, *args;
        } call; /* args: list of ARG */
        struct {
            struct ast *value;
            enum direction dir;
            struct span dir_at;
        } arg;
        struct {
            struct ast *callee, *binders, *value;
        } reduction; /* callee(binders: value); binders: list of BINDER */
        /* (name) name in low .. high; both NULL: its range is found */
        struct {
            struct ast *low, *high;
        } binder;
        struct {
            struct ast *object;
        } member; /* (name) object.name */
        struct {
            struct ast *object, *indices;
            bool is_shape;
        } index; /* indices: INDEX_POINT RANGE WIDTH ALL; is_shape: object as [indices], each a POINT; (name) WRITES: no
                  * object */
        /* POINT: low; RANGE: low .. high; WIDTH: low +: high; step or NULL, of an ALL too */
        struct {
            struct ast *low, *high, *step;
        } range;
    };
    struct ast *attrs; /* @name(args) before KERNEL, ORCH, LET, VIEW, EXPR_STMT, ASSIGN */

    /* ---- set by sema ---- */
    const struct type *type;  /* of an expression or a type node */
    const struct size *value; /* of an integer expression: its symbolic value, when there is one */
    struct symbol *symbol;    /* what a NAME or MEMBER means; what a declaration declares */
    struct note *note;        /* call, region, checks: read through call_of(), region_of(), checks_of() of sema.h */
};

struct program_ast {
    struct ast *items; /* list */
    uint32_t file;
};

struct arena;
struct ast *ast_new(struct arena *a, enum ast_kind kind, struct span at);
struct ast *ast_append(struct ast *list, struct ast *node); /* returns the head; NULL list: node */
const char *ast_kind_name(enum ast_kind kind);
const char *ast_op_text(enum ast_op op);
const char *direction_text(enum direction dir); /* "inout"; "" for NONE */
bool direction_writes(enum direction dir);      /* or takes: the caller has it no more as it was */

#endif
