/* fault.c - makes the n-th call of a kind fail in a program that was not built for it: a library for LD_PRELOAD.
 * Idea       calls to libc are counted from main() on, in the program that FAULT_PROGRAM names; call FAULT_AT fails as
 *            the system would fail it, with FAULT_STICKY=1 all after it too.  Streams are made over counted read and
 *            write, so what stdio does counts.
 * Kinds      FAULT_KIND is memory, file or thread (processes count as threads).
 * Report     FAULT_LOG gets "fault NAME" when the call failed, and "calls N" when the program ends by exit().
 * Tests      inject.py is the only user. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { MEMORY, FILES, THREADS };

static bool armed;
static enum kind kind;
static long fail_at;
static bool sticky;
static const char *log_path;
static _Atomic long calls;

static void report(const char *what, long n, const char *name)
{
    char line[128];
    const int length = snprintf(line, sizeof line, "%s %ld %s\n", what, n, name);
    const long file = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    syscall(SYS_write, file, line, length);
    syscall(SYS_close, file);
}

static bool fails(enum kind k, const char *name)
{
    if (!armed || k != kind) return false;
    const long n = atomic_fetch_add(&calls, 1) + 1;
    if (fail_at == 0 || (sticky ? n < fail_at : n != fail_at)) return false;
    if (n == fail_at) report("fault", n, name);
    return true;
}

#define REAL(name)                                                                                                     \
    static __typeof__(name) *real;                                                                                     \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define FAIL(k, name, error, result)                                                                                   \
    do {                                                                                                               \
        if (fails(k, name)) return errno = (error), (result);                                                          \
    } while (0)

/* ---- from main() on ---- */

static int (*program_main)(int, char **, char **);

static void report_calls(void)
{
    if (armed) report("calls", calls, "");
}

static int counted_main(int argc, char **argv, char **envp)
{
    const char *name = getenv("FAULT_PROGRAM"), *which = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"),
               *stays = getenv("FAULT_STICKY");
    const char *slash = strrchr(argv[0], '/');
    log_path = getenv("FAULT_LOG");
    if (name && which && at && log_path && strcmp(slash ? slash + 1 : argv[0], name) == 0) {
        kind = strcmp(which, "memory") == 0 ? MEMORY : strcmp(which, "file") == 0 ? FILES : THREADS;
        fail_at = atol(at);
        sticky = stays && *stays == '1';
        atexit(report_calls);
        armed = true;
    }
    return program_main(argc, argv, envp);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld)(void), void *end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*rtld)(void), void *end)
{
    REAL(__libc_start_main);
    program_main = main;
    return real(counted_main, argc, argv, init, fini, rtld, end);
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    FAIL(MEMORY, "malloc", ENOMEM, NULL);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    FAIL(MEMORY, "calloc", ENOMEM, NULL);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    FAIL(MEMORY, "realloc", ENOMEM, NULL);
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    FAIL(MEMORY, "aligned_alloc", ENOMEM, NULL);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    FAIL(MEMORY, "posix_memalign", ENOMEM, ENOMEM);
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    FAIL(MEMORY, "mmap", ENOMEM, MAP_FAILED);
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

/* ---- files ---- */

static mode_t mode_of(int flags, va_list args) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; }

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = mode_of(flags, args);
    va_end(args);
    FAIL(FILES, "open", EMFILE, -1);
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    const mode_t mode = mode_of(flags, args);
    va_end(args);
    FAIL(FILES, "openat", EMFILE, -1);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

ssize_t read(int file, void *to, size_t bytes)
{
    FAIL(FILES, "read", EIO, -1);
    return syscall(SYS_read, file, to, bytes);
}

ssize_t pread(int file, void *to, size_t bytes, off_t at)
{
    FAIL(FILES, "pread", EIO, -1);
    return syscall(SYS_pread64, file, to, bytes, at);
}

/* Half of it goes, as on a disk that is full now. */
ssize_t write(int file, const void *from, size_t bytes)
{
    if (fails(FILES, "write")) {
        syscall(SYS_write, file, from, bytes / 2);
        return errno = ENOSPC, -1;
    }
    return syscall(SYS_write, file, from, bytes);
}

/* It is closed all the same, as on a network file system that is full. */
int close(int file)
{
    const bool failed = fails(FILES, "close");
    const int result = (int)syscall(SYS_close, file);
    return failed ? errno = EIO, -1 : result;
}

static ssize_t cookie_read(void *file, char *to, size_t bytes) { return read((int)(long)file, to, bytes); }
static ssize_t cookie_write(void *file, const char *from, size_t bytes)
{
    const ssize_t n = write((int)(long)file, from, bytes);
    return n < 0 ? 0 : n; /* what a cookie returns for an error */
}
static int cookie_close(void *file) { return close((int)(long)file); }

static FILE *stream_over(int file, const char *mode)
{
    return fopencookie((void *)(long)file, mode,
                       (cookie_io_functions_t){.read = cookie_read, .write = cookie_write, .close = cookie_close});
}

FILE *fopen(const char *path, const char *mode)
{
    const int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
    FAIL(FILES, "fopen", EMFILE, NULL);
    const long file = syscall(SYS_openat, AT_FDCWD, path, flags, 0666);
    if (file < 0) return NULL;
    FILE *stream = stream_over((int)file, mode);
    if (!stream) syscall(SYS_close, file);
    return stream;
}

FILE *fdopen(int file, const char *mode)
{
    FAIL(FILES, "fdopen", EMFILE, NULL);
    return stream_over(file, mode);
}

#define WRAP(k, error, result, type, name, parameters, arguments)                                                      \
    type name parameters                                                                                               \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        FAIL(k, #name, error, result);                                                                                 \
        return real arguments;                                                                                         \
    }
WRAP(FILES, ENOSPC, -1, int, rename, (const char *from, const char *to), (from, to))
WRAP(FILES, ENOSPC, -1, int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(FILES, ENOSPC, -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(FILES, ENOSPC, NULL, char *, mkdtemp, (char *template), (template))
WRAP(FILES, EIO, -1, int, fstat, (int file, struct stat *st), (file, st))
WRAP(FILES, EIO, -1, int, stat, (const char *path, struct stat *st), (path, st))
WRAP(FILES, EIO, -1, int, lstat, (const char *path, struct stat *st), (path, st))
WRAP(FILES, EIO, -1, int, fstatat, (int folder, const char *path, struct stat *st, int flags),
     (folder, path, st, flags))
WRAP(FILES, EIO, -1, int, access, (const char *path, int mode), (path, mode))
WRAP(FILES, EIO, -1, int, faccessat, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags))
WRAP(FILES, EPERM, -1, int, fchmod, (int file, mode_t mode), (file, mode))
WRAP(FILES, EIO, -1, off_t, lseek, (int file, off_t at, int whence), (file, at, whence))
WRAP(FILES, EIO, -1, ssize_t, readlink, (const char *path, char *to, size_t bytes), (path, to, bytes))
WRAP(FILES, EMFILE, -1, int, dup, (int file), (file))
WRAP(FILES, EMFILE, NULL, DIR *, opendir, (const char *path), (path))
WRAP(FILES, ENOMEM, NULL, DIR *, fdopendir, (int file), (file))
WRAP(FILES, EIO, NULL, char *, realpath, (const char *path, char *to), (path, to))
WRAP(FILES, ENOENT, NULL, char *, getcwd, (char *to, size_t bytes), (to, bytes))

/* ---- threads and processes ---- */

WRAP(THREADS, EAGAIN, EAGAIN, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg), (thread, attr, fn, arg))
WRAP(THREADS, EAGAIN, -1, pid_t, fork, (void), ())
WRAP(THREADS, EAGAIN, EAGAIN, int, posix_spawn,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attr,
      char *const argv[], char *const envp[]),
     (pid, path, files, attr, argv, envp))
WRAP(THREADS, EAGAIN, EAGAIN, int, posix_spawnp,
     (pid_t * pid, const char *path, const posix_spawn_file_actions_t *files, const posix_spawnattr_t *attr,
      char *const argv[], char *const envp[]),
     (pid, path, files, attr, argv, envp))
