/* Made by ptoc from 2.pto: skeletons of its kernels for AscendC.  Write what each `compute` does; this file is yours then.
 * Not compiled here: no CANN toolkit was at hand.  rows.h is in share/pto/ascend beside ptoc.  With PTO_SKELETON defined the
 * file compiles as it is, and computes nothing.  For the map of kernels (--kernels, docs/ascend.md):
 *     [e]
 *     object = m2.o
 *     engine = vector
 */
#include "rows.h"
#include "equations.h"
#include "gemm.h"

/* 2.pto:1  kernel e<M, N>(in x: f32[M, N], out z: f32[M]) on vector => */
namespace kernel_e {

/* What a launch was given. */
struct Arguments {
    AscendC::GlobalTensor<float> x;
    int64_t x_shape[2], x_stride[2];
    AscendC::GlobalTensor<float> z;
    int64_t z_shape[1], z_stride[1];
    int64_t M;
    int64_t N;
};

/* `count` elements of a row from index i0 on: element i of a tensor x of T is at x[i * pto::place<T>(dense)].
 * Of another shape, and where they were, in k: x. */
__aicore__ inline void compute(const Arguments &k, const AscendC::LocalTensor<float> &z, int64_t i0, uint32_t count,
    bool dense)
{
#ifndef PTO_SKELETON
#error "kernel 'e': what it does with a tile is still to be written"
#endif
    (void)k, (void)z, (void)i0, (void)count, (void)dense;
}

/* All of z in pieces, shared out among the cores. */
__aicore__ inline void run(const Arguments &k)
{
    constexpr int64_t BYTES = 16384;
    const bool dense = k.z_stride[0] == 1;
    const int64_t piece = dense ? BYTES / 4 : BYTES / pto::LINE_BYTES;
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out_z;
    pipe.InitBuffer(out_z, 2, BYTES);
    for (int64_t i0 = AscendC::GetBlockIdx() * piece; i0 < k.z_shape[0]; i0 += AscendC::GetBlockNum() * piece) {
        const uint32_t count = (uint32_t)pto::least(piece, k.z_shape[0] - i0);
        AscendC::LocalTensor<float> z = out_z.AllocTensor<float>();
        compute(k, z, i0, count, dense);
        out_z.EnQue(z);
        z = out_z.DeQue<float>();
        pto::store_piece(k.z, i0 * k.z_stride[0], k.z_stride[0], z, count, dense);
        out_z.FreeTensor(z);
    }
}

} // namespace kernel_e

extern "C" __global__ __aicore__ void e(GM_ADDR x, GM_ADDR z, int64_t x_shape0, int64_t x_shape1, int64_t x_stride0,
    int64_t x_stride1, int64_t z_shape0, int64_t z_stride0)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    kernel_e::Arguments k;
    k.x.SetGlobalBuffer((__gm__ float *)x);
    k.x_shape[0] = x_shape0;
    k.x_shape[1] = x_shape1;
    k.x_stride[0] = x_stride0;
    k.x_stride[1] = x_stride1;
    k.z.SetGlobalBuffer((__gm__ float *)z);
    k.z_shape[0] = z_shape0;
    k.z_stride[0] = z_stride0;
    k.M = x_shape0;
    k.N = x_shape1;
    kernel_e::run(k);
}
