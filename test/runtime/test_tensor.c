/* test_tensor.c - tensors are made, counted, described, copied, and leave; nothing lives at the end. */
#include "tensors.h"
#include <pthread.h>
#include <pto/pto_runtime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(a_new_tensor_is_row_major_and_aligned)
{
    PTOTensor *t = pto_tensor_new(NULL, PTO_F32, 3, SHAPE(2, 3, 5));
    const PTODescription d = describe(t);
    EXPECT_EQ(d.type, PTO_F32);
    EXPECT_EQ(d.rank, 3);
    EXPECT_EQ(d.shape[2], 5);
    EXPECT_EQ(d.strides[0], 15);
    EXPECT_EQ(d.strides[1], 5);
    EXPECT_EQ(d.strides[2], 1);
    EXPECT(d.buffer > 0);
    EXPECT_EQ(d.references, 1);
    EXPECT_EQ(d.tensors, 1);
    EXPECT_EQ(d.pins, 0);
    EXPECT_EQ(d.flags, 0);
    EXPECT_EQ((uintptr_t)address_of(t) % 64, 0);
    pto_tensor_release(t);
}

TEST(a_scalar_has_one_element_and_an_empty_tensor_no_buffer)
{
    PTOTensor *s = numbers(0, NULL);
    EXPECT_EQ(element(s, NULL), 0);
    pto_tensor_release(s);
    PTOTensor *e = pto_tensor_new(NULL, PTO_I64, 2, SHAPE(3, 0));
    EXPECT_EQ(describe(e).buffer, 0);
    EXPECT(pto_tensor_map(e, PTO_READ_WRITE) != NULL);
    pto_tensor_unmap(e);
    PTOTensor *views[] = {pto_tensor_slice(e, 0, 1, 2, 1),
                          pto_tensor_transpose(e, NULL),
                          pto_tensor_copy(e),
                          pto_tensor_detach(e),
                          pto_tensor_share(e),
                          pto_tensor_reshape(e, 1, SHAPE(0))};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        EXPECT(views[i] != NULL);
        pto_tensor_release(views[i]);
    }
    PTODetached out;
    EXPECT_EQ(pto_tensor_take(&e, &out), PTO_OK);
    EXPECT(!out.address && !out.release && !e);
}

static void refused(PTOTensor *t, PTOStatus status)
{
    EXPECT(t == NULL);
    EXPECT_EQ(pto_last_status(), status);
    EXPECT(strlen(pto_last_error(NULL)) > 10);
}

TEST(impossible_tensors_are_refused)
{
    refused(pto_tensor_new(NULL, PTO_TYPE_COUNT, 1, SHAPE(3)), PTO_ERR_ARGUMENT);
    refused(pto_tensor_new(NULL, PTO_I8, 9, SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 1)), PTO_ERR_ARGUMENT);
    refused(pto_tensor_new(NULL, PTO_I8, -1, SHAPE(1)), PTO_ERR_ARGUMENT);
    refused(pto_tensor_new(NULL, PTO_I8, 1, NULL), PTO_ERR_ARGUMENT);
    refused(pto_tensor_new(NULL, PTO_I8, 1, SHAPE(-1)), PTO_ERR_ARGUMENT);
    refused(pto_tensor_new(NULL, PTO_I64, 2, SHAPE(INT64_MAX / 4, 8)), PTO_ERR_OVERFLOW);
    refused(pto_tensor_new(NULL, PTO_I64, 1, SHAPE(INT64_MAX / 8)), PTO_ERR_NOMEM);
    PTOTensor *e = pto_tensor_new(NULL, PTO_I64, 3, SHAPE(INT64_MAX, 0, INT64_MAX)); /* no elements: that exists */
    EXPECT(e != NULL);
    pto_tensor_release(e);
}

TEST(null_is_misuse_or_ignored)
{
    PTODescription d;
    PTODetached out;
    PTOTensor *none = NULL;
    pto_tensor_release(NULL);
    pto_tensor_unspread(NULL);
    pto_tensor_spread(NULL);
    EXPECT(pto_tensor_retain(NULL) == NULL);
    refused(pto_tensor_share(NULL), PTO_ERR_MISUSE);
    refused(pto_tensor_slice(NULL, 0, 0, 1, 1), PTO_ERR_MISUSE);
    refused(pto_tensor_attach(NULL), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_tensor_describe(NULL, &d), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_tensor_take(&none, &out), PTO_ERR_MISUSE);
    EXPECT_EQ(pto_tensor_writable(NULL), PTO_ERR_MISUSE);
}

TEST(a_handle_that_was_released_is_misuse)
{
    PTOTensor *t = numbers(1, SHAPE(3));
    pto_tensor_release(t);
    EXPECT(pto_tensor_share(t) == NULL);
    EXPECT_EQ(pto_last_status(), PTO_ERR_MISUSE);
}

TEST(one_release_too_many_ends_the_program_with_the_tensor_in_words)
{
    int pipe_of[2];
    EXPECT_EQ(pipe(pipe_of), 0);
    const pid_t child = fork();
    if (child == 0) {
        PTOTensor *t = numbers(2, SHAPE(2, 3));
        dup2(pipe_of[1], 2);
        signal(SIGABRT, SIG_DFL);
        pto_tensor_release(t);
        pto_tensor_release(t);
        _exit(0);
    }
    close(pipe_of[1]);
    char text[300] = {0};
    ssize_t got = 0, more;
    while ((more = read(pipe_of[0], text + got, sizeof text - 1 - (size_t)got)) > 0) got += more;
    close(pipe_of[0]);
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT(WIFSIGNALED(status));
    EXPECT(strstr(text, "i64[2, 3]") && strstr(text, "was released more often than retained"));
}

TEST(writable_keeps_what_is_unique_and_copies_what_is_shared) /* K5 */
{
    PTOTensor *t = numbers(1, SHAPE(4)), *same = t;
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t == same);
    PTOTensor *other = pto_tensor_share(t);
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t != same);
    EXPECT(describe(t).buffer != describe(other).buffer);
    set_first(t, 77);
    EXPECT_EQ(element(other, NULL), 0);
    pto_tensor_release(other);
    PTOTensor *twice = pto_tensor_retain(t); /* a second handle is a second holder */
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t != twice);
    pto_tensor_release(twice);
    PTOTensor *detached = pto_tensor_detach(t); /* shares the block */
    same = t;
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t != same);
    EXPECT_EQ(element(detached, NULL), 77);
    pto_tensor_release(detached);
    pto_tensor_spread(t); /* never unique */
    same = t;
    pto_tensor_retain(t);
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t != same);
    pto_tensor_release(t);
    pto_tensor_unspread(same);
}

TEST(writable_copies_attached_memory_that_its_owner_sees)
{
    int64_t data[4] = {0};
    PTOForeign f = {.address = data, .bytes = sizeof data, .type = PTO_I64, .rank = 1, .shape = SHAPE(4)};
    PTOTensor *t = pto_tensor_attach(&f), *again = pto_tensor_attach(&f), *same = t;
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t != same && address_of(t) != data);
    set_first(t, 77);
    EXPECT_EQ(element(again, NULL), 0);
    pto_tensor_release(again);
    pto_tensor_release(t);
    f.flags = PTO_MAY_MOVE; /* nobody keeps the address */
    same = t = pto_tensor_attach(&f);
    EXPECT_EQ(pto_tensor_writable(&t), PTO_OK);
    EXPECT(t == same);
    pto_tensor_release(t);
}

TEST(take_hands_the_memory_out_or_a_copy) /* K17: with its size and its release function */
{
    PTOTensor *t = numbers(1, SHAPE(4));
    void *at = address_of(t);
    PTODetached out;
    EXPECT_EQ(pto_tensor_take(&t, &out), PTO_OK);
    EXPECT(t == NULL && out.address == at);
    EXPECT_EQ(out.bytes, 32);
    EXPECT_EQ(((int64_t *)out.address)[3], 3);
    out.release(out.context);

    t = numbers(2, SHAPE(4, 4));
    PTOTensor *row = pto_tensor_index(t, 0, 2); /* a part of its memory, and shared */
    EXPECT_EQ(pto_tensor_take(&row, &out), PTO_OK);
    EXPECT_EQ(out.bytes, 32);
    EXPECT_EQ(((int64_t *)out.address)[0], 8);
    out.release(out.context);

    struct owned o = own(6);
    const PTOForeign f = foreign(&o, 6, 1, SHAPE(6));
    PTOTensor *a = pto_tensor_attach(&f);
    EXPECT_EQ(pto_tensor_take(&a, &out), PTO_OK);
    EXPECT(out.address == o.data && out.release == release_owned && out.context == &o);
    EXPECT_EQ(o.released, 0);
    out.release(out.context);
    EXPECT_EQ(o.released, 1);
    pto_tensor_release(t);
}

TEST(copy_and_dense)
{
    PTOTensor *t = numbers(2, SHAPE(3, 4)), *u = pto_tensor_transpose(t, NULL);
    PTOTensor *c = pto_tensor_copy(u), *d = pto_tensor_dense(t), *e = pto_tensor_dense(u);
    EXPECT(d == t);
    EXPECT(describe(c).buffer != describe(t).buffer && describe(e).buffer != describe(t).buffer);
    EXPECT_EQ(describe(c).strides[0], 3);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 3; j++) {
            EXPECT_EQ(element(c, SHAPE(i, j)), j * 4 + i);
            EXPECT_EQ(element(e, SHAPE(i, j)), j * 4 + i);
        }
    PTOTensor *all[] = {t, u, c, d, e};
    for (int i = 0; i < 5; i++) pto_tensor_release(all[i]);
}

static void *hold_and_release(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        PTOTensor *mine = pto_tensor_retain(arg), *view = pto_tensor_slice(mine, 0, 0, 1, 1);
        if (!view) return arg;
        pto_tensor_release(mine);
        pto_tensor_release(view);
    }
    pto_tensor_release(arg);
    return NULL;
}

TEST(many_threads_hold_one_tensor_in_both_forms)
{
    for (int spread = 0; spread < 2; spread++) {
        pthread_t threads[4];
        PTOTensor *t = numbers(1, SHAPE(3));
        if (spread) pto_tensor_spread(t);
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, hold_and_release, pto_tensor_retain(t));
        pto_tensor_unspread(t);
        for (int i = 0; i < 4; i++) {
            void *failed;
            pthread_join(threads[i], &failed);
            EXPECT(failed == NULL);
        }
    }
    EXPECT_EQ(living(), 0);
}

TEST(a_forked_child_may_release)
{
    struct owned o = own(3);
    const PTOForeign f = foreign(&o, 3, 1, SHAPE(3));
    PTOTensor *t = pto_tensor_attach(&f), *u = numbers(1, SHAPE(9));
    const pid_t child = fork();
    if (child == 0) {
        pto_tensor_release(t);
        pto_tensor_release(u);
        _exit(o.released == 1 && living() == 0 ? 7 : 8);
    }
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(o.released, 0);
    pto_tensor_release(t);
    pto_tensor_release(u);
    EXPECT_EQ(o.released, 1);
}

TEST(a_checked_process_that_ends_with_tensors_alive_lists_them)
{
    for (int checked = 0; checked < 2; checked++) {
        int pipe_of[2];
        char text[300] = {0};
        EXPECT_EQ(pipe(pipe_of), 0);
        const pid_t child = fork();
        if (child == 0) {
            const PTOConfig c = {.engine = PTO_ENGINE_SERIAL, .checked = checked};
            dup2(pipe_of[1], 2);
            pto_runtime_destroy(pto_runtime_create(&c, NULL));
            numbers(1, SHAPE(7));
            exit(0);
        }
        close(pipe_of[1]);
        ssize_t got = 0, more; /* stderr comes in pieces */
        while ((more = read(pipe_of[0], text + got, sizeof text - 1 - (size_t)got)) > 0) got += more;
        close(pipe_of[0]);
        EXPECT_EQ(waitpid(child, NULL, 0), child);
        EXPECT_EQ(strncmp(text, "Registry: 1 tensor\n  i64[7] 56 bytes", 36) == 0, checked);
    }
}

TEST(the_dump_lists_each_tensor_with_its_references)
{
    PTOTensor *t = numbers(2, SHAPE(2, 3)), *row = pto_tensor_index(t, 0, 1);
    pto_tensor_retain(row);
    EXPECT(pto_tensor_map(t, PTO_READ) != NULL);
    char *text = NULL, line[200];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    pto_registry_dump(out);
    fclose(out);
    EXPECT(strncmp(text, "Registry: 2 tensors\n", 20) == 0);
    snprintf(line, sizeof line, "  i64[3] 24 bytes, 2 references; buffer %llu with 2 references, 1 pin; made at ",
             (unsigned long long)describe(t).buffer);
    EXPECT(strstr(text, line) != NULL);
    EXPECT(strstr(text, "test_tensor(") != NULL);                                /* the object, for addr2line */
    EXPECT(strstr(text, "  i64[2, 3] 48 bytes, 2 references; buffer ") != NULL); /* one is the map's */
    free(text);
    pto_tensor_unmap(t);
    pto_tensor_release(row);
    pto_tensor_release(row);
    pto_tensor_release(t);
    EXPECT_EQ(living(), 0);
}
