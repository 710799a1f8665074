/* Made by ptoc from 5.pto: skeletons of its kernels for AscendC.  Write what each `compute` does; this file is yours then.
 * Not compiled here: no CANN toolkit was at hand.  rows.h is in share/pto/ascend beside ptoc.  With PTO_SKELETON defined the
 * file compiles as it is, and computes nothing.  For the map of kernels (--kernels, docs/ascend.md):
 *     [k]
 *     object = m5.o
 *     engine = vector
 */
#include "rows.h"
#include "equations.h"
#include "gemm.h"

/* 5.pto:1  kernel k<M, N>(in x: f32[M, N], out w: f32[1], out z: f32[M, N], a: f32) on vector => */
namespace kernel_k {

/* What a launch was given. */
struct Arguments {
    AscendC::GlobalTensor<float> x;
    int64_t x_shape[2], x_stride[2];
    AscendC::GlobalTensor<float> w;
    int64_t w_shape[1], w_stride[1];
    AscendC::GlobalTensor<float> z;
    int64_t z_shape[2], z_stride[2];
    float a;
    int64_t M;
    int64_t N;
};

/* `count` elements of a row from index i0 on: element i of a tensor x of T is at x[i * pto::place<T>(dense)].
 * Of another shape, and where they were, in k: x, z. */
__aicore__ inline void compute(const Arguments &k, const AscendC::LocalTensor<float> &w, int64_t i0, uint32_t count,
    bool dense)
{
#ifndef PTO_SKELETON
#error "kernel 'k': what it does with a tile is still to be written"
#endif
    (void)k, (void)w, (void)i0, (void)count, (void)dense;
}

/* All of w in pieces, shared out among the cores. */
__aicore__ inline void run(const Arguments &k)
{
    constexpr int64_t BYTES = 16384;
    const bool dense = k.w_stride[0] == 1;
    const int64_t piece = dense ? BYTES / 4 : BYTES / pto::LINE_BYTES;
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_w;
    pipe.InitBuffer(out_w, 2, BYTES);
    for (int64_t i0 = AscendC::GetBlockIdx() * piece; i0 < k.w_shape[0]; i0 += AscendC::GetBlockNum() * piece) {
        const uint32_t count = (uint32_t)pto::least(piece, k.w_shape[0] - i0);
        AscendC::LocalTensor<float> w = out_w.AllocTensor<float>();
        compute(k, w, i0, count, dense);
        out_w.EnQue(w);
        w = out_w.DeQue<float>();
        pto::store_piece(k.w, i0 * k.w_stride[0], k.w_stride[0], w, count, dense);
        out_w.FreeTensor(w);
    }
}

} // namespace kernel_k

extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR w, GM_ADDR z, int64_t x_shape0, int64_t x_shape1,
    int64_t x_stride0, int64_t x_stride1, int64_t w_shape0, int64_t w_stride0, int64_t z_shape0, int64_t z_shape1,
    int64_t z_stride0, int64_t z_stride1, int64_t a)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    kernel_k::Arguments k;
    k.x.SetGlobalBuffer((__gm__ float *)x);
    k.x_shape[0] = x_shape0;
    k.x_shape[1] = x_shape1;
    k.x_stride[0] = x_stride0;
    k.x_stride[1] = x_stride1;
    k.w.SetGlobalBuffer((__gm__ float *)w);
    k.w_shape[0] = w_shape0;
    k.w_stride[0] = w_stride0;
    k.z.SetGlobalBuffer((__gm__ float *)z);
    k.z_shape[0] = z_shape0;
    k.z_shape[1] = z_shape1;
    k.z_stride[0] = z_stride0;
    k.z_stride[1] = z_stride1;
    k.a = pto::f32_of((uint32_t)a);
    k.M = x_shape0;
    k.N = x_shape1;
    kernel_k::run(k);
}
