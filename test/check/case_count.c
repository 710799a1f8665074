/* case_count.c - counts of references (registry/count.h): each user writes a word of its own before it drops its
 * reference, and who drops the last one reads them all, once. */
#include "cases.h"
#include "registry/arrow.h"
#include "registry/count.h"
#include <pto/pto_registry.h>
#include <stdio.h>
#include <string.h>

enum { USERS = 2 };
static struct count counted;
static int64_t payload[USERS + 1]; /* plain: race.c looks */
static int destroyed;
/* W main behind its last look at the payload, R users, who stay until then: a thread that is alone is not watched. */
static _Atomic int over;
static int user[USERS] = {0, 1};

static void destroy(void)
{
    for (int i = 0; i <= USERS; i++) CHECK_THAT(payload[i] == 1);
    CHECK_THAT(++destroyed == 1);
}

static void finish(int64_t left)
{
    CHECK_THAT(left >= 0);
    if (left == 0) destroy();
}

static void open(int references)
{
    memset(payload, 0, sizeof payload);
    destroyed = 0;
    store_relaxed(&over, 0);
    ptoi_count_open(&counted);
    for (int i = 1; i < references; i++) ptoi_count_retain(&counted);
}

static void *use(void *arg)
{
    const int number = *(int *)arg;
    check_name("user");
    payload[number] = 1;
    finish(ptoi_count_release(&counted));
    ptoi_count_leave_thread();
    while (!load_relaxed(&over)) ptoi_yield();
    return NULL;
}

static void *use_twice(void *arg)
{
    check_name("user");
    ptoi_count_retain(&counted);
    CHECK_THAT(ptoi_count_release(&counted) > 0); /* nobody sees 0 while a reference is held */
    return use(arg);
}

static void run(void *(*body)(void *), int users, bool spreads_late)
{
    ptoi_thread t[USERS];
    for (int i = users; i < USERS; i++) payload[i] = 1;
    for (int i = 0; i < users; i++) ptoi_thread_start(&t[i], body, &user[i]);
    if (spreads_late) ptoi_count_spread(&counted);
    payload[USERS] = 1;
    finish(ptoi_count_close(&counted));
    store_relaxed(&over, 1);
    for (int i = 0; i < users; i++) ptoi_thread_join(t[i]);
    CHECK_THAT(destroyed == 1);
    ptoi_count_leave_thread();
    ptoi_count_free(&counted);
}

static void count_body(void)
{
    open(3);
    run(use_twice, 2, false);
}

static void count_spread_body(void)
{
    open(2);
    ptoi_count_spread(&counted);
    run(use_twice, 1, false);
}

static void count_enter_body(void)
{
    open(2);
    run(use_twice, 1, true);
}

/* ---- the levels of an array of Arrow, of which a consumer has moved the inner one elsewhere ---------------------- */

static struct ArrowArray outer, inner;

static void elements_are_free(void *context) { destroy(), (void)context; }

static void *release_inner(void *arg)
{
    check_name("user");
    payload[0] = 1;
    inner.release(&inner);
    while (!load_relaxed(&over)) ptoi_yield();
    return arg;
}

static void count_levels_body(void)
{
    static int64_t elements[2];
    ptoi_thread t;
    struct ArrowSchema schema;
    memset(payload, 0, sizeof payload);
    payload[1] = 1;
    destroyed = 0;
    store_relaxed(&over, 0);
    PTOTensor *tensor = pto_tensor_attach(&(PTOForeign){.address = elements,
                                                        .bytes = sizeof elements,
                                                        .type = PTO_I64,
                                                        .rank = 2,
                                                        .shape = (int64_t[]){1, 2},
                                                        .release = elements_are_free});
    CHECK_THAT(pto_tensor_to_arrow(tensor, &outer, &schema) == PTO_OK);
    schema.release(&schema);
    pto_tensor_release(tensor);
    inner = *outer.children[0];
    outer.children[0]->release = NULL;
    ptoi_thread_start(&t, release_inner, NULL);
    payload[USERS] = 1;
    outer.release(&outer);
    store_relaxed(&over, 1);
    ptoi_thread_join(t);
    CHECK_THAT(destroyed == 1);
}

/* ---- what lives is listed while a tensor is made ---- */

static void *make_tensor(void *arg)
{
    static int64_t element;
    check_name("maker");
    PTOTensor *const t = pto_tensor_attach(&(PTOForeign){
        .address = &element, .bytes = sizeof element, .type = PTO_I64, .rank = 1, .shape = (int64_t[]){1}});
    while (!load_relaxed(&over)) ptoi_yield();
    pto_tensor_release(t);
    return arg;
}

static void count_dump_body(void)
{
    ptoi_thread t;
    FILE *const nothing = fopen("/dev/null", "w");
    store_relaxed(&over, 0);
    ptoi_thread_start(&t, make_tensor, NULL);
    pto_registry_dump(nothing);
    store_relaxed(&over, 1);
    ptoi_thread_join(t);
    fclose(nothing);
}

#define COUNT(name_, about_)                                                                                           \
    const struct check_case check_case_##name_ = {                                                                     \
        .name = #name_, .about = about_, .body = name_##_body, .is_small = true, .preemptions = -1, .stale = -1};
COUNT(count, "word form: one of three destroys, after all that the others did")
COUNT(count_spread, "spread form: a slot's operations are counted once, and the closer sees what came before them")
COUNT(count_enter, "the spread form is entered beside operations on the word")
COUNT(count_levels, "the last release of an exported array sees all accesses before the releases of its other levels")
COUNT(count_dump, "a tensor that is listed was made before its fields are read")
