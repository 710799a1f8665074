// A release in front of the last use, and then another buffer that could lie there: a checked run lets the place rest.
// RUN: %pto-cc %s -o %t
// RUN: %t | FileCheck %s
// CHECK: 0 kernel 'add': parameter 0 is a buffer whose lifetime has ended
#include <pto/pto_runtime.h>
#include <stdio.h>
static int fill(const PTOArg *args)
{
    for (int i = 0; i < 16; i++) ((float *)args[0].ptr)[i] = (float)i;
    return 0;
}
static int add(const PTOArg *args)
{
    for (int i = 0; i < 16; i++) ((float *)args[1].ptr)[i] = ((const float *)args[0].ptr)[i] + 1;
    return 0;
}
static const PTOKernel FILL = {.name = "fill", .fn = fill, .worker = PTO_WORKER_VECTOR};
static const PTOKernel ADD = {.name = "add", .fn = add, .worker = PTO_WORKER_VECTOR};
#define SUBMIT(kernel, ...)                                                                                            \
    pto_submit_task(rt, kernel, (PTOTaskParam[]){__VA_ARGS__},                                                         \
                    sizeof((PTOTaskParam[]){__VA_ARGS__}) / sizeof(PTOTaskParam))

static void program(PTORuntime *rt, void *arg)
{
    void *a = NULL, *b = NULL, *c = NULL;
    (void)arg;
    SUBMIT(&FILL, PTO_OUTPUT(&a, 0, 64));
    pto_release(rt, a);
    for (int i = 0; i < 8; i++) {
        b = NULL;
        SUBMIT(&FILL, PTO_OUTPUT(&b, 0, 64));
        pto_await(rt, b, 0, 64);
        if (i < 7) pto_release(rt, b);
    }
    SUBMIT(&ADD, PTO_INPUT(a, 0, 64), PTO_OUTPUT(&c, 0, 64));
    SUBMIT(&ADD, PTO_INPUT(b, 0, 64), PTO_OUTPUT(&c, 0, 64));
}

int main(void)
{
    const PTOConfig c = {.checked = true, .heap_bytes = 4096, .heap_rings = 1};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    const PTOStatus status = pto_runtime_run(rt, program, NULL);
    printf("%d %s\n", status == PTO_OK, status == PTO_OK ? "nothing was found" : pto_last_error(rt));
    pto_runtime_destroy(rt);
    return status == PTO_OK;
}
