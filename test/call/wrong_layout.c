/* An object of a later version, whose code must not run. */
#include <pto/pto_program.h>
#include <stdlib.h>

static PTOStatus run(PTORuntime *rt, const PTOCall *call)
{
    (void)rt, (void)call;
    abort();
}
static const PTOEntry entries[] = {{.name = "f", .run = run}};
PTO_API const PTOProgram pto_program = {
    .layout = PTO_TABLE_LAYOUT + 1, .entries = entries, .entry_count = 1, .library = &pto_library_};
