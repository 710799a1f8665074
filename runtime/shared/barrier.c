/* barrier.c - see barrier.h. */
#include "barrier.h"
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_registered;

static void ask_for_it(void)
{
    is_registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool ptoi_barrier_exists(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_for_it);
    return is_registered;
}

bool ptoi_barrier_of_threads(void)
{
    return ptoi_barrier_exists() && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
