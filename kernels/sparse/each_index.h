/* each_index.h - writes a file of kernels out for each pair of an index type and an element type.
 * Idea       as each_type.h does: the file includes this when I is not set, naming itself in EACH_INDEX_FILE, and holds
 *            its functions where I and T are set.  NAME(stem) is the symbol of that pair.
 *            INDEX_NAME(stem) is there once for each index type.
 * Tests      test/runtime/test_kernels_sparse.c
 */
#define I                int32_t
#define T                float
#define NAME(stem)       stem##_i32_f32
#define INDEX_NAME(stem) stem##_i32
#include EACH_INDEX_FILE
#undef INDEX_NAME
#undef T
#undef NAME
#define T          double
#define NAME(stem) stem##_i32_f64
#include EACH_INDEX_FILE
#undef I
#undef T
#undef NAME
#define I                int64_t
#define T                float
#define NAME(stem)       stem##_i64_f32
#define INDEX_NAME(stem) stem##_i64
#include EACH_INDEX_FILE
#undef INDEX_NAME
#undef T
#undef NAME
#define T          double
#define NAME(stem) stem##_i64_f64
#include EACH_INDEX_FILE
#undef I
#undef T
#undef NAME
