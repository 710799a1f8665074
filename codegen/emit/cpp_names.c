/* cpp_names.c - names of C++, for kernels that are printed as AscendC.
 * Invariant  a name is no word of C++, and none that the printed file uses everywhere.
 * Tests      test/lit/codegen/ascendc.pto, test/lit/codegen/ascendc-names.pto
 */
#include "emit.h"
#include <string.h>

bool cpp_is_word(const char *name)
{
    static const char *const words[] = {
        "alignas",   "and",         "and_eq",       "asm",       "bitand",    "bitor",
        "catch",     "class",       "compl",        "concept",   "constexpr", "const_cast",
        "decltype",  "delete",      "dynamic_cast", "explicit",  "export",    "final",
        "friend",    "half",        "mutable",      "namespace", "new",       "noexcept",
        "not",       "not_eq",      "nullptr",      "operator",  "or",        "or_eq",
        "override",  "private",     "protected",    "pto",       "public",    "reinterpret_cast",
        "requires",  "static_cast", "template",     "this",      "throw",     "try",
        "typeid",    "typename",    "using",        "virtual",   "xor",       "xor_eq",
        "compute",   "run",         "AscendC",      "Arguments", "GM_ADDR",   "BYTES",
        "TILE",      "bfloat16_t",  "char8_t",      "char16_t",  "char32_t",  "consteval",
        "constinit", "co_await",    "co_return",    "co_yield",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0) return true;
    return false;
}

const char *cpp_name(struct emitter *e, const char *wanted)
{
    return names_take(&e->names, cpp_is_word(wanted) ? arena_printf(e->mem, "%s_", wanted) : wanted);
}
