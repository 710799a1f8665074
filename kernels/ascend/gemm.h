/* gemm.h - a product of matrices of f32 with any strides, on cube cores.
 * Idea       Tiles of the result are spread over the cores; each is a sum over steps of K: global memory -> L1 -> L0A
 *            and L0B -> L0C, and from there in one copy to global memory.  The copy into L1 makes fractals of 16 rows
 *            by 8 columns out of rows, and takes any distance between rows but none between the elements of a
 *            row.  Hence three ways for what the strides are:
 *              plain      b has its columns side by side (the transposed one does): its fractals are what L0B wants
 *              crossed    b has its rows side by side: its fractals are transposed on their way to L0B
 *              spread     anything else: each column of a, and each row of b, is copied as one of 8 of which the others
 *              are zero
 * Invariant  All that is multiplied was loaded, or is zero.  The multiplier is never asked for one row, for which
 *            it would want another layout: rows and columns that are too many are not copied out.
 * Tests      test/ascend/test_ascendc.c, test/lit/ascend/index.test
 *
 * NOT COMPILED HERE, see block.h.
 */
#ifndef PTO_ASCEND_GEMM_H
#define PTO_ASCEND_GEMM_H
#include "block.h"

namespace pto {

using Local = AscendC::LocalTensor<float>;
using Global = AscendC::GlobalTensor<float>;

constexpr int64_t TILE = 128; /* rows and columns of a tile of the result: 64 KiB of L0C */
constexpr int64_t STEP =
    64; /* of K at a time: 32 KiB of L0A, of L0B, of L1 for each, and all of them twice but in L0C */
constexpr int64_t WIDE = 8;  /* f32 in a line of 32 bytes: the columns of a fractal */
constexpr int64_t HIGH = 16; /* its rows */
constexpr int64_t FRACTAL = WIDE * HIGH;
constexpr int64_t FURTHEST = 65535; /* from row to row, in one copy with a change of layout */

/* A matrix as it lies: element (i, j) is at i * row + j * column. */
struct View {
    Global data;
    int64_t row, column;
};

/* n rows of d elements side by side as a column of fractals: line r of block c is at (c * lines + r) * WIDE.  What is
 * missing of the last line of a row becomes zero. */
__aicore__ inline void copy_block(const Local &to, const Global &from, int64_t n, int64_t d, int64_t distance,
                                  int64_t lines)
{
    const bool together = n == 1 || (distance >= 1 && distance <= FURTHEST);
    AscendC::Nd2NzParams p;
    p.ndNum = 1;
    p.nValue = (uint16_t)(together ? n : 1);
    p.dValue = (uint16_t)d;
    p.srcNdMatrixStride = 0;
    p.srcDValue = (uint16_t)(together && n > 1 ? distance : d);
    p.dstNzC0Stride = (uint16_t)lines;
    p.dstNzNStride = 1;
    p.dstNzMatrixStride = 0;
    for (int64_t r = 0; r < (together ? 1 : n); r++)
        AscendC::DataCopy(to[(uint32_t)(r * WIDE)], from[(uint64_t)(r * distance)], p);
}

__aicore__ inline void zero(const Local &to, int64_t lines)
{
    AscendC::InitConstValueParams<float> p;
    p.repeatTimes = 1;
    p.blockNum = (uint16_t)lines;
    p.dstGap = 0;
    p.initValue = 0;
    AscendC::InitConstValue(to, p);
    AscendC::PipeBarrier<PIPE_ALL>();
}

class Gemm {
  public:
    /* p[m, n] = a[m, k] * b[k, n], or p + that. */
    __aicore__ inline Gemm(const View &left, const View &right, const View &result, int64_t m, int64_t n, int64_t k,
                           bool adds)
        : a(left), b(right), p(result), M(m), N(n), K(k), accumulate(adds)
    {
        if (N > 1 && p.column != 1 && p.row == 1) transpose();
        tile_n = N > 1 && p.column != 1 ? 1 : TILE;
        plain = K <= 1 || b.row == 1;
        spread = !((K <= 1 || a.column == 1) && (plain || N == 1 || b.column == 1));
        step = spread ? STEP / WIDE : STEP;
        pipe.InitBuffer(queue_a1, 2, TILE * STEP * sizeof(float));
        pipe.InitBuffer(queue_b1, 2, TILE * STEP * sizeof(float));
        pipe.InitBuffer(queue_a2, 2, TILE * STEP * sizeof(float));
        pipe.InitBuffer(queue_b2, 2, TILE * STEP * sizeof(float));
        pipe.InitBuffer(queue_c, 1, TILE * TILE * sizeof(float));
    }

    __aicore__ inline void run()
    {
        const int64_t across = ceil_div(N, tile_n), tiles = ceil_div(M, TILE) * across;
        for (int64_t i = AscendC::GetBlockIdx(); i < tiles; i += AscendC::GetBlockNum())
            make_tile(i / across * TILE, i % across * tile_n);
    }

  private:
    /* transpose(p) = transpose(b) * transpose(a) */
    __aicore__ inline void transpose()
    {
        const View left = {b.data, b.column, b.row}, right = {a.data, a.column, a.row};
        a = left;
        b = right;
        p = View{p.data, p.column, p.row};
        const int64_t m = M;
        M = N;
        N = m;
    }

    __aicore__ inline void make_tile(int64_t row, int64_t column)
    {
        rows = least(TILE, M - row);
        columns = least(tile_n, N - column);
        row_lines = round_up(rows, HIGH);
        column_lines = round_up(columns, HIGH);
        Local c = queue_c.AllocTensor<float>();
        /* A product over nothing is zero: one step without elements. */
        for (int64_t k = 0; k == 0 || k < K; k += step) {
            depth = least(step, K - k);
            blocks = depth == 0 ? 1 : spread ? depth : ceil_div(depth, WIDE);
            load_a(row, k);
            load_b(column, k);
            split_a();
            split_b();
            multiply(c, k == 0);
        }
        queue_c.EnQue(c);
        copy_out(row, column);
    }

    /* lines of `depth` elements as blocks of WIDE; a distance between the elements makes a block of each */
    __aicore__ inline void load_lines(const Local &to, const Global &from, int64_t lines, int64_t between_lines,
                                      int64_t between_elements)
    {
        const int64_t all_lines = round_up(lines, HIGH);
        if (depth == 0)
            zero(to, all_lines);
        else if (!spread)
            copy_block(to, from, lines, depth, between_lines, all_lines);
        else
            for (int64_t e = 0; e < depth; e++)
                copy_block(to[(uint32_t)(e * all_lines * WIDE)], from[(uint64_t)(e * between_elements)], lines, 1,
                           between_lines, all_lines);
    }

    __aicore__ inline void load_a(int64_t row, int64_t k)
    {
        Local to = queue_a1.AllocTensor<float>();
        load_lines(to, a.data[(uint64_t)(row * a.row + k * a.column)], rows, a.row, a.column);
        queue_a1.EnQue(to);
    }

    __aicore__ inline void load_b(int64_t column, int64_t k)
    {
        Local to = queue_b1.AllocTensor<float>();
        const uint64_t at = (uint64_t)(k * b.row + column * b.column);
        if (!is_crossed())
            load_lines(to, b.data[at], columns, b.column, b.row);
        else
            for (int64_t e = 0; e < depth; e += HIGH) {
                /* 16 rows at a time: then two fractals that make a square lie one behind the other. */
                const int64_t high = least(HIGH, depth - e);
                Local slab = to[(uint32_t)(e * column_lines)];
                if (high < HIGH) zero(slab, HIGH * column_lines / WIDE);
                copy_block(slab, b.data[at + (uint64_t)(e * b.row)], high, columns, b.row, HIGH);
            }
        queue_b1.EnQue(to);
    }

    __aicore__ inline bool is_crossed() const { return !spread && !plain && depth > 0; }

    /* In L1 fractals go down the columns, in L0A along the rows. */
    __aicore__ inline void split_a()
    {
        Local from = queue_a1.DeQue<float>(), to = queue_a2.AllocTensor<float>();
        AscendC::LoadData2DParams p2;
        p2.startIndex = 0;
        p2.repeatTimes = (uint8_t)blocks;
        p2.srcStride = (uint16_t)(row_lines / HIGH);
        p2.dstGap = 0;
        p2.ifTranspose = false;
        for (int64_t r = 0; r < row_lines / HIGH; r++)
            AscendC::LoadData(to[(uint32_t)(r * blocks * FRACTAL)], from[(uint32_t)(r * FRACTAL)], p2);
        queue_a2.EnQue(to);
        queue_a1.FreeTensor(from);
    }

    __aicore__ inline void split_b()
    {
        Local from = queue_b1.DeQue<float>(), to = queue_b2.AllocTensor<float>();
        const int64_t across = column_lines / HIGH;
        if (!is_crossed()) {
            AscendC::LoadData2DParams p2;
            p2.startIndex = 0;
            p2.repeatTimes = (uint8_t)(blocks * across);
            p2.srcStride = 1;
            p2.dstGap = 0;
            p2.ifTranspose = false;
            AscendC::LoadData(to, from, p2);
        } else {
            /* A square of 16 by 16 becomes two fractals, of which the second belongs a row of fractals further down. */
            AscendC::LoadData2dTransposeParams turned;
            turned.startIndex = 0;
            turned.repeatTimes = (uint8_t)across;
            turned.srcStride = 1;
            turned.dstGap = 0;
            turned.dstFracGap = (uint16_t)(across - 1);
            turned.addrMode = 0;
            for (int64_t e = 0; e < depth; e += HIGH)
                AscendC::LoadDataWithTranspose(to[(uint32_t)(e * column_lines)], from[(uint32_t)(e * column_lines)],
                                               turned);
        }
        queue_b2.EnQue(to);
        queue_b1.FreeTensor(from);
    }

    __aicore__ inline void multiply(const Local &c, bool is_first)
    {
        Local left = queue_a2.DeQue<float>(), right = queue_b2.DeQue<float>();
        AscendC::MmadParams m;
        m.m = (uint16_t)row_lines;
        m.n = (uint16_t)column_lines;
        m.k = (uint16_t)(blocks * WIDE);
        m.cmatrixInitVal = is_first;
        AscendC::Mmad(c, left, right, m);
        AscendC::PipeBarrier<PIPE_M>();
        queue_a2.FreeTensor(left);
        queue_b2.FreeTensor(right);
    }

    __aicore__ inline void copy_out(int64_t row, int64_t column)
    {
        Local c = queue_c.DeQue<float>();
        const bool together = rows == 1 || (p.row >= 1 && p.row <= 0xffffffffLL);
        AscendC::FixpipeParamsV220 f;
        f.nSize = (uint16_t)columns;
        f.mSize = (uint16_t)(together ? rows : 1);
        f.srcStride = (uint16_t)row_lines;
        f.dstStride = (uint32_t)(together && rows > 1 ? p.row : columns);
        f.ndNum = 1;
        f.srcNdStride = 0;
        f.dstNdStride = 0;
        if (accumulate) AscendC::SetAtomicAdd<float>();
        for (int64_t r = 0; r < (together ? 1 : rows); r++)
            AscendC::Fixpipe<float, float, AscendC::CFG_ROW_MAJOR>(
                p.data[(uint64_t)((row + r) * p.row + column * p.column)], c[(uint32_t)(r * HIGH)], f);
        if (accumulate) AscendC::SetAtomicNone();
        queue_c.FreeTensor(c);
    }

    View a, b, p;
    int64_t M, N, K;
    bool accumulate;
    int64_t tile_n, step;
    bool plain, spread;
    int64_t rows, columns, depth;    /* of this tile and step */
    int64_t row_lines, column_lines; /* rows and columns, rounded up to whole fractals */
    int64_t blocks;                  /* of WIDE in the step */
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::A1, 1> queue_a1;
    AscendC::TQue<AscendC::TPosition::B1, 1> queue_b1;
    AscendC::TQue<AscendC::TPosition::A2, 1> queue_a2;
    AscendC::TQue<AscendC::TPosition::B2, 1> queue_b2;
    AscendC::TQue<AscendC::TPosition::CO1, 1> queue_c;
};

} // namespace pto
#endif
