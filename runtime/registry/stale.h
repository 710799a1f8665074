/* stale.h - blocks whose newest elements a device has: they are brought back when the host needs them.
 *
 * Idea       one thread copies, with no lock held and writers kept away; others that need the block wait for it.
 * Owner      the thread that copies.
 * Guarded    by PROCESS_LOCK_REGISTRY, which the functions leave meanwhile.
 * Tests      test/call/test_places.c */
#ifndef PTOI_STALE_H
#define PTOI_STALE_H
#include "place.h"
#include "separate.h"

/* Under the lock, the caller holds b: the host's memory of its block becomes current.  SEPARATE_READY: it is;
 * SEPARATE_AGAIN: the lock was left, look again; SEPARATE_LOST: the device failed, and unless they are foreign
 * the elements are undefined; SEPARATE_CLOSED. */
enum separation ptoi_stale_save(struct buffer *b);

/* Under the lock: may a run with such a holder, or the host where h is NULL, write the block of b?  SEPARATE_READY or
 * SEPARATE_FOREIGN. */
enum separation ptoi_stale_ask(const struct buffer *b, const struct holder *h);

/* Under the lock: the error of `call` for SEPARATE_LOST, _CLOSED or _FOREIGN of b.  PTO_OK: `found` is another. */
PTOStatus ptoi_stale_refuse(const struct buffer *b, enum separation found, const char *call);

/* The holder ends: what is current in its places alone is saved, and all leave their blocks.  The lock is not held.
 * Blocks while other threads save. */
void ptoi_places_end(struct holder *h);

/* Under the lock: the place that was not used for longest leaves its block, after it was saved if need be.  NULL: all
 * are in use. */
struct place *ptoi_place_evict(struct holder *h);

#endif
