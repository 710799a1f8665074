/* ranked.c - see ranked.h. */
#include "ranked.h"
#include "api/runtime.h"
#include "shared/system.h"
#include <stdio.h>
#include <unistd.h>

enum { EVERYWHERE_BYTES = 64 << 10, GRACE_MS = 2000, LOOK_NS = 100000 };

int ptoi_ranked_join(struct session *s)
{
    char message[512];
    bool is_launched;
    s->wire = ptoi_wire_open(&is_launched, message, sizeof message);
    if (is_launched && !s->wire)
        return host_fail(&s->error, HOST_USAGE, "started as one of several ranks, which it cannot join: %s", message);
    if (!session_is_first(s) && !freopen("/dev/null", "w", stdout)) return HOST_INTERNAL;
    return HOST_OK;
}

int ptoi_ranked_check(struct session *s)
{
    const int32_t asked = s->options.ranks, ranks = s->wire ? s->wire->ranks : 1;
    if (asked == 0 || asked == ranks || session_plans_ranks(s)) return HOST_OK;
    if (!s->wire)
        return host_fail(
            &s->error, HOST_USAGE,
            "--ranks %d, but this is one process: start it with 'mpirun -np %d', or give --ranks to 'ptoc run'", asked,
            asked);
    return host_fail(&s->error, HOST_USAGE, "--ranks %d, but the launcher has started %d", asked, ranks);
}

struct dist_config ptoi_ranked_config(const struct session *s)
{
    const struct host_options *o = &s->options;
    return (struct dist_config){.wire = s->wire,
                                .ranks = o->ranks,
                                .copy_bytes = o->copy_bytes < 0 ? DIST_COPY_BYTES : o->copy_bytes,
                                .sends = o->sends > 0 ? o->sends : DIST_SENDS,
                                .collects = s->wire ? COLLECTS_AT_FIRST : COLLECTS_NOTHING,
                                .counts_pages = o->stats};
}

int64_t ptoi_ranked_grace_ms(const struct session *s)
{
    const double seconds = s->options.grace_seconds;
    return !s->wire ? 0 : seconds > 0 ? (int64_t)(1000 * seconds) + 1 : GRACE_MS;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* "8x1": returns how many numbers, 0: it is no such list. */
static int read_numbers(const char *text, size_t length, int64_t *numbers)
{
    int count = 0;
    for (const char *at = text, *end = text + length; at < end; count++) {
        int64_t number = 0;
        const char *digits = at;
        for (; at < end && *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *at - '0', &number))
                return 0;
        const bool goes_on = at < end && *at == 'x' && at + 1 < end;
        if (at == digits || count == PTO_MAX_RANK || (at < end && !goes_on)) return 0;
        numbers[count] = number;
        at += goes_on;
    }
    return count;
}

static const PTOFormal *find_array(const struct session *s, const struct host_setting *setting, int32_t *f)
{
    for (*f = 0; *f < s->entry->formal_count; ++*f) {
        const PTOFormal *formal = &s->entry->formals[*f];
        if (ptoi_setting_is(setting, formal->name))
            return session_is_tensor(formal) && formal->direction != PTO_HOST ? formal : NULL;
    }
    return NULL;
}

static bool has_zero(const int64_t *numbers, int count)
{
    bool has = false;
    for (int k = 0; k < count; k++) has |= numbers[k] == 0;
    return has;
}

static int bind_distribution(struct session *s, const struct host_setting *setting)
{
    int32_t f;
    const PTOFormal *formal = find_array(s, setting, &f);
    const char *colon = strchr(setting->value, ':');
    int64_t cell[PTO_MAX_RANK] = {0};
    if (!formal)
        return host_fail(&s->error, HOST_USAGE, "--dist: there is no array '%.*s'", setting->length, setting->name);
    const size_t length = colon ? (size_t)(colon - setting->value) : 0;
    struct distribution *home = &s->arguments[f].home;
    const int cells = length > 0 ? read_numbers(setting->value, length, cell) : formal->rank;
    const int grid = colon ? read_numbers(colon + 1, strlen(colon + 1), home->grid) : 0;
    if (cells != formal->rank || grid != formal->rank)
        return host_fail(&s->error, HOST_USAGE,
                         "--dist %.*s=%s: '%s' has %d dimensions: cells, ':' and the grid of ranks are expected, as %s",
                         setting->length, setting->name, setting->value, formal->name, formal->rank,
                         formal->rank == 1 ? "4096:8 or :8" : "256x256:8x8 or :8x1");
    if ((length > 0 && has_zero(cell, cells)) || has_zero(home->grid, grid))
        return host_fail(&s->error, HOST_USAGE, "--dist %.*s=%s: 0 is no number of %s: at least 1 is expected",
                         setting->length, setting->name, setting->value,
                         has_zero(home->grid, grid) ? "ranks" : "elements of a cell");
    home->rank = formal->rank;
    home->unit = (int32_t)pto_type_bytes(formal->type);
    for (int32_t k = 0; k < formal->rank; k++) {
        const int64_t extent = s->formals[f].array.shape[k];
        home->shape[k] = extent;
        home->cell[k] = cell[k] > 0 ? cell[k] : extent / home->grid[k] + (extent % home->grid[k] > 0);
    }
    if (s->formals[f].array.bytes > 0 && ptoi_home_bytes(home) != s->formals[f].array.bytes)
        return host_fail(&s->error, HOST_USAGE, "--dist %.*s=%s: the grid is too large", setting->length, setting->name,
                         setting->value);
    return HOST_OK;
}

int ptoi_ranked_bind(struct session *s)
{
    int code = HOST_OK;
    for (int i = 0; i < s->options.dist_count && code == HOST_OK; i++)
        code = bind_distribution(s, &s->options.dists[i]);
    return code;
}

static bool is_large(const struct session *s, int32_t f)
{
    const int64_t limit = s->options.everywhere_bytes < 0 ? EVERYWHERE_BYTES : s->options.everywhere_bytes;
    return s->formals[f].array.bytes > limit;
}

/* A bool is looked at when it is read. */
static bool is_read_by_cells(const struct session *s, int32_t f)
{
    const PTOFormal *formal = &s->entry->formals[f];
    return formal->type != PTO_BOOL &&
           (formal->direction == PTO_IN || formal->direction == PTO_INOUT_ || formal->direction == PTO_ACC_) &&
           is_large(s, f);
}

/* What is compared with the serial engine has to be here as a whole. */
bool ptoi_ranked_reads_cells(const struct session *s, int32_t f)
{
    return s->wire && s->formals[f].given && !s->options.check && is_read_by_cells(s, f);
}

bool ptoi_ranked_begins_empty(const struct session *s, int32_t f)
{
    return s->wire && !s->arguments[f].input && !s->options.check && session_is_written(&s->entry->formals[f]) &&
           is_large(s, f);
}

static bool read_cells(void *cx, int64_t at, int64_t bytes, void *to)
{
    const struct npy_file *file = cx;
    for (int64_t done = 0; done < bytes;) {
        const ssize_t got =
            pread(file->fd, (char *)to + done, (size_t)(bytes - done), file->base + file->data_at + at + done);
        if (got <= 0) return false;
        done += got;
    }
    return true;
}

/* Where the ranks are planned, only homes have what a file would give; nobody reads it. */
static bool read_nothing(void *cx, int64_t at, int64_t bytes, void *to)
{
    (void)cx, (void)at, (void)bytes, (void)to;
    return true;
}

static struct dist_source source_of(const struct session *s, int32_t f)
{
    const PTOFormal *formal = &s->entry->formals[f];
    const struct argument *a = &s->arguments[f];
    const bool is_result = session_is_written(formal), stays = a->is_in_place || a->is_unseen;
    struct dist_source source = {.is_result = is_result, .stays = stays, .is_reserved = ptoi_ranked_begins_empty(s, f)};
    if (ptoi_ranked_reads_cells(s, f)) {
        source.is_reserved = true;
        source.read = read_cells;
        source.cx = &s->arguments[f].file;
        source.lacks = a->lacks;
    } else if (!s->wire && is_read_by_cells(s, f)) {
        source.is_reserved = true;
        source.read = read_nothing;
    }
    return source;
}

struct tensor *ptoi_ranked_counted_array(const struct session *s, int32_t f)
{
    if (!session_is_tensor(&s->entry->formals[f])) return NULL;
    struct tensor *t = ptoi_dist_tensor(s->rt->dist, s->formals[f].array.data);
    return t && t->is_counted ? t : NULL;
}

void ptoi_ranked_give(struct session *s)
{
    for (int32_t f = 0; s->rt->dist && f < s->entry->formal_count; f++) {
        const PTOFormal *formal = &s->entry->formals[f];
        const struct host_array *array = &s->formals[f].array;
        const struct distribution *home = &s->arguments[f].home;
        const struct dist_source source = source_of(s, f);
        if (!session_is_tensor(formal) || bind_is_decided(formal) || formal->direction == PTO_HOST) continue;
        ptoi_dist_give(s->rt->dist, array->data, array->bytes, home->rank > 0 ? home : NULL, &source);
    }
}

/* ---- numbers of all ranks ---------------------------------------------------------------------------------------- */

bool ptoi_ranked_reduce(struct session *s, const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    enum wire_answer answer;
    while ((answer = s->wire->ops->reduce(s->wire, false, mine, least, most)) == WIRE_WAITS) ptoi_sleep_ns(LOOK_NS);
    return answer == WIRE_DONE;
}

int ptoi_ranked_agree_on_help(struct session *s)
{
    if (!s->wire) return HOST_OK;
    /* a rank with an error of its own comes before all of these, because that one has the message */
    const uint64_t first = UINT64_MAX - (uint64_t)s->wire->ranks;
    const uint64_t mine[WIRE_REDUCED] = {HOST_USAGE, first + (uint64_t)s->wire->rank};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    if (!ptoi_ranked_reduce(s, mine, least, most))
        return host_fail(&s->error, HOST_RUN, "the ranks cannot agree to run");
    s->has_stopped = true;
    if (least[0] != HOST_OK && least[1] >= first) return HOST_OK;
    if (least[1] == mine[1]) host_fail(&s->error, HOST_USAGE, "--help is given to some of the ranks, and not to all");
    return (int)most[0];
}

int ptoi_ranked_agree(struct session *s, int code)
{
    if (!s->wire || s->has_stopped) return code;
    const uint64_t mine[WIRE_REDUCED] = {(uint64_t)code, code == HOST_OK ? UINT64_MAX : (uint64_t)s->wire->rank};
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    if (!ptoi_ranked_reduce(s, mine, least, most))
        return host_fail(&s->error, HOST_RUN, "the ranks cannot agree to run");
    if (most[0] != HOST_OK && least[1] != (uint64_t)s->wire->rank) s->error.text[0] = '\0';
    const size_t length = strlen(s->error.text);
    if (least[0] != most[0] && length > 0) { /* not all fail alike */
        char host[WIRE_HOST];
        ptoi_host_name(host, sizeof host);
        snprintf(s->error.text + length, sizeof s->error.text - length, " (on rank %d, %s)", s->wire->rank, host);
    }
    s->has_stopped = most[0] != HOST_OK;
    return (int)most[0];
}
