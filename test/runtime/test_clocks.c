/* test_clocks.c - rank 0 asks ranks for their time only where they have another clock than it has. */
#include "host/ranked.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

/* A wire on which rank 1 gives back the name of the clock that it was given, or another one; and a time of its own. */
enum { AHEAD_NS = 1000000000, LONGEST = 512 };
struct echo {
    struct wire wire;
    char given[LONGEST];
    bool is_elsewhere;
    int times;
};

static enum wire_answer agree(struct wire *w, bool is_last, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    (void)w, (void)is_last;
    memcpy(least, mine, WIRE_REDUCED * sizeof *least);
    memcpy(most, mine, WIRE_REDUCED * sizeof *most);
    return WIRE_DONE;
}

static enum wire_answer give(struct wire *w, int32_t to, const void *data, int64_t bytes)
{
    EXPECT_EQ(to, 1);
    EXPECT(bytes <= LONGEST);
    memcpy(((struct echo *)w)->given, data, (size_t)bytes);
    return WIRE_DONE;
}

static enum wire_answer take(struct wire *w, int32_t from, void *data, int64_t bytes)
{
    struct echo *e = (struct echo *)w;
    EXPECT_EQ(from, 1);
    memcpy(data, e->given, (size_t)bytes);
    if (bytes == sizeof(int64_t)) {
        int64_t time;
        memcpy(&time, data, sizeof time);
        time += AHEAD_NS;
        memcpy(data, &time, sizeof time);
        e->times++;
    } else if (e->is_elsewhere)
        ((char *)data)[0] ^= 1;
    return WIRE_DONE;
}

static struct rank_clock clock_of_other(bool is_elsewhere, int *times)
{
    static const struct wire_ops ops = {.reduce = agree, .give = give, .take = take};
    struct echo e = {.wire = {.rank = 0, .ranks = 2, .ops = &ops}, .is_elsewhere = is_elsewhere};
    struct session s = {.wire = &e.wire};
    s.options.trace = "trace.json";
    EXPECT_EQ(ptoi_ranked_begin_records(&s), HOST_OK);
    const struct rank_clock clock = s.clocks[1];
    *times = e.times;
    free(s.clocks);
    return clock;
}

TEST(ranks_of_one_machine_have_one_clock_however_slow_they_are)
{
    int times;
    const struct rank_clock clock = clock_of_other(false, &times);
    EXPECT_EQ(times, 0);
    EXPECT(clock.at[0] == 0 && clock.ahead[0] == 0);
}

TEST(a_rank_of_another_machine_is_asked_for_its_time)
{
    int times;
    const struct rank_clock clock = clock_of_other(true, &times);
    EXPECT(times > 1);
    EXPECT(clock.at[0] > AHEAD_NS && clock.ahead[0] != 0);
}
