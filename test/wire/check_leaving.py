#!/usr/bin/python3
"""check_leaving.py FOLDER PREFIX CC [-OPTION ...] LAUNCHER ... - a host program does more on one rank than on the others.

Idea       each rank makes two runs with a runtime.  Then one rank, the first or the last, does something more, and the others do something else: they end,
           with the runtime destroyed or not, or create another one and run it.  A rank that waits for one that has left is notified, the job ends with an
           error, and no rank hangs.  Ranks that do the same end with 0.  -DOWN_MPI: the host program begins and ends MPI itself.
Exit code  0: yes.
"""
import itertools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import run  # pylint: disable=wrong-import-position

HOST = r"""
#ifdef OWN_MPI
#include <mpi.h>
#endif
#include <pto/pto_runtime.h>
#include <pto/pto_submit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 6, WIDTH = 32 };
static float matrix[ROWS][WIDTH], alone[WIDTH];
static PTORuntime *rt;

static int mix(const PTOArg *a)
{
    for (int i = 0; i < WIDTH; i++) ((float *)a[1].ptr)[i] = ((float *)a[1].ptr)[i] * 0.5f + ((const float *)a[0].ptr)[i];
    return 0;
}
static int add_one(const PTOArg *a) { return ++((float *)a[0].ptr)[0] < 0; }
static const PTOKernel mix_rows = {.name = "mix_rows", .worker = PTO_WORKER_VECTOR, .fn = mix};
static const PTOKernel adds = {.name = "adds", .worker = PTO_WORKER_VECTOR, .fn = add_one};

/* With messages between all ranks, or without any. */
static void orchestrate(PTORuntime *to, void *is_local)
{
    pto_buffer(to, matrix, sizeof matrix);
    pto_buffer(to, alone, sizeof alone);
    for (int i = 0; i < ROWS && !is_local; i++)
        PTO_SUBMIT(to, &mix_rows, PTO_INPUT(matrix, (i + 1) % ROWS * WIDTH, PTO_ARRAY(PTO_F32, WIDTH)),
                   PTO_INOUT(matrix, i * WIDTH, PTO_ARRAY(PTO_F32, WIDTH)), PTO_AT(i));
    PTO_SUBMIT(to, &adds, PTO_INOUT(alone, 0, PTO_ARRAY(PTO_F32, WIDTH)));
}

static void make_run(int is_local)
{
    const PTOStatus status = pto_runtime_run(rt, orchestrate, is_local ? matrix : NULL);
    if (status == PTO_OK) return;
    fprintf(stderr, "rank %d: run: %s: %s\n", (int)pto_rank(rt), pto_status_name(status), pto_last_error(rt));
    exit(1);
}

static void make_runtime(void)
{
    PTOStatus status;
    rt = pto_runtime_create(&(PTOConfig){.join_ranks = true}, &status);
    if (rt) return;
    fprintf(stderr, "create: %s: %s\n", pto_status_name(status), pto_last_error(NULL));
    exit(1);
}

static void destroy(void)
{
    pto_runtime_destroy(rt);
    rt = NULL;
}

/* Each letter of the word is an action; they are done in its order. */
static void follow(const char *word)
{
    for (; *word; word++)
        switch (*word) {
        case 'r': make_run(0); break;
        case 'l': make_run(1); break;
        case 'd': destroy(); break;
        case 'c': make_runtime(); break;
        }
}

int main(int argc, char **argv)
{
#ifdef OWN_MPI
    int threads;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads);
#endif
    if (argc < 4) return 2;
    make_runtime();
    make_run(0);
    make_run(1);
    const int odd = atoi(argv[1]) == (int)pto_rank(rt);
    follow(argv[odd ? 2 : 3]);
#ifdef OWN_MPI
    MPI_Finalize();
#endif
    return 0;
}
"""

MORE = "run: PTO_ERR_STATE: ranks %d and %d disagree: rank %d has begun %d runs and has left, and this is run %d; what a host program does may not depend on the rank"
NONE = "create: PTO_ERR_STATE: rank %d has ended, and creates no runtime with the others"

# What one rank does, and what the others do; is it the first that waits, and how many runs it and the others had begun.  0: it creates a runtime.
CASES = [("d", "d", None), ("", "", None), ("dcrd", "dcrd", None),
         ("rd", "d", (True, 3, 2)), ("ld", "d", (True, 3, 2)), ("r", "", (True, 3, 2)), ("l", "", (True, 3, 2)), ("rlrd", "rd", (True, 4, 3)),
         ("d", "rd", (False, 3, 2)), ("d", "l", (False, 3, 2)), ("rd", "dcrd", (True, 3, 2)), ("dcld", "ld", (False, 3, 2)),
         ("dcr", "d", (True, 0, 2)), ("dc", "", (True, 0, 2)), ("d", "dcd", (False, 0, 2))]

# A rank that is in MPI_Finalize and aborts at once takes the last words of another one in one of twelve such jobs of MPICH.
OFTEN = [("d", "l", (False, 3, 2))] * 20


def wanted(waits, odd, ranks):
    """The messages, of which one has to be printed: of each rank that waits for one that has left."""
    is_odd, its, theirs = waits
    waiting = [odd] if is_odd else [k for k in range(ranks) if k != odd]
    left = [k for k in range(ranks) if k not in waiting]
    return [NONE % there if its == 0 else MORE % (here, there, there, theirs, its) for here in waiting for there in left]


def main():
    folder, prefix, cc = sys.argv[1:4]
    words = sys.argv[4:]
    launcher = list(itertools.dropwhile(lambda word: word.startswith("-"), words))
    options = words[:len(words) - len(launcher)]
    os.makedirs(folder, exist_ok=True)
    source, program, lib = os.path.join(folder, "leaving.c"), os.path.join(folder, "leaving"), os.path.join(prefix, "lib")
    with open(source, "w", encoding="ascii") as f:
        f.write(HOST)
    code, out, err = run([cc, "-O1", "-I", os.path.join(prefix, "include"), source, "-o", program, "-L", lib, "-lpto", "-Wl,-rpath," + lib] + options)
    if code != 0:
        sys.exit(out + err)
    good = True
    owns_mpi = "-DOWN_MPI" in options
    for ranks, odds in ((2, [1]),) if owns_mpi else ((2, [0]), (3, [0, 2])):
        for odd in odds:
            for its, theirs, waits in CASES + OFTEN * (owns_mpi and "mpich" in launcher[0]):
                code, _, err = run(launcher + [str(ranks), program, str(odd), its, theirs])
                is_so = (code == 0 and not err) if waits is None else (code == 1 and any(text in err for text in wanted(waits, odd, ranks)))
                if not is_so:
                    good = False
                    print("rank %d of %d does '%s', the others '%s'" % (odd, ranks, its, theirs), code, err, sep="\n  ")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
