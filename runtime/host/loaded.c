/* loaded.c - programs that are loaded at run time: open, describe, close.
 * Idea       an object is refused by the first members of its table, before anything in it is called.  The handle of a
 *            closed program is kept until CLOSED later ones are closed, so that its use is seen and not a crash.
 * Owner      the references: the one of pto_program_open, and one for each call that runs; the last one unloads.
 * Tests      test/call/test_call.c, test/call/test_call_closed.c, test/call/stress_call.c
 */
#include "loaded.h"
#include "cut_off.h"
#include "fail.h"
#include "shared/cpu.h"
#include "shared/thread_error.h"
#include "values.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

/* The dynamic linker has locks of its own; this one also shows race detectors what they order. */
static pthread_mutex_t linker = PTHREAD_MUTEX_INITIALIZER;

static void *load(const char *path)
{
    pthread_mutex_lock(&linker);
    void *const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_unlock(&linker);
    return object;
}

static void unload(void *object)
{
    pthread_mutex_lock(&linker);
    dlclose(object);
    pthread_mutex_unlock(&linker);
}

/* ---- handles ----------------------------------------------------------------------------------------------------- */

enum { CLOSED = 64 };

/* Those of closed programs, the oldest first. */
static struct {
    pthread_mutex_t lock;
    PTOLoaded *first, **end;
    int count;
} closed = {PTHREAD_MUTEX_INITIALIZER, NULL, &closed.first, 0};

static PTOLoaded *take_handle(void)
{
    PTOLoaded *l = NULL;
    pthread_mutex_lock(&closed.lock);
    if (closed.count > CLOSED) {
        l = closed.first;
        closed.first = l->next;
        closed.count--;
    }
    pthread_mutex_unlock(&closed.lock);
    return l ? l : calloc(1, sizeof *l);
}

static void give_handle(PTOLoaded *l)
{
    l->next = NULL;
    pthread_mutex_lock(&closed.lock);
    *closed.end = l;
    closed.end = &l->next;
    closed.count++;
    pthread_mutex_unlock(&closed.lock);
}

PTOStatus ptoi_loaded_refuse(const char *call)
{
    return ptoi_thread_fail(PTO_ERR_MISUSE, "%s of a program that was closed", call);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static PTOStatus check_table(const char *path, const PTOProgram *p)
{
    if (p->layout != PTO_TABLE_LAYOUT || p->fingerprint != PTO_INLINED_FINGERPRINT)
        return ptoi_thread_fail(PTO_ERR_VERSION,
                                "%s was built for another version of the library: build it again with this ptoc", path);
    if (p->library != &pto_library_)
        return ptoi_thread_fail(PTO_ERR_VERSION,
                                "%s is bound to libpto.so, but this program has another copy of the library: link it "
                                "with -lpto, not with libpto_runtime.a",
                                path);
    if (p->cpu[0] && !ptoi_cpu_has(p->cpu))
        return ptoi_thread_fail(PTO_ERR_UNSUPPORTED,
                                "%s was built for processors of level %s alone, and this one is older: build it again "
                                "here, or without --cpu",
                                path, p->cpu);
    return PTO_OK;
}

static PTOStatus load_program(PTOLoaded *l, const char *path, const char *file)
{
    l->object = NULL;
    const PTOStatus whole = ptoi_object_is_whole(file);
    if (whole != PTO_OK) return whole;
    l->object = load(file);
    if (!l->object) return ptoi_thread_fail(PTO_ERR_IO, "cannot load the program: %s", dlerror());
    l->program = dlsym(l->object, "pto_program");
    if (!l->program) return ptoi_thread_fail(PTO_ERR_IO, "%s is not a program: ptoc build --emit=so makes one", path);
    return check_table(path, l->program);
}

PTOLoaded *pto_program_open(const char *path)
{
    if (!path) return ptoi_thread_fail(PTO_ERR_MISUSE, "pto_program_open: the path is NULL"), NULL;
    PTOLoaded *l = take_handle();
    if (!l) return ptoi_thread_fail(PTO_ERR_NOMEM, "out of memory"), NULL;
    char beside[4096]; /* dlopen searches the system's folders for a name without a slash */
    snprintf(beside, sizeof beside, "./%s", path);
    PTOStatus status = load_program(l, path, strchr(path, '/') ? path : beside);
    if (status == PTO_OK) {
        l->names = calloc((size_t)l->program->entry_count + 1, sizeof *l->names);
        if (!l->names) status = ptoi_thread_fail(PTO_ERR_NOMEM, "out of memory");
    }
    if (status != PTO_OK) {
        if (l->object) unload(l->object);
        give_handle(l);
        return NULL;
    }
    for (int32_t i = 0; i < l->program->entry_count; i++) l->names[i] = l->program->entries[i].name;
    store_relaxed(&l->references, 1);      /* relaxed: no other thread has it */
    store_relaxed(&l->magic, LOADED_OPEN); /* likewise */
    return l;
}

PTOLoaded *ptoi_loaded_retain(PTOLoaded *l)
{
    atomic_fetch_add_explicit(&l->references, 1, memory_order_relaxed); /* relaxed: the caller has a reference */
    return l;
}

void ptoi_loaded_release(PTOLoaded *l)
{
    if (atomic_fetch_sub_explicit(&l->references, 1, memory_order_acq_rel) > 1) return;
    unload(l->object);
    free(l->names);
    give_handle(l);
}

void pto_program_close(PTOLoaded *l)
{
    uint32_t is = LOADED_OPEN;
    if (!l) return;
    if (swap_if_relaxed(&l->magic, &is, 0))
        ptoi_loaded_release(l); /* relaxed: the caller has the reference, and gives it up here */
    else
        ptoi_loaded_refuse("pto_program_close");
}

const PTOEntry *ptoi_loaded_entry(const PTOLoaded *l, const char *name)
{
    const PTOProgram *p = l->program;
    if (!name && p->entry_count == 1) return &p->entries[0];
    for (int32_t i = 0; name && i < p->entry_count; i++)
        if (strcmp(p->entries[i].name, name) == 0) return &p->entries[i];
    const char *near = name ? ptoi_nearest_name(name, (int)strlen(name), l->names, p->entry_count) : NULL;
    char list[512];
    if (!name)
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "%s has several entries: %s", p->file,
                         ptoi_join_names(l->names, p->entry_count, list, sizeof list));
    else if (near)
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "there is no entry '%s'; did you mean '%s'?", name, near);
    else
        ptoi_thread_fail(PTO_ERR_ARGUMENT, "there is no entry '%s'; entries: %s", name,
                         ptoi_join_names(l->names, p->entry_count, list, sizeof list));
    return NULL;
}

PTOStatus pto_program_describe(const PTOLoaded *l, const char *entry, PTOSignature *out)
{
    if (!l || !out) return ptoi_thread_fail(PTO_ERR_MISUSE, "pto_program_describe: NULL");
    if (!ptoi_loaded_is_open(l)) return ptoi_loaded_refuse("pto_program_describe");
    const PTOProgram *p = l->program;
    *out = (PTOSignature){.file = p->file,
                          .entries = l->names,
                          .entry_count = p->entry_count,
                          .params = p->params,
                          .param_count = p->param_count,
                          .defaults = p->defaults};
    const PTOEntry *e = entry || p->entry_count == 1 ? ptoi_loaded_entry(l, entry) : NULL;
    if (!e) return entry ? PTO_ERR_ARGUMENT : PTO_OK;
    out->name = e->name;
    out->head = e->head;
    out->comment = e->comment;
    out->dims = e->dims;
    out->dim_count = e->dim_count;
    out->formals = e->formals;
    out->formal_count = e->formal_count;
    out->result = e->result;
    return PTO_OK;
}
