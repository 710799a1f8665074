/* test_bind.c - dimension variables from arrays, made data, and the comparison with the oracle. */
#include "unit.h"

#include "host/bind.h"
#include "host/compare.h"
#include "host/fill.h"
#include "shared/half.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Each formal has rank 1; what its extent is is said by `kind`, over dimension variables N and M. */
enum kind {
    IS_N,
    IS_M,
    N_PLUS_2,
    TWO_N_PLUS_M,
    N_MINUS_M,
    SEVEN_MINUS_N,
    N_TIMES_N,
    HALF_N,
    MIN_N_100,
    HUNDRED_BY_N,
    SEVEN,
    HUGE_N
};

static enum kind kinds[4];
static PTOFormal formals[4];
static struct bind_formal arrays[4];
static int64_t dims[2];
static int32_t origin[2];
static PTOEntry entry;
static const PTOCall call = {.dims = dims};
static struct binding b;
static struct host_error error;

static bool extent(int32_t formal, int32_t dim, const PTOCall *call, int64_t *value)
{
    const int64_t *const d = call->dims;
    (void)dim;
    switch (kinds[formal]) {
    case IS_N: *value = d[0]; return true;
    case IS_M: *value = d[1]; return true;
    case N_PLUS_2: return !__builtin_add_overflow(d[0], 2, value);
    case TWO_N_PLUS_M: return !__builtin_mul_overflow(d[0], 2, value) && !__builtin_add_overflow(*value, d[1], value);
    case N_MINUS_M: return !__builtin_sub_overflow(d[0], d[1], value);
    case SEVEN_MINUS_N: return !__builtin_sub_overflow(7, d[0], value);
    case N_TIMES_N: return !__builtin_mul_overflow(d[0], d[0], value);
    case HALF_N: *value = d[0] / 2; return true;
    case MIN_N_100: *value = d[0] < 100 ? d[0] : 100; return true;
    case HUNDRED_BY_N:
        if (d[0] == 0) return false;
        *value = 100 / d[0];
        return true;
    case SEVEN: *value = 7; return true;
    case HUGE_N: return !__builtin_mul_overflow(d[0], INT64_C(1) << 60, value);
    }
    return false;
}

static const int32_t exact_n[] = {0}, exact_m[] = {1}, exact_none[] = {-1};
static const uint64_t uses_0[] = {0}, uses_n[] = {1}, uses_m[] = {2}, uses_both[] = {3};

static void start(int count)
{
    static const char *const names[] = {"N", "M"};
    entry = (PTOEntry){
        .name = "e", .dims = names, .dim_count = 2, .formals = formals, .formal_count = count, .extent = extent};
    b = (struct binding){.entry = &entry, .formals = arrays, .dims = dims, .origin = origin, .call = &call};
    memset(arrays, 0, sizeof arrays);
    origin[0] = origin[1] = BIND_NOTHING;
    dims[0] = dims[1] = 0;
}

/* have < 0: no file says the shape. */
static void formal(int f, const char *name, enum kind kind, int64_t have)
{
    bool both = kind == TWO_N_PLUS_M || kind == N_MINUS_M;
    kinds[f] = kind;
    formals[f] = (PTOFormal){.name = name,
                             .direction = PTO_IN,
                             .type = PTO_F32,
                             .rank = 1,
                             .text = "f32[...]",
                             .exact = kind == IS_N   ? exact_n
                                      : kind == IS_M ? exact_m
                                                     : exact_none,
                             .uses = both            ? uses_both
                                     : kind == IS_M  ? uses_m
                                     : kind == SEVEN ? uses_0
                                                     : uses_n};
    arrays[f] = (struct bind_formal){.array = {.type = PTO_F32, .rank = 1, .shape = {have}}, .given = have >= 0};
}

static void bind_m(int64_t value)
{
    dims[1] = value;
    origin[1] = BIND_OPTION;
}

static void expect_failure(int code, const char *why)
{
    int got = ptoi_bind(&b, &error);
    if (got != code || !strstr(error.text, why)) print_message("code %d, '%s' is not in: %s\n", got, why, error.text);
    EXPECT_EQ(got, code);
    EXPECT(strstr(error.text, why) != NULL);
}

TEST(an_extent_that_is_the_variable_binds_it)
{
    start(3);
    formal(0, "A", IS_N, 5);
    formal(1, "B", IS_M, 0);
    formal(2, "C", N_PLUS_2, -1);
    EXPECT_EQ(ptoi_bind(&b, &error), HOST_OK);
    EXPECT(dims[0] == 5 && dims[1] == 0);
    EXPECT_EQ(arrays[2].array.shape[0], 7); /* no file: the shape follows */
    EXPECT_EQ(arrays[2].array.bytes, 28);
}

TEST(exact_extents_come_before_solved_ones)
{
    start(2);
    formal(0, "A", N_PLUS_2, 12);
    formal(1, "B", IS_N, 9);
    bind_m(0);
    expect_failure(HOST_FILE, "'A' is f32[12], but extent 0 (of f32[...]) is 11 with 'B' f32[9], which makes 'N' 9");
}

TEST(a_linear_extent_is_solved_exactly)
{
    start(1);
    formal(0, "A", N_PLUS_2, 12);
    bind_m(0);
    EXPECT_EQ(ptoi_bind(&b, &error), HOST_OK);
    EXPECT_EQ(dims[0], 10);
    start(1);
    formal(0, "A", SEVEN_MINUS_N, 3);
    bind_m(0);
    EXPECT_EQ(ptoi_bind(&b, &error), HOST_OK);
    EXPECT_EQ(dims[0], 4);
    start(1);
    formal(0, "A", N_PLUS_2, 2);
    bind_m(0);
    EXPECT_EQ(ptoi_bind(&b, &error), HOST_OK);
    EXPECT_EQ(dims[0], 0);
}

TEST(one_solution_opens_the_way_to_the_next)
{
    start(3);
    formal(0, "A", TWO_N_PLUS_M, 25); /* two open variables: not yet */
    formal(1, "B", N_PLUS_2, 12);
    formal(2, "C", SEVEN, 7);
    EXPECT_EQ(ptoi_bind(&b, &error), HOST_OK);
    EXPECT(dims[0] == 10 && dims[1] == 5);
}

TEST(no_solution_is_an_error_of_the_array)
{
    start(1);
    formal(0, "A", N_PLUS_2, 1);
    bind_m(0);
    expect_failure(HOST_FILE, "does not bind 'N', it would make it -1");
    start(2);
    formal(0, "A", TWO_N_PLUS_M, 8);
    formal(1, "B", IS_M, 3);
    expect_failure(HOST_FILE, "does not bind 'N', it is no extent for any integer");
}

TEST(what_is_not_linear_is_never_guessed)
{
    static const enum kind curved[] = {N_TIMES_N, HALF_N, MIN_N_100, HUNDRED_BY_N, SEVEN};
    static const int64_t have[] = {16, 5, 100, 10, 7};
    for (int i = 0; i < 5; i++) {
        start(1);
        formal(0, "A", curved[i], have[i]);
        bind_m(0);
        expect_failure(HOST_USAGE, "give --dim N=N");
    }
}

TEST(what_is_not_linear_is_checked_when_bound_elsewhere)
{
    start(2);
    formal(0, "A", N_TIMES_N, 16);
    formal(1, "B", IS_N, 4);
    bind_m(0);
    EXPECT_EQ(ptoi_bind(&b, &error), HOST_OK);
    arrays[0].array.shape[0] = 17;
    origin[0] = BIND_NOTHING;
    expect_failure(HOST_FILE, "'A' is f32[17], but extent 0 (of f32[...]) is 16 with 'B' f32[4]");
}

TEST(disagreements_name_both)
{
    start(2);
    formal(0, "A", IS_N, 4);
    formal(1, "B", IS_N, 5);
    bind_m(0);
    expect_failure(HOST_FILE, "'B' is f32[5], but extent 0 (of f32[...]) is 4 with 'A' f32[4], which makes 'N' 4");
    start(1);
    formal(0, "A", IS_M, 4);
    bind_m(6);
    dims[0] = 0;
    origin[0] = BIND_OPTION;
    expect_failure(HOST_FILE, "is 6 with --dim M=6");
    start(1);
    formal(0, "A", SEVEN, 8);
    bind_m(0);
    origin[0] = BIND_OPTION;
    expect_failure(HOST_FILE, "'A' is f32[8], but extent 0 (of f32[...]) is 7, not 8");
}

TEST(nothing_to_bind_from_is_an_error_that_names_the_variable)
{
    start(1);
    formal(0, "A", IS_N, -1);
    bind_m(0);
    expect_failure(HOST_USAGE, "nothing binds 'N', an extent of 'A' (f32[...]); give --dim N=NUMBER");
}

TEST(negative_and_overflowing_extents_are_errors)
{
    start(1);
    formal(0, "A", N_MINUS_M, -1);
    bind_m(6);
    dims[0] = 4;
    origin[0] = BIND_OPTION;
    expect_failure(HOST_USAGE, "negative: -2");
    start(1);
    formal(0, "A", HUGE_N, -1);
    bind_m(0);
    dims[0] = 64;
    origin[0] = BIND_OPTION;
    expect_failure(HOST_USAGE, "overflows or divides by zero");
    dims[0] = 4;
    expect_failure(HOST_USAGE, "the size of 'A' overflows");
    start(1);
    formal(0, "A", HUNDRED_BY_N, -1);
    bind_m(0);
    origin[0] = BIND_OPTION;
    expect_failure(HOST_USAGE, "overflows or divides by zero");
}

static struct host_array made(PTOType type, int64_t count, const char *spec, const char *name)
{
    struct host_array a = {.type = type, .rank = 1, .shape = {count}};
    struct fill_spec fill;
    EXPECT(array_measure(&a) && array_allocate(&a, false));
    EXPECT(ptoi_fill_parse(spec, &fill) && fill.kind != FILL_NONE);
    ptoi_fill(&a, &fill, name);
    return a;
}

TEST(made_data_is_what_it_is_called)
{
    struct host_array a = made(PTO_F64, 3, "zeros", "A");
    EXPECT(memcmp(a.data, (double[]){0, 0, 0}, 24) == 0);
    array_free(&a);
    a = made(PTO_F32, 3, "ones", "A");
    EXPECT(memcmp(a.data, (float[]){1, 1, 1}, 12) == 0);
    array_free(&a);
    a = made(PTO_I64, 3, "iota", "A");
    EXPECT(memcmp(a.data, (int64_t[]){0, 1, 2}, 24) == 0);
    array_free(&a);
    a = made(PTO_I8, 300, "iota", "A");
    EXPECT(((int8_t *)a.data)[127] == 127 && ((int8_t *)a.data)[128] == -128 && ((int8_t *)a.data)[256] == 0);
    array_free(&a);
    a = made(PTO_F16, 3, "iota", "A");
    EXPECT(memcmp(a.data, (uint16_t[]){0, 0x3c00, 0x4000}, 6) == 0);
    array_free(&a);
    a = made(PTO_BF16, 2, "ones", "A");
    EXPECT(memcmp(a.data, (uint16_t[]){0x3f80, 0x3f80}, 4) == 0);
    array_free(&a);
    a = made(PTO_BOOL, 4, "iota", "A");
    EXPECT(memcmp(a.data, "\0\1\0\1", 4) == 0);
    array_free(&a);
    a = made(PTO_F32, 0, "random", "A");
    EXPECT(a.data == NULL);
}

TEST(random_data_is_the_same_again_and_differs_by_name_and_seed)
{
    struct host_array a = made(PTO_F32, 1000, "random", "A"), again = made(PTO_F32, 1000, "random:0", "A");
    struct host_array other = made(PTO_F32, 1000, "random", "B"), seeded = made(PTO_F32, 1000, "random:1", "A");
    EXPECT(memcmp(a.data, again.data, 4000) == 0);
    EXPECT(memcmp(a.data, other.data, 4000) != 0);
    EXPECT(memcmp(a.data, seeded.data, 4000) != 0);
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        float v = ((float *)a.data)[i];
        EXPECT(v >= -1 && v < 1);
        sum += (double)v;
    }
    EXPECT(fabs(sum) < 100);
    array_free(&a), array_free(&again), array_free(&other), array_free(&seeded);
    a = made(PTO_BOOL, 100, "random", "A");
    for (int i = 0; i < 100; i++) EXPECT(((uint8_t *)a.data)[i] <= 1);
    array_free(&a);
}

TEST(words_that_are_no_made_data_are_files)
{
    struct fill_spec fill;
    EXPECT(ptoi_fill_parse("a.npy", &fill) && fill.kind == FILL_NONE);
    EXPECT(ptoi_fill_parse("zeroes", &fill) && fill.kind == FILL_NONE);
    EXPECT(ptoi_fill_parse("randomly", &fill) && fill.kind == FILL_NONE);
    EXPECT(!ptoi_fill_parse("random:", &fill));
    EXPECT(!ptoi_fill_parse("random:1.5", &fill));
}

TEST(the_first_differing_element_is_named)
{
    float x[6] = {0, 1, 2, 3, 4, 5}, y[6] = {0, 1, 2, 3, 4, 5};
    char text[256];
    struct host_array a = {.type = PTO_F32, .rank = 2, .shape = {2, 3}, .data = x}, o = a;
    EXPECT(array_measure(&a) && array_measure(&o));
    o.data = y;
    EXPECT(ptoi_compare("C", &a, &o, text, sizeof text));
    x[0] = y[0] = NAN;
    EXPECT(ptoi_compare("C", &a, &o, text, sizeof text)); /* the same NaN */
    y[4] = 4.5f;
    EXPECT(!ptoi_compare("C", &a, &o, text, sizeof text));
    EXPECT_STR(text, "C[1, 1] is 4, the serial engine made 4.5");
    x[4] = f32_of_bits(0x7fc00000);
    y[4] = f32_of_bits(0x7fc00001);
    EXPECT(!ptoi_compare("C", &a, &o, text, sizeof text));
    EXPECT_STR(text, "C[1, 1] is 0x7fc00000, the serial engine made 0x7fc00001");
    x[4] = 0.0f;
    y[4] = -0.0f;
    EXPECT(!ptoi_compare("C", &a, &o, text, sizeof text));
}

TEST(a_difference_far_behind_is_found)
{
    struct host_array a = made(PTO_U8, 10000, "zeros", "A"), o = made(PTO_U8, 10000, "zeros", "A");
    char text[256];
    for (int at = 0; at < 10000; at += 1111) {
        memset(a.data, 0, 10000);
        ((uint8_t *)a.data)[at] = 1;
        EXPECT(!ptoi_compare("A", &a, &o, text, sizeof text));
        char expected[64];
        snprintf(expected, sizeof expected, "A[%d] is 1, the serial engine made 0", at);
        EXPECT_STR(text, expected);
    }
    array_free(&a), array_free(&o);
}

/* Both arrays end where memory ends, and their last bytes differ. */
TEST(nothing_past_the_arrays_is_compared)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory[2], text[256];
    for (int k = 0; k < 2; k++) {
        memory[k] = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(memory[k], MAP_FAILED);
        assert_int_equal(mprotect(memory[k] + 2 * page, page, PROT_NONE), 0);
    }
    memory[0][2 * page - 1] = 1;
    for (int64_t bytes = 4097; bytes < 4097 + 150; bytes++) {
        struct host_array a = {.type = PTO_U8, .rank = 1, .shape = {bytes}}, o = a;
        EXPECT(array_measure(&a) && array_measure(&o));
        a.data = memory[0] + 2 * page - bytes;
        o.data = memory[1] + 2 * page - bytes;
        EXPECT(!ptoi_compare("A", &a, &o, text, sizeof text));
    }
    for (int k = 0; k < 2; k++) munmap(memory[k], 3 * page);
}
