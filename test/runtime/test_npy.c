/* test_npy.c - NumPy files: what is read, what is refused and how, what is written; and numbers as text. */
#include "unit.h"

#include "shared/half.h"
#include "host/npy.h"
#include "host/print.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[64];
static struct npy_file file;
static struct host_error error;

static void put_bytes(const void *bytes, size_t count)
{
    snprintf(path, sizeof path, "/tmp/test_npy.%d", (int)getpid());
    FILE *out = fopen(path, "wb");
    EXPECT(out != NULL);
    EXPECT(fwrite(bytes, 1, count, out) == count);
    EXPECT(fclose(out) == 0);
}

/* A file of format version `major` with this text as header, and so many bytes of data: 1, 2, 3 ... */
static void put_npy(int major, const char *header, size_t data_bytes)
{
    unsigned char bytes[4096] = {0x93, 'N', 'U', 'M', 'P', 'Y', (unsigned char)major, 0};
    size_t length = strlen(header), at = 8;
    bytes[at++] = (unsigned char)(length & 0xff);
    bytes[at++] = (unsigned char)(length >> 8);
    if (major > 1) at += 2;
    memcpy(bytes + at, header, length);
    at += length;
    for (size_t i = 0; i < data_bytes; i++) bytes[at++] = (unsigned char)(i + 1);
    put_bytes(bytes, at);
}

static int open_as(PTOType type, int rank)
{
    int code = ptoi_npy_open(&file, path, "A", type, rank, &error);
    ptoi_npy_close(&file);
    unlink(path);
    return code;
}

static void refused(const char *header, size_t data_bytes, PTOType type, int rank, const char *why)
{
    put_npy(1, header, data_bytes);
    EXPECT_EQ(open_as(type, rank), HOST_FILE);
    if (!strstr(error.text, why)) print_message("'%s' is not in: %s\n", why, error.text);
    EXPECT(strstr(error.text, why) != NULL);
    EXPECT(strchr(error.text, '\n') == NULL);
}

static void accepted(int major, const char *header, size_t data_bytes, PTOType type, int rank)
{
    put_npy(major, header, data_bytes);
    int code = open_as(type, rank);
    if (code != HOST_OK) print_message("%s\n", error.text);
    EXPECT_EQ(code, HOST_OK);
}

TEST(a_plain_file_is_read)
{
    put_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }  \n", 6);
    EXPECT_EQ(ptoi_npy_open(&file, path, "A", PTO_U8, 2, &error), HOST_OK);
    EXPECT(file.array.shape[0] == 2 && file.array.shape[1] == 3);
    EXPECT_EQ(file.array.count, 6);
    EXPECT_EQ(ptoi_npy_read(&file, &error), HOST_OK);
    EXPECT_EQ((uintptr_t)file.array.data % 64, 0);
    EXPECT(memcmp(file.array.data, "\1\2\3\4\5\6", 6) == 0);
    array_free(&file.array);
    ptoi_npy_close(&file);
    unlink(path);
}

TEST(all_three_versions_and_any_order_of_keys)
{
    for (int major = 1; major <= 3; major++) {
        accepted(major, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PTO_F32, 1);
        accepted(major, "{\"shape\":(1,1),\"descr\":\"<f4\",\"fortran_order\":False}", 4, PTO_F32, 2);
    }
    accepted(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1L,), }\n", 4, PTO_F32, 1);
    put_npy(4, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4);
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
    EXPECT(strstr(error.text, "format version 4.0") != NULL);
    put_npy(0, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4);
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
}

TEST(every_element_type_has_its_name)
{
    static const struct {
        PTOType type;
        const char *descr;
        size_t bytes;
    } types[] = {
        {PTO_F16, "<f2", 2}, {PTO_BF16, "<u2", 2}, {PTO_F32, "<f4", 4},  {PTO_F64, "<f8", 8}, {PTO_I8, "|i1", 1},
        {PTO_I16, "<i2", 2}, {PTO_I32, "<i4", 4},  {PTO_I64, "<i8", 8},  {PTO_U8, "|u1", 1},  {PTO_U16, "<u2", 2},
        {PTO_U32, "<u4", 4}, {PTO_U64, "<u8", 8},  {PTO_BOOL, "|b1", 1},
    };
    char header[128];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        for (size_t j = 0; j < sizeof types / sizeof types[0]; j++) {
            snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n",
                     types[j].descr);
            put_npy(1, header, types[j].bytes);
            int expected = strcmp(types[i].descr, types[j].descr) == 0 ? HOST_OK : HOST_FILE;
            EXPECT_EQ(open_as(types[i].type, 1), expected);
        }
    accepted(1, "{'descr': '=f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PTO_F32, 1);
    accepted(1, "{'descr': '<i1', 'fortran_order': False, 'shape': (1,), }\n", 1, PTO_I8, 1);
}

TEST(no_extent_is_no_data)
{
    accepted(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n", 0, PTO_F32, 1);
    accepted(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 0, 4611686018427387904), }\n",
             0, PTO_F32, 3);
    put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }\n", 0);
    EXPECT_EQ(ptoi_npy_open(&file, path, "A", PTO_F32, 2, &error), HOST_OK);
    EXPECT_EQ(ptoi_npy_read(&file, &error), HOST_OK);
    EXPECT(file.array.data == NULL && file.array.bytes == 0);
    ptoi_npy_close(&file);
    unlink(path);
}

TEST(other_elements_are_refused)
{
    refused("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n", 8, PTO_F32, 1, "holds f64, 'A' is f32");
    refused("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PTO_F32, 1, "holds big-endian f32");
    refused("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }\n", 2, PTO_BF16, 1,
            "holds i16, 'A' is bf16, which a file has as u16");
    refused("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", 4, PTO_F32, 1, "'|O'");
    refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", 4, PTO_F32, 1,
            "simple element type");
    refused("{'descr': '<f4\\n', 'fortran_order': False, 'shape': (1,), }\n", 4, PTO_F32, 1, "simple element type");
}

TEST(other_shapes_are_refused)
{
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n", 4, PTO_F32, 1, "rank 2, rank 1 is needed");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", 4, PTO_F32, 1, "rank 0");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }\n", 4, PTO_F32, 8, "rank 10");
    refused("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 4), }\n", 16, PTO_F32, 2, "Fortran order");
    accepted(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (4,), }\n", 16, PTO_F32, 1);
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", 4, PTO_F32, 1, "negative");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }\n", 4, PTO_F32, 1, "64 bits");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }\n", 4, PTO_F32, 1,
            "overflows");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", 4, PTO_F32, 2,
            "overflows");
    refused("{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775807,), }\n", 4, PTO_U8, 1, "overflows");
}

TEST(more_or_less_data_than_the_shape_says_is_refused)
{
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 7, PTO_F32, 1,
            "truncated: it has 7 of 8 bytes");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n", 8, PTO_F32, 1, "truncated");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", 9, PTO_F32, 1, "1 bytes after its data");
    refused("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n", 4, PTO_F32, 1, "4 bytes after its data");
}

TEST(garbage_in_the_header_is_refused)
{
    static const char *const headers[] = {
        "",
        "\n",
        "{",
        "}",
        "{}",
        "{'descr'}",
        "{'descr': }",
        "[]",
        "garbage",
        "{'descr': '<f4', 'fortran_order': False}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x\n",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n",
        "{'descr': '<f4' 'shape': (1,)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}\n",
        "{'descr': '<f4, 'fortran_order': False}\n",
        "{'descr': \"<f4', 'fortran_order': False, 'shape': (1,)}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (nan,)}\n",
        "{,'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n",
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) refused(headers[i], 4, PTO_F32, 1, "the header of");
}

TEST(a_file_cut_anywhere_is_refused)
{
    char whole[256] = "\x93NUMPY\1\0\x40\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    memcpy(whole + 8, "\x40\0", 2);
    const char *dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }      \n";
    EXPECT_EQ(strlen(dict), 64);
    memcpy(whole + 10, dict, 64);
    for (size_t length = 0; length < 78; length++) {
        put_bytes(whole, length);
        EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
    }
    put_bytes(whole, 78);
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_OK);
}

TEST(any_changed_byte_gives_an_error_or_an_array_and_nothing_else)
{
    char whole[78] = "\x93NUMPY\1\0\x40\0";
    memcpy(whole + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }      \n", 64);
    for (size_t at = 0; at < 74; at++)
        for (int value = 0; value < 256; value += 5) {
            char kept = whole[at];
            whole[at] = (char)value;
            put_bytes(whole, sizeof whole);
            int code = open_as(PTO_F32, 1);
            EXPECT(code == HOST_OK || (code == HOST_FILE && error.text[0]));
            whole[at] = kept;
        }
}

TEST(what_is_no_file_is_refused_at_once)
{
    snprintf(path, sizeof path, "/tmp/test_npy.none.%d", (int)getpid());
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
    EXPECT(strstr(error.text, "No such file") != NULL);
    EXPECT_EQ(ptoi_npy_open(&file, "/tmp", "A", PTO_F32, 1, &error), HOST_FILE);
    EXPECT(strstr(error.text, "a directory") != NULL);
    EXPECT_EQ(mkfifo(path, 0600), 0);
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
    EXPECT(strstr(error.text, "a FIFO") != NULL);
    EXPECT_EQ(ptoi_npy_open(&file, "/dev/zero", "A", PTO_F32, 1, &error), HOST_FILE);
    EXPECT(strstr(error.text, "special") != NULL);
    put_bytes("GIF8 something else", 19);
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
    EXPECT(strstr(error.text, "wrong magic") != NULL);
    put_bytes("PK\3\4 something else", 19);
    EXPECT_EQ(open_as(PTO_F32, 1), HOST_FILE);
    EXPECT(strstr(error.text, "an archive ends in its directory") != NULL);
}

TEST(a_file_that_is_refused_is_closed)
{
    const int least = dup(0);
    close(least);
    EXPECT_EQ(ptoi_npy_open(&file, "/tmp", "A", PTO_F32, 1, &error), HOST_FILE);
    const int again = dup(0);
    EXPECT_EQ(again, least);
    close(again);
}

TEST(a_bool_is_0_or_1)
{
    put_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }\n", 2);
    EXPECT_EQ(ptoi_npy_open(&file, path, "A", PTO_BOOL, 1, &error), HOST_OK);
    EXPECT_EQ(ptoi_npy_read(&file, &error), HOST_FILE);
    EXPECT(strstr(error.text, "element 1 is 2, not a bool") != NULL);
    array_free(&file.array);
    ptoi_npy_close(&file);
    unlink(path);
}

static int write_npy(const char *to, const struct host_array *a, struct host_error *e)
{
    struct whole_file whole = {0};
    int code = ptoi_npy_write(&whole, to, a, e);
    if (code == HOST_OK && !ptoi_whole_rename(&whole)) code = HOST_FILE;
    ptoi_whole_drop(&whole);
    return code;
}

TEST(what_is_written_is_read_again_and_is_padded_to_64)
{
    float data[] = {1, -2, 3.5f, 4, 5, 6};
    int64_t shapes[][3] = {{6, 1, 1}, {2, 3, 1}, {1, 2, 3}};
    snprintf(path, sizeof path, "/tmp/test_npy.%d", (int)getpid());
    for (int rank = 1; rank <= 3; rank++) {
        struct host_array a = {.type = PTO_F32, .rank = rank, .data = data};
        memcpy(a.shape, shapes[rank - 1], sizeof shapes[0]);
        EXPECT(array_measure(&a));
        EXPECT_EQ(ptoi_npy_check_writable(path, &error), HOST_OK);
        EXPECT(access(path, F_OK) != 0);
        EXPECT_EQ(write_npy(path, &a, &error), HOST_OK);
        EXPECT_EQ(ptoi_npy_check_writable(path, &error), HOST_OK);
        EXPECT_EQ(ptoi_npy_open(&file, path, "A", PTO_F32, rank, &error), HOST_OK);
        EXPECT_EQ(file.data_at % 64, 0);
        EXPECT_EQ(ptoi_npy_read(&file, &error), HOST_OK);
        EXPECT(memcmp(file.array.data, data, sizeof data) == 0);
        EXPECT(memcmp(file.array.shape, a.shape, (size_t)rank * sizeof a.shape[0]) == 0);
        array_free(&file.array);
        ptoi_npy_close(&file);
        unlink(path);
    }
}

TEST(the_largest_header_fits)
{
    struct host_array a = {.type = PTO_F32, .rank = PTO_MAX_RANK};
    for (int d = 0; d < PTO_MAX_RANK; d++) a.shape[d] = d == 0 ? 0 : INT64_MAX;
    EXPECT(array_measure(&a));
    snprintf(path, sizeof path, "/tmp/test_npy.%d", (int)getpid());
    EXPECT_EQ(write_npy(path, &a, &error), HOST_OK);
    EXPECT_EQ(open_as(PTO_F32, PTO_MAX_RANK), HOST_OK);
}

TEST(places_that_cannot_be_written_are_errors)
{
    float one = 1;
    struct host_array a = {.type = PTO_F32, .rank = 1, .shape = {1}, .data = &one};
    EXPECT(array_measure(&a));
    EXPECT_EQ(ptoi_npy_check_writable("/tmp", &error), HOST_FILE);
    EXPECT_EQ(ptoi_npy_check_writable("/nowhere/at/all.npy", &error), HOST_FILE);
    EXPECT_EQ(ptoi_npy_check_writable("", &error), HOST_FILE);
    EXPECT_EQ(write_npy("/nowhere/at/all.npy", &a, &error), HOST_FILE);
    EXPECT_EQ(ptoi_npy_check_writable("/dev/full", &error), HOST_OK);
    EXPECT_EQ(write_npy("/dev/full", &a, &error), HOST_FILE);
    EXPECT(strstr(error.text, "No space left") != NULL);
    snprintf(path, sizeof path, "/tmp/test_npy.fifo.%d", (int)getpid());
    EXPECT_EQ(mkfifo(path, 0600), 0);
    EXPECT_EQ(ptoi_npy_check_writable(path, &error), HOST_FILE);
    EXPECT(strstr(error.text, "nobody reads it") != NULL);
    unlink(path);
}

TEST(a_message_is_one_line_whatever_the_file_is_called)
{
    EXPECT_EQ(ptoi_npy_open(&file, "/tmp/no\nsuch\tfile\x7f", "A", PTO_F32, 1, &error), HOST_FILE);
    EXPECT(strchr(error.text, '\n') == NULL && strchr(error.text, '\t') == NULL);
    char longer[3000];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    EXPECT_EQ(ptoi_npy_open(&file, longer, "A", PTO_F32, 1, &error), HOST_FILE);
    EXPECT(strlen(error.text) == sizeof error.text - 1);
}

TEST(sixteen_bit_floats_round_to_nearest_even)
{
    for (uint32_t half = 0; half < 65536; half++) { /* every one of them survives the way to f32 and back */
        float f = f32_of_f16((uint16_t)half), b = f32_of_bf16((uint16_t)half);
        EXPECT(isnan(f) ? isnan(f32_of_f16(f16_of_f32(f))) : f16_of_f32(f) == half);
        EXPECT(isnan(b) ? isnan(f32_of_bf16(bf16_of_f32(b))) : bf16_of_f32(b) == half);
    }
    EXPECT_EQ(f16_of_f32(1.0f), 0x3c00);
    EXPECT_EQ(f16_of_f32(2049.0f), f16_of_f32(2048.0f));
    EXPECT_EQ(f16_of_f32(2051.0f), f16_of_f32(2052.0f));
    EXPECT_EQ(f16_of_f32(65504.0f), 0x7bff);
    EXPECT_EQ(f16_of_f32(65519.0f), 0x7bff);
    EXPECT_EQ(f16_of_f32(65520.0f), 0x7c00);
    EXPECT_EQ(f16_of_f32(0x1p-25f), 0);
    EXPECT_EQ(f16_of_f32(0x1.8p-25f), 1);
    EXPECT_EQ(bf16_of_f32(1.0f), 0x3f80);
    EXPECT_EQ(bf16_of_f32(1.00390625f), 0x3f80);
    EXPECT_EQ(bf16_of_f32(3.4e38f), 0x7f80);
}

TEST(numbers_are_short_and_read_back)
{
    char text[PTO_NUMBER_TEXT];
    EXPECT_STR(pto_f64_text(0.1, text), "0.1");
    EXPECT_STR(pto_f64_text(1.0 / 3, text), "0.3333333333333333");
    EXPECT_STR(pto_f64_text(5e-324, text), "5e-324");
    EXPECT_STR(pto_f64_text(1e30, text), "1e+30");
    EXPECT_STR(pto_f64_text(-0.0, text), "-0");
    EXPECT_STR(pto_f64_text(-(double)NAN, text), "nan");
    EXPECT_STR(pto_f64_text(-(double)INFINITY, text), "-inf");
    EXPECT_STR(pto_f32_text(0.1f, text), "0.1");
    EXPECT_STR(pto_f32_text(16777216.0f, text), "16777216");
    EXPECT_STR(pto_f32_text(1e-45f, text), "1e-45");
    uint64_t x = 1;
    for (int i = 0; i < 20000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        double d;
        memcpy(&d, &x, sizeof d);
        float f = f32_of_bits((uint32_t)(x >> 32));
        EXPECT(isnan(d) || strtod(pto_f64_text(d, text), NULL) == d);
        EXPECT(isnan(f) || strtof(pto_f32_text(f, text), NULL) == f);
    }
}
