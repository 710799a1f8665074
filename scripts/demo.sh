#!/bin/sh
# demo.sh - the main job on real input: examples/bgemm.pto on NumPy files, engine threads, checked twice.
# usage: demo.sh PREFIX [FOLDER]    a build folder or an installation; FOLDER: for the data
set -eu
prefix=$1
source=$(cd "$(dirname "$0")/.." && pwd)
python=/usr/bin/python3
out=${2-$prefix/demo}
mkdir -p "$out"

echo "== input: A[4,512,512], B[4,512,512], C[4,512,512] of f32 in $out"
$python "$source/scripts/make_inputs.py" "$out" --batch 4 --m 512 --n 512 --k 512

echo "== ptoc run examples/bgemm.pto, engine threads, compared with the serial engine (--check)"
cd "$source"
"$prefix/bin/ptoc" run examples/bgemm.pto --engine threads --check --stats \
    --input A="$out/A.npy" --input B="$out/B.npy" --input C="$out/C.npy" --output C="$out/result.npy"

echo "== result compared with C + A * B by NumPy's BLAS in f64"
exec $python "$source/scripts/check_bgemm.py" "$out"
