/* cpp_names.c - names of C++, for what a C++ compiler reads too: headers, and kernels that are printed as AscendC.
 * Invariant  a name is no word of C++; in AscendC it is none that the printed file uses everywhere.
 * Tests      test/lit/codegen/ascendc.pto, test/lit/codegen/ascendc-names.pto, test/lit/codegen/header-cpp.pto
 */
#include "emit.h"
#include <string.h>

/* clang-format off */
static const char *const keywords[] = { /* those that are none of C */
    "alignas", "and", "and_eq", "asm", "bitand", "bitor", "catch", "char16_t", "char32_t", "char8_t", "class",
    "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr", "constinit",
    "decltype", "delete", "dynamic_cast", "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept",
    "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast",
    "requires", "static_cast", "template", "this", "throw", "try", "typeid", "typename", "using", "virtual", "xor",
    "xor_eq",
};
static const char *const of_ascendc[] = {
    "AscendC", "Arguments", "BYTES", "GM_ADDR", "TILE", "bfloat16_t", "compute", "final", "half", "override", "pto",
    "run",
};
/* clang-format on */

static bool is_one_of(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], name) == 0) return true;
    return false;
}

bool cpp_is_keyword(const char *name) { return is_one_of(name, keywords, sizeof keywords / sizeof *keywords); }

bool cpp_is_word(const char *name)
{
    return cpp_is_keyword(name) || is_one_of(name, of_ascendc, sizeof of_ascendc / sizeof *of_ascendc);
}

const char *cpp_name(struct emitter *e, const char *wanted)
{
    return names_take(&e->names, cpp_is_word(wanted) ? arena_printf(e->mem, "%s_", wanted) : wanted);
}
