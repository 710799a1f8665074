/* run_status.c - see run_status.h. */
#include "run_status.h"
#include "place.h"
#include "system.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool claim(struct run_status *o, int from) { return swap_if_acquire(&o->claimed, &from, getpid(), CLAIM); }

/* false: a failure has claimed it, and has written its message. */
static bool claim_between_runs(struct run_status *o)
{
    if (claim(o, RUN_STATUS_CLOSED) || claim(o, RUN_STATUS_OPEN)) return true;
    while (load_acquire(&o->status, RUN_STATUS) == PTO_OK) ptoi_yield(); /* [RUN_STATUS] a cancel may be writing */
    return false;
}

void ptoi_run_status_reset(struct run_status *o)
{
    claim_between_runs(o);
    o->message[0] = '\0';
    store_relaxed(&o->is_replaced, 0); /* relaxed: the claim publishes both */
    store_relaxed(&o->status, PTO_OK);
    store_release(&o->claimed, RUN_STATUS_OPEN, CLAIM);
}

void ptoi_run_status_close(struct run_status *o)
{
    int open = RUN_STATUS_OPEN;
    swap_if_acquire(&o->claimed, &open, RUN_STATUS_CLOSED, CLAIM);
}

void ptoi_run_status_note(struct run_status *o, const char *text)
{
    const bool is_ours = claim_between_runs(o);
    snprintf(o->message, sizeof o->message, "%s", text);
    store_relaxed(&o->is_replaced, 0); /* relaxed: as above */
    if (is_ours) store_release(&o->claimed, RUN_STATUS_CLOSED, CLAIM);
}

/* "[E05] text" becomes "[E05]: text", as the compiler writes it; any other text stands behind ": ". */
static bool write_rest(char *to, size_t size, const char *format, va_list args)
{
    if (size < 16 || vsnprintf(to + 2, size - 2, format, args) < 0) return false;
    char *text = to + 2;
    bool has_id = strlen(text) > 6 && text[0] == '[' && text[1] == 'E' && text[4] == ']' && text[5] == ' ';
    if (has_id) {
        memmove(to, text, 5);
        to[5] = ':';
        memmove(to + 6, text + 5, strlen(text + 5) + 1);
    } else {
        memcpy(to, ": ", 2);
    }
    return has_id;
}

/* Between the first line of the message and the others: the line of the source, and the indices of its loops. */
static void show_place(char *message, size_t size, const PTOSite *place, const int64_t *indices)
{
    char shown[PTOI_EXCERPT_BYTES + PTOI_INDICES_BYTES + 4], with[PTOI_INDICES_BYTES];
    size_t n = 0;
    if (ptoi_place_excerpt(place, shown + 1) > 0) shown[0] = '\n', n = strlen(shown);
    if (ptoi_place_with(place, indices, with) > 0) n += (size_t)sprintf(shown + n, "\n  %s", with);
    const size_t first = strcspn(message, "\n"), rest = strlen(message + first) + 1;
    if (n == 0 || first + n + rest > size) return;
    memmove(message + first + n, message + first, rest);
    memcpy(message + first, shown, n);
}

bool ptoi_vfail(struct run_status *o, PTOStatus status, const PTOSite *place, const char *format, va_list args)
{
    if (!claim(o, RUN_STATUS_OPEN)) return false;
    int n = 0;
    if (place && pto_site_column(place) > 0)
        n = snprintf(o->message, sizeof o->message, "%s:%d:%d: ", place->file, place->line, pto_site_column(place));
    else if (place)
        n = snprintf(o->message, sizeof o->message, "%s:%d: ", place->file, place->line);
    if (n >= 0 && (size_t)n + 32 < sizeof o->message) {
        char *error = o->message + n;
        memcpy(error, "error", 6);
        bool has_id = write_rest(error + 5, sizeof o->message - (size_t)n - 5, format, args);
        if (!place && !has_id) memmove(error, error + 7, strlen(error + 7) + 1);
    }
    show_place(o->message, sizeof o->message, place, ptoi_place_indices(place));
    store_release(&o->status, (int)status, RUN_STATUS); /* [RUN_STATUS] the message is complete */
    return true;
}

void ptoi_run_status_replace(struct run_status *o, PTOStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(o->replacement, sizeof o->replacement, format, args);
    va_end(args);
    store_release(&o->is_replaced, 1, RUN_STATUS);
    store_release(&o->status, (int)status, RUN_STATUS); /* [RUN_STATUS] the message is complete */
}

static bool is_dead(int process)
{
    siginfo_t end = {0};
    if (process == getpid()) return false;
    if (waitid(P_PID, (id_t)process, &end, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
    return end.si_pid != 0;
}

PTOStatus ptoi_final_status(struct run_status *o)
{
    for (;;) {
        const int claimer = load_acquire(&o->claimed, CLAIM);
        const PTOStatus status = ptoi_status(o);
        if (status != PTO_OK || claimer == RUN_STATUS_OPEN || claimer == RUN_STATUS_CLOSED) return status;
        if (is_dead(claimer)) return PTO_ERR_LOST;
        ptoi_yield();
    }
}

void ptoi_run_status_disown(struct run_status *o, int dead_process)
{
    if (ptoi_status(o) == PTO_OK) swap_if_acquire(&o->claimed, &dead_process, RUN_STATUS_OPEN, CLAIM);
}

bool ptoi_fail(struct run_status *o, PTOStatus status, const PTOSite *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool is_first = ptoi_vfail(o, status, place, format, args);
    va_end(args);
    return is_first;
}

bool ptoi_fail_earlier(struct run_status *o, PTOStatus status, const PTOSite *place, const char *format, ...)
{
    const struct open_functions *const here = ptoi_place_orchestrates(NULL);
    va_list args;
    va_start(args, format);
    const bool is_first = ptoi_vfail(o, status, place, format, args);
    va_end(args);
    ptoi_place_orchestrates(here);
    return is_first;
}
