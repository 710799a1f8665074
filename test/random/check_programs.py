"""check_programs.py - the interpreter runs the six programs of the language's definition and agrees with what ptoc makes of them.

usage: check_programs.py PTOC EXAMPLES STD FOLDER
Sums of floats may be taken in another order by a kernel of the library, so those results are compared closely, the others exactly.
"""
import os
import subprocess
import sys

import numpy as np

import interp


def spd(n, rng):
    a = rng.random((n, n))
    return a @ a.T + n * np.eye(n)


def cases(rng):
    """name, entry, arrays, settings, dims, relative tolerance (0: every bit), what is compared of a result"""
    f4 = np.float32
    small = lambda *shape: rng.integers(-4, 5, shape).astype(f4)
    for n in (0, 1, 16384, 40001):
        yield "vadd", "vadd", {"x": small(n), "y": small(n)}, {"n": n}, 0, None
    yield "bgemm", "bgemm", {"A": small(2, 128, 64), "B": small(2, 64, 192), "C": small(2, 128, 192)}, {}, 0, None
    for n in (1, 65536, 65537, 320011):
        yield "treesum", "total", {"x": small(n)}, {}, 0, None
    for causal in ("true", "false"):
        q, k, v = (rng.standard_normal((192, 32)).astype(f4) for _ in range(3))
        yield "flash", "attention", {"Q": q, "K": k, "V": v}, {"causal": causal}, 2e-5, None
    yield "chol", "cholesky", {"A": spd(384, rng), "info": np.zeros(1, np.int32)}, {}, 1e-10, np.tril
    edge = np.zeros((258 + 44, 258 + 44), f4)
    edge[0, :] = 1
    yield "jacobi", "jacobi", {"u": edge, "v": edge.copy()}, {"tol": 1e-3}, 0, None


def main():
    ptoc, examples, std, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(11)
    count = 0
    for name, entry, arrays, settings, tolerance, look in cases(rng):
        source, binary = os.path.join(examples, name + ".pto"), os.path.join(folder, name)
        if not os.path.exists(binary):
            subprocess.run([ptoc, "build", "--cpu=native", "-O0", "-w", source, "-o", binary], check=True)
        expected, printed = interp.Run(interp.Program(source, [std]), settings).entry(entry, arrays)
        command = [binary, "--quiet", "--entry", entry]
        for key, value in settings.items():
            command += ["--set", "%s=%s" % (key, value)]
        for key, value in arrays.items():
            path = os.path.join(folder, "%s.%s.npy" % (name, key))
            np.save(path, value)
            command += ["--input", "%s=%s" % (key, path)]
        for key in expected:
            command += ["--output", "%s=%s" % (key, os.path.join(folder, "%s.%s.out.npy" % (name, key)))]
        got = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
        if got != printed:
            sys.exit("%s printed %r, expected %r" % (name, got, printed))
        for key, value in expected.items():
            result = np.load(os.path.join(folder, "%s.%s.out.npy" % (name, key)))
            same = (lambda x: x) if look is None or result.ndim != 2 else look
            if result.shape != value.shape or not np.allclose(same(result), same(value), rtol=tolerance, atol=tolerance):
                sys.exit("%s: %s differs: greatest difference %g" % (name, key, np.abs(same(result) - same(value)).max()))
        count += 1
    print("%d runs of the six programs agree" % count)


main()
