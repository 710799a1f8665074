/* each_type.h - writes a file of kernels out twice, for float and for double.
 * Idea       The file includes this when T is not set, naming itself in EACH_TYPE_FILE, and holds its functions where T
 *            is set: NAME(stem) is the symbol for that type.  Functions stay functions, so a debugger steps in them.
 * Tests      every kernel that uses it
 */
#define T          float
#define NAME(stem) stem##_f32
#include EACH_TYPE_FILE
#undef T
#undef NAME
#define T          double
#define NAME(stem) stem##_f64
#include EACH_TYPE_FILE
#undef T
#undef NAME
