/* target_check.c - the checker, with the modules of std/ to import.  Tests: fuzz_check */
#include "fuzz.h"
#include "codegen.h"

void fuzz_stage(struct front *front, uint32_t file)
{
    (void)file; // the checker finds the text by its path, which is read already
    const char *const dirs[] = {PTO_FUZZ_SHARE};
    const struct sema_options options = {.import_dirs = dirs, .import_dir_count = 1, .only_checks = true};
    codegen_check(front, FUZZ_PATH, &options);
}
