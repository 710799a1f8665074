/* check.h - our own mistakes.  CHECK stops the process where an invariant broke; the user's mistakes are a
 * PTOStatus. */
#ifndef PTOI_CHECK_H
#define PTOI_CHECK_H

#ifndef PTO_CHECK
#define PTO_CHECK 1 /* 0: none, 1: CHECK, 2: CHECK_DEEP too */
#endif

_Noreturn void ptoi_check_failed(const char *file, int line, const char *condition);

#if PTO_CHECK >= 1
#define CHECK(cond) ((cond) ? (void)0 : ptoi_check_failed(__FILE__, __LINE__, #cond))
#else
#define CHECK(cond) ((void)sizeof((cond) ? 1 : 0))
#endif
#if PTO_CHECK >= 2
#define CHECK_DEEP(cond) CHECK(cond)
#else
#define CHECK_DEEP(cond) ((void)sizeof((cond) ? 1 : 0))
#endif

#endif
