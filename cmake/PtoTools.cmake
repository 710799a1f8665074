# PtoTools.cmake - programs and libraries the build needs; a missing one is named by its Debian package.
function(pto_need_program variable program package)
    find_program(${variable} ${program})
    if(NOT ${variable})
        message(FATAL_ERROR "${program} not found: install the package ${package} (or run ./dev setup)")
    endif()
endfunction()

pto_need_program(RE2C_EXECUTABLE re2c re2c)
pto_need_program(BISON_EXECUTABLE bison bison)
find_package(BISON 3.8 REQUIRED)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
