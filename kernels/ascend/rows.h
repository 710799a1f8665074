/* rows.h - a matrix of any strides, walked in pieces of rows through the vector unit.
 * Idea       A piece is `count` elements of a row.  Where every operand has them side by side, a piece lies dense in
 *            local memory. Otherwise each element has a line of 32 bytes for itself: copies then take any stride, and
 *            the arithmetic, which does not mind what lies between, is the same.
 * Invariant  Only the bytes of the elements themselves are written to global memory: what lies between them may be
 *            another task's.
 * Tests      test/ascend/test_ascendc.c
 *
 * NOT COMPILED HERE, see block.h.
 */
#ifndef PTO_ASCEND_ROWS_H
#define PTO_ASCEND_ROWS_H
#include "block.h"

namespace pto {

constexpr int64_t PIECE_BYTES = 16384; /* of one operand; two of each are in flight */

/* One operand: where it is, and how far it is from row to row and from element to element of a row. */
template <typename T> struct Matrix {
    AscendC::GlobalTensor<T> data;
    int64_t outer, inner;

    __aicore__ inline Matrix(GM_ADDR address, int64_t stride0, int64_t stride1, bool turned)
        : outer(turned ? stride1 : stride0), inner(turned ? stride0 : stride1)
    {
        data.SetGlobalBuffer((__gm__ T *)address);
    }
};

/* How a matrix is cut, and which pieces are this core's: every GetBlockNum()-th. */
template <typename T> struct Walk {
    int64_t rows, columns, piece, pieces_of_row;
    bool dense;

    __aicore__ inline Walk(int64_t row_count, int64_t column_count, bool turned, bool all_dense)
        : rows(turned ? column_count : row_count), columns(turned ? row_count : column_count),
          piece((all_dense ? PIECE_BYTES : PIECE_BYTES / LINE_BYTES * (int64_t)sizeof(T)) / (int64_t)sizeof(T)),
          pieces_of_row(ceil_div(columns, piece)), dense(all_dense)
    {
    }
    __aicore__ inline int64_t first() const { return AscendC::GetBlockIdx(); }
    __aicore__ inline int64_t step() const { return AscendC::GetBlockNum(); }
    __aicore__ inline int64_t count() const { return rows * pieces_of_row; }
    __aicore__ inline int64_t row(int64_t i) const { return i / pieces_of_row; }
    __aicore__ inline int64_t column(int64_t i) const { return i % pieces_of_row * piece; }
    __aicore__ inline int64_t length(int64_t i) const { return least(piece, columns - column(i)); }
    /* What the arithmetic goes over: the lines of the elements, or the elements. */
    __aicore__ inline int32_t extent(int64_t i) const
    {
        return (int32_t)(dense ? length(i) : length(i) * (LINE_BYTES / (int64_t)sizeof(T)));
    }
};

/* Rows go along the dimension in which the written matrix is dense. */
__aicore__ inline bool is_turned(int64_t stride0, int64_t stride1, int64_t columns)
{
    return stride0 == 1 && stride1 != 1 && columns > 1;
}

template <typename T> __aicore__ inline bool is_dense(const Matrix<T> &m) { return m.inner == 1; }

/* Does one copy reach from element to element?  Its gap is 32 bits of bytes. */
template <typename T> __aicore__ inline bool is_one_copy(int64_t stride)
{
    return stride >= 1 && (stride - 1) * (int64_t)sizeof(T) <= 0xffffffffLL;
}

/* Where element i of a piece is in local memory: at x[i * place<T>(dense)]. */
template <typename T> __aicore__ inline uint32_t place(bool dense)
{
    return dense ? 1 : (uint32_t)(LINE_BYTES / sizeof(T));
}

/* `length` elements, `inner` apart, from element `at` of `from` on. */
template <typename T>
__aicore__ inline void load_piece(const AscendC::LocalTensor<T> &to, const AscendC::GlobalTensor<T> &from, int64_t at,
                                  int64_t inner, uint32_t length, bool dense)
{
    const AscendC::DataCopyPadExtParams<T> no_padding = {false, 0, 0, T()};
    const uint32_t size = (uint32_t)sizeof(T);
    if (dense)
        AscendC::DataCopyPad(to, from[(uint64_t)at], AscendC::DataCopyExtParams{1, length * size, 0, 0, 0}, no_padding);
    else if (is_one_copy<T>(inner))
        AscendC::DataCopyPad(to, from[(uint64_t)at],
                             AscendC::DataCopyExtParams{(uint16_t)length, size, (uint32_t)((inner - 1) * size), 0, 0},
                             no_padding);
    else
        for (uint32_t e = 0; e < length; e++)
            AscendC::DataCopyPad(to[e * place<T>(dense)], from[(uint64_t)(at + e * inner)],
                                 AscendC::DataCopyExtParams{1, size, 0, 0, 0}, no_padding);
}

template <typename T>
__aicore__ inline void store_piece(const AscendC::GlobalTensor<T> &to, int64_t at, int64_t inner,
                                   const AscendC::LocalTensor<T> &from, uint32_t length, bool dense)
{
    const uint32_t size = (uint32_t)sizeof(T);
    if (dense)
        AscendC::DataCopyPad(to[(uint64_t)at], from, AscendC::DataCopyExtParams{1, length * size, 0, 0, 0});
    else if (is_one_copy<T>(inner))
        AscendC::DataCopyPad(to[(uint64_t)at], from,
                             AscendC::DataCopyExtParams{(uint16_t)length, size, 0, (uint32_t)((inner - 1) * size), 0});
    else
        for (uint32_t e = 0; e < length; e++)
            AscendC::DataCopyPad(to[(uint64_t)(at + e * inner)], from[e * place<T>(dense)],
                                 AscendC::DataCopyExtParams{1, size, 0, 0, 0});
}

template <typename T>
__aicore__ inline void load(const AscendC::LocalTensor<T> &to, const Matrix<T> &from, const Walk<T> &walk, int64_t i)
{
    load_piece(to, from.data, walk.row(i) * from.outer + walk.column(i) * from.inner, from.inner,
               (uint32_t)walk.length(i), walk.dense);
}

template <typename T>
__aicore__ inline void store(const Matrix<T> &to, const AscendC::LocalTensor<T> &from, const Walk<T> &walk, int64_t i)
{
    store_piece(to.data, walk.row(i) * to.outer + walk.column(i) * to.inner, to.inner, from, (uint32_t)walk.length(i),
                walk.dense);
}

} // namespace pto
#endif
