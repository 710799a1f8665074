/* main.c - runs cases: `check --help`. */
#include "cases.h"
#include "memory_model.h"
#include "relaxations.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct check_case *const cases[] = {
#define CASE(name) &check_case_##name,
#include "cases.def"
#undef CASE
};
enum { CASES = sizeof cases / sizeof *cases };

static const struct check_case *find_case(const char *name)
{
    for (int i = 0; i < CASES; i++)
        if (strcmp(cases[i]->name, name) == 0) return cases[i];
    fprintf(stderr, "check: no case '%s'; --list prints them\n", name);
    exit(2);
}

/* Those that the pattern means, behind the others. */
static int add_cases(const struct check_case **chosen, int count, const char *pattern)
{
    const int before = count;
    for (int i = 0; i < CASES && count < CASES; i++)
        if (fnmatch(pattern, cases[i]->name, 0) == 0) chosen[count++] = cases[i];
    if (count == before) find_case(pattern); /* says that there is none */
    return count;
}

static struct relaxation find_relaxation(const char *text)
{
    const char *dot = strchr(text, '.');
    for (int l = 1; dot && l < CHECK_LABELS; l++) {
        const char *name = model_label((enum check_label)l);
        if (strlen(name) == (size_t)(dot - text) && strncmp(name, text, (size_t)(dot - text)) == 0)
            return (struct relaxation){(enum check_label)l, (unsigned)strtoul(dot + 1, NULL, 0)};
    }
    fprintf(stderr,
            "check: '%s' is not LABEL.BITS with a label of labels.def and bits 1 (acquire), 2 (release), 4 "
            "(sequentially consistent)\n",
            text);
    exit(2);
}

static const char help[] =
    "check [options] [case]...   all cases, or these ('run_*'), on every schedule within their bounds or at random\n"
    "  --list               the cases\n"
    "  --seconds=S          at most so much processor time for each case (default PTO_CHECK_SECONDS, or 0.5)\n"
    "  --runs=N             at most so many executions of each\n"
    "  --seed=N             of schedules at random (default 1)\n"
    "  --random             small cases at random too\n"
    "  --relax=LABEL.BITS   with the orders of this label relaxed: 1 acquire, 2 release, 4 sequentially consistent\n"
    "  --replay=CHOICES     one execution, as a fault of a search printed it\n"
    "  --replay-seed=N      one execution, as a fault at random printed it\n"
    "  --quiet              a fault is one line, and exit status 1\n"
    "  --relaxations        every line of relaxations.def: each relaxed order must be found\n";

int main(int argc, char **argv)
{
    const char *seconds = getenv("PTO_CHECK_SECONDS");
    struct explore_options o = {.seed = 1, .seconds = seconds ? strtod(seconds, NULL) : 0.5};
    const struct check_case *chosen[CASES];
    int count = 0;
    bool always_random = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (strcmp(a, "--list") == 0) {
            for (int c = 0; c < CASES; c++) printf("%-26s %s\n", cases[c]->name, cases[c]->about);
            return 0;
        }
        if (strncmp(a, "--seconds=", 10) == 0)
            o.seconds = strtod(a + 10, NULL);
        else if (strncmp(a, "--runs=", 7) == 0)
            o.runs = strtoull(a + 7, NULL, 0);
        else if (strncmp(a, "--seed=", 7) == 0)
            o.seed = strtoull(a + 7, NULL, 0);
        else if (strcmp(a, "--random") == 0)
            always_random = true;
        else if (strncmp(a, "--relax=", 8) == 0)
            check_relaxation = find_relaxation(a + 8);
        else if (strncmp(a, "--replay=", 9) == 0)
            o.choices = a + 9;
        else if (strncmp(a, "--replay-seed=", 14) == 0)
            o.seed = strtoull(a + 14, NULL, 0), o.has_one_seed = true;
        else if (strcmp(a, "--quiet") == 0)
            o.is_quiet = true;
        else if (strcmp(a, "--relaxations") == 0)
            return relaxations_run(find_case, o.seed);
        else if (a[0] != '-')
            count = add_cases(chosen, count, a);
        else
            return fputs(help, strcmp(a, "--help") == 0 ? stdout : stderr), strcmp(a, "--help") == 0 ? 0 : 2;
    }
    if (count == 0) memcpy(chosen, cases, sizeof cases), count = CASES;
    for (int i = 0; i < count; i++) {
        o.of = chosen[i];
        o.is_random = !o.choices && (always_random || o.has_one_seed || !chosen[i]->is_small);
        const struct explore_result r = explore(&o);
        if (!o.is_quiet)
            printf("%-26s %10llu executions, %12llu steps%s\n", chosen[i]->name, (unsigned long long)r.executions,
                   (unsigned long long)r.steps,
                   r.is_whole ? o.of->preemptions < 0 ? ": every schedule" : ": every schedule within its bounds" : "");
        fflush(stdout);
    }
    return 0;
}
