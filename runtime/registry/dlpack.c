/* dlpack.c - tensors to and from DLPack.
 *
 * Idea       in: the struct becomes foreign memory whose release function is its deleter.  Out: a struct from a slab
 *            that holds a reference to the tensor; its deleter is C, and may be called on any thread at any time.
 * Invariant  a struct of another major version is given back by its deleter, and nothing else of it is read: only the
 *            version and the deleter stand at fixed places.
 * Tests      test/runtime/test_dlpack.c */
#include "dlpack.h"
#include "map.h"
#include "memory/slab.h"
#include "shared/thread_error.h"

static const struct dlpack_type {
    uint8_t code, bits;
} type_of[PTO_TYPE_COUNT] = {
    [PTO_F16] = {DLPACK_FLOAT, 16}, [PTO_BF16] = {DLPACK_BFLOAT, 16}, [PTO_F32] = {DLPACK_FLOAT, 32},
    [PTO_F64] = {DLPACK_FLOAT, 64}, [PTO_I8] = {DLPACK_INT, 8},       [PTO_I16] = {DLPACK_INT, 16},
    [PTO_I32] = {DLPACK_INT, 32},   [PTO_I64] = {DLPACK_INT, 64},     [PTO_U8] = {DLPACK_UINT, 8},
    [PTO_U16] = {DLPACK_UINT, 16},  [PTO_U32] = {DLPACK_UINT, 32},    [PTO_U64] = {DLPACK_UINT, 64},
    [PTO_BOOL] = {DLPACK_BOOL, 8},
};

/* ---- in ---------------------------------------------------------------------------------------------------------- */

static PTOStatus find_type(const struct dlpack_tensor *d, PTOType *type)
{
    for (int t = PTO_BYTE + 1; t < PTO_TYPE_COUNT && d->lanes == 1; t++) {
        if (type_of[t].code != d->code || type_of[t].bits != d->bits) continue;
        *type = (PTOType)t;
        return PTO_OK;
    }
    static const char *const kinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const char *const kind = d->code < sizeof kinds / sizeof kinds[0] ? kinds[d->code] : "type code ";
    char text[64];
    int n = snprintf(text, sizeof text, "%s", kind);
    if (d->code >= sizeof kinds / sizeof kinds[0])
        n += snprintf(text + n, sizeof text - (size_t)n, "%d of bits ", d->code);
    n += snprintf(text + n, sizeof text - (size_t)n, "%d", d->bits);
    if (d->lanes != 1) snprintf(text + n, sizeof text - (size_t)n, " in vectors of %d", d->lanes);
    return ptoi_thread_fail(PTO_ERR_UNSUPPORTED,
                            "DLPack: elements are %s; there is f16, bf16, f32, f64, i8 to i64, "
                            "u8 to u64 and bool",
                            text);
}

/* The bytes from low <= 0 to high > 0, counted from element [0, ..], do not wrap around. */
static bool lies_in_memory(const struct dlpack_tensor *d, int64_t low, int64_t high)
{
    uint64_t first, end;
    return !__builtin_add_overflow((uint64_t)(uintptr_t)d->data, d->byte_offset, &first) && first >= (uint64_t)-low &&
           !__builtin_add_overflow(first, (uint64_t)high, &end);
}

/* The interface says where element [0, ..] is and not where the memory begins: the view itself says how far it reaches.
 */
static PTOStatus find_memory(const struct dlpack_tensor *d, PTOForeign *f)
{
    struct geometry g = {.type = (uint8_t)f->type, .rank = (uint8_t)f->rank};
    int64_t count, lowest = 0, highest = 0, elements;
    for (int i = 0; i < f->rank; i++) {
        g.shape[i] = d->shape[i];
        if (d->strides) g.strides[i] = d->strides[i];
    }
    if (!d->strides) ptoi_geometry_row_major(&g);
    const int64_t bytes = pto_type_bytes(f->type);
    if (!ptoi_geometry_count(&g, &count) || (count > 0 && !ptoi_geometry_range(&g, &lowest, &highest)) ||
        highest == INT64_MAX || __builtin_sub_overflow(highest + 1, lowest, &elements) ||
        __builtin_mul_overflow(elements, bytes, &f->bytes))
        return ptoi_thread_fail(PTO_ERR_OVERFLOW, "DLPack: strides and extents overflow");
    if (count == 0) f->bytes = 0;
    if (count > 0 && d->data && !lies_in_memory(d, lowest * bytes, (highest + 1) * bytes))
        return ptoi_thread_fail(PTO_ERR_ARGUMENT,
                                "DLPack: from the byte offset %llu the tensor reaches out of the address space",
                                (unsigned long long)d->byte_offset);
    f->address = count > 0 && d->data ? (char *)d->data + d->byte_offset + lowest * bytes : NULL;
    f->first = count > 0 ? -lowest : 0;
    return PTO_OK;
}

/* Producers name an Ascend device by its own type, or by that for extensions. */
static PTOStatus find_device(const struct dlpack_tensor *d, int32_t *device)
{
    const bool is_ours = d->device_type == DLPACK_ASCEND || d->device_type == DLPACK_EXTENSION;
    *device = is_ours ? 1 + d->device_id : 0;
    if (d->device_type == DLPACK_CPU || (is_ours && d->device_id >= 0 && d->device_id < INT32_MAX)) return PTO_OK;
    return ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "DLPack: memory of device type %d, device %d", d->device_type,
                            d->device_id);
}

static PTOTensor *attach(const struct dlpack_tensor *d, uint32_t flags, void (*release)(void *), void *context)
{
    PTOForeign f = {.rank = d->ndim,
                    .shape = d->shape,
                    .strides = d->strides,
                    .flags = flags,
                    .release = release,
                    .context = context};
    if (find_device(d, &f.device) != PTO_OK) return NULL;
    if (find_type(d, &f.type) != PTO_OK) return NULL;
    if (ptoi_geometry_check("DLPack", f.type, d->ndim, d->shape) != PTO_OK) return NULL;
    return find_memory(d, &f) == PTO_OK ? pto_tensor_attach(&f) : NULL;
}

static void release_versioned(void *context)
{
    struct DLManagedTensorVersioned *m = context;
    if (m->deleter) m->deleter(m);
}

static void release_unversioned(void *context)
{
    struct DLManagedTensor *m = context;
    if (m->deleter) m->deleter(m);
}

PTOTensor *pto_tensor_from_dlpack(struct DLManagedTensorVersioned *m)
{
    if (!m) {
        ptoi_tensor_refuse(NULL, "pto_tensor_from_dlpack");
        return NULL;
    }
    if (m->major == DLPACK_MAJOR)
        return attach(&m->tensor, m->flags & DLPACK_FLAG_READ_ONLY ? PTO_READ_ONLY : 0, release_versioned, m);
    ptoi_thread_fail(PTO_ERR_VERSION, "DLPack: a struct of version %u.%u, expected %d", m->major, m->minor,
                     DLPACK_MAJOR);
    release_versioned(m);
    return NULL;
}

PTOTensor *pto_tensor_from_dlpack_unversioned(struct DLManagedTensor *m)
{
    if (m) return attach(&m->tensor, 0, release_unversioned, m);
    ptoi_tensor_refuse(NULL, "pto_tensor_from_dlpack_unversioned");
    return NULL;
}

/* ---- out --------------------------------------------------------------------------------------------------------- */

struct export
{
    union {
        struct DLManagedTensorVersioned versioned;
        struct DLManagedTensor unversioned;
    };
    PTOTensor *tensor;
    bool is_writable;
    int64_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK];
};
static struct slab exports = SLAB_OF(struct export);

static void end(struct export *e)
{
    PTOTensor *t = e->tensor;
    ptoi_export_end(t, e->is_writable);
    ptoi_slab_give(&exports, e);
    pto_tensor_release(t);
}

static void delete_versioned(struct DLManagedTensorVersioned *m) { end(m->manager_ctx); }
static void delete_unversioned(struct DLManagedTensor *m) { end(m->manager_ctx); }

/* An export with the address of t in *tensor, which lies inside of it.  NULL: the thread's error. */
static struct export *begin(PTOTensor *t, const char *call)
{
    if (ptoi_tensor_is_bad(t, call)) return NULL;
    if (t->type == PTO_BYTE) {
        ptoi_thread_fail(PTO_ERR_UNSUPPORTED, "%s: DLPack has no untyped bytes", call);
        return NULL;
    }
    struct export *e = ptoi_slab_take(&exports);
    if (!e) {
        ptoi_refuse_nomem();
        return NULL;
    }
    *e = (struct export){.tensor = t, .is_writable = !(t->flags & PTO_READ_ONLY)};
    return e;
}

static bool fill(struct export *e, struct dlpack_tensor *d, const char *call)
{
    PTOTensor *t = e->tensor;
    void *address = ptoi_export_begin(t, e->is_writable, call);
    if (!address) {
        ptoi_slab_give(&exports, e);
        return false;
    }
    for (int i = 0; i < t->rank; i++) e->shape[i] = t->shape[i], e->strides[i] = t->strides[i];
    *d = (struct dlpack_tensor){.data = t->buffer ? address : NULL,
                                .device_type = DLPACK_CPU,
                                .ndim = t->rank,
                                .code = type_of[t->type].code,
                                .bits = type_of[t->type].bits,
                                .lanes = 1,
                                .shape = e->shape,
                                .strides = e->strides};
    pto_tensor_retain(t);
    return true;
}

struct DLManagedTensorVersioned *pto_tensor_to_dlpack(PTOTensor *t, uint32_t max_major, uint32_t max_minor)
{
    static const char call[] = "pto_tensor_to_dlpack";
    if (max_major < DLPACK_MAJOR) {
        ptoi_thread_fail(PTO_ERR_VERSION, "%s: version %u.%u at most, and ours is %d.%d", call, max_major, max_minor,
                         DLPACK_MAJOR, DLPACK_MINOR);
        return NULL;
    }
    struct export *e = begin(t, call);
    if (!e) return NULL;
    struct DLManagedTensorVersioned *m = &e->versioned;
    *m = (struct DLManagedTensorVersioned){.major = DLPACK_MAJOR,
                                           .minor = DLPACK_MINOR,
                                           .manager_ctx = e,
                                           .deleter = delete_versioned,
                                           .flags = e->is_writable ? 0 : DLPACK_FLAG_READ_ONLY};
    return fill(e, &m->tensor, call) ? m : NULL;
}

struct DLManagedTensor *pto_tensor_to_dlpack_unversioned(PTOTensor *t)
{
    static const char call[] = "pto_tensor_to_dlpack_unversioned";
    struct export *e = begin(t, call);
    if (!e) return NULL;
    if (!e->is_writable) {
        ptoi_slab_give(&exports, e);
        ptoi_thread_fail(PTO_ERR_READ_ONLY, "%s: the unversioned struct has no read-only tensors", call);
        return NULL;
    }
    struct DLManagedTensor *m = &e->unversioned;
    *m = (struct DLManagedTensor){.manager_ctx = e, .deleter = delete_unversioned};
    return fill(e, &m->tensor, call) ? m : NULL;
}
