/* place.h - copies of a block in the memory of devices.
 *
 * Idea       a device that has used a block may keep its copy, a place: the next run there copies nothing in.  The
 *            elements that a run wrote are current in its device's place alone, and the block is stale: nothing comes
 *            back before the host needs it (stale.h).
 * Foreign    memory of somebody else on a device is a place without a holder, which every runtime on the device has.
 *            Runs there work in it, it is current for ever, and it ends with its block.
 * Owner      the device, its holder: it makes places and frees their memory.  A place leaves its block when the block
 *            ends, or when somebody else writes the elements; afterwards the holder uses its memory for another.
 * Guarded    by PROCESS_LOCK_REGISTRY, every function here too.
 * Invariant  every place on a block's list is current.  A stale block has a place.  Unless a run writes it, a block
 *            whose address somebody knows is not stale, and one that somebody outside may write has no place.
 * Tests      test/call/test_places.c */
#ifndef PTOI_PLACE_H
#define PTOI_PLACE_H
#include <pto/pto_registry.h>
#include <stdbool.h>

struct block;
struct place;

struct holder {
    /* Copies the elements to the host: any thread, no lock held; blocks.  false: the device failed. */
    bool (*save)(struct holder *h, const struct place *p, void *host, int64_t bytes);
    struct place *places; /* the one that was used last comes first */
    int32_t device;       /* as that of a block */
    /* guarded */
    struct holder *next_open;
    int32_t savers; /* threads in `save` */
};

struct place {
    /* constant */
    struct holder *holder; /* NULL: foreign memory */
    char *memory;          /* of the device, and its bytes */
    int64_t capacity;
    /* guarded */
    struct block *block;         /* NULL: of none; the holder may use the memory for another */
    struct place *next_on_block; /* of another holder */
    struct place *newer, *older; /* of the holder */
    bool is_used;                /* by a run of the holder */
    int32_t savers;              /* threads in `save` */
};

struct place *ptoi_place_find(const struct block *k, const struct holder *h); /* NULL: it has none */
void ptoi_place_touch(struct place *p);                /* it is the latest of its holder, to which it may be new */
void ptoi_place_forget(struct place *p);               /* without a block: the holder frees it */
void ptoi_place_put(struct place *p, struct block *k); /* it has the elements of k */
/* Places, all or all but one and the foreign one, are no longer current: the elements are written elsewhere. */
void ptoi_places_leave(struct block *k, const struct place *but);

void ptoi_holder_open(struct holder *h);                 /* its runtime may use foreign memory on its device */
void ptoi_holder_close(struct holder *h);                /* once, or never opened */
struct holder *ptoi_place_holder(const struct place *p); /* that can save it; NULL: no runtime has the device open */

/* ---- without the lock, while no other thread knows the block ---- */

/* The elements of k lie in foreign memory, and the host has none of them.  false: no memory. */
bool ptoi_place_attach(struct block *k, void *memory);
void ptoi_place_end(struct place *p); /* foreign; NULL is fine */

#endif
