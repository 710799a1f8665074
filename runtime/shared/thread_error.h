/* thread_error.h - the failure of a call that belongs to no run: the text of pto_last_error(NULL), and its status.
 *
 * Owner      each thread: its own words.
 * Tests      test/runtime/test_misuse.c, test_lifetime.c, test_tensor.c */
#ifndef PTOI_THREAD_ERROR_H
#define PTOI_THREAD_ERROR_H
#include <pto/pto_status.h>

enum { PTOI_THREAD_MESSAGE = 512 };
extern _Thread_local char ptoi_thread_message[PTOI_THREAD_MESSAGE];
extern _Thread_local PTOStatus ptoi_thread_status;

/* Sets both, and returns the status. */
PTOStatus ptoi_thread_fail(PTOStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
