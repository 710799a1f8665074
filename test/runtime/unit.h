/* unit.h - unit tests in few words, over cmocka.
 * Idea       TEST(name) { ... EXPECT(condition); ... } anywhere in a test_*.c; this header supplies main, which runs
 *            all tests of the file in their order, or those whose name matches the pattern given as argument:
 *            ./test_heap_ring 'a_*'
 * Owner      one translation unit, one program.
 * Invariant  a test that runs is counted: an empty file fails.  EXPECT leaves the test at once by longjmp, so it is for
 *            the thread that runs the test; other threads hand back what they saw.
 */
#ifndef PTO_TEST_UNIT_H
#define PTO_TEST_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { UNIT_MAX_TESTS = 512 };
static struct CMUnitTest unit_tests[UNIT_MAX_TESTS];
static size_t unit_test_count;

static inline void unit_add(const char *name, CMUnitTestFunction run)
{
    if (unit_test_count < UNIT_MAX_TESTS)
        unit_tests[unit_test_count] = (struct CMUnitTest){.name = name, .test_func = run};
    unit_test_count++;
}

#define TEST(name)                                                                                                     \
    static void name(void);                                                                                            \
    static void unit_run_##name(void **state)                                                                          \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        name();                                                                                                        \
    }                                                                                                                  \
    __attribute__((constructor)) static void unit_add_##name(void) { unit_add(#name, unit_run_##name); }               \
    static void name(void)

#define EXPECT(condition) assert_true(condition)
#define EXPECT_EQ(a, b)   assert_int_equal(a, b) /* prints both as unsigned 64-bit numbers when they differ */
#define EXPECT_STR(a, b)  assert_string_equal(a, b)

int main(int argc, char **argv)
{
    if (unit_test_count == 0 || unit_test_count > UNIT_MAX_TESTS) {
        fprintf(stderr, "%zu tests in this file, 1 to %d expected\n", unit_test_count, UNIT_MAX_TESTS);
        return 1;
    }
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return _cmocka_run_group_tests(argv[0], unit_tests, unit_test_count, NULL, NULL);
}
#endif
