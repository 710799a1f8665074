# PtoFlags.cmake - the flags every C file of the project is compiled with, in one interface target.
set(PTO_SANITIZE "" CACHE STRING "Sanitizers: empty, 'address,undefined' or 'thread'")
set(PTO_CHECK 1 CACHE STRING "0: no checks of our own invariants, 1: CHECK, 2: also CHECK_DEEP")
option(PTO_FUZZ "Instrument the compiler for libFuzzer; needs clang" OFF)
option(PTO_TINY "Smallest rings by default and coin-toss yields at the labels" OFF)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Not CMake's defaults: an assertion that NDEBUG removes would be a test that is not run.
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()

set(PTO_SANITIZE_FLAGS "")
set(PTO_QUICK "")
if(PTO_SANITIZE)
    set(PTO_SANITIZE_FLAGS -fsanitize=${PTO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # A report has lines.  The places of variables, which none shows, would be a third of the compiler's time.
    set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
    set(CMAKE_CXX_FLAGS_DEBUG "-g1")
    # To optimize sanitized code takes long: kernels that are mostly macros are compiled without (contraction.c: 3 s
    # instead of 50).  Tests and programs are not: without optimization no submit is inlined, and none would be tested.
    set(PTO_QUICK -O0)
endif()

add_library(pto_flags INTERFACE)
if(PTO_FUZZ)
    target_compile_options(pto_flags INTERFACE -fsanitize=fuzzer-no-link)
    target_link_options(pto_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_compile_options(pto_flags INTERFACE
    -Wall -Wextra -Werror
    # No file we build may remember where it was built.
    -ffile-prefix-map=${CMAKE_BINARY_DIR}/=
    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
    ${PTO_SANITIZE_FLAGS})
target_link_options(pto_flags INTERFACE ${PTO_SANITIZE_FLAGS})
target_compile_definitions(pto_flags INTERFACE _GNU_SOURCE PTO_CHECK=${PTO_CHECK} $<$<BOOL:${PTO_TINY}>:PTO_TINY=1>)
