/* reason.c - see reason.h. */
#include "reason.h"
#include <pto/pto_equations.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char reason[PTOI_REASON_BYTES];

int pto_kernel_failed(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return 1;
}

bool ptoi_reason_take(char text[PTOI_REASON_BYTES])
{
    if (!reason[0]) return false;
    memcpy(text, reason, sizeof reason);
    reason[0] = '\0';
    return true;
}
