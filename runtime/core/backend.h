/* backend.h - what a machine must supply.  Core never asks where it runs. */
#ifndef PTOI_BACKEND_H
#define PTOI_BACKEND_H
#include <pto/pto_status.h>
#include <pto/pto_types.h>

struct backend {
    const char *name;
    /* Memory for the heap, zeroed, 64-byte aligned; NULL: none.  Addresses in it are the machine's.  shared: of this process and
     * those forked from it. */
    void *(*alloc)(uint64_t bytes, bool shared);
    void (*free)(void *memory, uint64_t bytes);
    /* Runs a kernel on the calling worker to its end. */
    int (*run)(const PTOKernel *kernel, const PTOArg *args);
    /* Carries out a work request on the calling accelerator worker; 0: success, an unknown opcode is none. */
    int (*request)(const PTOWorkRequest *request);
};

const struct backend *ptoi_backend_find(const char *name); /* NULL: no such backend in this build */

#endif
