# PtoAhead.cmake - makes the objects of PROGRAM in FOLDER: cmake -D PTOC=... -D PROGRAM=... -D FOLDER=... [-D CPU=...] -P PtoAhead.cmake
# They are for users, so neither the builder's compiler nor what it listens to counts.  Without them a run compiles its kernels itself: where they cannot
# be made, because `cc` is a script or there is none, that is no error.
foreach(variable CC CPATH C_INCLUDE_PATH COMPILER_PATH DEPENDENCIES_OUTPUT GCC_EXEC_PREFIX LD_LIBRARY_PATH LD_PRELOAD SOURCE_DATE_EPOCH SUNPRO_DEPENDENCIES)
    unset(ENV{${variable}})
endforeach()
set(cpu)
if(CPU)
    set(cpu --cpu=${CPU})
endif()
file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${PTOC} build --emit=objects --plan=apart ${cpu} ${PROGRAM} -o ${FOLDER} RESULT_VARIABLE result ERROR_VARIABLE said)
if(result)
    file(REMOVE_RECURSE ${FOLDER})
    file(MAKE_DIRECTORY ${FOLDER})
    message("-- Kernels of std/ are not compiled ahead:\n${said}")
endif()
