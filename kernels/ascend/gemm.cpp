/* gemm.cpp - gemm gemm_acc gemm_nt of std/tile.pto for f32, on cube cores: calls of Gemm.
 * Tests      test/ascend/test_ascendc.c
 *
 * NOT COMPILED HERE, see block.h.
 */
#include "gemm.h"

namespace {

using pto::Gemm;
using pto::View;

__aicore__ inline View view(GM_ADDR address, int64_t row, int64_t column)
{
    View v;
    v.data.SetGlobalBuffer((__gm__ float *)address);
    v.row = row;
    v.column = column;
    return v;
}

} // namespace

/* gemm<M, N, K>(in a: f32[M, K], in b: f32[K, N], out p: f32[M, N]); as0 as1 are the strides of a. */
extern "C" __global__ __aicore__ void pto_tile_gemm_f32(GM_ADDR a, GM_ADDR b, GM_ADDR p, int64_t M, int64_t K,
                                                        int64_t as0, int64_t as1, int64_t, int64_t N, int64_t bs0,
                                                        int64_t bs1, int64_t, int64_t, int64_t ps0, int64_t ps1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Gemm(view(a, as0, as1), view(b, bs0, bs1), view(p, ps0, ps1), M, N, K, false).run();
}

/* gemm_acc<M, N, K>(in a: f32[M, K], in b: f32[K, N], inout c: f32[M, N]) */
extern "C" __global__ __aicore__ void pto_tile_gemm_acc_f32(GM_ADDR a, GM_ADDR b, GM_ADDR c, int64_t M, int64_t K,
                                                            int64_t as0, int64_t as1, int64_t, int64_t N, int64_t bs0,
                                                            int64_t bs1, int64_t, int64_t, int64_t cs0, int64_t cs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Gemm(view(a, as0, as1), view(b, bs0, bs1), view(c, cs0, cs1), M, N, K, true).run();
}

/* gemm_nt<M, N, K>(in a: f32[M, K], in b: f32[N, K], out p: f32[M, N]): b the other way round. */
extern "C" __global__ __aicore__ void pto_tile_gemm_nt_f32(GM_ADDR a, GM_ADDR b, GM_ADDR p, int64_t M, int64_t K,
                                                           int64_t as0, int64_t as1, int64_t N, int64_t, int64_t bs0,
                                                           int64_t bs1, int64_t, int64_t, int64_t ps0, int64_t ps1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
    Gemm(view(a, as0, as1), view(b, bs1, bs0), view(p, ps0, ps1), M, N, K, false).run();
}
