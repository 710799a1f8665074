#!/usr/bin/python3
"""check_files.py PTOC WIRE FOLDER - ranks that do not see an input, or the folder of an output.

Idea       the last ranks are given another path than the others, at which there is nothing: the results are those of one process, byte for byte.  What
           rank 0 does not see, or nobody, or what is another file there, is an error of that file.
Exit code  0: yes.
"""
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import RANKS, Check, follow, read, run  # pylint: disable=wrong-import-position

ROWS, WIDTH = 24, 8192
PROGRAM = """
const W = 8192;
kernel add(in a: f32[2, W], in flags: bool[W], inout b: f32[1, W]) { for (int64_t i = 0; i < W; i++) b[i] += flags[i] ? a[i] : a[W + i] * 0.5f; }
export orch again<n>(inout A: f32[n, W], in flags: bool[W]) {
    for r in 0 .. 3 { for i in 2 .. n { @at(i / 2 + r) add(A[i - 2 +: 2, :], flags, inout A[i +: 1, :]); } }
}
kernel one_up(inout a: f32[1, W]) { for (int64_t i = 0; i < W; i++) a[i] += 1; }
export orch look<n>(in A: f32[n, W], inout B: f32[n, W], i: i64) {
    let x = await A[i, 7];
    print "it is ", x;
    let y = await B[i, 8];
    print "and ", y;
}
kernel leave(inout a: f32[1, W]) {
    extern int rmdir(const char *path);
    extern char *getenv(const char *name);
    a[0] += rmdir(getenv("LEFT")) == 0;
}
export orch leaves(inout A: f32[1, W]) { leave(inout A); }
export orch up<n>(inout A: f32[n, W]) { for i in 0 .. n { one_up(inout A[i +: 1, :]); } }
"""


class Files(Check):
    def __init__(self, ptoc, wire, folder):
        super().__init__(ptoc, wire, folder, "files", PROGRAM, 4)
        random = numpy.random.default_rng(8)
        self.rows, self.flags = random.standard_normal((ROWS, WIDTH)).astype(numpy.float32), random.integers(0, 2, WIDTH).astype(bool)
        numpy.save(self.path("rows"), self.rows)
        numpy.save(self.path("flags"), self.flags)
        numpy.savez(self.path("stored")[:-4] + ".npz", A=self.rows, flags=self.flags)
        numpy.savez_compressed(self.path("packed")[:-4] + ".npz", A=self.rows, flags=self.flags)
        self.gone = os.path.join(folder, "nowhere")

    def missing(self, path):
        return os.path.join(self.gone, os.path.basename(path))

    def ranked(self, ranks, entry, words, word=None, other=None, first=None, **variables):
        """Where a word is `word`, the ranks from `first` on, else the last, have `other`."""
        if word is not None:
            variables.update(PTO_LOCAL_LAST="%s>%s" % (word, other))
        if first is not None:
            variables.update(PTO_LOCAL_FROM=str(first))
        return run(([] if ranks == 1 else [sys.executable, RANKS, self.wire, str(ranks)]) + [self.program, "--entry", entry] + words, **variables)

    def results(self, ranks, inputs, options, word=None, other=None, first=None):
        output = self.path("out")
        if os.path.exists(output):
            os.remove(output)
        result = self.ranked(ranks, "again", inputs + ["--output=A=" + output] + options, word, other, first)
        self.expect("%s %s on %d ranks, %s" % (inputs, options, ranks, other), result[0] == 0 and os.path.exists(output), *result)
        return read(output) if os.path.exists(output) else None

    def inputs(self, rows, flags):
        return ["--input=A=" + rows, "--input=flags=" + flags]

    def unseen_inputs(self):
        rows, flags, stored, packed = self.path("rows"), self.path("flags"), self.path("stored")[:-4] + ".npz", self.path("packed")[:-4] + ".npz"
        wanted = self.results(1, self.inputs(rows, flags), [])
        cases = []
        for ranks, first in ((2, None), (3, 1), (4, None), (7, 2)):
            for options in ([], ["--copies=0", "--window=4"], ["--engine=serial", "--dist=A=5x700:2x3"], ["--everywhere=16M"]):
                cases.append((ranks, first, options))
        for ranks, first, options in cases + [(3, 1, ["--check"]), (3, 1, ["--dist=A=:3x1", "--sends=1", "--window=4"])]:
            self.expect("rows are not seen: other results", self.results(ranks, self.inputs(rows, flags), options, "--input=A=" + rows,
                                                                         "--input=A=" + self.missing(rows), first) == wanted, ranks, options)
        for archive in (stored, packed):
            for name in ("A", "flags"):
                inputs = self.inputs(archive, archive)
                self.expect("an archive is not seen: other results", self.results(3, inputs, [], "--input=%s=%s" % (name, archive),
                                                                                  "--input=%s=%s" % (name, self.missing(archive)), 1) == wanted, archive, name)
        self.expect("flags are not seen: other results", self.results(3, self.inputs(rows, flags), [], "--input=flags=" + flags,
                                                                      "--input=flags=" + self.missing(flags), 1) == wanted)

    def awaited(self):
        """No task names the arrays before the program looks at them, or none at all."""
        rows, output = self.path("rows"), self.path("looked")
        words, seen = ["--input=A=" + rows, "--input=B=" + rows, "--set=i=17", "--output=B=" + output], []
        for ranks, name in ((1, None), (3, "A"), (3, "B")):
            word = "--input=%s=%s" % (name, rows)
            result = self.ranked(ranks, "look", words, word, "--input=%s=%s" % (name, self.missing(rows)), 1)
            seen.append(result[:2] + (read(output),))
        self.expect("what the program looks at", all(s == seen[0] and s[0] == 0 and s[2] == read(rows) for s in seen), [s[:2] for s in seen])

    def unseen_outputs(self):
        """They are those of rank 0, which gets what the others have made."""
        inputs, output = self.inputs(self.path("rows"), self.path("flags")), self.path("out")
        wanted = self.results(1, inputs, [])
        option = "--output=A=" + output
        self.expect("an output is not seen: other results", self.results(3, inputs, [], option, "--output=A=" + self.missing(output), 1) == wanted)
        code, out, err = self.ranked(3, "again", inputs + ["--quiet", "--expect=A=" + output], "--expect=A=" + output, "--expect=A=" + self.missing(output), 1)
        self.expect("what is expected is not seen", code == 0, code, out, err)
        self.expect("a folder was made", not os.path.exists(self.gone))

    def folder_goes(self):
        """The run removes the folder of its output, which rank 0 can no longer make."""
        left = os.path.join(self.folder, "left")
        os.makedirs(left, exist_ok=True)
        words = ["--input=A=zeros", "--output=A=" + os.path.join(left, "out.npy")]
        code, out, err = self.ranked(3, "leaves", words, LEFT=left)
        is_refused = code == 4 and "out.npy: No such file or directory" in err and err.count("error") == 1
        self.expect("the folder goes", is_refused and not os.path.exists(left), code, out, err)

    def refused(self, text, word, other, first, ranked=True):
        result = self.ranked(3, "again", self.inputs(self.path("rows"), self.path("flags")) + ["--quiet"], word, other, first)
        self.expect("%s, for %s" % (text, other), result[0] == 4 and text in result[2] and result[2].count("error") == 1 and ("(on rank" in result[2]) == ranked,
                    *result)

    def refusals(self):
        rows = "--input=A=" + self.path("rows")
        numpy.save(self.path("fewer"), self.rows[2:])
        with open(self.path("rows"), "rb") as whole, open(self.path("half"), "wb") as half:
            half.write(whole.read()[:-4])
        missing = "'A': cannot open %s: No such file or directory" % self.missing(self.path("rows"))
        self.refused(missing, rows, "--input=A=" + self.missing(self.path("rows")), 0, False)
        self.refused("fewer.npy is f32[22, 8192], and f32[24, 8192] on rank 0 (on rank 1, ", rows, "--input=A=" + self.path("fewer"), 1)
        self.refused("half.npy is truncated", rows, "--input=A=" + self.path("half"), None)
        self.refused("is a directory, not a regular file (on rank 2, ", rows, "--input=A=" + self.folder, None)
        for ranks in (2, 3):
            os.rename(self.path("rows"), self.path("moved"))
            result = self.ranked(ranks, "again", self.inputs(self.path("rows"), self.path("flags")) + ["--quiet"], rows, "--input=A=" + self.path("moved"), 1)
            os.rename(self.path("moved"), self.path("rows"))
            self.expect("rank 0 does not see it", result[0] == 4 and "rows.npy: No such file or directory (on rank 0, " in result[2]
                        and result[2].count("error") == 1, *result)

    def memory(self):
        """Of 64 MiB rank 0 sends three quarters, and keeps 1 MiB for each other rank."""
        peak, peaks, large = self.path("peak"), [], self.path("large")
        numpy.save(large, numpy.ones((2048, WIDTH), numpy.float32))
        for copies in ("1M", "1G"):
            code, out, err = self.ranked(4, "up", ["--input=A=" + large, "--copies", copies, "--dist=A=1x8192:4x1", "--window=64", "--quiet"],
                                         "--input=A=" + large, "--input=A=" + self.missing(large), 1, PTO_LOCAL_PEAK=peak)
            self.expect("rows of others", code == 0, code, out, err)
            with open(peak, encoding="ascii") as f:
                peaks.append(int(f.read()))
        self.expect("peaks of %s KiB: what was sent is not given back" % peaks, peaks[1] - peaks[0] > 24 << 10)


if __name__ == "__main__":
    follow(Files, Files.unseen_inputs, Files.awaited, Files.unseen_outputs, Files.folder_goes, Files.refusals,
           Files.memory)
