/* arguments.c - see arguments.h. */
#include "arguments.h"
#include "matrix.h"
#include "npz.h"
#include "ranked.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- names on the command line ----------------------------------------------------------------------------------- */

static int32_t find_formal(const struct session *s, const struct host_setting *setting)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++)
        if (ptoi_setting_is(setting, s->entry->formals[f].name)) return f;
    return -1;
}

static int32_t find_dim(const struct session *s, const struct host_setting *setting)
{
    for (int32_t v = 0; v < s->entry->dim_count; v++)
        if (ptoi_setting_is(setting, s->entry->dims[v])) return v;
    return -1;
}

static int32_t find_param(const struct session *s, const struct host_setting *setting)
{
    for (int32_t p = 0; p < s->program->param_count; p++)
        if (ptoi_setting_is(setting, s->program->params[p].name)) return p;
    return -1;
}

enum wanted { WANT_SCALAR, WANT_INPUT, WANT_OUTPUT, WANT_DIM };

/* The names that an option could have meant. */
static int list_names(const struct session *s, enum wanted wanted, const char **names)
{
    int count = 0;
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const PTOFormal *formal = &s->entry->formals[f];
        if ((wanted == WANT_SCALAR && !session_is_tensor(formal)) ||
            (wanted == WANT_OUTPUT && session_is_written(formal)) ||
            (wanted == WANT_INPUT && session_is_tensor(formal) && formal->direction != PTO_OUT))
            names[count++] = formal->name;
    }
    for (int32_t p = 0; wanted == WANT_SCALAR && p < s->program->param_count; p++)
        names[count++] = s->program->params[p].name;
    for (int32_t v = 0; wanted == WANT_DIM && v < s->entry->dim_count; v++) names[count++] = s->entry->dims[v];
    return count;
}

/* The name fits no place of this kind: says where else it would, or what is near. */
static int fail_name(struct session *s, enum wanted wanted, const struct host_setting *setting)
{
    static const char *const options[] = {"set", "input", "output", "dim"};
    static const char *const kinds[] = {"param or scalar", "array to read", "array to write", "dimension variable"};
    struct host_error *e = &s->error;
    int32_t f = find_formal(s, setting);
    bool param = find_param(s, setting) >= 0, dim = find_dim(s, setting) >= 0;
    int code;
    if (f >= 0 && session_is_tensor(&s->entry->formals[f]) && (wanted == WANT_SCALAR || wanted == WANT_DIM))
        code = host_fail(e, HOST_USAGE, "'%.*s' is an array: give --input %.*s=FILE.npy, not --%s", setting->length,
                         setting->name, setting->length, setting->name, options[wanted]);
    else if (f >= 0 && session_is_tensor(&s->entry->formals[f]))
        code = host_fail(e, HOST_USAGE, "'%.*s' is '%s': it takes no --%s", setting->length, setting->name,
                         session_direction(s->entry->formals[f].direction), options[wanted]);
    else if (f >= 0 || param)
        code = host_fail(e, HOST_USAGE, "'%.*s' is a %s: give --set %.*s=VALUE, not --%s", setting->length,
                         setting->name, param ? "param" : "scalar", setting->length, setting->name, options[wanted]);
    else if (dim)
        code = host_fail(e, HOST_USAGE, "'%.*s' is a dimension variable: give --dim %.*s=NUMBER, not --%s",
                         setting->length, setting->name, setting->length, setting->name, options[wanted]);
    else {
        size_t most = (size_t)s->entry->formal_count + (size_t)s->entry->dim_count + (size_t)s->program->param_count;
        const char **names = calloc(most + 1, sizeof *names);
        if (!names) return host_fail_memory(e);
        char advice[560];
        int count = list_names(s, wanted, names);
        code = host_fail(e, HOST_USAGE, "--%s: there is no %s '%.*s'%s", options[wanted], kinds[wanted],
                         setting->length, setting->name,
                         ptoi_name_advice(setting->name, setting->length, names, count, advice, sizeof advice));
        free(names);
    }
    if (wanted == WANT_SCALAR) e->id = "E16";
    return code;
}

/* A scalar of the entry hides a param of the same name, as it does in the program. */
static int apply_set(struct session *s, const struct host_setting *setting)
{
    int32_t f = find_formal(s, setting), p = find_param(s, setting);
    PTOScalar value;
    if (f >= 0 && !session_is_tensor(&s->entry->formals[f])) {
        s->arguments[f].scalar_set = true;
        return ptoi_parse_scalar(s->entry->formals[f].name, setting->value, s->entry->formals[f].type, &s->scalars[f],
                                 &s->error);
    }
    if (p < 0) return fail_name(s, WANT_SCALAR, setting);
    int code =
        ptoi_parse_scalar(s->program->params[p].name, setting->value, s->program->params[p].type, &value, &s->error);
    if (code == HOST_OK) ptoi_param_store(&s->program->params[p], s->params, value);
    s->given[p] = true;
    return code;
}

static bool is_struct_input(const struct session *s, const struct host_input *input)
{
    return input->fill.kind == FILL_NONE && find_formal(s, &input->setting) < 0;
}

/* A file for a struct is an archive, in which each field that is read has a member; a field may have a file of its own.
 * false: there is no such struct. */
static bool give_struct(struct session *s, const struct host_input *input)
{
    const struct host_setting *of = &input->setting;
    bool is_found = false;
    for (int32_t f = 0; is_struct_input(s, input) && f < s->entry->formal_count; f++) {
        const PTOFormal *formal = &s->entry->formals[f];
        if (strncmp(formal->name, of->name, (size_t)of->length) != 0 || formal->name[of->length] != '.' ||
            !session_is_tensor(formal) || formal->direction == PTO_OUT)
            continue;
        if (!s->arguments[f].input) s->arguments[f].input = input;
        is_found = true;
    }
    return is_found;
}

int ptoi_arguments_apply(struct session *s)
{
    struct host_options *o = &s->options;
    int code = HOST_OK;
    for (int i = 0; i < o->set_count && code == HOST_OK; i++) code = apply_set(s, &o->sets[i]);
    for (int i = 0; i < o->dim_count && code == HOST_OK; i++) {
        int32_t v = find_dim(s, &o->dims[i]);
        bool fits;
        if (v < 0) return fail_name(s, WANT_DIM, &o->dims[i]);
        ptoi_parse_i64(o->dims[i].value, &s->dims[v], &fits);
        s->origin[v] = BIND_OPTION;
    }
    for (int i = 0; i < o->input_count && code == HOST_OK; i++) {
        if (give_struct(s, &o->inputs[i])) continue;
        int32_t f = find_formal(s, &o->inputs[i].setting);
        if (f < 0 || !session_is_tensor(&s->entry->formals[f]) || s->entry->formals[f].direction == PTO_OUT)
            return fail_name(s, WANT_INPUT, &o->inputs[i].setting);
        s->arguments[f].input = &o->inputs[i];
    }
    for (int i = 0; i < o->output_count && code == HOST_OK; i++) {
        int32_t f = find_formal(s, &o->outputs[i]);
        if (f < 0 || !session_is_written(&s->entry->formals[f])) return fail_name(s, WANT_OUTPUT, &o->outputs[i]);
        s->arguments[f].output = o->outputs[i].value;
    }
    return code;
}

/* Everything that needs a value has one. */
int ptoi_arguments_check(struct session *s)
{
    struct host_error *e = &s->error;
    const int code = ptoi_params_settle(s->program, s->params, s->given, e);
    if (code != HOST_OK) return code;
    char names[512];
    size_t at = 0;
    const char *first = NULL;
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        const PTOFormal *formal = &s->entry->formals[f];
        if (!session_is_tensor(formal) && !s->arguments[f].scalar_set)
            return host_fail(e, HOST_USAGE, "'%s' has no value: give --set %s=VALUE (%s)", formal->name, formal->name,
                             pto_type_name(formal->type));
        /* there: never read */
        const bool needed = formal->direction != PTO_OUT && s->options.config.engine != PTO_ENGINE_GRAPH &&
                            !s->options.config.skip_kernels;
        if (session_is_tensor(formal) && needed && !s->arguments[f].input && at < sizeof names) {
            at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", first ? ", " : "", formal->name);
            first = first ? first : formal->name;
        }
    }
    if (first)
        return host_fail(e, HOST_USAGE,
                         "no data for %s: give --input %s=FILE.npy, or --input %s=zeros (ones, iota, random)", names,
                         first, first);
    return HOST_OK;
}

/* ---- files and shapes -------------------------------------------------------------------------------------------- */

static int open_input(struct session *s, int32_t f)
{
    static const char *const words[] = {"zeros", "ones", "iota", "random"};
    const PTOFormal *formal = &s->entry->formals[f];
    struct argument *a = &s->arguments[f];
    const char *path = a->input->setting.value;
    int code = ptoi_npy_open(&a->file, path, formal->name, formal->type, formal->rank, &s->error);
    const bool is_there = code == HOST_OK || access(path, F_OK) == 0;
    if (!is_there) {
        const char *near = ptoi_nearest_name(path, (int)strlen(path), words, 4);
        size_t at = strlen(s->error.text);
        if (near) snprintf(s->error.text + at, sizeof s->error.text - at, "; did you mean '%s'?", near);
    }
    code = ptoi_ranked_open_file(s, f, code, is_there);
    if (code != HOST_OK) return code;
    a->file.array.shared = s->formals[f].array.shared;
    a->file.array.reserved = s->formals[f].array.reserved;
    s->formals[f].array = a->file.array;
    s->formals[f].given = true;
    return HOST_OK;
}

/* Is what the archive says of the matrix true of its arrays? */
static int compare_format(struct session *s, const struct matrix_formal *m, const char *name, const char *path,
                          const struct npz_matrix *found)
{
    const struct host_array *blocks = &s->formals[ptoi_matrix_field(m, "val")].array;
    const bool by_columns = strcmp(found->format, "csc") == 0;
    const bool is_coo = strcmp(found->format, "coo") == 0;
    if ((is_coo && ptoi_matrix_field(m, "ptr") >= 0) || (!is_coo && ptoi_matrix_field(m, "row") >= 0) ||
        (strcmp(found->format, "bsr") == 0) != (blocks->rank == 3))
        return host_fail(&s->error, HOST_FILE, "'%s': the matrix in %s is %s, which the arrays of the struct are not",
                         name, path, found->format);
    if (ptoi_matrix_field(m, "ptr") >= 0 && ptoi_matrix_is_by_columns(m) != by_columns)
        return host_fail(&s->error, HOST_FILE,
                         "'%s': the matrix in %s is %s, whose ptr counts %s, and that of the struct counts %s: save "
                         "it with SciPy's to%s()",
                         name, path, found->format, by_columns ? "columns" : "rows", by_columns ? "rows" : "columns",
                         by_columns ? "csr" : "csc");
    return HOST_OK;
}

/* Of a matrix that SciPy has saved: rows and columns, and whether it is the format of the struct. */
static int bind_matrix(struct session *s, const struct host_input *input)
{
    const char *path = input->setting.value;
    const struct matrix_formal m = ptoi_matrix_formal(s->entry, input->setting.name, (size_t)input->setting.length);
    const int32_t val = ptoi_matrix_field(&m, "val");
    struct npz_matrix found = {.format = ""};
    char name[128];
    int code = HOST_OK;
    snprintf(name, sizeof name, "%.*s", (int)m.length, m.name);
    /* members of these names are fields of the struct where it has such */
    if (val < 0 || ptoi_matrix_field(&m, "format") >= 0 || ptoi_matrix_field(&m, "shape") >= 0) return HOST_OK;
    if (!ptoi_ranked_lacks(s, val)) code = ptoi_npz_find_matrix(path, name, &found, &s->error);
    if ((code = ptoi_ranked_agree(s, code)) != HOST_OK) return code;
    code = ptoi_ranked_broadcast(s, &found, sizeof found);
    if (code != HOST_OK || !found.format[0]) return code;
    if ((code = compare_format(s, &m, name, path, &found)) != HOST_OK) return code;
    const struct host_array *blocks = &s->formals[val].array;
    int64_t block[2] = {1, 1};
    for (int d = 0; d < 2 && blocks->rank == 3; d++) block[d] = blocks->shape[1 + d];
    if (block[0] == 0 || block[1] == 0 || found.rows % block[0] != 0 || found.columns % block[1] != 0)
        return host_fail(&s->error, HOST_FILE,
                         "'%s': the matrix in %s has %" PRId64 " rows and %" PRId64 " columns, which blocks of %" PRId64
                         " x %" PRId64 " do not divide",
                         name, path, found.rows, found.columns, block[0], block[1]);
    return ptoi_matrix_bind(&m, found.rows / block[0], found.columns / block[1], s->dims, s->origin, &s->error);
}

int ptoi_arguments_open(struct session *s)
{
    int code = HOST_OK;
    for (int32_t f = 0; f < s->entry->formal_count && code == HOST_OK; f++)
        if (s->arguments[f].input && s->arguments[f].input->fill.kind == FILL_NONE) code = open_input(s, f);
    for (int i = 0; i < s->options.input_count && code == HOST_OK; i++)
        if (is_struct_input(s, &s->options.inputs[i])) code = bind_matrix(s, &s->options.inputs[i]);
    if (code != HOST_OK) return code;
    struct binding b = {
        .entry = s->entry, .formals = s->formals, .dims = s->dims, .origin = s->origin, .call = &s->call};
    if ((code = ptoi_bind(&b, &s->error)) != HOST_OK) return code;
    code = ptoi_ranked_bind(s);
    for (int32_t f = 0; f < s->entry->formal_count && code == HOST_OK; f++)
        if (s->arguments[f].output && session_is_first(s))
            code = ptoi_npy_check_writable(s->arguments[f].output, &s->error);
    return code;
}

static int fail_no_room(struct session *s, int32_t f)
{
    return host_fail(&s->error, HOST_INTERNAL, "out of memory: '%s' needs %" PRId64 " bytes", s->entry->formals[f].name,
                     s->formals[f].array.bytes);
}

int ptoi_arguments_load(struct session *s)
{
    for (int32_t f = 0; f < s->entry->formal_count; f++) {
        struct argument *a = &s->arguments[f];
        struct host_array *array = &s->formals[f].array;
        if (!session_is_tensor(&s->entry->formals[f]) || bind_is_decided(&s->entry->formals[f])) continue;
        if (array->reserved) {
            ptoi_npy_close(&a->file);
            if (!array_allocate(array, false)) return fail_no_room(s, f);
        } else if (ptoi_ranked_reads_cells(s, f)) {
            array->reserved = true;
            if (!array_allocate(array, false)) return fail_no_room(s, f);
        } else if (s->formals[f].given) {
            session_progress(s, "reading %s from %s", s->entry->formals[f].name, a->file.path);
            const bool lacks = ptoi_ranked_lacks(s, f);
            int code = !lacks                                  ? ptoi_npy_read(&a->file, &s->error)
                       : array_allocate(&a->file.array, false) ? HOST_OK
                                                               : fail_no_room(s, f);
            array->data = a->file.array.data;
            ptoi_npy_close(&a->file);
            code = ptoi_ranked_load_file(s, f, code);
            if (code != HOST_OK) return code;
        } else {
            array->reserved = ptoi_ranked_begins_empty(s, f);
            if (!array_allocate(array, a->input == NULL)) return fail_no_room(s, f);
            if (a->input) ptoi_fill(array, &a->input->fill, s->entry->formals[f].name);
        }
        if (s->options.check) {
            a->oracle = *array;
            a->oracle.shared = false; /* the oracle runs in this process */
            if (!array_allocate(&a->oracle, false)) return fail_no_room(s, f);
            if (array->bytes > 0) memcpy(a->oracle.data, array->data, (size_t)array->bytes);
        }
    }
    return HOST_OK;
}
