/* thread_error.c - see thread_error.h. */
#include "thread_error.h"
#include <stdarg.h>
#include <stdio.h>

_Thread_local char ptoi_thread_message[PTOI_THREAD_MESSAGE];
_Thread_local PTOStatus ptoi_thread_status;

PTOStatus ptoi_thread_fail(PTOStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ptoi_thread_message, sizeof ptoi_thread_message, format, args);
    va_end(args);
    return ptoi_thread_status = status;
}
