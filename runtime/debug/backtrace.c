/* backtrace.c - see backtrace.h. */
#include "backtrace.h"
#include "resume.h"
#include "shared/atomics.h"
#include "shared/process_lock.h"
#include "shared/sanitizer.h"
#include "shared/system.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>

enum {
    FRAMES = 48,
    SHOWN = 12,
    TAG_BYTES = 9, /* the number of a question, before its answer */
    ANSWER_BYTES = TAG_BYTES + PTOI_BACKTRACE_BYTES
};

/* ---- the copy: it may call anything, and has a time limit -------------------------------------------------------- */

static const void *program_counter(const ucontext_t *at)
{
#if defined(__x86_64__)
    return (const void *)(uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)(uintptr_t)at->uc_mcontext.pc;
#else
    (void)at;
    return NULL;
#endif
}

struct answer {
    char bytes[ANSWER_BYTES + 1];
    size_t size;
    char last[1200], folder[500]; /* the line before; the working folder and a slash, or nothing */
    int shown;
    bool is_whole; /* the kernel's function was reached */
    int frame;     /* of the line before */
    int submit;    /* the frame of the fast path that called the kernel; 0: not found */
};

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* What calls kernels: the runtime, and the functions that generated code puts around them. */
static bool calls_kernels(const char *name)
{
    return begins(name, "pto_") || begins(name, "ptoi_") || begins(name, "sim_run") || begins(name, "task_") ||
           strcmp(name, "main") == 0 || strcmp(name, "start_thread") == 0;
}

/* line: "name at file:line", as addr2line --pretty-print has it. */
static void add_line(struct answer *a, char *line)
{
    static const char inlined[] = " (inlined by) ", body[] = "_body", unknown[] = "??";
    const bool is_inlined = begins(line, inlined);
    if (is_inlined) line += strlen(inlined);
    a->frame += !is_inlined;
    if (a->submit == 0 && begins(line, "pto_submit_fast_ ")) a->submit = a->frame;
    char *place = strstr(line, " at ");
    if (a->is_whole || !place) return;
    *place = '\0';
    place += strlen(" at ");
    place[strcspn(place, " \n")] = '\0';
    if (begins(place, a->folder)) place += strlen(a->folder);
    a->is_whole = calls_kernels(line);
    if (a->is_whole || begins(line, unknown) || a->shown == SHOWN) return;
    const size_t length = strlen(line), end = strlen(body);
    a->is_whole = length > end && strcmp(line + length - end, body) == 0;
    if (a->is_whole) line[length - end] = '\0';
    char call[1200];
    const bool has_place = !begins(place, unknown);
    const int added =
        snprintf(call, sizeof call, "\n  in %s%s%s", line, has_place ? " at " : "", has_place ? place : "");
    if (added < 0 || a->size + (size_t)added >= sizeof a->bytes) {
        a->is_whole = true; /* no room: the outer calls are missing */
        return;
    }
    if (strcmp(call, a->last) == 0) return; /* it calls itself */
    snprintf(a->last, sizeof a->last, "%s", call);
    memcpy(a->bytes + a->size, call, (size_t)added + 1);
    a->size += (size_t)added;
    a->shown++;
}

/* The first call loads a library, which allocates, too. */
void ptoi_backtrace_prepare(void)
{
    void *frame;
    static _Atomic int is_prepared;
    if (!PTOI_HAS_SANITIZER && swap_relaxed(&is_prepared, 1) == 0) backtrace(&frame, 1);
}

static void limit_time(void)
{
    const struct rlimit none = {0, 0};
    sigset_t nothing;
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, NULL);
    setrlimit(RLIMIT_CORE, &none);
    alarm(PTOI_BACKTRACE_SECONDS);
}

/* Without stdio, which allocates: the thread that crashed may hold a lock of malloc. */
static void read_lines(int from, struct answer *a)
{
    static char line[1200];
    size_t length = 0;
    for (char c; read(from, &c, 1) == 1;) {
        if (c != '\n' && length + 1 < sizeof line) line[length++] = c;
        if (c != '\n') continue;
        line[length] = '\0';
        add_line(a, line);
        length = 0;
    }
}

/* The lines of addresses of one file; false: there is no addr2line. */
static bool ask_addr2line(const char *file, const uint64_t *address, int count, struct answer *a)
{
    static char words[FRAMES][20];
    const char *argv[FRAMES + 8] = {"addr2line", "--functions", "--inlines", "--pretty-print", "-e", file};
    int n = 6, ends[2], status = 1;
    for (int i = 0; i < count; i++) {
        snprintf(words[i], sizeof words[i], "0x%llx", (unsigned long long)address[i]);
        argv[n++] = words[i];
    }
    if (pipe(ends) != 0) return false;
    const pid_t child = _Fork();
    if (child == 0) {
        limit_time();
        dup2(ends[1], STDOUT_FILENO);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(ends[1]);
    read_lines(ends[0], a);
    if (child > 0) waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What the dynamic symbols say. */
static void add_symbol(void *address, struct answer *a)
{
    Dl_info info;
    char line[300];
    if (dladdr(address, &info) == 0 || !info.dli_sname) return;
    snprintf(line, sizeof line, "%.200s at ??:0", info.dli_sname);
    add_line(a, line);
}

static const struct link_map *object_of(void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 ? map : NULL;
}

/* The address that the kernel returns to, on the fast path of a submit, if that is asked for; NULL: not known. */
static void *walk(const ucontext_t *at, bool asks_submit, struct answer *a)
{
    void *frame[FRAMES];
    uint64_t address[FRAMES];
    char self[64];
    const int count = backtrace(frame, FRAMES);
    int first = 0;
    snprintf(self, sizeof self, "/proc/%d/exe", (int)getpid());
    while (first < count && frame[first] != program_counter(at)) first++;
    for (int i = first, next; i < count && !(a->is_whole && (a->submit || !asks_submit)); i = next) {
        const struct link_map *map = object_of(frame[i]);
        next = i;
        do { /* a return address is behind the call */
            if (map) address[next - i] = (uint64_t)(uintptr_t)frame[next] - map->l_addr - (next > first);
            next++;
        } while (next < count && object_of(frame[next]) == map);
        a->frame = i - 1; /* and one on with the first line of each */
        if (map && !ask_addr2line(map->l_name[0] ? map->l_name : self, address, next - i, a))
            for (int k = i; k < next; k++) add_symbol(frame[k], a);
    }
    return asks_submit && a->submit > first ? frame[a->submit] : NULL; /* else it is merged with its caller */
}

static struct {
    int to; /* 0: this process is no copy that resumes a submit */
    uint32_t number;
} resumed;

/* Returns only to resume a submit. */
static void copy_main(const ucontext_t *at, int to, uint32_t number, void (*before)(void))
{
    static struct answer a;
    limit_time();
    const int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0) dup2(nowhere, STDIN_FILENO), dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
    if (getcwd(a.folder, sizeof a.folder - 1)) strcat(a.folder, "/");
    a.size = (size_t)snprintf(a.bytes, sizeof a.bytes, "%08x:", number);
    void *submit = walk(at, before != NULL, &a);
    const ssize_t written = write(to, a.bytes, a.size + 1); /* a pipe takes so few bytes at once */
    if (written > 0 && submit) {
        before();
        resumed.to = to;
        resumed.number = number;
        if (ptoi_resume((void *)(uintptr_t)at, submit, to)) return;
    }
    _exit(written < 0);
}

bool ptoi_backtrace_resumes(void) { return resumed.to > 0; }

void ptoi_backtrace_send(const char *text)
{
    char tag[TAG_BYTES + 1];
    snprintf(tag, sizeof tag, "%08x:", resumed.number);
    ssize_t written = write(resumed.to, tag, TAG_BYTES);
    written += write(resumed.to, text, strlen(text) + 1);
    _exit(written < 0);
}

/* ---- the process that is asked ----------------------------------------------------------------------------------- */

/* async-signal-safe */
static void send_copy(const ucontext_t *at, int to, uint32_t number, void (*before)(void))
{
    const pid_t copy = _Fork();
    if (copy == 0) copy_main(at, to, number, before);
    if (copy == 0) return;
    while (copy > 0 && waitpid(copy, NULL, 0) < 0 && errno == EINTR) {} /* its time is limited */
}

/* The text of the answer with this number; 0: it does not come. */
static size_t read_answer(int from, uint32_t number, char *text, size_t room)
{
    const int64_t until = ptoi_clock_ns() + (PTOI_BACKTRACE_SECONDS + 1) * 1000000000ll;
    char bytes[TAG_BYTES + PTOI_BACKTRACE_MORE + 1];
    size_t size = 0;
    for (int64_t left; (left = until - ptoi_clock_ns()) > 0;) {
        struct pollfd look = {.fd = from, .events = POLLIN};
        if (poll(&look, 1, (int)(left / 1000000)) <= 0) continue;
        const ssize_t got = read(from, bytes + size, 1);
        if (got == 0) return 0;
        if (got < 0 || (bytes[size] != '\0' && ++size < sizeof bytes)) continue;
        uint32_t found = 0;
        for (size_t i = 0; i < TAG_BYTES - 1 && i < size; i++)
            found = found << 4 | (uint32_t)(bytes[i] <= '9' ? bytes[i] - '0' : bytes[i] - 'a' + 10);
        const size_t length = size < TAG_BYTES ? 0 : size - TAG_BYTES;
        size = 0;
        if (found != number || length >= room) continue; /* of an earlier question */
        memcpy(text, bytes + TAG_BYTES, length);
        text[length] = '\0';
        return length;
    }
    return 0;
}

static size_t ask_copy(const void *context, void (*before)(void), char *text, char *more)
{
    int ends[2];
    text[0] = '\0';
    if (PTOI_HAS_SANITIZER || pipe2(ends, O_CLOEXEC) != 0) return 0;
    send_copy(context, ends[1], 0, before);
    if (resumed.to > 0) return 0;
    close(ends[1]);
    const size_t length = read_answer(ends[0], 0, text, PTOI_BACKTRACE_BYTES);
    if (more) read_answer(ends[0], 0, more, PTOI_BACKTRACE_MORE);
    close(ends[0]);
    return length;
}

size_t ptoi_backtrace_here(const void *context, char text[PTOI_BACKTRACE_BYTES])
{
    return ask_copy(context, NULL, text, NULL);
}

size_t ptoi_backtrace_submit(const void *context, void (*before)(void), char text[PTOI_BACKTRACE_BYTES],
                             char more[PTOI_BACKTRACE_MORE])
{
    more[0] = '\0';
    return ask_copy(context, before, text, more);
}

/* ---- asking another thread --------------------------------------------------------------------------------------- */

/* Guarded by PROCESS_LOCK_CRASH_HANDLERS; the channel stays open from the first listener on. */
static int listeners;
static int channel[2] = {-1, -1};
static uint32_t asked; /* questions */
static bool is_asking, listens;

static void on_question(int signal, siginfo_t *info, void *context)
{
    const int why = errno;
    (void)signal;
    if (info->si_code == SI_QUEUE) send_copy(context, channel[1], (uint32_t)info->si_value.sival_int, NULL);
    errno = why;
}

void ptoi_backtrace_answer(void)
{
    struct sigaction ours = {.sa_sigaction = on_question, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, host;
    listens = !PTOI_HAS_SANITIZER && channel[0] >= 0 && sigaction(SIGURG, NULL, &host) == 0 &&
              (host.sa_handler == SIG_DFL || host.sa_handler == SIG_IGN) && sigaction(SIGURG, &ours, NULL) == 0;
}

void ptoi_backtrace_listen(void)
{
    ptoi_backtrace_prepare();
    ptoi_process_lock(PROCESS_LOCK_CRASH_HANDLERS);
    if (listeners++ == 0) {
        if (channel[0] < 0 && pipe2(channel, O_CLOEXEC | O_NONBLOCK) != 0) channel[0] = channel[1] = -1;
        ptoi_backtrace_answer();
    }
    ptoi_process_unlock(PROCESS_LOCK_CRASH_HANDLERS);
}

void ptoi_backtrace_unlisten(void)
{
    ptoi_process_lock(PROCESS_LOCK_CRASH_HANDLERS);
    if (--listeners == 0 && listens) {
        struct sigaction now;
        if (sigaction(SIGURG, NULL, &now) == 0 && now.sa_sigaction == on_question) signal(SIGURG, SIG_DFL);
        listens = false;
    }
    ptoi_process_unlock(PROCESS_LOCK_CRASH_HANDLERS);
}

int32_t ptoi_backtrace_thread(void)
{
    static _Thread_local int32_t own;
    if (own == 0) own = (int32_t)syscall(SYS_gettid);
    return own;
}

/* One question at a time.  Its number; 0: not now. */
static uint32_t begin_question(void)
{
    ptoi_process_lock(PROCESS_LOCK_CRASH_HANDLERS);
    const bool may_ask = listens && !is_asking;
    const uint32_t number = may_ask ? ++asked : 0;
    is_asking |= may_ask;
    ptoi_process_unlock(PROCESS_LOCK_CRASH_HANDLERS);
    return number;
}

static void end_question(void)
{
    ptoi_process_lock(PROCESS_LOCK_CRASH_HANDLERS);
    is_asking = false;
    ptoi_process_unlock(PROCESS_LOCK_CRASH_HANDLERS);
}

size_t ptoi_backtrace_of(int32_t process, int32_t thread, char text[PTOI_BACKTRACE_BYTES])
{
    siginfo_t info = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    size_t length = 0;
    text[0] = '\0';
    const uint32_t number = thread != 0 ? begin_question() : 0;
    if (number == 0) return 0;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = (int)number;
    if (syscall(SYS_rt_tgsigqueueinfo, process, thread, SIGURG, &info) == 0)
        length = read_answer(channel[0], number, text, PTOI_BACKTRACE_BYTES);
    end_question();
    return length;
}
