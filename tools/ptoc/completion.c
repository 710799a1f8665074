/* completion.c - ptoc completion: command lines are completed in a shell; ptoc complete: the names of a program that
 * may follow an option.
 * Idea       the scripts know verbs and options from the tables of the command line, and ask `ptoc complete` for the
 *            names of the program that the line has.
 * Owner      nothing.
 * Tests      test/lit/diag/completion.test
 */
#include "codegen.h"
#include "option_values.h"
#include "run_lists.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *summary;
    bool is_listed;
} verbs[] = {
#define VERB(id, name, operands, summary, text) {name, summary, (const char *)(text) != NULL},
#include "verbs.def"
#undef VERB
};

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name;
    unsigned verbs;
    const char *help; /* NULL: that of another row is for it, too */
} rows[] = {
#define ROW(name, value, verbs, id, form, help) {name, verbs, help},
#include "options.def"
#undef ROW
#define OPTION(name, text, value, verbs, help) {"--" text, FOR_##verbs, help},
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

/* Is the row one of the verb, and the first of its name? */
static bool is_of(int row, int verb)
{
    for (int k = 0; k < row; k++)
        if (strcmp(rows[k].name, rows[row].name) == 0 && rows[k].verbs & 1U << verb) return false;
    return rows[row].verbs & 1U << verb;
}

static void print_words(int verb, const char *between)
{
    const char *before = "";
    for (int i = 0; i < COUNT(rows); i++) {
        if (!is_of(i, verb)) continue;
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

static void print_bash(void)
{
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

/* In single quotes of a shell.  stop: a character that the shell would take for the end of a name, or 0. */
static void print_quoted(const char *text, char stop)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            printf(*text == stop ? "\\%c" : "%c", *text);
}

/* 'name:help' of zsh. */
static void print_described(const char *name, const char *help)
{
    fputs(" '", stdout);
    print_quoted(name, ':');
    if (help) putchar(':');
    if (help) print_quoted(help, 0);
    putchar('\'');
}

/* A function of a folder of $fpath, or a text to be evaluated. */
static void print_zsh(void)
{
    puts("#compdef ptoc\n"
         "_ptoc() {\n"
         "  local -a verbs options names\n"
         "  local verb=build program=${words[(R)*.pto]} before=${words[CURRENT-1]}");
    printf("  verbs=(");
    for (int i = 0; i < VERBS; i++)
        if (verbs[i].is_listed) print_described(verbs[i].name, verbs[i].summary);
    puts(")\n  (( ${verbs[(I)${words[2]}:*]} )) && verb=${words[2]}\n"
         "  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then\n"
         "    _describe verb verbs\n    _files\n    return\n  fi\n"
         "  case $before in\n"
         "  --set|--input|--output|--expect|--dim|--entry)\n"
         "    [[ -n $program ]] && names=(${(f)\"$(ptoc complete $program $before 2>/dev/null)\"})\n"
         "    compadd -S '' -a names\n    return;;\n"
         "  esac\n"
         "  if [[ $PREFIX != -* ]]; then\n    _files\n    return\n  fi\n"
         "  case $verb in");
    for (int i = 0; i < VERBS; i++) {
        if (!verbs[i].is_listed) continue;
        printf("  %s) options=(", verbs[i].name);
        for (int r = 0; r < COUNT(rows); r++)
            if (is_of(r, i)) print_described(rows[r].name, rows[r].help);
        puts(");;");
    }
    puts("  esac\n"
         "  _describe -o option options\n"
         "}\n"
         "if [[ $funcstack[1] == _ptoc ]]; then _ptoc \"$@\"; else compdef _ptoc ptoc; fi");
}

static void print_fish_help(const char *help)
{
    if (!help) return;
    fputs(" -d '", stdout);
    print_quoted(help, 0);
    putchar('\'');
}

static void print_fish(void)
{
    puts("function __ptoc_names\n"
         "  set -l words (commandline -opc)\n"
         "  set -l programs (string match -- '*.pto' $words)\n"
         "  test -n \"$programs[1]\"; and ptoc complete $programs[1] $words[-1] 2>/dev/null\n"
         "end");
    for (int i = 0; i < VERBS; i++) {
        if (!verbs[i].is_listed) continue;
        printf("complete -c ptoc -n __fish_use_subcommand -a %s", verbs[i].name);
        print_fish_help(verbs[i].summary);
        putchar('\n');
    }
    for (int r = 0; r < COUNT(rows); r++) {
        const char *name = rows[r].name;
        bool is_first = false;
        for (int i = 0; i < VERBS; i++) is_first |= verbs[i].is_listed && is_of(r, i);
        if (!is_first) continue;
        printf("complete -c ptoc -n '__fish_seen_subcommand_from");
        for (int i = 0; i < VERBS; i++)
            if (verbs[i].is_listed && is_of(r, i)) printf(" %s", verbs[i].name);
        printf("' %s %s", strncmp(name, "--", 2) == 0 ? "-l" : "-s", name + (name[1] == '-') + 1);
        print_fish_help(rows[r].help);
        putchar('\n');
    }
    puts("for option in set input output expect dim entry\n"
         "  complete -c ptoc -l $option -x -a '(__ptoc_names)'\n"
         "end");
}

int completion_main(const struct options *o)
{
    if (strcmp(o->topic, "bash") == 0)
        print_bash();
    else if (strcmp(o->topic, "zsh") == 0)
        print_zsh();
    else if (strcmp(o->topic, "fish") == 0)
        print_fish();
    else
        return usage_error("there is no completion for '%s'; there are bash, zsh and fish", o->topic);
    return EXIT_OK;
}
