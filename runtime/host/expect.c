/* expect.c - see expect.h. */
#include "expect.h"
#include "print.h"
#include "summary.h"

#include <inttypes.h>
#include <math.h>

/* Relative, and absolute around 0; 0: exactly. */
static double tolerance_of(PTOType type)
{
    switch (type) {
    case PTO_F64: return 1e-12;
    case PTO_F32: return 1e-5;
    case PTO_F16: return 2e-3;
    case PTO_BF16: return 2e-2;
    default: return 0;
    }
}

static bool is_near(PTOType type, const void *a, const void *b)
{
    const double tolerance = tolerance_of(type);
    if (memcmp(a, b, (size_t)pto_type_bytes(type)) == 0) return true;
    if (tolerance == 0) return false;
    const double x = ptoi_element_value(type, a), y = ptoi_element_value(type, b);
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
    if (isinf(x) || isinf(y)) return x == y;
    return fabs(x - y) <= tolerance * fmax(1, fmax(fabs(x), fabs(y)));
}

int ptoi_expect_open(struct session *s)
{
    for (int i = 0; i < s->options.expect_count; i++) {
        const struct host_setting *x = &s->options.expects[i];
        int32_t f = 0;
        while (f < s->entry->formal_count && !ptoi_setting_is(x, s->entry->formals[f].name)) f++;
        if (f == s->entry->formal_count || !session_is_written(&s->entry->formals[f]))
            return host_fail(&s->error, HOST_USAGE, "--expect: there is no array to write '%.*s'", x->length, x->name);
        const PTOFormal *formal = &s->entry->formals[f];
        if (!session_is_first(s)) continue; /* it has no use for the results of the others */
        const int code =
            ptoi_npy_open(&s->arguments[f].expected, x->value, formal->name, formal->type, formal->rank, &s->error);
        if (code != HOST_OK) return code;
        s->arguments[f].is_expected = true;
    }
    return HOST_OK;
}

static int fail_at(struct session *s, int32_t f, const struct host_array *made, int64_t at)
{
    const struct npy_file *file = &s->arguments[f].expected;
    const int64_t bytes = pto_type_bytes(made->type);
    int64_t index[PTO_MAX_RANK], rest = at;
    char text[256], a[PTO_NUMBER_TEXT], b[PTO_NUMBER_TEXT];
    for (int d = made->rank - 1; d >= 0; d--) {
        index[d] = rest % made->shape[d];
        rest /= made->shape[d];
    }
    size_t used = 0;
    for (int d = 0; d < made->rank && used < sizeof text; d++)
        used += (size_t)snprintf(text + used, sizeof text - used, d == 0 ? "%" PRId64 : ", %" PRId64, index[d]);
    return host_fail(&s->error, HOST_RUN, "%s[%s] is %s, %s has %s", s->entry->formals[f].name, text,
                     ptoi_element_text(made->type, (const char *)made->data + at * bytes, a), file->path,
                     ptoi_element_text(made->type, (const char *)file->array.data + at * bytes, b));
}

static int check(struct session *s, int32_t f)
{
    const struct host_array *made = &s->formals[f].array;
    struct npy_file *file = &s->arguments[f].expected;
    const int64_t bytes = pto_type_bytes(made->type);
    char a[256], b[256];
    if (memcmp(made->shape, file->array.shape, (size_t)made->rank * sizeof *made->shape) != 0)
        return host_fail(&s->error, HOST_FILE, "%s is %s, %s has %s", s->entry->formals[f].name,
                         ptoi_array_text(made, a, sizeof a), file->path, ptoi_array_text(&file->array, b, sizeof b));
    const int code = ptoi_npy_read(file, &s->error);
    if (code != HOST_OK) return code;
    for (int64_t i = 0; i < made->count; i++)
        if (!is_near(made->type, (const char *)made->data + i * bytes, (const char *)file->array.data + i * bytes))
            return fail_at(s, f, made, i);
    return HOST_OK;
}

int ptoi_expect_check(struct session *s)
{
    int code = HOST_OK;
    for (int32_t f = 0; f < s->entry->formal_count && code == HOST_OK; f++)
        if (s->arguments[f].is_expected) code = check(s, f);
    return code;
}

void ptoi_expect_close(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        if (!s->arguments[f].is_expected) continue;
        ptoi_npy_close(&s->arguments[f].expected);
        array_free(&s->arguments[f].expected.array);
    }
}
