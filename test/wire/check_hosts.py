#!/usr/bin/python3
"""check_hosts.py PTOC WIRE FOLDER PREFIX CC - host programs in C and in Python as ranks.

Idea       a host program that creates a runtime with join_ranks, runs twice and writes its array between the runs has the same array on every rank as
           alone, byte for byte; only rank 0 prints what the orchestration prints.  Ranks that were given arrays of different extents end with the
           place of that argument.
Exit code  0: yes.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, ROOT, begin, end, run  # pylint: disable=wrong-import-position

HOST = r"""
#include <pto/pto_runtime.h>
#include <pto/pto_submit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, WIDTH = 64 };
static float matrix[ROWS][WIDTH];

static int mix(const PTOArg *a)
{
    for (int i = 0; i < WIDTH; i++) ((float *)a[1].ptr)[i] = ((float *)a[1].ptr)[i] * 0.5f + ((const float *)a[0].ptr)[i];
    return ((const float *)a[0].ptr)[0] > 1e6f ? 7 : 0;
}
static const PTOKernel mix_rows = {.name = "mix_rows", .worker = PTO_WORKER_VECTOR, .fn = mix};

static void orchestrate(PTORuntime *rt, void *arg)
{
    (void)arg;
    pto_buffer(rt, matrix, sizeof matrix);
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < ROWS; i++)
            PTO_SUBMIT(rt, &mix_rows, PTO_INPUT(matrix, (i + 7) % ROWS * WIDTH, PTO_ARRAY(PTO_F32, WIDTH)),
                       PTO_INOUT(matrix, i * WIDTH, PTO_ARRAY(PTO_F32, WIDTH)));
    printf("submitted\n");
}

static void report(PTORuntime *rt, PTOStatus status)
{
    if (status != PTO_OK) fprintf(stderr, "rank %d: %d %s\n", (int)pto_rank(rt), status, pto_last_error(rt));
}

int main(int argc, char **argv)
{
    PTOStatus status;
    char path[512];
    const PTOConfig config = {.join_ranks = true, .heap_bytes = argc > 3 ? (int64_t)atoi(argv[3]) * 4096 : 0};
    PTORuntime *rt = pto_runtime_create(&config, &status), *second;
    if (!rt) {
        fprintf(stderr, "create: %d %s\n", status, pto_last_error(NULL));
        return 3;
    }
    if (pto_ranks(rt) > 1) {
        second = pto_runtime_create(&config, &status);
        if (second || status != PTO_ERR_STATE) return 4;
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH; j++) matrix[i][j] = (float)(i * 31 + j % 7);
    if (atoi(argv[2]) == 1) matrix[5][0] = 1e9f;
    status = pto_runtime_run(rt, orchestrate, NULL);
    report(rt, status);
    for (int i = 0; i < ROWS; i += 3) matrix[i][i] += 1;
    if (status != PTO_OK) {
        report(rt, pto_runtime_run(rt, orchestrate, NULL));
        return 1;
    }
    status = pto_runtime_run(rt, orchestrate, NULL);
    report(rt, status);
    snprintf(path, sizeof path, "%s.%d", argv[1], (int)pto_rank(rt));
    pto_runtime_destroy(rt);
    rt = pto_runtime_create(&config, &status);
    if (!rt) return 5;
    status = pto_runtime_run(rt, orchestrate, NULL);
    report(rt, status);
    if (pto_rank(rt) == 0) printf("%d\n", (int)pto_ranks(rt));
    FILE *out = fopen(path, "wb");
    fwrite(matrix, sizeof matrix, 1, out);
    fclose(out);
    pto_runtime_destroy(rt);
    return status == PTO_OK ? 0 : 1;
}
"""

# The kernel of rank 1 does not return before rank 0 has returned from its run, which has failed; where that never happens, it says so.
STUCK = r"""
#include <fcntl.h>
#include <pto/pto_runtime.h>
#include <pto/pto_submit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *returned;

static int fail(const PTOArg *a) { return ((float *)a[0].ptr)[0] == 0 ? 7 : 8; }
static int hang(const PTOArg *a)
{
    for (int k = 0; k < 30000 && access(returned, F_OK) != 0; k++) usleep(1000);
    if (access(returned, F_OK) != 0) fprintf(stderr, "no rank has returned\n");
    ((float *)a[0].ptr)[0] = 1;
    return 0;
}
static const PTOKernel fails = {.name = "fails", .worker = PTO_WORKER_VECTOR, .fn = fail};
static const PTOKernel hangs = {.name = "hangs", .worker = PTO_WORKER_VECTOR, .fn = hang};

static void orchestrate(PTORuntime *rt, void *arg)
{
    static float matrix[2][64];
    (void)arg;
    pto_buffer(rt, matrix, sizeof matrix);
    PTO_SUBMIT(rt, &hangs, PTO_INOUT(matrix, 64, PTO_ARRAY(PTO_F32, 64)), PTO_AT(1));
    PTO_SUBMIT(rt, &fails, PTO_INOUT(matrix, 0, PTO_ARRAY(PTO_F32, 64)), PTO_AT(0));
}

int main(int argc, char **argv)
{
    const PTOConfig config = {.join_ranks = true};
    PTOStatus status;
    PTORuntime *rt = pto_runtime_create(&config, &status);
    if (!rt || argc < 2) return 3;
    returned = argv[1];
    status = pto_runtime_run(rt, orchestrate, NULL);
    fprintf(stderr, "rank %d: %s\n", (int)pto_rank(rt), pto_last_error(rt));
    if (pto_rank(rt) == 0) close(creat(returned, 0600));
    pto_runtime_destroy(rt);
    return status == PTO_OK ? 0 : 1;
}
"""

MODULE = """
kernel mix(in a: f32[64], inout b: f32[64]) { for (int64_t i = 0; i < 64; i++) b[i] = b[i] * 0.5f + a[i]; }
kernel twice(in a: f32[64], out b: f32[64]) { for (int64_t i = 0; i < 64; i++) b[i] = 2 * a[i]; }
export orch rotate<n>(inout A: f32[n, 64]) {
    for k in 0 .. 5 { for i in 0 .. n { mix(A[(i + 7) % n], inout A[i]); } }
    let x = await A[3, 3];
    print "it is ", x;
}
export orch doubled<n>(in A: f32[n, 64], out B: f32[n, 64]) { for i in 0 .. n { B[i] = twice(A[i]); } }
"""

PYTHON = """
import sys
import numpy as np
import ptoc
m = ptoc.compile(sys.argv[1])
with ptoc.Runtime(ranks=True) as rt:
    a = np.arange(24 * 64, dtype="f4").reshape(24, 64) % 31
    m.rotate(a)
    a[::3] += 1
    b = m.doubled(a)
    m.rotate(b)
    c = np.asarray(b) + a
    c.tofile("%s.%d" % (sys.argv[2], rt.rank))
    if rt.rank == 0:
        print(rt.ranks)
    if rt.ranks > 1:
        try:
            ptoc.Runtime(ranks=True)
        except ptoc.PtoError as e:
            assert "is its rank: one at a time has ptoc.Runtime(ranks=...)" in str(e), e
"""

# An array of the last rank has one row more.
OTHER = """
import sys
import numpy as np
import ptoc
m = ptoc.compile(sys.argv[1])
with ptoc.Runtime(ranks=True) as rt:
    m.rotate(np.zeros((24 + rt.rank // (rt.ranks - 1), 64), dtype="f4"))
"""


class Hosts:
    def __init__(self, wire, folder):
        self.wire, self.folder, self.good = wire, folder, True

    def expect(self, what, is_so, *details):
        if not is_so:
            self.good = False
            print(what, *details, sep="\n  ")

    def launched(self, ranks):
        return [] if ranks == 1 else [sys.executable, RANKS, self.wire, str(ranks)]

    def same(self, what, command, printed, **variables):
        """The command is given a path: each rank writes what it has there, behind its number."""
        wanted = None
        for ranks in (1, 2, 3, 5):
            path = os.path.join(self.folder, "%s-%d" % (what, ranks))
            code, out, err = run(self.launched(ranks) + command(path), **variables)
            self.expect("%s on %d ranks" % (what, ranks), code == 0 and out == printed + "%d\n" % ranks and not err, code, out, err)
            for rank in range(ranks):
                made = numpy.fromfile("%s.%d" % (path, rank), numpy.float32).tobytes() if code == 0 else None
                wanted = wanted or made
                self.expect("%s: rank %d of %d has others" % (what, rank, ranks), made == wanted)

    def failures(self, program):
        path = os.path.join(self.folder, "failed")
        code, _, err = run(self.launched(3) + [program, path, "1"])
        first, later = "kernel 'mix_rows' failed: it returned 7", "an earlier run of these ranks has failed: the job has to end"
        self.expect("a kernel fails", code == 1 and err.count(first) == 3 and err.count(later) == 3 and err.count("(on rank ") == 2, code, err)
        code, _, err = run(self.launched(3) + [program, path, "0", "64"], PTO_LOCAL_LAST="64>128")
        self.expect("another heap on a rank", code == 3 and err.count("the ranks differ in PTOConfig.heap_bytes, PTOConfig.heap_rings or the version of libpto") == 3, code, err)
        code, _, err = run(self.launched(3) + [program, path, "0", "64"], PTO_LOCAL_LAST="64>-5")
        self.expect("a rank has no runtime", code == 3 and err.count("another rank could not create its runtime") == 2 and "heap of -20480 bytes" in err, code, err)
        code, _, err = run([program, path, "0"], PTO_WIRE="/nowhere/wire.so")
        self.expect("no wire", code == 3 and "started as one of several ranks, which it cannot join: " in err, code, err)


    def other_arrays(self, host, module, **variables):
        code, _, err = run(self.launched(3) + [sys.executable, "-B", host, module], **variables)
        text = "module.pto:4:29: error: ranks 0 and 2 disagree at step 0 of the program: the extent of dimension 0 is 24 and 25"
        self.expect("another array on a rank", code == 1 and err.count(text) == 3, code, err)

    def stuck(self, program):
        """A run that has failed ends on a rank though the kernel of another one has not returned."""
        returned = os.path.join(self.folder, "returned")
        if os.path.exists(returned):
            os.remove(returned)
        code, _, err = run(self.launched(2) + [program, returned])
        self.expect("a kernel does not return", code == 1 and err.count("kernel 'fails' failed: it returned 7") == 2 and "no rank has returned" not in err, code, err)


def build(folder, name, text):
    """A host program in C."""
    prefix, cc = sys.argv[4:6]
    source, program, lib = os.path.join(folder, name + ".c"), os.path.join(folder, name), os.path.join(prefix, "lib")
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    code, out, err = run([cc, "-O1", "-I", os.path.join(prefix, "include"), source, "-o", program, "-L", lib, "-lpto", "-Wl,-rpath," + lib] + sys.argv[6:])
    if code != 0:
        sys.exit(out + err)
    return program


def main():
    ptoc, wire, folder = begin()
    prefix, cc = sys.argv[4:6]
    program = build(folder, "host", HOST)
    check = Hosts(wire, folder)
    check.stuck(build(folder, "stuck", STUCK))
    check.same("c", lambda path: [program, path, "0"], "submitted\n" * 3)
    check.failures(program)
    module, host, other = (os.path.join(folder, name) for name in ("module.pto", "host.py", "other.py"))
    for path, text in ((module, MODULE), (host, PYTHON), (other, OTHER)):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    if not sys.argv[6:]:  # the interpreter has no sanitizer
        variables = {"PTO_PREFIX": prefix, "PYTHONPATH": os.path.join(ROOT, "python"), "PTOC": ptoc, "CC": cc, "PYTHONUNBUFFERED": ""}
        check.same("python", lambda path: [sys.executable, "-B", host, module, path], "it is  96.46875\nit is  3597.5566\n", **variables)
        check.other_arrays(other, module, **variables)
    end(check.good)


if __name__ == "__main__":
    main()
