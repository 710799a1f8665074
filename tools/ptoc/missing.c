/* missing.c - kernels that no C file, object or library defines: the linker's message, in the words of the program.
 * Idea       the linker alone knows what an archive or -lfoo holds, so it is asked first; a name that it calls
 *            undefined is looked for among the kernels without body, and the message stands at the kernel's
 *            declaration.
 * Invariant  a message that is not about a kernel is shown as the linker printed it.
 * Tests      test/lit/run/e12-missing.test
 */
#include "build.h"
#include "codegen.h"
#include "support/arena.h"
#include <ctype.h>
#include <string.h>

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* The line, if it says that the symbol is undefined: all of GNU ld, gold, lld and mold use the word. */
static bool says_undefined(const char *line, size_t length, const char *symbol)
{
    const char *end = line + length, *at = memmem(line, length, "undefined", 9);
    size_t n = strlen(symbol);
    for (; at && (at = memmem(at, (size_t)(end - at), symbol, n)) != NULL; at++)
        if (!is_word(at[-1]) && (at + n == end || !is_word(at[n]))) return true;
    return false;
}

static bool is_missing(const char *log, const char *symbol)
{
    for (const char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        if (says_undefined(line, length, symbol)) return true;
        line += length + (line[length] == '\n');
    }
    return false;
}

static void report(struct diag *d, const struct symbol *kernel, const char *symbol)
{
    diag_error(d, DIAG_E12, kernel->decl->name_at, "kernel '%s' has no implementation: no C function '%s' was found",
               kernel->name, symbol);
    diag_help(d, "give ptoc a C file, object or library that defines it ('ptoc build --emit=header' prints its "
                 "prototype; in C++ it is extern \"C\"), or write a C body instead of the ';'");
}

/* The linker reports the undefined names that are no kernels. */
static int count_undefined(const char *log)
{
    int count = 0;
    for (const char *at = log; (at = strstr(at, "undefined")) != NULL; at += 9) count++;
    return count;
}

static int count_of_symbol(const char *log, const char *symbol)
{
    int count = 0;
    for (const char *line = log; *line;) {
        size_t length = strcspn(line, "\n");
        count += says_undefined(line, length, symbol);
        line += length + (line[length] == '\n');
    }
    return count;
}

/* A kernel and its instances.  How many are missing; *left: the undefined names that no kernel explains. */
static int report_if_missing(struct diag *d, const struct symbol *kernel, const char *log, int *left)
{
    int found = 0;
    for (const struct symbol *k = kernel->instances; k; k = k->next_instance)
        found += report_if_missing(d, k, log, left);
    const char *symbol = kernel->kind == SYM_KERNEL && !kernel->elem_count ? codegen_kernel_symbol(kernel) : NULL;
    if (!symbol || !is_missing(log, symbol)) return found;
    report(d, kernel, symbol);
    *left -= count_of_symbol(log, symbol);
    return found + 1;
}

bool missing_report(const struct options *o, const char *log)
{
    struct front_session s;
    int left = count_undefined(log), found = 0;
    if (left > 0 && session_open(&s, o) == EXIT_OK) {
        /* said before */
        for (int i = 0; i < DIAG_COUNT; i++) diag_set_warning_enabled(s.front.diag, (enum diag_id)i, false);
        s.sema.only_checks = true;
        const struct checked *checked = codegen_check(&s.front, o->input, &s.sema);
        for (int m = 0; m < checked->module_count; m++)
            for (int i = 0; i < checked->modules[m]->symbol_count; i++)
                for (const struct symbol *k = checked->modules[m]->symbols[i]; k; k = k->next_overload)
                    found += report_if_missing(s.front.diag, k, log, &left);
        session_close(&s);
    }
    return found > 0 && left <= 0;
}
