/* dump.h - a checked process that ends with tensors alive lists them. */
#ifndef PTOI_DUMP_H
#define PTOI_DUMP_H
#include <pto/pto_registry.h>

void ptoi_registry_watch_exit(void); /* pto_registry_dump to stderr at exit, if a tensor lives then */

#endif
