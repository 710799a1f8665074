"""shared_program.py - the programs that the tests of calls share, and a matrix for them.

Idea       the programs lie where PTO_TEST_PROGRAMS says, for all processes: the first one compiles each, the others find it in ptoc's cache.
Owner      folder: the files of the process, removed at its end; m: the module of PROGRAM, which is at path.
"""
import os
import pathlib
import tempfile

import numpy as np

import ptoc

PROGRAM = """
param by: i64 = 2;
kernel add<M, N>(in a: f32[M, N], in b: f32[M, N], out c: f32[M, N]) on vector {
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            c[i * c_stride[0] + j * c_stride[1]] = a[i * a_stride[0] + j * a_stride[1]] + b[i * b_stride[0] + j * b_stride[1]];
}
kernel sum<N>(in a: f32[N], out s: f32[1]) on vector { s[0] = 0; for (int64_t i = 0; i < N; i++) s[0] += a[i]; }
kernel times<N>(in x: i64[N], out y: i64[N], by: i64) on vector { for (int64_t i = 0; i < N; i++) y[i] = by * x[i]; }
kernel flip<N>(in x: bool[N], out y: bool[N]) on vector { for (int64_t i = 0; i < N; i++) y[i] = !x[i]; }
kernel spin(inout a: f32[1]) on vector { for (volatile long i = 0; i < 2000000; i++) {} a[0] += 1; }
kernel gather<R, C, Z>(in ptr: i32[R + 1], in idx: i32[Z], in val: f32[Z], in x: f32[C], out y: f32[R]) on vector {
    for (int64_t r = 0; r < R; r++) {
        y[r] = 0;
        for (int32_t k = ptr[r]; k < ptr[r + 1]; k++) y[r] += val[k] * x[idx[k]];
    }
}
struct Csr<R, C, Z> { ptr: i32[R + 1]; idx: i32[Z]; val: f32[Z]; }
// c = a + b
export orch plus<M, N>(in a: f32[M, N], in b: f32[M, N], out c: f32[M, N]) { add(a, b, out c); }
kernel rows<C, Q>(in a: f32[Q], in x: f32[C * Q], out n: i64[2]) on cpu { (void)a; (void)x; n[0] = C; n[1] = Q; }
export orch blocks<C, Q>(in a: f32[Q], in x: f32[C * Q], out n: i64[2]) { rows(a, x, out n); }
export orch total<N>(in a: f32[N], out s: f32[1]) { sum(a, out s); }
export orch scale<N>(in x: i64[N], out y: i64[N]) { times(x, out y, by); }
export orch negate<N>(in x: bool[N], out y: bool[N]) { flip(x, out y); }
export orch half(x: f64, big: bool, n: i64) -> f64 { if big { return n; } return x / 2.0; }
export orch wait(inout a: f32[1], n: i64) { for i in 0 .. n { spin(inout a); } }
export orch fail(n: i64) { assert n < 3, "n is too large"; print n; }
export orch spmv<R, C, Z>(in a: Csr[R, C, Z], in x: f32[C], out y: f32[R]) { gather(a.ptr, a.idx, a.val, x, out y); }
kernel fill(out a: f32[2048]) on vector { for (int i = 0; i < 2048; i++) a[i] = 1; }
export orch large() { let a: f32[2048]; fill(out a); }
orch down(n: i64) { if n > 0 { down(n - 1); } }
export orch deep(n: i64) { down(n); }
"""

NESTED = """
struct Inner<M> { a: f32[M]; }
struct Outer<M> { i: Inner[M]; count: f32[M]; }
kernel twice<N>(in x: f32[N], out y: f32[N]) on vector { for (int64_t i = 0; i < N; i++) y[i] = 2 * x[i]; }
export orch inner<M>(in o: Outer[M], out y: f32[M]) { twice(o.i.a, out y); }
export orch both<M>(in x: f32[M], out o: Outer[M], out y: f32[M]) { twice(x, out o.i.a); twice(o.i.a, out o.count); twice(x, out y); }
export orch next<M>(in o: Outer[M]) -> Outer[M] { let n: Outer[M]; twice(o.i.a, out n.i.a); twice(o.count, out n.count); return n; }
"""

SPARSE = """
import "std/sparse.pto" as sparse;
const ROWS = 16;
export orch spmv<R, C, Z>(in a: sparse.Csr32_f64[R, C, Z], in x: f64[C], out y: f64[R]) {
  for i in 0 .. R step ROWS {
    let n = min(ROWS, R - i);
    let first = a.ptr[i] - a.ptr[0];
    let last = a.ptr[i + n] - a.ptr[0];
    sparse.spmv(a.ptr[i +: n + 1], a.idx[first .. last], a.val[first .. last], x, out y[i +: n]);
  }
}
export orch spmm<R, C, Z, N>(in a: sparse.Csr32[R, C, Z], in x: f32[C, N], out y: f32[R, N]) {
  sparse.spmm(a.ptr, a.idx, a.val, x, out y);
}
export orch product<R, C, Z, K, Y>(in a: sparse.Csr[R, K, Z], in b: sparse.Csr[K, C, Y]) -> sparse.MadeCsr[R, C, ?z] {
  let ptr = sparse.spgemm_count(a.ptr, a.idx, b.ptr, b.idx, C);
  let z = await ptr[R];
  let m: sparse.MadeCsr[R, C, z];
  copy(ptr, out m.ptr);
  sparse.spgemm_fill(a.ptr, a.idx, a.val, b.ptr, b.idx, b.val, m.ptr, out m.idx, out m.val, C);
  return m;
}
export orch positive<N>(in x: f64[N]) -> f64[?m] {
  let n = count(x);
  let m = await n[0];
  let y: f64[m];
  pack(x, out y);
  return y;
}
kernel copy<N>(in x: i64[N], out y: i64[N]) on vector { memcpy(y, x, (size_t)N * sizeof *y); }
kernel count<N>(in x: f64[N], out n: i64[1]) on vector { n[0] = 0; for (int64_t i = 0; i < N; i++) n[0] += x[i] > 0; }
kernel pack<N, M>(in x: f64[N], out y: f64[M]) on vector { for (int64_t i = 0, j = 0; i < N; i++) if (x[i] > 0) y[j++] = x[i]; }
"""

folder = tempfile.TemporaryDirectory()
programs = pathlib.Path(os.environ.get("PTO_TEST_PROGRAMS", folder.name))


def written(name, text):
    """The path of a file with the text.  It appears whole: other processes write the same."""
    programs.mkdir(parents=True, exist_ok=True)
    partial = programs / f".{os.getpid()}.{name}"
    partial.write_text(text)
    return partial.replace(programs / name)


path = written("calls.pto", PROGRAM)
m = ptoc.compile(path)
nested_path = written("nested.pto", NESTED)
sparse_path = written("sparse.pto", SPARSE)


def matrix(rows=3, columns=4):
    return np.arange(rows * columns, dtype="f4").reshape(rows, columns)
