/* An object whose kernels are made for a processor that does not exist yet. */
#include <pto/pto_program.h>
#include <stdlib.h>

static PTOStatus run(PTORuntime *rt, const PTOCall *call)
{
    (void)rt, (void)call;
    abort();
}
static const PTOEntry entries[] = {{.name = "f", .run = run}};
PTO_API const PTOProgram pto_program = {.layout = PTO_TABLE_LAYOUT,
                                        .fingerprint = PTO_INLINED_FINGERPRINT,
                                        .library = &pto_library_,
                                        .entries = entries,
                                        .entry_count = 1,
                                        .cpu = "v9"};
