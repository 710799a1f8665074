/* sanitizer.h - is this code built with a sanitizer that handles crashes, keeps books of memory, or needs more stack?
 *
 * Idea       gcc defines a macro for each sanitizer, clang answers __has_feature.
 * Owner      none: a constant.
 * Tests      test/runtime/test_crash.c, test_stack.c and stress_soak.c, under the presets asan and tsan */
#ifndef PTOI_SANITIZER_H
#define PTOI_SANITIZER_H

#if defined(__has_feature)
#define PTOI_HAS_FEATURE_(name) __has_feature(name)
#else
#define PTOI_HAS_FEATURE_(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || PTOI_HAS_FEATURE_(address_sanitizer)
#define PTOI_HAS_ASAN 1
#else
#define PTOI_HAS_ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || PTOI_HAS_FEATURE_(thread_sanitizer)
#define PTOI_HAS_TSAN 1
#else
#define PTOI_HAS_TSAN 0
#endif
#define PTOI_HAS_SANITIZER (PTOI_HAS_ASAN || PTOI_HAS_TSAN || PTOI_HAS_FEATURE_(memory_sanitizer))

#endif
