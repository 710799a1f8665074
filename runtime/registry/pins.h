/* pins.h - the buffers of a run: bound all or none, before the run, and let go after it.
 *
 * Idea       a run pins what it is given once; its tasks count nothing.  Pins are of the memory (block) behind a
 *            tensor: read pins are shared, a write pin is alone.  A set is bound under the registry's lock, in order
 *            of buffer ids, all or none; a set that cannot be bound waits without holding any pin, so two calls
 *            cannot wait for each other.  Binding separates the memory of a detached tensor that will be written.
 * Owner      the caller's struct pins, from a successful ptoi_pins_take to ptoi_pins_drop, on any thread.
 * Invariant  a bound set holds a reference to each of its buffers: the caller's tensors may be released meanwhile, and
 *            the memory is freed at the drop, on the thread that drops.
 *            Within one set the same memory may be named several times; the strongest access counts (E09 is the
 *            program's affair).
 * Tests      test/runtime/test_pins.c */
#ifndef PTOI_PINS_H
#define PTOI_PINS_H
#include <pto/pto_registry.h>

struct block;
struct holder;

/* One argument of a call. */
struct pin {
    struct holder *holder; /* the device that the run is on, which may keep the memory; NULL: the host uses it */
    PTOTensor *tensor;     /* NULL or without elements: nothing is bound */
    PTOAccess access;      /* in: PTO_READ; out: PTO_WRITE; inout: PTO_READ_WRITE */
    /* filled by ptoi_pins_take: the address of element [0, ..] on the host, until the drop; NULL: no elements */
    void *address;
    void *base; /* of the memory behind the tensor, and its bytes: the same for two views of one buffer */
    int64_t bytes;
    /* private */
    struct buffer *buffer;
    bool is_first;  /* of the pins of this set on the same memory: the one that counts */
    bool is_whole;  /* all of the memory will be written: it is defined after the run */
    uint8_t merged; /* the access of all of them */
};

/* Who waits for pins until a count, which grows under the lock of the registry, is another one than it was. */
struct pins_wait {
    const _Atomic uint32_t *cancels;
    uint32_t seen;
};
/* Who waits with this count waits no longer.  Any thread. */
void ptoi_pins_cancel(_Atomic uint32_t *cancels);
/* How often; it takes the lock, so that it has a place in the order of all. */
uint32_t ptoi_pins_count(const _Atomic uint32_t *cancels);

/* Binds all pins of the array or none.  The array is the caller's and stays where it is until the drop.
 * Blocks while another run, or a map of another thread, is in the way; wait NULL: never.
 * PTO_OK; PTO_ERR_BUSY: in the way is a map of the calling thread or a run that the calling thread is in, or anything
 * where it must not wait; PTO_ERR_CANCELLED: the count of `wait` has changed;
 * PTO_ERR_READ_ONLY, PTO_ERR_OVERLAP: a written tensor that is read-only, or two of whose indices are one element;
 * PTO_ERR_NOMEM: the memory of a detached tensor; PTO_ERR_DEVICE: a device that had the elements has failed.
 * *which (may be NULL): the index of the pin that failed.
 * pto_last_error(NULL) has the text. */
PTOStatus ptoi_pins_take(struct pin *pins, int count, const struct pins_wait *wait, int *which);

/* The memory of a bound pin that may stay with its holder after the run; NULL: it must be in the host's memory then, or
 * another pin of the set is on the same memory.  *is_output: all of it will be written. */
struct block *ptoi_pin_block(const struct pin *p, bool *is_output);

/* Lets go of all pins of a bound array.  failed: the run failed or was cancelled, and what it may have written is
 * marked undefined; else what was bound with PTO_WRITE is defined from now on. */
void ptoi_pins_drop(struct pin *pins, int count, bool failed);

/* The view without the C interface: what a call binds.  Constant for the lifetime of the tensor. */
struct tensor_view {
    PTOType type;
    int32_t rank;
    const int64_t *shape, *strides; /* in elements */
    bool is_read_only, is_overlapping;
};
struct tensor_view ptoi_tensor_view(const PTOTensor *t);
bool ptoi_tensor_is_dense(const PTOTensor *t);      /* row-major and contiguous */
uint64_t ptoi_tensor_buffer_id(const PTOTensor *t); /* 0: no elements */

#endif
