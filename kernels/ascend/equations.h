/* equations.h - what the kernels in index notation are made of that --emit=ascendc prints.
 * Idea       a row goes through local memory in pieces; each operation is one instruction on the piece, and a number of
 *            the row is a float of the scalar unit.  Here a piece is always dense: elements that lie apart in global
 *            memory are moved through lines of 32 bytes, SPREAD at a time, by the scalar unit.
 * Invariant  Only the bytes of the elements themselves are written to global memory.  What the scalar unit reads or
 *            writes in local memory stands between two barriers for all units.
 * Tests      test/lit/ascend/index.test
 *
 * NOT COMPILED HERE, see block.h.
 */
#ifndef PTO_ASCEND_EQUATIONS_H
#define PTO_ASCEND_EQUATIONS_H
#include "rows.h"

namespace pto {

using Floats = AscendC::LocalTensor<float>;
using GlobalFloats = AscendC::GlobalTensor<float>;
using Mask = AscendC::LocalTensor<uint8_t>;
using InQueue = AscendC::TQue<AscendC::TPosition::VECIN, 1>;
using OutQueue = AscendC::TQue<AscendC::TPosition::VECOUT, 1>;
using Work = AscendC::TBuf<AscendC::TPosition::VECCALC>;

constexpr int64_t SPREAD = 256; /* 8 KiB in lines */
constexpr int64_t LANES = 64;   /* a comparison counts in 256 bytes */

/* The way of single elements. */
struct Lines {
    InQueue in;
    OutQueue out;

    __aicore__ inline void init(AscendC::TPipe &pipe)
    {
        pipe.InitBuffer(in, 2, SPREAD * LINE_BYTES);
        pipe.InitBuffer(out, 2, SPREAD * LINE_BYTES);
    }
};

__aicore__ inline void wait_for_all() { AscendC::PipeBarrier<PIPE_ALL>(); }

__aicore__ inline float first_of(const Floats &x)
{
    wait_for_all();
    return x.GetValue(0);
}

/* `count` elements, `inner` apart, from element `at` of `from` on. */
__aicore__ inline void load(const Floats &to, const GlobalFloats &from, int64_t at, int64_t inner, int64_t count,
                            Lines &lines)
{
    if (inner == 1) {
        load_piece(to, from, at, inner, (uint32_t)count, true);
        return;
    }
    for (int64_t first = 0; first < count; first += SPREAD) {
        const uint32_t length = (uint32_t)least(SPREAD, count - first);
        Floats apart = lines.in.AllocTensor<float>();
        load_piece(apart, from, at + first * inner, inner, length, false);
        lines.in.EnQue(apart);
        apart = lines.in.DeQue<float>();
        wait_for_all();
        for (uint32_t i = 0; i < length; i++) to.SetValue((uint32_t)first + i, apart.GetValue(i * place<float>(false)));
        wait_for_all();
        lines.in.FreeTensor(apart);
    }
}

__aicore__ inline void store(const GlobalFloats &to, int64_t at, int64_t inner, const Floats &from, int64_t count,
                             Lines &lines)
{
    if (inner == 1) {
        store_piece(to, at, inner, from, (uint32_t)count, true);
        return;
    }
    for (int64_t first = 0; first < count; first += SPREAD) {
        const uint32_t length = (uint32_t)least(SPREAD, count - first);
        Floats apart = lines.out.AllocTensor<float>();
        wait_for_all();
        for (uint32_t i = 0; i < length; i++)
            apart.SetValue(i * place<float>(false), from.GetValue((uint32_t)first + i));
        wait_for_all();
        lines.out.EnQue(apart);
        apart = lines.out.DeQue<float>();
        store_piece(to, at + first * inner, inner, apart, length, false);
        lines.out.FreeTensor(apart);
    }
}

/* One element. */
__aicore__ inline float number_at(const GlobalFloats &from, int64_t at, Lines &lines)
{
    Floats x = lines.in.AllocTensor<float>();
    load_piece(x, from, at, 1, 1, true);
    lines.in.EnQue(x);
    x = lines.in.DeQue<float>();
    const float value = first_of(x);
    lines.in.FreeTensor(x);
    return value;
}

__aicore__ inline void put_number(const GlobalFloats &to, int64_t at, float value, Lines &lines)
{
    Floats x = lines.out.AllocTensor<float>();
    AscendC::Duplicate(x, value, 1);
    lines.out.EnQue(x);
    x = lines.out.DeQue<float>();
    store_piece(to, at, 1, x, 1, true);
    lines.out.FreeTensor(x);
}

/* ---- operations on `n` elements; the next one waits for each ---- */

#define PTO_OF_TWO(name, Instruction)                                                                                  \
    __aicore__ inline void name(const Floats &to, const Floats &a, const Floats &b, int32_t n)                         \
    {                                                                                                                  \
        AscendC::Instruction(to, a, b, n);                                                                             \
        AscendC::PipeBarrier<PIPE_V>();                                                                                \
    }
PTO_OF_TWO(add, Add)
PTO_OF_TWO(sub, Sub)
PTO_OF_TWO(mul, Mul)
PTO_OF_TWO(div, Div)
PTO_OF_TWO(max, Max)
PTO_OF_TWO(min, Min)
#undef PTO_OF_TWO

#define PTO_OF_ONE(name, Instruction)                                                                                  \
    __aicore__ inline void name(const Floats &to, const Floats &a, int32_t n)                                          \
    {                                                                                                                  \
        AscendC::Instruction(to, a, n);                                                                                \
        AscendC::PipeBarrier<PIPE_V>();                                                                                \
    }
PTO_OF_ONE(exp, Exp)
PTO_OF_ONE(log, Ln)
PTO_OF_ONE(sqrt, Sqrt)
PTO_OF_ONE(abs, Abs)
#undef PTO_OF_ONE

__aicore__ inline void adds(const Floats &to, const Floats &a, float b, int32_t n)
{
    AscendC::Adds(to, a, b, n);
    AscendC::PipeBarrier<PIPE_V>();
}
__aicore__ inline void muls(const Floats &to, const Floats &a, float b, int32_t n)
{
    AscendC::Muls(to, a, b, n);
    AscendC::PipeBarrier<PIPE_V>();
}
__aicore__ inline void set(const Floats &to, float value, int32_t n)
{
    AscendC::Duplicate(to, value, n);
    AscendC::PipeBarrier<PIPE_V>();
}
/* 0, 1, 2, ... */
__aicore__ inline void count_up(const Floats &to, int32_t n)
{
    AscendC::CreateVecIndex(to, 0.0f, (uint32_t)n);
    AscendC::PipeBarrier<PIPE_V>();
}

/* Conditions are 1 and 0. */
__aicore__ inline void compare(const Floats &to, const Floats &a, const Floats &b, AscendC::CMPMODE mode,
                               const Mask &mask, int32_t n)
{
    AscendC::Compare(mask, a, b, mode, (uint32_t)round_up(n, LANES));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Duplicate(to, 1.0f, n);
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Select(to, mask, to, 0.0f, AscendC::SELMODE::VSEL_TENSOR_SCALAR_MODE, (uint32_t)n);
    AscendC::PipeBarrier<PIPE_V>();
}
__aicore__ inline void select(const Floats &to, const Floats &condition, const Floats &yes, const Floats &no,
                              const Mask &mask, int32_t n)
{
    AscendC::CompareScalar(mask, condition, 0.0f, AscendC::CMPMODE::NE, (uint32_t)round_up(n, LANES));
    AscendC::PipeBarrier<PIPE_V>();
    AscendC::Select(to, mask, yes, no, AscendC::SELMODE::VSEL_TENSOR_TENSOR_MODE, (uint32_t)n);
    AscendC::PipeBarrier<PIPE_V>();
}
/* A distance as f32, which is exact where it is less than that to the end of any piece. */
__aicore__ inline float distance(int64_t value)
{
    constexpr int64_t FAR = 1 << 23;
    return (float)(value > FAR ? FAR : value < -FAR ? -FAR : value);
}

/* ---- reductions of a piece, in the order of the device ---- */

__aicore__ inline float sum_of(const Floats &a, const Floats &to, const Floats &work, int32_t n)
{
    AscendC::ReduceSum(to, a, work, n);
    return first_of(to);
}
__aicore__ inline float max_of(const Floats &a, const Floats &to, const Floats &work, int32_t n)
{
    AscendC::ReduceMax(to, a, work, n, false);
    return first_of(to);
}
__aicore__ inline float min_of(const Floats &a, const Floats &to, const Floats &work, int32_t n)
{
    AscendC::ReduceMin(to, a, work, n, false);
    return first_of(to);
}
__aicore__ inline float greater(float a, float b) { return a < b ? b : a; }
__aicore__ inline float lesser(float a, float b) { return b < a ? b : a; }

} // namespace pto
#endif
