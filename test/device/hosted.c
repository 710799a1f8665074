/* hosted.c - the resident scheduler as an ordinary program: what a device's operating system would supply.
 * usage: hosted FD BYTES   the shared block is the file FD, so many bytes
 *
 * Built for this machine and for aarch64; the second runs under qemu-aarch64.  It has nothing of the runtime but the
 * freestanding core. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shared/check.h"
#include "device/resident.h"

enum { ROUNDS_BEFORE_YIELD = 64, ROUNDS_BEFORE_SLEEP = 256 };

void ptoi_check_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "resident scheduler: %s:%d: %s\n", file, line, condition);
    abort();
}

static void *map(int fd, uint64_t bytes)
{
    void *p = fd < 0 ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                     : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p != MAP_FAILED) return p;
    perror("resident scheduler: mmap");
    exit(3);
}

int main(int argc, char **argv)
{
    static struct resident resident;
    if (argc != 3) return 2;
    struct resident_block *block = map(atoi(argv[1]), strtoull(argv[2], NULL, 0));
    const uint64_t bytes = ptoi_resident_bytes(block);
    if (!ptoi_resident_open(&resident, block, map(-1, bytes ? bytes : 1))) return 1;
    const pid_t parent = getppid();
    for (int idle = 0; !resident.is_over;) {
        if (ptoi_resident_step(&resident))
            idle = 0;
        else if (++idle < ROUNDS_BEFORE_YIELD)
            pto_relax();
        else if (idle < ROUNDS_BEFORE_SLEEP)
            sched_yield();
        else {
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
            if (getppid() != parent) return 1;
        }
    }
    return 0;
}
