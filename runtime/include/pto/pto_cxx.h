/* pto_cxx.h - the macros of pto_types.h that make parameters, for C++11 and later.  Included by pto_types.h.
 *
 * Idea       C++ has no compound literals, so the extents of PTO_ARRAY and PTO_STRIDED need an owner: a PTOParam keeps
 *            them.  What has no extents (flat ranges, scalars, options of the task) is a PTOTaskParam, as in C.
 * Use        PTO_SUBMIT(rt, &kernel, PTO_INPUT(A, 0, PTO_ARRAY(PTO_F32, 64, 64)), PTO_SCALAR(1.0f));
 *            const PTOParam p[] = {PTO_INPUT(A, 0, PTO_ARRAY(PTO_F32, 64, 64)), PTO_SCALAR(1.0f)};
 *            pto_submit_task(rt, &kernel, p, 2);
 * Invariant  a PTOParam never becomes a PTOTaskParam that outlives it by accident: that conversion is deleted.
 * Tests      test/lit/headers */
#ifndef PTO_CXX_H
#define PTO_CXX_H
#ifdef __cplusplus
#include <pto/pto_types.h>
#include <cstddef>

struct PTOList_ {
    int64_t at[PTO_MAX_RANK];
    uint8_t count;
};

template <typename... Numbers> static inline PTOList_ pto_list_(Numbers... numbers)
{
    static_assert(sizeof...(numbers) >= 1 && sizeof...(numbers) <= PTO_MAX_RANK,
                  "a tensor has 1 to PTO_MAX_RANK dimensions");
    return PTOList_{{static_cast<int64_t>(numbers)...}, static_cast<uint8_t>(sizeof...(numbers))};
}

/* The same with its length in the type. */
template <std::size_t> struct PTOCounted_ {
    PTOList_ list;
};
template <typename... Numbers> static inline PTOCounted_<sizeof...(Numbers)> pto_counted_(Numbers... numbers)
{
    return PTOCounted_<sizeof...(Numbers)>{pto_list_(numbers...)};
}

/* An extent that is not a number of bytes. */
struct PTOView_ {
    PTOType type;
    PTOList_ extents, strides; /* strides.count 0: row-major */
};

#define PTO_ARRAY(elem, ...)                (PTOView_{(elem), pto_list_(__VA_ARGS__), PTOList_()})
#define PTO_STRIDED(elem, extents, strides) (pto_strided_((elem), pto_counted_ extents, pto_counted_ strides))

template <std::size_t Extents, std::size_t Strides>
static inline PTOView_ pto_strided_(PTOType elem, const PTOCounted_<Extents> &extents,
                                    const PTOCounted_<Strides> &strides)
{
    static_assert(Extents == Strides, "PTO_STRIDED needs as many strides as extents");
    return PTOView_{elem, extents.list, strides.list};
}

/* A PTOPart with its extents. */
struct PTOPart_ {
    int64_t at;
    PTOList_ extents, strides;
};

#define PTO_PART(at, extents, strides) (pto_part_(static_cast<int64_t>(at), pto_counted_ extents, pto_counted_ strides))

template <std::size_t Extents, std::size_t Strides>
static inline PTOPart_ pto_part_(int64_t at, const PTOCounted_<Extents> &extents, const PTOCounted_<Strides> &strides)
{
    static_assert(Extents == Strides, "PTO_PART needs as many strides as extents");
    return PTOPart_{at, extents.list, strides.list};
}

class PTOParam {
  public:
    PTOParam(const PTOTaskParam &flat) : param(flat), view(), part(), written(), is_view(false) {}
    PTOParam(const PTOTaskParam &region, const PTOView_ &extents, const PTOPart_ &writes = PTOPart_())
        : param(region), view(extents), part(writes), written(), is_view(true)
    {
        param.type = static_cast<uint8_t>(view.type);
        param.rank = view.extents.count;
    }
    /* Good for as long as this object is. */
    PTOTaskParam pto_plain() const
    {
        PTOTaskParam plain = param;
        if (is_view) {
            plain.shape = view.extents.at;
            plain.stride = view.strides.count > 0 ? view.strides.at : nullptr;
        }
        if (plain.kind == PTO_PARAM_INOUT_PART) {
            written.at = part.at;
            written.shape = part.extents.at;
            written.stride = part.strides.at;
            written.rank = part.extents.count;
            plain.ref = &written;
        }
        return plain;
    }
    operator PTOTaskParam() const = delete; /* make the list an array of PTOParam */

  private:
    PTOTaskParam param;
    PTOView_ view;
    PTOPart_ part;
    mutable PTOPart written; /* what a plain parameter points to */
    bool is_view;
};

static inline const PTOTaskParam &pto_plain_(const PTOTaskParam &param) { return param; }
static inline PTOTaskParam pto_plain_(const PTOParam &param) { return param.pto_plain(); }

/* A parameter without a region. */
static inline PTOTaskParam pto_param_(PTOParamKind kind, const void *buffer, int64_t at)
{
    PTOTaskParam p = PTOTaskParam();
    p.kind = static_cast<uint8_t>(kind);
    p.buffer = const_cast<void *>(buffer);
    p.at = at;
    return p;
}

static inline PTOTaskParam pto_region_(PTOParamKind kind, uint8_t flags, const void *buffer, int64_t at, int64_t bytes)
{
    PTOTaskParam p = pto_param_(kind, buffer, at);
    p.flags = flags;
    p.bytes = bytes;
    return p;
}
static inline PTOParam pto_region_(PTOParamKind kind, uint8_t flags, const void *buffer, int64_t at,
                                   const PTOView_ &view)
{
    return PTOParam(pto_region_(kind, flags, buffer, at, 0), view);
}

static inline PTOParam pto_inout_part_(const void *buffer, int64_t at, const PTOView_ &view, const PTOPart_ &part)
{
    return PTOParam(pto_region_(PTO_PARAM_INOUT_PART, 0, buffer, at, 0), view, part);
}

static inline PTOTaskParam pto_output_(PTOScope scope, void *ref, const char *name, int64_t at, int64_t bytes)
{
    PTOTaskParam p = pto_region_(PTO_PARAM_OUTPUT, 0, nullptr, at, bytes);
    p.scope = scope;
    p.ref = ref;
    p.name = name;
    return p;
}
static inline PTOParam pto_output_(PTOScope scope, void *ref, const char *name, int64_t at, const PTOView_ &view)
{
    return PTOParam(pto_output_(scope, ref, name, at, 0), view);
}

template <typename Integer> static inline PTOTaskParam pto_scalar_(Integer value)
{
    PTOTaskParam p = pto_param_(PTO_PARAM_SCALAR, nullptr, 0);
    p.type = PTO_I64;
    p.value = pto_scalar_i64(static_cast<int64_t>(value));
    return p;
}
static inline PTOTaskParam pto_at_home_(const void *base, int64_t at, PTOType type)
{
    PTOTaskParam p = pto_region_(PTO_PARAM_AT, 0, base, at, 0);
    p.type = static_cast<uint8_t>(type);
    p.rank = 1;
    return p;
}
static inline PTOTaskParam pto_scalar_(float value)
{
    PTOTaskParam p = pto_param_(PTO_PARAM_SCALAR, nullptr, 0);
    p.type = PTO_F32;
    p.value = pto_scalar_f32(value);
    return p;
}
static inline PTOTaskParam pto_scalar_(double value)
{
    PTOTaskParam p = pto_param_(PTO_PARAM_SCALAR, nullptr, 0);
    p.type = PTO_F64;
    p.value = pto_scalar_f64(value);
    return p;
}
static inline PTOTaskParam pto_scalar_(bool value)
{
    PTOTaskParam p = pto_param_(PTO_PARAM_SCALAR, nullptr, 0);
    p.type = PTO_BOOL;
    p.value = pto_scalar_bool(value);
    return p;
}

#define PTO_INPUT(base, at_, extent)             pto_region_(PTO_PARAM_INPUT, 0, base, at_, extent)
#define PTO_INPUT_OF(base, at_, extent)          pto_region_(PTO_PARAM_INPUT, PTO_SINGLE_WRITER, base, at_, extent)
#define PTO_INOUT(base, at_, extent)             pto_region_(PTO_PARAM_INOUT, 0, base, at_, extent)
#define PTO_INOUT_PART(base, at_, extent, part)  pto_inout_part_(base, at_, extent, part)
#define PTO_ACC(base, at_, extent)               pto_region_(PTO_PARAM_ACC, 0, base, at_, extent)
#define PTO_ACC_BY(by, base, at_, extent)        pto_region_(PTO_PARAM_ACC_BY, by, base, at_, extent)
#define PTO_OUTPUT(ref_, at_, extent)            pto_output_(PTO_SCOPE_CURRENT, ref_, #ref_, at_, extent)
#define PTO_OUTPUT_IN(scope_, ref_, at_, extent) pto_output_(scope_, ref_, #ref_, at_, extent)
#define PTO_SCALAR(v)                            pto_scalar_(v)
#define PTO_PRIORITY(n)                          pto_param_(PTO_PARAM_PRIORITY, nullptr, n)
#define PTO_NAME(string)                         pto_param_(PTO_PARAM_NAME, string, 0)
#define PTO_TIMEOUT(ms)                          pto_param_(PTO_PARAM_TIMEOUT, nullptr, ms)
#define PTO_AT(n)                                pto_param_(PTO_PARAM_AT, nullptr, n)
#define PTO_AT_HOME(base, at_, elem)             pto_at_home_(base, at_, elem)

#define PTO_OUTPUT_NAMED(name_, scope_, ref_, at_, extent) pto_output_(scope_, ref_, name_, at_, extent)

#endif
#endif
