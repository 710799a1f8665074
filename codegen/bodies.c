/* bodies.c - see bodies.h.
 * Idea       a table of the mistakes that are made most: how GCC and how Clang put it, and what we say of it, with a
 *            fix where one is certain.  Any other mistake is said in the compiler's words.
 * Tests      test/lit/sema/bodies.pto, bodies-fixes.pto
 */
#include "bodies.h"
#include "codegen.h"
#include "support/nearest.h"
#include "support/vec.h"
#include "syntax/c_text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 128 };

/* A message of the C compiler about a place in a body. */
struct complaint {
    struct front *front;
    const struct symbol *kernel;
    struct span at;
    const char *text; /* of the compiler, its first line */
    int length;
    char name[NAME_BYTES]; /* what the pattern has taken from it */
};

static const char *text_of(const struct complaint *c) { return source_get(c->front->sources, c->at.file)->text; }

static bool is_same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static const struct symbol *formal_of(const struct complaint *c, const char *name)
{
    for (int i = 0; i < c->kernel->formal_count; i++)
        if (strcmp(c->kernel->formals[i]->name, name) == 0) return c->kernel->formals[i];
    return NULL;
}

/* The name that begins at the place, or that ends before it. */
static void name_at(const struct complaint *c, char *name)
{
    const char *text = text_of(c);
    uint32_t begin = c->at.begin, end = begin;
    while (begin > 0 && c_text_is_word(text[begin - 1])) begin--;
    while (c_text_is_word(text[end])) end++;
    snprintf(name, NAME_BYTES, "%.*s", (int)(end - begin), text + begin);
}

/* The name before the brackets that the place stands at: y of y[i][0]. */
static struct span base_at(const struct complaint *c)
{
    const char *text = text_of(c);
    uint32_t end = c->at.begin;
    const uint32_t first = c->kernel->decl->kernel->body_at.begin;
    while (end > first && (text[end - 1] == ']' || isspace((unsigned char)text[end - 1]))) {
        int depth = 0;
        if (text[end - 1] != ']') {
            end--;
            continue;
        }
        do {
            end--;
            depth += (text[end] == ']') - (text[end] == '[');
        } while (depth > 0 && end > first);
    }
    uint32_t begin = end;
    while (begin > first && c_text_is_word(text[begin - 1])) begin--;
    return (struct span){c->at.file, begin, end};
}

/* ---- what we say ---- */

/* An index that is seen first between brackets was meant in index notation. */
static bool is_index_notation(const struct complaint *c)
{
    const struct span body = c->kernel->decl->kernel->body_at;
    const char *text = text_of(c);
    const char *const end = text + body.end;
    size_t length;
    int depth = 0;
    for (const char *p = text + body.begin; (p = c_text_name(p, end, &length, &depth)) != NULL; p += length)
        if (is_same(c->name, p, length)) return depth > 0 && length < 4;
    return false;
}

static const char *nearest_of_head(const struct complaint *c)
{
    VEC(const char *) names = {0};
    const struct symbol *k = c->kernel;
    for (int i = 0; i < k->formal_count; i++) vec_push(&names, k->formals[i]->name);
    for (int i = 0; i < k->dim_count; i++) vec_push(&names, k->dims[i]->name);
    for (int i = 0; i < k->module->symbol_count; i++)
        if (k->module->symbols[i]->kind == SYM_CONST) vec_push(&names, k->module->symbols[i]->name);
    const char *nearest = nearest_word(c->name, names.data, (int)names.count);
    vec_free(&names);
    return nearest;
}

/* A const that generated code does not declare in the body, because names of this form belong to C. */
static bool say_hidden_const(const struct complaint *c)
{
    const struct symbol *s = NULL;
    if (c->name[0] != '_' || (c->name[1] != '_' && !isupper((unsigned char)c->name[1]))) return false;
    for (int i = 0; i < c->kernel->module->symbol_count && !s; i++)
        if (strcmp(c->kernel->module->symbols[i]->name, c->name) == 0) s = c->kernel->module->symbols[i];
    if (!s || s->kind != SYM_CONST) return false;
    diag_error(c->front->diag, DIAG_E21, c->at, "the const '%s' is no variable in a C body: such a name belongs to C",
               c->name);
    diag_note(c->front->diag, s->decl->name_at, "'%s' is declared here: give it another name", c->name);
    return true;
}

static bool say_unknown(struct complaint *c)
{
    struct diag *d = c->front->diag;
    static const char *const words[] = {"let", "var", "in", "out", "inout", "print", "await"};
    c->at.end = c->at.begin + (uint32_t)strlen(c->name);
    if (say_hidden_const(c)) return true;
    diag_error(d, DIAG_E21, c->at, "unknown name '%s' in the C body of kernel '%s'", c->name, c->kernel->name);
    const char *nearest = nearest_of_head(c);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(c->name, words[i]) == 0) {
            diag_help(d, "'%s' is a word of the language: a C body is written in C", c->name);
            return true;
        }
    if (nearest)
        diag_fix(d, c->at, nearest, "did you mean '%s'?", nearest);
    else if (is_index_notation(c))
        diag_help(d, "a body in index notation begins with '=>'");
    else
        diag_help(d, "a body sees the formals and dimension variables of its kernel, and the consts of its file");
    return true;
}

static bool say_flat(struct complaint *c)
{
    struct diag *d = c->front->diag;
    const struct span base = base_at(c);
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)(base.end - base.begin), text_of(c) + base.begin);
    const struct symbol *formal = formal_of(c, name);
    if (!formal) return false;
    if (formal->type->kind != TYPE_TENSOR) {
        diag_error(d, DIAG_E21, base, "'%s' is a scalar, it has no elements", name);
        return true;
    }
    diag_error(d, DIAG_E21, base, "'%s' is a flat pointer in a C body: one index for all of its %d dimensions", name,
               formal->type->rank);
    if (formal->type->rank == 2)
        diag_help(d, "element (i, j) is %s[i * %s_stride[0] + j * %s_stride[1]]", name, name, name);
    return true;
}

static bool say_read_only(struct complaint *c)
{
    struct diag *d = c->front->diag;
    const char *text = text_of(c);
    const uint32_t first = c->kernel->decl->kernel->body_at.begin;
    uint32_t begin = c->at.begin; /* GCC points at the operator, Clang at the element */
    while (begin > first && text[begin - 1] != ';' && text[begin - 1] != '{' && text[begin - 1] != '(' &&
           text[begin - 1] != ')')
        begin--;
    for (uint32_t p = begin; p <= c->at.begin; p++) {
        if (!c_text_is_word(text[p]) || (p > begin && c_text_is_word(text[p - 1]))) continue;
        uint32_t end = p;
        char name[NAME_BYTES];
        while (c_text_is_word(text[end])) end++;
        snprintf(name, sizeof name, "%.*s", (int)(end - p), text + p);
        const struct symbol *formal = formal_of(c, name);
        if (!formal || formal->dir != DIR_IN) continue;
        diag_error(d, DIAG_E21, (struct span){c->at.file, p, end}, "kernel '%s' writes '%s', which is 'in'",
                   c->kernel->name, name);
        diag_note(d, formal->decl->name_at, "declare it 'inout', or 'out' if no element of it is read");
        return true;
    }
    return false;
}

static bool say_semicolon(struct complaint *c)
{
    struct diag *d = c->front->diag;
    const char *text = text_of(c);
    const uint32_t first = c->kernel->decl->kernel->body_at.begin;
    uint32_t at = c->at.begin;
    while (at > first && isspace((unsigned char)text[at - 1])) at--;
    if (at == c->at.begin && c_text_is_word(text[at]))
        while (c_text_is_word(text[at])) at++;
    const struct span here = {c->at.file, at, at};
    diag_error(d, DIAG_E21, here, "missing ';' in the C body of kernel '%s'", c->kernel->name);
    diag_fix(d, here, ";", "insert ';'");
    return true;
}

static bool say_type(struct complaint *c)
{
    static const char *const types[][2] = {{"f64", "double"},   {"f32", "float"},    {"f16", "_Float16"},
                                           {"i64", "int64_t"},  {"i32", "int32_t"},  {"i16", "int16_t"},
                                           {"i8", "int8_t"},    {"u64", "uint64_t"}, {"u32", "uint32_t"},
                                           {"u16", "uint16_t"}, {"u8", "uint8_t"},   {"bf16", "uint16_t"}};
    struct diag *d = c->front->diag;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(c->name, types[i][0]) == 0) {
            c->at.end = c->at.begin + (uint32_t)strlen(c->name);
            diag_error(d, DIAG_E21, c->at, "'%s' is a type of the language; in a C body it is '%s'", c->name,
                       types[i][1]);
            diag_fix(d, c->at, types[i][1], "write '%s'", types[i][1]);
            return true;
        }
    return false;
}

/* f32 x = ...: GCC may call it an undeclared name. */
static bool say_name_or_type(struct complaint *c) { return say_type(c) || say_unknown(c); }

static bool say_function(struct complaint *c)
{
    struct diag *d = c->front->diag;
    c->at.end = c->at.begin + (uint32_t)strlen(c->name);
    diag_error(d, DIAG_E21, c->at, "unknown function '%s' in the C body of kernel '%s'", c->name, c->kernel->name);
    diag_help(d, "<math.h>, <stdint.h>, <stdio.h> and <string.h> are included; declare any other function in the body");
    return true;
}

static bool say_call(struct complaint *c)
{
    char name[NAME_BYTES];
    name_at(c, name);
    const struct symbol *formal = formal_of(c, *c->name ? c->name : name);
    if (!formal || formal->type->kind != TYPE_TENSOR) return false;
    diag_error(c->front->diag, DIAG_E21, c->at, "an element of '%s' is written with brackets in a C body",
               formal->name);
    diag_help(c->front->diag, "'%s[...]'", formal->name);
    return true;
}

/* a + b of tensors, or x = a. */
static bool say_whole(struct complaint *c)
{
    const char *text = text_of(c);
    const struct span body = c->kernel->decl->kernel->body_at;
    uint32_t begin = c->at.begin, end = c->at.begin;
    while (begin > body.begin && text[begin - 1] != ';' && text[begin - 1] != '{') begin--;
    while (end < body.end && text[end] != ';' && text[end] != '}') end++;
    for (uint32_t p = begin; p < end; p++) {
        if (!c_text_is_word(text[p]) || (p > begin && c_text_is_word(text[p - 1]))) continue;
        uint32_t behind = p;
        char name[NAME_BYTES];
        while (c_text_is_word(text[behind])) behind++;
        snprintf(name, sizeof name, "%.*s", (int)(behind - p), text + p);
        const struct symbol *formal = formal_of(c, name);
        while (text[behind] == ' ') behind++;
        if (!formal || formal->type->kind != TYPE_TENSOR || text[behind] == '[') continue;
        diag_error(c->front->diag, DIAG_E21, (struct span){c->at.file, p, p + (uint32_t)strlen(name)},
                   "'%s' is a pointer in a C body: an element of it is '%s[...]'", name, name);
        return true;
    }
    return false;
}

/* for i in 0 .. n { */
static bool say_for(struct complaint *c)
{
    const char *text = text_of(c);
    uint32_t at = c->at.begin;
    const uint32_t first = c->kernel->decl->kernel->body_at.begin;
    while (at > first && text[at - 1] != ';' && text[at - 1] != '{' && text[at - 1] != '}' && text[at - 1] != '\n')
        at--;
    while (isspace((unsigned char)text[at])) at++;
    if (strncmp(text + at, "for ", 4) != 0 && strncmp(text + at, "if ", 3) != 0 && strncmp(text + at, "while ", 6) != 0)
        return false;
    diag_error(c->front->diag, DIAG_E21, c->at, "a statement of the language in the C body of kernel '%s'",
               c->kernel->name);
    diag_help(c->front->diag, "a C body is written in C: for (int64_t i = 0; i < n; i++) { ... }, if (i < n) { ... }");
    return true;
}

static bool say_declared_twice(struct complaint *c)
{
    const struct symbol *formal = formal_of(c, c->name);
    diag_error(c->front->diag, DIAG_E21, c->at, "'%s' is declared twice in the C body of kernel '%s'", c->name,
               c->kernel->name);
    if (formal) diag_note(c->front->diag, formal->decl->name_at, "it is a formal of the kernel");
    return true;
}

/* let t = 1; */
static bool say_type_or_word(struct complaint *c)
{
    return say_type(c) || ((strcmp(c->name, "let") == 0 || strcmp(c->name, "var") == 0) && say_unknown(c));
}

/* return; */
static bool say_return(struct complaint *c)
{
    const char *text = text_of(c);
    const uint32_t end = c->at.begin + (uint32_t)strlen("return");
    if (strncmp(text + c->at.begin, "return", strlen("return")) != 0) return false;
    c->at.end = end;
    diag_error(c->front->diag, DIAG_E21, c->at, "the C body of kernel '%s' returns no status: 0 is success",
               c->kernel->name);
    diag_fix(c->front->diag, (struct span){c->at.file, end, end}, " 0", "write 'return 0'");
    return true;
}

/* x.size() */
static bool say_member(struct complaint *c)
{
    struct span base = {c->at.file, c->at.begin, c->at.begin};
    const char *text = text_of(c);
    if (text[base.begin] != '.' && base.begin > 0 && text[base.begin - 1] == '.') base.begin--; /* Clang: the member */
    base.end = base.begin;
    while (base.begin > 0 && c_text_is_word(text[base.begin - 1])) base.begin--;
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)(base.end - base.begin), text + base.begin);
    const struct symbol *formal = formal_of(c, name);
    if (!formal || formal->type->kind != TYPE_TENSOR) return false;
    diag_error(c->front->diag, DIAG_E21, base, "'%s' is a pointer in a C body, and has no members", name);
    diag_help(c->front->diag, "an element is '%s[...]', its extents are the dimension variables of '%s'", name,
              c->kernel->name);
    return true;
}

/* x[i, j]: C takes the last alone. */
static bool say_comma(struct complaint *c)
{
    const char *text = text_of(c);
    const uint32_t first = c->kernel->decl->kernel->body_at.begin;
    int depth = 0;
    for (uint32_t at = c->at.begin; at > first && text[at] != ';'; at--) {
        if (text[at] == ')' || text[at] == ']') depth++;
        if ((text[at] != '(' && text[at] != '[') || depth-- > 0) continue;
        c->at.begin = at;
        return text[at] == '[' && say_flat(c);
    }
    return false;
}

/* ---- what the compilers say ---- */

/* `*` takes a name. */
static const struct {
    const char *pattern;
    bool (*say)(struct complaint *c);
} table[] = {
    {"'*' undeclared", say_name_or_type},
    {"use of undeclared identifier '*'", say_name_or_type},
    {"unknown type name '*'", say_type_or_word},
    {"'return' with no value", say_return},
    {"non-void function '*' should return", say_return},
    {"request for member '*' in something not", say_member},
    {"member reference base type", say_member},
    {"subscripted value is neither", say_flat},
    {"subscripted value is not an array", say_flat},
    {"assignment of read-only location", say_read_only},
    {"increment of read-only location", say_read_only},
    {"decrement of read-only location", say_read_only},
    {"read-only variable is not assignable", say_read_only},
    {"expected ';'", say_semicolon},
    {"expected ',' or ';' before", say_semicolon},
    {"expected '(' before", say_for},
    {"expected '(' after", say_for},
    {"implicit declaration of function '*'", say_function},
    {"call to undeclared function '*'", say_function},
    {"called object '*' is not a function", say_call},
    {"called object type", say_call},
    {"invalid operands to binary", say_whole},
    {"incompatible types when", say_whole},
    {"assigning to '", say_whole},
    {"passing '", say_whole},
    {"redeclaration of '*'", say_declared_twice},
    {"redefinition of '*'", say_declared_twice},
    {"'*' redeclared as different kind", say_declared_twice},
};

/* Warnings that are certain mistakes in a body. */
static const struct {
    const char *pattern;
    bool (*say)(struct complaint *c);
} warnings[] = {
    {"left-hand operand of comma expression has no effect", say_comma},
    {"left operand of comma operator has no effect", say_comma},
};

static bool match(struct complaint *c, const char *pattern)
{
    const char *text = c->text, *const end = text + c->length;
    c->name[0] = '\0';
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (text == end || *text++ != *pattern) return false;
            continue;
        }
        const char *name = text;
        while (text < end && c_text_is_word(*text)) text++;
        if (text == name || text - name >= NAME_BYTES) return false;
        snprintf(c->name, sizeof c->name, "%.*s", (int)(text - name), name);
    }
    return true;
}

static bool say_of_warning(struct complaint *c)
{
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        if (match(c, warnings[i].pattern) && warnings[i].say(c)) break;
    return false;
}

/* true: the body is in another language, and what else there is to say of it follows from that. */
static bool say(struct complaint *c)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (match(c, table[i].pattern) && table[i].say(c)) return table[i].say == say_for;
    const char *text = text_of(c);
    c->at.end = c->at.begin;
    while (c_text_is_word(text[c->at.end])) c->at.end++;
    if (c->at.end == c->at.begin) c->at.end++;
    diag_error(c->front->diag, DIAG_E21, c->at, "in the C body of kernel '%s' the C compiler says: %.*s",
               c->kernel->name, c->length, c->text);
    return false;
}

static const struct symbol *kernel_at(const struct module *m, uint32_t offset)
{
    for (int i = 0; i < m->symbol_count; i++)
        for (const struct symbol *k = m->symbols[i]; k && k->kind == SYM_KERNEL; k = k->next_overload) {
            if (!k->decl->kernel->has_body) continue;
            const struct span body = k->decl->kernel->body_at;
            if (body.begin <= offset && offset <= body.end) return k;
        }
    return NULL;
}

static uint32_t offset_of(const struct source *source, long line, long column)
{
    const char *at = source->text;
    for (; line > 1 && *at; line--) {
        const char *end = strchr(at, '\n');
        if (!end) break;
        at = end + 1;
    }
    const size_t length = strcspn(at, "\n");
    return (uint32_t)(at - source->text) + (uint32_t)(column > 0 && (size_t)column <= length + 1 ? column - 1 : 0);
}

/* What follows the kind, if the line goes on with it; else NULL. */
static const char *text_behind(const char *at, const char *kind)
{
    const size_t length = strlen(kind);
    return strncmp(at, kind, length) == 0 ? at + length : NULL;
}

/* "PATH:LINE:COLUMN: error: TEXT", or "fatal error" or "warning" */
static void read_line(struct front *front, const struct checked *checked, const struct symbol **spoilt,
                      const char *line, int length)
{
    for (int i = 0; i < checked->module_count; i++) {
        const struct module *m = checked->modules[i];
        if (!m->ast->items) continue;
        const uint32_t file = m->ast->items->at.file;
        const struct source *source = source_get(front->sources, file);
        const size_t path = strlen(source->path);
        if ((size_t)length <= path + 1 || memcmp(line, source->path, path) != 0 || line[path] != ':') continue;
        char *at;
        const long number = strtol(line + path + 1, &at, 10), column = *at == ':' ? strtol(at + 1, &at, 10) : 0;
        const char *const error = text_behind(at, ": error: "), *const fatal = text_behind(at, ": fatal error: ");
        const char *const text = error ? error : fatal ? fatal : text_behind(at, ": warning: ");
        if (number <= 0 || !text) continue;
        const uint32_t offset = offset_of(source, number, column);
        struct complaint c = {.front = front,
                              .kernel = kernel_at(m, offset),
                              .at = {file, offset, offset + 1},
                              .text = text,
                              .length = (int)(line + length - text)};
        if (c.kernel && c.kernel != *spoilt && (error || fatal ? say(&c) : say_of_warning(&c))) *spoilt = c.kernel;
        return;
    }
}

void bodies_report(struct front *front, const struct checked *checked, const char *log)
{
    const struct symbol *spoilt = NULL;
    for (const char *line = log; *line;) {
        const size_t length = strcspn(line, "\n");
        read_line(front, checked, &spoilt, line, (int)length);
        line += length + (line[length] == '\n');
    }
}

bool bodies_any(const struct checked *checked)
{
    for (int m = 0; m < checked->module_count; m++)
        for (int i = 0; i < checked->modules[m]->symbol_count && !module_is_std(checked->modules[m]); i++)
            for (const struct symbol *k = checked->modules[m]->symbols[i]; k && k->kind == SYM_KERNEL;
                 k = k->next_overload)
                if (k->decl->kernel->has_body && (k->elem_count == 0 || k->instances)) return true;
    return false;
}
