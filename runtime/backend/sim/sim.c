/* sim.c - the backend whose workers are threads of the host and whose kernels are C functions.
 * Idea       its accelerators have the operations of dma.c and those that the program registered.
 * Invariant  operations change while no run is active, so workers read them without a lock.
 * Tests      test/runtime/test_requests.c */
#include "sim.h"
#include "debug/guard.h"
#include "memory/pool.h"
#include "shared/map_memory.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct operation {
    int32_t opcode;
    PTOOperationFn fn;
    void *context;
};

struct sim {
    struct backend backend;
    struct operation *operation;
    int count;
};

static struct sim *sim_of(const struct backend *b)
{
    return (struct sim *)(void *)((char *)(uintptr_t)b - offsetof(struct sim, backend));
}

static bool sim_close(const struct backend *b, char *message, size_t size)
{
    struct sim *s = sim_of(b);
    (void)message, (void)size;
    free(s->operation);
    free(s);
    return true;
}

static void *sim_alloc(const struct backend *b, uint64_t bytes, bool shared)
{
    (void)b;
    void *memory = ptoi_pool_take(bytes, shared, false);
    if (memory && !shared) ptoi_memory_ask_large_pages(memory, bytes);
    return memory;
}

static void sim_free(const struct backend *b, void *memory, uint64_t bytes, bool shared)
{
    (void)b;
    ptoi_pool_give(memory, bytes, shared);
}

static int sim_run(const struct backend *b, const PTOKernel *kernel, const PTOArg *args, int count)
{
    (void)b, (void)count;
    return ptoi_guarded_call((ptoi_function)kernel->fn, (void *)(uintptr_t)args, NULL);
}

static struct operation *find(const struct sim *s, int32_t opcode)
{
    for (int i = 0; i < s->count; i++)
        if (s->operation[i].opcode == opcode) return &s->operation[i];
    return NULL;
}

static int sim_request(const struct backend *b, const PTOKernel *kernel, const PTOWorkRequest *request)
{
    const struct operation *own = find(sim_of(b), kernel->opcode);
    return own ? ptoi_guarded_call((ptoi_function)own->fn, own->context, (void *)(uintptr_t)request)
               : ptoi_sim_move(request);
}

static bool sim_has_operation(const struct backend *b, int32_t opcode)
{
    return (opcode > PTO_OP_NONE && opcode < PTO_OPCODES) || find(sim_of(b), opcode) != NULL;
}

static bool sim_add_operation(const struct backend *b, int32_t opcode, PTOOperationFn fn, void *context)
{
    struct sim *s = sim_of(b);
    struct operation *own = find(s, opcode);
    if (!fn) {
        if (own) *own = s->operation[--s->count];
        return true;
    }
    if (!own) {
        struct operation *grown = realloc(s->operation, (size_t)(s->count + 1) * sizeof *grown);
        if (!grown) return false;
        s->operation = grown;
        own = &grown[s->count++];
    }
    *own = (struct operation){.opcode = opcode, .fn = fn, .context = context};
    return true;
}

const struct backend *ptoi_sim_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size)
{
    (void)config;
    struct sim *s = calloc(1, sizeof *s);
    if (!s) {
        *status = PTO_ERR_NOMEM;
        snprintf(message, size, "no memory for a backend");
        return NULL;
    }
    s->backend = (struct backend){.name = "sim",
                                  .close = sim_close,
                                  .alloc = sim_alloc,
                                  .free = sim_free,
                                  .run = sim_run,
                                  .request = sim_request,
                                  .has_operation = sim_has_operation,
                                  .add_operation = sim_add_operation};
    return &s->backend;
}
