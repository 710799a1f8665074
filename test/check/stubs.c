/* stubs.c - parts of the system that a schedule does not reach: signals of crashes. */
#include "debug/backtrace.h"
#include "debug/crash.h"
#include <sched.h>

const int ptoi_crash_inline = 1;
void ptoi_crash_watch(void) {}
void ptoi_crash_unwatch(void) {}
void ptoi_crash_on_rank(int32_t rank) { (void)rank; }
void ptoi_crash_report_to(struct crash_note *note) { (void)note; }
void ptoi_crash_use_stack(void *stack) { (void)stack; }
_Thread_local struct crash_mark ptoi_crash_mark_;
bool ptoi_crash_marked(const PTOKernel **kernel, const PTOSite **site, uint64_t *number)
{
    (void)kernel, (void)site, (void)number;
    return false;
}
void ptoi_crash_describe(struct crash_text *t, const PTOKernel *kernel, const PTOArg *args, int count,
                         const struct crash_address *at, const char *calls)
{
    (void)t, (void)kernel, (void)args, (void)count, (void)at, (void)calls;
}
const PTOFastPath *ptoi_crash_orchestrates(const PTOFastPath *now) { return now; }

void ptoi_backtrace_prepare(void) {}
void ptoi_backtrace_listen(void) {}
void ptoi_backtrace_unlisten(void) {}
void ptoi_backtrace_answer(void) {}
int32_t ptoi_backtrace_thread(void) { return 0; }
size_t ptoi_backtrace_of(int32_t process, int32_t thread, char text[PTOI_BACKTRACE_BYTES])
{
    (void)process, (void)thread;
    text[0] = '\0';
    return 0;
}

/* Two processors, wherever the checker runs. */
int check_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int check_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    CPU_ZERO_S(size, set);
    CPU_SET_S(0, size, set);
    CPU_SET_S(1, size, set);
    return 0;
}
void ptoi_crash_recovered(const PTOKernel *kernel, const PTOArg *args, int count)
{
    (void)kernel, (void)args, (void)count;
}
