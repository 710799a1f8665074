/* mangle.c - C names for the user's names.
 * Idea       a name stays as it is unless C, the runtime or the generated file uses it: then `_` is appended, and a
 *            number if that name is taken too.
 * Invariant  two names that are visible at one place differ; the same program gives the same names.
 * Tests      test/lit/codegen/mangled-names.pto
 */
#include "mangle.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Sorted: searched by halves.  Names of libc are those of the headers that generated C includes, and the builtin
 * functions that C compilers know without a header. */
/* clang-format off */
static const char *const reserved[] = {
    "BUFSIZ", "EOF", "FILENAME_MAX", "FLT_EVAL_METHOD", "FOPEN_MAX", "FP_INFINITE", "FP_NAN", "FP_NORMAL",
    "FP_SUBNORMAL", "FP_ZERO", "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "L_ctermid", "L_tmpnam",
    "MATH_ERREXCEPT", "MATH_ERRNO", "NAN", "NULL", "PTRDIFF_MAX", "PTRDIFF_MIN", "P_tmpdir", "SEEK_CUR", "SEEK_END",
    "SEEK_SET", "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN", "SIZE_MAX", "TMP_MAX", "WCHAR_MAX", "WCHAR_MIN", "WINT_MAX",
    "WINT_MIN", "abort", "abs", "acos", "acosh", "alignas", "alignof", "alloca", "and", "args", "asin", "asinh",
    "asm", "assert", "atan", "atan2", "atanh", "auto", "bcmp", "bcopy", "bool", "break", "bzero", "calloc", "carg",
    "case", "cbrt", "ceil", "char", "cimag", "conj", "const", "constexpr", "continue", "copysign", "cos", "cosh",
    "cpow", "creal", "csqrt", "default", "defined", "do", "double", "double_t", "dprintf", "drem", "else", "enum",
    "environ", "erf", "erfc", "errno", "exit", "exp", "exp10", "exp2", "expm1", "extern", "fabs", "false", "fdim",
    "ffs", "float", "float_t", "floor", "fma", "fmax", "fmin", "fmod", "for", "fpclassify", "fprintf", "fputc",
    "fputs", "free", "frexp", "fscanf", "fwrite", "gamma", "gets", "goto", "hypot", "if", "ilogb", "index",
    "inline", "int", "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isfinite", "isgraph", "isgreater",
    "isgreaterequal", "isinf", "isless", "islessequal", "islessgreater", "islower", "isnan", "isnormal", "isprint",
    "ispunct", "isspace", "isunordered", "isupper", "isxdigit", "j0", "j1", "jn", "labs", "ldexp", "lgamma",
    "linux", "llabs", "llrint", "llround", "log", "log10", "log1p", "log2", "logb", "long", "lrint", "lround",
    "main", "malloc", "math_errhandling", "max_align_t", "memccpy", "memchr", "memcmp", "memcpy", "memmem",
    "memmove", "mempcpy", "memset", "modf", "nan", "nearbyint", "nextafter", "nexttoward", "noreturn", "nullptr",
    "offsetof", "optarg", "pow", "pow10", "printf", "ptrdiff_t", "putchar", "puts", "register", "remainder",
    "remove", "remquo", "rename", "restrict", "return", "rindex", "rint", "round", "rt", "scalb", "scalbln",
    "scalbn", "scanf", "short", "signbit", "signed", "signgam", "significand", "sin", "sincos", "sinh", "sites",
    "size_t", "sizeof", "snprintf", "sprintf", "sqrt", "sscanf", "static", "static_assert", "stderr", "stdin",
    "stdout", "stpcpy", "stpncpy", "strcasecmp", "strcat", "strchr", "strcmp", "strcpy", "strcspn", "strdup",
    "strerror", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strndup", "strpbrk", "strrchr", "strspn",
    "strstr", "strtok", "struct", "strxfrm", "switch", "tan", "tanh", "tempnam", "tgamma", "thread_local", "time",
    "tmpfile", "tmpnam", "toascii", "tolower", "toupper", "true", "trunc", "typedef", "typeof", "uint", "ulong",
    "union", "unix", "unsigned", "ushort", "va_list", "vfprintf", "void", "volatile", "vprintf", "vscanf",
    "vsnprintf", "vsprintf", "wchar_t", "while", "y0", "y1", "yn",
};
/* clang-format on */

static int compare(const void *a, const void *b) { return strcmp(a, *(const char *const *)b); }

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    return n > s && strcmp(name + n - s, suffix) == 0;
}

/* `sinf` and `sinl` are libc's where `sin` is. */
static bool is_math_variant(const char *name)
{
    size_t n = strlen(name);
    char stem[24];
    if (n < 2 || n > sizeof stem || (name[n - 1] != 'f' && name[n - 1] != 'l')) return false;
    memcpy(stem, name, n - 1);
    stem[n - 1] = '\0';
    return bsearch(stem, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved, compare) != NULL;
}

bool mangle_is_reserved(const char *name)
{
    if (name[0] == '_' || strncmp(name, "pto", 3) == 0 || strncmp(name, "PTO", 3) == 0) return true;
    if (strncmp(name, "M_", 2) == 0 || strncmp(name, "FP_", 3) == 0) return true;
    if (has_suffix(name, "_t") && (strncmp(name, "int", 3) == 0 || strncmp(name, "uint", 4) == 0))
        return true; /* int64_t and its family */
    if ((strncmp(name, "INT", 3) == 0 || strncmp(name, "UINT", 4) == 0) && strchr(name, '_'))
        return true;                                                           /* INT64_MAX and its family */
    if (strcmp(name, "ret") == 0 || strcmp(name, "program") == 0) return true; /* of the generated file itself */
    return bsearch(name, reserved, sizeof reserved / sizeof *reserved, sizeof *reserved, compare) ||
           is_math_variant(name);
}

bool mangle_is_c_keyword(const char *name)
{
    static const char *const words[] = {
        "auto", "bool",     "break",    "case",     "char",  "const",    "continue", "default", "do",     "double",
        "else", "enum",     "extern",   "false",    "float", "for",      "goto",     "if",      "inline", "int",
        "long", "register", "restrict", "return",   "short", "signed",   "sizeof",   "static",  "struct", "switch",
        "true", "typedef",  "union",    "unsigned", "void",  "volatile", "while",
    };
    return (name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]))) ||
           bsearch(name, words, sizeof words / sizeof *words, sizeof *words, compare);
}

bool mangle_is_c_identifier(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_') return false;
    return true;
}

const char *mangle_plain(struct arena *mem, const char *name)
{
    char *plain = arena_copy(mem, name, strlen(name)), *to = plain;
    for (const char *p = name; *p; p++)
        if (*p != '>') *to++ = isalnum((unsigned char)*p) ? *p : '_';
    *to = '\0';
    return plain;
}

static uint64_t hash_of(const char *name)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *name; name++) h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return h ^ h >> 29;
}

/* The index of a name in use, from 1, or 0. */
static size_t find(const struct names *n, const char *name)
{
    if (n->bucket_count == 0) return 0;
    uint64_t hash = hash_of(name);
    for (size_t i = n->bucket[hash & (n->bucket_count - 1)]; i != 0; i = n->active.data[i - 1].older) {
        const struct name_in_use *use = &n->active.data[i - 1];
        if (use->hash == hash && use->text && strcmp(use->text, name) == 0) return i;
    }
    return 0;
}

bool names_is_taken(const struct names *n, const char *name) { return find(n, name) != 0; }

static void put_in_bucket(struct names *n, size_t index)
{
    size_t *newest = &n->bucket[n->active.data[index].hash & (n->bucket_count - 1)];
    n->active.data[index].older = *newest;
    *newest = index + 1;
}

static void grow(struct names *n)
{
    n->bucket_count = n->bucket_count ? n->bucket_count * 4 : 256;
    n->bucket = arena_array(n->mem, size_t, n->bucket_count);
    for (size_t i = 0; i < n->active.count; i++) put_in_bucket(n, i);
}

void names_force(struct names *n, const char *name)
{
    vec_push(&n->active, ((struct name_in_use){.text = name, .hash = hash_of(name)}));
    if (n->active.count > n->bucket_count)
        grow(n);
    else
        put_in_bucket(n, n->active.count - 1);
}

bool names_force_free(struct names *n, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (names_is_taken(n, names[i])) return false;
    for (int i = 0; i < count; i++) names_force(n, names[i]);
    return true;
}

size_t names_mark(const struct names *n) { return n->active.count; }

void names_close(struct names *n, size_t mark)
{
    for (; n->active.count > mark; n->active.count--) {
        const struct name_in_use *last = &n->active.data[n->active.count - 1];
        n->bucket[last->hash & (n->bucket_count - 1)] = last->older;
        if (last->base) n->active.data[last->base - 1].last_numbered = last->numbered_before;
    }
}

void names_free_first(struct names *n, size_t count)
{
    for (size_t i = 0; i < count; i++) n->active.data[i].text = NULL;
}

void names_free(struct names *n) { vec_free(&n->active); }

/* Names of whole families, such as M_PI, INT64_MAX, pto_x, which a suffix cannot make safe, get the prefix `u_`. */
static bool is_reserved_by_prefix(struct names *n, const char *name)
{
    return mangle_is_reserved(name) && mangle_is_reserved(arena_printf(n->mem, "%s_", name));
}

const char *names_take(struct names *n, const char *wanted)
{
    const char *front = is_reserved_by_prefix(n, wanted) ? "u_" : "";
    const char *name = arena_printf(n->mem, "%s%s%s", front, wanted, !*front && mangle_is_reserved(wanted) ? "_" : "");
    /* A number may make a name of a family, as in M_2; then all of its numbered names are. */
    if (!*front && mangle_is_reserved(arena_printf(n->mem, "%s_2", wanted))) front = "u_";
    const size_t base = find(n, name), before = base ? n->active.data[base - 1].last_numbered : 0;
    int number = before ? n->active.data[before - 1].number : 1;
    while (mangle_is_reserved(name) || names_is_taken(n, name))
        name = arena_printf(n->mem, "%s%s_%d", front, wanted, ++number);
    names_force(n, name);
    if (base) {
        struct name_in_use *use = &n->active.data[n->active.count - 1];
        use->base = base;
        use->number = number;
        use->numbered_before = before;
        n->active.data[base - 1].last_numbered = n->active.count;
    }
    return name;
}
