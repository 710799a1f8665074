/* move.cpp - copy and transpose of std/tile.pto for f32 and f64, on vector cores.
 * Idea       A piece goes in and out again; no arithmetic, so an f64 is eight bytes like any others.  A transpose is
 *            a copy into a view with its strides exchanged.
 * Tests      test/ascend/test_ascendc.c
 *
 * NOT COMPILED HERE, see block.h.
 */
#include "rows.h"

namespace {

template <typename T>
__aicore__ inline void move_all(GM_ADDR a, int64_t as0, int64_t as1, GM_ADDR b, int64_t bs0, int64_t bs1, int64_t M,
                                int64_t N)
{
    const bool turned = pto::is_turned(bs0, bs1, N);
    const pto::Matrix<T> from(a, as0, as1, turned), to(b, bs0, bs1, turned);
    const pto::Walk<T> walk(M, N, turned, pto::is_dense(from) && pto::is_dense(to));
    AscendC::TPipe pipe;
    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 2, pto::PIECE_BYTES);
    for (int64_t i = walk.first(); i < walk.count(); i += walk.step()) {
        AscendC::LocalTensor<T> in = queue.template AllocTensor<T>();
        pto::load(in, from, walk, i);
        queue.EnQue(in);
        AscendC::LocalTensor<T> out = queue.template DeQue<T>();
        pto::store(to, out, walk, i);
        queue.FreeTensor(out);
    }
}

} // namespace

/* copy<M, N>(in a: T[M, N], out b: T[M, N]) */
extern "C" __global__ __aicore__ void pto_tile_copy_f32(GM_ADDR a, GM_ADDR b, int64_t, int64_t, int64_t as0,
                                                        int64_t as1, int64_t M, int64_t N, int64_t bs0, int64_t bs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    move_all<float>(a, as0, as1, b, bs0, bs1, M, N);
}

extern "C" __global__ __aicore__ void pto_tile_copy_f64(GM_ADDR a, GM_ADDR b, int64_t, int64_t, int64_t as0,
                                                        int64_t as1, int64_t M, int64_t N, int64_t bs0, int64_t bs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    move_all<int64_t>(a, as0, as1, b, bs0, bs1, M, N);
}

/* transpose<M, N>(in a: T[M, N], out b: T[N, M]) */
extern "C" __global__ __aicore__ void pto_tile_transpose_f32(GM_ADDR a, GM_ADDR b, int64_t M, int64_t N, int64_t as0,
                                                             int64_t as1, int64_t, int64_t, int64_t bs0, int64_t bs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    move_all<float>(a, as0, as1, b, bs1, bs0, M, N);
}

extern "C" __global__ __aicore__ void pto_tile_transpose_f64(GM_ADDR a, GM_ADDR b, int64_t M, int64_t N, int64_t as0,
                                                             int64_t as1, int64_t, int64_t, int64_t bs0, int64_t bs1)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    move_all<int64_t>(a, as0, as1, b, bs1, bs0, M, N);
}
