/* caller.c - see caller.h. */
#include "caller.h"

const char ptoi_none, ptoi_kernel;
_Thread_local const void *ptoi_orchestrated = &ptoi_none;
bool ptoi_is_worker_process;
