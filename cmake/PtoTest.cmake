# PtoTest.cmake - how a test is declared.
find_library(CMOCKA_LIBRARY cmocka)
find_path(CMOCKA_INCLUDE cmocka.h)
if(NOT CMOCKA_LIBRARY OR NOT CMOCKA_INCLUDE)
    message(FATAL_ERROR "cmocka not found: install the package libcmocka-dev (or run ./dev setup)")
endif()

# The AscendC kernels are C++.  A sanitizer links only with the compiler that it is of.
include(CheckLanguage)
if(CMAKE_C_COMPILER MATCHES "clang(-[0-9]+)?$" AND NOT CMAKE_CXX_COMPILER)
    string(REGEX REPLACE "clang(-[0-9]+)?$" "clang++\\1" CMAKE_CXX_COMPILER ${CMAKE_C_COMPILER})
endif()
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
    message(FATAL_ERROR "a C++ compiler is missing: install the package g++ (or run ./dev setup)")
endif()
enable_language(CXX)

# GNU gold, where binutils brings it, links in half of the processor time or less.  Not for ThreadSanitizer, which maps a file of its own over
# what gold puts beside constants: where a test limits the size of files, the program dies before it begins.
if(NOT PTO_SANITIZE MATCHES thread)
    find_program(PTO_GOLD ld.gold)
endif()

# pto_unit_test(heap_ring): test_heap_ring.c beside the calling CMakeLists.txt.  Unit tests see the inside of the runtime.
# pto_unit_test(heap_ring STRESS): stress_heap_ring.c, with the label stress beside unit.
# pto_unit_test(region ONE_THREAD): starts no thread, so the thread sanitizer has nothing to see and leaves it out.
# LIBS names further libraries of the project; it replaces pto_runtime.
function(pto_unit_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STRESS;ONE_THREAD" "" "LIBS")
    if(arg_ONE_THREAD AND PTO_SANITIZE MATCHES thread)
        return()
    endif()
    set(kind test)
    set(labels unit)
    set(seconds 600) # a machine may be slow, and do other work
    if(arg_STRESS)
        set(kind stress)
        set(seconds 1200)
        list(APPEND labels stress)
    endif()
    if(NOT arg_LIBS)
        set(arg_LIBS pto_runtime)
    endif()
    set(target ${kind}_${name})
    add_executable(${target} ${kind}_${name}.c)
    target_include_directories(${target} PRIVATE
        ${CMAKE_SOURCE_DIR}/test/runtime ${CMAKE_SOURCE_DIR}/runtime ${CMOCKA_INCLUDE})
    target_link_libraries(${target} PRIVATE pto_flags ${arg_LIBS} ${CMOCKA_LIBRARY} Threads::Threads m)
    if(PTO_GOLD)
        target_link_options(${target} PRIVATE -fuse-ld=gold)
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES TIMEOUT ${seconds} LABELS "${labels}")
endfunction()
