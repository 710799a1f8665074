/* in_place.c - outputs of a program on several ranks, written by the ranks where their cells live: see ranked.h.
 *
 * Idea       rank 0 makes the file beside its place; the others open it by its name, and know it by its number.  All of
 *            them try this before the run, because a run collects the arrays that rank 0 has to write.
 * Owner      the session has the file of rank 0.
 * Blocks     until all ranks have come.
 * Tests      test/wire/check_options.py */
#include "ranked.h"
#include "api/runtime.h"
#include "npz.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What becomes of an array that the program writes, as rank 0 decides. */
enum place_of_result { COLLECTED, UNSEEN, IN_PLACE };

static enum place_of_result place_of(const struct session *s, int32_t f)
{
    const struct argument *a = &s->arguments[f];
    if (s->options.check || a->is_expected || bind_is_decided(&s->entry->formals[f])) return COLLECTED;
    if (!a->output) return s->options.output_count > 0 || s->options.quiet ? UNSEEN : COLLECTED;
    return ptoi_npz_is_path(a->output) ? COLLECTED : IN_PLACE;
}

/* The number that rank 0 has. */
static bool number_of_first(struct session *s, uint64_t *number)
{
    uint64_t mine[WIRE_REDUCED] = {0}, least[WIRE_REDUCED];
    if (session_is_first(s)) memcpy(mine, number, sizeof mine);
    return ptoi_ranked_reduce(s, mine, least, number);
}

static bool do_all(struct session *s, bool mine)
{
    const uint64_t number[WIRE_REDUCED] = {mine};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    return ptoi_ranked_reduce(s, number, least, most) && least[0] == 1;
}

/* -1: this rank does not see the file of rank 0. */
static int open_same(const char *path, const uint64_t *number)
{
    struct stat st;
    char *name;
    const char *slash = path ? strrchr(path, '/') : NULL;
    const int folder = slash ? (int)(slash + 1 - path) : 0;
    if (!path || asprintf(&name, "%.*s.pto-%ld-%d", folder, path, (long)number[0], (int)number[1]) < 0) return -1;
    int file = open(name, O_WRONLY | O_CLOEXEC);
    free(name);
    if (file >= 0 && (fstat(file, &st) != 0 || (uint64_t)st.st_ino != number[2])) {
        close(file);
        file = -1;
    }
    return file;
}

/* whole: the file of rank 0, whose `out` may be NULL.  *file: to be written by this rank; rank 0 does not close it.
 * false: a rank does not see it, and *file is -1 on the others than rank 0. */
static bool share(struct session *s, int32_t f, const struct whole_file *whole, int *file)
{
    uint64_t number[WIRE_REDUCED] = {0};
    struct stat st;
    long process = 0;
    int try = 0;
    *file = -1;
    const char *beside = session_is_first(s) && whole->out ? whole->beside : NULL,
               *slash = beside ? strrchr(beside, '/') : NULL;
    if (beside && fstat(fileno(whole->out), &st) == 0 &&
        sscanf(slash ? slash + 1 : beside, ".pto-%ld-%d", &process, &try) == 2) {
        *file = fileno(whole->out);
        memcpy(number, (const uint64_t[]){(uint64_t)process, (uint64_t)try, (uint64_t)st.st_ino}, 3 * sizeof *number);
    }
    if (!number_of_first(s, number)) return false;
    if (!session_is_first(s)) *file = open_same(s->arguments[f].output, number);
    if (do_all(s, *file >= 0)) return true;
    if (!session_is_first(s) && *file >= 0) close(*file);
    *file = -1;
    return false;
}

void ptoi_in_place_begin(struct session *s)
{
    for (int32_t f = 0; s->wire && f < s->entry->formal_count; f++) {
        if (!session_is_written(&s->entry->formals[f])) continue;
        uint64_t number[WIRE_REDUCED] = {place_of(s, f)};
        struct whole_file probe = {0};
        int file;
        if (!number_of_first(s, number)) return;
        s->arguments[f].is_unseen = number[0] == UNSEEN;
        if (number[0] != IN_PLACE) continue;
        if (session_is_first(s)) ptoi_whole_open(&probe, s->arguments[f].output); /* else it is NULL, and collected */
        s->arguments[f].is_in_place = share(s, f, &probe, &file);
        if (!session_is_first(s) && file >= 0) close(file);
        ptoi_whole_drop(&probe);
    }
}

/* ---- after the run ----------------------------------------------------------------------------------------------- */

static bool write_fully(int file, const char *from, int64_t bytes, int64_t at)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(file, from + done, (size_t)(bytes - done), at + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += n;
    }
    return true;
}

/* The rows of a piece of an array whose first byte stands at `at` of the file. */
static bool write_piece(int file, const struct tensor *t, const struct box *piece, int64_t at)
{
    const struct distribution *d = &t->home;
    const int32_t last = d->rank - 1;
    const int64_t bytes = (piece->high[last] - piece->low[last]) * d->unit;
    int64_t stride[PTO_MAX_RANK], index[PTO_MAX_RANK];
    ptoi_home_strides(d, stride);
    memcpy(index, piece->low, sizeof index);
    for (;;) {
        int64_t from = 0;
        for (int32_t k = 0; k <= last; k++) from += index[k] * stride[k] * d->unit;
        if (!write_fully(file, t->base + from, bytes, at + from)) return false;
        int32_t k = last - 1;
        for (; k >= 0 && ++index[k] == piece->high[k]; k--) index[k] = piece->low[k];
        if (k < 0) return true;
    }
}

static bool write_homes(struct session *s, int32_t f, int file, int64_t at)
{
    const struct tensor *t = ptoi_dist_tensor(s->rt->dist, s->formals[f].array.data);
    struct box all = {{0}, {0}}, piece;
    int32_t home;
    if (!t) return true; /* it has no bytes */
    for (int32_t k = 0; k < t->home.rank; k++) all.high[k] = t->home.shape[k];
    for (struct pieces p = ptoi_pieces(&t->home, &all, s->wire->ranks); ptoi_next_piece(&p, &piece, &home);)
        if (home == s->wire->rank && !write_piece(file, t, &piece, at)) return false;
    return true;
}

/* The file of rank 0, which has its header and its size; NULL on the others, and where it cannot be made. */
static struct whole_file *make_file(struct session *s, int32_t f, const char *header, int64_t length)
{
    if (!session_is_first(s)) return NULL;
    struct written *w = &s->written[s->written_count++];
    w->path = s->arguments[f].output;
    const bool is_made = ptoi_whole_open(&w->file, w->path) &&
                         fwrite(header, 1, (size_t)length, w->file.out) == (size_t)length && fflush(w->file.out) == 0 &&
                         ftruncate(fileno(w->file.out), (off_t)(length + s->formals[f].array.bytes)) == 0;
    return is_made ? &w->file : NULL;
}

static int write_output(struct session *s, int32_t f)
{
    static const struct whole_file none;
    char header[NPY_HEADER];
    const int64_t length = ptoi_npy_header(&s->formals[f].array, header, sizeof header);
    int file;
    errno = 0;
    struct whole_file *whole = make_file(s, f, header, length);
    int why = session_is_first(s) && !whole ? errno : 0;
    const bool is_shared = share(s, f, whole ? whole : &none, &file);
    errno = 0;
    bool is_written = is_shared && write_homes(s, f, file, length);
    if (is_shared && !session_is_first(s)) is_written &= close(file) == 0;
    if (whole) is_written &= ptoi_whole_finish(whole);
    if (is_written) return ptoi_ranked_agree(s, HOST_OK);
    if (why == 0) why = errno;
    host_fail(&s->error, HOST_FILE, "cannot write %s: %s",
              s->arguments[f].output ? s->arguments[f].output : "the output",
              why ? strerror(why) : "another rank cannot");
    return ptoi_ranked_agree(s, HOST_FILE);
}

int ptoi_in_place_write(struct session *s)
{
    int code = HOST_OK;
    for (int32_t f = 0; f < s->entry->formal_count && code == HOST_OK; f++)
        if (s->arguments[f].is_in_place) code = write_output(s, f);
    return code;
}
