/* tile.cpp - the kernels of kernels/ascend as functions that the stub can launch.  Mock, not run on Ascend. */
#include "../../../kernels/ascend/gemm.cpp"
#include "../../../kernels/ascend/move.cpp"

MOCK_KERNEL(pto_tile_gemm_f32)
MOCK_KERNEL(pto_tile_gemm_acc_f32)
MOCK_KERNEL(pto_tile_gemm_nt_f32)
MOCK_KERNEL(pto_tile_copy_f32)
MOCK_KERNEL(pto_tile_copy_f64)
MOCK_KERNEL(pto_tile_transpose_f32)
MOCK_KERNEL(pto_tile_transpose_f64)

/* How a kernel of the device rounds a scalar of the host's. */
extern "C" float mock_f32_of_f64(uint64_t bits) { return pto::f32_of_f64((int64_t)bits); }
