/* params.h - the record of the params of one call. */
#ifndef PTO_HOST_PARAMS_H
#define PTO_HOST_PARAMS_H
#include "fail.h"
#include <pto/pto_program.h>
#include <string.h>

/* The defaults, into memory of program->param_bytes. */
static inline void ptoi_params_init(const PTOProgram *program, void *record)
{
    if (program->defaults) memcpy(record, program->defaults, (size_t)program->param_bytes);
}
void ptoi_param_store(const PTOProgramParam *param, void *record, PTOScalar value);
/* Every param has a value: the one given, a default, or one that follows from others.  Returns an exit code. */
int ptoi_params_settle(const PTOProgram *program, void *record, const bool *given, struct host_error *e);
#endif
