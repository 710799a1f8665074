/* atomics.h - the memory orders by name.  Every access to a word that two roles share goes through here, so that a bare
 * `x = y` on an _Atomic object stands out.  An access that is not relaxed ends in its label, which docs/memory-model.md
 * explains; in the build `check` the accesses are a scheduler's, which can relax the orders of one label:
 * docs/model.md. */
#ifndef PTOI_ATOMICS_H
#define PTOI_ATOMICS_H
#include <stdatomic.h>
#include <stdint.h>

#ifdef PTO_SCHEDULED
#include PTO_SCHEDULED
#else
#define load_relaxed(p)            atomic_load_explicit((p), memory_order_relaxed)
#define load_acquire(p, label)     atomic_load_explicit((p), memory_order_acquire)
#define load_seq(p, label)         atomic_load_explicit((p), memory_order_seq_cst)
#define store_relaxed(p, v)        atomic_store_explicit((p), (v), memory_order_relaxed)
#define store_release(p, v, label) atomic_store_explicit((p), (v), memory_order_release)
#define store_seq(p, v, label)     atomic_store_explicit((p), (v), memory_order_seq_cst)
#define swap_relaxed(p, v)         atomic_exchange_explicit((p), (v), memory_order_relaxed)
#define swap_acquire(p, v, label)  atomic_exchange_explicit((p), (v), memory_order_acquire)
#define swap_acq_rel(p, v, label)  atomic_exchange_explicit((p), (v), memory_order_acq_rel)
#define swap_if_relaxed(p, old, v)                                                                                     \
    atomic_compare_exchange_strong_explicit((p), (old), (v), memory_order_relaxed, memory_order_relaxed)
#define swap_if_acquire(p, old, v, label)                                                                              \
    atomic_compare_exchange_strong_explicit((p), (old), (v), memory_order_acquire, memory_order_relaxed)
#define swap_if_release(p, old, v, label)                                                                              \
    atomic_compare_exchange_weak_explicit((p), (old), (v), memory_order_release, memory_order_relaxed)
#define add_relaxed(p, v)        atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define add_release(p, v, label) atomic_fetch_add_explicit((p), (v), memory_order_release)
#define add_acq_rel(p, v, label) atomic_fetch_add_explicit((p), (v), memory_order_acq_rel)
#endif

#define PTO_CACHELINE 64
static inline uint64_t ptoi_whole_lines(uint64_t bytes)
{
    return (bytes + PTO_CACHELINE - 1) / PTO_CACHELINE * PTO_CACHELINE;
}

/* A hint for the core that this thread waits for another one. */
static inline void pto_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* In the `tiny` build every label is a chance for another thread to run, so that rare interleavings become common. */
#ifdef PTO_TINY
void ptoi_yield_maybe(void);
#define PTO_LABEL(name) ptoi_yield_maybe()
#else
#define PTO_LABEL(name) ((void)0)
#endif

#endif
