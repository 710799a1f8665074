/* guard.c - see guard.h. */
#include "guard.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <unwind.h>

#if defined(__x86_64__) || defined(__aarch64__)

/* The functions that a personality routine needs are in the library that unwinds.  A program in C is not linked with
 * it: pthread_exit loads it. */
__attribute__((weak)) void _Unwind_SetGR(struct _Unwind_Context *context, int index, _Unwind_Word value);
__attribute__((weak)) void _Unwind_SetIP(struct _Unwind_Context *context, _Unwind_Ptr value);
/* Functions of the C++ runtime, if it is linked: they mark an exception as caught. */
__attribute__((weak)) void *__cxa_begin_catch(void *exception);
__attribute__((weak)) void __cxa_end_catch(void);

#define HIDDEN __attribute__((visibility("hidden"))) /* the assembler below names them by their distance */
HIDDEN extern const char ptoi_guard_landing[];
HIDDEN _Unwind_Reason_Code ptoi_guard_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                                  struct _Unwind_Exception *exception, struct _Unwind_Context *context);
HIDDEN int ptoi_guard_caught(struct _Unwind_Exception *exception, bool is_forced);

struct unwinder {
    void (*set_register)(struct _Unwind_Context *context, int index, _Unwind_Word value);
    void (*set_instruction)(struct _Unwind_Context *context, _Unwind_Ptr value);
};

static bool find_unwinder(struct unwinder *u)
{
    *u = (struct unwinder){_Unwind_SetGR, _Unwind_SetIP};
    if (u->set_register && u->set_instruction) return true;
    void *library = dlopen("libgcc_s.so.1", RTLD_LAZY);
    if (!library) return false;
    void *set_register = dlsym(library, "_Unwind_SetGR"), *set_instruction = dlsym(library, "_Unwind_SetIP");
    *u = (struct unwinder){(void (*)(struct _Unwind_Context *, int, _Unwind_Word))(uintptr_t)set_register,
                           (void (*)(struct _Unwind_Context *, _Unwind_Ptr))(uintptr_t)set_instruction};
    dlclose(library); /* who unwinds now keeps it */
    return set_register && set_instruction;
}

_Unwind_Reason_Code ptoi_guard_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                           struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
    struct unwinder u;
    const bool is_forced = actions & _UA_FORCE_UNWIND;
    (void)version, (void)class;
    if (!find_unwinder(&u)) return _URC_CONTINUE_UNWIND;
    if (actions & _UA_SEARCH_PHASE) return _URC_HANDLER_FOUND;
    u.set_register(context, __builtin_eh_return_data_regno(0), (_Unwind_Word)(uintptr_t)exception);
    u.set_register(context, __builtin_eh_return_data_regno(1), is_forced);
    u.set_instruction(context, (_Unwind_Ptr)(uintptr_t)ptoi_guard_landing);
    return _URC_INSTALL_CONTEXT;
}

/* The exception of an unwinding that was forced is a part of its thread: it is left alone. */
int ptoi_guard_caught(struct _Unwind_Exception *exception, bool is_forced)
{
    if (is_forced) return PTOI_ENDED_THREAD;
    if (__cxa_begin_catch && __cxa_end_catch) {
        __cxa_begin_catch(exception);
        __cxa_end_catch();
    } else if (exception->exception_cleanup) {
        exception->exception_cleanup(_URC_FOREIGN_EXCEPTION_CAUGHT, exception);
    }
    return PTOI_THREW;
}

/* 0x1b: the personality's address is relative to where it stands.  At the landing the stack is as at the call. */
#ifdef __x86_64__
__asm__(".text\n"
        ".p2align 4\n"
        ".globl ptoi_guarded_call\n"
        ".type ptoi_guarded_call, @function\n"
        "ptoi_guarded_call:\n"
        "    .cfi_startproc\n"
        "    .cfi_personality 0x1b, ptoi_guard_personality\n"
        "    subq $8, %rsp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    call *%rax\n"
        "    addq $8, %rsp\n"
        "    .cfi_remember_state\n"
        "    .cfi_def_cfa_offset 8\n"
        "    ret\n"
        "    .cfi_restore_state\n"
        ".hidden ptoi_guard_landing\n"
        ".globl ptoi_guard_landing\n"
        "ptoi_guard_landing:\n"
        "    movq %rax, %rdi\n"
        "    movl %edx, %esi\n"
        "    call ptoi_guard_caught\n"
        "    addq $8, %rsp\n"
        "    .cfi_def_cfa_offset 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size ptoi_guarded_call, .-ptoi_guarded_call\n");
#else
__asm__(".text\n"
        ".p2align 4\n"
        ".globl ptoi_guarded_call\n"
        ".type ptoi_guarded_call, %function\n"
        "ptoi_guarded_call:\n"
        "    .cfi_startproc\n"
        "    .cfi_personality 0x1b, ptoi_guard_personality\n"
        "    stp x29, x30, [sp, -16]!\n"
        "    .cfi_def_cfa_offset 16\n"
        "    .cfi_offset 29, -16\n"
        "    .cfi_offset 30, -8\n"
        "    mov x29, sp\n"
        "    mov x3, x0\n"
        "    mov x0, x1\n"
        "    mov x1, x2\n"
        "    blr x3\n"
        "    ldp x29, x30, [sp], 16\n"
        "    .cfi_remember_state\n"
        "    .cfi_restore 30\n"
        "    .cfi_restore 29\n"
        "    .cfi_def_cfa_offset 0\n"
        "    ret\n"
        "    .cfi_restore_state\n"
        ".hidden ptoi_guard_landing\n"
        ".globl ptoi_guard_landing\n"
        "ptoi_guard_landing:\n"
        "    bl ptoi_guard_caught\n"
        "    ldp x29, x30, [sp], 16\n"
        "    .cfi_restore 30\n"
        "    .cfi_restore 29\n"
        "    .cfi_def_cfa_offset 0\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size ptoi_guarded_call, .-ptoi_guarded_call\n");
#endif

#else

int ptoi_guarded_call(ptoi_function fn, void *a, void *b) { return ((int (*)(void *, void *))fn)(a, b); }

#endif
