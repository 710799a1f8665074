/* test_heap.c - segments, chunks and chains, driven from one thread at the edges. */
#include "memory/heap.h"
#include "unit.h"
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct window *w;
    struct heap h;
    uint64_t at[4096]; /* by buffer - 1: where it starts */
};

static struct fixture make(uint64_t heap_bytes, uint64_t ring_bytes, int depths)
{
    struct window_sizes z = {.tasks = 4, .deps = 4, .heap_bytes = heap_bytes};
    struct fixture f;
    uint64_t bytes = ptoi_window_bytes(&z);
    f.w = aligned_alloc(64, bytes);
    memset(f.w, 0, bytes);
    ptoi_window_init(f.w, &z);
    assert_true(ptoi_heap_init(&f.h, f.w, ring_bytes, depths));
    return f;
}

static bool try_alloc(struct fixture *f, int32_t depth, uint64_t bytes, uint64_t *at)
{
    uint32_t b = ptoi_heap_try_alloc(&f->h, depth, bytes, at);
    if (b) f->at[b - 1] = *at;
    return b != 0;
}

static void drop(struct fixture *f)
{
    ptoi_heap_free(&f->h);
    free(f->w);
}

static void consume(struct fixture *f, uint64_t at) /* what the scheduler does */
{
    uint32_t number = 0; /* of the youngest buffer that starts there */
    for (uint32_t b = 1; b <= f->h.fresh_buffer; b++)
        if (f->at[b - 1] == at) number = b;
    f->at[number - 1] = UINT64_MAX;
    _Atomic uint32_t *c = window_consumed(f->w, *window_chunk(f->w, number));
    store_release(c, load_relaxed(c) + 1, CONSUMED);
}

TEST(h34_a_full_heap_never_hands_out_live_memory)
{
    struct fixture f = make(256, 256, 2);
    uint64_t at[4], more;
    for (int i = 0; i < 4; i++) {
        EXPECT(try_alloc(&f, 0, 64, &at[i]));
        for (int k = 0; k < i; k++) EXPECT(at[k] != at[i]);
    }
    EXPECT(!try_alloc(&f, 0, 1, &more));
    EXPECT(!try_alloc(&f, 1, 1, &more));
    consume(&f, at[2]);
    EXPECT(try_alloc(&f, 1, 64, &more));
    EXPECT_EQ(more, at[2]);
    EXPECT(ptoi_heap_is_valid(&f.h));
    drop(&f);
}

/* Each new buffer of a program that keeps all is a new maximum; a look at all chunks for each would make it
 * quadratic. */
TEST(a_program_that_keeps_everything_is_not_looked_at_whole_for_each_buffer)
{
    enum { BUFFERS = 4000, LOOKS_A_BUFFER = 9 };
    struct fixture f = make(4096 * 4096, 4096 * 4096, 1);
    const uint64_t size = f.w->segment_bytes;
    uint64_t at, looks = 0;
    for (int i = 0; i < BUFFERS && ptoi_heap_try_alloc(&f.h, 0, size, &at); i++)
        if (f.h.made_since_sweep == 0) looks += f.h.full_count + 1;
    EXPECT(looks > 0);
    EXPECT(looks <= LOOKS_A_BUFFER * (uint64_t)f.h.fresh_buffer);
    EXPECT_EQ(f.h.used_bytes_max, f.h.fresh_buffer * size);
    drop(&f);
}

TEST(what_a_deeper_scope_has_consumed_is_no_part_of_the_maximum)
{
    struct fixture f = make(4096, 4096, 8);
    uint64_t at;
    EXPECT(try_alloc(&f, 5, 64, &at));
    consume(&f, at);
    EXPECT(try_alloc(&f, 1, 64, &at));
    EXPECT_EQ(f.h.used_bytes_max, 64);
    drop(&f);
}

/* It is as if it had never been made: the chunk is empty when the others are consumed. */
TEST(the_newest_buffer_of_a_chunk_can_be_taken_back)
{
    struct fixture f = make(4096 * 64, 4096 * 64, 2);
    uint64_t first, second, third, again;
    const uint32_t one = ptoi_heap_try_alloc(&f.h, 1, 100, &first), two = ptoi_heap_try_alloc(&f.h, 1, 64, &second);
    f.at[one - 1] = first;
    EXPECT(!ptoi_heap_take_back(&f.h, one, 100));
    EXPECT_EQ(f.h.used_bytes, 192);
    EXPECT(ptoi_heap_take_back(&f.h, two, 64));
    EXPECT_EQ(f.h.used_bytes, 128);
    EXPECT_EQ(ptoi_heap_try_near(&f.h, 1, 64, &again), two);
    EXPECT_EQ(again, second);
    EXPECT(ptoi_heap_take_back(&f.h, two, 64));
    consume(&f, first);
    EXPECT(try_alloc(&f, 1, 64, &third));
    EXPECT_EQ(third, first);
    EXPECT_EQ(f.h.used_bytes, 64);
    EXPECT(ptoi_heap_is_valid(&f.h));
    drop(&f);
}

/* Else ptoi_heap_try_alloc decides: there is no chunk yet, it is full, or there would be a new maximum. */
TEST(a_buffer_is_laid_near_only_where_nothing_has_to_be_found)
{
    struct fixture f = make(4096 * 64, 4096 * 64, 2);
    const uint64_t size = f.w->segment_bytes;
    uint64_t at;
    EXPECT_EQ(ptoi_heap_try_near(&f.h, 1, 64, &at), 0);
    const uint32_t b = ptoi_heap_try_alloc(&f.h, 1, 64, &at);
    EXPECT_EQ(ptoi_heap_try_near(&f.h, 1, 64, &at), 0); /* a maximum */
    EXPECT(ptoi_heap_take_back(&f.h, b, 64));
    EXPECT_EQ(ptoi_heap_try_near(&f.h, 1, size + 1, &at), 0);
    EXPECT_EQ(ptoi_heap_try_near(&f.h, 1, 64, &at), b);
    EXPECT(ptoi_heap_is_valid(&f.h));
    drop(&f);
}

TEST(h35_an_empty_heap_takes_any_request_that_fits)
{
    struct fixture f = make(256, 256, 1);
    uint64_t at;
    for (uint64_t size = 1; size <= 256; size++) {
        EXPECT(try_alloc(&f, 0, 192, &at));
        consume(&f, at);
        EXPECT(try_alloc(&f, 0, size, &at));
        consume(&f, at);
    }
    ptoi_heap_sweep(&f.h);
    EXPECT_EQ(f.h.used_bytes, 0);
    drop(&f);
}

TEST(h28_a_long_lifetime_does_not_block_deeper_buffers)
{
    struct fixture f = make(4096, 1024, 8);
    uint64_t outer, at;
    EXPECT(try_alloc(&f, 0, 1000, &outer));
    for (int i = 0; i < 100000; i++) {
        EXPECT(try_alloc(&f, 1 + i % 7, 1 + (uint64_t)i % 1000, &at));
        EXPECT(at + 1 + (uint64_t)i % 1000 <= outer || at >= outer + 1000);
        consume(&f, at);
    }
    EXPECT(ptoi_heap_is_valid(&f.h));
    drop(&f);
}

TEST(depths_that_no_scope_reaches_are_never_touched)
{
    struct fixture f = make(1 << 16, 1 << 16, 1 << 21);
    uint64_t at;
    EXPECT_EQ(f.h.depths_ready, 0);
    EXPECT(ptoi_heap_try_alloc(&f.h, 3, 64, &at) != 0);
    EXPECT_EQ(f.h.depths_ready, 4);
    EXPECT(ptoi_heap_try_alloc(&f.h, INT32_MAX, 64, &at) != 0); /* deeper than there are: the deepest */
    EXPECT_EQ(f.h.depths_ready, 1 << 21);
    drop(&f);
}

TEST(a_small_buffer_in_the_place_of_a_large_one_leaves_the_rest_to_other_depths)
{
    struct fixture f = make(1344, 1344, 3);
    uint64_t large, small, inner, more;
    EXPECT(try_alloc(&f, 0, 1332, &large));
    consume(&f, large);
    EXPECT(try_alloc(&f, 0, 64, &small));
    EXPECT(try_alloc(&f, 1, 1000, &inner));
    EXPECT(inner >= small + 64 || inner + 1000 <= small);
    EXPECT(try_alloc(&f, 2, 256, &more));
    EXPECT(!try_alloc(&f, 0, 64, &large));
    consume(&f, inner);
    EXPECT(try_alloc(&f, 0, 900, &large)); /* its chain goes on elsewhere */
    consume(&f, large);
    EXPECT(try_alloc(&f, 0, 64, &inner)); /* and of what comes into this one after the other each holds back its own */
    EXPECT(try_alloc(&f, 0, 64, &large));
    consume(&f, large);
    EXPECT(try_alloc(&f, 1, 896, &large));
    EXPECT(ptoi_heap_is_valid(&f.h));
    drop(&f);
}

TEST(h37_a_request_larger_than_a_ring_is_known_at_once)
{
    struct fixture f = make(4 * 1024, 1024, 1);
    EXPECT(!ptoi_heap_is_too_large(&f.h, 1024));
    EXPECT(ptoi_heap_is_too_large(&f.h, 1025));
    EXPECT(ptoi_heap_is_too_large(&f.h, UINT64_MAX - 10));
    drop(&f);
}

TEST(buffers_of_random_lifetimes_never_overlap)
{
    enum { LIVE = 64 };
    struct fixture f = make(64 * 1024, 16 * 1024, 5);
    struct {
        uint64_t at, size;
    } live[LIVE];
    int count = 0;
    uint64_t seed = 42;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t r = seed >> 33, size = 1 + r % 3000, at;
        if (count < LIVE && try_alloc(&f, (int32_t)(r >> 12) % 5, size, &at)) {
            EXPECT_EQ(at % 64, 0);
            EXPECT(at + size <= 64 * 1024);
            for (int k = 0; k < count; k++) EXPECT(at + size <= live[k].at || at >= live[k].at + live[k].size);
            live[count].at = at;
            live[count++].size = size;
        }
        if (count > 0 && (r & 1)) {
            int k = (int)(r >> 16) % count;
            consume(&f, live[k].at);
            live[k] = live[--count];
        }
    }
    while (count > 0) consume(&f, live[--count].at);
    ptoi_heap_sweep(&f.h);
    EXPECT_EQ(f.h.used_bytes, 0);
    EXPECT(ptoi_heap_is_valid(&f.h));
    drop(&f);
}

/* Of the free runs that are long enough, the first of the shortest; segment by segment. */
static int64_t tightest(const struct heap *h, int64_t segments)
{
    const int64_t count = (int64_t)h->window->segment_count;
    int64_t best = -1, least = count + 1, run = 0;
    for (int64_t s = 0; s <= count; s++) {
        if (s < count && !(h->taken[s / 64] >> s % 64 & 1)) {
            run++;
            continue;
        }
        if (run >= segments && run < least) best = s - run, least = run;
        run = 0;
    }
    return best;
}

TEST(a_small_heap_finds_the_tightest_free_run)
{
    enum { SEGMENTS = 1000 };
    struct fixture f = make(SEGMENTS * PTO_GRANULE, SEGMENTS * PTO_GRANULE, 1);
    uint64_t live[SEGMENTS], seed = 7, at;
    int count = 0, found = 0;
    EXPECT_EQ(f.w->segment_count, SEGMENTS);
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t r = seed >> 33;
        const int64_t segments = r % 8 == 0 ? 1 + (int64_t)(r >> 8) % 200 : 1 + (int64_t)(r >> 8) % 6;
        ptoi_heap_sweep(&f.h);
        const int64_t want = tightest(&f.h, segments);
        const bool is_made = try_alloc(&f, 0, (uint64_t)segments * PTO_GRANULE, &at);
        EXPECT_EQ(is_made, want >= 0);
        if (is_made) EXPECT_EQ(at, (uint64_t)want * PTO_GRANULE);
        if (is_made) live[count++] = at, found++;
        for (int k = 0; count > 0 && (!is_made || r & 1) && k < 2; k++) {
            const int which = (int)((r >> 16) % (uint64_t)count);
            consume(&f, live[which]);
            live[which] = live[--count];
        }
    }
    EXPECT(found > 5000);
    drop(&f);
}

TEST(the_counters_of_a_chunk_may_wrap)
{
    struct fixture f = make(256, 256, 1);
    uint64_t at;
    store_release(window_consumed(f.w, 0), UINT32_MAX - 3, CONSUMED);
    for (int i = 0; i < 10; i++) {
        EXPECT(try_alloc(&f, 0, 256, &at));
        uint64_t none;
        EXPECT(!try_alloc(&f, 0, 64, &none));
        consume(&f, at);
    }
    drop(&f);
}

/* ---- compaction ---- */

enum { PIECES = 64 };

/* What lives, by address; `bytes` of it are set. */
static uint32_t pieces_of(const struct fixture *f, const uint64_t *bytes, struct heap_piece *piece)
{
    uint32_t count = 0;
    for (uint64_t at = 0; at < f->w->heap_bytes; at += 64)
        for (uint32_t b = 1; b <= f->h.fresh_buffer; b++)
            if (f->at[b - 1] == at)
                piece[count++] = (struct heap_piece){.buffer = b, .from = at, .bytes = bytes[b - 1]};
    return count;
}

static void put(struct fixture *f, const struct heap_piece *piece, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) f->at[piece[i].buffer - 1] = piece[i].to;
}

TEST(live_buffers_are_compacted_and_free_space_is_one_piece)
{
    struct fixture f = make(256, 256, 2);
    uint64_t at[4], bytes[4] = {64, 64, 64, 64}, more;
    struct heap_piece piece[4];
    for (int i = 0; i < 4; i++) EXPECT(try_alloc(&f, 0, 64, &at[i]));
    consume(&f, at[0]);
    consume(&f, at[2]);
    EXPECT(!try_alloc(&f, 1, 128, &more));
    uint32_t count = pieces_of(&f, bytes, piece);
    EXPECT_EQ(count, 2);
    EXPECT(!ptoi_heap_compact(&f.h, piece, count, 1, 129));
    EXPECT(ptoi_heap_compact(&f.h, piece, count, 1, 128));
    EXPECT_EQ(piece[0].to, 0);
    EXPECT_EQ(piece[1].to, 64);
    EXPECT(ptoi_heap_is_valid(&f.h));
    put(&f, piece, count);
    EXPECT(try_alloc(&f, 1, 128, &more));
    EXPECT_EQ(more, 128);
    consume(&f, 0);
    EXPECT(try_alloc(&f, 0, 64, &more));
    EXPECT_EQ(more, 0);
    drop(&f);
}

TEST(while_something_is_in_flight_nothing_is_compacted)
{
    struct fixture f = make(256, 256, 2);
    uint64_t at[4], bytes[4] = {64, 64, 64, 64};
    struct heap_piece piece[4];
    for (int i = 0; i < 4; i++) EXPECT(try_alloc(&f, 0, 64, &at[i]));
    consume(&f, at[0]);
    consume(&f, at[2]);
    const uint32_t count = pieces_of(&f, bytes, piece);
    EXPECT(!ptoi_heap_compact(&f.h, piece, 1, 1, 64)); /* one more lives */
    EXPECT(!ptoi_heap_compact(&f.h, piece, count, 1, 192));
    EXPECT(ptoi_heap_is_valid(&f.h));
    EXPECT(ptoi_heap_compact(&f.h, piece, count, 1, 128));
    drop(&f);
}

/* Scopes that hold little share segments: at any depth no more is taken than twice what lives, and a constant. */
TEST(nested_scopes_take_no_more_than_twice_what_they_hold)
{
    enum { DEPTH = 4000, HEAP = 64 * 1024 * 1024 };
    for (uint64_t size = 64; size <= HEAP / 64; size = size * 3 / 128 * 64 + 64) {
        struct fixture f = make(HEAP, HEAP, DEPTH + 1);
        uint64_t held = 0, taken = 0, at;
        for (int d = 0; d < DEPTH && 3 * held < f.w->heap_bytes; d++) {
            EXPECT(try_alloc(&f, d, size, &at));
            held += size;
        }
        for (uint64_t s = 0; s < f.w->segment_count; s++)
            taken += (f.h.taken[s / 64] >> (s % 64) & 1) * f.w->segment_bytes;
        EXPECT(taken <= 2 * held + 2 * f.w->segment_bytes);
        EXPECT(ptoi_heap_is_valid(&f.h));
        drop(&f);
    }
}

/* What comes and goes in a deeper scope is held back by a segment of a shallower one at most. */
TEST(a_loop_in_a_scope_that_shares_has_a_chunk_of_its_own_in_the_end)
{
    struct fixture f = make(1024 * 1024, 1024 * 1024, 3);
    uint64_t at;
    EXPECT(try_alloc(&f, 0, 64, &at));
    for (int i = 0; i < 10000; i++) {
        EXPECT(try_alloc(&f, 2, 64, &at));
        consume(&f, at);
    }
    EXPECT(f.h.used_bytes <= 2 * f.w->segment_bytes);
    drop(&f);
}

/* Where a segment is more than a granule, too, all that is free can be had in one piece. */
static void compact_at_random(uint64_t heap_bytes, uint64_t seed)
{
    struct fixture f = make(heap_bytes, heap_bytes, 5);
    const uint64_t capacity = f.w->heap_bytes;
    static uint64_t bytes[4096];
    struct heap_piece piece[PIECES];
    uint64_t held = 0;
    uint32_t count = 0, compacted = 0;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t r = seed >> 33, size = 64 * (1 + r % (capacity / 64 / 3)), at_most = capacity - held;
        if (size <= at_most && count < PIECES && r % 5 != 0) {
            uint64_t at;
            const int32_t depth = (int32_t)(r >> 12) % 5;
            if (!try_alloc(&f, depth, size, &at)) {
                EXPECT_EQ(pieces_of(&f, bytes, piece), count);
                EXPECT(ptoi_heap_compact(&f.h, piece, count, depth, size));
                EXPECT(ptoi_heap_is_valid(&f.h));
                for (uint32_t k = 0; k < count; k++) {
                    EXPECT(piece[k].to <= piece[k].from);
                    EXPECT(k == 0 || piece[k].to >= piece[k - 1].to + piece[k - 1].bytes);
                }
                put(&f, piece, count);
                EXPECT(try_alloc(&f, depth, size, &at));
                compacted++;
            }
            for (uint32_t b = 1; b <= f.h.fresh_buffer; b++)
                if (f.at[b - 1] == at) bytes[b - 1] = size;
            held += size;
            count++;
        } else if (count > 0) {
            const uint32_t all = pieces_of(&f, bytes, piece), which = (uint32_t)(r >> 20) % all;
            held -= piece[which].bytes;
            count--;
            consume(&f, piece[which].from);
        }
    }
    EXPECT(compacted > 100);
    drop(&f);
}

TEST(what_is_free_can_be_had_in_one_piece)
{
    compact_at_random(4096, 1);
    compact_at_random(64 * 1024, 2);
    compact_at_random(128 * 1024, 3);
    compact_at_random(200 * 1024 + 64, 4);
}

/* Seed rule: recursion below the last ring puts dead buffers behind live ones.  Here every depth has its own chain. */
TEST(p9_dead_space_behind_live_buffers_is_bounded_at_any_depth)
{
    enum { DEPTH = 40 };
    struct fixture f = make(16 * 1024, 4096, DEPTH + 1);
    uint64_t kept[DEPTH], at;
    for (int d = 0; d < DEPTH; d++) {
        for (int i = 0; i < 1000; i++) { /* work that comes and goes at this depth */
            EXPECT(try_alloc(&f, d, 64, &at));
            consume(&f, at);
        }
        EXPECT(try_alloc(&f, d, 64, &kept[d]));
    }
    EXPECT(f.h.used_bytes <= DEPTH * f.w->segment_bytes);
    drop(&f);
}
