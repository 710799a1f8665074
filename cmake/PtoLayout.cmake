# PtoLayout.cmake - the build folder as an installation, and the installation.
#   bin/ptoc   lib/libpto_runtime.a libpto_kernels.a libpto.so   include/pto/*.h   share/pto/std/*.pto   share/pto/ascend
#   share/pto/explain/*.md: what the language server links messages to.
#   share/pto/cflags, ldflags: one line each, what ptoc adds when it calls the C compiler.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

# Headers and modules are not made, only found: links keep them true without a build step.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include ${CMAKE_BINARY_DIR}/share/pto)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/runtime/include/pto ${CMAKE_BINARY_DIR}/include/pto SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/kernels/std ${CMAKE_BINARY_DIR}/share/pto/std SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/kernels/ascend ${CMAKE_BINARY_DIR}/share/pto/ascend SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/docs/explain ${CMAKE_BINARY_DIR}/share/pto/explain SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/runtime/program.map ${CMAKE_BINARY_DIR}/share/pto/program.map SYMBOLIC)

# kernels/ sets the global property PTO_KERNEL_LIBS, e.g. "-lopenblas", or leaves it empty.
function(pto_write_share)
    get_property(kernel_libs GLOBAL PROPERTY PTO_KERNEL_LIBS)
    set(cflags ${PTO_SANITIZE_FLAGS})
    set(ldflags ${kernel_libs} -lm -ldl -pthread ${PTO_SANITIZE_FLAGS})
    list(JOIN cflags " " cflags)
    list(JOIN ldflags " " ldflags)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/pto/cflags CONTENT "${cflags}\n")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/pto/ldflags CONTENT "${ldflags}\n")
endfunction()

function(pto_install)
    install(TARGETS ptoc pto_runtime pto pto_kernels RUNTIME DESTINATION bin ARCHIVE DESTINATION lib
            LIBRARY DESTINATION lib)
    if(TARGET pto_wire_mpi)
        install(TARGETS pto_wire_mpi LIBRARY DESTINATION lib)
    endif()
    install(DIRECTORY runtime/include/pto DESTINATION include)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man ${CMAKE_BINARY_DIR}/share/bash-completion DESTINATION share)
    install(DIRECTORY kernels/std DESTINATION share/pto FILES_MATCHING PATTERN "*.pto")
    install(DIRECTORY kernels/ascend DESTINATION share/pto)
    install(DIRECTORY docs/explain DESTINATION share/pto FILES_MATCHING PATTERN "*.md")
    install(FILES runtime/program.map DESTINATION share/pto)
    install(FILES ${CMAKE_BINARY_DIR}/share/pto/cflags ${CMAKE_BINARY_DIR}/share/pto/ldflags DESTINATION share/pto)
endfunction()
