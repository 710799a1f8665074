/* Made by ptoc from 4.pto: skeletons of its kernels for AscendC.  Write what each `compute` does; this file is yours then.
 * Not compiled here: no CANN toolkit was at hand.  rows.h is in share/pto/ascend beside ptoc.  With PTO_SKELETON defined the
 * file compiles as it is, and computes nothing.  For the map of kernels (--kernels, docs/ascend.md):
 *     [k]
 *     object = m4.o
 *     engine = vector
 */
#include "rows.h"
#include "equations.h"
#include "gemm.h"

/* 4.pto:1  kernel k<B, M, N>(in x: f32[B, M, N], in y: f32[B], out z: f32[B, M, N]) on vector => */
namespace kernel_k {

/* What a launch was given. */
struct Arguments {
    AscendC::GlobalTensor<float> x;
    int64_t x_shape[3], x_stride[3];
    AscendC::GlobalTensor<float> y;
    int64_t y_shape[1], y_stride[1];
    AscendC::GlobalTensor<float> z;
    int64_t z_shape[3], z_stride[3];
    int64_t B;
    int64_t M;
    int64_t N;
};

/* Equations on rows in pieces, shared out among the cores; sums have the order of the device. */
__aicore__ inline void run(const Arguments &k)
{
    constexpr int64_t PIECE = 4096; /* of f32 */
    AscendC::TPipe pipe;
    pto::Lines lines;
    lines.init(pipe);
    pto::InQueue in0;
    pipe.InitBuffer(in0, 2, PIECE * sizeof(float));
    pto::OutQueue out;
    pipe.InitBuffer(out, 2, PIECE * sizeof(float));
    pto::Work work0;
    pipe.InitBuffer(work0, PIECE * sizeof(float));
    const pto::Floats t0 = work0.Get<float>();
    const int64_t rows = k.B * k.M;
    for (int64_t row = AscendC::GetBlockIdx(); row < rows; row += AscendC::GetBlockNum()) {
        const int64_t i1 = row % k.M;
        const int64_t i0 = row / k.M;
        /* let q[b] = y[b] * 2.0 */
        const float number0 = pto::number_at(k.y, i0 * k.y_stride[0], lines);
        pto::set(t0, number0, 1);
        pto::muls(t0, t0, 2.0f, 1);
        const float let0_q = pto::first_of(t0);
        /* z[b, i, j] = x[b, i, j] * q[b] */
        for (int64_t at = 0; at < k.N; at += PIECE) {
            const int32_t count = (int32_t)pto::least(PIECE, k.N - at);
            pto::Floats x0 = in0.AllocTensor<float>();
            pto::load(x0, k.x, i0 * k.x_stride[0] + i1 * k.x_stride[1] + at * k.x_stride[2], k.x_stride[2], count, lines);
            in0.EnQue(x0);
            x0 = in0.DeQue<float>();
            pto::Floats y = out.AllocTensor<float>();
            pto::muls(y, x0, let0_q, count);
            in0.FreeTensor(x0);
            out.EnQue(y);
            y = out.DeQue<float>();
            pto::store(k.z, i0 * k.z_stride[0] + i1 * k.z_stride[1] + at * k.z_stride[2], k.z_stride[2], y, count, lines);
            out.FreeTensor(y);
        }
        pto::wait_for_all();
    }
}

} // namespace kernel_k

extern "C" __global__ __aicore__ void k(GM_ADDR x, GM_ADDR y, GM_ADDR z, int64_t x_shape0, int64_t x_shape1,
    int64_t x_shape2, int64_t x_stride0, int64_t x_stride1, int64_t x_stride2, int64_t y_shape0, int64_t y_stride0,
    int64_t z_shape0, int64_t z_shape1, int64_t z_shape2, int64_t z_stride0, int64_t z_stride1, int64_t z_stride2)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    kernel_k::Arguments k;
    k.x.SetGlobalBuffer((__gm__ float *)x);
    k.x_shape[0] = x_shape0;
    k.x_shape[1] = x_shape1;
    k.x_shape[2] = x_shape2;
    k.x_stride[0] = x_stride0;
    k.x_stride[1] = x_stride1;
    k.x_stride[2] = x_stride2;
    k.y.SetGlobalBuffer((__gm__ float *)y);
    k.y_shape[0] = y_shape0;
    k.y_stride[0] = y_stride0;
    k.z.SetGlobalBuffer((__gm__ float *)z);
    k.z_shape[0] = z_shape0;
    k.z_shape[1] = z_shape1;
    k.z_shape[2] = z_shape2;
    k.z_stride[0] = z_stride0;
    k.z_stride[1] = z_stride1;
    k.z_stride[2] = z_stride2;
    k.B = x_shape0;
    k.M = x_shape1;
    k.N = x_shape2;
    kernel_k::run(k);
}
