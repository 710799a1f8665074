/* sim.c - the backend whose workers are threads of the host and whose kernels are C functions. */
#include "backend.h"
#include <sys/mman.h>

static void *sim_alloc(const struct backend *b, uint64_t bytes, bool shared)
{
    (void)b;
    const int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void sim_free(const struct backend *b, void *memory, uint64_t bytes)
{
    (void)b;
    munmap(memory, bytes);
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
