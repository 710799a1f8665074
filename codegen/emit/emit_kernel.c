/* emit_kernel.c - the C around a kernel: its body as a function, the prototype of an external one, the adapter that
 * a worker calls, the cost, and the PTOKernel that ties them together.  A work request has an opcode instead of a
 * function.
 * Idea       dimension variables are read back from the shapes of the arguments; one that no shape determines is passed
 *            as a scalar.
 * Tests      test/lit/codegen/kernel-bodies.pto, test/lit/run/c-errors.pto
 */
#include "syntax/c_text.h"
#include "emit.h"
#include "sema/equations/equations.h"
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }

/* ---- names ---- */

static enum elem first_elem(const struct symbol *kernel)
{
    for (int i = 0; i < kernel->formal_count; i++)
        if (is_tensor(kernel->formals[i])) return kernel->formals[i]->type->elem;
    return ELEM_NONE;
}

const char *kernel_external_symbol(const struct symbol *kernel)
{
    const struct ast *name = kernel->decl->kernel->extern_name;
    if (kernel->external) return kernel->external;
    return name ? name->string.text : kernel->name;
}

static bool has_own_body(const struct symbol *kernel)
{
    return kernel->decl->kernel->has_body || kernel->decl->kernel->block;
}

bool kernel_is_external(const struct symbol *kernel) { return !has_own_body(kernel) && !kernel->opcode; }

const char *codegen_kernel_symbol(const struct symbol *kernel)
{
    return has_own_body(kernel) || kernel->opcode ? NULL : kernel_external_symbol(kernel);
}

static void print_dim(struct emitter *e, struct strbuf *b, const struct symbol *kernel, int dim)
{
    const struct kernel_names *names = ptrmap_get(&e->kernels, kernel);
    int f, d;
    int64_t factor, rest;
    if (!kernel_dim_source(e->checked, kernel, kernel->dims[dim], &f, &d, &factor, &rest)) {
        for (int i = 0; i < names->extra_count; i++)
            if (names->extra[i] == dim) strbuf_printf(b, "a[%d].value.i64", kernel->formal_count + i);
        return;
    }
    STRBUF(shape);
    strbuf_printf(&shape, "a[%d].shape[%d]", f, d);
    if (rest != 0) {
        strbuf_puts(&shape, rest > 0 ? " - " : " + ");
        print_int(&shape, rest > 0 ? rest : -rest, P_MUL);
    }
    if (factor != 1)
        strbuf_printf(b, rest ? "(%s) / " : "%s / ", strbuf_text(&shape));
    else
        strbuf_puts(b, strbuf_text(&shape));
    if (factor != 1) print_int(b, factor, P_UNARY);
}

/* Made of several kernels of the text? */
static bool is_joined(const struct symbol *kernel) { return kernel->equations && kernel->equations->part_count > 0; }

/* Has its module several kernels of its name?  An instance of a generic one has its types in its name. */
static bool is_overloaded(const struct symbol *kernel)
{
    for (int i = 0; i < kernel->module->symbol_count; i++) {
        const struct symbol *first = kernel->module->symbols[i]; /* the others of the name are behind it */
        if (first->kind == SYM_KERNEL && first->name == kernel->name) return first->next_overload != NULL;
    }
    return false;
}

/* The kernel's name in a map of kernels: the external function, or its own name, with element types if several have
 * that name. It does not depend on which of them the program needs. */
static const char *mapped_name(struct emitter *e, const struct symbol *kernel, size_t before)
{
    if (kernel->opcode || is_joined(kernel)) return kernel->name; /* no map names it */
    if (!has_own_body(kernel)) return kernel_external_symbol(kernel);
    const char *name = kernel->generic ? mangle_plain(e->mem, kernel->name) : kernel->name;
    if (!kernel->module->is_main) name = arena_printf(e->mem, "%s_%s", kernel->module->name, name);
    const bool has_types = is_overloaded(kernel);
    int more = 1;
    for (int i = 0; i < kernel->formal_count && has_types; i++)
        if (is_tensor(kernel->formals[i]))
            name = arena_printf(e->mem, "%s_%s", name, elem_name(kernel->formals[i]->type->elem));
    const char *unique = name;
    for (size_t j = 0; j < before; j++) {
        const struct kernel_names *other = ptrmap_get(&e->kernels, e->plan->kernels.data[j]);
        if (e->plan->kernels.data[j]->opcode || is_joined(e->plan->kernels.data[j]) ||
            strcmp(other->mapped, unique) != 0)
            continue;
        unique = arena_printf(e->mem, "%s_%d", name, ++more);
        j = (size_t)-1; /* from the first again */
    }
    return unique;
}

/* The prototype of an external function gives it another name in C. */
static bool clashes_with_c(const char *symbol)
{
    return (mangle_is_reserved(symbol) && strncmp(symbol, "pto", 3) != 0) || strlen(symbol) < 3;
}

static bool is_read_only(const struct symbol *formal) { return formal->dir == DIR_IN || formal->dir == DIR_HOST; }

/* Does one C function fit both? */
static bool have_one_type(const struct symbol *a, const struct symbol *b)
{
    bool same = a->declared_count == b->declared_count && a->dim_count == b->dim_count;
    for (int i = 0; i < a->declared_count && same; i++) {
        const struct symbol *x = a->declared[i], *y = b->declared[i];
        same = is_tensor(x) == is_tensor(y);
        if (same && is_tensor(x))
            same = is_read_only(x) == is_read_only(y) &&
                   strcmp(c_elem_type(x->type->elem), c_elem_type(y->type->elem)) == 0;
        else if (same)
            same = strcmp(c_scalar_type(x->type), c_scalar_type(y->type)) == 0;
    }
    return same;
}

/* Kernels that share a C function which cannot be that of both. */
static void check_function(struct emitter *e, const struct symbol *kernel, size_t count)
{
    const char *symbol = kernel_external_symbol(kernel);
    for (size_t i = 0; i < count; i++) {
        const struct symbol *other = e->plan->kernels.data[i];
        if (has_own_body(other) || other->opcode || strcmp(kernel_external_symbol(other), symbol) != 0 ||
            have_one_type(other, kernel))
            continue;
        diag_error(e->front->diag, DIAG_E12, kernel->decl->name_at,
                   "the C function '%s' would have other parameters here than for another kernel", symbol);
        diag_note(e->front->diag, other->decl->name_at, "the other one is here");
        diag_help(e->front->diag, "give each kernel a function of its own: 'extern \"NAME\"' before the ';'");
        return;
    }
}

/* Of the C function of a kernel by index; PTO_EQUATION_LEVELS makes names of others from it. */
static const char *take_levels(struct emitter *e, const char *wanted)
{
    static const char *const forms[] = {"%s_base", "%s_v3", "%s_v4"};
    enum { COUNT = sizeof forms / sizeof *forms };
    for (;;) {
        const char *made[COUNT], *name = names_take(&e->names, wanted);
        for (int i = 0; i < COUNT; i++) made[i] = arena_printf(e->mem, forms[i], name);
        if (names_force_free(&e->names, made, COUNT)) return name;
    }
}

void kernel_assign_names(struct emitter *e)
{
    const symbol_list *kernels = &e->plan->kernels;
    for (size_t i = 0; i < kernels->count; i++) { /* what is not ours to choose comes first */
        struct symbol *k = kernels->data[i];
        struct kernel_names *names = arena_new(e->mem, struct kernel_names);
        ptrmap_set(&e->kernels, k, names);
        if (has_own_body(k) || k->opcode) continue;
        names->symbol = kernel_external_symbol(k);
        if (!mangle_is_c_identifier(names->symbol))
            diag_error(e->front->diag, DIAG_E12,
                       k->decl->kernel->extern_name ? k->decl->kernel->extern_name->at : k->decl->name_at,
                       "'%s' is not the name of a C function", names->symbol);
        check_function(e, k, i);
        if (!names_is_taken(&e->names, names->symbol) && !mangle_is_reserved(names->symbol))
            names_force(&e->names, names->symbol);
    }
    for (size_t i = 0; i < kernels->count; i++) {
        struct symbol *k = kernels->data[i];
        struct kernel_names *names = ptrmap_get(&e->kernels, k);
        const char *base = mangle_plain(e->mem, k->name);
        if (!k->module->is_main) base = arena_printf(e->mem, "%s_%s", k->module->name, base);
        for (size_t j = 0; j < i; j++)
            if (kernels->data[j]->name == k->name && kernels->data[j]->module == k->module) {
                base = arena_printf(e->mem, "%s_%s", base, elem_name(first_elem(k)));
                break;
            }
        names->mapped = mapped_name(e, k, i);
        names->object = names_take(&e->names, names->symbol && strcmp(names->symbol, base) == 0
                                                  ? arena_printf(e->mem, "kernel_%s", base)
                                                  : base);
        if (!k->opcode) names->task = names_take(&e->names, arena_printf(e->mem, "task_%s", base));
        names->cost = k->decl->kernel->cost || k->equations
                          ? names_take(&e->names, arena_printf(e->mem, "cost_%s", base))
                          : "NULL";
        if (has_own_body(k)) {
            const char *body = arena_printf(e->mem, "%s_body", base);
            names->symbol = names->body = k->decl->kernel->block ? take_levels(e, body) : names_take(&e->names, body);
        } else if (names->symbol && clashes_with_c(names->symbol))
            /* by another name, see the prototype */
            names->body = names_take(&e->names, arena_printf(e->mem, "%s_extern", base));
        names->extra_count = kernel_extra_dims(e->checked, k, names->extra);
    }
}

/* ---- prototypes ---- */

static bool is_parameter(const struct symbol *kernel, const char *name)
{
    for (int i = 0; i < kernel->declared_count; i++)
        if (strcmp(kernel->declared[i]->name, name) == 0) return true;
    for (int i = 0; i < kernel->dim_count; i++)
        if (strcmp(kernel->dims[i]->name, name) == 0) return true;
    for (int i = 0; kernel->generic && i < kernel->generic->elem_count; i++)
        if (strcmp(kernel->generic->elems[i]->name, name) == 0) return true;
    return false;
}

/* A macro or a type of C; what is only a function may be hidden by a parameter as it is. */
static bool is_taken_by_c(const char *name)
{
    static const char *const words[] = {"linux", "unix", "stdin", "stdout", "stderr", "errno", "math_errhandling"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    if (length > 2 && strcmp(name + length - 2, "_t") == 0) return true;
    return mangle_is_reserved(name) && (isupper((unsigned char)name[0]) || strncmp(name, "pto", 3) == 0);
}

static const char *body_parameter(struct emitter *e, const struct symbol *kernel, const char *name)
{
    const char *safe = name;
    if (!is_taken_by_c(name)) return name;
    do safe = arena_printf(e->mem, "u_%s", safe);
    while (is_parameter(kernel, safe));
    return safe;
}

/* Of an external function: a name of C or C++, or of another parameter, gets `_` at its end. */
static const char *external_parameter(struct emitter *e, struct names *taken, const char *name)
{
    if (mangle_is_reserved(name) || cpp_is_keyword(name)) name = arena_printf(e->mem, "%s_", name);
    while (names_is_taken(taken, name)) name = arena_printf(e->mem, "%s_", name);
    names_force(taken, name);
    return name;
}

void kernel_print_prototype(struct emitter *e, const struct symbol *kernel, bool is_body, struct strbuf *b)
{
    const char *comma = "";
    const int count = kernel->declared_count + kernel->dim_count;
    const char **names = arena_array(e->mem, const char *, count + 1);
    struct names taken = {.mem = e->mem};
    for (int i = 0; i < count; i++) {
        const int dim = i - kernel->declared_count;
        const char *name = dim < 0 ? kernel->declared[i]->name : kernel->dims[dim]->name;
        names[i] = is_body ? body_parameter(e, kernel, name) : external_parameter(e, &taken, name);
    }
    strbuf_putc(b, '(');
    for (int i = 0; i < kernel->declared_count; i++) {
        const struct symbol *s = kernel->declared[i];
        const char *name = names[i], *stride = arena_printf(e->mem, "%s_stride", is_body ? s->name : name);
        if (!is_body && is_tensor(s)) stride = external_parameter(e, &taken, stride);
        if (is_tensor(s))
            strbuf_printf(b, "%s%s%s *%s, const int64_t *%s", comma, is_read_only(s) ? "const " : "",
                          c_elem_type(s->type->elem), name, stride);
        else
            strbuf_printf(b, "%s%s %s", comma, c_scalar_type(s->type), name);
        comma = ", ";
    }
    for (int i = 0; i < kernel->dim_count; i++, comma = ", ")
        strbuf_printf(b, "%sint64_t %s", comma, names[kernel->declared_count + i]);
    strbuf_puts(b, *comma ? ")" : "void)");
    names_free(&taken);
}

static void emit_external(struct emitter *e, const struct symbol *kernel, const struct kernel_names *names)
{
    STRBUF(b);
    kernel_print_prototype(e, kernel, false, &b);
    if (names->body)
        out_line(e->out, "extern int %s%s __asm__(\"%s\");", names->body, strbuf_text(&b), names->symbol);
    else
        out_line(e->out, "extern int %s%s;", names->symbol, strbuf_text(&b));
}

/* ---- C bodies ---- */

/* Note [names that C has taken]: a body may name a formal or a const NULL or int64_t.  Its parameter has another name;
 * before the body the macro is put aside, and a variable of the user's name has the parameter's value.  What C needs
 * outside is untouched. */
static void hide_macro(struct emitter *e, const char *name)
{
    out_directive(e->out, "#pragma push_macro(\"%s\")", name);
    out_directive(e->out, "#undef %s", name);
}

static void show_macro(struct emitter *e, const char *name)
{
    out_directive(e->out, "#pragma pop_macro(\"%s\")", name);
}

static void emit_taken_name(struct emitter *e, const struct symbol *kernel, const char *name)
{
    if (!is_taken_by_c(name)) return;
    const char *parameter = body_parameter(e, kernel, name);
    hide_macro(e, name);
    out_line(e->out, "__typeof__(%s) %s = %s;", parameter, name, parameter);
}

static enum c_use body_names(const struct symbol *kernel, const char *name, const struct source *source)
{
    const struct span body = kernel->decl->kernel->body_at;
    return c_text_use(source->text + body.begin, source->text + body.end, name);
}

static enum c_use constant_use(const struct symbol *kernel, const struct symbol *s, const struct source *source)
{
    if (s->kind != SYM_CONST || !s->has_value || is_parameter(kernel, s->name) || mangle_is_c_keyword(s->name))
        return C_USE_NONE;
    return body_names(kernel, s->name, source);
}

/* An enumerator where it can be one, so that it may be the length of an array. */
static void emit_constants(struct emitter *e, const struct symbol *kernel, const struct source *source)
{
    for (int i = 0; i < kernel->module->symbol_count; i++) {
        const struct symbol *s = kernel->module->symbols[i];
        int use = constant_use(kernel, s, source);
        if (!use) continue;
        if (is_taken_by_c(s->name)) hide_macro(e, s->name);
        STRBUF(b);
        if (s->type->kind == TYPE_INT && use == 1 && s->int_value >= INT_MIN && s->int_value <= INT_MAX) {
            out_line(e->out, "enum { %s = %" PRId64 " };", s->name, s->int_value);
        } else {
            value_print(e, &b, lower_symbol(e->lowering, s), P_ANY);
            out_line(e->out, "static const %s %s = %s;", c_scalar_type(s->type), s->name, strbuf_text(&b));
            out_line(e->out, "(void)%s;", s->name);
        }
    }
}

/* Element types are types of C in the body, where it names them. */
static void emit_elements(struct emitter *e, const struct symbol *kernel, const struct source *source)
{
    for (int i = 0; kernel->generic && i < kernel->generic->elem_count; i++) {
        const char *name = kernel->generic->elems[i]->name;
        if (!body_names(kernel, name, source)) continue;
        if (is_taken_by_c(name)) hide_macro(e, name);
        out_line(e->out, "typedef %s %s;", c_elem_type(kernel->bound[i]), name);
    }
}

/* The macros that were put aside, for what comes behind the body. */
static void emit_shown_again(struct emitter *e, const struct symbol *kernel, const struct source *source)
{
    for (int i = 0; i < kernel->declared_count; i++)
        if (is_taken_by_c(kernel->declared[i]->name)) show_macro(e, kernel->declared[i]->name);
    for (int i = 0; i < kernel->dim_count; i++)
        if (is_taken_by_c(kernel->dims[i]->name)) show_macro(e, kernel->dims[i]->name);
    for (int i = 0; kernel->generic && i < kernel->generic->elem_count; i++) {
        const char *name = kernel->generic->elems[i]->name;
        if (is_taken_by_c(name) && body_names(kernel, name, source)) show_macro(e, name);
    }
    for (int i = 0; i < kernel->module->symbol_count; i++) {
        const struct symbol *s = kernel->module->symbols[i];
        if (is_taken_by_c(s->name) && constant_use(kernel, s, source)) show_macro(e, s->name);
    }
}

static void emit_body(struct emitter *e, const struct symbol *kernel, const struct kernel_names *names)
{
    struct span body = kernel->decl->kernel->body_at;
    const struct source *source = source_get(e->front->sources, body.file);
    struct place open = source_place(e->front->sources, body.file, body.begin - 1);
    struct strbuf b = {0};
    kernel_print_prototype(e, kernel, true, &b);
    out_line(e->out, "static int %s%s", names->body, strbuf_text(&b));
    strbuf_free(&b);
    out_open(e->out, "{");
    emit_constants(e, kernel, source);
    emit_elements(e, kernel, source);
    for (int i = 0; i < kernel->declared_count; i++) emit_taken_name(e, kernel, kernel->declared[i]->name);
    for (int i = 0; i < kernel->dim_count; i++) emit_taken_name(e, kernel, kernel->dims[i]->name);
    for (int i = 0; i < kernel->declared_count; i++) { /* a kernel need not use all it is given */
        strbuf_printf(&b, "(void)%s; ", kernel->declared[i]->name);
        if (is_tensor(kernel->declared[i])) strbuf_printf(&b, "(void)%s_stride; ", kernel->declared[i]->name);
    }
    for (int i = 0; i < kernel->dim_count; i++) strbuf_printf(&b, "(void)%s; ", kernel->dims[i]->name);
    if (b.length) out_line(e->out, "%s", strbuf_text(&b));
    strbuf_free(&b);
    /* columns of messages are those of the .pto text, too */
    for (int c = 1; c < open.column; c++) strbuf_putc(&b, ' ');
    strbuf_putc(&b, '{');
    strbuf_add(&b, source->text + body.begin, body.end - body.begin);
    strbuf_putc(&b, '}');
    out_raw(e->out, source->path, open.line, strbuf_text(&b), b.length);
    strbuf_free(&b);
    emit_shown_again(e, kernel, source);
    out_line(e->out, "return 0;");
    out_close(e->out, "}");
}

/* ---- the adapter, the cost, the kernel ---- */

/* The names of the values that an adapter or a cost knows, of which none is used yet; a body has the same. */
void kernel_declare_values(struct emitter *e, const struct symbol *kernel)
{
    for (int i = 0; i < kernel->dim_count; i++) emit_declare(e, kernel->dims[i], kernel->dims[i]->name);
    for (int i = 0; i < kernel->formal_count; i++) emit_declare(e, kernel->formals[i], kernel->formals[i]->name);
    e->plan->ranges.function = kernel;
    for (int i = 0; i < kernel->dim_count; i++) ptrmap_set(&e->used, kernel->dims[i], NULL);
    for (int i = 0; i < kernel->formal_count; i++) ptrmap_set(&e->used, kernel->formals[i], NULL);
}

bool kernel_emit_values(struct emitter *e, const struct symbol *kernel)
{
    bool any = false;
    for (int i = 0; i < kernel->dim_count + kernel->formal_count; i++) {
        const struct symbol *s = i < kernel->dim_count ? kernel->dims[i] : kernel->formals[i - kernel->dim_count];
        if (!ptrmap_get(&e->used, s)) continue;
        STRBUF(source);
        any = true;
        if (i < kernel->dim_count)
            print_dim(e, &source, kernel, i);
        else
            strbuf_printf(&source, "a[%d].value.%s", i - kernel->dim_count, scalar_member(s->type));
        out_line(e->out, "const %s %s = %s;", c_scalar_type(s->type), emit_name(e, s), strbuf_text(&source));
    }
    return any;
}

/* What the C function is called with. */
static void print_arguments(struct emitter *e, struct strbuf *b, const struct symbol *kernel)
{
    const char *comma = "";
    for (int i = 0, n = 0, scratch = 0; i < kernel->declared_count; i++, comma = ", ") {
        const struct symbol *s = kernel->declared[i];
        strbuf_puts(b, comma);
        if (s->dir == DIR_SCRATCH)
            scratch_print_argument(b, scratch++);
        else if (is_tensor(s))
            strbuf_printf(b, "a[%d].ptr, a[%d].stride", n, n), n++;
        else
            strbuf_printf(b, "a[%d].value.%s", n++, scalar_member(s->type));
    }
    for (int i = 0; i < kernel->dim_count; i++, comma = ", ") {
        strbuf_puts(b, comma);
        print_dim(e, b, kernel, i);
    }
}

static void emit_adapter(struct emitter *e, const struct symbol *kernel, const struct kernel_names *names)
{
    STRBUF(b);
    print_arguments(e, &b, kernel);
    out_line(e->out, "static int %s(const PTOArg *a)", names->task);
    out_open(e->out, "{");
    if (scratch_is_used(kernel)) scratch_emit(e, kernel);
    if (kernel->formal_count + kernel->dim_count == 0) out_line(e->out, "(void)a;");
    out_line(e->out, "return %s(%s);", names->body ? names->body : names->symbol, strbuf_text(&b));
    out_close(e->out, "}");
}

static void emit_cost(struct emitter *e, const struct symbol *kernel, const struct kernel_names *names)
{
    const struct ast *cost = kernel->decl->kernel->cost; /* NULL: what the equations say */
    STRBUF(b);
    size_t mark = names_mark(&e->names);
    names_force(&e->names, "a");
    kernel_declare_values(e, kernel);
    e->has_global_params = e->options->no_main;
    if (cost)
        expression_print(e, &b, cost, NULL, P_ANY, ARITH_COST);
    else
        size_print(e, &b, equations_of(kernel)->cost, P_ANY, ARITH_COST);
    e->names_params &= !e->has_global_params;
    e->has_global_params = false;
    out_line(e->out, "static int64_t %s(const PTOArg *a)", names->cost);
    out_open(e->out, "{");
    params_declare(e, "pto_cost_params()");
    if (!kernel_emit_values(e, kernel)) out_line(e->out, "(void)a;");
    out_line(e->out, !cost || cost->type->kind == TYPE_INT ? "return %s;" : "return pto_cost_real(%s);",
             strbuf_text(&b));
    out_close(e->out, "}");
    names_close(&e->names, mark);
}

static const char *worker_constant(const char *worker)
{
    static const struct {
        const char *name, *constant;
    } workers[] = {
#define PTO_WORKER(id, name) {name, "PTO_WORKER_" #id},
#include <pto/workers.def>
#undef PTO_WORKER
    };
    for (size_t i = 0; worker && i < sizeof workers / sizeof *workers; i++)
        if (strcmp(worker, workers[i].name) == 0) return workers[i].constant;
    return "PTO_WORKER_VECTOR"; /* what docs/language.md says of a kernel without `on` */
}

static const char *opcode_constant(struct emitter *e, int32_t opcode)
{
    static const char *const names[] = {
        NULL,
#define PTO_OPCODE(id, name, count, written, formals) "PTO_OP_" #id,
#include <pto/opcodes.def>
#undef PTO_OPCODE
    };
    return (size_t)opcode < sizeof names / sizeof *names ? names[opcode] : arena_printf(e->mem, "%" PRId32, opcode);
}

const char *kernel_head_text(struct emitter *e, const struct symbol *kernel)
{
    struct span head = kernel->decl->at;
    const struct place at = source_place(e->front->sources, head.file, head.begin);
    const char *path = emit_comment_text(e, source_get(e->front->sources, head.file)->path);
    if (kernel->decl->kernel->has_body) head.end = kernel->decl->kernel->body_at.begin - 1;
    if (kernel->decl->kernel->block) head.end = kernel->decl->kernel->block->at.begin;
    const char *text = arena_printf(e->mem, "%s:%d  %s", path, at.line, emit_source_text(e, head));
    for (int i = 0; kernel->generic && i < kernel->generic->elem_count; i++)
        text = arena_printf(e->mem, "%s%s %s = %s", text, i ? "," : " with", kernel->generic->elems[i]->name,
                            elem_name(kernel->bound[i]));
    return text;
}

static void emit_parts(struct emitter *e, const struct symbol *kernel)
{
    const struct equations *q = kernel->equations;
    out_line(e->out, "/* %s: calls that are one task, the equations of", kernel->name);
    for (int i = 0; i < q->part_count; i++)
        out_line(e->out, " * %s%s", kernel_head_text(e, q->parts[i]), i + 1 == q->part_count ? " */" : "");
}

void kernel_emit_call(struct emitter *e, const struct symbol *kernel)
{
    const struct kernel_names *names = ptrmap_get(&e->kernels, kernel);
    out_line(e->out, "%s", "");
    if (is_joined(kernel))
        emit_parts(e, kernel);
    else
        out_line(e->out, "/* %s */", kernel_head_text(e, kernel));
    if (kernel->opcode) return;
    if (kernel->decl->kernel->block)
        equations_emit(e, kernel, names);
    else if (kernel->decl->kernel->has_body)
        emit_body(e, kernel, names);
    else
        emit_external(e, kernel, names);
    emit_adapter(e, kernel, names);
}

/* "a, b, c", as a C string. */
static const char *formal_names(struct emitter *e, const struct symbol *kernel)
{
    const char *names = "";
    for (int i = 0; i < kernel->formal_count; i++)
        names = arena_printf(e->mem, "%s%s%s", names, i ? ", " : "", kernel->formals[i]->name);
    return c_string(e, names);
}

void kernel_emit(struct emitter *e, const struct symbol *kernel)
{
    const struct kernel_names *names = ptrmap_get(&e->kernels, kernel);
    kernel_emit_call(e, kernel);
    if (kernel->decl->kernel->cost || kernel->equations) emit_cost(e, kernel, names);
    const bool has_symbol = strcmp(names->mapped, kernel->name) != 0;
    const char *action = kernel->opcode ? arena_printf(e->mem, ".opcode = %s", opcode_constant(e, kernel->opcode))
                                        : arena_printf(e->mem, ".fn = %s", names->task);
    out_line(e->out, "static const PTOKernel %s = {.name = %s, .worker = %s, %s, .cost = %s%s%s, .formals = %s};",
             names->object, c_string(e, kernel->name), worker_constant(kernel->decl->kernel->worker), action,
             names->cost, has_symbol ? ", .symbol = " : "", has_symbol ? c_string(e, names->mapped) : "",
             formal_names(e, kernel));
}
