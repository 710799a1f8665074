/* plans.c - how much of gradients is kept in the heap that is given.
 * Idea       what a gradient needs is known when its text was checked and its memory planned; so the program is checked
 *            with everything kept, then with loops in more and more segments, until it fits.
 * Invariant  more segments make more tasks run again: the fewest that fit are taken, and where none fit those that need
 *            least, whose heap E14 then asks for.
 * Blocks     in reading files.
 * Tests      test/lit/grad/plan.pto
 */
#include "build.h"
#include "codegen.h"
#include "options.h"
#include "support/vec.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SEGMENTS = 1 << 16,
    MOST_EQUAL = 8 /* needs in a row, over ten times the segments: each iteration is a segment by then */
};

static void drop_message(void *cx, const struct diag_message *m)
{
    (void)cx;
    (void)m;
}

/* The least heap ring in which the program completes; -1: it is not known, or no loop has so many segments. */
static int64_t least_ring(const struct options *o, const struct codegen_run *run, int segments)
{
    struct front_session s;
    struct options quiet = *o;
    int64_t least = -1;
    quiet.diag_form = DIAG_TEXT;
    if (session_open(&s, &quiet) != EXIT_OK) return -1;
    diag_set_receiver(s.front.diag, drop_message, NULL);
    s.sema.grad_segments = segments;
    const struct checked *checked = codegen_check(&s.front, o->input, &s.sema);
    bool is_asked = false;
    for (int i = 0; i < checked->module_count; i++)
        is_asked |= segments == 1 ? checked->modules[i]->gradients != NULL : checked->modules[i]->plans != NULL;
    if (is_asked && diag_error_count(s.front.diag) == 0) least = codegen_least_ring(&s.front, checked, o->rings, run);
    session_close(&s);
    return least;
}

static int fewest_segments(const struct options *o, const struct codegen_run *run)
{
    int64_t best, now, before = -1;
    int fewest = 1, fails = 1, fits = 0, equal = 0;
    if ((best = least_ring(o, run, 1)) <= o->heap_bytes) return 1;
    for (int m = 2; m < MOST_SEGMENTS && fits == 0; m = m < 4 ? m + 1 : m + m / 3) {
        now = least_ring(o, run, m);
        equal = now == before ? equal + 1 : 0;
        if (now < 0 || now > 2 * best || equal == MOST_EQUAL) break;
        before = now;
        if (now < best) best = now, fewest = m;
        *(now <= o->heap_bytes ? &fits : &fails) = m;
    }
    for (int m = fewest - fewest / 4, end = fewest + fewest / 3 + 1; m < end && fits == 0 && fewest > 1; m++) {
        if ((now = least_ring(o, run, m)) < 0) continue;
        if (now < best) best = now, fewest = m;
        if (now <= o->heap_bytes) return m;
    }
    if (fits == 0) return fewest;
    while (fits - fails > 1) {
        const int m = fails + (fits - fails) / 2;
        *(least_ring(o, run, m) <= o->heap_bytes ? &fits : &fails) = m;
    }
    return fits;
}

/* "--dim", "N=5": the value of the option that stands at *i, or NULL. */
static const char *value_of(const struct options *o, int *i, const char *option)
{
    const size_t length = strlen(option);
    const char *arg = o->run_args[*i];
    if (strcmp(arg, option) == 0 && *i + 1 < o->run_arg_count) return o->run_args[++*i];
    return strncmp(arg, option, length) == 0 && arg[length] == '=' ? arg + length + 1 : NULL;
}

/* What the command line gives to the run. */
struct run_values {
    VEC(struct define) values;
    VEC(char *) names;
    struct codegen_run run;
};

static void values_read(const struct options *o, struct run_values *v)
{
    *v = (struct run_values){0};
    for (int i = 0; i < o->run_arg_count; i++) {
        const char *value = value_of(o, &i, "--dim");
        if (!value) value = value_of(o, &i, "--set");
        const char *equals = value ? strchr(value, '=') : NULL;
        char *name = equals ? strndup(value, (size_t)(equals - value)) : NULL;
        if (!name) continue;
        const struct define new = {name, equals + 1};
        vec_push(&v->names, name);
        vec_push(&v->values, new);
    }
    v->run = (struct codegen_run){o->check_grad ? "check_grad" : options_run_value(o, "--entry"), v->values.data,
                                  (int)v->values.count};
}

static void values_free(struct run_values *v)
{
    for (size_t i = 0; i < v->names.count; i++) free(v->names.data[i]);
    vec_free(&v->names);
    vec_free(&v->values);
}

int plans_segments(const struct options *o)
{
    struct run_values v;
    if (o->heap_bytes == 0) return 1;
    values_read(o, &v);
    const int segments = fewest_segments(o, &v.run);
    values_free(&v);
    return segments;
}

void plans_check_heap(const struct options *o, struct front *front, const struct checked *checked)
{
    struct run_values v;
    if (o->heap_bytes == 0 || diag_error_count(front->diag) > 0) return;
    values_read(o, &v);
    codegen_check_heap(front, checked, o->heap_bytes, o->rings, &v.run);
    values_free(&v);
}
