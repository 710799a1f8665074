/* ir.h - the task IR: a checked program as operations in nested blocks, which every pass reads and from which C is
 * printed.
 *
 * Idea       lowering has decided the order of evaluation, every temporary, where each result goes, where each check,
 *            scope and release stands; nobody decides it again.  A function is structured as the language is: blocks,
 *            loops, branches; there is no goto.  Structs are gone: what is left are their tensors and scalars.
 * Operands   scalars are trees of ir_value; sizes are such trees too, made from the symbolic sizes of size.h; a tensor
 *            operand is an ir_view, a region of one tensor with its offset, extents and strides as values.
 * Owner      everything lies in the arena of the front end and lives as long as the program that was checked.
 * Look       ptoc build --dump=ir f.pto
 * Tests      test/lit/ir, test/codegen/test_verify.c
 */
#ifndef PTOC_IR_H
#define PTOC_IR_H
#include "sema/sema.h"

struct arena;
struct ir_call;
struct ir_check;
struct ir_op;

/* What integer arithmetic does when it leaves 64 bits. */
enum arithmetic {
    ARITH_CHECKED, /* fails the run */
    ARITH_PLAIN,   /* cannot happen: it is proved, or something else was checked before */
    ARITH_COST,    /* stops at the largest number: a cost is an estimate */
    ARITH_TRY      /* clears the local variable `ok` */
};

/* A scalar that lowering made.  Its C name begins with `wanted`. */
struct ir_temporary {
    const char *wanted;
    const struct type *type;
    const struct symbol *stands_for; /* the hidden LET by which sizes name the value (taken_of()), or NULL */
};

enum ir_value_kind {
    IR_INTEGER,
    IR_REAL,
    IR_BOOLEAN,
    IR_NAME,      /* a scalar of the program: symbol */
    IR_TEMPORARY, /* temporary */
    IR_STRIDE,    /* stride `dim` of the tensor argument or result place `symbol`, in elements */
    IR_AT,        /* offset of the tensor argument or result place `symbol`, in elements */
    IR_EXTENT,    /* symbol->captured[dim], which an IR_LET stored */
    IR_UNARY,
    IR_BINARY,
    IR_CAST,     /* arg[0] as `type` */
    IR_FUNCTION, /* function(arg...) */
    IR_SELECT,   /* arg[1] where arg[0] holds, else arg[2]: the other is not evaluated */
    IR_ONE_OF,   /* arg[0] equals arg[1], or arg[2] ... */
    IR_ELEMENT,  /* the element that `view` names */
    IR_RESULT,   /* of the function call `call`, which is made where the value is evaluated */
    IR_CHECKED,  /* checks, then arg[0] */
    IR_UNKNOWN   /* in a program with an error */
};

struct ir_value {
    enum ir_value_kind kind;
    enum ast_op op;             /* UNARY, BINARY */
    enum arithmetic arithmetic; /* BINARY, FUNCTION: of integers; PLAIN else */
    bool of_size;               /* BINARY: made from a symbolic size */
    bool is_await;              /* ELEMENT: waits for the tasks that write it */
    bool is_stored;             /* ELEMENT: as it is stored, without conversion to `type` */
    bool is_field;              /* ELEMENT: written as a name, not as t[i] */
    int dim, count;
    int64_t integer;
    double real;
    const struct type *type;
    const struct symbol *symbol;
    struct ir_temporary *temporary;
    const char *function; /* in C; of integers without the prefix that `arithmetic` gives it */
    struct ir_value **arg;
    const struct ir_view *view;
    const struct ir_call *call;
    const struct ir_check *checks; /* made before the value is taken, in order */
    const struct ast *holder; /* ELEMENT, NAME: a check that it is written may be added, see Note [settled later] */
};

/* A region of one tensor as an operand: `region` says which, in symbols; the values are the same sizes, lowered. */
struct ir_view {
    const struct region *region;
    struct ir_value *offset, *extent[MAX_RANK], *stride[MAX_RANK];
    struct span at; /* of an element that is waited for */
};

/* A text for a message of the run, with a conversion for each value. */
struct ir_message {
    const char *format;
    struct ir_value **values; /* integers */
    int count;
};

/* Something that is tested while the program runs.  See enum check_kind for what a, b and c are. */
struct ir_check {
    enum check_kind kind;
    struct span at;
    struct ir_value *a, *b, *c, *d;     /* WHERE: a, the condition; EXTENT: b, the same as a, for the message */
    const struct ir_view *view, *other; /* WRITTEN: view, all of the symbol */
    const struct symbol *symbol;        /* WRITTEN */
    const void *flag;                   /* WRITTEN: key of the variable that says so */
    bool is_await;                      /* WRITTEN: before an await */
    int from;                           /* CONTIGUOUS: the first dimension that is */
    const char *callee;                 /* the call that it belongs to; NULL: none */
    const char *one, *another;          /* DISJOINT: what view and other are to the call */
    struct ir_message message;          /* WHERE */
    const struct ir_check *next;
};

/* A condition of a loop or branch that is evaluated where it stands: it marks its own site if `site` is not NULL.
 * source: the expression; NULL: it is none of the program's. */
struct ir_condition {
    struct ir_value *value;
    const struct ast *source;
    struct span at;
    const char *site;
    enum truth truth;
};

enum ir_argument_kind {
    IR_ARG_TENSOR,  /* view, with `direction`; of a function: a borrowed view */
    IR_ARG_SCALAR,  /* value */
    IR_ARG_PLACE,   /* of a function: where its tensor result goes, all of view */
    IR_ARG_MOVED,   /* of a function: view, whose tensor the callee owns from now on */
    IR_ARG_ELEMENT, /* of a function: view of an element that is moved; its memory stays with the array */
    IR_ARG_VARIABLE /* of a function: the scalar `symbol`, or the element `view`, which the callee sets */
};

struct ir_argument {
    enum ir_argument_kind kind;
    enum direction direction;
    const struct ir_view *view;
    const struct ir_view *written; /* of a task: the part that it writes, of as many dimensions; NULL: as direction */
    struct ir_value *value;
    /* of a function, TENSOR, MOVED, ELEMENT: the callee's, a leaf where that is a struct */
    const struct symbol *formal;
    const struct type *type; /* SCALAR of a task, VARIABLE: of the formal */
    const struct symbol *symbol;
    /* an output that is allocated: the SCOPE_BEGIN that owns it; NULL: the current scope */
    const struct ir_op *scope;
};

struct ir_attribute {
    enum { IR_PRIORITY, IR_TIMEOUT, IR_LABEL, IR_RANK, IR_HOME } kind;
    struct ir_value *value;     /* PRIORITY, TIMEOUT, RANK */
    const struct ir_view *view; /* HOME */
    const char *text;           /* LABEL */
    size_t length;
};

/* What makes a buffer, or needs some: a call, a `let`, the frame of a function. */
struct maker {
    struct span at;
    const char *name;            /* of what is called, of the `let`, of the function; NULL: nothing */
    const struct symbol *callee; /* of a call */
    bool is_frame;
};

/* A kernel submitted as a task, or a function called. */
struct ir_call {
    const struct symbol *callee;
    const struct call *binding; /* the sizes and regions that the checker bound to its formals */
    struct span at;
    struct ir_argument *arguments;
    int count;
    struct ir_attribute *attributes;
    int attribute_count;
    /* Of a call inside an expression: made before it, there; is_prepared: they stand before it as statements. */
    const struct ir_check *checks;
    bool is_prepared;
    /* of tensors that are written by it, where a variable of the program remembers that: its key; NULL ends */
    const void **flags;
};

/* A bool that depends on the iteration: `when` holds, and `number`, which grows by `step`, is `op` than `limit`. */
struct ir_strip_test {
    const struct ir_value *when; /* NULL: true */
    const struct ir_value *number, *limit;
    struct ir_value *step;
    enum ast_op op;
};

/* A loop that may be handed over in strips, several iterations as one task: the calls of kernels of its body, each with
 * its SITE. */
struct ir_strip_call {
    const struct ir_op *site, *submit;
    struct ir_value **steps; /* what each attribute, then each argument, grows by: elements of an offset, or integers */
    struct ir_strip_test *tests; /* by argument; number NULL: it is no test.  NULL: none is one */
};
/* A tensor that may have no memory before the loop. */
struct ir_strip_tensor {
    const struct symbol *symbol;
    const struct ir_op
        *own; /* the TENSOR of the body, which makes one for each iteration; NULL: it outlives the loop */
};
/* An extent of the body is the smaller one of the two: `wanted` in all iterations but the last ones, as `room` becomes
 * smaller by 1 for each 1 that the loop's variable grows. */
struct ir_strip_room {
    const struct ir_value *room, *wanted;
};
struct ir_strips {
    struct ir_strip_call *calls;
    struct ir_strip_tensor *tensors;
    const struct ir_check **checks; /* of the body: where one would fail there are no strips */
    const struct ir_op **flags;     /* the SETs of the body: flags of tensors that it writes */
    const struct ir_op **lets;      /* of the body */
    struct ir_strip_room *rooms;    /* the offer ends where one of them is less than is wanted */
    int count, tensor_count, check_count, flag_count, let_count, room_count;
    struct ir_strip_test stop; /* the loop ends before the first iteration where this holds; number NULL: it does not */
};

struct ir_block {
    struct ir_op *first, *last;
    struct span at;     /* of the language's block */
    struct span at_end; /* where the line that closes it comes from */
};

enum ir_op_kind {
#define IR_OP(kind, name) IR_##kind,
#include "ir_op.def"
#undef IR_OP
    IR_OP_COUNT
};

enum ir_loop_form {
    IR_LOOP_UNIT,   /* i++ or i-- */
    IR_LOOP_STEP,   /* i += step stays within 64 bits */
    IR_LOOP_CLAMP,  /* the last step could leave 64 bits; the distance to the end cannot */
    IR_LOOP_COUNTED /* the iterations are counted before the first */
};

/* Those that the program or the function's end asks for; those that a pass has placed. */
enum ir_release_why {
    IR_RELEASE_BY_HAND,
    IR_RELEASE_LEAVING,
    IR_RELEASE_BEHIND,      /* a statement */
    IR_RELEASE_BEHIND_CALL, /* that is an argument */
    IR_RELEASE_BEFORE,      /* the statements of a block */
    IR_RELEASE_IN_ELSE      /* in an else branch that the program does not have */
};

enum ir_unused { IR_UNUSED_NEVER, IR_UNUSED_MAYBE, IR_UNUSED_SURELY };

enum ir_print_form { IR_PRINT_INTEGER, IR_PRINT_F64, IR_PRINT_F32, IR_PRINT_BOOLEAN, IR_PRINT_NUL };
struct ir_print_value {
    enum ir_print_form form;
    struct ir_value *value;
};

/* Note [settled later]: storage depends on all paths through a function, so it is known only when the function has been
 * lowered and its uses have been looked at.  Lowering leaves each operation that may be needed, and the pass `settle`
 * takes away what is not: every ALLOC, each RELEASE of an argument that was moved in, each CHECK without a check (then
 * `holder` says for which node tests are asked for), each SITE that only such a check would need.  It adds the flags
 * which those checks test, and removes the uses. */

/* What happens to a tensor, or a scalar of a struct.  Uses stand in the order of the language among the operations,
 * until `settle`; an IF without a condition holds those of an operand that need not be evaluated. */
enum ir_use_kind {
    IR_USE_BEGIN,      /* a let: nothing of it is written */
    IR_USE_BEGIN_ZERO, /* a let of scalars that are 0 */
    IR_USE_END,        /* its block ends */
    IR_USE_TOUCH,      /* named, but no element is looked at */
    IR_USE_READ,
    IR_USE_AWAIT, /* read, when the tasks that write it have ended */
    IR_USE_WRITE,
    IR_USE_WRITE_PART, /* written, where there must be storage before */
    IR_USE_DROP,
    IR_USE_MOVE,   /* it is the callee's from now on */
    IR_USE_RETURN, /* it becomes the result */
    IR_USE_TAKE,   /* a `var` becomes another tensor: `from` */
    IR_USE_KEEP,   /* a let is a second name of the value of `from` */
    IR_USE_ALIAS,  /* a let: another name for a piece of it, where indices say */
    IR_USE_UNKNOWN /* below an error: it may be written and read, and nothing is to be said about it */
};
struct ir_use {
    enum ir_use_kind kind;
    bool is_same_argument; /* as the use before: both are parts of one struct */
    bool is_first;         /* TAKE: `to` surely has nothing before, which the pass `assign` finds out */
    const struct symbol *symbol;
    struct tensor_note *tensor;  /* NULL: a scalar of its own, which is only read and written */
    struct tensor_note *from;    /* TAKE, KEEP */
    const struct region *region; /* READ, AWAIT, WRITE, WRITE_PART: which piece; NULL: all of it */
    const struct ast *at;
    struct ast *holder; /* READ, AWAIT: whose checks a check of this use belongs to */
};

struct ir_op {
    enum ir_op_kind kind;
    struct span at; /* where the line that it prints comes from */
    /* Of the last operation of a statement: where that ends.  What is inserted behind it comes from there. */
    struct span statement_end;
    int number, last; /* which the pass `liveness` gives: its own, and the largest inside */
    bool is_busy;     /* the same: it needs memory, or waits */
    struct ir_op *next;
    union {
        /* of: a value that may get a check; without one that can fail the site is not needed.  NULL: it is */
        struct {
            struct span at;
            const char *text;
            const struct ir_value *of;
        } site;
        /* A new scalar variable.  key: the symbol, temporary, &symbol->captured[i], or tensor_note (for its flag) by
         * which it is named.  taken: its only reader, which takes the value itself where that cannot fail */
        struct {
            const void *key;
            const struct ir_temporary *temporary;
            const char *wanted;
            const struct type *type;
            struct ir_value *value, *taken;
            bool is_const;
            enum ir_unused unused;
        } let;
        /* A variable by its key, with the symbol or temporary that the key belongs to; or target, a NAME by reference;
         * or neither: the value is evaluated for its effects. */
        struct {
            const void *key;
            const struct symbol *symbol;
            const struct ir_temporary *temporary;
            struct ir_value *target, *value;
        } set;
        /* private: no task sees the array */
        struct {
            const struct ir_view *view;
            struct ir_value *value;
            bool is_private;
        } store;
        /* The variable of a new tensor; one that lies in the result from the start has none.  at: in the frame; every
         * other iteration of the loop of `rotates` it lies `bytes` further.  NULL: its first writer allocates it, or an
         * ALLOC. */
        struct {
            const struct symbol *symbol;
            const char *wanted;
            struct ir_value *at, *bytes;
            const struct symbol *rotates;
        } tensor;
        /* in_frame: where the frame was refused; site: of the `let` */
        struct {
            const struct symbol *symbol;
            struct ir_value *bytes;
            bool in_frame;
            struct span site;
            struct maker maker;
            const struct ir_op *scope; /* the SCOPE_BEGIN that owns it; NULL: the current scope */
        } alloc;
        /* Where the cells of the tensor live, all of which is the view.  cell NULL: bands; grid NULL: its cells are not
         * dealt; source NULL: the grid is as square as possible */
        struct {
            const struct symbol *tensor;
            const struct ir_view *view;
            struct ir_value *cell[MAX_RANK], *grid[MAX_RANK];
            const struct ast *source; /* the attribute */
        } distribute;
        /* need: of all that may be held while it is */
        struct {
            const struct symbol *orch;
            struct ir_value *bytes, *need;
        } frame;
        const struct ir_call *call; /* SUBMIT, CALL */
        struct {
            const struct symbol *symbol;
            struct ir_value *bytes;
            bool writes;
        } slot_use;
        /* argument: of the function, which was moved in; in_frame: only where the frame was refused */
        struct {
            const struct symbol *symbol;
            bool is_argument, in_frame;
            enum ir_release_why why;
        } release;
        /* tensors: that it owns, in the order in which they are declared.  named: an output goes to it from inside
         * another one.  explicit: the program says `scope`.  value: of an expression.  dropped: it owns nothing. */
        struct {
            const struct symbol **tensors;
            int count;
            bool is_named, is_explicit, is_value, is_dropped;
        } scope;
        struct {
            struct ir_op *begin;
            bool leaves;
        } scope_end; /* leaves: a jump goes out of the scope */
        /* hoisted: of all iterations of the loop that follows.  holder, where check is NULL: the expression, statement
         * or call whose checks stand here; site: the text of the SITE that they need, NULL: there is one */
        struct {
            const struct ir_check *check;
            bool is_hoisted;
            const struct ast *holder;
            const char *site;
        } check;
        /* source: as that of ir_condition */
        struct {
            struct ir_value *cond;
            const struct ast *source;
            struct ir_message message;
        } assertion;
        struct {
            const char *format;
            struct ir_print_value *values;
            int count;
        } print;
        struct {
            const struct symbol *place;
            const struct ir_view *view;
        } give; /* a tensor becomes the result */
        /* TAKE: the name `to` gets the buffer of `from`, which has none afterwards; one that it had is released.
         * is_empty: it had none.  KEEP: both names have the buffer.  moved_in: `from` is an `own` formal, this is all
         * of it; NULL: it is none.  Then the buffer becomes one of `scope`, the SCOPE_BEGIN that owns those of `to`
         * (NULL: the current scope), or, where it is no whole buffer of the heap, a copy is made. */
        struct {
            const struct symbol *to, *from;
            bool is_empty, in_frame;
            const struct ir_view *moved_in;
            const struct ir_op *scope;
            struct maker maker;
        } take;
        /* last: the function ends here anyway; source: the statement, or the body of the function */
        struct {
            struct ir_value *value;
            const struct ast *source;
            bool is_last;
        } ret;
        struct {
            const struct symbol *symbol;
            struct ir_value *low, *high, *step;
            const struct size *low_size, *high_size; /* the same as sizes; NULL: they are none */
            struct span high_at;
            int64_t by;
            enum ir_loop_form form;
            /* for; by: the step where it is known, else 0; step is set for COUNTED */
            struct ir_block *body;
            const struct ir_strips *strips; /* set by the pass `strips`; NULL: one task for each call */
            const struct ast *source;       /* the statement */
        } loop;
        /* while and do-while.  test: what must be evaluated as statements before the condition; NULL: nothing.  begin:
         * of a do-while with such a test, the variable that is true in the first iteration. */
        struct {
            struct ir_block *test;
            struct ir_condition cond;
            struct ir_temporary *begin;
            bool tests_first;
            struct ir_block *body;
            const struct ast *source; /* as that of a `for` */
        } while_;
        /* chained: `else if`; continues: the branch before, as `else if` or the next arm; other: or NULL.  Of an arm,
         * the value of its `match` and the list that this is compared with; else NULL. */
        struct {
            struct ir_condition cond;
            const struct ast *matched, *values;
            struct ir_block *then, *other;
            struct span whole; /* the statement, or the `else if` */
            bool is_chained, continues;
        } branch;
        struct ir_block *block;
        struct ir_use use;
    };
};

/* A use of which only the run knows whether something was written before. */
struct ir_unwritten {
    const struct ir_use *use;
    struct ir_unwritten *next;
};

struct ir_unsupported {
    struct span at;
    const char *what;
    struct ir_unsupported *next;
};

struct ir_function {
    const struct symbol *orch;
    struct ir_block *body;
    struct ir_op *scope; /* the outermost SCOPE_BEGIN; NULL: none is left */
    struct arena *mem;   /* where its operations lie */
    bool is_broken;      /* the program has an error: values and views are not known, and it is never printed */
    struct ir_unsupported *unsupported; /* E99, where code is asked for; NULL: nothing */
    /* until `settle`: what is used, by number; which uses need a test when the program runs; is there an `await` in a
     * loop?  NULL: there are no uses any more */
    struct tensor_note **tensors;
    int tensor_count;
    struct ir_unwritten *unwritten;
    bool awaits_in_loop;
};

/* ---- ir.c: making values ---- */
struct ir_value *ir_value_new(struct arena *mem, enum ir_value_kind kind, const struct type *type);
struct ir_value *ir_integer(struct arena *mem, int64_t value);
struct ir_value *ir_boolean(struct arena *mem, bool value);
struct ir_value *ir_of_temporary(struct arena *mem, struct ir_temporary *t);
struct ir_value *ir_unary(struct arena *mem, enum ast_op op, struct ir_value *a);
struct ir_value *ir_binary(struct arena *mem, enum ast_op op, enum arithmetic arithmetic, struct ir_value *a,
                           struct ir_value *b);
struct ir_value *ir_function(struct arena *mem, const char *name, enum arithmetic arithmetic, const struct type *type,
                             int count);
/* the caller fills in arg[1] ... arg[count] */
struct ir_value *ir_one_of(struct arena *mem, struct ir_value *a, int count);
/* Made of literals alone: an int in C. */
bool ir_is_of_literals(const struct ir_value *v);
/* Operand i may be left out: the right one of && and ||, what a select chooses from. */
bool ir_is_optional(const struct ir_value *v, int i);
bool ir_calls(const struct ir_value *v);    /* a function */
bool ir_can_fail(const struct ir_value *v); /* its evaluation may end the run: it needs a site */
bool ir_may_fail(const struct ir_value *v); /* the same, or it may get a check, or it is ARITH_TRY */
const char *ir_op_name(enum ir_op_kind kind);
struct ir_op *ir_append(struct ir_block *block, struct arena *mem, enum ir_op_kind kind, struct span at);
/* The blocks of a structured operation, in the order in which they are run; returns how many (at most 3). */
int ir_blocks(const struct ir_op *op, struct ir_block *blocks[3]);
/* The branch that continues the chain of op, at the end of its else block; NULL: none does. */
struct ir_op *ir_next_in_chain(const struct ir_op *op);
void ir_drop_scopes(struct ir_block *block); /* takes away those that are dropped */
/* A new operation behind `after`; NULL: as the first one. */
struct ir_op *ir_insert(struct ir_block *block, struct ir_op *after, struct arena *mem, enum ir_op_kind kind,
                        struct span at);
/* Each operation of the block and of the blocks in it, in order.  A chain of branches may have any length. */
void ir_each(struct ir_block *block, void (*visit)(void *cx, struct ir_op *op), void *cx);
/* Takes away the operations for which `test` is true. */
void ir_remove(struct ir_block *block, bool (*test)(void *cx, const struct ir_op *op), void *cx);

/* ---- operands.c ---- */
/* What an operation does to a tensor. */
enum ir_touch {
    IR_TOUCH_USE,  /* reads it or writes it */
    IR_TOUCH_END,  /* moves it into a function, or from there into a `var`, or drops it, as the text says */
    IR_TOUCH_NAME, /* names it: an allocation, a release that a pass has placed, a mark */
};
/* Called for each value and each call of an operation and inside of its values, and for each tensor that it names, as
 * often as it does; NULL: nobody asks. */
struct ir_operands {
    void *cx;
    void (*value)(void *cx, const struct ir_value *v);
    void (*call)(void *cx, const struct ir_call *c);
    void (*tensor)(void *cx, const struct symbol *t, enum ir_touch how);
};
/* The operations in its blocks are not its own. */
void ir_each_operand(const struct ir_op *op, const struct ir_operands *to);

/* ---- copy.c ---- */
struct ir_function *ir_copy(struct arena *mem, const struct ir_function *f);

/* ---- dump.c ---- */
struct strbuf;
void ir_print(struct front *front, const struct ir_function *f, struct strbuf *to);
void ir_print_uses(struct front *front, const struct ir_function *f, struct strbuf *to);

/* ---- verify.c ---- */
/* Tests the invariants that lowering promises and passes keep: every name is defined before its use, scopes balance and
 * at most one release is met on every path, each view lies in its tensor where that can be decided.  The first
 * violation as a sentence with the operation that violates; NULL: none.  The text is the arena's. */
const char *ir_verify(struct front *front, const struct ir_function *f);
/* In builds with checks: a fault of a pass ends the compiler before it can print wrong code. */
void ir_expect_valid(struct front *front, const struct ir_function *f, const char *pass);

#endif
