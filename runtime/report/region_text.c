/* region_text.c - see region_text.h.
 * Idea       of a task: the number of its arguments; of an argument its direction, and unless it is a scalar its type,
 *            tensor, place, extents, and its strides or 0 where the elements follow each other.
 */
#include "region_text.h"
#include "digits.h"
#include "shared/task.h"
#include <string.h>

/* As in the language; PTO_PARAM_SCALAR stays. */
static int direction_of(int kind)
{
    return kind == PTO_PARAM_INOUT_PART ? PTO_PARAM_INOUT : kind == PTO_PARAM_ACC_BY ? PTO_PARAM_ACC : kind;
}

static int number_of(struct region_names *n, const char *name)
{
    int i = 1;
    if (!name) return 0;
    while (i <= n->count && n->name[i] != name && strcmp(n->name[i], name) != 0) i++;
    if (i == PTOI_REGION_NAMES) return 0;
    if (i > n->count) n->name[++n->count] = name;
    return i;
}

/* has_addresses: not of a run that gives the same bytes each time. */
static void write_region(const struct recorded_region *a, bool has_addresses, FILE *out, struct region_names *names)
{
    const PTOArg *v = &a->view;
    digits_put(out, (uint64_t)direction_of(v->kind));
    if (v->kind == PTO_PARAM_SCALAR) return;
    digits_put(out, v->type);
    digits_put(out, a->is_heap);
    digits_put(out, (uint64_t)number_of(names, a->tensor));
    digits_put_signed(out, a->is_heap || has_addresses ? a->at : 0);
    digits_put(out, v->rank);
    for (int d = 0; d < v->rank; d++) digits_put_signed(out, v->shape[d]);
    const bool is_strided = !ptoi_arg_is_contiguous(v);
    digits_put(out, is_strided);
    for (int d = 0; is_strided && d < v->rank; d++) digits_put_signed(out, v->stride[d]);
}

void ptoi_regions_write(const struct recorder *r, FILE *out, struct region_names *names)
{
    const bool has_addresses = r->unit[0] == 'n';
    *names = (struct region_names){0};
    fputs("<script type=\"text/plain\" id=\"regions\">", out);
    for (; names->tasks < r->tasks && r->task[names->tasks].regions; names->tasks++) {
        struct recorded_region a;
        uint32_t at = r->task[names->tasks].regions, count = 0;
        while (ptoi_regions_next(&r->regions, &at, &a)) count++;
        digits_put(out, count);
        at = r->task[names->tasks].regions;
        while (ptoi_regions_next(&r->regions, &at, &a)) write_region(&a, has_addresses, out, names);
    }
    fputs("</script>\n", out);
}

void ptoi_region_names_write(const struct region_names *names, FILE *out)
{
    fprintf(out, ",\"regions\":%llu,\"tensors\":[\"\"", (unsigned long long)names->tasks);
    for (int i = 1; i <= names->count; i++) {
        const char *name = names->name[i]; /* PTO_OUTPUT(&P, ...): the program calls it P */
        fputc(',', out);
        digits_put_string(out, name[0] == '&' ? name + 1 : name);
    }
    fputs("],\"types\":[", out);
    for (int t = 0; t < PTO_TYPE_COUNT; t++) {
        if (t) fputc(',', out);
        digits_put_string(out, pto_type_name((PTOType)t));
    }
    fputc(']', out);
}
