/* run_lists.h - the engines, backends and workers of a built program, as the help of its options names them. */
#ifndef PTOC_RUN_LISTS_H
#define PTOC_RUN_LISTS_H

static const char engine_list[] =
#define PTO_ENGINE(id, name, note) ", " #name note
#include <pto/engines.def>
#undef PTO_ENGINE
    ;
static const char backend_list[] =
#define BACKEND(name, note) ", " #name note
#include "backend/backends.def"
#undef BACKEND
    ;
static const char worker_list[] =
#define PTO_WORKER(id, name) ", " name
#include <pto/workers.def>
#undef PTO_WORKER
    "; one of each that is not named";

#endif
