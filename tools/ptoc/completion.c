/* completion.c - ptoc completion: command lines are completed in a shell; ptoc complete: the names of a program that
 * may follow an option.
 * Idea       the scripts know verbs and options from the tables of the command line, and ask `ptoc complete` for the
 *            names of the program that the line has.
 * Owner      nothing.
 * Tests      test/lit/diag/completion.test
 */
#include "codegen.h"
#include "option_values.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_listed;
} verbs[] = {
#define VERB(id, name, operands, summary, text) {name, (const char *)(text) != NULL},
#include "verbs.def"
#undef VERB
};

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name;
    unsigned verbs;
} rows[] = {
#define ROW(name, value, verbs, id, form, help) {name, verbs},
#include "options.def"
#undef ROW
#define OPTION(name, text, value, verbs, help) {"--" text, FOR_##verbs},
#include "host/options.def"
#undef OPTION
};

/* ---- names of a program ---- */

static bool is_scalar(const struct symbol *formal)
{
    const enum type_kind kind = formal->type->kind;
    return kind == TYPE_INT || kind == TYPE_BOOL || kind == TYPE_F32 || kind == TYPE_F64;
}

static void print_formals(const struct symbol *s, const char *option)
{
    for (int i = 0; i < s->formal_count; i++) {
        const struct symbol *f = s->formals[i];
        const bool is_set = strcmp(option, "--set") == 0, is_input = strcmp(option, "--input") == 0,
                   is_output = strcmp(option, "--output") == 0 || strcmp(option, "--expect") == 0;
        if (is_scalar(f) ? is_set : (is_input && f->dir != DIR_OUT) || (is_output && f->dir != DIR_IN))
            printf("%s=\n", f->name);
    }
    if (strcmp(option, "--dim") == 0)
        for (int i = 0; i < s->dim_count; i++) printf("%s=\n", s->dims[i]->name);
}

static void ignore_message(void *nothing, const struct diag_message *m) { (void)nothing, (void)m; }

/* Each on a line, with the `=` that follows. */
int complete_main(const struct options *o)
{
    struct front_session s;
    int result = session_open(&s, o);
    if (result != EXIT_OK) return result;
    diag_set_receiver(s.front.diag, ignore_message, NULL);
    s.sema.only_checks = true;
    const struct checked *checked = codegen_check(&s.front, o->input, &s.sema);
    const struct module *m = checked->modules[0];
    for (int i = 0; i < m->symbol_count; i++) {
        const struct symbol *y = m->symbols[i];
        if (!y->type && y->kind != SYM_ORCH) continue;
        if (y->kind == SYM_PARAM && strcmp(o->topic, "--set") == 0) printf("%s=\n", y->name);
        if (y->kind != SYM_ORCH || !y->decl->orch.exported) continue;
        if (strcmp(o->topic, "--entry") == 0) printf("%s\n", y->name);
        print_formals(y, o->topic);
    }
    session_close(&s);
    return EXIT_OK;
}

/* ---- scripts ---- */

static void print_words(int verb, const char *between)
{
    const char *before = "";
    for (int i = 0; i < COUNT(rows); i++) {
        bool is_repeated = false;
        for (int k = 0; k < i; k++)
            is_repeated |= strcmp(rows[k].name, rows[i].name) == 0 && rows[k].verbs & 1U << verb;
        if (!(rows[i].verbs & 1U << verb) || is_repeated) continue;
        printf("%s%s", before, rows[i].name);
        before = between;
    }
}

static void print_verbs(const char *between)
{
    const char *before = "";
    for (int i = 0; i < VERBS; i++) {
        if (!verbs[i].is_listed) continue;
        printf("%s%s", before, verbs[i].name);
        before = between;
    }
}

/* zsh runs the same function, by its bashcompinit. */
static void print_bash(bool is_zsh)
{
    if (is_zsh) puts("autoload -U +X compinit && compinit; autoload -U +X bashcompinit && bashcompinit");
    puts("_ptoc_words() {\n  case \"$1\" in");
    for (int i = 0; i < VERBS; i++) {
        if (!verbs[i].is_listed) continue;
        printf("  %s) echo \"", verbs[i].name);
        print_words(i, " ");
        puts("\";;");
    }
    puts("  esac\n}");
    puts("_ptoc() {\n"
         "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" verb=build program= w\n"
         "  case \"${COMP_WORDS[1]}\" in");
    printf("  ");
    print_verbs("|");
    puts(") verb=\"${COMP_WORDS[1]}\";;\n  esac\n"
         "  for w in \"${COMP_WORDS[@]:1}\"; do case \"$w\" in *.pto) program=\"$w\";; esac; done\n"
         "  if [ \"$COMP_CWORD\" = 1 ] && [ \"${cur#-}\" = \"$cur\" ]; then");
    printf("    COMPREPLY=($(compgen -W \"");
    print_verbs(" ");
    puts("\" -- \"$cur\") $(compgen -f -- \"$cur\"))\n    return\n  fi\n"
         "  case \"$prev\" in\n"
         "  --set|--input|--output|--expect|--dim|--entry)\n"
         "    [ -n \"$program\" ] && COMPREPLY=($(compgen -W \"$(ptoc complete \"$program\" \"$prev\" 2>/dev/null)\" "
         "-- \"$cur\"))\n"
         "    compopt -o nospace 2>/dev/null\n"
         "    return;;\n"
         "  esac\n"
         "  case \"$cur\" in\n"
         "  -*) COMPREPLY=($(compgen -W \"$(_ptoc_words \"$verb\")\" -- \"$cur\"));;\n"
         "  *) COMPREPLY=($(compgen -f -- \"$cur\"));;\n"
         "  esac\n}\n"
         "complete -F _ptoc ptoc");
}

static void print_fish(void)
{
    puts("function __ptoc_names\n"
         "  set -l words (commandline -opc)\n"
         "  set -l program (string match -- '*.pto' $words)[1]\n"
         "  test -n \"$program\"; and ptoc complete $program $words[-1] 2>/dev/null\n"
         "end");
    for (int i = 0; i < VERBS; i++) {
        if (!verbs[i].is_listed) continue;
        printf("complete -c ptoc -n __fish_use_subcommand -a %s\n", verbs[i].name);
    }
    for (int r = 0; r < COUNT(rows); r++) {
        const char *name = rows[r].name;
        if (strncmp(name, "--", 2) != 0) continue;
        printf("complete -c ptoc -n '__fish_seen_subcommand_from");
        for (int i = 0; i < VERBS; i++)
            if (verbs[i].is_listed && rows[r].verbs & 1U << i) printf(" %s", verbs[i].name);
        printf("' -l %s\n", name + 2);
    }
    puts("for option in set input output expect dim entry\n"
         "  complete -c ptoc -l $option -x -a '(__ptoc_names)'\n"
         "end");
}

int completion_main(const struct options *o)
{
    if (strcmp(o->topic, "bash") == 0 || strcmp(o->topic, "zsh") == 0)
        print_bash(o->topic[0] == 'z');
    else if (strcmp(o->topic, "fish") == 0)
        print_fish();
    else
        return usage_error("there is no completion for '%s'; there are bash, zsh and fish", o->topic);
    return EXIT_OK;
}
