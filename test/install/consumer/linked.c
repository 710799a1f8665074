/* Two programs that both export `main`, in one process. */
#include <model.h>
#include <other.h>
#include <stdio.h>

int main(void)
{
    float x[2][2] = {{1, 2}, {3, 4}}, y[2][2];
    PTORuntime *rt = pto_runtime_create(NULL, NULL);
    model_scale_times = 5;
    if (model_run_main(rt, &x[0][0], &y[0][0], 2, 2) != PTO_OK || other_run_main(rt, &x[0][0], &y[0][0], 4) != PTO_OK) {
        puts(pto_last_error(rt));
        return 1;
    }
    printf("%g %g %g %g\n", y[0][0], y[0][1], y[1][0], y[1][1]);
    pto_runtime_destroy(rt);
    return 0;
}
