/* emit_device.c - --emit=kernels: every kernel of a program as a C function of the argument block of docs/ascend.md.
 *
 * Idea       the counterpart of a device's object file in a map of kernels, for a machine where the host reaches device
 *            memory: the block is decoded to the arguments of the kernel's adapter.  So a program and its map can be
 *            tested without a device.
 * Tests      test/lit/codegen/device-kernels.pto, test/ascend
 */
#include "emit.h"

static int words_of(const struct symbol *kernel)
{
    int words = 0;
    for (int i = 0; i < kernel->formal_count; i++)
        words += kernel->formals[i]->type->kind == TYPE_TENSOR ? 1 + 2 * kernel->formals[i]->type->rank : 1;
    return words;
}

static void emit_function(struct emitter *e, const struct symbol *kernel)
{
    const struct kernel_names *names = ptrmap_get(&e->kernels, kernel);
    const int count = kernel->formal_count + names->extra_count, words = words_of(kernel) + names->extra_count;
    int address = 0, extent = 0;
    for (int i = 0; i < kernel->formal_count; i++) extent += kernel->formals[i]->type->kind == TYPE_TENSOR;
    int scalar = words;
    for (int i = 0; i < count; i++)
        scalar -= i >= kernel->formal_count || kernel->formals[i]->type->kind != TYPE_TENSOR;
    out_line(e->out, "%s", "");
    out_line(e->out, "int device_%s(const uint64_t *block, size_t words, uint64_t reach);", names->mapped);
    out_line(e->out, "int device_%s(const uint64_t *block, size_t words, uint64_t reach)", names->mapped);
    out_open(e->out, "{");
    if (words == 0) out_line(e->out, "(void)block;");
    out_line(e->out, "const PTOArg a[%d] = {", count > 0 ? count : 1);
    for (int i = 0; i < count; i++) {
        const struct type *t = i < kernel->formal_count ? kernel->formals[i]->type : NULL;
        if (!t || t->kind != TYPE_TENSOR) {
            out_line(e->out, "    {.value.i64 = (int64_t)block[%d], .kind = PTO_PARAM_SCALAR},", scalar++);
            continue;
        }
        out_line(e->out,
                 "    {.ptr = DEVICE_POINTER(block[%d]), .shape = DEVICE_EXTENTS(%d), .stride = DEVICE_EXTENTS(%d), "
                 ".type = %s, "
                 ".rank = %d},",
                 address++, extent, extent + t->rank, c_elem_constant(t->elem), t->rank);
        extent += 2 * t->rank;
    }
    if (count == 0) out_line(e->out, "    {.ptr = NULL},");
    out_line(e->out, "};");
    out_line(e->out, "const int result = %s(a);", names->task);
    out_line(e->out, "if (words > %d) *(int32_t *)DEVICE_POINTER(block[%d]) = result;", words, words);
    if (words == 0) out_line(e->out, "(void)reach;");
    out_line(e->out, "return result;");
    out_close(e->out, "}");
}

void device_emit(struct emitter *e)
{
    out_line(e->out, "%s", "");
    out_line(e->out, "/* A device address in the block, and where its bytes are for us. */");
    out_line(e->out, "#define DEVICE_POINTER(address) ((void *)(uintptr_t)((address) != 0 ? (address) + reach : 0))");
    out_line(e->out, "#define DEVICE_EXTENTS(word) ((const int64_t *)(const void *)&block[word])");
    for (size_t i = 0; i < e->plan->kernels.count; i++) {
        if (e->plan->kernels.data[i]->opcode) continue; /* the device carries it out */
        kernel_emit_call(e, e->plan->kernels.data[i]);
        emit_function(e, e->plan->kernels.data[i]);
    }
}
