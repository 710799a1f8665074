/* host.h - what a test may know of the host's side. */
#ifndef PTO_TEST_HOST_H
#define PTO_TEST_HOST_H
#include <sys/types.h>

extern pid_t resident_child; /* the scheduler that was started last */

#endif
