/* params.c - see params.h.
 * Tests      test/lit/run/param-defaults.test, test/call/test_call.c
 */
#include "params.h"

void ptoi_param_store(const PTOProgramParam *param, void *record, PTOScalar value)
{
    void *const at = (char *)record + param->at;
    switch (param->type) {
    case PTO_F64: *(double *)at = value.f64; break;
    case PTO_F32: *(float *)at = value.f32; break;
    case PTO_BOOL: *(bool *)at = value.b; break;
    default: *(int64_t *)at = value.i64;
    }
}

int ptoi_params_settle(const PTOProgram *program, void *record, const bool *given, struct host_error *e)
{
    const char *const option = e->is_of_call ? "the argument " : "--set ";
    for (int32_t p = 0; p < program->param_count; p++) {
        const PTOProgramParam *param = &program->params[p];
        if (!param->has_default && !given[p])
            return host_fail(e, HOST_USAGE, "param '%s' has no value: give %s%s=VALUE (%s)", param->name, option,
                             param->name, pto_type_name(param->type));
    }
    const int32_t without = program->derive_params ? program->derive_params(record, given) : -1;
    if (without < 0) return HOST_OK;
    const PTOProgramParam *param = &program->params[without];
    return host_fail(e, HOST_USAGE, "the default of param '%s', %s, has no value: give %s%s=VALUE", param->name,
                     param->derived, option, param->name);
}
