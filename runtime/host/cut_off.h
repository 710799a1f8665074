/* cut_off.h - an object whose file is shorter than its program headers promise.  The dynamic linker maps it beyond the
 * end of the file, and the first access there is a SIGBUS. */
#ifndef PTO_HOST_CUT_OFF_H
#define PTO_HOST_CUT_OFF_H
#include <pto/pto_status.h>

/* PTO_ERR_IO and the thread's message: the file is a 64-bit ELF object of this machine that is cut off.  PTO_OK: it is
 * whole, or the dynamic linker says itself why it refuses it. */
PTOStatus ptoi_object_is_whole(const char *path);
#endif
