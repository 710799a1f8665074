"""index_types.py PROGRAM FOLDER - see index-types.pto."""
import pathlib
import subprocess
import sys

import numpy as np

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
OUTPUTS = "q r w s u p some every first last y t m z c d e".split()


def bf16(x):
    """Rounded to bf16, to even, as f32."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16
    return np.where(np.isnan(x), x, rounded.astype(np.uint32).view(np.float32)).astype(np.float32)


def wrapped(v, bits):
    return (v.astype(np.int64) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def clipped(v, low, high):
    v = np.where(np.isnan(v), 0, v)
    return [low if t < low else high if t > high else int(t) for t in v.astype(np.float64)]


def expected(a, b, x):
    q = np.fix(a / b).astype(np.int64)  # exact: both fit in a double
    f = x.astype(np.float16)
    h = bf16(x)
    g = bf16(h + h)
    c = (x * np.float32(100)).astype(np.float32)
    return {
        "q": q, "r": a - q * b, "w": wrapped(wrapped(np.fmod(a, 100), 8) * 3 - np.clip(b, -128, 127), 8),
        "s": (a << 3) ^ (b >> 1) | (~a & 15), "u": np.clip(b, 0, 65535), "p": (a > b) & (b != 3) | (a == -1), "some": [np.any(a == b)],
        "every": [np.all(a != 1000000)], "first": [np.argmin(a)], "last": [np.argmax(np.fmod(b, 7))],
        "y": h * h + f.astype(np.float32), "z": g * g + f.astype(np.float32), "m": [h.max()],
        "c": clipped(c, -128, 127), "d": clipped(x * np.float32(1e30), -2 ** 63, 2 ** 63 - 1), "e": clipped(x * np.float32(200), 0, 255),
    }


def main():
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    count = bad = 0
    for level in ("base", "v3", "v4"):
        if subprocess.run([PROGRAM, "--cpu=" + level, "--help"], capture_output=True).returncode:
            continue
        for n in (1, 201) if level == "base" else (130,):
            a = rng.integers(-1000, 1000, n)
            b = rng.integers(1, 9, n) * rng.choice([-1, 1], n)
            x = rng.standard_normal(n).astype(np.float32)
            a[: n // 4] = b[: n // 4]
            if n > 9:
                a[5:9] = [-2 ** 31, 2 ** 31 - 1, -1, 1000000]
                b[5:9] = [3, -7, 2 ** 31 - 1, -2 ** 31]
            np.save(FOLDER / "a.npy", a.astype(np.int32))
            np.save(FOLDER / "b.npy", b.astype(np.int32))
            np.save(FOLDER / "x.npy", x)
            command = [PROGRAM, "--quiet", "--cpu=" + level] + ["--input=%s=%s/%s.npy" % (v, FOLDER, v) for v in "abx"]
            done = subprocess.run(command + ["--output=%s=%s/out_%s.npy" % (v, FOLDER, v) for v in OUTPUTS], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            got = {v: np.load(FOLDER / ("out_%s.npy" % v)) for v in OUTPUTS}
            wrong = [v for v, want in expected(a, b, x).items() if not np.array_equal(got[v].astype(object), np.asarray(want).astype(object))]
            total = x.astype(np.float16).astype(np.float64)
            if abs(got["t"][0] - total.sum()) > 1e-5 * np.abs(total).sum():
                wrong.append("t")
            count += 1
            bad += len(wrong)
            for v in wrong:
                print("WRONG", level, n, v, got[v], expected(a, b, x).get(v))
    print("%d runs, %d wrong" % (count, bad))


main()
