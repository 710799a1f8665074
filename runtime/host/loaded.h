/* loaded.h - a program that was loaded at run time. */
#ifndef PTO_HOST_LOADED_H
#define PTO_HOST_LOADED_H
#include <pto/pto_program.h>

struct PTOLoaded {
    void *object;
    const PTOProgram *program;
    _Atomic int64_t references; /* of the owner, and of each call that runs */
    const char **names;         /* of the entries */
};

PTOLoaded *ptoi_loaded_retain(PTOLoaded *loaded);
void ptoi_loaded_release(PTOLoaded *loaded);
/* The entry; NULL: the only one.  NULL: there is none, and the thread's message and status say why. */
const PTOEntry *ptoi_loaded_entry(const PTOLoaded *loaded, const char *name);
#endif
