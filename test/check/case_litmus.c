/* case_litmus.c - what the checker itself must find: of small programs that everybody knows, exactly the outcomes that
 * C11 allows. */
#include "cases.h"
#include <string.h>

static _Atomic uint32_t x, y, z;
static uint32_t r[4];
static bool seen[256];

static void clear(void) { memset(seen, 0, sizeof seen); }

static void begin(void)
{
    store_relaxed(&x, 0);
    store_relaxed(&y, 0);
    store_relaxed(&z, 0);
    memset(r, 0, sizeof r);
}

static void end(void) { seen[r[0] | r[1] << 2 | r[2] << 4 | r[3] << 6] = true; }

/* Outcomes as four digits: "1020" is r[0] = 1, r[1] = 0, r[2] = 2, r[3] = 0. */
static void expect(const char *const *outcome, int count)
{
    bool wanted[256] = {false};
    for (int i = 0; i < count; i++) {
        unsigned n = 0;
        for (int d = 0; d < 4; d++) n |= (unsigned)(outcome[i][d] - '0') << 2 * d;
        wanted[n] = true;
    }
    for (unsigned i = 0; i < 256; i++)
        if (seen[i] != wanted[i])
            check_fail("the outcome %u%u%u%u is %s", i & 3, i >> 2 & 3, i >> 4 & 3, i >> 6,
                       seen[i] ? "forbidden, and was found" : "allowed, and was not found");
}

/* LITMUS(name, about, threads, outcomes): threads is a list of functions. */
#define LITMUS(name_, about_, threads_, ...)                                                                           \
    static void name_##_body(void)                                                                                     \
    {                                                                                                                  \
        void *(*const body[])(void *) = {threads_};                                                                    \
        ptoi_thread t[4];                                                                                              \
        const int n = (int)(sizeof body / sizeof *body);                                                               \
        begin();                                                                                                       \
        for (int i = 0; i < n; i++) ptoi_thread_start(&t[i], body[i], NULL);                                           \
        for (int i = 0; i < n; i++) ptoi_thread_join(t[i]);                                                            \
        end();                                                                                                         \
    }                                                                                                                  \
    static void name_##_after(bool is_whole)                                                                           \
    {                                                                                                                  \
        static const char *const outcomes[] = {__VA_ARGS__};                                                           \
        if (is_whole) expect(outcomes, (int)(sizeof outcomes / sizeof *outcomes));                                     \
    }                                                                                                                  \
    const struct check_case check_case_##name_ = {.name = #name_,                                                      \
                                                  .about = about_,                                                     \
                                                  .body = name_##_body,                                                \
                                                  .before = clear,                                                     \
                                                  .after = name_##_after,                                              \
                                                  .is_small = true,                                                    \
                                                  .preemptions = -1,                                                   \
                                                  .stale = -1};
#define THREAD(name_, ...)                                                                                             \
    static void *name_(void *arg)                                                                                      \
    {                                                                                                                  \
        (void)arg;                                                                                                     \
        __VA_ARGS__                                                                                                    \
        return NULL;                                                                                                   \
    }
#define AND ,

THREAD(mp_write, store_relaxed(&x, 1); store_release(&y, 1, LITMUS);)
THREAD(mp_read, r[0] = load_acquire(&y, LITMUS); r[1] = load_relaxed(&x);)
LITMUS(message_passing, "store x, release y | acquire y, load x", mp_write AND mp_read, "0000", "0100", "1100")

THREAD(mp_write_relaxed, store_relaxed(&x, 1); store_relaxed(&y, 1);)
LITMUS(message_passing_relaxed, "the same without release", mp_write_relaxed AND mp_read, "0000", "0100", "1000",
       "1100")

THREAD(sb_left, store_release(&x, 1, LITMUS); r[0] = load_acquire(&y, LITMUS);)
THREAD(sb_right, store_release(&y, 1, LITMUS); r[1] = load_acquire(&x, LITMUS);)
LITMUS(store_buffering, "store x, load y | store y, load x", sb_left AND sb_right, "0000", "1000", "0100", "1100")

THREAD(sb_left_seq, store_seq(&x, 1, LITMUS); r[0] = load_seq(&y, LITMUS);)
THREAD(sb_right_seq, store_seq(&y, 1, LITMUS); r[1] = load_seq(&x, LITMUS);)
LITMUS(store_buffering_seq, "the same, sequentially consistent", sb_left_seq AND sb_right_seq, "1000", "0100", "1100")

THREAD(write_x, store_release(&x, 1, LITMUS);)
THREAD(write_y, store_release(&y, 1, LITMUS);)
THREAD(read_xy, r[0] = load_acquire(&x, LITMUS); r[1] = load_acquire(&y, LITMUS);)
THREAD(read_yx, r[2] = load_acquire(&y, LITMUS); r[3] = load_acquire(&x, LITMUS);)
LITMUS(iriw, "independent reads of independent writes", write_x AND write_y AND read_xy AND read_yx, "0000", "0001",
       "0010", "0011", "0100", "0101", "0110", "0111", "1000", "1001", "1010", "1011", "1100", "1101", "1110", "1111")

THREAD(write_x_seq, store_seq(&x, 1, LITMUS);)
THREAD(write_y_seq, store_seq(&y, 1, LITMUS);)
THREAD(read_xy_seq, r[0] = load_seq(&x, LITMUS); r[1] = load_seq(&y, LITMUS);)
THREAD(read_yx_seq, r[2] = load_seq(&y, LITMUS); r[3] = load_seq(&x, LITMUS);)
LITMUS(iriw_seq, "the same, sequentially consistent", write_x_seq AND write_y_seq AND read_xy_seq AND read_yx_seq,
       "0000", "0001", "0010", "0011", "0100", "0101", "0110", "0111", "1000", "1001", "1011", "1100", "1101", "1110",
       "1111")

THREAD(rs_write, store_relaxed(&x, 1); store_release(&y, 1, LITMUS);)
THREAD(rs_modify, add_relaxed(&y, 1);)
THREAD(rs_read, r[0] = load_acquire(&y, LITMUS); r[1] = load_relaxed(&x);)
LITMUS(release_sequence, "a relaxed read-modify-write goes on with a release", rs_write AND rs_modify AND rs_read,
       "0000", "0100", "1000", "1100", "2100")

THREAD(rs_break, uint32_t seen_y = load_relaxed(&y); if (seen_y == 1) store_relaxed(&y, 2);)
LITMUS(release_sequence_broken, "a relaxed store of another thread does not", rs_write AND rs_break AND rs_read, "0000",
       "0100", "1100", "2000", "2100")

THREAD(co_write, store_relaxed(&x, 1); store_relaxed(&x, 2);)
THREAD(co_read, r[0] = load_relaxed(&x); r[1] = load_relaxed(&x);)
LITMUS(coherence, "two loads of one word never go back", co_write AND co_read, "0000", "0100", "0200", "1100", "1200",
       "2200")

THREAD(rmw_left, r[0] = add_relaxed(&x, 1);)
THREAD(rmw_right, r[1] = add_relaxed(&x, 1);)
LITMUS(read_modify_write, "two additions are two", rmw_left AND rmw_right, "0100", "1000")

THREAD(wr_write, store_relaxed(&x, 1);)
THREAD(wr_pass, r[0] = load_relaxed(&x); store_release(&y, 1, LITMUS);)
THREAD(wr_read, r[1] = load_acquire(&y, LITMUS); r[2] = load_relaxed(&x);)
LITMUS(write_to_read, "what was read before a release is not unread after the acquire",
       wr_write AND wr_pass AND wr_read, "0000", "0010", "0100", "0110", "1000", "1010", "1110")

THREAD(ce_left, uint32_t old = 0; r[0] = swap_if_acquire(&x, &old, 1, LITMUS); r[1] = old;)
THREAD(ce_right, uint32_t old = 0; r[2] = swap_if_acquire(&x, &old, 2, LITMUS); r[3] = old;)
LITMUS(compare_exchange, "one of two wins", ce_left AND ce_right, "1001", "0210")
