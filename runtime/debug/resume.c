/* resume.c - see resume.h. */
#include "resume.h"
#if defined(__x86_64__) && defined(__linux__)
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

/* Looked up when needed: a program is not linked with the unwinder for this alone. */
static struct {
    _Unwind_Reason_Code (*walk)(_Unwind_Trace_Fn visit, void *arg);
    _Unwind_Word (*reg)(struct _Unwind_Context *context, int number);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *context);
    _Unwind_Word (*cfa)(struct _Unwind_Context *context);
} unwinder;

static bool find_unwinder(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library) return false;
    *(void **)&unwinder.walk = dlsym(library, "_Unwind_Backtrace");
    *(void **)&unwinder.reg = dlsym(library, "_Unwind_GetGR");
    *(void **)&unwinder.ip = dlsym(library, "_Unwind_GetIP");
    *(void **)&unwinder.cfa = dlsym(library, "_Unwind_GetCFA");
    return unwinder.walk && unwinder.reg && unwinder.ip && unwinder.cfa;
}

static ucontext_t *resumed;
static uint64_t wanted; /* the return address; 0: found */

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *arg)
{
    enum { RBX = 3, RBP = 6, R12 = 12, R13, R14, R15 }; /* as the ABI numbers them for unwinders */
    enum { DIRECTION = 0x400 };                         /* of string instructions; up between functions */
    (void)arg;
    if (unwinder.ip(context) != wanted) return _URC_NO_REASON;
    greg_t *const to = resumed->uc_mcontext.gregs;
    to[REG_RBX] = (greg_t)unwinder.reg(context, RBX);
    to[REG_RBP] = (greg_t)unwinder.reg(context, RBP);
    to[REG_R12] = (greg_t)unwinder.reg(context, R12);
    to[REG_R13] = (greg_t)unwinder.reg(context, R13);
    to[REG_R14] = (greg_t)unwinder.reg(context, R14);
    to[REG_R15] = (greg_t)unwinder.reg(context, R15);
    to[REG_RSP] = (greg_t)unwinder.cfa(context); /* of the callee: behind the address that it returns to */
    to[REG_RIP] = (greg_t)wanted;
    to[REG_RAX] = PTOI_RESUMED;
    to[REG_EFL] &= ~(greg_t)DIRECTION;
    wanted = 0;
    return _URC_END_OF_STACK;
}

/* From here on: read, write, the end. */
static bool forbid_calls(int to)
{
    enum { KILL = 7, ALLOW = 8 };
#define OR_ALLOW(at, call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), ALLOW - (at)-1, 0)
    struct sock_filter rule[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, KILL - 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        OR_ALLOW(3, SYS_write),
        OR_ALLOW(4, SYS_exit_group),
        OR_ALLOW(5, SYS_exit),
        OR_ALLOW(6, SYS_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
#undef OR_ALLOW
    const struct sock_fprog filter = {sizeof rule / sizeof rule[0], rule};
    if ((to > 0 && syscall(SYS_close_range, 0, (unsigned)to - 1, 0) != 0) ||
        syscall(SYS_close_range, (unsigned)to + 1, ~0u, 0) != 0)
        return false;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool ptoi_resume(void *context, const void *return_address, int to)
{
    if (!find_unwinder()) return false;
    resumed = context;
    wanted = (uint64_t)(uintptr_t)return_address;
    unwinder.walk(visit, NULL);
    return wanted == 0 && forbid_calls(to);
}

#else
bool ptoi_resume(void *context, const void *return_address, int to)
{
    return (void)context, (void)return_address, (void)to, false;
}
#endif
