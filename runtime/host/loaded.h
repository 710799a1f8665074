/* loaded.h - a program that was loaded at run time. */
#ifndef PTO_HOST_LOADED_H
#define PTO_HOST_LOADED_H
#include "shared/atomics.h"
#include <pto/pto_program.h>

enum { LOADED_OPEN = 0x6c6f6164 };

struct PTOLoaded {
    _Atomic uint32_t magic; /* LOADED_OPEN until pto_program_close */
    void *object;
    const PTOProgram *program;
    _Atomic int64_t references; /* of the owner, and of each call that runs */
    const char **names;         /* of the entries */
    PTOLoaded *next;            /* of the handles that are closed */
};

/* A handle that was closed is memory for some time, so this is no use after free. */
static inline bool ptoi_loaded_is_open(const PTOLoaded *loaded)
{
    return load_relaxed(&loaded->magic) == LOADED_OPEN; /* relaxed: the caller has opened it, or misuses it */
}
/* PTO_ERR_MISUSE, and the thread's message. */
PTOStatus ptoi_loaded_refuse(const char *call);

PTOLoaded *ptoi_loaded_retain(PTOLoaded *loaded);
void ptoi_loaded_release(PTOLoaded *loaded);
/* The entry; NULL: the only one.  NULL: there is none, and the thread's message and status say why. */
const PTOEntry *ptoi_loaded_entry(const PTOLoaded *loaded, const char *name);
#endif
