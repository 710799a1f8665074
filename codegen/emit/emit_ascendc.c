/* emit_ascendc.c - --emit=ascendc: a skeleton for a device of each kernel of a program: everything but its computation.
 *
 * Idea       entry, decoding of the argument block (docs/ascend.md) and the loop over tiles follow from the
 *            declaration; a person writes the computation of a tile, with the host's body beside it.  Until then the
 *            file does not compile. A vector kernel goes over the rows of the first tensor that it writes; tensors of
 *            the same shape are moved piece by piece with it, others are left where they are.  A cube kernel goes over
 *            tiles of its last two dimensions.
 *            A kernel in index notation is complete, or E12 says why it is not.
 * Invariant  what is printed compiles with -DPTO_SKELETON; it needs share/pto/ascend, and nothing of the runtime.
 * Tests      test/lit/codegen/ascendc.pto, test/lit/ascend/skeleton.test
 */
#include "emit.h"
#include "equations/ascendc.h"
#include <string.h>

enum { LOCAL_BYTES = 192 * 1024, MOST_PIECE_BYTES = 16384, LINE_BYTES = 32 };

/* A kernel while it is printed. */
struct skeleton {
    const struct symbol *kernel;
    const struct kernel_names *names;
    const char *formal[MAX_FORMALS], *dim[MAX_FORMALS]; /* what they are called here */
    int main; /* the formal whose tiles are gone over; -1: there is no tensor */
};

static bool is_tensor(const struct symbol *s) { return s->type->kind == TYPE_TENSOR; }
static bool is_written(const struct symbol *s) { return s->dir != DIR_IN && s->dir != DIR_HOST; }
static bool is_read(const struct symbol *s) { return s->dir != DIR_OUT; }
static bool is_on(const struct symbol *kernel, const char *worker)
{
    return kernel->decl->kernel->worker && strcmp(kernel->decl->kernel->worker, worker) == 0;
}

/* ---- names ---- */

static const char *entry_name(struct emitter *e, const struct kernel_names *names)
{
    return cpp_is_word(names->mapped) ? arena_printf(e->mem, "%s_", names->mapped) : names->mapped;
}

/* Names made from a tensor's. */
enum { MADE_OF_NAME = 5 + 2 * MAX_RANK };

static int list_made_names(struct emitter *e, const char *name, int rank, const char **made)
{
    static const char *const forms[] = {"in_%s", "out_%s", "%s_old", "%s_shape", "%s_stride"};
    int count = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) made[count++] = arena_printf(e->mem, forms[i], name);
    for (int d = 0; d < rank; d++) {
        made[count++] = arena_printf(e->mem, "%s_shape%d", name, d);
        made[count++] = arena_printf(e->mem, "%s_stride%d", name, d);
    }
    return count;
}

/* Those of a tensor that keeps its name are taken already; another name is one that makes no name of others. */
static const char *tensor_name(struct emitter *e, const struct symbol *f)
{
    for (;;) {
        const char *made[MADE_OF_NAME], *name = cpp_name(e, f->name);
        if (strcmp(name, f->name) == 0) return name;
        const int count = list_made_names(e, name, f->type->rank, made);
        if (names_force_free(&e->names, made, count)) return name;
    }
}

static void choose_names(struct emitter *e, struct skeleton *s)
{
    static const char *const ours[] = {"k",     "row",  "rows", "column", "columns", "piece", "dense",
                                       "count", "pipe", "tile", "tiles",  "across",  "i0",    "i1",
                                       "i2",    "i3",   "i4",   "i5",     "i6",      "i7"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) names_force(&e->names, ours[i]);
    /* Names made from tensors come first: a formal of the same name gets another one. */
    for (int i = 0; i < s->kernel->formal_count; i++) {
        const struct symbol *f = s->kernel->formals[i];
        if (!is_tensor(f)) continue;
        const char *made[MADE_OF_NAME];
        const int count = list_made_names(e, f->name, f->type->rank, made);
        for (int k = 0; k < count; k++) names_force(&e->names, made[k]);
    }
    s->main = -1;
    for (int i = 0; i < s->kernel->formal_count; i++) {
        const struct symbol *f = s->kernel->formals[i];
        s->formal[i] = is_tensor(f) ? tensor_name(e, f) : cpp_name(e, f->name);
        if (!is_tensor(f)) continue;
        if (s->main < 0 || (is_written(f) && !is_written(s->kernel->formals[s->main]))) s->main = i;
    }
    for (int i = 0; i < s->kernel->dim_count; i++) s->dim[i] = cpp_name(e, s->kernel->dims[i]->name);
}

/* Is it moved piece by piece with the main tensor? */
static bool is_moved(const struct skeleton *s, int formal)
{
    const struct symbol *f = s->kernel->formals[formal], *main = s->kernel->formals[s->main];
    if (!is_tensor(f) || f->type->rank != main->type->rank) return false;
    for (int d = 0; d < f->type->rank; d++)
        if (f->type->extent[d] != main->type->extent[d]) return false;
    return true;
}

static const char *device_type(enum elem elem)
{
    switch (elem) {
    case ELEM_F16: return "half";
    case ELEM_BF16: return "bfloat16_t";
    case ELEM_BOOL: return "uint8_t";
    default: return c_elem_type(elem);
    }
}

/* head(parameters), broken where a line would be too long. */
static void emit_signature(struct emitter *e, const char *head, const char *parameters)
{
    enum { WIDTH = 120 };
    struct strbuf line = {0};
    strbuf_printf(&line, "%s(", head);
    for (const char *p = parameters; *p;) {
        const char *comma = strstr(p, ", ");
        const size_t length = comma ? (size_t)(comma - p) + 1 : strlen(p);
        if (line.length + length > WIDTH) {
            out_line(e->out, "%s", strbuf_text(&line));
            strbuf_free(&line);
            strbuf_puts(&line, "    ");
        } else if (p != parameters)
            strbuf_putc(&line, ' ');
        strbuf_add(&line, p, length);
        p += length + (comma != NULL);
    }
    out_line(e->out, "%s)", strbuf_text(&line));
    strbuf_free(&line);
}

/* ---- what a launch was given ---- */

static void emit_arguments(struct emitter *e, const struct skeleton *s)
{
    out_line(e->out, "/* What a launch was given. */");
    out_open(e->out, "struct Arguments {");
    for (int i = 0; i < s->kernel->formal_count; i++) {
        const struct symbol *f = s->kernel->formals[i];
        if (is_tensor(f)) {
            out_line(e->out, "AscendC::GlobalTensor<%s> %s;", device_type(f->type->elem), s->formal[i]);
            out_line(e->out, "int64_t %s_shape[%d], %s_stride[%d];", s->formal[i], f->type->rank, s->formal[i],
                     f->type->rank);
        } else
            out_line(e->out, f->type->kind == TYPE_F64 ? "%s %s; /* an f64, rounded */" : "%s %s;",
                     f->type->kind == TYPE_F64 ? "float" : c_scalar_type(f->type), s->formal[i]);
    }
    for (int i = 0; i < s->kernel->dim_count; i++) out_line(e->out, "int64_t %s;", s->dim[i]);
    out_close(e->out, "};");
}

static void print_parameters(const struct skeleton *s, struct strbuf *b)
{
    const struct symbol *k = s->kernel;
    const char *comma = "";
    for (int i = 0; i < k->formal_count; i++)
        if (is_tensor(k->formals[i])) strbuf_printf(b, "%sGM_ADDR %s", comma, s->formal[i]), comma = ", ";
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_tensor(k->formals[i])) continue;
        const int rank = k->formals[i]->type->rank;
        for (int d = 0; d < rank; d++) strbuf_printf(b, ", int64_t %s_shape%d", s->formal[i], d);
        for (int d = 0; d < rank; d++) strbuf_printf(b, ", int64_t %s_stride%d", s->formal[i], d);
    }
    for (int i = 0; i < k->formal_count; i++)
        if (!is_tensor(k->formals[i])) strbuf_printf(b, "%sint64_t %s", comma, s->formal[i]), comma = ", ";
    for (int i = 0; i < s->names->extra_count; i++)
        strbuf_printf(b, "%sint64_t %s", comma, s->dim[s->names->extra[i]]), comma = ", ";
    if (!*comma) strbuf_puts(b, "void");
}

static void emit_scalar(struct emitter *e, const struct symbol *f, const char *name)
{
    switch (f->type->kind) {
    case TYPE_F64: out_line(e->out, "k.%s = pto::f32_of_f64(%s);", name, name); break;
    case TYPE_F32: out_line(e->out, "k.%s = pto::f32_of((uint32_t)%s);", name, name); break;
    case TYPE_BOOL: out_line(e->out, "k.%s = %s != 0;", name, name); break;
    default: out_line(e->out, "k.%s = %s;", name, name); break;
    }
}

static void emit_dim(struct emitter *e, const struct skeleton *s, int dim)
{
    int formal, place;
    int64_t factor, rest;
    if (!kernel_dim_source(e->checked, s->kernel, s->kernel->dims[dim], &formal, &place, &factor, &rest)) {
        out_line(e->out, "k.%s = %s;", s->dim[dim], s->dim[dim]);
        return;
    }
    const char *shape = arena_printf(e->mem, "%s_shape%d", s->formal[formal], place);
    struct strbuf b = {0};
    if (rest != 0) {
        strbuf_printf(&b, rest > 0 ? "%s - " : "%s + ", shape);
        print_int(&b, rest > 0 ? rest : -rest, P_MUL);
        shape = arena_printf(e->mem, factor != 1 ? "(%s)" : "%s", strbuf_text(&b));
        strbuf_free(&b);
    }
    strbuf_puts(&b, shape);
    if (factor != 1) {
        strbuf_puts(&b, " / ");
        print_int(&b, factor, P_UNARY);
    }
    out_line(e->out, "k.%s = %s;", s->dim[dim], strbuf_text(&b));
    strbuf_free(&b);
}

static void emit_entry(struct emitter *e, const struct skeleton *s)
{
    const struct symbol *k = s->kernel;
    STRBUF(b);
    print_parameters(s, &b);
    emit_signature(e, arena_printf(e->mem, "extern \"C\" __global__ __aicore__ void %s", entry_name(e, s->names)),
                   strbuf_text(&b));
    out_open(e->out, "{");
    out_line(e->out, "KERNEL_TASK_TYPE_DEFAULT(%s);",
             is_on(k, "cube") ? "KERNEL_TYPE_AIC_ONLY" : "KERNEL_TYPE_AIV_ONLY");
    out_line(e->out, "kernel_%s::Arguments k;", s->names->mapped);
    for (int i = 0; i < k->formal_count; i++) {
        const struct symbol *f = k->formals[i];
        if (!is_tensor(f)) {
            emit_scalar(e, f, s->formal[i]);
            continue;
        }
        out_line(e->out, "k.%s.SetGlobalBuffer((__gm__ %s *)%s);", s->formal[i], device_type(f->type->elem),
                 s->formal[i]);
        for (int d = 0; d < f->type->rank; d++)
            out_line(e->out, "k.%s_shape[%d] = %s_shape%d;", s->formal[i], d, s->formal[i], d);
        for (int d = 0; d < f->type->rank; d++)
            out_line(e->out, "k.%s_stride[%d] = %s_stride%d;", s->formal[i], d, s->formal[i], d);
    }
    for (int i = 0; i < k->dim_count; i++) emit_dim(e, s, i);
    out_line(e->out, "kernel_%s::run(k);", s->names->mapped);
    out_close(e->out, "}");
}

/* ---- what is to be written ---- */

static void emit_host_body(struct emitter *e, const struct symbol *kernel)
{
    if (!kernel->decl->kernel->has_body) return;
    const struct span body = kernel->decl->kernel->body_at;
    const struct source *source = source_get(e->front->sources, body.file);
    STRBUF(b);
    out_directive(e->out, "#if 0 /* on the host it is: */");
    strbuf_add(&b, source->text + body.begin, body.end - body.begin);
    while (b.length > 0 && strchr(" \t\r\n", b.data[b.length - 1])) b.data[--b.length] = '\0';
    const char *text = strbuf_text(&b);
    const size_t skipped = strspn(text, "\r\n");
    out_raw(e->out, NULL, 0, text + skipped, strlen(text) - skipped);
    out_directive(e->out, "#endif");
}

static void emit_compute(struct emitter *e, const struct skeleton *s, const char *parameters, const char *unused)
{
    emit_signature(e, "__aicore__ inline void compute", parameters);
    out_line(e->out, "{");
    out_directive(e->out, "#ifndef PTO_SKELETON");
    out_directive(e->out, "#error \"kernel '%s': what it does with a tile is still to be written\"", s->names->mapped);
    out_directive(e->out, "#endif");
    emit_host_body(e, s->kernel);
    e->out->depth++;
    out_line(e->out, "%s", unused);
    out_close(e->out, "}");
    out_line(e->out, "%s", "");
}

/* ---- a vector kernel ---- */

/* The names of the local tensors of a formal: the input of an inout is `x_old`, its output `x`. */
static const char *read_name(struct emitter *e, const struct skeleton *s, int formal)
{
    return is_written(s->kernel->formals[formal]) ? arena_printf(e->mem, "%s_old", s->formal[formal])
                                                  : s->formal[formal];
}

static int piece_bytes(const struct skeleton *s)
{
    int queues = 0;
    for (int i = 0; i < s->kernel->formal_count; i++)
        if (is_moved(s, i)) queues += is_read(s->kernel->formals[i]) + is_written(s->kernel->formals[i]);
    const int bytes = LOCAL_BYTES / (2 * queues) / LINE_BYTES * LINE_BYTES;
    return bytes < MOST_PIECE_BYTES ? bytes : MOST_PIECE_BYTES;
}

static const char *offset_text(struct emitter *e, const struct skeleton *s, int formal)
{
    STRBUF(b);
    for (int d = 0; d < s->kernel->formals[formal]->type->rank; d++)
        strbuf_printf(&b, "%si%d * k.%s_stride[%d]", d ? " + " : "", d, s->formal[formal], d);
    return arena_copy(e->mem, strbuf_text(&b), b.length);
}

static void emit_piece(struct emitter *e, const struct skeleton *s)
{
    const struct symbol *k = s->kernel;
    STRBUF(call);
    strbuf_puts(&call, "k");
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_moved(s, i) || !is_read(k->formals[i])) continue;
        const char *name = read_name(e, s, i), *type = device_type(k->formals[i]->type->elem);
        out_line(e->out, "AscendC::LocalTensor<%s> %s = in_%s.AllocTensor<%s>();", type, name, s->formal[i], type);
        out_line(e->out, "pto::load_piece(%s, k.%s, %s, k.%s_stride[%d], count, dense);", name, s->formal[i],
                 offset_text(e, s, i), s->formal[i], k->formals[i]->type->rank - 1);
        out_line(e->out, "in_%s.EnQue(%s);", s->formal[i], name);
    }
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_moved(s, i)) continue;
        const char *type = device_type(k->formals[i]->type->elem);
        if (is_read(k->formals[i])) {
            out_line(e->out, "%s = in_%s.DeQue<%s>();", read_name(e, s, i), s->formal[i], type);
            strbuf_printf(&call, ", %s", read_name(e, s, i));
        }
        if (is_written(k->formals[i])) {
            out_line(e->out, "AscendC::LocalTensor<%s> %s = out_%s.AllocTensor<%s>();", type, s->formal[i],
                     s->formal[i], type);
            strbuf_printf(&call, ", %s", s->formal[i]);
        }
    }
    for (int d = 0; d < k->formals[s->main]->type->rank; d++) strbuf_printf(&call, ", i%d", d);
    out_line(e->out, "compute(%s, count, dense);", strbuf_text(&call));
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_moved(s, i)) continue;
        if (is_read(k->formals[i])) out_line(e->out, "in_%s.FreeTensor(%s);", s->formal[i], read_name(e, s, i));
        if (!is_written(k->formals[i])) continue;
        out_line(e->out, "out_%s.EnQue(%s);", s->formal[i], s->formal[i]);
        out_line(e->out, "%s = out_%s.DeQue<%s>();", s->formal[i], s->formal[i],
                 device_type(k->formals[i]->type->elem));
        out_line(e->out, "pto::store_piece(k.%s, %s, k.%s_stride[%d], %s, count, dense);", s->formal[i],
                 offset_text(e, s, i), s->formal[i], k->formals[i]->type->rank - 1, s->formal[i]);
        out_line(e->out, "out_%s.FreeTensor(%s);", s->formal[i], s->formal[i]);
    }
}

/* const int64_t i1 = row % shape[1], i0 = row / shape[1]; over the first `count` dimensions. */
static void emit_indices(struct emitter *e, const struct skeleton *s, const char *number, int count)
{
    const char *main = s->formal[s->main];
    STRBUF(before);
    strbuf_puts(&before, number);
    for (int d = count - 1; d >= 0; d--) {
        if (d > 0)
            out_line(e->out, "const int64_t i%d = %s %% k.%s_shape[%d];", d, strbuf_text(&before), main, d);
        else
            out_line(e->out, "const int64_t i0 = %s;", strbuf_text(&before));
        strbuf_printf(&before, " / k.%s_shape[%d]", main, d);
    }
}

static const char *product_text(struct emitter *e, const struct skeleton *s, int count)
{
    STRBUF(b);
    for (int d = 0; d < count; d++) strbuf_printf(&b, "%sk.%s_shape[%d]", d ? " * " : "", s->formal[s->main], d);
    return count ? arena_copy(e->mem, strbuf_text(&b), b.length) : "1";
}

static void emit_vector_compute(struct emitter *e, const struct skeleton *s)
{
    const struct symbol *k = s->kernel;
    const int rank = k->formals[s->main]->type->rank;
    STRBUF(parameters);
    STRBUF(unused);
    STRBUF(others);
    strbuf_puts(&parameters, "const Arguments &k");
    strbuf_puts(&unused, "(void)k");
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_tensor(k->formals[i])) continue;
        const char *type = device_type(k->formals[i]->type->elem);
        if (!is_moved(s, i)) {
            strbuf_printf(&others, "%s%s", others.length ? ", " : "", s->formal[i]);
            continue;
        }
        if (is_read(k->formals[i])) {
            strbuf_printf(&parameters, ", const AscendC::LocalTensor<%s> &%s", type, read_name(e, s, i));
            strbuf_printf(&unused, ", (void)%s", read_name(e, s, i));
        }
        if (is_written(k->formals[i])) {
            strbuf_printf(&parameters, ", const AscendC::LocalTensor<%s> &%s", type, s->formal[i]);
            strbuf_printf(&unused, ", (void)%s", s->formal[i]);
        }
    }
    for (int d = 0; d < rank; d++) {
        strbuf_printf(&parameters, ", int64_t i%d", d);
        strbuf_printf(&unused, ", (void)i%d", d);
    }
    strbuf_puts(&parameters, ", uint32_t count, bool dense");
    strbuf_puts(&unused, ", (void)count, (void)dense;");
    out_line(e->out,
             "/* `count` elements of a row from index i0%s on: element i of a tensor x of T is at x[i * "
             "pto::place<T>(dense)].%s",
             rank > 1 ? " ..." : "", others.length ? "" : " */");
    if (others.length) out_line(e->out, " * Of another shape, and where they were, in k: %s. */", strbuf_text(&others));
    emit_compute(e, s, strbuf_text(&parameters), strbuf_text(&unused));
}

static void emit_queues(struct emitter *e, const struct skeleton *s)
{
    const struct symbol *k = s->kernel;
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_moved(s, i)) continue;
        if (is_read(k->formals[i]))
            out_line(e->out, "AscendC::TQue<AscendC::TPosition::VECIN, 1> in_%s;", s->formal[i]);
        if (is_written(k->formals[i]))
            out_line(e->out, "AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_%s;", s->formal[i]);
    }
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_moved(s, i)) continue;
        if (is_read(k->formals[i])) out_line(e->out, "pipe.InitBuffer(in_%s, 2, BYTES);", s->formal[i]);
        if (is_written(k->formals[i])) out_line(e->out, "pipe.InitBuffer(out_%s, 2, BYTES);", s->formal[i]);
    }
}

static void emit_vector(struct emitter *e, const struct skeleton *s)
{
    const struct symbol *k = s->kernel;
    const int last = k->formals[s->main]->type->rank - 1;
    const char *main = s->formal[s->main];
    int widest = 1;
    STRBUF(dense);
    for (int i = 0; i < k->formal_count; i++) {
        if (!is_moved(s, i)) continue;
        if (elem_bytes(k->formals[i]->type->elem) > widest) widest = elem_bytes(k->formals[i]->type->elem);
        strbuf_printf(&dense, "%sk.%s_stride[%d] == 1", dense.length ? " && " : "", s->formal[i], last);
    }
    emit_vector_compute(e, s);
    out_line(e->out, "/* %s of %s in pieces, shared out among the cores. */", last ? "Rows" : "All", main);
    out_line(e->out, "__aicore__ inline void run(const Arguments &k)");
    out_open(e->out, "{");
    out_line(e->out, "constexpr int64_t BYTES = %d;", piece_bytes(s));
    out_line(e->out, "const bool dense = %s;", strbuf_text(&dense));
    out_line(e->out, "const int64_t piece = dense ? BYTES / %d : BYTES / pto::LINE_BYTES;", widest);
    out_line(e->out, "AscendC::TPipe pipe;");
    emit_queues(e, s);
    if (last > 0) {
        out_line(e->out, "const int64_t rows = %s;", product_text(e, s, last));
        out_open(e->out, "for (int64_t row = AscendC::GetBlockIdx(); row < rows; row += AscendC::GetBlockNum()) {");
        emit_indices(e, s, "row", last);
        out_line(e->out, "for (int64_t i%d = 0; i%d < k.%s_shape[%d]; i%d += piece) {", last, last, main, last, last);
    } else
        out_line(e->out,
                 "for (int64_t i0 = AscendC::GetBlockIdx() * piece; i0 < k.%s_shape[0]; i0 += AscendC::GetBlockNum() * "
                 "piece) {",
                 main);
    e->out->depth++;
    out_line(e->out, "const uint32_t count = (uint32_t)pto::least(piece, k.%s_shape[%d] - i%d);", main, last, last);
    emit_piece(e, s);
    for (int open = last > 0 ? 2 : 1; open > 0; open--) { out_close(e->out, "}"); }
    out_close(e->out, "}");
}

/* ---- a cube kernel ---- */

static void emit_cube(struct emitter *e, const struct skeleton *s)
{
    const int rank = s->kernel->formals[s->main]->type->rank, outer = rank > 2 ? rank - 2 : 0;
    const char *main = s->formal[s->main];
    STRBUF(parameters);
    STRBUF(unused);
    STRBUF(call);
    strbuf_puts(&parameters, "const Arguments &k");
    strbuf_puts(&unused, "(void)k");
    strbuf_puts(&call, "k");
    for (int d = 0; d < outer; d++) {
        strbuf_printf(&parameters, ", int64_t i%d", d);
        strbuf_printf(&unused, ", (void)i%d", d);
        strbuf_printf(&call, ", i%d", d);
    }
    strbuf_puts(&parameters, ", int64_t row, int64_t column, int64_t rows, int64_t columns");
    strbuf_puts(&unused, ", (void)row, (void)column, (void)rows, (void)columns;");
    strbuf_puts(&call, ", row, column, rows, columns");
    out_line(e->out,
             "/* Rows [row, row + rows) and columns [column, column + columns) of %s: operands to A1 and B1 "
             "(Nd2NzParams), to A2 and B2",
             main);
    out_line(
        e->out,
        " * (LoadData), products in CO1 (Mmad), out (Fixpipe).  gemm.cpp beside rows.h does it for std/tile.pto. */");
    emit_compute(e, s, strbuf_text(&parameters), strbuf_text(&unused));
    out_line(e->out, "/* Tiles of %s, shared out among the cores. */", main);
    out_line(e->out, "__aicore__ inline void run(const Arguments &k)");
    out_open(e->out, "{");
    out_line(e->out, "constexpr int64_t TILE = 128;");
    if (rank > 1)
        out_line(e->out, "const int64_t all_rows = k.%s_shape[%d], all_columns = k.%s_shape[%d];", main, rank - 2, main,
                 rank - 1);
    else
        out_line(e->out, "const int64_t all_rows = 1, all_columns = k.%s_shape[0];", main);
    out_line(
        e->out,
        "const int64_t across = pto::ceil_div(all_columns, TILE), tiles = pto::ceil_div(all_rows, TILE) * across;");
    out_open(e->out, "for (int64_t tile = AscendC::GetBlockIdx(); tile < %s%stiles; tile += AscendC::GetBlockNum()) {",
             outer ? product_text(e, s, outer) : "", outer ? " * " : "");
    if (outer) emit_indices(e, s, "tile / tiles", outer);
    out_line(e->out, outer
                         ? "const int64_t row = tile %% tiles / across * TILE, column = tile %% tiles %% across * TILE;"
                         : "const int64_t row = tile / across * TILE, column = tile %% across * TILE;");
    out_line(
        e->out,
        "const int64_t rows = pto::least(TILE, all_rows - row), columns = pto::least(TILE, all_columns - column);");
    out_line(e->out, "compute(%s);", strbuf_text(&call));
    out_close(e->out, "}");
    out_close(e->out, "}");
}

/* ---- the file ---- */

/* Why a kernel has no source of this kind; NULL: it has one. */
static const char *why_none(const struct symbol *kernel)
{
    if (is_on(kernel, "cpu"))
        return "On cpu: a kernel of the AI CPU is no AscendC, see `engine = cpu` in docs/ascend.md.";
    if (kernel->opcode) return "A work request: the backend carries it out, the map does not name it.";
    if (scratch_is_used(kernel))
        return "It has scratch memory: how much of it fits in a core, and where it lies, only its author knows.";
    for (int i = 0; i < kernel->formal_count; i++)
        if (kernel->formals[i]->written)
            return "It writes a part of what it reads: rows that are moved and stored whole would undo what others "
                   "write.";
    return NULL;
}

static void emit_alone(struct emitter *e, const struct skeleton *s)
{
    out_line(e->out, "/* It has no tensor: one core does all. */");
    emit_compute(e, s, "const Arguments &k", "(void)k;");
    out_line(e->out, "__aicore__ inline void run(const Arguments &k)");
    out_line(e->out, "{");
    out_line(e->out, "    if (AscendC::GetBlockIdx() == 0) compute(k);");
    out_line(e->out, "}");
}

static void emit_skeleton(struct emitter *e, const struct symbol *kernel)
{
    struct skeleton s = {.kernel = kernel, .names = ptrmap_get(&e->kernels, kernel)};
    out_line(e->out, "%s", "");
    out_line(e->out, "/* %s%s", kernel_head_text(e, kernel), why_none(kernel) ? "" : " */");
    if (why_none(kernel)) {
        out_line(e->out, " * %s */", why_none(kernel));
        return;
    }
    const struct names names_of_file = e->names; /* a kernel's names are its own: they are members and parameters */
    e->names = (struct names){.mem = e->mem};
    choose_names(e, &s);
    out_line(e->out, "namespace kernel_%s {", s.names->mapped);
    out_line(e->out, "%s", "");
    emit_arguments(e, &s);
    out_line(e->out, "%s", "");
    if (kernel->equations && s.main >= 0 && equations_emit_ascendc(e, kernel, s.formal, s.dim))
        ;
    else if (s.main < 0)
        emit_alone(e, &s);
    else if (is_on(kernel, "cube"))
        emit_cube(e, &s);
    else
        emit_vector(e, &s);
    out_line(e->out, "%s", "");
    out_line(e->out, "} // namespace kernel_%s", s.names->mapped);
    out_line(e->out, "%s", "");
    emit_entry(e, &s);
    names_free(&e->names);
    e->names = names_of_file;
}

void ascendc_emit(struct emitter *e)
{
    const char *input = emit_comment_text(e, e->options->input);
    out_line(e->out,
             "/* Made by ptoc from %s: skeletons of its kernels for AscendC.  Write what each `compute` does; this "
             "file is yours then.",
             input);
    out_line(e->out, " * Not compiled here: no CANN toolkit was at hand.  rows.h is in share/pto/ascend beside ptoc.  "
                     "With PTO_SKELETON defined the");
    out_line(e->out,
             " * file compiles as it is, and computes nothing.  For the map of kernels (--kernels, docs/ascend.md):");
    for (size_t i = 0; i < e->plan->kernels.count; i++) {
        const struct symbol *k = e->plan->kernels.data[i];
        const struct kernel_names *names = ptrmap_get(&e->kernels, k);
        if (why_none(k)) continue;
        out_line(e->out, " *     [%s]", names->mapped);
        out_line(e->out, " *     object = %s.o", emit_comment_text(e, emit_stem(e)));
        if (strcmp(entry_name(e, names), names->mapped) != 0)
            out_line(e->out, " *     function = %s", entry_name(e, names));
        out_line(e->out, " *     engine = %s", is_on(k, "cube") ? "cube" : "vector");
    }
    out_line(e->out, " */");
    bool has_equations = false;
    for (size_t i = 0; i < e->plan->kernels.count; i++) has_equations |= e->plan->kernels.data[i]->equations != NULL;
    out_line(e->out, "#include \"rows.h\"");
    if (has_equations) {
        out_line(e->out, "#include \"equations.h\"");
        out_line(e->out, "#include \"gemm.h\"");
    }
    for (size_t i = 0; i < e->plan->kernels.count; i++) emit_skeleton(e, e->plan->kernels.data[i]);
}
