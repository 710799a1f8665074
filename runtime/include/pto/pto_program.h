/* pto_program.h - the parts of generated C beside pto_runtime.h: checked arithmetic, run-time checks, call frames, and
 * the table of the params and entries that the command line of a built program may name.  Hand-written programs rarely
 * need it. */
#ifndef PTO_PROGRAM_H
#define PTO_PROGRAM_H
#include <pto/pto_arithmetic.h>
#include <pto/pto_call.h>
#include <pto/pto_runtime.h>
#include <pto/pto_strip.h>
#include <pto/pto_version.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- failing ---------------------------------------------------------------------------------------------------- */

/* Runs fn like pto_runtime_run, or, if the caller orchestrates a run of rt already, in that run.  A failure of a
 * check, an assert or a call in fn does not return to fn: it unwinds to this call, which closes the scopes and frames
 * that fn opened.  So generated code needs no cleaning up, and fn must own nothing that does.  If the free space of
 * the heap is fragmented, a call that allocates may compact the heap: fn finds the bytes of a buffer with pto_where.
 * Caller     any thread, or the orchestrator.  Blocks until every task has completed; inside a run it does not wait
 *            for tasks.
 * Status     as pto_runtime_run; inside a run: the run status, PTO_ERR_ARGUMENT if fn is NULL. */
PTO_API PTOStatus pto_run_entry(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg);

/* pto_run_entry of an entry that recurses: fn runs on a stack of the runtime's own, which grows to an eighth of the
 * machine's memory.  The thread is the caller's.  Where no addresses are left for that stack, and inside a run, fn
 * runs on the caller's stack.  Any other run is there, too, of a thread that has less than 128 KiB of stack left.
 * Caller     as pto_run_entry.  Blocks as pto_run_entry does.  Status: as pto_run_entry. */
PTO_API PTOStatus pto_run_recursive(PTORuntime *rt, void (*fn)(PTORuntime *rt, void *arg), void *arg);

/* pto_buffer of memory that an entry only reads.  In a run that pto_run_entry began its readers need no dependence,
 * because no task of the run writes it.  If a task writes it nevertheless, through another argument that names the
 * same memory, that task waits for all tasks in flight first.  In other runs, and while tasks are in flight, the call
 * is pto_buffer.
 * Caller     the orchestrator, or before a run the thread that begins it.  Never blocks.  Status: none is returned;
 *            as pto_buffer. */
PTO_API void pto_input(PTORuntime *rt, const void *base, int64_t bytes);

/* States that the entry holds at most so many bytes of the heap at a time.  In a run that pto_run_entry began for this
 * entry alone, messages of a full heap then advise a heap with which the run completes.  Other runs ignore it.
 * Caller     the orchestrator, before the entry allocates.  Never blocks.  Status: none. */
PTO_API void pto_state_need(PTORuntime *rt, int64_t bytes);

/* Fails the run with `status` and this message at the place of the last pto_at, with the chain of open functions, and
 * unwinds to pto_run_entry.  Does not return.  Anywhere else (outside such a run, rt NULL) there is nothing to unwind
 * to: the message goes to standard error and the program is aborted.
 * Caller     the orchestrator, in a run that pto_run_entry began.  Never blocks.  Status: the one given is that of
 *            the run. */
PTO_API PTO_NORETURN void pto_raise(PTORuntime *rt, PTOStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Begins an orchestration function: checks the recursion limit and the stack, and adds the function to the call chain
 * of error messages.  Keeps the caller's pto_at place.
 * Caller     the orchestrator, in a run that pto_run_entry began.  Never blocks.  Status: fails the run with
 *            PTO_ERR_RECURSION and unwinds. */
PTO_API void pto_enter(PTORuntime *rt, const char *function) __attribute__((nonnull(1)));

/* pto_enter of a function that has loops: it keeps in indices[n], until pto_leave, the index of the loop in which n
 * others are nested around the place; messages show those that the place names (PTOSiteLine).
 * Caller     as pto_enter.  Never blocks.  Status: as pto_enter. */
PTO_API void pto_enter_loops(PTORuntime *rt, const char *function, int64_t *indices) __attribute__((nonnull(1)));

/* Generated code gives a PTOSiteLine. */
#define pto_at(rt, site) (pto_at)(rt, (const PTOSite *)(site))

/* Ends the function of the last pto_enter and restores the caller's pto_at place.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
PTO_API void pto_leave(PTORuntime *rt);

/* ---- checked 64-bit arithmetic: wrap-around and division by zero fail the run ------------------------------------ */
/* pto_raise for `a op b` that leaves 64 bits.
 * Caller     as pto_raise.  Status: PTO_ERR_OVERFLOW. */
PTO_API PTO_NORETURN void pto_raise_overflow(PTORuntime *rt, const char *op, int64_t a, int64_t b);

/* pto_raise for a division of a by zero.
 * Caller     as pto_raise.  Status: PTO_ERR_DIVIDE. */
PTO_API PTO_NORETURN void pto_raise_divide(PTORuntime *rt, const char *op, int64_t a);

/* pto_raise for a shift by a number of bits outside of 0 to 63.
 * Caller     as pto_raise.  Status: PTO_ERR_ARGUMENT. */
PTO_API PTO_NORETURN void pto_raise_shift(PTORuntime *rt, int64_t by);

/* pto_raise for a real that is no integer of 64 bits without its fraction.
 * Caller     as pto_raise.  Status: PTO_ERR_OVERFLOW. */
PTO_API PTO_NORETURN void pto_raise_truncate(PTORuntime *rt, double value);

/* pto_raise for an index outside of 0 <= index < extent.
 * Caller     as pto_raise.  Status: PTO_ERR_BOUNDS. */
PTO_API PTO_NORETURN void pto_raise_index(PTORuntime *rt, int64_t index, int64_t extent);

/* pto_raise for a slice outside of 0 <= low <= high <= extent.
 * Caller     as pto_raise.  Status: PTO_ERR_BOUNDS. */
PTO_API PTO_NORETURN void pto_raise_slice(PTORuntime *rt, int64_t low, int64_t high, int64_t extent);

/* pto_raise for indices low + k * step, 0 <= k < count, outside of 0 .. extent, or for a negative count.
 * Caller     as pto_raise.  Status: PTO_ERR_BOUNDS. */
PTO_API PTO_NORETURN void pto_raise_stepped(PTORuntime *rt, int64_t low, int64_t count, int64_t extent, int64_t step);

static inline int64_t pto_add(PTORuntime *rt, int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r)) pto_raise_overflow(rt, "+", a, b);
    return r;
}
static inline int64_t pto_sub(PTORuntime *rt, int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_sub_overflow(a, b, &r)) pto_raise_overflow(rt, "-", a, b);
    return r;
}
static inline int64_t pto_mul(PTORuntime *rt, int64_t a, int64_t b)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) pto_raise_overflow(rt, "*", a, b);
    return r;
}
static inline int64_t pto_div(PTORuntime *rt, int64_t a, int64_t b)
{
    if (b == 0) pto_raise_divide(rt, "/", a);
    if (b == -1 && a == INT64_MIN) pto_raise_overflow(rt, "/", a, b);
    return a / b;
}
static inline int64_t pto_mod(PTORuntime *rt, int64_t a, int64_t b)
{
    if (b == 0) pto_raise_divide(rt, "%", a);
    return b == -1 ? 0 : a % b;
}
/* a * 2^by: like a product, it has to fit. */
static inline int64_t pto_shl(PTORuntime *rt, int64_t a, int64_t by)
{
    bool ok = true;
    const int64_t r = pto_try_shl(&ok, a, by);
    if (!ok && by >= 0 && by <= 63) pto_raise_overflow(rt, "<<", a, by);
    if (!ok) pto_raise_shift(rt, by);
    return r;
}
/* Rounds down: the sign stays. */
static inline int64_t pto_shr(PTORuntime *rt, int64_t a, int64_t by)
{
    if (by < 0 || by > 63) pto_raise_shift(rt, by);
    return a >> by;
}
/* Without its fraction; what is no integer of 64 bits then fails the run. */
static inline int64_t pto_truncate(PTORuntime *rt, double value)
{
    bool ok = true;
    const int64_t r = pto_try_truncate(&ok, value);
    if (!ok) pto_raise_truncate(rt, value);
    return r;
}
static inline int64_t pto_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t pto_max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t pto_abs(PTORuntime *rt, int64_t a)
{
    if (a == INT64_MIN) pto_raise_overflow(rt, "abs", a, 0);
    return a < 0 ? -a : a;
}

/* a / b, rounded up.
 * Caller     as pto_raise.  Status: fails the run with PTO_ERR_DIVIDE or PTO_ERR_OVERFLOW. */
PTO_API int64_t pto_ceil_div(PTORuntime *rt, int64_t a, int64_t b);

/* The largest n with 2^n <= a.
 * Caller     as pto_raise.  Status: fails the run with PTO_ERR_ARGUMENT if a < 1. */
PTO_API int64_t pto_log2(PTORuntime *rt, int64_t a);

/* 0 <= index < extent, or the run fails; returns index. */
static inline int64_t pto_index(PTORuntime *rt, int64_t index, int64_t extent)
{
    if (index < 0 || index >= extent) pto_raise_index(rt, index, extent);
    return index;
}
/* The three below fail at the place of the argument that they are about, not at that of the last pto_at. */
/* A kernel that never names its strides needs a contiguous view. */
static inline void pto_row_major(PTORuntime *rt, const PTOSiteLine *argument, const char *kernel, const char *tensor,
                                 int rank, const int64_t *shape, const int64_t *stride)
{
    if (pto_is_row_major(rank, shape, stride)) return;
    pto_at(rt, argument);
    pto_raise(rt, PTO_ERR_ARGUMENT, "[E18] '%s' requires a contiguous view, but this slice of '%s' is strided", kernel,
              tensor);
}
/* A kernel that names the strides of its first dimensions alone needs the others, from `from` on, contiguous. */
static inline void pto_rows_major(PTORuntime *rt, const PTOSiteLine *argument, const char *kernel, const char *tensor,
                                  int from, int rank, const int64_t *shape, const int64_t *stride)
{
    for (int d = 0; d < from; d++)
        if (shape[d] == 0) return;
    if (pto_is_row_major(rank - from, shape + from, stride + from)) return;
    pto_at(rt, argument);
    pto_raise(rt, PTO_ERR_ARGUMENT,
              "[E18] '%s' requires a view that is contiguous from dimension %d on, but this slice of '%s' is strided",
              kernel, from, tensor);
}
/* A tensor with another shape: its dimensions that are merged lie one behind the other, */
static inline void pto_dense(PTORuntime *rt, const PTOSiteLine *argument, const char *tensor, int rank,
                             const int64_t *shape, const int64_t *stride)
{
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0) return;
    int64_t want = rank > 0 ? stride[rank - 1] : 0;
    for (int d = rank - 1; d >= 0; d--) {
        if (shape[d] != 1 && stride[d] != want) {
            pto_at(rt, argument);
            pto_raise(rt, PTO_ERR_ARGUMENT, "[E18] the view of '%s' needs a copy to get another shape: it is strided",
                      tensor);
        }
        want = pto_mul(rt, want, shape[d]);
    }
}
/* and it has as many elements. */
static inline void pto_same_count(PTORuntime *rt, int64_t has, int64_t wanted)
{
    if (has != wanted)
        pto_raise(rt, PTO_ERR_ARGUMENT, "[E04] a tensor of %lld elements gets a shape of %lld", (long long)has,
                  (long long)wanted);
}
/* 0 <= low <= high <= extent, or the run fails; returns low. */
static inline int64_t pto_slice(PTORuntime *rt, int64_t low, int64_t high, int64_t extent)
{
    if (low < 0 || high < low || high > extent) pto_raise_slice(rt, low, high, extent);
    return low;
}

/* low, low + step ... are `count` indices, each in [0, extent), or the run fails; returns low.  Where there is none,
 * low may be anything. */
static inline int64_t pto_stepped(PTORuntime *rt, int64_t low, int64_t count, int64_t extent, int64_t step)
{
    int64_t last = 0;
    if (count < 0 || (count > 0 && (low < 0 || low >= extent || __builtin_mul_overflow(count - 1, step, &last) ||
                                    __builtin_add_overflow(low, last, &last) || last < 0 || last >= extent)))
        pto_raise_stepped(rt, low, count, extent, step);
    return low;
}

/* The trip count of a loop whose step is known only at run time; a step of 0 fails the run. */
static inline uint64_t pto_trip_count(PTORuntime *rt, int64_t low, int64_t high, int64_t step)
{
    if (step == 0) pto_raise(rt, PTO_ERR_ARGUMENT, "[E15] the step of the loop is 0");
    return step > 0 ? pto_iterations_between(low, high, (uint64_t)step)
                    : pto_iterations_between(high, low, -(uint64_t)step);
}

/* An element as the integer of the language: a function, or C compilers remark that a uint8_t is never negative, never
 * 300. */
static inline int64_t pto_integer(int64_t value) { return value; }
static inline int64_t pto_integer_of_u64(PTORuntime *rt, uint64_t value)
{
    if (value > INT64_MAX)
        pto_raise(rt, PTO_ERR_OVERFLOW, "[E15] the element %llu does not fit in i64", (unsigned long long)value);
    return (int64_t)value;
}

/* The present address of the bytes of a buffer, valid until the next call that allocates.  The address that the
 * program received stays the buffer's name; memory outside the heap is where its name says.
 * Caller     the orchestrator.  Never blocks.  Status: none; NULL if rt is NULL. */
PTO_API void *pto_where(PTORuntime *rt, const void *buffer);

/* pto_where for memory that the program accesses without waiting: elements of its arrays, and scalars that it received
 * by reference. */
static inline void *pto_here(PTORuntime *rt, const void *address)
{
    return __builtin_expect(((const PTOFastPath *)rt)->has_moved, 0) ? pto_where(rt, address)
                                                                     : (void *)(uintptr_t)address;
}

/* Waits for every producer of one element and returns its address; a failed wait unwinds. */
static inline const void *pto_await_element(PTORuntime *rt, const void *base, int64_t at, int64_t bytes)
{
    PTOStatus status = pto_await(rt, base, at * bytes, bytes);
    if (status != PTO_OK) pto_raise(rt, status, "the awaited element cannot be read");
    return (const char *)pto_where(rt, base) + at * bytes;
}

/* The address of an element that the orchestration itself writes: waits for every task that uses it; a failed wait
 * unwinds. */
static inline void *pto_lent_element(PTORuntime *rt, void *base, int64_t at, int64_t bytes)
{
    PTOStatus status = pto_await_users(rt, base, at * bytes, bytes);
    if (status != PTO_OK) pto_raise(rt, status, "the element cannot be written");
    return (char *)base + at * bytes;
}

/* The same, but the present address. */
static inline void *pto_own_element(PTORuntime *rt, void *base, int64_t at, int64_t bytes)
{
    return pto_here(rt, pto_lent_element(rt, base, at, bytes));
}

/* pto_alloc of memory that is zero: the storage of an array of scalars.
 * Caller     the orchestrator.  Blocks while the heap is full.  Status: none is returned; as pto_alloc, and
 *            PTO_ERR_DEVICE for the run. */
PTO_API void *pto_alloc_zeroed(PTORuntime *rt, PTOScope scope, int64_t bytes);

/* A function that returns an array of scalars clears its result first. */
static inline void pto_clear_elements(PTORuntime *rt, void *base, int64_t at, size_t element, int64_t bytes)
{
    if (bytes > 0) memset(pto_own_element(rt, (char *)base + at * (int64_t)element, 0, bytes), 0, (size_t)bytes);
}

/* ---- overlap of two views of one call (E09), when the compiler could not decide ---------------------------------- */
/* Do the two views have a byte in common?  false also for views whose sizes overflow.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API bool(pto_views_overlap)(const PTOTaskParam *a, const PTOTaskParam *b);

/* Most views are far from each other, which two comparisons show. */
PTO_INLINED_ bool pto_views_overlap_(const PTOTaskParam *a, const PTOTaskParam *b)
{
    PTOArg arg;
    PTOAccess_ x, y;
    int64_t lay[PTO_PLAIN_RANK];
    x.high = y.high = 0; /* else gcc 12 warns of them in a later submit */
    if (__builtin_expect(
            pto_decode_(a, &arg, lay, &x) && pto_decode_(b, &arg, lay, &y) && (x.high <= y.low || y.high <= x.low), 1))
        return false;
    /* the addresses of a and b do not escape, so they need not be in memory before */
    const PTOTaskParam views[2] = {*a, *b};
    return pto_views_overlap(&views[0], &views[1]);
}
#ifndef PTO_CALL_SUBMITS
#define pto_views_overlap(...) pto_views_overlap_(__VA_ARGS__)
#endif

/* ---- frames: tensors of a function that lie in one allocation ---------------------------------------------------- */
/* Allocates a frame, which the current scope owns.  need: the largest number of bytes that is held while the frame is
 * held, the frame included.  NULL if the open scopes leave less free memory than that: then every tensor is allocated
 * by its first writer, as without a frame.
 * Caller     the orchestrator.  Blocks while the heap is full.  Status: none is returned; see "calls in a run" in
 *            pto_runtime.h. */
PTO_API void *pto_frame(PTORuntime *rt, int64_t bytes, int64_t need);

/* Notes, for a checked run, that the tensor of a slot is written.  `ptoc build --checked` prints it before a call.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
PTO_API void pto_slot_write(PTORuntime *rt, const void *slot, int64_t bytes, const char *tensor);

/* Checks, in a checked run, that no other tensor was written into the slot since the last pto_slot_write of this one.
 * `ptoc build --checked` prints it before a call.
 * Caller     the orchestrator.  Never blocks.  Status: none is returned; fails the run with PTO_ERR_HANDLE. */
PTO_API void pto_slot_read(PTORuntime *rt, const void *slot, int64_t bytes, const char *tensor);

static inline void *pto_slot(void *frame, int64_t at) { return frame ? (char *)frame + at : NULL; }

/* The last use of a tensor that has a slot: without a frame it is released now, else with the frame. */
static inline void pto_slot_end(PTORuntime *rt, const void *frame, const void *tensor)
{
    if (!frame) pto_release(rt, tensor);
}

/* *to gets the buffer of *from.  In a frame each name has a slot, and *from gets the slot of *to; without one *from is
 * empty afterwards, and the buffer that *to had is released. */
static inline void pto_slot_take(PTORuntime *rt, const void *frame, void **to, void **from)
{
    void *const was = *to;
    if (!frame && was) pto_release(rt, was);
    *to = *from;
    *from = frame ? was : NULL;
}

/* ---- tensors that were moved into a function (`own`) ------------------------------------------------------------- */
/* Ends the lifetime of a tensor that was moved into a function, unless it has ended before.  *t is empty afterwards.
 * Caller     the orchestrator.  Never blocks.  Status: none is returned; as pto_release. */
PTO_API void pto_drop(PTORuntime *rt, PTOView *t);

/* Hands it on: *t is empty afterwards. */
static inline PTOView pto_move(PTOView *t)
{
    PTOView moved = *t;
    t->base = NULL;
    return moved;
}

/* Hands an element of an array to a function, which owns it from then on: its pto_drop leaves the memory to the array,
 * and pto_return_tensor and pto_take_over copy.  Returns the element.
 * Caller     the orchestrator.  Never blocks.  Status: none. */
PTO_API PTOView pto_move_element(PTORuntime *rt, PTOView element);

/* The buffer of a name that gets another one later: until then it is NULL. */
static inline void *pto_take(void **name)
{
    void *buffer = *name;
    *name = NULL;
    return buffer;
}

/* Returns a tensor of the function's own, made by PTO_INPUT: its buffer becomes the one of the caller's variable.  If
 * that has a buffer already, the tensor is copied into it and dropped; an element of an array, and a tensor from
 * outside the heap, is copied in any case.
 * Caller     the orchestrator.  Blocks as pto_submit_task does.  Status: none is returned; fails the run as
 *            pto_submit_task does, and with PTO_ERR_HANDLE. */
PTO_API void pto_return_tensor(PTORuntime *rt, const PTOPlace *place, const PTOTaskParam *tensor);

/* A tensor that was moved into a function, all of which is `tensor`, made by PTO_INPUT, becomes the value of a name
 * that changes buffers: a buffer of the scope.  An element of an array, and a tensor from outside the heap, is copied
 * into a new one.  *t is empty afterwards.  Returns the buffer, NULL for an empty tensor.
 * Caller     the orchestrator.  Blocks as pto_submit_task does.  Status: as pto_return_tensor. */
PTO_API void *pto_take_over(PTORuntime *rt, PTOScope scope, PTOView *t, const PTOTaskParam *tensor);

/* Opens the scope of an entry that owns results whose extents the run decides.  Where the caller of a loaded program
 * wants them, pto_alloc gives tensors of this scope memory that will be the caller's.
 * Caller     the orchestrator.  Never blocks.  Status: as pto_scope_begin. */
PTO_API PTOScope pto_result_scope(PTORuntime *rt);

/* Ends an entry whose result has extents that the run decides: waits for the tasks that write the tensor, and hands it
 * to its caller, or copies it to *to.
 * Caller     the orchestrator, while the scope that owns the tensor is open.  Blocks as pto_await does.  Status: none
 *            is returned; fails the run as pto_await does, with PTO_ERR_ARGUMENT if `to` is NULL, or PTO_ERR_NOMEM. */
PTO_API void pto_copy_result(PTORuntime *rt, PTOResult *to, const char *name, const void *tensor, PTOType type,
                             int32_t rank, const int64_t *shape);

/* ---- print ------------------------------------------------------------------------------------------------------- */
/* `print` of the language is a printf to standard output with these helpers for what printf cannot say. */
enum { PTO_NUMBER_TEXT = 40 };

/* Writes the shortest text that reads back as the same number to `text`, which has room for PTO_NUMBER_TEXT bytes,
 * and returns text.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API const char *pto_f64_text(double value, char *text);

/* pto_f64_text for a float.
 * Caller     any thread.  Never blocks.  Status: none. */
PTO_API const char *pto_f32_text(float value, char *text);
#ifndef __cplusplus
#define PTO_TEXT_ROOM_ ((char[PTO_NUMBER_TEXT]){0}) /* lives as long as the block */
#else
struct PTOTextRoom_ {
    char text[PTO_NUMBER_TEXT];
};
#define PTO_TEXT_ROOM_ (PTOTextRoom_().text) /* lives until the end of the full expression */
#endif
#define PTO_F64_TEXT(value) pto_f64_text(value, PTO_TEXT_ROOM_)
#define PTO_F32_TEXT(value) pto_f32_text(value, PTO_TEXT_ROOM_)

/* ---- params -----------------------------------------------------------------------------------------------------*/
/* The record of the params of the call that is active: a struct that generated code defines.  It belongs to the caller
 * of the entry and is constant during the call, so calls with different params do not meet. */
static inline const void *pto_params(const PTORuntime *rt) { return ((const PTOFastPath *)rt)->params; }
/* The same for the cost of a kernel, in the call that has it estimated.
 * Caller     the cost function of a kernel.  Never blocks.  Status: none. */
PTO_API const void *pto_cost_params(void);

static inline void pto_set_params(PTORuntime *rt, const void *params) { ((PTOFastPath *)rt)->params = params; }

/* ---- the table --------------------------------------------------------------------------------------------------- */
/* An array of a call that need not be dense: a view of a buffer of `bytes` bytes, which is data[f] of the call. */
typedef struct PTOGivenView {
    int64_t bytes, at;
    int64_t stride[PTO_MAX_RANK];
} PTOGivenView;

/* The arguments of one call of an entry; an element of a list for each formal of the table. */
typedef struct PTOCall {
    void *const *data;         /* of a tensor: its buffer; NULL when empty */
    const PTOScalar *scalars;  /* of a scalar: its value */
    const int64_t *dims;       /* the dimension variables */
    const void *params;        /* the record of the params */
    const PTOGivenView *views; /* NULL: every array is row-major and the whole of its buffer */
    PTOScalar *result;         /* receives the scalar that the entry returns; may be NULL */
} PTOCall;

typedef struct PTOEntry {
    const char *name;
    const char *const *dims; /* dimension variables, in order */
    int32_t dim_count;
    const PTOFormal *formals;
    int32_t formal_count;
    PTOType result;      /* of the scalar that the entry returns; PTO_BYTE: it returns none */
    const char *head;    /* the line of the source that declares it */
    const char *comment; /* the comment above it, or NULL */
    /* The value of extent `dim` of formal `formal` for the dimension variables, scalars and params of the call; false
     * on overflow or division by zero. */
    bool (*extent)(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value);
    PTOStatus (*run)(PTORuntime *rt, const PTOCall *call);
} PTOEntry;

/* The table's layout, and the numbers that inlined code has of a runtime.  A program that is loaded at run time is
 * refused if it has others. */
enum { PTO_TABLE_LAYOUT = 2, PTO_INLINED_LAYOUT = 1 };
#define PTO_INLINED_FINGERPRINT                                                                                        \
    ((uint64_t)PTO_INLINED_LAYOUT << 56 ^ (uint64_t)sizeof(PTOFastPath) << 40 ^ (uint64_t)sizeof(PTOTaskParam) << 28 ^ \
     (uint64_t)sizeof(PTOArg) << 20 ^ (uint64_t)offsetof(PTOFastPath, line) << 8 ^                                     \
     (uint64_t)offsetof(PTOFastPath, params) ^ (uint64_t)offsetof(PTOTaskParam, value) << 34 ^                         \
     (uint64_t)PTO_FAST_PARAMS << 50 ^ (uint64_t)PTO_VERSION_MAJOR << 60)

/* Was code with this PTO_INLINED_FINGERPRINT compiled for the library that runs?  Generated code asks when it starts.
 * Caller     any thread.  Never blocks.
 * Status     PTO_OK; PTO_ERR_VERSION: it was not, and pto_last_error(NULL) says what to do. */
PTO_API PTOStatus pto_check_library(uint64_t fingerprint);

extern PTO_API const char pto_library_; /* its address says which library code is linked with */

typedef struct PTOProgram {
    int64_t layout;       /* PTO_TABLE_LAYOUT; first, as everything behind it depends on it */
    uint64_t fingerprint; /* PTO_INLINED_FINGERPRINT */
    const char *library;  /* &pto_library_ */
    const char *file;     /* "bgemm.pto" */
    const PTOProgramParam *params;
    int32_t param_count;
    int64_t param_bytes;  /* of the record */
    const void *defaults; /* a record of the defaults; what has none is 0 */
    const PTOEntry *entries;
    int32_t entry_count;
    /* NULL, or: computes the params with a derived default that were not given, in order.  The result is the number of
     * the first whose default has no value, -1 where there is none. */
    int32_t (*derive_params)(void *params, const bool *given);
    bool checked; /* every run is checked, as with the option --checked */
    char cpu[7];  /* base, v3 or v4: the only level of its kernels in index notation; empty: it has every level */
} PTOProgram;

static inline PTOView pto_given_view(const PTOGivenView *views, int32_t formal, PTOView dense)
{
    if (!views) return dense;
    dense.at = views[formal].at;
    memcpy(dense.s, views[formal].stride, sizeof dense.s);
    return dense;
}
static inline PTOPlace pto_given_place(const PTOGivenView *views, int32_t formal, PTOPlace dense)
{
    if (!views) return dense;
    dense.at = views[formal].at;
    memcpy(dense.s, views[formal].stride, sizeof dense.s);
    return dense;
}
static inline int64_t pto_given_bytes(const PTOGivenView *views, int32_t formal, int64_t dense)
{
    return views ? views[formal].bytes : dense;
}

/* The main() of a built program: parses the run options of the command line, reads inputs, runs, writes outputs.
 * Owns nothing: `program` must exist until it returns.
 * Caller     main().  Blocks until the run has ended.  Status: none; returns the exit code of the program
 *            (docs/cli.md). */
PTO_API int pto_program_main(const PTOProgram *program, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
