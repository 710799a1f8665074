/* streams.c - streams: a thread with a queue each. */
#include "stub.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void carry_out(struct work *w)
{
    if (w->kind != WORK_RECORD && stub_setting("PTO_STUB_SLOW", 0) > 0)
        usleep((useconds_t)stub_setting("PTO_STUB_SLOW", 0));
    if (w->kind == WORK_KERNEL)
        w->function(w->block, w->bytes / sizeof w->block[0], (uint64_t)(stub.alias - stub.device));
    if (w->kind == WORK_COPY) memcpy(w->to, w->from, w->bytes);
}

static void *stream_main(void *arg)
{
    struct object *o = arg;
    pthread_mutex_lock(&stub.lock);
    for (;;) {
        struct work *w = o->first;
        if (o->is_ending && !w) break;
        if (!w || w->kind == WORK_HANG) {
            if (w && o->is_ending) break;
            pthread_cond_wait(&o->wake, &stub.lock);
            continue;
        }
        o->first = w->next;
        if (!o->first) o->last = &o->first;
        o->is_busy = true;
        pthread_mutex_unlock(&stub.lock);
        carry_out(w);
        pthread_mutex_lock(&stub.lock);
        o->is_busy = false;
        if (w->kind == WORK_RECORD) w->event->ended = w->count;
        free(w);
        if (!o->first) pthread_cond_broadcast(&o->idle);
    }
    pthread_mutex_unlock(&stub.lock);
    return NULL;
}

void stub_enqueue(struct object *stream, struct work *w)
{
    w->next = NULL;
    *stream->last = w;
    stream->last = &w->next;
    pthread_cond_signal(&stream->wake);
}

void stub_end_stream(struct object *o, bool by_force)
{
    o->is_ending = true;
    while (by_force && o->first) {
        struct work *w = o->first;
        o->first = w->next;
        if (w->kind == WORK_RECORD) w->event->ended = w->event->recorded; /* all waits for it are over */
        free(w);
    }
    if (!o->first) o->last = &o->first;
    pthread_cond_signal(&o->wake);
    pthread_mutex_unlock(&stub.lock);
    pthread_join(o->thread, NULL);
    pthread_mutex_lock(&stub.lock);
    pthread_cond_destroy(&o->wake);
    pthread_cond_destroy(&o->idle);
}

struct object *stub_stream_of(const void *handle, const char *name, int *error)
{
    struct object *o = stub_find(STREAM, handle);
    if (!o)
        *error = stub_mistake(ERROR_PARAM, "%s on something that is no stream", name);
    else if (o->context != stub_context)
        *error = stub_mistake(ERROR_CONTEXT, "%s on stream %d of another context", name, o->number);
    return *error ? NULL : o;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    int error = stub_enter("aclrtCreateStream", true);
    if (error) return stub_leave(error);
    struct object *o = stub_make(STREAM);
    o->last = &o->first;
    pthread_cond_init(&o->wake, NULL);
    pthread_cond_init(&o->idle, NULL);
    pthread_create(&o->thread, NULL, stream_main, o);
    stub_say("aclrtCreateStream() stream %d", o->number);
    *stream = o;
    return stub_leave(0);
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    const int error = stub_enter("aclrtDestroyStream", true);
    return stub_leave(stub_give_back(error, STREAM, stream, "aclrtDestroyStream"));
}

#ifndef STUB_OLD
/* Drops the queued work and waits for the work that runs. */
static void end_work(struct object *o)
{
    while (o->first) {
        struct work *w = o->first;
        o->first = w->next;
        if (w->kind == WORK_RECORD) w->event->ended = w->event->recorded;
        free(w);
    }
    o->last = &o->first;
    while (o->is_busy) pthread_cond_wait(&o->idle, &stub.lock);
}

/* One that reports a failure has ended the stream all the same: what ran there may be unloaded and freed. */
aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    int error = stub_enter("aclrtDestroyStreamForce", true);
    struct object *o = stub_find(STREAM, stream);
    if (error == ERROR_INJECTED && o) {
        o->is_given_back = true;
        end_work(o);
    }
    if (!error && !o) error = stub_mistake(ERROR_PARAM, "aclrtDestroyStreamForce of something that is no stream");
    if (error) return stub_leave(error);
    stub_say("aclrtDestroyStreamForce(stream %d)", o->number);
    stub_destroy(o);
    return stub_leave(0);
}

aclError aclrtStreamAbort(aclrtStream stream)
{
    int error = stub_enter("aclrtStreamAbort", true);
    struct object *o = error ? NULL : stub_stream_of(stream, "aclrtStreamAbort", &error);
    if (error) return stub_leave(error);
    stub_say("aclrtStreamAbort(stream %d)", o->number);
    end_work(o);
    return stub_leave(0);
}
#endif
