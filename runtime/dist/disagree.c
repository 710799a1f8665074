/* disagree.c - see disagree.h. */
#include "disagree.h"
#include "asked.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 96 };

/* A scalar has 8 bytes whatever its type: large ones may be the bits of a float. */
static void write_scalar(uint64_t bits, char *text)
{
    const uint32_t half = (uint32_t)bits;
    float single;
    double twice;
    memcpy(&single, &half, sizeof single);
    memcpy(&twice, &bits, sizeof twice);
    if (bits + (1 << 23) < 1 << 24)
        snprintf(text, TEXT, "%" PRId64, (int64_t)bits);
    else if (bits == half)
        snprintf(text, TEXT, "%" PRId64 " (as f32 %.9g)", (int64_t)bits, (double)single);
    else
        snprintf(text, TEXT, "%" PRId64 " (as f64 %.17g)", (int64_t)bits, twice);
}

/* How a parameter of the kind uses its bytes. */
static const char *use_of(int32_t kind)
{
    return kind == PTO_PARAM_INPUT    ? "read"
           : kind == PTO_PARAM_OUTPUT ? "written"
           : kind == PTO_PARAM_ACC    ? "accumulated"
                                      : "read and written";
}

static void write_item(uint64_t head, char *text)
{
    const int32_t index = asked_index_of(head);
    switch (asked_item_of(head)) {
    case ASKED_NOTHING: snprintf(text, TEXT, "nothing more"); break;
    case ASKED_TASK: snprintf(text, TEXT, "a task"); break;
    case ASKED_SCALAR: snprintf(text, TEXT, "scalar %d", index); break;
    case ASKED_PARAM: snprintf(text, TEXT, "another kind of parameter %d", index); break;
    case ASKED_VIEW: snprintf(text, TEXT, "another form of parameter %d", index); break;
    case ASKED_BOX:
        snprintf(text, TEXT, "parameter %d, %s, in buffer %" PRIu32, index, use_of(asked_detail_of(head)),
                 asked_buffer_of(head));
        break;
    case ASKED_OUTPUT: snprintf(text, TEXT, "the new buffer of parameter %d", index); break;
    case ASKED_RANK: snprintf(text, TEXT, "no more parameters"); break;
    case ASKED_AWAIT: snprintf(text, TEXT, "a wait for buffer %" PRIu32, asked_buffer_of(head)); break;
    case ASKED_HOMES:
        snprintf(text, TEXT, "a distribution of %d dimensions of buffer %" PRIu32, asked_count_of(head) / 3,
                 asked_buffer_of(head));
        break;
    case ASKED_FAILURE: snprintf(text, TEXT, "an end with an error"); break;
    case ASKED_END: snprintf(text, TEXT, "the end of the program"); break;
    }
}

/* Which number of the item differs. */
static void write_subject(uint64_t head, int32_t at, char *text)
{
    static const char *const wait[] = {"first byte", "number of bytes"}, *const homes[] = {"extent", "cell", "grid"};
    const int32_t index = asked_index_of(head), count = asked_count_of(head);
    switch (at < 0 ? ASKED_NOTHING : asked_item_of(head)) {
    case ASKED_TASK: snprintf(text, TEXT, "the kernel is"); break;
    case ASKED_SCALAR: snprintf(text, TEXT, "scalar %d is", index); break;
    case ASKED_VIEW:
        snprintf(text, TEXT, "%s %d of parameter %d is", at < count / 2 ? "extent" : "stride", at % (count / 2), index);
        break;
    case ASKED_BOX:
        if (at + 1 < count)
            snprintf(text, TEXT, "extent %d of parameter %d is", at, index);
        else
            snprintf(text, TEXT, "the first element of parameter %d is", index);
        break;
    case ASKED_OUTPUT: snprintf(text, TEXT, "extent %d of the new buffer of parameter %d is", at, index); break;
    case ASKED_RANK: snprintf(text, TEXT, "the rank of the task is"); break;
    case ASKED_AWAIT: snprintf(text, TEXT, "the %s that the program waits for is", wait[at]); break;
    case ASKED_HOMES: snprintf(text, TEXT, "the %s of dimension %d is", homes[at % 3], at / 3); break;
    default: snprintf(text, TEXT, "the program asks for"); break;
    }
}

static void write_value(const struct search *s, uint64_t value, const struct wire_status *from, char *text)
{
    const int32_t at = ptoi_search_place(s);
    if (at < 0)
        write_item(value, text);
    else if (asked_item_of(s->head) == ASKED_TASK)
        snprintf(text, TEXT, "'%.*s'", WIRE_NAME, from->name);
    else if (asked_item_of(s->head) == ASKED_SCALAR)
        write_scalar(value, text);
    else
        snprintf(text, TEXT, "%" PRId64, (int64_t)value);
}

/* Where the program of the rank was; line 0: nowhere that has one. */
static PTOSite site_of(const struct wire_status *status)
{
    struct search_answer said;
    memcpy(&said, status->word, sizeof said);
    return (PTOSite){.file = status->file, .line = (int32_t)said.line, .column = (int32_t)said.column, .text = ""};
}

void ptoi_disagree_fail(struct run_status *o, const struct search *s, const struct wire_status *first,
                        const struct wire_status *other, const PTOSite *site)
{
    static const char rule[] = "what it does may not depend on the rank";
    const PTOSite there = site_of(other ? other : first);
    const bool is_theirs = ptoi_search_place(s) < 0 && asked_item_of(s->value[1]) == ASKED_FAILURE;
    const PTOSite *const at = site && !is_theirs ? site : there.line > 0 ? &there : NULL;
    char subject[TEXT], value[2][TEXT];
    if (!other) {
        ptoi_fail_earlier(o, PTO_ERR_STATE, at, "the ranks disagree at step %" PRIu64 " of the program: %s", s->step,
                          rule);
        return;
    }
    write_subject(s->head, ptoi_search_place(s), subject);
    write_value(s, s->value[0], first, value[0]);
    write_value(s, s->value[1], other, value[1]);
    ptoi_fail_earlier(o, PTO_ERR_STATE, at,
                      "ranks 0 and %d disagree at step %" PRIu64 " of the program: %s %s and %s; %s", s->rank, s->step,
                      subject, value[0], value[1], rule);
}
