/* equations.c - the C function of a kernel in index notation.
 * Idea       the equations are printed once, as loops over elements in a function that is inlined into one function for
 *            each level of the processor; there `dense` and `fused` are constants, and the C compiler makes vectors of
 *            the level's width.  `dense`: every tensor has its last dimension in a row.
 * Invariant  the bits do not depend on strides, nor on the level where no product and addition are one rounding.
 * Tests      test/lit/run/index-notation.test, test/lit/codegen/index-sharing.pto
 */
#include "parts.h"
#include "support/digest.h"

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }

/* ---- parameters ---- */

/* A name that follows from a formal's.  It may hide one of the file, but not another name of the function. */
static const char *derived_name(struct eq_printer *p, const char *wanted)
{
    if (names_is_taken(&p->e->names, wanted)) return names_take(&p->e->names, wanted);
    names_force(&p->e->names, wanted);
    return wanted;
}

/* Names that follow from a formal's come last: one that a formal or a dimension variable has, too, is numbered. */
static void declare_parameters(struct eq_printer *p)
{
    const struct symbol *k = p->q->kernel;
    for (int i = 0; i < k->formal_count; i++) emit_declare(p->e, k->formals[i], k->formals[i]->name);
    for (int i = 0; i < k->dim_count; i++) emit_declare(p->e, k->dims[i], k->dims[i]->name);
    for (int i = 0; i < k->formal_count; i++)
        if (is_tensor(k->formals[i]))
            p->strides[i] = derived_name(p, arena_printf(p->e->mem, "%s_stride", emit_name(p->e, k->formals[i])));
}

static const char *own_parameters(struct eq_printer *p)
{
    STRBUF(b);
    const struct symbol *k = p->q->kernel;
    declare_parameters(p);
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *s = k->formals[i];
        const char *name = emit_name(p->e, s);
        if (is_tensor(s))
            strbuf_printf(&b, "%s%s *restrict %s, const int64_t *%s, ",
                          s->dir == DIR_IN || s->dir == DIR_HOST ? "const " : "", c_elem_type(s->type->elem), name,
                          p->strides[i]);
        else
            strbuf_printf(&b, "const %s %s, ", c_scalar_type(s->type), name);
    }
    for (int i = 0; i < k->dim_count; i++) strbuf_printf(&b, "const int64_t %s, ", emit_name(p->e, k->dims[i]));
    strbuf_printf(&b, "const bool %s, const bool %s", p->dense, p->fused);
    return arena_copy(p->e->mem, strbuf_text(&b), b.length);
}

/* Of x these are x_0, x_1 ... where no parameter is called that. */
static void take_strides(struct eq_printer *p)
{
    const struct symbol *k = p->q->kernel;
    for (int i = 0; i < k->formal_count; i++)
        for (int d = 0; is_tensor(k->formals[i]) && d < k->formals[i]->type->rank; d++)
            p->stride[i * MAX_RANK + d] =
                derived_name(p, arena_printf(p->e->mem, "%s_%d", emit_name(p->e, k->formals[i]), d));
}

static void emit_strides(struct eq_printer *p)
{
    const struct symbol *k = p->q->kernel;
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *s = k->formals[i];
        if (!is_tensor(s)) continue;
        for (int d = 0; d < s->type->rank; d++)
            out_line(p->e->out,
                     d == s->type->rank - 1 ? "const int64_t %s = %s ? 1 : %s[%d];" : "const int64_t %s = %.0s%s[%d];",
                     p->stride[i * MAX_RANK + d], p->dense, p->strides[i], d);
    }
}

static void emit_uses(struct eq_printer *p)
{
    STRBUF(b);
    const struct symbol *k = p->q->kernel;
    for (int i = 0; i < k->formal_count; i++) {
        const char *name = emit_name(p->e, k->formals[i]);
        strbuf_printf(&b, "(void)%s; ", name);
        if (!is_tensor(k->formals[i])) continue;
        strbuf_printf(&b, "(void)%s; ", p->strides[i]);
        for (int d = 0; d < k->formals[i]->type->rank; d++)
            strbuf_printf(&b, "(void)%s; ", p->stride[i * MAX_RANK + d]);
    }
    for (int i = 0; i < k->dim_count; i++) strbuf_printf(&b, "(void)%s; ", emit_name(p->e, k->dims[i]));
    strbuf_printf(&b, "(void)%s; (void)%s;", p->dense, p->fused);
    out_line(p->e->out, "%s", strbuf_text(&b));
}

/* ---- temporaries ---- */

static bool is_array(const struct eq_printer *p, const struct eq_temp *t)
{
    return p->storage[t->id].dims > 0 && !p->storage[t->id].output;
}

/* Numbers of the whole kernel are variables; arrays lie behind each other in the worker's scratch. */
static void emit_temporaries(struct eq_printer *p)
{
    struct out *out = p->e->out;
    struct arena *mem = p->e->mem;
    const char *total = NULL, *panel = NULL;
    const char **bytes_of = arena_array(mem, const char *, p->q->temp_count + 1);
    for (int i = 0; i < p->q->temp_count; i++) {
        const struct eq_temp *t = p->q->temps[i];
        struct eq_storage *s = &p->storage[t->id];
        if ((s->dims == 0 && s->in) || s->output) continue; /* where its loop begins; there already */
        if (s->dims == 0) {
            equation_declare_number(p, t, " = 0");
            continue;
        }
        const char *count = arena_printf(mem, "sizeof(%s)", c_elem_type(t->elem));
        for (int d = 0; d < t->rank; d++)
            if (!s->is_dropped[d])
                count = arena_printf(mem, "pto_bytes(%s, %s)", count, equation_size(p, t->extent[d], P_ANY));
        const char *bytes = bytes_of[i] = derived_name(p, arena_printf(mem, "%s_bytes", s->name));
        out_line(out, "const size_t %s = pto_aligned(%s);", bytes, count);
        total = total ? arena_printf(mem, "pto_bytes_sum(%s, %s)", total, bytes) : bytes;
    }
    for (int i = 0; i < p->q->stmt_count; i++) {
        struct eq_contraction c;
        if (!equation_is_contraction(p, p->q->stmts[i], &c)) continue;
        const char *bytes = arena_printf(mem, "pto_bytes(PTO_PANEL_BYTES, %s)", equation_length(p, c.k));
        panel = panel ? arena_printf(mem, "pto_bytes_sum(%s, %s)", panel, bytes) : bytes;
    }
    if (panel) total = total ? arena_printf(mem, "pto_bytes_sum(%s, %s)", total, panel) : panel;
    if (!total) return;
    const char *base = p->panel;
    out_line(out, "unsigned char *%s = pto_scratch(%s);", base, total);
    out_line(out, "if (!%s) return pto_kernel_failed(\"there is no memory for its temporaries\");", base);
    for (int i = 0; i < p->q->temp_count; i++) {
        const struct eq_temp *t = p->q->temps[i];
        if (!is_array(p, t)) continue;
        const char *name = p->storage[t->id].name, *type = c_elem_type(t->elem);
        out_line(out, "%s *restrict %s = (%s *)(void *)%s;", type, name, type, base);
        out_line(out, "%s += %s;", base, bytes_of[i]);
        out_line(out, "(void)%s;", name);
    }
    out_line(out, "(void)%s;", base);
}

/* ---- failures ---- */

/* Of a kernel that was joined each part has a variable, so that the failure can say which of them it was. */
static void declare_failures(struct eq_printer *p)
{
    struct emitter *e = p->e;
    const int count = p->q->part_count;
    p->failed = names_take(&e->names, "failed");
    p->failed_of = arena_array(e->mem, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        const struct symbol *part = p->q->parts[i];
        if (!equations_of(part)->may_fail) continue;
        p->failed_of[i] = names_take(&e->names, mangle_plain(e->mem, arena_printf(e->mem, "%s_failed", part->name)));
        out_line(e->out, "int %s = 0;", p->failed_of[i]);
    }
    if (count == 0 && p->q->may_fail) out_line(e->out, "int %s = 0;", p->failed);
}

static void emit_end(struct eq_printer *p)
{
    struct out *out = p->e->out;
    for (int i = 0; i < p->q->part_count; i++) {
        const char *failed = p->failed_of[i];
        if (!failed) continue;
        out_line(out, "if (%s) return pto_kernel_failed(\"in '%s': %%s\", pto_failure_text(%s));", failed,
                 p->q->parts[i]->name, failed);
    }
    const bool may_fail = p->q->part_count == 0 && p->q->may_fail;
    out_line(out, may_fail ? "return pto_elements_end(%s);" : "return 0;", p->failed);
}

void equation_begin(struct eq_printer *p, const struct eq_stmt *s)
{
    p->stmt = s;
    for (int i = p->q->part_count - 1; i >= 0; i--)
        if (p->q->parts[i] == s->part) p->failed = p->failed_of[i];
}

const char *equation_part_text(const struct eq_printer *p, const struct eq_stmt *s)
{
    return s->part ? arena_printf(p->e->mem, "in '%s': ", s->part->name) : "";
}

/* ---- functions ---- */

static const char *elements_function(struct eq_printer *p, const struct kernel_names *names)
{
    struct emitter *e = p->e;
    const char *name = names_take(&e->names, arena_printf(e->mem, "%s_elements", names->body));
    const size_t mark = names_mark(&e->names);
    p->dense = names_take(&e->names, "dense");
    p->fused = names_take(&e->names, "fused");
    const char *parameters = own_parameters(p);
    take_strides(p);
    out_line(e->out, "PTO_ELEMENTS int %s(%s)", name, parameters);
    out_open(e->out, "{");
    emit_strides(p);
    emit_uses(p);
    declare_failures(p);
    for (int i = 0; i < p->q->temp_count; i++) { /* until sharing says more */
        const struct eq_temp *t = p->q->temps[i];
        p->storage[t->id] =
            (struct eq_storage){.name = names_take(&e->names, mangle_plain(e->mem, t->name)), .dims = t->rank};
    }
    const struct eq_stmt **rest = arena_array(e->mem, const struct eq_stmt *, p->q->stmt_count + 1);
    int rest_count = 0;
    p->panel = names_take(&e->names, "scratch"); /* behind the last array; the tests may name it */
    struct out tests = {.depth = e->out->depth}, *outer = e->out;
    e->out = &tests;
    equation_checks(p, rest, &rest_count);
    e->out = outer;
    equation_share(p, rest, rest_count);
    emit_temporaries(p);
    out_append(e->out, &tests);
    equation_nodes(p, p->tree);
    out_at(e->out, NULL, 0);
    emit_end(p);
    out_close(e->out, "}");
    names_close(&e->names, mark);
    return name;
}

/* In which order the elements functions see the matrices. */
enum layout {
    LAYOUT_GIVEN,
    LAYOUT_SHORT_ROWS, /* contiguous: strides are constants */
    LAYOUT_BY_COLUMNS  /* rows and columns have changed places */
};

/* A version of the elements for some arguments. */
struct version {
    const char *when; /* the condition in C; NULL: there is no such version */
    struct eq_flag flag;
    enum layout layout;
};

static const char *stride_argument(struct eq_printer *p, const struct symbol *s, enum layout layout)
{
    const char *strides = equation_strides(p, s);
    switch (layout) {
    case LAYOUT_SHORT_ROWS: return equation_row_strides(p, s);
    case LAYOUT_BY_COLUMNS: return arena_printf(p->e->mem, "(const int64_t[]){%s[1], %s[0]}", strides, strides);
    default: return strides;
    }
}

/* The names of the parameters, as the version wants them; its flag is replaced by its value. */
static const char *arguments(struct eq_printer *p, const struct version *v)
{
    STRBUF(b);
    const struct symbol *k = p->q->kernel;
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *s = k->formals[i];
        const char *name = emit_name(p->e, s);
        if (s == v->flag.formal) name = v->flag.value ? "true" : "false";
        strbuf_printf(&b, "%s%s", i ? ", " : "", name);
        if (is_tensor(s)) strbuf_printf(&b, ", %s", stride_argument(p, s, v->layout));
    }
    for (int i = 0; i < k->dim_count; i++) {
        const struct symbol *dim = k->dims[v->layout == LAYOUT_BY_COLUMNS ? k->dim_count - 1 - i : i];
        strbuf_printf(&b, "%s%s", i || k->formal_count ? ", " : "", emit_name(p->e, dim));
    }
    return arena_copy(p->e->mem, strbuf_text(&b), b.length);
}

/* The condition in C that elements which are next to each other in a dimension are so in memory, of every tensor.
 * from_end: 1 is the last dimension, 2 the one before. */
static const char *unit_strides(struct eq_printer *p, int from_end)
{
    const struct symbol *k = p->q->kernel;
    const char *text = "";
    for (int i = 0; i < k->formal_count; i++)
        if (is_tensor(k->formals[i]) && k->formals[i]->type->rank > 0)
            text = arena_printf(p->e->mem, "%s%s%s[%d] == 1", text, *text ? " && " : "", p->strides[i],
                                k->formals[i]->type->rank - from_end);
    return *text ? text : "true";
}

/* The same parameters as those of an external kernel of this declaration. */
static const char *parameters(struct eq_printer *p)
{
    STRBUF(b);
    const struct symbol *k = p->q->kernel;
    declare_parameters(p);
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *s = k->formals[i];
        const char *name = emit_name(p->e, s), *comma = i ? ", " : "";
        if (is_tensor(s))
            strbuf_printf(&b, "%s%s%s *%s, const int64_t *%s", comma,
                          s->dir == DIR_IN || s->dir == DIR_HOST ? "const " : "", c_elem_type(s->type->elem), name,
                          p->strides[i]);
        else
            strbuf_printf(&b, "%s%s %s", comma, c_scalar_type(s->type), name);
    }
    for (int i = 0; i < k->dim_count; i++)
        strbuf_printf(&b, "%sint64_t %s", i || k->formal_count ? ", " : "", emit_name(p->e, k->dims[i]));
    return b.length ? arena_copy(p->e->mem, strbuf_text(&b), b.length) : "void";
}

/* Does the program's main() give every call whole arrays, and does no call make gaps in them?  See passes/gaps.c.  The
 * kernels of --emit=kernels are printed without that pass: a map serves a host's calls, too. */
static bool has_rows(const struct eq_printer *p)
{
    const struct emitter *e = p->e;
    return e->plan->has_gapped && !e->options->no_main && !e->options->is_shared &&
           !ptrmap_get(&e->plan->gapped, p->q->kernel);
}

static struct version version_of(struct eq_printer *p)
{
    struct arena *mem = p->e->mem;
    const struct eq_flag flag = equation_flag(p->q);
    if (flag.formal) {
        const char *is = flag.value ? "" : "!", *name = emit_name(p->e, flag.formal);
        return (struct version){arena_printf(mem, "%s && %s%s", p->dense, is, name), flag, LAYOUT_GIVEN};
    }
    const char *rows = equation_short_rows(p);
    if (rows)
        return (struct version){.when = arena_printf(mem, "%s && PTO_USUALLY(%s)", p->dense, rows),
                                .layout = LAYOUT_SHORT_ROWS};
    if (has_rows(p) || !equation_may_go_by_columns(p)) return (struct version){.when = NULL};
    return (struct version){.when = arena_printf(mem, "!%s && %s", p->dense, unit_strides(p, 2)),
                            .layout = LAYOUT_BY_COLUMNS};
}

/* Between the levels and the elements: the choice of a version in which a flag, or strides of rows, are constants, or
 * columns are rows. */
static const char *versions_function(struct eq_printer *p, const struct kernel_names *names, const char *elements)
{
    struct emitter *e = p->e;
    const size_t outer = names_mark(&e->names);
    const char *name = names_take(&e->names, arena_printf(e->mem, "%s_versions", names->body));
    const size_t mark = names_mark(&e->names);
    p->dense = names_take(&e->names, "dense");
    p->fused = names_take(&e->names, "fused");
    const char *list = own_parameters(p);
    const struct version special = version_of(p), any = {.layout = LAYOUT_GIVEN};
    if (!special.when) {
        names_close(&e->names, outer);
        return elements;
    }
    out_line(e->out, "PTO_ELEMENTS int %s(%s)", name, list);
    out_open(e->out, "{");
    out_line(e->out, "if (%s) return %s(%s, true, %s);", special.when, elements, arguments(p, &special), p->fused);
    out_line(e->out, "return %s(%s, %s, %s);", elements, arguments(p, &any), p->dense, p->fused);
    out_close(e->out, "}");
    names_close(&e->names, mark);
    return name;
}

/* One function for each level, and the one that chooses. */
static void emit_levels(struct eq_printer *p, const struct kernel_names *names, const char *elements)
{
    struct out *out = p->e->out;
    const size_t mark = names_mark(&p->e->names);
    const char *list = parameters(p), *passed = arguments(p, &(struct version){.layout = LAYOUT_GIVEN});
    out_line(out, "PTO_EQUATION_%s(%s, %s,", has_rows(p) ? "ROWS" : "LEVELS", names->body, elements);
    out_more(out, "(%s),", list);
    out_more(out, "%s,", unit_strides(p, 1));
    out_more(out, "(%s), (%s%s))", passed, passed, *passed ? "," : "");
    names_close(&p->e->names, mark);
}

/* The functions of the kernel, as one section of a file. */
static void emit_section(struct eq_printer *p, const struct kernel_names *names)
{
    out_directive(p->e->out, "PTO_ELEMENTS_BEGIN");
    emit_levels(p, names, versions_function(p, names, elements_function(p, names)));
    out_directive(p->e->out, "PTO_ELEMENTS_END");
}

/* No function of C has a name with a dot, so none that is linked with the program is taken for it.  Kernels that are
 * compiled together lie in one object, and a later build may find that object for one of them only.  So the name says
 * what the function does: another text of that kernel has another one. */
static const char *symbol_apart(struct emitter *e, const struct out *section, const struct kernel_names *names)
{
    STRBUF(text);
    out_render(section, names->body, !e->options->no_line, &text);
    const struct digest digest = digest_of(strbuf_text(&text), text.length);
    return arena_printf(e->mem, "pto.%s.%016llx%016llx", names->body, (unsigned long long)digest.word[0],
                        (unsigned long long)digest.word[1]);
}

static void declare_apart(struct eq_printer *p, const struct kernel_names *names, const char *symbol)
{
    const size_t mark = names_mark(&p->e->names);
    out_line(p->e->out, "extern int %s(%s) __asm__(\"%s\");", names->body, parameters(p), symbol);
    names_close(&p->e->names, mark);
}

/* A file of its own that depends on nothing but the kernel, so that its object can be kept. */
static void emit_apart(struct eq_printer *p, const struct kernel_names *names)
{
    struct emitter *e = p->e;
    struct out file = {0}, section = {0}, *program = e->out;
    struct codegen_part part = {0};
    strbuf_puts(&part.name, names->body);
    e->needs_integers = e->needs_mathematics = false;
    e->out = &section;
    emit_section(p, names);
    const char *symbol = symbol_apart(e, &section, names);
    e->out = &file;
    out_line(e->out, "/* Generated by ptoc: a kernel in index notation. */");
    out_line(e->out, "#define PTO_EQUATION_LINKAGE PTO_EQUATION_APART /* another file calls it */");
    emit_equations_headers(e);
    emit_no_tautologies(e->out);
    if (emit_has_f16(p->q->kernel)) emit_f16_error(e->out);
    declare_apart(p, names, symbol);
    out_append(&file, &section);
    e->out = program;
    out_render(&file, arena_printf(e->mem, "%s.c", names->body), !e->options->no_line, &part.text);
    out_clear(&file);
    vec_push(&e->options->parts->list, part);
    declare_apart(p, names, symbol);
}

void equations_emit(struct emitter *e, const struct symbol *kernel, const struct kernel_names *names)
{
    const struct equations *q = equations_of(kernel);
    if (!q) return; /* in error, which was said */
    struct eq_printer p = {
        .e = e,
        .q = q,
        .sizes = e->checked->sizes,
        .storage = arena_array(e->mem, struct eq_storage, q->temp_count + 1),
        .strides = arena_array(e->mem, const char *, kernel->formal_count + 1),
        .stride = arena_array(e->mem, const char *, kernel->formal_count *MAX_RANK + 1),
        .from = arena_array(e->mem, const struct symbol *, q->var_count * 2 + 1),
        .to = arena_array(e->mem, const struct size *, q->var_count * 2 + 1),
    };
    if (e->options->parts)
        emit_apart(&p, names);
    else
        emit_section(&p, names);
}
