/* backend.h - the functions that a machine must supply.  No other code depends on the machine.
 *
 * Idea       a backend opens a machine, and a machine is a table of functions that are given it.  Where kernels work in
 *            memory of their own, the addresses in a program are those of the host all the same: `mirror` keeps both in
 *            step.
 * Owner      the runtime that opened it.  run and request: any worker; the functions of `mirror`: the orchestrator.
 * Tests      test/runtime/test_runtime.c, test/ascend */
#ifndef PTOI_BACKEND_H
#define PTOI_BACKEND_H
#include <pto/pto_runtime.h>

struct holder;
struct pin;

/* The result of run and request when the machine failed, not the kernel; `failure` has the text.  No kernel returns
 * it. */
#define PTOI_MACHINE_FAILED (INT32_MIN + 4096)

struct backend {
    const char *name;
    /* NULL: there is nothing to close.  false: not everything could be given back, and `message` says what. */
    bool (*close)(const struct backend *b, char *message, size_t size);
    /* Memory for the heap, zeroed, 64-byte aligned; NULL: none.  shared: of this process and those forked from it. */
    void *(*alloc)(const struct backend *b, uint64_t bytes, bool shared);
    void (*free)(const struct backend *b, void *memory, uint64_t bytes, bool shared); /* as it was allocated */
    /* Runs a kernel on the calling worker to its end. */
    int (*run)(const struct backend *b, const PTOKernel *kernel, const PTOArg *args, int count);
    /* Carries out a work request, of an opcode that it has, on the calling accelerator worker; 0: success. */
    int (*request)(const struct backend *b, const PTOKernel *kernel, const PTOWorkRequest *request);
    bool (*has_operation)(const struct backend *b, int32_t opcode);
    /* pto_operation; no run is active.  false: no memory.  NULL: the operations are those of the machine. */
    bool (*add_operation)(const struct backend *b, int32_t opcode, PTOOperationFn fn, void *context);
    const struct mirror *mirror; /* NULL: kernels work in the host's memory */
};

/* Kernels work on copies.  PTO_OK, or an error whose text is `failure`. */
struct mirror {
    PTOStatus (*begin)(const struct backend *b);                                   /* a run */
    PTOStatus (*buffer)(const struct backend *b, const void *base, int64_t bytes); /* pto_buffer */
    /* Before a submit: what its task names is on the machine, with everything that the host wrote.  After it: what the
     * task writes is newer there. */
    PTOStatus (*submitting)(const struct backend *b, const PTOTaskParam *params, int32_t count);
    void (*submitted)(const struct backend *b, const PTOTaskParam *params, int32_t count);
    /* No task writes these bytes any more: the host may read them. */
    PTOStatus (*fetch)(const struct backend *b, const void *address, int64_t bytes);
    /* No task uses them any more, or knows them yet: the host writes all of them before the next submit, or has fetched
     * them. */
    PTOStatus (*own)(const struct backend *b, const void *address, int64_t bytes);
    /* a run: what its tasks wrote is with the host, if all went well */
    PTOStatus (*end)(const struct backend *b, bool is_good);
    const char *(*failure)(const struct backend *b); /* the first of the run, or of alloc */
    /* Around the run of a call on tensors (registry/pins.h): their memory on the machine may stay there.  let_go: also
     * after a run that did not begin.  PTO_OK, or an error whose text is `failure`. */
    struct holder *(*holder)(const struct backend *b);
    PTOStatus (*hand)(const struct backend *b, const struct pin *pins, int count);
    void (*let_go)(const struct backend *b);
};

/* Opens a machine, or says in `message` why there is none; *status: PTO_ERR_UNSUPPORTED if this build has no such
 * backend. */
const struct backend *ptoi_backend_open(const PTOConfig *config, PTOStatus *status, char *message, size_t size);

#endif
