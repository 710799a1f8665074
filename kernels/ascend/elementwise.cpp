/* elementwise.cpp - add sub mul add_to scale axpy fill of std/tile.pto for f32, on vector cores.
 * Idea       Each is an operation on pieces in local memory, and one of three loops: of two operands, of one, of
 *            none.
 * Invariant  The operations and their order are those of kernels/tile/elementwise.c; axpy is a product and then a
 *            sum, never fused.
 * Tests      test/ascend/test_ascendc.c
 *
 * NOT COMPILED HERE, see block.h.
 */
#include "rows.h"

namespace {

using Local = AscendC::LocalTensor<float>;

struct Sum {
    __aicore__ inline void operator()(const Local &c, const Local &a, const Local &b, int32_t n) const
    {
        AscendC::Add(c, a, b, n);
    }
};
struct Difference {
    __aicore__ inline void operator()(const Local &c, const Local &a, const Local &b, int32_t n) const
    {
        AscendC::Sub(c, a, b, n);
    }
};
struct Product {
    __aicore__ inline void operator()(const Local &c, const Local &a, const Local &b, int32_t n) const
    {
        AscendC::Mul(c, a, b, n);
    }
};
struct Scaled {
    float factor;
    __aicore__ inline void operator()(const Local &b, const Local &a, int32_t n) const
    {
        AscendC::Muls(b, a, factor, n);
    }
};
struct ScaledSum { /* c = b + factor * a */
    float factor;
    __aicore__ inline void operator()(const Local &c, const Local &a, const Local &b, int32_t n) const
    {
        AscendC::Muls(c, a, factor, n);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Add(c, b, c, n);
    }
};

using Matrix = pto::Matrix<float>;
using Walk = pto::Walk<float>;

/* c = operation(a, b), piece by piece; c may be b. */
template <typename Operation>
__aicore__ inline void map_two(const Matrix &a, const Matrix &b, const Matrix &c, const Walk &walk,
                               const Operation &operation)
{
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> queue_a, queue_b;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> queue_c;
    pipe.InitBuffer(queue_a, 2, pto::PIECE_BYTES);
    pipe.InitBuffer(queue_b, 2, pto::PIECE_BYTES);
    pipe.InitBuffer(queue_c, 2, pto::PIECE_BYTES);
    for (int64_t i = walk.first(); i < walk.count(); i += walk.step()) {
        Local in_a = queue_a.AllocTensor<float>(), in_b = queue_b.AllocTensor<float>();
        pto::load(in_a, a, walk, i);
        pto::load(in_b, b, walk, i);
        queue_a.EnQue(in_a);
        queue_b.EnQue(in_b);

        Local have_a = queue_a.DeQue<float>(), have_b = queue_b.DeQue<float>(), made = queue_c.AllocTensor<float>();
        operation(made, have_a, have_b, walk.extent(i));
        queue_c.EnQue(made);
        queue_a.FreeTensor(have_a);
        queue_b.FreeTensor(have_b);

        Local out = queue_c.DeQue<float>();
        pto::store(c, out, walk, i);
        queue_c.FreeTensor(out);
    }
}

/* b = operation(a). */
template <typename Operation>
__aicore__ inline void map_one(const Matrix &a, const Matrix &b, const Walk &walk, const Operation &operation)
{
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> queue_a;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> queue_b;
    pipe.InitBuffer(queue_a, 2, pto::PIECE_BYTES);
    pipe.InitBuffer(queue_b, 2, pto::PIECE_BYTES);
    for (int64_t i = walk.first(); i < walk.count(); i += walk.step()) {
        Local in = queue_a.AllocTensor<float>();
        pto::load(in, a, walk, i);
        queue_a.EnQue(in);

        Local have = queue_a.DeQue<float>(), made = queue_b.AllocTensor<float>();
        operation(made, have, walk.extent(i));
        queue_b.EnQue(made);
        queue_a.FreeTensor(have);

        Local out = queue_b.DeQue<float>();
        pto::store(b, out, walk, i);
        queue_b.FreeTensor(out);
    }
}

/* a = value: one piece is made, and stored everywhere. */
__aicore__ inline void fill_all(const Matrix &a, const Walk &walk, float value)
{
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, pto::PIECE_BYTES);
    Local made = queue.AllocTensor<float>();
    AscendC::Duplicate(made, value, (int32_t)(pto::PIECE_BYTES / sizeof(float)));
    queue.EnQue(made);
    Local out = queue.DeQue<float>();
    for (int64_t i = walk.first(); i < walk.count(); i += walk.step()) pto::store(a, out, walk, i);
    queue.FreeTensor(out);
}

template <typename Operation>
__aicore__ inline void two(GM_ADDR a, int64_t as0, int64_t as1, GM_ADDR b, int64_t bs0, int64_t bs1, GM_ADDR c,
                           int64_t cs0, int64_t cs1, int64_t M, int64_t N, const Operation &operation)
{
    const bool turned = pto::is_turned(cs0, cs1, N);
    const Matrix ma(a, as0, as1, turned), mb(b, bs0, bs1, turned), mc(c, cs0, cs1, turned);
    map_two(ma, mb, mc, Walk(M, N, turned, pto::is_dense(ma) && pto::is_dense(mb) && pto::is_dense(mc)), operation);
}

} // namespace

/* add<M, N>(in a: f32[M, N], in b: f32[M, N], out c: f32[M, N]); a0 a1 are extents, as0 as1 strides. */
extern "C" __global__ __aicore__ void pto_tile_add_f32(GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t, int64_t, int64_t as0,
                                                       int64_t as1, int64_t, int64_t, int64_t bs0, int64_t bs1,
                                                       int64_t M, int64_t N, int64_t cs0, int64_t cs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    two(a, as0, as1, b, bs0, bs1, c, cs0, cs1, M, N, Sum{});
}

extern "C" __global__ __aicore__ void pto_tile_sub_f32(GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t, int64_t, int64_t as0,
                                                       int64_t as1, int64_t, int64_t, int64_t bs0, int64_t bs1,
                                                       int64_t M, int64_t N, int64_t cs0, int64_t cs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    two(a, as0, as1, b, bs0, bs1, c, cs0, cs1, M, N, Difference{});
}

extern "C" __global__ __aicore__ void pto_tile_mul_f32(GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t, int64_t, int64_t as0,
                                                       int64_t as1, int64_t, int64_t, int64_t bs0, int64_t bs1,
                                                       int64_t M, int64_t N, int64_t cs0, int64_t cs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    two(a, as0, as1, b, bs0, bs1, c, cs0, cs1, M, N, Product{});
}

/* add_to<M, N>(in p: f32[M, N], inout c: f32[M, N]) */
extern "C" __global__ __aicore__ void pto_tile_add_to_f32(GM_ADDR p, GM_ADDR c, int64_t, int64_t, int64_t ps0,
                                                          int64_t ps1, int64_t M, int64_t N, int64_t cs0, int64_t cs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    two(c, cs0, cs1, p, ps0, ps1, c, cs0, cs1, M, N, Sum{});
}

/* axpy<M, N>(in x: f32[M, N], inout y: f32[M, N], s: f64) */
extern "C" __global__ __aicore__ void pto_tile_axpy_f32(GM_ADDR x, GM_ADDR y, int64_t, int64_t, int64_t xs0,
                                                        int64_t xs1, int64_t M, int64_t N, int64_t ys0, int64_t ys1,
                                                        int64_t s)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    two(x, xs0, xs1, y, ys0, ys1, y, ys0, ys1, M, N, ScaledSum{pto::f32_of_f64(s)});
}

/* scale<M, N>(in a: f32[M, N], out b: f32[M, N], s: f64) */
extern "C" __global__ __aicore__ void pto_tile_scale_f32(GM_ADDR a, GM_ADDR b, int64_t, int64_t, int64_t as0,
                                                         int64_t as1, int64_t M, int64_t N, int64_t bs0, int64_t bs1,
                                                         int64_t s)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const bool turned = pto::is_turned(bs0, bs1, N);
    const Matrix ma(a, as0, as1, turned), mb(b, bs0, bs1, turned);
    map_one(ma, mb, Walk(M, N, turned, pto::is_dense(ma) && pto::is_dense(mb)), Scaled{pto::f32_of_f64(s)});
}

/* fill<M, N>(out a: f32[M, N], v: f64) */
extern "C" __global__ __aicore__ void pto_tile_fill_f32(GM_ADDR a, int64_t M, int64_t N, int64_t as0, int64_t as1,
                                                        int64_t v)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    const bool turned = pto::is_turned(as0, as1, N);
    const Matrix ma(a, as0, as1, turned);
    fill_all(ma, Walk(M, N, turned, pto::is_dense(ma)), pto::f32_of_f64(v));
}
