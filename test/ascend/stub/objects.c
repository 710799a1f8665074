/* objects.c - the objects that handles name: made, found, given back. */
#include "stub.h"
#include <dlfcn.h>
#include <stdlib.h>

struct object *stub_make(enum kind kind)
{
    struct object *o = calloc(1, sizeof *o);
    o->kind = kind;
    o->number = ++stub.made[kind];
    o->context = kind == CONTEXT ? NULL : stub_context;
    o->device = stub_context ? stub_context->device : 0;
    o->next = stub.objects;
    stub.objects = o;
    return o;
}

struct object *stub_find(enum kind kind, const void *handle)
{
    for (struct object *o = stub.objects; o; o = o->next)
        if (o == handle && o->kind == kind) return o;
    return NULL;
}

void stub_drop(struct object *o)
{
    for (struct object **at = &stub.objects; *at; at = &(*at)->next)
        if (*at == o) {
            *at = o->next;
            break;
        }
    free(o);
}

void stub_destroy(struct object *o)
{
    if (o->kind == STREAM) stub_end_stream(o, true);
    if (o->kind == MEMORY) stub_unmap(o);
    if (o->kind == HOST_MEMORY) free(o->address);
    if (o->kind == BINARY) {
        for (struct object *f = stub.objects, *next; f; f = next) {
            next = f->next;
            if (f->kind == FUNCTION && f->binary == o) stub_drop(f);
        }
        dlclose(o->library);
    }
    stub_drop(o);
}

int stub_give_back(int error, enum kind kind, const void *handle, const char *name)
{
    struct object *o = stub_find(kind, handle);
    if (error == ERROR_INJECTED && o) o->is_given_back = true;
    if (error) return error;
    if (!o) return stub_mistake(ERROR_PARAM, "%s of something that is no %s, or not any more", name, kind_names[kind]);
    if (kind != CONTEXT && o->context != stub_context)
        return stub_mistake(ERROR_CONTEXT, "%s of %s %d in another context", name, kind_names[kind], o->number);
    stub_say("%s(%s %d)", name, kind_names[kind], o->number);
    if (kind == STREAM) {
        while (o->first || o->is_busy) pthread_cond_wait(&o->idle, &stub.lock);
    }
    if (kind == EVENT && o->recorded != o->ended)
        stub_mistake(0, "event %d destroyed before it was reached", o->number);
    stub_destroy(o);
    return 0;
}
