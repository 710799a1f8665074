/* params.h - the record of the params of one call. */
#ifndef PTO_HOST_PARAMS_H
#define PTO_HOST_PARAMS_H
#include <pto/pto_program.h>
#include <stdlib.h>
#include <string.h>

/* A record of the defaults, which the caller frees; NULL: no memory. */
static inline void *ptoi_params_new(const PTOProgram *program)
{
    void *record = calloc(1, (size_t)program->param_bytes + 1);
    if (record && program->defaults) memcpy(record, program->defaults, (size_t)program->param_bytes);
    return record;
}

static inline void ptoi_param_store(const PTOProgramParam *param, void *record, PTOScalar value)
{
    void *const at = (char *)record + param->at;
    switch (param->type) {
    case PTO_F64: *(double *)at = value.f64; break;
    case PTO_F32: *(float *)at = value.f32; break;
    case PTO_BOOL: *(bool *)at = value.b; break;
    default: *(int64_t *)at = value.i64;
    }
}
#endif
