/* names.c - every name in the text of a result, and where it is declared.
 * Idea       the checker left with each name what it means; one walk over the tree collects them.  A declaration is
 *            known by the place of its name, which is the same for all instances of a generic kernel.
 * Owner      the list is the result's, and made when it is first asked for.
 * Invariant  a name and its declaration are the same letters.
 * Tests      test/lsp/requests.py, rename.py
 */
#include "names_parts.h"
#include "allocate.h"
#include "syntax/ast_walk.h"
#include <ctype.h>
#include <string.h>

static const char *text_at(const struct result *r, struct span at, size_t *length)
{
    const struct source *s = source_get(r->front.sources, at.file);
    *length = at.end > at.begin && at.end <= s->length ? at.end - at.begin : 0;
    return s->text + (*length ? at.begin : 0);
}

void uses_add(struct names_work *w, struct name_use use)
{
    if (!result_module(w->result, use.at.file)) return; /* the text of a gradient, which is in no file */
    size_t a, b;
    const char *name = text_at(w->result, use.at, &a), *declared = text_at(w->result, use.declared, &b);
    for (size_t i = 0; i < a; i++)
        if (name[i] != '_' && !isalnum((unsigned char)name[i])) return;
    if (a > 0 && a == b && memcmp(name, declared, a) == 0) vec_push(w->names, use);
}

struct symbol *uses_lookup(const struct module *m, const char *name)
{
    return m && name ? ptrmap_get(&m->by_name, name) : NULL;
}

/* ---- what a symbol is -------------------------------------------------------------------------------------------- */

/* The stem of the path of an import, which is the module's name where it has no `as`. */
static struct span stem_of(const struct result *r, const struct ast *import)
{
    struct span at = import->import.path->at;
    const char *text = source_get(r->front.sources, at.file)->text;
    at.begin++;
    if (at.end > at.begin) at.end--;
    for (uint32_t i = at.begin; i < at.end; i++)
        if (text[i] == '/') at.begin = i + 1;
    for (uint32_t i = at.end; i > at.begin + 1; i--)
        if (text[i - 1] == '.') {
            at.end = i - 1;
            break;
        }
    return at;
}

bool names_declaration(const struct symbol *s, struct span *at)
{
    while (s && s->next_of) s = s->next_of; /* a `var` is one name, whatever it becomes */
    if (s && s->generic) s = s->generic;
    if (!s || !s->decl || s->kind == SYM_MODULE) return false;
    *at = s->decl->name_at;
    return true;
}

/* The place by which all uses of the symbol are known. */
static bool find_declared(const struct names_work *w, const struct symbol *s, struct span *at)
{
    if (s && s->kind == SYM_MODULE && s->decl) {
        *at = s->decl->name ? s->decl->name_at : stem_of(w->result, s->decl);
        return true;
    }
    if (s && s->generic) s = s->generic;
    const struct symbol *first = s && s->kind == SYM_KERNEL ? uses_lookup(s->module, s->name) : NULL;
    return names_declaration(first ? first : s, at);
}

static bool has_tensor(const struct type *t)
{
    return t && (t->kind == TYPE_TENSOR || t->kind == TYPE_STRUCT || t->kind == TYPE_ARRAY);
}

static enum name_kind kind_of(const struct symbol *s)
{
    switch (s->kind) {
    case SYM_MODULE: return NAME_MODULE;
    case SYM_CONST:
    case SYM_PARAM: return NAME_CONSTANT;
    case SYM_STRUCT: return NAME_STRUCT;
    case SYM_KERNEL: return NAME_KERNEL;
    case SYM_ORCH: return NAME_FUNCTION;
    case SYM_DIM: return NAME_DIMENSION;
    case SYM_ELEM: return NAME_ELEMENTS;
    case SYM_FORMAL: return has_tensor(s->type) ? NAME_TENSOR : NAME_FORMAL;
    case SYM_LET:
    case SYM_VAR: return has_tensor(s->type) ? NAME_TENSOR : NAME_SCALAR;
    case SYM_VIEW: return NAME_VIEW;
    default: return NAME_INDEX;
    }
}

void uses_add_symbol(struct names_work *w, struct span at, const struct ast *node, const struct symbol *s)
{
    struct span declared;
    if (!find_declared(w, s, &declared)) return;
    uses_add(w, (struct name_use){
                    .at = at,
                    .declared = declared,
                    .symbol = s,
                    .node = node,
                    .kind = kind_of(s),
                    .declares = at.file == declared.file && at.begin == declared.begin,
                });
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static void add_import(struct names_work *w, const struct ast *n)
{
    if (!n->symbol) return;
    const struct span at = n->name ? n->name_at : stem_of(w->result, n);
    uses_add(w, (struct name_use){.at = at,
                                  .declared = at,
                                  .symbol = n->symbol,
                                  .node = n,
                                  .kind = NAME_MODULE,
                                  .declares = true,
                                  .is_path = !n->name});
}

/* A declaration whose symbol is not known is one nevertheless. */
static void add_declaration(struct names_work *w, const struct ast *n, enum name_kind otherwise)
{
    const struct symbol *s = n->symbol;
    struct span declared = n->name_at;
    if (s && s->kind == SYM_KERNEL) find_declared(w, s, &declared);
    uses_add(w, (struct name_use){.at = n->name_at,
                                  .declared = declared,
                                  .symbol = s,
                                  .node = n,
                                  .kind = s && n->kind != AST_FIELD ? kind_of(s) : otherwise,
                                  .declares = true});
}

static void add_field(struct names_work *w, const struct ast *n)
{
    const struct type *t = n->member.object->type;
    while (t && t->kind == TYPE_ARRAY) t = t->element;
    const struct symbol *structure = t && t->kind == TYPE_STRUCT ? t->structure : NULL;
    for (int i = 0; structure && i < structure->formal_count; i++)
        if (structure->formals[i]->name == n->name)
            uses_add(w, (struct name_use){.at = n->name_at,
                                          .declared = structure->formals[i]->decl->name_at,
                                          .symbol = n->symbol,
                                          .node = n,
                                          .kind = NAME_FIELD});
}

static void add_member(struct names_work *w, const struct ast *n)
{
    const struct ast *object = n->member.object;
    if (object->kind == AST_NAME && object->symbol && object->symbol->kind == SYM_MODULE)
        uses_add_symbol(w, n->name_at, n, n->symbol);
    else
        add_field(w, n);
}

static const struct ast *generics_of(const struct ast *head)
{
    if (!head) return NULL;
    return head->kind == AST_KERNEL ? head->kernel->generics
           : head->kind == AST_ORCH ? head->orch.generics
                                    : head->structure.generics;
}

static void add_type(struct names_work *w, const struct ast *n)
{
    const struct symbol *m = n->type_name.module ? uses_lookup(w->module, n->type_name.module) : NULL;
    if (m) uses_add_symbol(w, n->type_name.module_at, n, m);
    if (n->symbol) {
        uses_add_symbol(w, n->name_at, n, n->symbol);
        return;
    }
    for (const struct ast *g = generics_of(w->head); g && !n->type_name.module; g = g->next)
        if (g->name == n->name) uses_add_symbol(w, n->name_at, n, g->symbol);
}

static bool visit(void *cx, struct ast *n)
{
    struct names_work *w = cx;
    switch (n->kind) {
    case AST_IMPORT: add_import(w, n); break;
    case AST_CONST:
    case AST_PARAM: add_declaration(w, n, NAME_CONSTANT); break;
    case AST_STRUCT: add_declaration(w, n, NAME_STRUCT); break;
    case AST_FIELD: add_declaration(w, n, NAME_FIELD); break;
    case AST_KERNEL: add_declaration(w, n, NAME_KERNEL); break;
    case AST_ORCH: add_declaration(w, n, NAME_FUNCTION); break;
    case AST_GENERIC: add_declaration(w, n, n->generic.elements ? NAME_ELEMENTS : NAME_DIMENSION); break;
    case AST_FORMAL: add_declaration(w, n, NAME_FORMAL); break;
    case AST_LET:
    case AST_VAR: add_declaration(w, n, NAME_SCALAR); break;
    case AST_VIEW: add_declaration(w, n, NAME_VIEW); break;
    case AST_FOR: add_declaration(w, n, NAME_INDEX); break;
    case AST_NAME: uses_add_symbol(w, n->at, n, n->symbol); break;
    case AST_MEMBER: add_member(w, n); break;
    case AST_TYPE_NAME: add_type(w, n); break;
    case AST_BLOCK:
        if (w->head && w->head->kind == AST_KERNEL) {
            names_of_equations(w, n);
            return false;
        }
        break;
    default: break;
    }
    return true;
}

static void collect(struct names_work *w, const struct module *m)
{
    w->module = m;
    for (struct ast *item = m->ast->items; item; item = item->next) {
        const bool has_head = item->kind == AST_KERNEL || item->kind == AST_ORCH || item->kind == AST_STRUCT;
        w->head = has_head ? item : NULL;
        ast_walk(item, visit, w);
        if (item->kind == AST_KERNEL && item->kernel->has_body) names_of_c(w, item);
    }
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct span *x = &((const struct name_use *)a)->at, *y = &((const struct name_use *)b)->at;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

const struct name_list *result_names(struct result *r)
{
    if (r->names) return r->names;
    r->names = allocate(sizeof *r->names);
    struct names_work w = {.result = r, .names = r->names};
    for (int i = 0; i < r->checked->module_count; i++) collect(&w, r->checked->modules[i]);
    if (r->names->count > 1) qsort(r->names->data, r->names->count, sizeof *r->names->data, compare);
    size_t kept = 0; /* the checker may have put a node into the tree twice */
    for (size_t i = 0; i < r->names->count; i++)
        if (kept == 0 || compare(&r->names->data[kept - 1], &r->names->data[i]) != 0)
            r->names->data[kept++] = r->names->data[i];
    r->names->count = kept;
    return r->names;
}

const struct name_use *names_at(const struct name_list *names, uint32_t file, size_t offset)
{
    size_t low = 0, high = names->count; /* the last that begins at or before the place */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct span *at = &names->data[middle].at;
        if (at->file < file || (at->file == file && at->begin <= offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return NULL;
    const struct name_use *use = &names->data[low - 1];
    return use->at.file == file && offset <= use->at.end ? use : NULL;
}
