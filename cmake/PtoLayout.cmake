# PtoLayout.cmake - the build folder as an installation, and the installation.
#   bin/ptoc   lib/libpto_runtime.a libpto_kernels.a libpto.so   include/pto/*.h   share/pto/std/*.pto   share/pto/ascend
#   lib/pto/debug/libpto_runtime.a libpto_kernels.a: with debug information, for `ptoc build -g`.
#   lib/pto/kernels: objects of kernels of std/ that were made ahead, for `ptoc run`; docs/cli.md, "What was built before".
#   share/pto/explain/*.md: what the language server links messages to.
#   share/pto/cflags, ldflags: one line each, what ptoc adds when it calls the C compiler; kernel-libs: what libpto_kernels.a needs.
#   lib/cmake/pto, lib/pkgconfig: for the builds of others, test/install/.
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

# pto_archive(pto_runtime): an archive for programs, with debug information in lib/pto/debug and without in lib: to copy
# it takes a linker longer than all else.  Sanitizers report lines, so their archives are the same twice.
function(pto_archive name)
    set(archive lib${name}.a)
    set_target_properties(${name} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/pto/debug)
    if(PTO_SANITIZE OR NOT CMAKE_OBJCOPY)
        set(copy ${CMAKE_COMMAND} -E copy)
    else()
        set(copy ${CMAKE_OBJCOPY} --strip-debug)
    endif()
    add_custom_command(TARGET ${name} POST_BUILD BYPRODUCTS ${CMAKE_BINARY_DIR}/lib/${archive}
        COMMAND ${copy} $<TARGET_FILE:${name}> ${CMAKE_BINARY_DIR}/lib/${archive} VERBATIM)
    install(FILES ${CMAKE_BINARY_DIR}/lib/${archive} DESTINATION lib COMPONENT libpto-dev)
    install(TARGETS ${name} ARCHIVE DESTINATION lib/pto/debug COMPONENT libpto-dev)
endfunction()

# kernels/ sets the global property PTO_KERNEL_LIBS, e.g. "-lopenblas", or leaves it empty.
function(pto_write_share)
    get_property(kernel_libs GLOBAL PROPERTY PTO_KERNEL_LIBS)
    set(cflags ${PTO_SANITIZE_FLAGS})
    if(PTO_SANITIZE)
        list(APPEND cflags -g1)
        if(kernel_libs)
            list(PREPEND kernel_libs -Wl,--as-needed) # GCC's own, but beside a sanitizer; a start would load a BLAS that no kernel needs
        endif()
    endif()
    set(ldflags -lm -ldl -pthread ${PTO_SANITIZE_FLAGS})
    list(JOIN cflags " " cflags)
    list(JOIN ldflags " " ldflags)
    list(JOIN kernel_libs " " kernel_libs)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/pto/cflags CONTENT "${cflags}\n")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/pto/ldflags CONTENT "${ldflags}\n")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/share/pto/kernel-libs CONTENT "${kernel_libs}\n")
endfunction()

# tools/ptoc/ahead.pto says which.  They are made anew where one of their kernels, a header or the compiler is another one; else this takes 0.1 s.
function(pto_make_ahead)
    if(PTO_SANITIZE OR PTO_TINY OR CMAKE_CROSSCOMPILING)
        return() # such programs are tested, and each costs a build of its own
    endif()
    set(folder ${CMAKE_BINARY_DIR}/lib/pto/kernels)
    set(stamp ${CMAKE_BINARY_DIR}/kernels-ahead.stamp)
    set(cpu) # every level, for users
    if(CMAKE_BUILD_TYPE STREQUAL "Debug")
        set(cpu -D CPU=native)
    endif()
    file(GLOB modules CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/std/*.pto)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/include/pto/*)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -D PTOC=$<TARGET_FILE:ptoc> -D PROGRAM=${CMAKE_SOURCE_DIR}/tools/ptoc/ahead.pto -D FOLDER=${folder} ${cpu}
                -P ${CMAKE_SOURCE_DIR}/cmake/PtoAhead.cmake
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ptoc tools/ptoc/ahead.pto cmake/PtoAhead.cmake ${CMAKE_BINARY_DIR}/share/pto/cflags ${modules} ${headers} VERBATIM)
    add_custom_target(pto_ahead ALL DEPENDS ${stamp})
    install(DIRECTORY ${folder} DESTINATION lib/pto COMPONENT ptoc)
endfunction()

# For find_package(pto) and pkg-config; both find the installation from where they lie in it.
function(pto_write_package)
    include(CMakePackageConfigHelpers)
    get_property(kernel_libs GLOBAL PROPERTY PTO_KERNEL_LIBS)
    set(libs ${kernel_libs} -lm -ldl -pthread)
    list(JOIN libs " " PTO_PRIVATE_LIBS)
    set(PTO_STATIC_LIBS "${libs}")
    set(package ${CMAKE_BINARY_DIR}/lib/cmake/pto)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/package/ptoConfig.cmake.in ${package}/ptoConfig.cmake @ONLY)
    write_basic_package_version_file(${package}/ptoConfigVersion.cmake COMPATIBILITY SameMajorVersion)
    configure_file(${CMAKE_SOURCE_DIR}/cmake/package/pto.pc.in ${CMAKE_BINARY_DIR}/lib/pkgconfig/pto.pc @ONLY)
endfunction()

# Components are the Debian packages of the same names, PtoPackages.cmake.
function(pto_install)
    install(TARGETS ptoc RUNTIME DESTINATION bin COMPONENT ptoc)
    install(TARGETS pto LIBRARY DESTINATION lib COMPONENT libpto1 NAMELINK_COMPONENT libpto-dev)
    install(TARGETS pto_static ARCHIVE DESTINATION lib COMPONENT libpto-dev)
    if(TARGET pto_wire_mpi)
        install(TARGETS pto_wire_mpi LIBRARY DESTINATION lib COMPONENT libpto-mpi)
        if(TARGET pto_wire_mpich)
            install(TARGETS pto_wire_mpich LIBRARY DESTINATION lib COMPONENT libpto-mpi)
        endif()
    endif()
    install(DIRECTORY runtime/include/pto DESTINATION include COMPONENT libpto-dev)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/lib/cmake ${CMAKE_BINARY_DIR}/lib/pkgconfig DESTINATION lib COMPONENT libpto-dev)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/share/man ${CMAKE_BINARY_DIR}/share/bash-completion ${CMAKE_BINARY_DIR}/share/zsh ${CMAKE_BINARY_DIR}/share/fish
            DESTINATION share COMPONENT ptoc)
    install(DIRECTORY kernels/std DESTINATION share/pto COMPONENT ptoc FILES_MATCHING PATTERN "*.pto")
    install(DIRECTORY kernels/ascend DESTINATION share/pto COMPONENT ptoc)
    install(DIRECTORY docs/explain DESTINATION share/pto COMPONENT ptoc FILES_MATCHING PATTERN "*.md")
    install(FILES runtime/program.map ${CMAKE_BINARY_DIR}/share/pto/cflags ${CMAKE_BINARY_DIR}/share/pto/ldflags
                  ${CMAKE_BINARY_DIR}/share/pto/kernel-libs
            DESTINATION share/pto COMPONENT ptoc)
    install(DIRECTORY python/ptoc DESTINATION lib/python3/dist-packages COMPONENT python3-ptoc FILES_MATCHING PATTERN "*.py")
    install(DIRECTORY editor/vim/ DESTINATION share/vim/vimfiles COMPONENT ptoc)
    install(FILES editor/gdb/pto.py DESTINATION share/pto/gdb COMPONENT ptoc)
    install(DIRECTORY editor/vscode DESTINATION share/pto/editor COMPONENT ptoc
        PATTERN "node_modules" EXCLUDE PATTERN "package-lock.json" EXCLUDE PATTERN "*.vsix" EXCLUDE)
    install(DIRECTORY examples DESTINATION share/doc/ptoc COMPONENT ptoc-doc)
    install(DIRECTORY docs/ DESTINATION share/doc/ptoc COMPONENT ptoc-doc PATTERN "conf.py" EXCLUDE)
    install(FILES README.md CHANGELOG.md DESTINATION share/doc/ptoc COMPONENT ptoc-doc)
endfunction()
