/* completion.h - what completion and signature help both find out about a call. */
#ifndef PTOC_LSP_COMPLETION_H
#define PTOC_LSP_COMPLETION_H
#include "cursor.h"
#include "documents.h"
#include "scope.h"

/* The kernel or function that is called; of kernels of one name the first; NULL: it is not known. */
const struct symbol *completion_callee(const struct document *d, const scope_list *scope, const struct open_call *call);

#endif
