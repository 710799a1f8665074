/* unwind.c - failing runs and the checks of generated code: coming back to pto_run_entry from anywhere.
 *
 * Idea       generated code owns nothing that needs cleaning up (buffers belong to scopes), so a failure is a longjmp.
 * Owner      the orchestrator's thread.
 * Tests      test/runtime/test_unwind.c */
#include "shared/check.h"
#include "shared/limit.h"
#include "misuse.h"
#include "runtime.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void unwind(PTORuntime *rt)
{
    CHECK(rt->catcher && ptoi_orchestrated == rt); /* these calls belong into a run, and to its thread */
    longjmp(*rt->catcher, 1);
}

/* The functions that are open, innermost first, as lines under the message. */
static void describe_calls(const PTORuntime *rt, char *text, size_t size)
{
    enum { SHOWN = 8 };
    size_t n = 0;
    text[0] = '\0';
    for (int i = rt->open.count - 1; i > 0 && n + 1 < size; i--) {
        if (rt->open.count - i > SHOWN && i > 1) {
            n += (size_t)snprintf(text + n, size - n, "\n  ... %d more calls", i);
            break;
        }
        char with[PTOI_INDICES_BYTES];
        const PTOSite *at = rt->open.list[i].called_at;
        const bool has_loops = ptoi_place_with(at, rt->open.list[i - 1].indices, with) > 0;
        n += (size_t)snprintf(text + n, size - n, "\n  in '%s', called at %s:%d%s%s", rt->open.list[i].name,
                              at ? at->file : "?", at ? at->line : 0, has_loops ? " " : "", with);
    }
}

static _Noreturn void raise_text(PTORuntime *rt, PTOStatus status, const char *format, va_list args)
{
    char text[2048], calls[1024];
    vsnprintf(text, sizeof text, format, args);
    describe_calls(rt, calls, sizeof calls);
    ptoi_fail(rt->core.run_status, status, rt->now.site, "%s%s", text, calls);
    unwind(rt);
}

/* Of what the other ranks may not meet. */
static _Noreturn __attribute__((format(printf, 3, 4))) void raise_here(PTORuntime *rt, PTOStatus status,
                                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    raise_text(rt, status, format, args);
}

static _Noreturn void abort_with(PTOStatus status, const char *format, va_list args)
{
    fprintf(stderr, "pto_raise outside a run of pto_run_entry: %s: ", pto_status_name(status));
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    abort();
}

_Noreturn void pto_raise(PTORuntime *rt, PTOStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (ptoi_orchestrated != rt || !rt->catcher) abort_with(status, format, args);
    if (rt->dist) ptoi_dist_meet(rt->dist);
    raise_text(rt, status, format, args);
}

_Noreturn void pto_raise_overflow(PTORuntime *rt, const char *op, int64_t a, int64_t b)
{
    if (op[0] == 'a') pto_raise(rt, PTO_ERR_OVERFLOW, "[E15] integer overflow: abs(%lld)", (long long)a);
    pto_raise(rt, PTO_ERR_OVERFLOW, "[E15] integer overflow: %lld %s %lld", (long long)a, op, (long long)b);
}

_Noreturn void pto_raise_divide(PTORuntime *rt, const char *op, int64_t a)
{
    pto_raise(rt, PTO_ERR_DIVIDE, "[E15] division by zero: %lld %s 0", (long long)a, op);
}

_Noreturn void pto_raise_shift(PTORuntime *rt, int64_t by)
{
    pto_raise(rt, PTO_ERR_ARGUMENT, "[E15] a shift is by 0 to 63 bits, not by %lld", (long long)by);
}

_Noreturn void pto_raise_truncate(PTORuntime *rt, double value)
{
    pto_raise(rt, PTO_ERR_OVERFLOW, "[E15] i64(%.17g): the value does not fit in an integer of 64 bits", value);
}

_Noreturn void pto_raise_index(PTORuntime *rt, int64_t index, int64_t extent)
{
    pto_raise(rt, PTO_ERR_BOUNDS, "[E05] index %lld is out of bounds: the extent is %lld", (long long)index,
              (long long)extent);
}

_Noreturn void pto_raise_slice(PTORuntime *rt, int64_t low, int64_t high, int64_t extent)
{
    if (high < low)
        pto_raise(rt, PTO_ERR_BOUNDS, "[E15] slice %lld .. %lld has a negative extent", (long long)low,
                  (long long)high);
    pto_raise(rt, PTO_ERR_BOUNDS, "[E05] slice %lld .. %lld is out of bounds: the extent is %lld", (long long)low,
              (long long)high, (long long)extent);
}

_Noreturn void pto_raise_stepped(PTORuntime *rt, int64_t low, int64_t count, int64_t extent, int64_t step)
{
    if (count < 0)
        pto_raise(rt, PTO_ERR_BOUNDS, "[E15] a slice from %lld step %lld has %lld elements", (long long)low,
                  (long long)step, (long long)count);
    pto_raise(rt, PTO_ERR_BOUNDS, "[E05] slice %lld +: %lld step %lld is out of bounds: the extent is %lld",
              (long long)low, (long long)count, (long long)step, (long long)extent);
}

int64_t pto_ceil_div(PTORuntime *rt, int64_t a, int64_t b)
{
    int64_t q = pto_div(rt, a, b), r = a - q * b;
    return r != 0 && (r > 0) == (b > 0) ? q + 1 : q;
}

int64_t pto_log2(PTORuntime *rt, int64_t a)
{
    if (a < 1) pto_raise(rt, PTO_ERR_ARGUMENT, "[E15] log2(%lld)", (long long)a);
    return 63 - __builtin_clzll((unsigned long long)a);
}

/* Indexed by enum stack_kind: the means to make the stack larger. */
static const char *const stack_sizes[] = {"pthread_attr_setstacksize", "ulimit -s", "an eighth of the memory"};

void pto_enter_loops(PTORuntime *rt, const char *function, int64_t *indices)
{
    char here;
    if (rt->open.count >= rt->core.config.recursion_limit)
        pto_raise(rt, PTO_ERR_RECURSION, "call of '%s': recursion is deeper than %d (%s)", function,
                  rt->core.config.recursion_limit, ptoi_limit_name(LIMIT_RECURSION, rt->core.config.names));
    if ((uintptr_t)&here < rt->stack.lowest)
        raise_here(rt, PTO_ERR_RECURSION, "call of '%s': no stack left after %d calls, of %llu KiB (%s)", function,
                   rt->open.count, (unsigned long long)rt->stack.bytes / 1024, stack_sizes[rt->stack.kind]);
    rt->open.list[rt->open.count++] = (struct open_function){function, rt->now.site, indices};
}

void pto_enter(PTORuntime *rt, const char *function) { pto_enter_loops(rt, function, NULL); }

void pto_leave(PTORuntime *rt)
{
    CHECK(rt->open.count > 0);
    rt->now.site = rt->open.list[--rt->open.count].called_at;
}

/* A run-time overlap check (E09) of two views of one call. */
static bool view_region(const PTOTaskParam *p, struct region *r)
{
    int64_t bytes = pto_type_bytes((PTOType)p->type), at;
    if (__builtin_mul_overflow(p->at, bytes, &at)) return false;
    return ptoi_region_make(r, (int64_t)(intptr_t)p->buffer + at, bytes, p->rank, p->shape, p->stride);
}

bool(pto_views_overlap)(const PTOTaskParam *a, const PTOTaskParam *b)
{
    struct region ra, rb;
    return view_region(a, &ra) && view_region(b, &rb) && ptoi_region_overlaps(&ra, &rb);
}

PTOStatus ptoi_unwind_call(PTORuntime *rt, PTOStatus status)
{
    if (rt->unwinds && ptoi_orchestrated == rt) unwind(rt);
    return status;
}
