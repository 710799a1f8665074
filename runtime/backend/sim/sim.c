/* sim.c - the backend whose workers are threads of the host and whose kernels are C functions. */
#include "backend.h"
#include "pool.h"

static void *sim_alloc(const struct backend *b, uint64_t bytes, bool shared)
{
    (void)b;
    return ptoi_pool_take(bytes, shared, false);
}

static void sim_free(const struct backend *b, void *memory, uint64_t bytes, bool shared)
{
    (void)b;
    ptoi_pool_give(memory, bytes, shared);
}

int ptoi_sim_request(const PTOWorkRequest *request); /* dma.c */

static int sim_run(const struct backend *b, const PTOKernel *kernel, const PTOArg *args, int count)
{
    (void)b, (void)count;
    return kernel->fn(args);
}

static int sim_request(const struct backend *b, const PTOKernel *kernel, const PTOWorkRequest *request)
{
    (void)b, (void)kernel;
    return ptoi_sim_request(request);
}

const struct backend ptoi_backend_sim = {.name = "sim", .alloc = sim_alloc, .free = sim_free, .run = sim_run, .request = sim_request};
