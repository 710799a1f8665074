/* ranked_files.c - input files that only some ranks see: see ranked.h.
 *
 * Idea       rank 0 needs all files.  It has the shape of each from its header, and gives it to the others: a rank
 *            that sees a file of that name compares, one that sees none takes it.  A file that is read as a whole comes
 *            from rank 0 then; of one that is read by cells rank 0 sends them their cells, as messages of the run.
 * Owner      the session.
 * Blocks     until all ranks have come.
 * Tests      test/wire/check_files.py */
#include "ranked.h"
#include "shared/system.h"
#include <stdlib.h>

/* The type and the shape of the file that rank 0 has. */
struct shape_of_first {
    PTOType type;
    int32_t rank;
    int64_t shape[PTO_MAX_RANK];
};

static int fail_wire(struct session *s)
{
    return host_fail(&s->error, HOST_RUN, "the ranks cannot read their files: the wire failed");
}

/* The same bytes on all ranks: those of rank 0.  false: the wire failed. */
static bool broadcast(struct session *s, void *data, int64_t bytes)
{
    bool ok = true;
    if (!session_is_first(s)) return ptoi_wire_take(s->wire, 0, data, bytes);
    for (int32_t rank = 1; rank < s->wire->ranks && ok; rank++) ok = ptoi_wire_give(s->wire, rank, data, bytes);
    return ok;
}

/* Afterwards every rank knows which ranks see the file of formal f. */
static bool broadcast_who_sees(struct session *s, int32_t f, bool sees, bool *any)
{
    bool *lacks = s->arguments[f].lacks, ok = true;
    lacks[s->wire->rank] = !sees;
    if (!session_is_first(s)) ok = ptoi_wire_give(s->wire, 0, &lacks[s->wire->rank], sizeof *lacks);
    for (int32_t rank = 1; session_is_first(s) && rank < s->wire->ranks && ok; rank++)
        ok = ptoi_wire_take(s->wire, rank, &lacks[rank], sizeof *lacks);
    ok = ok && broadcast(s, lacks, s->wire->ranks);
    *any = false;
    for (int32_t rank = 0; rank < s->wire->ranks; rank++) *any |= !lacks[rank];
    return ok;
}

static bool is_same_shape(const struct host_array *a, const struct host_array *b)
{
    bool is_same = a->type == b->type && a->rank == b->rank;
    for (int32_t k = 0; is_same && k < a->rank; k++) is_same = a->shape[k] == b->shape[k];
    return is_same;
}

static int fail_shape(struct session *s, int32_t f, const struct host_array *first)
{
    char here[256], there[256];
    return host_fail(&s->error, HOST_FILE, "'%s': %s is %s, and %s on rank 0", s->entry->formals[f].name,
                     s->arguments[f].file.path, ptoi_array_text(&s->arguments[f].file.array, here, sizeof here),
                     ptoi_array_text(first, there, sizeof there));
}

/* The shape is that of rank 0's file. */
static int take_shape(struct session *s, int32_t f, bool sees)
{
    struct npy_file *file = &s->arguments[f].file;
    struct host_array first = file->array;
    struct shape_of_first shape = {.type = first.type, .rank = first.rank};
    memcpy(shape.shape, first.shape, sizeof shape.shape);
    if (!broadcast(s, &shape, sizeof shape)) return fail_wire(s);
    first.type = shape.type;
    first.rank = shape.rank;
    memcpy(first.shape, shape.shape, sizeof first.shape);
    array_measure(&first);
    int code = sees && !is_same_shape(&first, &file->array) ? fail_shape(s, f, &first) : HOST_OK;
    if (!sees) file->array = first;
    return ptoi_ranked_agree(s, code);
}

int ptoi_ranked_open_file(struct session *s, int32_t f, int code, bool is_there)
{
    if (!s->wire) return code;
    const bool sees = code == HOST_OK;
    bool any = false;
    s->arguments[f].lacks = calloc((size_t)s->wire->ranks, sizeof *s->arguments[f].lacks);
    if (!s->arguments[f].lacks) code = host_fail_memory(&s->error);
    const int agreed = ptoi_ranked_agree(s, s->arguments[f].lacks ? HOST_OK : code);
    if (agreed != HOST_OK) return agreed;
    if (!broadcast_who_sees(s, f, sees, &any)) return fail_wire(s);
    /* a rank with a wrong file reports that; one without a file only if it is rank 0, or no rank has the file */
    const bool can_take = !sees && !is_there && any && !session_is_first(s);
    if (can_take) s->error.text[0] = '\0';
    code = ptoi_ranked_agree(s, can_take ? HOST_OK : code);
    return code == HOST_OK ? take_shape(s, f, sees) : code;
}

bool ptoi_ranked_lacks(const struct session *s, int32_t f)
{
    return s->wire && s->arguments[f].lacks && s->arguments[f].lacks[s->wire->rank];
}

int ptoi_ranked_load_file(struct session *s, int32_t f, int code)
{
    const bool *lacks = s->wire ? s->arguments[f].lacks : NULL;
    struct host_array *array = &s->formals[f].array;
    bool any = false;
    for (int32_t rank = 0; lacks && rank < s->wire->ranks; rank++) any |= lacks[rank];
    if (!any) return code;
    code = ptoi_ranked_agree(s, code);
    if (code != HOST_OK || array->bytes == 0) return code;
    bool ok = true;
    for (int32_t rank = 1; session_is_first(s) && rank < s->wire->ranks && ok; rank++)
        if (lacks[rank]) ok = ptoi_wire_give(s->wire, rank, array->data, array->bytes);
    if (lacks[s->wire->rank]) ok = ptoi_wire_take(s->wire, 0, array->data, array->bytes);
    return ok ? HOST_OK : fail_wire(s);
}

int ptoi_ranked_broadcast(struct session *s, void *data, int64_t bytes)
{
    return !s->wire || broadcast(s, data, bytes) ? HOST_OK : fail_wire(s);
}
