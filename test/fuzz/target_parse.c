/* target_parse.c - lexer and parser, and the dumps of what they made.  Tests: fuzz_parse */
#include "fuzz.h"

void fuzz_stage(struct front *front, uint32_t file)
{
    tokens_dump(front, file, fuzz_sink());
    ast_dump(front, parse_file(front, file), fuzz_sink());
}
