/* size_class.h - the sizes of blocks: multiples of 64 bytes up to 512, then eight steps an octave.
 *
 * Idea       a block of a class is at most 12.5 % larger than what was asked for, so blocks of nearly equal sizes
 *            are found again.  From 32 KiB on a class is whole pages, from 16 MiB on whole huge pages.
 * Tests      test/runtime/test_pool.c */
#ifndef PTOI_SIZE_CLASS_H
#define PTOI_SIZE_CLASS_H
#include <stdint.h>

enum { SIZE_CLASSES = 440, SIZE_CLASS_OCTAVE = 8 };
#define SIZE_CLASS_MAX ((uint64_t)1 << 62)

/* The bytes of the class of `bytes`, which are 1 to SIZE_CLASS_MAX. */
static inline uint64_t ptoi_size_class_bytes(uint64_t bytes)
{
    if (bytes <= 512) return (bytes + 63) / 64 * 64;
    const int shift = 63 - __builtin_clzll(bytes - 1) - 3;
    return (((bytes - 1) >> shift) + 1) << shift;
}

/* The number of a class, by its bytes. */
static inline int ptoi_size_class_index(uint64_t bytes)
{
    if (bytes <= 512) return (int)(bytes / 64) - 1;
    const int octave = 63 - __builtin_clzll(bytes - 1);
    return SIZE_CLASS_OCTAVE + (octave - 9) * SIZE_CLASS_OCTAVE + (int)((bytes - 1) >> (octave - 3)) - 8;
}

#endif
