/* resident.h - the scheduler as a program of a device: it runs beside the workers, and the host only orchestrates.
 *
 * Idea       one block of memory that host, device and workers see, each at an address of its own: this header's
 *            struct, a mailbox for each worker, the run status, the window.  Everything in it is an offset, a count or
 *            a word with one writer.  The scheduler gives tasks to mailboxes and never sees a kernel, an argument's
 *            address or the heap.
 * Owner      the host lays the block out; who writes which word is said at it.
 * Portable   no library, no system: an instruction set, <stdint.h> and lock-free words of 64 bits are all it needs.
 *            Both sides compare a fingerprint of the layout before anything else is believed.
 * Tests      test/device
 *
 * [DEVICE_SENT]   a mailbox's task[] is complete below sent.
 * [DEVICE_ENDED]  the kernel's writes, and its change of the run status, are complete below done.
 * [DEVICE_ASK]    request is complete when `asked` says so.
 * [DEVICE_ANSWER] what is answered is complete when `answered` says so. */
#ifndef PTOI_RESIDENT_H
#define PTOI_RESIDENT_H
#include "schedule/scheduler.h"

#define PTO_RESIDENT_MAGIC 0x544e444953455250u
enum { PTO_MAILBOX_DEPTH = 2, PTO_RESIDENT_WORKERS = 256 };

enum resident_request { RESIDENT_BEGIN = 1, RESIDENT_SETTLE, RESIDENT_SETTLE_AND_RESET, RESIDENT_LEAVE };
enum resident_state { RESIDENT_ABSENT, RESIDENT_SERVES, RESIDENT_REFUSES };

struct mailbox {
    /* W scheduler, R worker.  Tasks ever given: store release [DEVICE_SENT], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t sent;
    uint64_t task[PTO_MAILBOX_DEPTH];
    /* W worker, R scheduler.  Tasks ever ended: store release [DEVICE_ENDED], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint64_t done;
};

struct resident_block {
    uint64_t magic, fingerprint, bytes;
    uint64_t mailbox_at, run_status_at, window_at; /* offsets from here */
    uint32_t workers[PTO_WORKER_TYPES];            /* mailboxes, type by type */
    /* W host, R scheduler: store release [DEVICE_ASK], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t asked;
    uint32_t request;
    /* W scheduler, R host: store release [DEVICE_ANSWER], load acquire. */
    _Alignas(PTO_CACHELINE) _Atomic uint32_t answered;
    uint32_t state; /* enum resident_state */
    struct scheduler_stats stats;
    uint64_t ready_max[PTO_WORKER_TYPES];
    _Atomic uint64_t beats; /* rounds of the scheduler, relaxed: it lives */
};

/* Of the layout of all that is shared: the same on both sides, or one of them was built from other sources. */
uint64_t ptoi_resident_fingerprint(void);

static inline struct mailbox *resident_mailbox(const struct resident_block *b, int worker)
{
    return (struct mailbox *)((char *)(uintptr_t)b + b->mailbox_at) + worker;
}

/* ---- the device's side ---- */

struct resident {
    struct resident_block *block;
    struct scheduler sched;
    uint64_t collected[PTO_RESIDENT_WORKERS]; /* of each mailbox's `done`, as far as seen */
    uint32_t first[PTO_WORKER_TYPES + 1];     /* mailboxes of a type are [first[t], first[t + 1]) */
    uint32_t answered;
    bool is_over; /* the host asked it to leave */
};

/* of the scheduler's own memory; 0: the block is not what it should be */
uint64_t ptoi_resident_bytes(const struct resident_block *block);
/* memory: so many bytes, zero, aligned to a cache line.  Answers the host's first request.  false: RESIDENT_REFUSES,
 * the layouts differ. */
bool ptoi_resident_open(struct resident *r, struct resident_block *block, void *memory);
/* One round: what the host asks, what was published, what ended, what can start.  true: something changed.  The caller
 * decides how to wait, and ends when r->is_over. */
bool ptoi_resident_step(struct resident *r);

#endif
