/* test_tensormap_entries.c - the entries of the map: their room, what gives it back, and which are forgotten. */
#include "tensormap_unit.h"

TEST(a_bad_size_makes_no_map)
{
    EXPECT(ptoi_map_create(0, 4, 4) == NULL && ptoi_map_create(-1, 4, 4) == NULL);
    EXPECT(ptoi_map_create(4, 3, 4) == NULL && ptoi_map_create(4, 0, 4) == NULL && ptoi_map_create(4, 4, 0) == NULL);
    ptoi_map_destroy(NULL);
}

TEST(h12_a_full_pool_says_so_and_loses_nothing)
{
    struct tensormap *m = map_of(4);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 1000);
    EXPECT(ptoi_map_capacity(m) == 4 && ptoi_map_reserve(m, 4) && !ptoi_map_reserve(m, 5));
    for (uint64_t k = 0; k < 4; k++) add(m, &b, bytes_of((int64_t)k * 10, 10), ACCESS_WRITE, k);
    EXPECT(!ptoi_map_reserve(m, 1) && ptoi_map_used(m) == 4);
    EXPECT(find(m, &b, bytes_of(0, 1000), ACCESS_READ) == 4);
    ptoi_map_retire(m, 0);
    EXPECT(!ptoi_map_reserve(m, 1));
    ptoi_map_retire(m, 2);
    EXPECT(ptoi_map_reserve(m, 2) && !ptoi_map_reserve(m, 3) && ptoi_map_used(m) == 2);
    EXPECT(find(m, &b, bytes_of(0, 1000), ACCESS_READ) == 2 && is_found(2) && is_found(3));
    ptoi_map_retire(m, 1000);
    EXPECT(find(m, &b, bytes_of(0, 1000), ACCESS_WRITE) == 0 && ptoi_map_used(m) == 0 && ptoi_map_is_valid(m));
    ptoi_map_destroy(m);
}

TEST(a_write_replaces_what_it_contains_but_not_the_task_s_own_accesses)
{
    struct tensormap *m = map_of(64);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 1000);
    for (uint64_t k = 0; k < 20; k++) { /* one region again and again: one reader and one writer stay */
        add(m, &b, bytes_of(0, 100), ACCESS_READ, k);
        add(m, &b, bytes_of(0, 100), ACCESS_WRITE, k);
        EXPECT(b.entries == 2);
    }
    EXPECT(find(m, &b, bytes_of(0, 100), ACCESS_WRITE) == 1 && is_found(19));
    add(m, &b, bytes_of(50, 100), ACCESS_WRITE, 20); /* overlaps, does not contain */
    EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_READ) == 2);
    add(m, &b, bytes_of(0, 1000), ACCESS_WRITE, 21);
    EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_READ) == 1 && is_found(21) && b.entries == 1);
    EXPECT(ptoi_map_used(m) == 42); /* the ring gives places back in order */
    ptoi_map_retire(m, 21);
    EXPECT(ptoi_map_used(m) == 1 && ptoi_map_is_valid(m));
    ptoi_map_destroy(m);
}

TEST(a_closed_buffer_is_forgotten_while_its_places_stay_taken)
{
    struct tensormap *m = map_of(8);
    struct map_buffer a = {0}, b = {0};
    ptoi_map_open(m, &a, 1000, 2000);
    add(m, &a, bytes_of(1000, 1000), ACCESS_WRITE, 1);
    add(m, &a, bytes_of(1500, 100), ACCESS_READ, 2);
    ptoi_map_close(m, &a);
    EXPECT(ptoi_map_used(m) == 2 && ptoi_map_is_valid(m));
    ptoi_map_open(m, &b, 1000, 2000); /* the same bytes, another lifetime */
    EXPECT(find(m, &b, bytes_of(1000, 1000), ACCESS_WRITE) == 0);
    add(m, &b, bytes_of(1000, 1000), ACCESS_WRITE, 3);
    ptoi_map_retire(m, 3);
    EXPECT(ptoi_map_used(m) == 1 && find(m, &b, bytes_of(1000, 1), ACCESS_READ) == 1);
    ptoi_map_destroy(m);
}

/* A submit that fails after it has looked: the next task gets the same number. */
TEST(a_task_that_is_forgotten_is_found_by_nobody)
{
    struct tensormap *m = map_of(16);
    struct map_buffer b = {0};
    const struct region r = bytes_of(0, 100);
    struct map_access a[2] = {{.buffer = &b, .region = &r, .access = ACCESS_UPDATE},
                              {.buffer = &b, .region = &r, .access = ACCESS_READ}};
    ptoi_map_open(m, &b, 0, 200);
    add(m, &b, bytes_of(100, 100), ACCESS_WRITE, 7);
    for (int times = 0; times < 2; times++) {
        ptoi_map_begin(m, &found);
        ptoi_map_find_and_add(m, a, 2, NULL, 8, &found);
        EXPECT(found.count == 0 && b.entries == 3 && ptoi_map_is_valid(m)); /* nor by itself */
        ptoi_map_forget_task(m, 8);
        EXPECT(b.entries == 1 && ptoi_map_is_valid(m));
    }
    EXPECT(find(m, &b, bytes_of(0, 200), ACCESS_WRITE) == 1 && is_found(7));
    ptoi_map_retire(m, 9);
    EXPECT(ptoi_map_used(m) == 0);
    ptoi_map_destroy(m);
}

/* A plain task writes its accesses into the ring of entries, where they lie side by side. */
TEST(accesses_are_written_in_place_up_to_the_end_of_the_ring)
{
    struct tensormap *m = map_of(4);
    struct map_buffer b = {0};
    ptoi_map_open(m, &b, 0, 200);
    for (uint64_t task = 1; task < 9; task++) {
        EXPECT(ptoi_map_reserve(m, 2));
        struct map_entry *const e = ptoi_map_place(m, 2);
        EXPECT((e != NULL) == (task % 2 == 1)); /* one more has been added by then */
        if (e) {
            for (int k = 0; k < 2; k++) {
                e[k].buffer = &b;
                e[k].region = bytes_of(100 * k, 100);
                e[k].access = ACCESS_UPDATE;
            }
            found.count = 0;
            ptoi_map_take_in_place(m, e, e + 2, NULL, task, &found);
            EXPECT(found.count == (task > 1) && (task == 1 || is_found(task - 1)));
            ptoi_map_retire(m, task);
        } else {
            add(m, &b, bytes_of(0, 200), ACCESS_WRITE, task);
            add(m, &b, bytes_of(0, 200), ACCESS_WRITE, task);
            ptoi_map_retire(m, task);
        }
        EXPECT(ptoi_map_is_valid(m));
    }
    ptoi_map_retire(m, 9);
    EXPECT(ptoi_map_used(m) == 0);
    ptoi_map_destroy(m);
}

/* A write that contains all that a cell has takes the whole chain at once; else the chain is walked. */
TEST(a_write_takes_what_begins_where_it_begins_and_no_more)
{
    struct tensormap *m = map_of(32);
    struct map_buffer b = {0};
    const struct region all = bytes_of(0, 100), tile = box_of(64, 0, 0, 4, 8);
    ptoi_map_open(m, &b, 0, 200);
    add(m, &b, all, ACCESS_WRITE, 1);
    add(m, &b, bytes_of(0, 60), ACCESS_READ, 2);
    add(m, &b, bytes_of(50, 10), ACCESS_READ, 3);
    struct map_access a[2] = {{.buffer = &b, .region = &all, .access = ACCESS_READ},
                              {.buffer = &b, .region = &all, .access = ACCESS_UPDATE}};
    ptoi_map_begin(m, &found);
    ptoi_map_find_and_add(m, a, 2, NULL, 4, &found);
    EXPECT(found.count == 3 && is_found(1) && is_found(2) && is_found(3));
    EXPECT(b.entries == 2 && ptoi_map_is_valid(m)); /* its own two are left */
    struct map_buffer matrix = {0};
    ptoi_map_open(m, &matrix, MATRIX, MATRIX + 64 * 64 * 4);
    add(m, &matrix, tile, ACCESS_WRITE, 5);
    add(m, &matrix, tile, ACCESS_READ, 6);
    struct map_access update = {.buffer = &matrix, .region = &tile, .access = ACCESS_UPDATE};
    ptoi_map_begin(m, &found);
    ptoi_map_find_and_add(m, &update, 1, NULL, 7, &found);
    EXPECT(found.count == 2 && is_found(5) && is_found(6));
    EXPECT(matrix.entries == 1 && ptoi_map_is_valid(m));
    struct region wider = box_of(64, 0, 0, 4, 16);
    add(m, &matrix, tile, ACCESS_READ, 8);
    EXPECT(find(m, &matrix, wider, ACCESS_WRITE) == 2 && is_found(7) && is_found(8));
    ptoi_map_destroy(m);
}

/* Also of a task that never comes, so no task retires. */
TEST(the_entries_of_a_forgotten_task_are_room_again)
{
    struct tensormap *m = map_of(2);
    struct map_buffer b = {0};
    const struct region low = bytes_of(0, 100), high = bytes_of(100, 100);
    struct map_access a[2] = {{.buffer = &b, .region = &low, .access = ACCESS_UPDATE},
                              {.buffer = &b, .region = &high, .access = ACCESS_READ}};
    ptoi_map_open(m, &b, 0, 200);
    for (int times = 0; times < 3; times++) {
        ptoi_map_begin(m, &found);
        EXPECT(ptoi_map_reserve(m, 2));
        ptoi_map_find_and_add(m, a, 2, NULL, 8, &found);
        EXPECT(!ptoi_map_reserve(m, 1));
        ptoi_map_forget_task(m, 8);
        EXPECT(ptoi_map_used(m) == 0 && ptoi_map_is_valid(m));
    }
    ptoi_map_destroy(m);
}

/* An entry that is forgotten out of order stays in its chain until somebody passes: that must cost nobody twice. */
TEST(what_was_forgotten_is_passed_once)
{
    struct tensormap *m = ptoi_map_create(4096, 4096, 4);
    struct map_buffer b = {0};
    EXPECT(m != NULL);
    for (uint64_t k = 0; k < 3000; k++) { /* lifetimes of one buffer at one address, that no lookup passes */
        ptoi_map_open(m, &b, 4096, 8192);
        struct region r = bytes_of(4096, 4096);
        ptoi_map_add(m, &b, &r, ACCESS_UPDATE, NULL, k);
    }
    EXPECT(ptoi_map_longest_chain(m) == 3000);
    EXPECT(find(m, &b, bytes_of(4096, 4096), ACCESS_READ) == 1 && is_found(2999));
    EXPECT(ptoi_map_longest_chain(m) == 1 && ptoi_map_used(m) == 3000 && ptoi_map_is_valid(m));
    ptoi_map_retire(m, 3000);
    EXPECT(ptoi_map_used(m) == 0 && b.entries == 0 && b.all == 0);
    ptoi_map_destroy(m);
}
