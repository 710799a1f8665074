#!/usr/bin/python3
"""check_later.py FOLDER PREFIX CC LAUNCHER ... - over MPI, a host program goes on behind a run that has failed.

Idea       rank 0 has written small rows and sent them, and their sends have ended, when a kernel of rank 1 fails that still reads the old rows: nobody
           receives them.  All ranks get the status of that run; every later run, and a new runtime of the ranks, is refused with PTO_ERR_STATE; and a
           runtime that has nothing to do with the ranks has the right result.
Exit code  0: yes.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import run  # pylint: disable=wrong-import-position

HOST = r"""
#include <pto/pto_runtime.h>
#include <pto/pto_submit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 12, WIDTH = 32, SUM = ROWS * WIDTH * 3 };
static float rows[ROWS][WIDTH], sums[WIDTH];
static int fails_first = 1;

static int is_late(const PTOArg *a)
{
    if (!fails_first) return 0;
    usleep(200000);
    return ((const float *)a[0].ptr)[0] == 1 ? 7 : 8;
}
static int add_two(const PTOArg *a)
{
    for (int i = 0; i < WIDTH; i++) ((float *)a[0].ptr)[i] += 2;
    return 0;
}
static int add_up(const PTOArg *a)
{
    for (int i = 0; i < WIDTH; i++) ((float *)a[1].ptr)[i] += ((const float *)a[0].ptr)[i];
    return 0;
}
static const PTOKernel late = {.name = "late", .worker = PTO_WORKER_VECTOR, .fn = is_late};
static const PTOKernel adds = {.name = "adds", .worker = PTO_WORKER_VECTOR, .fn = add_two};
static const PTOKernel sum = {.name = "sum", .worker = PTO_WORKER_VECTOR, .fn = add_up};

static void orchestrate(PTORuntime *rt, void *arg)
{
    const PTODist home = {.type = PTO_F32, .rank = 2, .shape = {ROWS, WIDTH}, .cell = {ROWS, WIDTH}, .grid = {1, 1}};
    const PTODist other = {.type = PTO_F32, .rank = 1, .shape = {WIDTH}, .cell = {WIDTH}, .grid = {1}};
    (void)arg;
    pto_buffer(rt, rows, sizeof rows);
    pto_buffer(rt, sums, sizeof sums);
    pto_dist(rt, rows, &home);
    pto_dist(rt, sums, &other);
    PTO_SUBMIT(rt, &late, PTO_INPUT(rows, 0, PTO_ARRAY(PTO_F32, ROWS, WIDTH)), PTO_AT(1));
    for (int i = 0; i < ROWS; i++)
        PTO_SUBMIT(rt, &adds, PTO_INOUT(rows, i * WIDTH, PTO_ARRAY(PTO_F32, WIDTH)), PTO_AT(0));
    for (int i = 0; i < ROWS; i++)
        PTO_SUBMIT(rt, &sum, PTO_INPUT(rows, i * WIDTH, PTO_ARRAY(PTO_F32, WIDTH)),
                   PTO_INOUT(sums, 0, PTO_ARRAY(PTO_F32, WIDTH)), PTO_AT(1));
}

static void fill(void)
{
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++) rows[i][j] = 1;
}

int main(void)
{
    PTOConfig config = {.join_ranks = true};
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&config, &status);
    if (!rt) return 3;
    const int rank = (int)pto_rank(rt);
    fill();
    status = pto_runtime_run(rt, orchestrate, NULL);
    fprintf(stderr, "rank %d: first %d %s\n", rank, status, pto_last_error(rt));
    for (int later = 0; later < 2; later++) {
        fill();
        fails_first = 0;
        status = pto_runtime_run(rt, orchestrate, NULL);
        fprintf(stderr, "rank %d: later %s %s\n", rank, pto_status_name(status), pto_last_error(rt));
    }
    pto_runtime_destroy(rt);
    rt = pto_runtime_create(&config, &status);
    fprintf(stderr, "rank %d: again %s %s\n", rank, rt ? "a runtime" : pto_status_name(status), pto_last_error(NULL));
    config.join_ranks = false;
    rt = pto_runtime_create(&config, &status);
    status = rt ? pto_runtime_run(rt, orchestrate, NULL) : status;
    float all = 0;
    for (int j = 0; j < WIDTH; j++) all += sums[j];
    fprintf(stderr, "rank %d: alone %d %d\n", rank, status, all == SUM);
    pto_runtime_destroy(rt);
    return 1;
}
"""


def main():
    folder, prefix, cc = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    source, program, lib = os.path.join(folder, "later.c"), os.path.join(folder, "later"), os.path.join(prefix, "lib")
    with open(source, "w", encoding="ascii") as f:
        f.write(HOST)
    code, out, err = run([cc, "-O1", "-I", os.path.join(prefix, "include"), source, "-o", program, "-L", lib, "-lpto", "-Wl,-rpath," + lib])
    if code != 0:
        sys.exit(out + err)
    good = True
    for ranks in (2, 3):
        code, _, err = run(sys.argv[4:] + ["-n", str(ranks), program])
        wanted = [("a kernel fails on rank 1", "kernel 'late' failed: it returned 7", ranks), ("its rank is named", "(on rank 1, ", ranks - 1)]
        for rank in range(ranks):
            wanted += [("later runs are refused", "rank %d: later PTO_ERR_STATE an earlier run of these ranks has failed: the job has to end\n" % rank, 2),
                       ("so is another runtime", "rank %d: again PTO_ERR_STATE a run of these ranks has failed: the job has to end\n" % rank, 1),
                       ("a runtime of its own is right", "rank %d: alone 0 1\n" % rank, 1)]
        for what, text, count in wanted:
            if code != 1 or err.count(text) != count:
                good = False
                print("%d ranks: %s: %s" % (ranks, what, text), code, err, sep="\n  ")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
