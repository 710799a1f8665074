/* call_match.c - the arguments of a call matched against the formals, params and dimension variables of an entry.
 * Idea       names first, then types and ranks, as the command line does; values are converted to the declared type.
 * Tests      test/call/test_call.c, test/call/test_call_refused.c
 */
#include "call.h"
#include "params.h"
#include "values.h"
#include <inttypes.h>
#include <math.h>

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int fail_name(struct calling *c, const char *name)
{
    const size_t most = (size_t)c->entry->formal_count + (size_t)c->entry->dim_count + (size_t)c->program->param_count;
    const char **names = calloc(most + 1, sizeof *names);
    int count = 0;
    char advice[560];
    if (!names) return host_fail_memory(&c->error);
    for (int32_t f = 0; f < c->entry->formal_count; f++) names[count++] = c->entry->formals[f].name;
    for (int32_t p = 0; p < c->program->param_count; p++) names[count++] = c->program->params[p].name;
    for (int32_t v = 0; v < c->entry->dim_count; v++) names[count++] = c->entry->dims[v];
    ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no argument '%s'%s", c->entry->name, name,
                       ptoi_name_advice(name, (int)strlen(name), names, count, advice, sizeof advice));
    free(names);
    return HOST_USAGE;
}

/* ---- scalars ----------------------------------------------------------------------------------------------------- */

/* A number as the type that the language declares. */
static int convert(struct calling *c, const char *name, PTOType type, const PTOArgument *a, PTOScalar *value)
{
    const bool is_integer = a->kind == PTO_ARGUMENT_INTEGER;
    const double real = is_integer ? (double)a->value.integer : a->value.real;
    char text[40];
    *value = (PTOScalar){.i64 = 0};
    if (type == PTO_F64 || type == PTO_F32) {
        if (type == PTO_F64)
            value->f64 = real;
        else
            value->f32 = (float)real;
        if (type == PTO_F64 || isinf(real) || !isinf(value->f32)) return HOST_OK;
        snprintf(text, sizeof text, "%.17g", real);
        return ptoi_call_complain(c, PTO_COMPLAINT_SHAPE, "'%s' does not fit in '%s', which is %s", text, name,
                                  pto_type_name(type));
    }
    if (is_integer && (type == PTO_I64 || (uint64_t)a->value.integer <= 1)) {
        if (type == PTO_I64)
            value->i64 = a->value.integer;
        else
            value->b = a->value.integer != 0;
        return HOST_OK;
    }
    if (is_integer)
        snprintf(text, sizeof text, "%" PRId64, a->value.integer);
    else
        snprintf(text, sizeof text, "%.17g", real);
    if (!is_integer && rint(real) == real)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is %s, %s is given as a real number: PTO_I", name,
                                  pto_type_name(type), text);
    return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is %s, '%s' is not %s", name, pto_type_name(type), text,
                              type == PTO_BOOL ? "true, false, 1 or 0" : "an integer");
}

static bool is_number(const PTOArgument *a) { return a->kind == PTO_ARGUMENT_INTEGER || a->kind == PTO_ARGUMENT_REAL; }

/* A name that is given a tensor, and names no formal. */
static int fail_kind(struct calling *c, const char *name)
{
    for (int32_t p = 0; p < c->program->param_count; p++)
        if (strcmp(c->program->params[p].name, name) == 0)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is a param, a scalar of type %s, not a tensor",
                                      name, pto_type_name(c->program->params[p].type));
    for (int32_t v = 0; v < c->entry->dim_count; v++)
        if (strcmp(c->entry->dims[v], name) == 0)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is a dimension variable, not a tensor", name);
    return fail_name(c, name);
}

/* A param, or a dimension variable; formals of the same name go before both. */
static int give_setting(struct calling *c, const PTOArgument *a)
{
    for (int32_t p = 0; is_number(a) && p < c->program->param_count; p++) {
        const PTOProgramParam *param = &c->program->params[p];
        PTOScalar value;
        if (strcmp(param->name, a->name) != 0) continue;
        if (c->params_given[p]) return ptoi_call_complain_twice(c, a->name);
        c->params_given[p] = true;
        const int code = convert(c, a->name, param->type, a, &value);
        if (code == HOST_OK) ptoi_param_store(param, c->params, value);
        return code;
    }
    for (int32_t v = 0; is_number(a) && v < c->entry->dim_count; v++) {
        PTOScalar value;
        if (strcmp(c->entry->dims[v], a->name) != 0) continue;
        if (c->origin[v] != BIND_NOTHING) return ptoi_call_complain_twice(c, a->name);
        c->origin[v] = BIND_OPTION;
        const int code = convert(c, a->name, PTO_I64, a, &value);
        c->dims[v] = value.i64;
        if (code == HOST_OK && value.i64 < 0)
            return ptoi_call_complain(c, PTO_COMPLAINT_SHAPE, "dimension variable '%s' is %" PRId64, a->name,
                                      value.i64);
        return code;
    }
    return is_number(a) ? fail_name(c, a->name) : fail_kind(c, a->name);
}

/* ---- formals ----------------------------------------------------------------------------------------------------- */

static void keep_lent(struct DLManagedTensor *m) { (void)m; }

/* The producer keeps what it has lent: the tensor has a copy of the struct, which deletes nothing. */
static int give_dlpack(struct calling *c, int32_t f, const struct DLManagedTensor *m)
{
    struct given *g = &c->given[f];
    if (!m) return ptoi_call_give_tensor(c, f, NULL);
    g->lent = *m;
    g->lent.deleter = keep_lent;
    g->made = pto_tensor_from_dlpack_unversioned(&g->lent);
    if (g->made) return ptoi_call_give_tensor(c, f, g->made);
    return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s': %s", c->entry->formals[f].name, pto_last_error(NULL));
}

static int give_formal(struct calling *c, int32_t f, const PTOArgument *a)
{
    static const char *const directions[] = {"in", "out", "inout", "acc", "own", "host"};
    const PTOFormal *formal = &c->entry->formals[f];
    if (c->given[f].is_given) return ptoi_call_complain_twice(c, formal->name);
    if (formal->rank == 0) {
        if (!is_number(a))
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is a scalar, %s", formal->name, formal->text);
        c->given[f].is_given = true;
        return convert(c, formal->name, formal->type, a, &c->scalars[f]);
    }
    if (a->kind == PTO_ARGUMENT_TENSOR) return ptoi_call_give_tensor(c, f, a->value.tensor);
    if (a->kind == PTO_ARGUMENT_DLPACK) return give_dlpack(c, f, a->value.dlpack);
    if (a->kind != PTO_ARGUMENT_RESULT)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is an array, %s", formal->name, formal->text);
    if (formal->direction != PTO_OUT)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' is '%s': a call makes what is 'out'", formal->name,
                                  directions[formal->direction]);
    if (!a->value.result)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "PTO_R of '%s' has no variable", formal->name);
    for (int32_t other = 0; other < c->entry->formal_count; other++)
        if (c->given[other].result == a->value.result)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "PTO_R of '%s' has the variable of '%s'", formal->name,
                                      c->entry->formals[other].name);
    c->given[f].is_given = true;
    c->given[f].result = a->value.result;
    return HOST_OK;
}

static int give_flags(struct calling *c, int64_t flags)
{
    if (flags & ~(int64_t)PTO_CALL_NO_WAIT)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "PTO_CALL_FLAGS has unknown flags, %" PRId64, flags);
    c->no_wait |= (flags & PTO_CALL_NO_WAIT) != 0;
    return HOST_OK;
}

static int give_scalar_result(struct calling *c, PTOScalar *result)
{
    if (c->entry->result == PTO_BYTE)
        return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "PTO_V: '%s' returns no scalar", c->entry->name);
    if (!result) return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "PTO_V has no variable");
    if (c->call.result) return ptoi_call_complain_twice(c, "PTO_V");
    c->call.result = result;
    return HOST_OK;
}

int ptoi_call_match(struct calling *c, const PTOArgument *arguments, int32_t count)
{
    int32_t position = 0;
    int code = HOST_OK;
    for (int32_t i = 0; i < count && code == HOST_OK; i++) {
        const PTOArgument *a = &arguments[i];
        int32_t f = 0;
        if (a->kind < PTO_ARGUMENT_TENSOR || a->kind > PTO_ARGUMENT_SPARSE_RESULT) {
            code = ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "argument %d has the kind %d, which is none", i,
                                      (int)a->kind);
            continue;
        }
        if (a->kind == PTO_ARGUMENT_FLAGS) {
            code = give_flags(c, a->value.integer);
            continue;
        }
        if (a->kind == PTO_ARGUMENT_SCALAR_RESULT) {
            code = give_scalar_result(c, a->value.scalar);
            continue;
        }
        if (a->kind == PTO_ARGUMENT_SPARSE) {
            code = ptoi_call_give_sparse(c, a->name, &position, a->value.sparse);
            continue;
        }
        if (a->kind == PTO_ARGUMENT_SPARSE_RESULT) {
            code = ptoi_call_give_made_matrix(c, a->name, &position, a->value.sparse_result);
            continue;
        }
        if (!a->name)
            f = position++;
        else
            while (f < c->entry->formal_count && strcmp(c->entry->formals[f].name, a->name) != 0) f++;
        if (f < c->entry->formal_count)
            code = give_formal(c, f, a);
        else if (a->name)
            code = give_setting(c, a);
        else
            code = ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has %d arguments, here are more", c->entry->name,
                                      c->entry->formal_count);
    }
    return code;
}

int ptoi_call_check_given(struct calling *c)
{
    char names[512];
    size_t at = 0;
    for (int32_t f = 0; f < c->entry->formal_count; f++) {
        const PTOFormal *formal = &c->entry->formals[f];
        if (c->given[f].is_given || formal->direction == PTO_OUT || at >= sizeof names) continue;
        if (formal->rank == 0)
            return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "'%s' has no value (%s)", formal->name, formal->text);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "", formal->name);
    }
    if (at > 0) return ptoi_call_complain(c, PTO_COMPLAINT_ARGUMENT, "no data for %s", names);
    c->complaint = PTO_COMPLAINT_SHAPE;
    return ptoi_params_settle(c->program, c->params, c->params_given, &c->error);
}
