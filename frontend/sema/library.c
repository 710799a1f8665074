/* library.c - `extern "pto_tile_gemm_f32"` in a program: a kernel that is declared with a C function of the library.
 * Idea       the module of the library that declares it says which parameters the function has: a tensor's pointer and
 *            strides, a scalar, and a number for each dimension variable.  C would not find out that they differ, and
 *            the function would read what nothing was given.  Those of Cholesky have no dimension variable: their tile
 *            is compiled in.
 * Blocks     in reading the module.
 * Tests      test/lit/sema/e12-library-functions.pto, e04-tiles-of-la.pto
 */
#include "checker.h"
#include "syntax/library_list.h"
#include <string.h>

/* What kernels/la/cholesky.c compiles in. */
enum { LA_TILE = 128 };
static const char *const la_tiles[] = {"pto_la_potrf_f64", "pto_la_trsm_f64", "pto_la_syrk_f64",
                                       "pto_la_gemm_nt_sub_f64"};

static bool has_la_tiles(const char *function)
{
    for (size_t i = 0; i < sizeof la_tiles / sizeof *la_tiles; i++)
        if (strcmp(la_tiles[i], function) == 0) return true;
    return false;
}

static void check_la_tiles(struct checker *c, const struct symbol *kernel)
{
    const struct ast *const name = kernel->decl->kernel->extern_name;
    for (int i = 0; i < kernel->formal_count; i++) {
        const struct symbol *const f = kernel->formals[i];
        bool fits = true;
        for (int d = 0; d < f->type->rank && f->type->rank == 2; d++) {
            int64_t extent;
            fits &= size_is_const(f->type->extent[d], &extent) && extent == LA_TILE;
        }
        if (fits) continue;
        diag_error(c->diag, DIAG_E04, f->decl->at, "'%s' of the library works on tiles of %d x %d, and '%s' is %s",
                   name->string.text, LA_TILE, LA_TILE, f->name, type_str(c, f->type));
        diag_help(c->diag, "the kernels of std/la.pto have tiles of any extent: import \"std/la.pto\" as la;");
        notes_bad(kernel->decl);
        return;
    }
}

int library_file(struct checker *c, const char *module)
{
    const char *why = NULL;
    for (int i = 0; i < c->options->import_dir_count; i++) {
        const char *path = arena_printf(c->mem, "%s/std/%s.pto", c->options->import_dirs[i], module);
        const int file =
            source_map_can_read(c->front->sources, path) ? source_map_read(c->front->sources, path, &why) : -1;
        if (file >= 0) return file;
    }
    return -1;
}

/* The module that has the functions of this prefix, read and not checked; NULL: there is none. */
static const struct ast *items_of_module(struct checker *c, const char *function)
{
    for (size_t m = 0; m < LIBRARY_MODULES; m++) {
        const size_t length = strlen(library_modules[m]);
        if (strncmp(function + 4, library_modules[m], length) != 0 || function[4 + length] != '_') continue;
        const int file = library_file(c, library_modules[m]);
        return file >= 0 ? parse_file(c->front, (uint32_t)file)->items : NULL;
    }
    return NULL;
}

/* Is "pto_vec_add_$E" the function?  Any name without `_` is a type there. */
static bool names_function(const char *pattern, const char *function)
{
    for (; *pattern; pattern++) {
        if (*pattern != '$') {
            if (*pattern != *function++) return false;
            continue;
        }
        pattern += strcspn(pattern, "_") - 1;
        function += strcspn(function, "_");
    }
    return *function == '\0';
}

static int dimension_count(const struct ast *generics)
{
    int count = 0;
    for (const struct ast *g = generics; g; g = g->next) count += g->generic.elements == NULL;
    return count;
}

/* Which dimension variable the extent is; -1: it is more than one. */
static int dimension_of(const struct ast *generics, const struct ast *extent)
{
    int number = 0;
    for (const struct ast *g = generics; g && extent->kind == AST_NAME; g = g->next) {
        if (g->generic.elements) continue;
        if (g->name == extent->name) return number;
        number++;
    }
    return -1;
}

static bool is_one_parameter(const struct symbol *kernel, const struct symbol *mine, const struct ast *theirs,
                             const struct ast *generics)
{
    const struct ast *const type = theirs->formal.type;
    const bool reads = mine->dir == DIR_IN || mine->dir == DIR_HOST || mine->dir == DIR_NONE;
    const bool they_read =
        theirs->formal.dir == DIR_IN || theirs->formal.dir == DIR_HOST || theirs->formal.dir == DIR_NONE;
    if (type->kind != AST_TYPE_NAME) return true;
    const enum elem elem = elem_named(type->name);
    int rank = 0;
    for (const struct ast *e = type->type_name.dims; e; e = e->next, rank++) {
        const int dimension = dimension_of(generics, e);
        if (mine->type->kind != TYPE_TENSOR || rank == mine->type->rank) return false;
        const struct size *const extent = mine->type->extent[rank];
        if (dimension >= 0 && (extent->kind != SIZE_SYMBOL || extent->symbol != kernel->dims[dimension])) return false;
    }
    if (rank == 0) return mine->type->kind != TYPE_TENSOR;
    return rank == mine->type->rank && reads == they_read && (elem == ELEM_NONE || elem == mine->type->elem);
}

/* Does C call the function with the parameters that it has? */
static bool is_declared_so(const struct symbol *kernel, const struct ast *theirs)
{
    const struct ast *const generics = theirs->kernel->generics, *formal = theirs->kernel->formals;
    if (kernel->dim_count != dimension_count(generics)) return false;
    for (int i = 0; i < kernel->declared_count; i++, formal = formal->next)
        if (!formal || !is_one_parameter(kernel, kernel->declared[i], formal, generics)) return false;
    return formal == NULL;
}

void library_check(struct checker *c, const struct symbol *kernel)
{
    const struct ast *const name = kernel->decl->kernel->extern_name;
    const char *const function = name ? name->string.text : "";
    if (strncmp(function, "pto_", 4) != 0 || strchr(function, '$') || module_is_std(kernel->module)) return;
    if (has_la_tiles(function)) {
        check_la_tiles(c, kernel);
        return;
    }
    const struct ast *last = NULL;
    for (const struct ast *item = items_of_module(c, function); item; item = item->next) {
        if (item->kind != AST_KERNEL || !item->kernel->extern_name) continue;
        if (!names_function(item->kernel->extern_name->string.text, function)) continue;
        if (is_declared_so(kernel, item)) return;
        last = item;
    }
    if (!last) return;
    diag_error(c->diag, DIAG_E12, name->at, "the parameters of '%s' are not those that '%s' of the library has in C",
               kernel->name, function);
    diag_note(c->diag, last->at, "the library declares it so");
    diag_help(c->diag,
              "a constant extent is no parameter in C: declare the same dimension variables in the same order");
    notes_bad(kernel->decl);
}
