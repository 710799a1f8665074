/* option_values.c - see option_values.h. */
#include "option_values.h"
#include "codegen.h"
#include "support/nearest.h"
#include "toolchain.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

const char *const option_emit_names[EMIT_COUNT] = {
#define EMIT(id, name, function) name,
#include "emits.def"
#undef EMIT
};

/* Everything an option may do goes through here, so that every complaint looks the same. */
int usage_error(const char *format, ...)
{
    va_list args;
    fputs("ptoc: error: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\n", stderr);
    return EXIT_USAGE;
}

/* Digits as the language has them, and K, M or G behind. */
bool option_size(const char *text, int64_t *bytes)
{
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *p = is_hex ? text + 2 : text, *digits = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    char plain[32];
    size_t count = 0;
    for (; strchr(digits, *p) != NULL || (*p == '_' && count > 0 && p[-1] != '_' && p[1] != '_'); p++) {
        if (*p == '\0' || count + 1 == sizeof plain) break;
        if (*p != '_') plain[count++] = *p;
    }
    plain[count] = '\0';
    if (count == 0 || p[-1] == '_') return false;
    int shift = *p == '\0'               ? 0
                : p[1] != '\0'           ? -1
                : *p == 'K' || *p == 'k' ? 10
                : *p == 'M' || *p == 'm' ? 20
                : *p == 'G' || *p == 'g' ? 30
                                         : -1;
    errno = 0;
    intmax_t value = strtoimax(plain, NULL, is_hex ? 16 : 10);
    if (shift < 0 || errno != 0 || value <= 0 || value > INT64_MAX >> shift) return false;
    *bytes = (int64_t)value << shift;
    return true;
}

bool option_is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return length > 0;
}

int option_set_emit(struct options *o, const char *text)
{
    for (int i = 0; i < COUNT(option_emit_names); i++)
        if (strcmp(option_emit_names[i], text) == 0) {
            o->emit = (enum emit_kind)i;
            return EXIT_OK;
        }
    const char *nearest = nearest_word(text, option_emit_names, COUNT(option_emit_names));
    if (nearest != NULL) return usage_error("--emit can not make '%s'; did you mean '%s'?", text, nearest);
    return usage_error("--emit can not make '%s'; 'ptoc --help' lists the kinds", text);
}

static int choose(const char *option, const char *text, const char *const *choices, int count, int *chosen)
{
    for (int i = 0; i < count; i++)
        if (strcmp(choices[i], text) == 0) {
            *chosen = i;
            return EXIT_OK;
        }
    char all[256] = "";
    for (int i = 0; i + 1 < count; i++) {
        const size_t at = strlen(all);
        snprintf(all + at, sizeof all - at, "%s%s", i > 0 ? ", " : "", choices[i]);
    }
    return usage_error("%s takes %s or %s, not '%s'", option, all, choices[count - 1], text);
}

static bool set_plan(struct memory_plan *plan, const char *word)
{
    static const struct {
        const char *name;
        enum plan_kind kind;
    } plans[] = {{"ring", PLAN_RING}, {"free", PLAN_FREE}, {"min", PLAN_MIN}};
    if (strcmp(word, "apart") == 0) {
        plan->is_apart = true;
        return true;
    }
    for (int i = 0; i < COUNT(plans); i++)
        if (strcmp(plans[i].name, word) == 0) {
            plan->kind = plans[i].kind;
            return true;
        }
    plan->kind = PLAN_BUDGET;
    return strncmp(word, "budget=", 7) == 0 && option_size(word + 7, &plan->budget);
}

/* Words with commas. */
int option_set_cpu(struct options *o, const char *text)
{
    static const char *const levels[] = {"base", "v3", "v4"};
    o->cpu = NULL;
    if (strcmp(text, "native") == 0) {
        o->cpu = toolchain_level_of_machine();
        return EXIT_OK;
    }
    for (int i = 0; i < COUNT(levels) && o->cpu == NULL; i++)
        if (strcmp(text, levels[i]) == 0) o->cpu = levels[i];
    return o->cpu ? EXIT_OK : usage_error("--cpu takes native, base, v3 or v4, not '%s'", text);
}

int option_set_plan(struct options *o, const char *text)
{
    char word[64];
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (length >= sizeof word) break;
        memcpy(word, at, length);
        word[length] = '\0';
        if (!set_plan(&o->memory, word)) break;
        at += length;
        if (!*at) return EXIT_OK;
    }
    return usage_error("--plan takes ring, free, min or budget=BYTES, and apart, not '%s'", text);
}

static int refuse_dump(const char *word, size_t length)
{
    char words[200] = "";
    for (int i = 0; i < DUMP_COUNT; i++) {
        const char *before = i == 0 ? "" : i + 1 < DUMP_COUNT ? ", " : " and ";
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", before, codegen_dump_words[i]);
    }
    return usage_error("--dump takes %s, with commas, not '%.*s'", words, (int)length, word);
}

/* Words with commas; `ir` may be ir:PASS. */
int option_set_dumps(struct options *o, const char *text)
{
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        unsigned bit = 0;
        for (int i = 0; i < DUMP_COUNT; i++)
            if (strlen(codegen_dump_words[i]) == length && strncmp(codegen_dump_words[i], at, length) == 0)
                bit = 1U << i;
        if (bit == 0 && length > 3 && strncmp(at, "ir:", 3) == 0) {
            char *pass = strndup(at + 3, length - 3);
            const bool is_known = codegen_has_pass(pass);
            free(o->dump_pass);
            o->dump_pass = pass;
            if (!is_known) return usage_error("--dump=ir: has no pass '%s'; see docs/architecture.md", pass);
            bit = 1U << DUMP_IR;
        }
        if (bit == 0) return refuse_dump(at, length);
        o->dumps |= bit;
        at += length;
        if (*at == '\0') return EXIT_OK;
    }
}

int option_set_color(struct options *o, const char *text)
{
    static const char *const choices[] = {"auto", "always", "never"};
    int chosen = 0, result = choose("--color", text, choices, 3, &chosen);
    o->color = chosen == 0 ? DIAG_COLOR_AUTO : chosen == 1 ? DIAG_COLOR_ALWAYS : DIAG_COLOR_NEVER;
    return result;
}

int option_set_diag(struct options *o, const char *text)
{
    static const char *const choices[] = {"text", "json", "sarif"};
    int chosen = 0, result = choose("--diag", text, choices, 3, &chosen);
    o->diag_form = (enum diag_form)chosen;
    return result;
}

int option_set_format(struct options *o, const char *text)
{
    static const char *const choices[] = {"dot", "json", "text", "ti"};
    int chosen = 0;
    o->graph_format = text;
    return choose("--format", text, choices, 4, &chosen);
}

bool option_is_warning(int id) { return diag_id_name((enum diag_id)id)[0] == 'W'; }

/* -W... in all its forms. */
int option_set_warning(struct options *o, const char *arg)
{
    const char *text = arg + 2;
    bool on = strncmp(text, "no-", 3) != 0;
    const char *name = on ? text : text + 3;
    if (strcmp(name, "error") == 0) {
        o->warnings_are_errors = on;
        return EXIT_OK;
    }
    bool is_known = strcmp(name, "all") == 0;
    for (int i = 0; i < DIAG_COUNT; i++) {
        if (!option_is_warning(i) || (strcmp(name, "all") != 0 && strcmp(name, diag_id_name((enum diag_id)i)) != 0))
            continue;
        o->warning_off[i] = !on;
        is_known = true;
    }
    for (int i = 0; i < DIAG_COUNT && !is_known; i++)
        if (strcmp(name, diag_id_name((enum diag_id)i)) == 0)
            return usage_error("'%s': %s is an error, which cannot be turned off", arg, name);
    return is_known ? EXIT_OK
                    : usage_error("unknown warning '%s'; warnings are W01 to %s, as in -Wno-W03, and -Werror", arg,
                                  diag_id_name((enum diag_id)(DIAG_COUNT - 1)));
}
