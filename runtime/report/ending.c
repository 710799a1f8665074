/* ending.c - see ending.h. */
#include "ending.h"
#include "whole_file.h"
#include "shared/atomics.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU};
enum { ENDING = sizeof ending / sizeof ending[0] };

static _Atomic int is_held, waiting; /* waiting: the last signal that came while held */

static void end_by(int number)
{
    ptoi_whole_remove_all();
    signal(number, SIG_DFL);
    raise(number); /* in the handler: when that returns */
}

static void on_end(int number)
{
    const int why = errno;
    if (is_held)
        waiting = number;
    else
        end_by(number);
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

void ptoi_ending_hold(void) { is_held = 1; }

void ptoi_ending_release(void)
{
    is_held = 0;
    const int number = swap_relaxed(&waiting, 0);
    if (number) end_by(number);
}
