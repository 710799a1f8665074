/* map.h - addresses of the host, and how long runs stay away from them.
 *
 * Idea       a map is a pin of a thread of the host: readers of the host keep writing runs away, writers all runs.
 *            Threads of the host are not kept from each other.  An export of the address (DLPack, Arrow) keeps no run
 *            away, but its buffer does not move.
 * Owner      a map: the block, chained by next, until pto_tensor_unmap.  It holds a reference to its tensor.
 * Guarded    by PROCESS_LOCK_REGISTRY.
 * Tests      test/runtime/test_pins.c */
#ifndef PTOI_MAP_H
#define PTOI_MAP_H
#include "tensor.h"

struct map {
    struct map *next;
    PTOTensor *tensor;
    const void *thread;
    PTOAccess access;
};

bool ptoi_map_is_own(const struct block *k); /* a map of the calling thread is open; under the lock */

/* The address of t is out until ptoi_export_end: its memory stays where it is.  NULL: the thread's error. */
void *ptoi_export_begin(PTOTensor *t, bool is_writable, const char *call);
void ptoi_export_end(PTOTensor *t, bool is_writable);

/* The caller reads the elements of t: runs that write them have ended, and none begins until the end. */
PTOStatus ptoi_read_begin(PTOTensor *t, const char *call);
void ptoi_read_end(PTOTensor *t);

#endif
