/* pto_limits.h - the numbers that the compiler, the runtime and programs must agree on.  The compiler includes this and
 * the lists *.def, and nothing else of the runtime. */
#ifndef PTO_LIMITS_H
#define PTO_LIMITS_H

#define PTO_MAX_RANK       8                    /* dimensions of a tensor */
#define PTO_MAX_PARAMS     64                   /* parameters of a task */
#define PTO_TASK_PARAMS    (PTO_MAX_PARAMS + 4) /* of a submit: with its priority, name, time limit and rank */
#define PTO_REQUEST_PARAMS 16                   /* scalars of a work request */
#define PTO_OWN_OPCODE     64                   /* the first operation that a program may number itself */
#define PTO_STRIP_CALLS    4                    /* calls in the body of a loop that is submitted in strips */
#define PTO_STRIP_PARAMS   16                   /* parameters of all of them */

/* The heap: one block of RINGS * bytes, cut into at most SEGMENTS segments of a power of two granules each. */
#define PTO_GRANULE                64 /* bytes: alignment of a buffer, and the least heap ring */
#define PTO_MAX_RINGS              64
#define PTO_DEFAULT_RINGS          4
#define PTO_HEAP_MAX_SEGMENTS      1024
#define PTO_HEAP_MAX_SEGMENT_BYTES (64 * 1024)

/* The digest of a line of the source, byte by byte (PTOSiteLine). */
#define PTO_LINE_DIGEST_SEED          2166136261u
#define PTO_LINE_DIGEST(digest, byte) (((digest) ^ (uint32_t)(byte)) * 16777619u)

#endif
