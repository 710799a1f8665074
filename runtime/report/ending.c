/* ending.c - see ending.h. */
#include "ending.h"
#include "shared/atomics.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
enum { ENDING = sizeof ending / sizeof ending[0] };

/* Which threads hold, which signal waits for them, and whether the process ends: one word, so that a handler in one
 * thread and a hold in another never both go on. */
enum { HOLDERS = 0xffff, NUMBER_SHIFT = 16, ENDS = 1 << 30 };
static _Atomic int state;

/* The files to remove, and the process that made them.  A path belongs to the one that swaps it out: its file, or the
 * thread that ends the process.  Relaxed: a thread lists its own paths while it holds. */
enum { LISTED = 64 };
static _Atomic(char *) listed[LISTED];
static _Atomic pid_t lister;

bool ptoi_ending_list(char *path)
{
    char *none = NULL;
    store_relaxed(&lister, getpid());
    for (int i = 0; i < LISTED; i++, none = NULL)
        if (swap_if_relaxed(&listed[i], &none, path)) return true;
    return false;
}

bool ptoi_ending_unlist(char *path)
{
    for (int i = 0; i < LISTED; i++) {
        char *expected = path;
        if (swap_if_relaxed(&listed[i], &expected, NULL)) return true;
    }
    return false;
}

static void remove_listed(void)
{
    if (load_relaxed(&lister) != getpid()) return; /* a forked child has the list of its parent */
    for (int i = 0; i < LISTED; i++) {
        const char *path = swap_relaxed(&listed[i], NULL);
        if (path) unlink(path);
    }
}

static void end_by(int number)
{
    remove_listed();
    signal(number, SIG_DFL);
    raise(number); /* in the handler: when that returns */
}

static void on_end(int number)
{
    const int why = errno;
    int is = load_relaxed(&state), next;
    do {
        if (is & ENDS) break;
        next = is & HOLDERS ? (is & HOLDERS) | number << NUMBER_SHIFT : ENDS;
    } while (!swap_if_relaxed(&state, &is, next));
    if (is == 0) end_by(number);
    errno = why;
}

static void on_question(int number) { (void)number; }

static void replace_default(int number, void (*handler)(int))
{
    struct sigaction now, ours = {.sa_handler = handler, .sa_flags = SA_RESTART};
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(number, &ours, NULL);
}

void ptoi_ending_begin(void)
{
    for (int i = 0; i < ENDING; i++) replace_default(ending[i], on_end);
    replace_default(SIGUSR1, on_question);
    replace_default(SIGXFSZ, SIG_IGN);
}

void ptoi_ending_hold(void)
{
    int is = load_relaxed(&state);
    do {
        while (is & ENDS) pause(); /* another thread ends the process */
    } while (!swap_if_relaxed(&state, &is, is + 1));
}

void ptoi_ending_release(void)
{
    int is = load_relaxed(&state), next;
    do {
        const bool is_last = (is & HOLDERS) == 1;
        next = is_last && is >> NUMBER_SHIFT ? ENDS : is - 1;
    } while (!swap_if_relaxed(&state, &is, next));
    if (next == ENDS) end_by(is >> NUMBER_SHIFT);
}
