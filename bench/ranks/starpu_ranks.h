/* starpu_ranks.h - what the programs over StarPU-MPI share: start and end, and pieces of memory with an owner.
 * Handles are registered once, before the first task.  A rank inserts no task that it neither runs nor owns an argument
 * of: what runs elsewhere on other data would only cost time. */
#ifndef BENCH_STARPU_RANKS_H
#define BENCH_STARPU_RANKS_H
#include "save.h"
#include <starpu_mpi.h>
#include <stdbool.h>

static int my_rank;

/* A codelet of one function for processors. */
static inline struct starpu_codelet *codelet_of(starpu_cpu_func_t function, int count,
                                                const enum starpu_data_access_mode *modes)
{
    struct starpu_codelet *made = calloc(1, sizeof *made);
    starpu_codelet_init(made);
    made->cpu_funcs[0] = function;
    made->nbuffers = count;
    memcpy(made->modes, modes, (size_t)count * sizeof *modes);
    return made;
}

static inline void begin_ranks(int *argc, char ***argv)
{
    struct starpu_conf conf;
    int ranks = 0;
    starpu_conf_init(&conf);
    conf.ncuda = conf.nopencl = 0;
    if (starpu_mpi_init_conf(argc, argv, 1, MPI_COMM_WORLD, &conf)) exit(77);
    starpu_mpi_comm_rank(MPI_COMM_WORLD, &my_rank);
    starpu_mpi_comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) MPI_Abort(MPI_COMM_WORLD, 2);
}

/* A handle of so many elements that live at `memory` of the owner, and nowhere else yet. */
static inline starpu_data_handle_t piece_of(int owner, void *memory, size_t count, size_t element_bytes)
{
    static starpu_mpi_tag_t tag;
    starpu_data_handle_t handle;
    starpu_vector_data_register(&handle, owner == my_rank ? STARPU_MAIN_RAM : -1,
                                owner == my_rank ? (uintptr_t)memory : 0, (uint32_t)count, element_bytes);
    starpu_mpi_data_register(handle, tag++, owner);
    return handle;
}

static inline void *data_of(void **buffers, int i) { return (void *)STARPU_VECTOR_GET_PTR(buffers[i]); }

/* Until all tasks and messages of all ranks have ended. */
static inline void end_tasks(void)
{
    starpu_task_wait_for_all();
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
}

/* The owner's memory has the newest values afterwards. */
static inline void forget(starpu_data_handle_t *handles, size_t count)
{
    for (size_t i = 0; i < count; i++) starpu_data_unregister(handles[i]);
}

#endif
