/* tile.cpp - the kernels of kernels/ascend as functions that the stub can launch.  Mock, not run on Ascend. */
#include "../../../kernels/ascend/elementwise.cpp"
#include "../../../kernels/ascend/gemm.cpp"
#include "../../../kernels/ascend/move.cpp"

MOCK_KERNEL(pto_tile_gemm_f32)
MOCK_KERNEL(pto_tile_gemm_acc_f32)
MOCK_KERNEL(pto_tile_gemm_nt_f32)
MOCK_KERNEL(pto_tile_add_f32)
MOCK_KERNEL(pto_tile_sub_f32)
MOCK_KERNEL(pto_tile_mul_f32)
MOCK_KERNEL(pto_tile_add_to_f32)
MOCK_KERNEL(pto_tile_axpy_f32)
MOCK_KERNEL(pto_tile_scale_f32)
MOCK_KERNEL(pto_tile_fill_f32)
MOCK_KERNEL(pto_tile_copy_f32)
MOCK_KERNEL(pto_tile_copy_f64)
MOCK_KERNEL(pto_tile_transpose_f32)
MOCK_KERNEL(pto_tile_transpose_f64)
