# Makes the C prototypes of the kernels that std/*.pto declare.  The modules are the only list of kernels.
#   cmake -D PTOC=ptoc -D FOLDER=kernels/std -D OUTPUT=folder -P prototypes.cmake
#     std_kernels.h   pto_tile_gemm_f32 ...: what the library defines
#     ref_kernels.h   ref_tile_gemm_f32 ...: the references of kernels/ref; one that no test compares with is not defined
file(GLOB modules ${FOLDER}/*.pto)
list(SORT modules)
set(std "/* Made from kernels/std by prototypes.cmake. */\n")
foreach(module IN LISTS modules)
    execute_process(COMMAND ${PTOC} build --emit=header ${module} OUTPUT_VARIABLE header COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND std "${header}")
endforeach()
string(REPLACE "int pto_" "int ref_" ref "${std}")
string(REPLACE "_PTO_H" "_REF_H" ref "${ref}")
file(WRITE ${OUTPUT}/std_kernels.h "${std}")
file(WRITE ${OUTPUT}/ref_kernels.h "${ref}")
