/* events.c - events: how often one was recorded, and how many of these a stream has reached. */
#include "stub.h"
#include <stdlib.h>

static aclError create_event(const char *name, aclrtEvent *event)
{
    const int error = stub_enter(name, true);
    if (error) return stub_leave(error);
    struct object *o = stub_make(EVENT);
    stub_say("%s() event %d", name, o->number);
    *event = o;
    return stub_leave(0);
}

aclError aclrtCreateEvent(aclrtEvent *event) { return create_event("aclrtCreateEvent", event); }
#ifndef STUB_OLD
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    if (flag != ACL_EVENT_CAPTURE_STREAM_PROGRESS) {
        pthread_mutex_lock(&stub.lock);
        return stub_leave(stub_mistake(
            ERROR_PARAM, "aclrtCreateEventExWithFlag with flag %u: such an event is not to be queried", flag));
    }
    return create_event("aclrtCreateEventExWithFlag", event);
}
#endif

aclError aclrtDestroyEvent(aclrtEvent event)
{
    const int error = stub_enter("aclrtDestroyEvent", true);
    return stub_leave(stub_give_back(error, EVENT, event, "aclrtDestroyEvent"));
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    int error = stub_enter("aclrtRecordEvent", true);
    struct object *s = error ? NULL : stub_stream_of(stream, "aclrtRecordEvent", &error), *e = stub_find(EVENT, event);
    if (!error && !e) error = stub_mistake(ERROR_PARAM, "aclrtRecordEvent of something that is no event");
    if (error) return stub_leave(error);
    struct work *w = calloc(1, sizeof *w);
    *w = (struct work){.kind = WORK_RECORD, .event = e, .count = ++e->recorded};
    stub_say("aclrtRecordEvent(event %d, stream %d)", e->number, s->number);
    stub_enqueue(s, w);
    return stub_leave(0);
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    int error = stub_enter("aclrtQueryEventStatus", true);
    struct object *e = stub_find(EVENT, event);
    if (!error && !e) error = stub_mistake(ERROR_PARAM, "aclrtQueryEventStatus of something that is no event");
    if (error) return stub_leave(error);
    const bool is_complete = e->recorded > 0 && e->ended == e->recorded;
    *status = is_complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    /* how often it is not yet is of no interest */
    if (is_complete) stub_say("aclrtQueryEventStatus(event %d) complete", e->number);
    return stub_leave(0);
}
