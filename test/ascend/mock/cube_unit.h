/* cube_unit.h - the cube unit of the stand-in for AscendC's header: layouts of fractals, products, results.
 * kernel_operator.h includes it after the memory and the checks that it uses; no other file does.
 * Not run on Ascend. */
#ifndef PTO_MOCK_CUBE_UNIT_H
#define PTO_MOCK_CUBE_UNIT_H

namespace AscendC {

/* ---- the cube unit: fractals are of 512 bytes ---- */

struct Nd2NzParams {
    uint16_t ndNum, nValue, dValue, srcNdMatrixStride, srcDValue, dstNzC0Stride, dstNzNStride, dstNzMatrixStride;
};

template <typename T> void DataCopy(const LocalTensor<T> &to, const GlobalTensor<T> &from, const Nd2NzParams &p)
{
    constexpr int64_t wide = 32 / sizeof(T);
    MOCK_CHECK((to.is_writable(TPosition::A1) || to.is_writable(TPosition::B1)) && to.is_aligned(32));
    MOCK_CHECK(p.ndNum == 1 && p.nValue <= 16384 && p.srcDValue >= 1);
    MOCK_CHECK(p.dstNzC0Stride >= 1 && p.dstNzC0Stride <= 16384 && p.dstNzNStride >= 1 && p.dstNzNStride <= 16384);
    for (int64_t n = 0; n < p.nValue; n++)
        for (int64_t d = 0; d < (p.dValue + wide - 1) / wide * wide; d++)
            *to.part((d / wide * p.dstNzC0Stride + n * p.dstNzNStride) * wide + d % wide, 1) =
                d < p.dValue ? from.data[n * p.srcDValue + d] : T(0);
}

template <typename T> struct InitConstValueParams {
    uint16_t repeatTimes, blockNum, dstGap;
    T initValue;
};

template <typename T> void InitConstValue(const LocalTensor<T> &to, const InitConstValueParams<T> &p)
{
    constexpr int64_t line = 32 / sizeof(T);
    MOCK_CHECK((to.is_writable(TPosition::A1) || to.is_writable(TPosition::B1)) && to.is_aligned(32));
    MOCK_CHECK(p.repeatTimes <= 32767 && p.blockNum <= 32767 && p.dstGap <= 32767);
    for (int64_t r = 0; r < p.repeatTimes; r++)
        for (int64_t i = 0; i < p.blockNum * line; i++)
            *to.part(r * (p.blockNum + p.dstGap) * line + i, 1) = p.initValue;
}

struct LoadData2DParams {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint8_t sid = 0;
    uint16_t dstGap = 0;
    bool ifTranspose = false;
    uint8_t addrMode = 0;
};

template <typename T> void LoadData(const LocalTensor<T> &to, const LocalTensor<T> &from, const LoadData2DParams &p)
{
    constexpr int64_t fractal = 512 / sizeof(T);
    MOCK_CHECK((from.is_readable(TPosition::A1) && to.is_writable(TPosition::A2)) ||
               (from.is_readable(TPosition::B1) && to.is_writable(TPosition::B2)));
    MOCK_CHECK(to.is_aligned(512) && from.is_aligned(32) && !p.ifTranspose && p.addrMode == 0 && p.repeatTimes >= 1);
    for (int64_t r = 0; r < p.repeatTimes; r++)
        memcpy(to.part(r * (1 + p.dstGap) * fractal, fractal),
               from.part((p.startIndex + r * p.srcStride) * fractal, fractal), 512);
}

struct LoadData2dTransposeParams {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
    uint8_t addrMode = 0;
};

/* 32 bits: two fractals of 16 by 8, side by side a square, which is transposed and cut again. */
template <typename T>
void LoadDataWithTranspose(const LocalTensor<T> &to, const LocalTensor<T> &from, const LoadData2dTransposeParams &p)
{
    static_assert(sizeof(T) == 4, "only this size is made here");
    MOCK_CHECK(from.is_readable(TPosition::B1) && to.is_writable(TPosition::B2));
    MOCK_CHECK(to.is_aligned(512) && from.is_aligned(32) && p.addrMode == 0 && p.repeatTimes >= 1);
    for (int64_t r = 0; r < p.repeatTimes; r++) {
        const T *s = from.part((p.startIndex + r * p.srcStride) * 256, 256);
        T *first = to.part(r * (1 + p.dstGap) * 128, 128),
          *second = to.part((r * (1 + p.dstGap) + 1 + p.dstFracGap) * 128, 128);
        for (int64_t i = 0; i < 16; i++) { /* row of the square: of k */
            T *fractal = i < 8 ? first : second;
            for (int64_t j = 0; j < 16; j++) /* column: of n */
                fractal[j * 8 + i % 8] = s[j / 8 * 128 + i * 8 + j % 8];
        }
    }
}

struct MmadParams {
    uint16_t m = 0, n = 0, k = 0;
    bool cmatrixInitVal = true;
};

/* A by rows of fractals of 16 by 8, B by rows of fractals of 8 by 16 with their columns together, C by columns of 16 by
 * 16.  All of a fractal is multiplied, also the elements behind k, so that a kernel which leaves numbers there has
 * wrong results. */
template <typename T, typename U, typename S>
void Mmad(const LocalTensor<T> &c, const LocalTensor<U> &a, const LocalTensor<S> &b, const MmadParams &p)
{
    static_assert(sizeof(U) == 4 && sizeof(S) == 4 && sizeof(T) == 4, "only f32 is made here");
    MOCK_CHECK(c.is_writable(TPosition::CO1) && a.is_readable(TPosition::A2) && b.is_readable(TPosition::B2));
    MOCK_CHECK(c.is_aligned(1024) && a.is_aligned(512) && b.is_aligned(512));
    MOCK_CHECK(p.m > 1 && p.m <= 4095 && p.n >= 1 && p.n <= 4095 && p.k >= 1 && p.k <= 4095);
    const int64_t high = (p.m + 15) / 16, across = (p.n + 15) / 16, deep = (p.k + 7) / 8;
    const U *left = a.part(0, high * deep * 128);
    const S *right = b.part(0, deep * across * 128);
    T *result = c.part(0, high * across * 256);
    for (int64_t i = 0; i < high * 16; i++)
        for (int64_t j = 0; j < across * 16; j++) {
            T *to = &result[(j / 16 * high + i / 16) * 256 + i % 16 * 16 + j % 16];
            T sum = p.cmatrixInitVal ? T(0) : *to;
            for (int64_t block = 0; block < deep; block++) {
                const U *x = left + (i / 16 * deep + block) * 128 + i % 16 * 8;
                const S *y = right + (block * across + j / 16) * 128 + j % 16 * 8;
                for (int64_t k = 0; k < 8; k++) sum += x[k] * y[k];
            }
            *to = sum;
        }
}

enum class CO2Layout : uint8_t { NZ, ROW_MAJOR };
struct FixpipeConfig {
    CO2Layout format;
};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};

struct FixpipeParamsV220 {
    uint16_t nSize = 0, mSize = 0, srcStride = 0;
    uint32_t dstStride = 0;
    uint16_t ndNum = 0, srcNdStride = 0, dstNdStride = 0;
};

template <typename T> void SetAtomicAdd() { mock::core.adds = true; }
inline void SetAtomicNone() { mock::core.adds = false; }

template <typename T, typename U, const FixpipeConfig &config>
void Fixpipe(const GlobalTensor<T> &to, const LocalTensor<U> &from, const FixpipeParamsV220 &p)
{
    static_assert(config.format == CO2Layout::ROW_MAJOR, "only this form is made here");
    MOCK_CHECK(from.is_readable(TPosition::CO1) && from.is_aligned(64) && p.ndNum == 1);
    MOCK_CHECK(p.nSize >= 1 && p.nSize <= 4095 && p.mSize >= 1 && p.mSize <= 8192 && p.dstStride >= 1);
    for (int64_t i = 0; i < p.mSize; i++)
        for (int64_t j = 0; j < p.nSize; j++) {
            const T value = *from.part(j / 16 * p.srcStride * 16 + i * 16 + j % 16, 1);
            T *at = to.data + i * (int64_t)p.dstStride + j;
            *at = mock::core.adds ? *at + value : value;
        }
}

} // namespace AscendC
#endif
