#include "adjoint.h"
#include "sema/checker.h"
const struct adjoint *adjoint_of(struct front *front, const struct checked *checked, const struct symbol *kernel, int x)
{ (void)checked; struct adjoint *a = arena_new(front->mem, struct adjoint); a->kind = ADJOINT_NONE; a->kernel = kernel; a->x = x; a->why = "stub"; return a; }
const char *adjoint_name(struct front *front, const struct adjoint *a, enum adjoint_form form) { (void)front; (void)a; (void)form; return "stub"; }
void adjoint_print(struct front *front, const struct checked *checked, const struct adjoint *a, enum adjoint_form form, const char *name, struct strbuf *out) { (void)front; (void)checked; (void)a; (void)form; (void)name; (void)out; }
