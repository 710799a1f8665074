/* calls.h - the runtime and the program of the tests of calls, made by the first test that needs them. */
#ifndef PTO_TEST_CALLS_H
#define PTO_TEST_CALLS_H
#include "hosts.h"
#include "unit.h"
#include <string.h>

static PTORuntime *rt;
static PTOLoaded *numbers;

/* The thread sanitizer does not follow a fork. */
#ifdef __SANITIZE_THREAD__
#define APART PTO_ENGINE_THREADS
#else
#define APART PTO_ENGINE_PROCESS
#endif

static void begin(void)
{
    if (!rt) rt = pto_runtime_create(NULL, NULL);
    if (!numbers) numbers = pto_program_open("numbers.so");
    EXPECT(rt && numbers);
}

/* In the last test. */
static void end(void)
{
    pto_program_close(numbers);
    pto_runtime_destroy(rt);
}

#define REFUSED(status, complaint, text, call)                                                                         \
    do {                                                                                                               \
        const PTOStatus got = call;                                                                                    \
        if (got != (status) || !strstr(pto_last_error(NULL), text))                                                    \
            print_message("%d: %s\n", got, pto_last_error(NULL));                                                      \
        EXPECT_EQ(got, status);                                                                                        \
        EXPECT_EQ(pto_last_complaint(), complaint);                                                                    \
        EXPECT(strstr(pto_last_error(NULL), text));                                                                    \
        EXPECT(strstr(pto_last_error(rt), text));                                                                      \
    } while (0)
#endif
