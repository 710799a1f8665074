/* test_outcome.c - the first failure sticks, and a second one stops the scheduler at once even while the first is being written. */
#include "outcome.h"
#include "unit.h"
#include <string.h>

TEST(the_first_failure_sticks)
{
    static struct outcome o;
    ptoi_outcome_reset(&o);
    EXPECT(!ptoi_is_failing(&o) && ptoi_status(&o) == PTO_OK);
    const PTOSite site = {"a.pto", 3, 7, "x"};
    ptoi_fail(&o, PTO_ERR_KERNEL, &site, "first %d", 1);
    ptoi_fail(&o, PTO_ERR_CANCELLED, NULL, "second");
    EXPECT(ptoi_is_failing(&o) && ptoi_status(&o) == PTO_ERR_KERNEL);
    EXPECT_STR(o.message, "a.pto:3:7: error: first 1");
    ptoi_outcome_reset(&o);
    EXPECT(!ptoi_is_failing(&o) && ptoi_status(&o) == PTO_OK && o.message[0] == '\0');
}

TEST(the_id_of_a_check_stands_where_the_compiler_puts_it)
{
    static struct outcome o;
    const PTOSite site = {"a.pto", 3, 7, "x"};
    const struct { const PTOSite *site; const char *text, *message; } cases[] = {
        {&site, "[E05] index 9", "a.pto:3:7: error[E05]: index 9"},
        {NULL, "[E20] no", "error[E20]: no"},
        {NULL, "plain", "plain"},
        {&site, "[E0", "a.pto:3:7: error: [E0"},
        {&site, "", "a.pto:3:7: error: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ptoi_outcome_reset(&o);
        ptoi_fail(&o, PTO_ERR_BOUNDS, cases[i].site, "%s", cases[i].text);
        EXPECT_STR(o.message, cases[i].message);
    }
    ptoi_outcome_reset(&o);
}

/* A cancel has claimed the outcome and is still writing its message when a kernel fails: the status says nothing yet, but what depends
 * on that kernel must not start. */
TEST(h52_a_failure_that_comes_second_is_seen_before_the_first_has_its_status)
{
    static struct outcome o;
    ptoi_outcome_reset(&o);
    store_release(&o.claimed, 1, CLAIM); /* another thread, in the middle of ptoi_vfail */
    ptoi_fail(&o, PTO_ERR_KERNEL, NULL, "second");
    EXPECT(ptoi_status(&o) == PTO_OK);
    EXPECT(ptoi_is_failing(&o));
    store_release(&o.status, (int)PTO_ERR_CANCELLED, OUTCOME);
    ptoi_outcome_reset(&o);
}
