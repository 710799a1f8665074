/* relaxations.c - see relaxations.h. */
#include "relaxations.h"
#include "memory_model.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RUNS = 40000 };

static const struct relaxed {
    enum check_label label;
    enum check_order order;
    const char *order_name, *found_by;
} relaxed[] = {
#define RELAXED(label, order, found_by) {CHECK_##label, CHECK_##order, #order, #found_by},
#include "relaxations.def"
#undef RELAXED
};
enum { COUNT = sizeof relaxed / sizeof *relaxed };

static bool has_line(enum check_label label, enum check_order order)
{
    for (int i = 0; i < COUNT; i++)
        if (relaxed[i].label == label && relaxed[i].order == order) return true;
    return false;
}

/* Label ASLEEP is a barrier's alone, between words that are relaxed. */
static bool needs_line(enum check_label label, enum check_order order)
{
    return label == CHECK_ASLEEP ? order == CHECK_SEQ : order != CHECK_SEQ;
}

static bool is_found(const struct relaxed *r, const struct check_case *of, uint64_t seed)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        check_relaxation = (struct relaxation){r->label, (unsigned)r->order};
        explore(&(struct explore_options){
            .of = of, .seed = seed, .runs = MOST_RUNS, .is_random = !of->is_small, .is_quiet = true});
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int relaxations_run(const struct check_case *(*find)(const char *name), uint64_t seed)
{
    int missed = 0;
    for (int i = 0; i < COUNT; i++) {
        const struct relaxed *r = &relaxed[i];
        printf("%-14s %-8s %-18s ", model_label(r->label), r->order_name, r->found_by);
        if (is_found(r, find(r->found_by), seed)) continue;
        printf("NOT FOUND in %d executions\n", MOST_RUNS);
        missed++;
    }
    for (int l = 1; l < CHECK_LITMUS; l++)
        for (int order = CHECK_ACQUIRE; order <= CHECK_SEQ; order *= 2) {
            if (!needs_line((enum check_label)l, (enum check_order)order) ||
                has_line((enum check_label)l, (enum check_order)order))
                continue;
            printf("%s has no line in relaxations.def for %s\n", model_label((enum check_label)l),
                   order == CHECK_ACQUIRE   ? "ACQUIRE"
                   : order == CHECK_RELEASE ? "RELEASE"
                                            : "SEQ");
            missed++;
        }
    printf("%d relaxed orders, %d not found or without a line\n", COUNT, missed);
    return missed > 0;
}
