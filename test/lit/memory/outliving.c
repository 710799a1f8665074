// A tensor that is made in a loop and owned by an outer scope is reported by name when its scope ends, with the number
// held; what ends with its scope, or is released, is not.
// RUN: %pto-cc %s -o %t
// RUN: %t | FileCheck %s
// CHECK:      leak:
// CHECK-NEXT: 'a' of loop.c:7: 1000 at once, 64000 bytes, outlived the scope that made them, held by program (loop.c:2)
// CHECK-NEXT: right:
// CHECK-NEXT: released:
// CHECK-NEXT: 'a' of loop.c:7: 1 at once, 64 bytes, outlived the scope that made them, held by program (loop.c:2)
// CHECK-NEXT: not checked:
// CHECK-NOT:  {{.}}
#include <pto/pto_runtime.h>
#include <stdio.h>
static int fill(const PTOArg *args)
{
    *(float *)args[0].ptr = 1;
    return 0;
}
static const PTOKernel FILL = {.name = "fill", .fn = fill, .worker = PTO_WORKER_VECTOR};
static const PTOSite OUTER = {.file = "loop.c", .line = 2, .text = "program"},
                     FILL_SITE = {.file = "loop.c", .line = 7, .text = "fill"};
enum way { LEAK, RIGHT, RELEASED };

static void program(PTORuntime *rt, void *arg)
{
    const enum way way = *(enum way *)arg;
    pto_at(rt, &OUTER);
    const PTOScope outer = pto_scope_begin(rt);
    for (int i = 0; i < 1000; i++) {
        void *a = NULL, *b = NULL;
        pto_at(rt, &FILL_SITE);
        pto_scope_begin(rt);
        pto_submit_task(rt, &FILL, (PTOTaskParam[]){PTO_OUTPUT_IN(way == RIGHT ? PTO_SCOPE_CURRENT : outer, &a, 0, 64)},
                        1);
        pto_submit_task(rt, &FILL, (PTOTaskParam[]){PTO_OUTPUT(&b, 0, 64)}, 1);
        pto_scope_end(rt);
        if (way == RELEASED) pto_release(rt, a);
    }
    pto_scope_end(rt);
}

static void run(const char *what, enum way way, bool checked)
{
    const PTOConfig c = {.checked = checked};
    PTORuntime *rt = pto_runtime_create(&c, NULL);
    printf("%s:\n", what);
    for (int i = 0; i < 2; i++) /* a run begins anew */
        if (pto_runtime_run(rt, program, &way) != PTO_OK) puts(pto_last_error(rt));
    pto_write_pinned(rt, stdout);
    pto_runtime_destroy(rt);
}

int main(void)
{
    run("leak", LEAK, true);
    run("right", RIGHT, true);
    run("released", RELEASED, true);
    run("not checked", LEAK, false);
    return 0;
}
