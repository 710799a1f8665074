/* alike.c - all ranks were started with the same program, dimensions, scalars and options: see ranked.h.
 *
 * Idea       what the results depend on is a list of numbers with names, the same on all ranks.  One hash of all is
 *            compared; where it differs, the numbers are, one after the other, so the first that differs is named.
 * Owner      the session.
 * Blocks     until all ranks have come.
 * Tests      test/wire/check_options.py */
#include "ranked.h"
#include <inttypes.h>
#include <stdlib.h>

struct number {
    const char *what, *name;
    uint64_t value;
    enum { IS_HASH, IS_NUMBER, IS_OPTION } kind; /* IS_HASH means nothing to the user; of IS_OPTION -1 is the default */
};

struct numbers {
    struct number *all;
    int count;
};

static void add(struct numbers *n, const char *what, const char *name, uint64_t value, int kind)
{
    n->all[n->count++] = (struct number){what, name, value, kind};
}

static uint64_t hash_of(const void *data, int64_t bytes)
{
    uint64_t hash = 1;
    for (int64_t k = 0; k < bytes; k++) hash = ptoi_dist_mix(hash, ((const unsigned char *)data)[k]);
    return hash;
}

static uint64_t hash_of_formals(const struct session *s)
{
    uint64_t hash = s->program->fingerprint;
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        hash = ptoi_dist_mix_text(ptoi_dist_mix_text(hash, s->entry->formals[f].name), s->entry->formals[f].text);
    return hash;
}

static uint64_t hash_of_home(const struct distribution *home)
{
    uint64_t hash = (uint64_t)home->rank;
    for (int32_t k = 0; k < home->rank; k++)
        hash = ptoi_dist_mix(ptoi_dist_mix(hash, (uint64_t)home->cell[k]), (uint64_t)home->grid[k]);
    return hash;
}

static bool is_expected(const struct session *s, const PTOFormal *formal)
{
    bool is_found = false;
    for (int k = 0; k < s->options.expect_count; k++) is_found |= ptoi_setting_is(&s->options.expects[k], formal->name);
    return is_found;
}

static void add_formal(const struct session *s, struct numbers *n, int32_t f)
{
    const PTOFormal *formal = &s->entry->formals[f];
    const struct argument *a = &s->arguments[f];
    if (!session_is_tensor(formal)) {
        add(n, "the scalar", formal->name, (uint64_t)s->scalars[f].i64,
            formal->type != PTO_F32 && formal->type != PTO_F64 ? IS_NUMBER : IS_HASH);
        return;
    }
    for (int32_t k = 0; k < formal->rank; k++)
        add(n, "an extent of", formal->name, (uint64_t)s->formals[f].array.shape[k], IS_NUMBER);
    add(n, "--dist of", formal->name, hash_of_home(&a->home), IS_HASH);
    add(n, "the seed of", formal->name, a->input ? a->input->fill.seed : 0, IS_NUMBER);
    add(n, "--output of", formal->name, a->output != NULL, IS_NUMBER);
    add(n, "--expect of", formal->name, is_expected(s, formal), IS_NUMBER);
}

static void add_program(const struct session *s, struct numbers *n)
{
    add(n, "the entry", s->entry->name, ptoi_dist_mix_text(1, s->entry->name), IS_HASH);
    add(n, "the program", s->program->file, hash_of_formals(s), IS_HASH);
}

/* NULL: no memory. */
static struct number *collect(const struct session *s, struct numbers *n)
{
    const struct dist_config config = ptoi_ranked_config(s);
    const int64_t heap = s->options.config.heap_bytes, rings = s->options.config.heap_rings;
    const char *cpu = s->options.cpu;
    enum { OF_ARRAY = PTO_MAX_RANK + 4, OTHERS = 20 };
    n->all = calloc((size_t)s->entry->formal_count * OF_ARRAY + (size_t)s->entry->dim_count + OTHERS, sizeof *n->all);
    if (!n->all) return NULL;
    add_program(s, n);
    for (int32_t v = 0; v < s->entry->dim_count; v++)
        add(n, "the dimension", s->entry->dims[v], (uint64_t)s->dims[v], IS_NUMBER);
    add(n, "--set of the params of", s->program->file, hash_of(s->params, s->program->param_bytes), IS_HASH);
    for (int32_t f = 0; f < s->entry->formal_count; f++) add_formal(s, n, f);
    add(n, "the option", "--copies", (uint64_t)config.copy_bytes, IS_NUMBER);
    add(n, "the option", "--sends", (uint64_t)config.sends, IS_NUMBER);
    add(n, "the option", "--heap", heap > 0 ? (uint64_t)heap : (uint64_t)-1, IS_OPTION);
    add(n, "the option", "--rings", rings > 0 ? (uint64_t)rings : (uint64_t)-1, IS_OPTION);
    add(n, "the option", "--cpu", ptoi_dist_mix_text(1, cpu), IS_HASH);
    add(n, "the option", "--everywhere", (uint64_t)s->options.everywhere_bytes, IS_OPTION);
    add(n, "the option", "--stats", s->options.stats, IS_NUMBER);
    add(n, "the option", "--check", s->options.check, IS_NUMBER);
    add(n, "the option", "--skip-kernels", s->options.config.skip_kernels, IS_NUMBER);
    add(n, "the option", "--trace", s->options.trace != NULL, IS_NUMBER);
    add(n, "the option", "--report", s->options.report != NULL, IS_NUMBER);
    add(n, "the option", "--graph", s->options.graph != NULL, IS_NUMBER);
    add(n, "the option", "--record", s->options.record != NULL, IS_NUMBER);
    add(n, "the option", "--replay", s->options.config.replay != NULL, IS_NUMBER);
    return n->all;
}

static bool is_same(struct session *s, uint64_t mine, bool *is_lost)
{
    uint64_t least[WIRE_REDUCED], most[WIRE_REDUCED];
    *is_lost = !ptoi_ranked_reduce(s, (const uint64_t[WIRE_REDUCED]){mine}, least, most);
    return *is_lost || least[0] == most[0];
}

enum { VALUE_TEXT = 32 };

static const char *text_of(const struct number *x, uint64_t value, char *text)
{
    if (x->kind == IS_OPTION && value == (uint64_t)-1) return "default";
    snprintf(text, VALUE_TEXT, "%" PRId64, (int64_t)value);
    return text;
}

/* All ranks have come to the same number, and they differ. */
static int fail_number(struct session *s, const struct number *x)
{
    uint64_t mine[WIRE_REDUCED] = {s->wire->rank == 0 ? x->value : 0}, least[WIRE_REDUCED], most[WIRE_REDUCED];
    char one[VALUE_TEXT], other[VALUE_TEXT], values[2 * VALUE_TEXT + 16] = "";
    if (!ptoi_ranked_reduce(s, mine, least, most)) return HOST_RUN;
    const uint64_t first = most[0];
    mine[0] = x->value == first ? UINT64_MAX : (uint64_t)s->wire->rank;
    if (!ptoi_ranked_reduce(s, mine, least, most)) return HOST_RUN;
    const uint64_t rank = least[0];
    mine[0] = (uint64_t)s->wire->rank == rank ? x->value : 0;
    if (!ptoi_ranked_reduce(s, mine, least, most)) return HOST_RUN;
    if (x->kind != IS_HASH)
        snprintf(values, sizeof values, ": %s and %s", text_of(x, first, one), text_of(x, most[0], other));
    host_fail(&s->error, HOST_USAGE, "ranks 0 and %" PRIu64 " differ in %s '%s'%s: start all ranks alike", rank,
              x->what, x->name, values);
    if (!session_is_first(s)) s->error.text[0] = '\0';
    return HOST_USAGE;
}

static int compare_all(struct session *s, const struct numbers *n)
{
    uint64_t hash = 1;
    bool is_lost = false;
    int code = HOST_OK;
    for (int k = 0; k < n->count; k++) hash = ptoi_dist_mix(hash, n->all[k].value);
    if (!is_same(s, hash, &is_lost))
        for (int k = 0; k < n->count && code == HOST_OK && !is_lost; k++)
            if (!is_same(s, n->all[k].value, &is_lost)) code = fail_number(s, &n->all[k]);
    if (is_lost) code = host_fail(&s->error, HOST_RUN, "the ranks cannot agree to run");
    s->has_stopped |= code != HOST_OK;
    return code;
}

int ptoi_ranked_compare_inputs(struct session *s)
{
    if (!s->wire) return HOST_OK;
    struct number all[3];
    struct numbers n = {.all = all};
    uint64_t inputs = (uint64_t)s->options.input_count;
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const struct host_input *input = s->arguments[f].input;
        inputs = ptoi_dist_mix(inputs, input ? 1 + (uint64_t)input->fill.kind : 0);
    }
    add_program(s, &n);
    add(&n, "the inputs of", s->entry->name, inputs, IS_HASH);
    return compare_all(s, &n);
}

int ptoi_ranked_compare(struct session *s)
{
    struct numbers n = {0};
    if (!s->wire) return HOST_OK;
    const bool has_memory = collect(s, &n) != NULL;
    int code = ptoi_ranked_agree(s, has_memory ? HOST_OK : host_fail_memory(&s->error));
    if (code == HOST_OK) code = compare_all(s, &n);
    free(n.all);
    return code;
}
