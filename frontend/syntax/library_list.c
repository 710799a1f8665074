/* library_list.c - see library_list.h. */
#include "library_list.h"

const char *const library_modules[LIBRARY_MODULES] = {
#define LIBRARY(name) #name,
#include "syntax/library.def"
#undef LIBRARY
};
