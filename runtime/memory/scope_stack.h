/* scope_stack.h - the open scopes of a run, and the buffers each of them owns.
 *
 * Idea       every heap buffer has a record, by its number; a scope is a list of records through them.  The granule at
 *            which a buffer starts says its number.
 * Owner      the orchestrator.
 * Invariant  scope 0, the root, is open during a run.  A record with owner 0 is nobody's: the handle is dead.
 * Blocks     never.
 * Tests      test/runtime/test_runtime.c, test_refused.c, test_hazards.c */
#ifndef PTOI_SCOPE_STACK_H
#define PTOI_SCOPE_STACK_H
#include "shared/check.h"
#include "depend/tensormap.h"
#include "shared/window.h"
#include <pto/pto_submit.h>

#define PTO_NO_BIRTH UINT64_MAX
#define PTO_NO_MAKER UINT64_MAX

struct buffer_record {
    uint64_t at;    /* the program's address of it, as bytes from the start of the heap: its name */
    uint64_t place; /* where it lies: the same, unless it was moved (compaction.c) */
    uint64_t bytes;
    uint64_t birth;          /* the task whose output it is: writes all of it; PTO_NO_BIRTH: none */
    uint64_t maker;          /* number of the task that it is an output of; PTO_NO_MAKER: none */
    uint8_t output;          /* which of the outputs that were made for it */
    bool map_is_open;        /* `map` is of this buffer; else of one before it */
    bool is_hidden;          /* the scheduler does not know it: no task that is submitted here has used it */
    int32_t owner;           /* index of the owning scope + 1; 0: released */
    uint32_t next, previous; /* buffers, in the owner's list */
    uint32_t elements;       /* of an array that lies in it: how many functions own by now */
    const PTOSite *site;     /* where it was allocated */
    const char *name;        /* as the program spells it, or NULL */
    struct map_buffer map;
    uint64_t recorded; /* ptoi_record_buffer */
};

struct scope {
    uint64_t serial; /* never reused: detects a stale token */
    uint64_t held;   /* granules of its buffers */
    uint32_t first;  /* newest buffer */
    uint32_t node;   /* of record/scope_tree.h; 0: not known */
    const PTOSite *site;
};

struct scope_stack {
    struct scope *scope;
    int32_t depth, capacity; /* depth: open scopes, the root included */
    uint64_t serial;
    uint64_t held;  /* by all scopes, */
    uint64_t guard; /* with so much for each buffer, in granules */
    struct buffer_record *record;
    uint32_t *starts;            /* by granule: the buffer that starts or last started there */
    PTOBufferLifetime *lifetime; /* by buffer, what callers see of `record` */
    uint64_t granules;
};

uint64_t ptoi_scopes_bytes(int32_t capacity, uint64_t granules);                   /* that are reserved */
bool ptoi_scopes_init(struct scope_stack *s, int32_t capacity, uint64_t granules); /* false: no memory */
void ptoi_scopes_free(struct scope_stack *s);

/* false: nested too deep. */
static inline bool ptoi_scope_push(struct scope_stack *s, const PTOSite *site)
{
    if (s->depth == s->capacity) return false;
    s->scope[s->depth++] = (struct scope){.serial = ++s->serial, .site = site};
    return true;
}

/* A token is serial and index in one number, never 0 (PTO_SCOPE_CURRENT).  The stack has no more scopes than an index
 * can name. */
enum { PTO_SCOPE_INDEX_BITS = 25 };

static inline PTOScope ptoi_scope_token(const struct scope_stack *s, int32_t index)
{
    return (PTOScope)(s->scope[index].serial << PTO_SCOPE_INDEX_BITS | (uint64_t)index);
}

/* -1: that scope is not open. */
static inline int32_t ptoi_scope_index(const struct scope_stack *s, PTOScope token)
{
    if (token == PTO_SCOPE_CURRENT) return s->depth - 1;
    const int32_t index = (int32_t)(token & ((1 << PTO_SCOPE_INDEX_BITS) - 1));
    return index < s->depth && ptoi_scope_token(s, index) == token ? index : -1;
}

static inline struct buffer_record *ptoi_record(const struct scope_stack *s, uint32_t buffer)
{
    return &s->record[buffer - 1];
}
/* The live buffer that contains a byte of the heap; 0: none.  Fast for the first byte of a buffer. */
uint32_t ptoi_buffer_at(const struct scope_stack *s, uint64_t offset);
/* The buffer that was made for that output of a task and that a scope still owns; 0: none.  Looks at every buffer that
 * is owned. */
uint32_t ptoi_buffer_of_task(const struct scope_stack *s, uint64_t maker, int32_t output);

static inline uint64_t ptoi_scope_granules(const struct scope_stack *s, const struct buffer_record *r)
{
    return (r->bytes + PTO_GRANULE - 1) / PTO_GRANULE + s->guard;
}

static inline void ptoi_scope_own(struct scope_stack *s, int32_t index, uint32_t buffer)
{
    struct buffer_record *r = ptoi_record(s, buffer);
    CHECK(r->owner == 0);
    if (r->at / PTO_GRANULE < s->granules) s->starts[r->at / PTO_GRANULE] = buffer;
    s->lifetime[buffer] = (PTOBufferLifetime){.at = r->at, .bytes = r->bytes};
    r->owner = index + 1;
    r->previous = 0;
    r->next = s->scope[index].first;
    if (r->next) ptoi_record(s, r->next)->previous = buffer;
    s->scope[index].first = buffer;
    s->scope[index].held += ptoi_scope_granules(s, r);
    s->held += ptoi_scope_granules(s, r);
}

/* The scope ends, and with it what it holds; the next of the list. */
static inline uint32_t ptoi_scope_forget(struct scope_stack *s, uint32_t buffer)
{
    struct buffer_record *r = ptoi_record(s, buffer);
    CHECK(r->owner > 0);
    r->owner = 0;
    s->lifetime[buffer].bytes = 0;
    return r->next;
}

static inline void ptoi_scope_disown(struct scope_stack *s, uint32_t buffer)
{
    const struct buffer_record *r = ptoi_record(s, buffer);
    s->scope[r->owner - 1].held -= ptoi_scope_granules(s, r);
    s->held -= ptoi_scope_granules(s, r);
    if (r->previous)
        ptoi_record(s, r->previous)->next = r->next;
    else
        s->scope[r->owner - 1].first = r->next;
    if (r->next) ptoi_record(s, r->next)->previous = r->previous;
    ptoi_scope_forget(s, buffer);
}

#endif
