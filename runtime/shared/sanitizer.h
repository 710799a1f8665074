/* sanitizer.h - is this code built with a sanitizer that handles crashes, keeps books of memory, or needs more stack?
 *
 * Idea       gcc defines a macro for each sanitizer, clang answers __has_feature.
 * Owner      none: a constant.
 * Tests      test/runtime/test_crash.c, test_misuse.c and stress_soak.c, under the presets asan and tsan */
#ifndef PTOI_SANITIZER_H
#define PTOI_SANITIZER_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PTOI_HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PTOI_HAS_SANITIZER 1
#endif
#ifndef PTOI_HAS_SANITIZER
#define PTOI_HAS_SANITIZER 0
#endif

#endif
