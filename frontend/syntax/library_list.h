/* library_list.h - the names of the modules of std/, in the order in which a name is looked for.
 * Tests      test/lit/diag/std-modules.test */
#ifndef PTOC_LIBRARY_LIST_H
#define PTOC_LIBRARY_LIST_H

enum library_module {
#define LIBRARY(name) LIBRARY_##name,
#include "syntax/library.def"
#undef LIBRARY
    LIBRARY_MODULES
};
extern const char *const library_modules[LIBRARY_MODULES];

#endif
