/* stress_soak.c - mixed load in one process: runs on every engine, failures, cancels, misuse, trims, creates and
 * destroys, several runtimes at once, programs that are loaded and unloaded, traces that are written.  Results are
 * those of program order, and memory, descriptors, threads and child processes are flat.
 * Method     several clients, each a thread with runtimes of its own, work until a phase ends; then everything is
 *            destroyed, and what the process still holds is compared with what it held after the first phase.
 * PTO_SOAK_SECONDS=N lasts N seconds (default 6; an hour is what a release is checked with), PTO_SEED=S begins
 * elsewhere. */
#include "graph_fuzz.h"
#include "pages.h"
#include "shared/sanitizer.h"
#include "submit.h"
#include "unit.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

/* The thread sanitizer does not follow threads of a child that was forked by a process with threads, and the address
 * sanitizer may leave its allocator locked in one. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define HAS_CHILDREN 0
#else
#define HAS_CHILDREN 1
#endif

enum { CLIENTS = 3, PROGRAMS = 64, KEPT = 2, PHASES = 6, LENGTH = 64, GROWTH_KIB = 2048 };

/* What program order leaves. */
static struct reference {
    int tasks;
    uint64_t digest;
} reference[PROGRAMS];
static float loaded_reference[LENGTH];

static _Atomic long compared_runs, compared_arrays, wrong, failed_runs, cancelled_runs, misused_runs, creates, loads,
    trims, traces, forks;
static _Atomic bool is_over;

struct client {
    int number;
    uint64_t seed;
    uint64_t *matrix[2];
    float *x, *y, *z; /* LENGTH each */
    PTORuntime *kept[KEPT];
    PTOEngine engine[KEPT];
    pthread_t thread;
};

static void complain(const char *what, PTORuntime *rt)
{
    if (atomic_fetch_add(&wrong, 1) < 20) fprintf(stderr, "%s: %s\n", what, pto_last_error(rt));
}

/* ---- runtimes ---- */

static const PTOEngine engines[] = {PTO_ENGINE_THREADS, PTO_ENGINE_THREADS, PTO_ENGINE_THREADS,
                                    PTO_ENGINE_SERIAL,  PTO_ENGINE_SERIAL,  PTO_ENGINE_TIMING};

static PTORuntime *create(struct client *c, int i)
{
    PTOConfig config = fuzz_config(&c->seed);
    const bool forks_now = HAS_CHILDREN && fuzz_below(&c->seed, 24) == 0;
    c->engine[i] = forks_now ? PTO_ENGINE_PROCESS : engines[fuzz_below(&c->seed, 6)];
    config.engine = c->engine[i];
    config.always_defer = fuzz_below(&c->seed, 2);
    config.record_tasks = fuzz_below(&c->seed, 16) == 0 ? 256 : 0;
    config.dedicated_scheduler = config.engine == PTO_ENGINE_THREADS && fuzz_below(&c->seed, 8) == 0;
    config.watchdog_seconds = fuzz_below(&c->seed, 8) == 0 ? 120 : 0;
    PTORuntime *rt = pto_runtime_create(&config, NULL);
    if (!rt) complain("create", NULL);
    atomic_fetch_add(&creates, 1);
    if (config.engine == PTO_ENGINE_PROCESS) atomic_fetch_add(&forks, 1);
    return rt;
}

static PTORuntime *choose(struct client *c, int *i)
{
    *i = (int)fuzz_below(&c->seed, KEPT);
    if (c->kept[*i] && fuzz_below(&c->seed, 12) == 0) {
        pto_runtime_destroy(c->kept[*i]);
        c->kept[*i] = NULL;
    }
    if (!c->kept[*i]) c->kept[*i] = create(c, *i);
    return c->kept[*i];
}

/* ---- what a client does ---- */

static bool is_right(const struct fuzz_program *p, const struct reference *r) { return fuzz_digest(p) == r->digest; }

static struct fuzz_program program_of(struct client *c, int n)
{
    struct fuzz_program p = {
        .seed = (uint64_t)n + 1, .tasks = reference[n].tasks, .matrix = {c->matrix[0], c->matrix[1]}};
    fuzz_reset(&p);
    return p;
}

static void run_and_compare(struct client *c)
{
    int i;
    const int n = (int)fuzz_below(&c->seed, PROGRAMS);
    PTORuntime *rt = choose(c, &i);
    if (!rt) return;
    struct fuzz_program p = program_of(c, n);
    if (pto_runtime_run(rt, fuzz_orchestrate, &p) != PTO_OK)
        complain("a run", rt);
    else if (!is_right(&p, &reference[n]))
        complain("a wrong result", rt);
    atomic_fetch_add(&compared_runs, 1);
    atomic_fetch_add(&compared_arrays, 2);
}

static int k_fail(const PTOArg *a) { return (int)a[1].value.i64; }
static const PTOKernel failing = {.name = "failing", .worker = PTO_WORKER_VECTOR, .fn = k_fail};

static void fails_somewhere(PTORuntime *rt, void *arg)
{
    struct fuzz_program *p = arg;
    fuzz_orchestrate(rt, p);
    SUBMIT(rt, &failing, PTO_INOUT(p->matrix[0], 0, 8), PTO_SCALAR((int64_t)3));
    fuzz_orchestrate(rt, p);
}

static void run_and_fail(struct client *c)
{
    int i;
    PTORuntime *rt = choose(c, &i);
    if (!rt) return;
    struct fuzz_program p = program_of(c, (int)fuzz_below(&c->seed, PROGRAMS));
    if (pto_runtime_run(rt, fails_somewhere, &p) != PTO_ERR_KERNEL) complain("a run that fails", rt);
    atomic_fetch_add(&failed_runs, 1);
}

struct interference {
    PTORuntime *rt;
    useconds_t after;
};

static void *cancel_later(void *arg)
{
    const struct interference *i = arg;
    usleep(i->after);
    pto_cancel(i->rt);
    return NULL;
}

static void run_and_cancel(struct client *c)
{
    int i;
    const int n = (int)fuzz_below(&c->seed, PROGRAMS);
    PTORuntime *rt = choose(c, &i);
    pthread_t thread;
    struct interference interference = {rt, (useconds_t)fuzz_below(&c->seed, 1000)};
    if (!rt || pthread_create(&thread, NULL, cancel_later, &interference) != 0) return;
    struct fuzz_program p = program_of(c, n);
    const PTOStatus status = pto_runtime_run(rt, fuzz_orchestrate, &p);
    if (status != PTO_OK && status != PTO_ERR_CANCELLED) complain("a run that is cancelled", rt);
    if (status == PTO_OK && !is_right(&p, &reference[n])) complain("a wrong result beside a cancel", rt);
    pthread_join(thread, NULL);
    atomic_fetch_add(&cancelled_runs, 1);
}

static void *misuse(void *arg)
{
    struct interference *i = arg;
    if (i->after % 2)
        pto_runtime_destroy(i->rt);
    else
        pto_scope_end(i->rt);
    return NULL;
}

static void is_misused(PTORuntime *rt, void *arg)
{
    struct interference *i = arg;
    pthread_t thread;
    i->rt = rt;
    if (pthread_create(&thread, NULL, misuse, i) == 0) pthread_join(thread, NULL);
}

static void run_and_misuse(struct client *c)
{
    int i;
    PTORuntime *rt = choose(c, &i);
    struct interference interference = {.after = (useconds_t)fuzz_below(&c->seed, 2)};
    if (!rt) return;
    if (pto_runtime_run(rt, is_misused, &interference) != PTO_ERR_MISUSE) complain("a run that is misused", rt);
    atomic_fetch_add(&misused_runs, 1);
}

static void trim(struct client *c)
{
    int i;
    PTORuntime *rt = choose(c, &i);
    if (pto_runtime_trim(fuzz_below(&c->seed, 2) ? rt : NULL) != PTO_OK) complain("trim", rt);
    atomic_fetch_add(&trims, 1);
}

static void trace(struct client *c)
{
    char path[80];
    PTOConfig config = {.engine = engines[fuzz_below(&c->seed, 6)], .record_tasks = 256};
    const int n = (int)fuzz_below(&c->seed, PROGRAMS);
    PTORuntime *rt = pto_runtime_create(&config, NULL);
    struct fuzz_program p = program_of(c, n);
    if (!rt || pto_runtime_run(rt, fuzz_orchestrate, &p) != PTO_OK || !is_right(&p, &reference[n]))
        complain("a recorded run", rt);
    snprintf(path, sizeof path, "soak.%d.%d.json", (int)getpid(), c->number);
    if (rt && pto_runtime_write_trace(rt, path) != PTO_OK) complain("a trace", rt);
    unlink(path);
    pto_runtime_destroy(rt);
    atomic_fetch_add(&traces, 1);
    atomic_fetch_add(&compared_runs, 1);
    atomic_fetch_add(&compared_arrays, 2);
}

/* One client at a time: the loader counts, so that what is unloaded by one is gone. */
static pthread_mutex_t loader = PTHREAD_MUTEX_INITIALIZER;

static PTOStatus load_and_run(struct client *c, PTORuntime *rt)
{
    pthread_mutex_lock(&loader);
    void *program = dlopen(SOAK_PROGRAM, RTLD_NOW | RTLD_LOCAL);
    void *entry = program ? dlsym(program, "run_soak") : NULL;
    PTOStatus status = PTO_ERR_IO;
    if (entry)
        status =
            ((PTOStatus(*)(PTORuntime *, const float *, const float *, float *))(uintptr_t)entry)(rt, c->x, c->y, c->z);
    else
        fprintf(stderr, "%s\n", dlerror());
    if (program) dlclose(program);
    pthread_mutex_unlock(&loader);
    return status;
}

static void run_loaded(struct client *c)
{
    int i;
    /* The other programs have tasks whose arguments overlap, which a checked run gives copies of. */
    const PTOConfig config = {.engine = engines[fuzz_below(&c->seed, 6)], .checked = true};
    PTORuntime *const checked = fuzz_below(&c->seed, 8) == 0 ? pto_runtime_create(&config, NULL) : NULL;
    PTORuntime *const rt = checked ? checked : choose(c, &i);
    /* it does not have what was loaded after it was forked */
    if (!rt || (!checked && c->engine[i] == PTO_ENGINE_PROCESS)) return;
    memset(c->z, 0, LENGTH * sizeof *c->z);
    if (load_and_run(c, rt) != PTO_OK)
        complain("a loaded program", rt);
    else if (memcmp(c->z, loaded_reference, sizeof loaded_reference) != 0)
        complain("a wrong result of a loaded program", rt);
    if (checked) pto_runtime_destroy(checked);
    atomic_fetch_add(&loads, 1);
    atomic_fetch_add(&compared_runs, 1);
    atomic_fetch_add(&compared_arrays, 1);
}

static void create_in_vain(void)
{
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.task_window = 7}, &status);
    if (rt || status != PTO_ERR_CONFIG || pto_runtime_run(rt, fuzz_orchestrate, NULL) != PTO_ERR_MISUSE)
        complain("a create that fails", NULL);
    pto_runtime_destroy(rt);
}

static void *work(void *arg)
{
    struct client *c = arg;
    while (!atomic_load(&is_over)) {
        const int64_t choice = fuzz_below(&c->seed, 100);
        if (choice < 74)
            run_and_compare(c);
        else if (choice < 80)
            run_loaded(c);
        else if (choice < 87)
            run_and_cancel(c);
        else if (choice < 93)
            run_and_fail(c);
        else if (choice < 95)
            run_and_misuse(c);
        else if (choice < 97)
            trim(c);
        else if (choice < 98)
            trace(c);
        else
            create_in_vain();
    }
    for (int i = 0; i < KEPT; i++) {
        pto_runtime_destroy(c->kept[i]);
        c->kept[i] = NULL;
    }
    return NULL;
}

/* ---- what the process holds ---- */

struct holdings {
    long resident_kib, descriptors, threads;
    bool has_children;
};

static long count_entries(const char *folder)
{
    long n = 0;
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static struct holdings measure(void)
{
    struct holdings h = {0};
    pto_runtime_trim(NULL);
    malloc_trim(0);
    h.resident_kib = pages_now().resident * (sysconf(_SC_PAGESIZE) / 1024);
    h.descriptors = count_entries("/proc/self/fd");
    h.threads = count_entries("/proc/self/task");
    h.has_children = waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
    return h;
}

static long from_environment(const char *name, long standard)
{
    const char *text = getenv(name);
    return text ? atol(text) : standard;
}

static void make_references(struct client *c)
{
    PTORuntime *rt = pto_runtime_create(&(PTOConfig){.engine = PTO_ENGINE_SERIAL}, NULL);
    assert_non_null(rt);
    for (int n = 0; n < PROGRAMS; n++) {
        uint64_t s = (uint64_t)n * 7919;
        reference[n].tasks = 5 + (int)fuzz_below(&s, 60);
        struct fuzz_program p = program_of(c, n);
        assert_int_equal(pto_runtime_run(rt, fuzz_orchestrate, &p), PTO_OK);
        reference[n].digest = fuzz_digest(&p);
    }
    for (int i = 0; i < LENGTH; i++) c->x[i] = (float)i, c->y[i] = (float)(LENGTH - i) / 8;
    assert_int_equal(load_and_run(c, rt), PTO_OK);
    memcpy(loaded_reference, c->z, sizeof loaded_reference);
    pto_runtime_destroy(rt);
}

static void work_for(struct client *client, double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    atomic_store(&is_over, false);
    for (int n = 0; n < CLIENTS; n++) assert_int_equal(pthread_create(&client[n].thread, NULL, work, &client[n]), 0);
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR) {}
    atomic_store(&is_over, true);
    for (int n = 0; n < CLIENTS; n++) pthread_join(client[n].thread, NULL);
}

TEST(mixed_load_gives_right_results_and_leaves_nothing_behind)
{
    static struct client client[CLIENTS];
    struct holdings first = {0};
    const double seconds = (double)from_environment("PTO_SOAK_SECONDS", 6);
    const uint64_t seed = (uint64_t)from_environment("PTO_SEED", 1);
    mallopt(M_ARENA_MAX, 1); /* of other arenas malloc_trim keeps what is free at the end */
    for (int n = 0; n < CLIENTS; n++) {
        struct client *c = &client[n];
        c->number = n;
        c->seed = seed * 1000 + (uint64_t)n;
        for (int m = 0; m < 2; m++) c->matrix[m] = pto_shared_alloc(CELLS * sizeof *c->matrix[m]);
        c->x = pto_shared_alloc(3 * LENGTH * sizeof *c->x);
        c->y = c->x + LENGTH, c->z = c->y + LENGTH;
    }
    make_references(&client[0]);
    for (int n = 1; n < CLIENTS; n++) memcpy(client[n].x, client[0].x, 2 * LENGTH * sizeof *client[0].x);
    for (int phase = 0; phase < PHASES; phase++) {
        work_for(client, seconds / PHASES);
        const struct holdings now = measure();
        if (phase == 0) first = now;
        printf("phase %d: %ld KiB, %ld descriptors, %ld threads\n", phase + 1, now.resident_kib, now.descriptors,
               now.threads);
        EXPECT_EQ(now.descriptors, first.descriptors);
        EXPECT_EQ(now.threads, first.threads);
        EXPECT(!now.has_children);
        EXPECT(PTOI_HAS_SANITIZER || now.resident_kib <= first.resident_kib + GROWTH_KIB);
    }
    printf("%ld runs with %ld arrays compared, %ld wrong; %ld failed, %ld cancelled, %ld misused, %ld loaded, %ld "
           "traced; %ld creates (%ld forks), %ld trims\n",
           compared_runs, compared_arrays, wrong, failed_runs, cancelled_runs, misused_runs, loads, traces, creates,
           forks, trims);
    EXPECT_EQ(atomic_load(&wrong), 0);
    EXPECT(compared_runs > 0);
    for (int n = 0; n < CLIENTS; n++) {
        for (int m = 0; m < 2; m++) pto_shared_free(client[n].matrix[m], CELLS * sizeof *client[n].matrix[m]);
        pto_shared_free(client[n].x, 3 * LENGTH * sizeof *client[n].x);
    }
}
