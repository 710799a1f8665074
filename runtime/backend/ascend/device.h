/* device.h - one opened device: what the files of this backend share; no other file includes it.
 *
 * Idea       a worker is a stream.  A thread that runs its first kernel takes the context and a stream of the kernel's
 *            worker type, and keeps both; the orchestrator copies.  Addresses in a program are the host's: the heap is
 *            reserved on the host too, so that offsets are those of every backend, and only what the host reads or
 *            writes is ever there.
 * Owner      open and close: the runtime.  A stream: the thread that took it.  Memory, staging, what is whose: the
 *            orchestrator, mirror.c. The buffers that workers look up: under `lock`.
 * Invariant  what was opened is closed in reverse order, on every path; a device that failed is not used for another
 *            run.
 * Tests      test/ascend */
#ifndef PTOI_ASCEND_DEVICE_H
#define PTOI_ASCEND_DEVICE_H
#include "acl.h"
#include "backend/backend.h"
#include "map.h"
#include "registry/place.h"
#include "shared/system.h"
#include <stdatomic.h>

enum {
    BLOCK_WORDS = PTO_MAX_PARAMS * (1 + 2 * PTO_MAX_RANK) + 1, /* the longest argument block */
    STAGING_BYTES = 1 << 20,
    STATUS_BYTES = 64, /* of a stream: its own line of memory */
    FOUND_LINES = 64,
};

struct stream {
    aclrtStream stream;
    aclrtEvent event;
    bool is_lost;  /* something that was started on it may be running still */
    bool is_stuck; /* and has taken too long already */
    char *status;  /* device memory for the word that a kernel with `status = yes` stores; NULL: the map has none */
    uint64_t block[BLOCK_WORDS];
    struct {
        const PTOKernel *kernel;
        const struct map_entry *entry;
    } found[FOUND_LINES]; /* by address of the kernel */
};

/* An array of the program, registered by pto_buffer, or the memory of a tensor that a call has handed over. */
struct array {
    char *host;
    int64_t bytes;
    char *device;        /* NULL: no task has named it yet */
    int64_t capacity;    /* of the device memory */
    bool is_written;     /* by a task of this run */
    bool is_touched;     /* by the orchestration */
    bool is_output;      /* all of it will be written: nothing is copied in */
    bool is_newer;       /* the device had the elements before the run, and the host has older ones */
    struct block *block; /* of a tensor; NULL: the array goes back at the end of the run */
    struct place *place; /* that has its device memory */
};

/* Host memory that is newer than the device's (dirty), or just as new (clean). */
struct span {
    char *from, *to;
};

struct block_memory {
    char *device;
    int64_t capacity;
};

enum { MAX_DIRTY = 256, MAX_CLEAN = 32 };

struct device {
    struct backend backend; /* first: what the runtime sees */
    const struct acl *acl;
    uint64_t serial; /* no other device of the process ever has it */
    int32_t number;
    double timeout_seconds;
    PTONames names; /* limit.h */
    bool has_device, has_binaries;
    aclrtContext context;
    struct kernel_map map;
    struct stream *stream;
    int stream_count;                /* opened */
    int first[PTO_WORKER_TYPES + 1]; /* streams of a worker type are [first[t], first[t + 1]) */
    /* how many threads took one: add relaxed, the stream is whole before any thread runs */
    _Atomic int taken[PTO_WORKER_TYPES];
    char *status;  /* device memory: a line each stream */
    char *staging; /* pinned host memory */

    char *heap, *device_heap; /* the same bytes, as the program and as the device name them */
    uint64_t heap_bytes;
    bool is_zeroed;

    ptoi_lock copying;   /* guards what is in staging; `lock` nests in it */
    ptoi_lock lock;      /* guards array, failure, was_reported; nothing nests in it */
    struct array *array; /* sorted by address, apart from each other */
    int array_count, array_room;
    struct holder holder; /* of tensors */
    char failure[1024];
    /* nothing is started on it any more: W under lock, R any thread: relaxed, `failure` is read under lock */
    _Atomic bool has_failed;
    /* the runtime has asked for `failure`: what closing finds is of no interest then */
    bool was_reported;

    struct block_memory *spare; /* device memory between two uses */
    int spare_count, spare_room;
    struct span dirty[MAX_DIRTY], clean[MAX_CLEAN];
    int dirty_count, clean_count, clean_next;
};

static inline struct device *device_of(const struct backend *b) { return (struct device *)(uintptr_t)b; }

/* ---- device.c ---- */
/* The context becomes the calling thread's; false: that failed. */
bool ptoi_ascend_enter(struct device *d);
/* The same where other code ran on the thread, which may use the device too and have changed the context. */
bool ptoi_ascend_enter_from_outside(struct device *d);
/* `call` returned error: remembers why, unless there is a failure already; false unless it is 0. */
bool ptoi_ascend_is_fine(struct device *d, const char *call, aclError error);
/* Remembers a failure of another kind.  The first sticks. */
void ptoi_ascend_fail(struct device *d, bool is_lost, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- stream.c ---- */
/* The stream of the calling thread for such a worker, with the context; NULL: that failed, or the device had before. */
struct stream *ptoi_ascend_stream(struct device *d, PTOWorkerType type);
/* Waits until everything on it has ended; false: it failed, or took too long. */
bool ptoi_ascend_wait(struct device *d, struct stream *s, const char *what);
int ptoi_ascend_run(const struct backend *b, const PTOKernel *kernel, const PTOArg *args, int count);

/* ---- request.c ---- */
int ptoi_ascend_request(const struct backend *b, const PTOKernel *kernel, const PTOWorkRequest *request);
bool ptoi_ascend_has_operation(const struct backend *b, int32_t opcode);

/* ---- mirror.c ---- */
extern const struct mirror ptoi_ascend_mirror;

/* ---- transfer.c ---- */
bool ptoi_ascend_upload(struct device *d, char *device, const char *host, int64_t bytes);
bool ptoi_ascend_download(struct device *d, char *host, const char *device, int64_t bytes);

/* ---- arrays.c ---- */
struct array *ptoi_ascend_find(struct device *d, const char *address); /* NULL: it is in none */
bool ptoi_ascend_is_in_heap(const struct device *d, const char *address);
PTOStatus ptoi_ascend_register(const struct backend *b, const void *base, int64_t bytes);
/* Its device address.  NULL: the device has nothing of that name.  Any worker. */
char *ptoi_ascend_reach(struct device *d, const void *host);

/* ---- places.c ---- */
void ptoi_ascend_open_places(struct device *d);
struct holder *ptoi_ascend_holder(const struct backend *b);
PTOStatus ptoi_ascend_hand(const struct backend *b, const struct pin *pins, int count);
char *ptoi_ascend_take_memory(struct device *d, int64_t bytes, int64_t *capacity); /* NULL: that failed */
bool ptoi_ascend_place(struct device *d, struct array *a); /* memory for a tensor; false: that failed */
bool ptoi_ascend_bring(struct array *a);                   /* a tensor that is newer on the device, to the host */
/* The end of a run: what its tasks wrote goes back, or stays with the device; false: that failed. */
bool ptoi_ascend_let_arrays_go(struct device *d, bool is_good);
/* Gives the device memory of arrays back; tensors go to the host. */
bool ptoi_ascend_free_memory(struct device *d);

#endif
