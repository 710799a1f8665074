/* call_results.c - the results of a call whose extents the run decides.
 * Idea       the program says in pto_alloc which tensors will be results, so they are made in memory of their own from
 *            the beginning, and become the caller's tensors without a copy.  What lies in the heap after all (a moved
 *            argument; a result on a device, of another process, or that only some paths make) is copied out, once.
 * Owner      the thread that calls; struct calling holds the memory until the call is over.
 * Tests      test/call/test_call.c, test/lit/run/decided-exports.test
 */
#include "call.h"
#include "registry/tensor.h"
#include <stdlib.h>

/* make_room of the runtime. */
static void *make_room(void *keeper, int64_t bytes)
{
    struct calling *c = keeper;
    struct result_room *rooms = realloc(c->rooms, ((size_t)c->room_count + 1) * sizeof *rooms);
    if (!rooms) return NULL;
    c->rooms = rooms;
    struct result_room *room = &rooms[c->room_count];
    room->bytes = pto_tensor_new(c->rt->core.config.pool, PTO_BYTE, 1, &bytes);
    room->address = room->bytes ? pto_tensor_map(room->bytes, PTO_WRITE) : NULL;
    if (room->address) {
        pto_tensor_unmap(room->bytes); /* nobody else knows it: it stays where it is */
        c->room_count++;
        return room->address;
    }
    pto_tensor_release(room->bytes);
    return NULL;
}

static PTOTensor *take_room(struct calling *c, const void *address, PTOType type, int32_t rank, const int64_t *shape)
{
    for (int32_t i = 0; i < c->room_count; i++) {
        if (c->rooms[i].address != address) continue;
        struct geometry g = {.type = (uint8_t)type, .rank = (uint8_t)rank};
        memcpy(g.shape, shape, (size_t)rank * sizeof *shape);
        ptoi_geometry_row_major(&g);
        return ptoi_tensor_view_of(c->rooms[i].bytes, &g, 0, PTOI_CALLER);
    }
    return NULL;
}

PTOTensor *ptoi_call_new_tensor(const struct calling *c, PTOType type, int32_t rank, const int64_t *shape)
{
    PTOTensor *t = pto_tensor_new(c->rt->core.config.pool, type, rank, shape);
    if (!t || ptoi_runs_kernels(c->rt)) return t;
    const int64_t bytes = pto_type_bytes(type) * ptoi_tensor_count_of(t);
    void *const at = bytes > 0 ? pto_tensor_map(t, PTO_WRITE) : NULL;
    if (at) {
        memset(at, 0, (size_t)bytes);
        pto_tensor_unmap(t);
    } else if (bytes > 0) {
        pto_tensor_release(t);
        t = NULL;
    }
    return t;
}

static PTOTensor *make(const struct calling *c, struct given *g, PTOType type, int32_t rank)
{
    g->made = ptoi_call_new_tensor(c, type, rank, g->decided.shape);
    return g->made;
}

static PTOStatus copy_out(struct calling *c, struct given *g, PTOType type, int32_t rank, const void *from)
{
    int64_t bytes = pto_type_bytes(type);
    for (int32_t d = 0; d < rank; d++) bytes *= g->decided.shape[d]; /* it fits: it is in memory */
    void *const at = make(c, g, type, rank) ? pto_tensor_map(g->made, PTO_WRITE) : NULL;
    if (!at) return PTO_ERR_NOMEM;
    memcpy(at, from, (size_t)bytes);
    pto_tensor_unmap(g->made);
    return PTO_OK;
}

/* keep_result of the runtime: the elements are there, and the run goes on. */
static PTOStatus keep_result(void *keeper, PTOResult *to, PTOType type, int32_t rank, const void *from)
{
    struct calling *c = keeper;
    struct given *g = c->given, *const end = g + c->entry->formal_count;
    while (g < end && &g->decided != to) g++;
    if (g == end) return PTO_ERR_ARGUMENT; /* of an entry that the run has called */
    if (!g->result) return PTO_OK;         /* nobody wants it */
    g->made = take_room(c, from, type, rank, to->shape);
    return g->made ? PTO_OK : copy_out(c, g, type, rank, from);
}

void ptoi_call_keep_results(struct calling *c)
{
    c->rt->keeper = c;
    c->rt->make_room = make_room;
    c->rt->keep_result = keep_result;
}

PTOStatus ptoi_call_make_empty(struct calling *c)
{
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        const PTOFormal *formal = &c->entry->formals[f];
        struct given *g = &c->given[f];
        if (!bind_is_decided(formal) || !g->result || g->made) continue;
        if (!make(c, g, formal->type, formal->rank)) return pto_last_status();
    }
    return PTO_OK;
}

void ptoi_call_forget_rooms(struct calling *c)
{
    for (int32_t i = 0; i < c->room_count; i++) pto_tensor_release(c->rooms[i].bytes);
    free(c->rooms);
}
