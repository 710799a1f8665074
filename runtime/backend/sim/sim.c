/* sim.c - the backend whose workers are threads of the host and whose kernels are C functions. */
#include "backend.h"
#include <sys/mman.h>

static void *sim_alloc(uint64_t bytes, bool shared)
{
    const int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void sim_free(void *memory, uint64_t bytes) { munmap(memory, bytes); }

int ptoi_sim_request(const PTOWorkRequest *request); /* dma.c */

static int sim_run(const PTOKernel *kernel, const PTOArg *args) { return kernel->fn(args); }

const struct backend ptoi_backend_sim = {.name = "sim", .alloc = sim_alloc, .free = sim_free, .run = sim_run, .request = ptoi_sim_request};
