/* target_emit.c - a checked program becomes C and a header.  Tests: fuzz_emit */
#include "codegen.h"
#include "fuzz.h"
#include "sema/sema.h"

void fuzz_stage(struct front *front, uint32_t file)
{
    (void)file;
    const char *const dirs[] = {PTO_FUZZ_SHARE};
    const struct sema_options options = {.import_dirs = dirs, .import_dir_count = 1};
    const struct checked *checked = codegen_check(front, FUZZ_PATH, &options);
    if (diag_error_count(front->diag) > 0) return;
    const struct codegen_options how = {.input = FUZZ_PATH};
    struct strbuf text = {0};
    codegen_c(front, checked, &how, &text);
    strbuf_free(&text);
    if (diag_error_count(front->diag) > 0) return; // what can not be lowered was refused
    codegen_header(front, checked, &how, &text);
    strbuf_free(&text);
}
