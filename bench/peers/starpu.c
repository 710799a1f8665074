/* starpu.c - the graphs on StarPU: sequential task flow, a data handle for each region.
 * StarPU finds the dependences from handles and access modes.  Handles are registered before the first run of a graph
 * and kept: its best case, a registration takes microseconds.  STARPU_NCPU: how many workers. */
#include "../harness.h"
#include <starpu.h>

static struct starpu_codelet codelets[2][5]; /* by mode and number of reads */
static starpu_data_handle_t *handles;
static const cell *registered; /* the cells they are for */
static size_t handle_count;

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    run_task(arg);
}

static inline void submit(void *context, const task *t)
{
    (void)context;
    struct starpu_task *s = starpu_task_create();
    task *x = malloc(sizeof *x);
    *x = *t;
    s->cl = &codelets[t->mode][t->in_count];
    s->cl_arg = x;
    s->cl_arg_size = sizeof *x;
    s->cl_arg_free = 1;
    for (uint32_t i = 0; i < t->in_count; i++) s->handles[i] = handles[t->in[i] - registered];
    s->handles[t->in_count] = handles[t->out - registered];
    if (starpu_task_submit(s)) abort();
}

static void forget_handles(void)
{
    for (size_t i = 0; i < handle_count; i++) starpu_data_unregister_no_coherency(handles[i]);
    free(handles);
    handles = NULL;
    handle_count = 0;
}

static void register_handles(graph *g)
{
    if (handle_count && registered == g->cells) return;
    forget_handles();
    registered = g->cells;
    handle_count = g->cell_count;
    handles = malloc(handle_count * sizeof *handles);
    for (size_t i = 0; i < handle_count; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)&g->cells[i], sizeof(cell));
}

static void run_graph(graph *g, int64_t *submitted_ns)
{
    graph_emit(g, submit, NULL);
    *submitted_ns = now_ns();
    starpu_task_wait_for_all();
}

static void describe_codelets(void)
{
    for (int mode = 0; mode < 2; mode++)
        for (int n = 0; n < 5; n++) {
            struct starpu_codelet *c = &codelets[mode][n];
            starpu_codelet_init(c);
            c->cpu_funcs[0] = kernel;
            c->nbuffers = n + 1;
            for (int i = 0; i < n; i++) c->modes[i] = STARPU_R;
            c->modes[n] = mode == WRITES ? STARPU_W : STARPU_RW;
        }
}

int main(int argc, char **argv)
{
    struct starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf)) return 77;
    describe_codelets();
    before_run = register_handles;
    int result = 0;
    for (int i = 3; i < argc; i++) { /* one graph at a time: the next one's cells may lie where this one's lay */
        char *one[] = {argv[0], argv[1], argv[2], argv[i], NULL};
        result |= harness_main(4, one);
        forget_handles();
    }
    starpu_shutdown();
    return result;
}
