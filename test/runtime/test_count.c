/* test_count.c - every reference is counted once, in the word and in the spread form, and one thread destroys.
 *
 * K1 to K6 and K8 are the defects of the counts of seed 004 (docs/registry.md); each test fails on that form. */
#include "registry/count.h"
#include "unit.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(the_last_release_reports_zero) /* K1 */
{
    struct count c;
    ptoi_count_open(&c);
    EXPECT(ptoi_count_is_one(&c));
    EXPECT_EQ(ptoi_count_release(&c), 0);
    ptoi_count_open(&c);
    ptoi_count_retain(&c);
    EXPECT(!ptoi_count_is_one(&c));
    EXPECT_EQ(ptoi_count_release(&c), 1);
    EXPECT_EQ(ptoi_count_release(&c), 0);
    EXPECT(ptoi_count_release(&c) < 0); /* one too many is noticed */
}

static void *release_one(void *arg) { return (void *)(intptr_t)ptoi_count_release(arg); }

static int64_t on_another_thread(struct count *c)
{
    pthread_t t;
    void *left;
    pthread_create(&t, NULL, release_one, c);
    pthread_join(t, &left);
    return (intptr_t)left;
}

TEST(a_reference_is_taken_on_one_thread_and_dropped_on_another) /* K2 */
{
    struct count c;
    ptoi_count_open(&c);
    ptoi_count_retain(&c);
    EXPECT_EQ(on_another_thread(&c), 1);
    EXPECT_EQ(ptoi_count_now(&c), 1);
    EXPECT_EQ(ptoi_count_release(&c), 0);

    ptoi_count_open(&c);
    EXPECT(ptoi_count_spread(&c));
    ptoi_count_retain(&c); /* +1 in this thread's slot, -1 in the other's */
    on_another_thread(&c);
    EXPECT_EQ(ptoi_count_close(&c), 0);
    ptoi_count_free(&c);
}

TEST(a_reference_outlives_the_spread_form)
{
    struct count c;
    ptoi_count_open(&c);
    EXPECT(ptoi_count_spread(&c));
    EXPECT(ptoi_count_spread(&c));     /* a second time nothing happens */
    EXPECT(!ptoi_count_is_one(&c));    /* K5: never unique */
    EXPECT_EQ(ptoi_count_now(&c), -1); /* K3: no sum is asked for */
    ptoi_count_retain(&c);
    EXPECT_EQ(ptoi_count_close(&c), 1);
    EXPECT_EQ(on_another_thread(&c), 0);
    ptoi_count_free(&c);
}

TEST(one_release_too_many_in_the_spread_form_is_noticed_at_its_end)
{
    struct count c;
    ptoi_count_open(&c);
    EXPECT(ptoi_count_spread(&c));
    ptoi_count_release(&c);
    EXPECT(ptoi_count_close(&c) < 0);
    ptoi_count_free(&c);
}

/* ---- many threads ------------------------------------------------------------------------------------------------ */

enum { THREADS = 8, ROUNDS = 20000 };
struct shared {
    struct count c;
    int64_t payload[THREADS]; /* plain: the destroyer must see every store (K8) */
    _Atomic int destroyed;
    _Atomic int go;
};
struct user {
    struct shared *s;
    int number;
};

static void destroy(struct shared *s)
{
    int64_t sum = 0;
    for (int i = 0; i < THREADS; i++) sum += s->payload[i];
    s->destroyed += sum == THREADS ? 1 : 1000;
}

static void *use(void *arg)
{
    struct user *u = arg;
    while (!u->s->go) sched_yield();
    for (int i = 0; i < ROUNDS; i++) {
        ptoi_count_retain(&u->s->c);
        if (ptoi_count_release(&u->s->c) <= 0) u->s->destroyed += 1000;
    }
    u->s->payload[u->number] = 1;
    if (ptoi_count_release(&u->s->c) == 0) destroy(u->s);
    return NULL;
}

static void use_from_all(bool spreads_first, bool spreads_late)
{
    static struct shared s;
    pthread_t t[THREADS];
    struct user u[THREADS];
    s = (struct shared){0};
    ptoi_count_open(&s.c);
    if (spreads_first) ptoi_count_spread(&s.c);
    for (int i = 0; i < THREADS; i++) {
        ptoi_count_retain(&s.c);
        u[i] = (struct user){&s, i};
        pthread_create(&t[i], NULL, use, &u[i]);
    }
    s.go = 1;
    if (spreads_late) ptoi_count_spread(&s.c); /* O5: beside operations on the word */
    for (int i = 0; i < 1000; i++) ptoi_count_retain(&s.c), ptoi_count_release(&s.c);
    if (ptoi_count_close(&s.c) == 0) destroy(&s);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    EXPECT_EQ(s.destroyed, 1); /* K4, K6: never early, never twice */
    ptoi_count_free(&s.c);
}

TEST(one_thread_destroys_after_all_others)
{
    for (int i = 0; i < 10; i++) use_from_all(false, false);
}
TEST(one_thread_destroys_after_all_others_of_the_spread_form)
{
    for (int i = 0; i < 10; i++) use_from_all(true, false);
}
TEST(the_spread_form_is_entered_while_others_use_the_word)
{
    for (int i = 0; i < 10; i++) use_from_all(false, true);
}

/* ---- numbers of threads ------------------------------------------------------------------------------------------ */

static void *use_once(void *arg)
{
    struct count *c = arg;
    ptoi_count_retain(c);
    return NULL;
}

TEST(more_threads_than_slots_come_and_go) /* K10: numbers are used again */
{
    enum { MANY = 3 * COUNT_THREADS };
    struct count c;
    ptoi_count_open(&c);
    EXPECT(ptoi_count_spread(&c));
    for (int i = 0; i < MANY; i++) {
        pthread_t t;
        pthread_create(&t, NULL, use_once, &c);
        pthread_join(t, NULL);
    }
    EXPECT(ptoi_count_slot_at != 0);
    for (int i = 0; i < MANY; i++) EXPECT(ptoi_count_release(&c) > 0);
    EXPECT_EQ(ptoi_count_close(&c), 0);
    ptoi_count_free(&c);
}

static _Atomic int waiting, leave;
static void *use_and_wait(void *arg)
{
    ptoi_count_retain(arg);
    waiting++;
    while (!leave) usleep(100);
    ptoi_count_release(arg);
    return NULL;
}

TEST(the_65th_thread_uses_the_word)
{
    enum { MANY = COUNT_THREADS + 5 };
    static pthread_t t[MANY];
    struct count c;
    ptoi_count_open(&c);
    EXPECT(ptoi_count_spread(&c));
    waiting = leave = 0;
    for (int i = 0; i < MANY; i++) pthread_create(&t[i], NULL, use_and_wait, &c);
    while (waiting < MANY) usleep(100);
    leave = 1;
    for (int i = 0; i < MANY; i++) pthread_join(t[i], NULL);
    EXPECT_EQ(ptoi_count_close(&c), 0);
    ptoi_count_free(&c);
}

TEST(a_forked_child_keeps_what_the_parent_spread)
{
    struct count c;
    ptoi_count_open(&c);
    EXPECT(ptoi_count_spread(&c));
    const pid_t child = fork();
    if (child == 0) {
        ptoi_count_retain(&c);
        ptoi_count_release(&c);
        _exit(ptoi_count_close(&c) == 1 ? 7 : 8);
    }
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(ptoi_count_close(&c), 0);
    ptoi_count_free(&c);
}
