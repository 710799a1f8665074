/* kernel_operator.h - a stand-in for the header of AscendC, so that its kernels run on the host.  Mock, not run on
 * Ascend.
 * Idea       The names of the public documentation that our kernels use, each doing at once what is documented for
 *            it, on one core after the other.  Local memory is the host's; a buffer knows where it stands in the way
 *            of its queue.
 * Strict     abort with a message where the documentation forbids: a parameter out of range, an address that is not
 *            aligned, a buffer in the wrong memory, one that is read before EnQue and DeQue (which is what makes a
 *            unit wait for the other), more buffers than there are, a buffer that is not given back, more memory than
 *            a core has.  A fresh buffer is full of numbers that are none.
 * Not shown  effects of time: units that overtake each other inside one queue step, caches, what a copy costs.
 * Tests      test_ascendc.c, test/lit/ascend/kernels.test
 */
#ifndef PTO_MOCK_KERNEL_OPERATOR_H
#define PTO_MOCK_KERNEL_OPERATOR_H
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#define __global__
#define __aicore__
#define __gm__
typedef unsigned char *GM_ADDR;
/* Elements that are only moved here. */
struct half {
    uint16_t bits;
};
struct bfloat16_t {
    uint16_t bits;
};

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum { KERNEL_TYPE_AIV_ONLY = 1, KERNEL_TYPE_AIC_ONLY = 2 };
#define KERNEL_TASK_TYPE_DEFAULT(type) AscendC::mock::start(type)

namespace AscendC {

enum class TPosition : uint8_t { GM, A1, A2, B1, B2, CO1, VECIN, VECOUT, VECCALC };

namespace mock {

[[noreturn]] inline void die(const char *function, const char *what)
{
    fprintf(stderr, "AscendC mock: %s: %s\n", function, what);
    abort();
}
#define MOCK_CHECK(condition) ((condition) ? (void)0 : AscendC::mock::die(__func__, #condition))

struct Core { /* the one that runs; a thread of the stub is a core of its own */
    int64_t index = 0, count = 1;
    int type = 0;
    bool adds = false;
    size_t used[9] = {};
};
inline thread_local Core core;

inline void start(int type) { core.type = type; }
inline bool is_vector(TPosition p) { return p >= TPosition::VECIN; }

/* What a core has of each memory. */
inline size_t capacity(TPosition p)
{
    switch (p) {
    case TPosition::A1:
    case TPosition::B1: return 512 * 1024;
    case TPosition::A2:
    case TPosition::B2: return 64 * 1024;
    case TPosition::CO1: return 128 * 1024;
    default: return 192 * 1024;
    }
}
inline TPosition memory_of(TPosition p)
{
    return p == TPosition::B1 ? TPosition::A1 : is_vector(p) ? TPosition::VECIN : p;
}

enum State { FREE, ALLOCATED, QUEUED, TAKEN };
struct Buffer {
    std::vector<unsigned char> bytes;
    unsigned char *base = nullptr;
    State state = FREE;
    TPosition from = TPosition::GM, to = TPosition::GM; /* of its queue */
};

} // namespace mock

inline int64_t GetBlockIdx() { return mock::core.index; }
inline int64_t GetBlockNum() { return mock::core.count; }

template <typename T> class GlobalTensor {
  public:
    void SetGlobalBuffer(T *address) { data = address; }
    GlobalTensor operator[](uint64_t offset) const
    {
        GlobalTensor g;
        g.data = (T *)((uintptr_t)data + offset * sizeof(T)); /* an empty one may be nowhere */
        return g;
    }
    T *data = nullptr;
};

template <typename T> class LocalTensor {
  public:
    LocalTensor operator[](uint32_t offset) const
    {
        LocalTensor t = *this;
        t.data = data + offset;
        return t;
    }
    /* The elements [first, first + count), which must be inside the buffer. */
    T *part(int64_t first, int64_t count) const
    {
        MOCK_CHECK(buffer != nullptr && buffer->state != mock::FREE);
        MOCK_CHECK(data + first >= (T *)buffer->base);
        MOCK_CHECK((unsigned char *)(data + first + count) <= buffer->base + buffer->bytes.size() - 512);
        return data + first;
    }
    T GetValue(uint32_t at) const { return *part(at, 1); }
    void SetValue(uint32_t at, T value) const { *part(at, 1) = value; }
    bool is_calculated() const { return buffer->from == TPosition::VECCALC; }
    bool is_aligned(size_t to) const { return (size_t)((unsigned char *)data - buffer->base) % to == 0; }
    bool is_writable(TPosition at) const { return buffer->from == at && buffer->state == mock::ALLOCATED; }
    bool is_readable(TPosition at) const { return buffer->to == at && buffer->state == mock::TAKEN; }
    T *data = nullptr;
    mock::Buffer *buffer = nullptr;
};

/* A queue from where a buffer is written to where it is read. */
template <TPosition From, TPosition To, int Depth> class TQueBind {
  public:
    TQueBind() {}
    TQueBind(const TQueBind &) = delete;
    ~TQueBind()
    {
        for (mock::Buffer &b : buffers) MOCK_CHECK(b.state == mock::FREE);
        mock::core.used[(int)mock::memory_of(From)] -= bytes;
    }
    void init(int64_t count, int64_t size)
    {
        MOCK_CHECK(count > 0 && size > 0 && size % 32 == 0);
        bytes = (size_t)(count * size);
        size_t &used = mock::core.used[(int)mock::memory_of(From)];
        used += bytes;
        MOCK_CHECK(used <= mock::capacity(From));
        MOCK_CHECK(mock::is_vector(From) ? mock::core.type != KERNEL_TYPE_AIC_ONLY
                                         : mock::core.type != KERNEL_TYPE_AIV_ONLY);
        buffers = std::vector<mock::Buffer>((size_t)count);
        for (mock::Buffer &b : buffers) {
            b.bytes.resize((size_t)size + 512);
            b.base = b.bytes.data() + (512 - (size_t)(uintptr_t)b.bytes.data() % 512) % 512;
            b.from = From;
            b.to = To;
        }
    }
    template <typename T> LocalTensor<T> AllocTensor()
    {
        for (mock::Buffer &b : buffers)
            if (b.state == mock::FREE) {
                b.state = mock::ALLOCATED;
                memset(b.bytes.data(), 0xff, b.bytes.size());
                return tensor<T>(b);
            }
        mock::die(__func__, "every buffer of the queue is in use");
    }
    template <typename T> void EnQue(const LocalTensor<T> &t)
    {
        MOCK_CHECK(t.buffer->state == mock::ALLOCATED);
        MOCK_CHECK(waiting.size() < (size_t)Depth);
        t.buffer->state = mock::QUEUED;
        waiting.push_back(t.buffer);
    }
    template <typename T> LocalTensor<T> DeQue()
    {
        MOCK_CHECK(!waiting.empty());
        mock::Buffer *b = waiting.front();
        waiting.pop_front();
        b->state = mock::TAKEN;
        return tensor<T>(*b);
    }
    template <typename T> void FreeTensor(const LocalTensor<T> &t)
    {
        MOCK_CHECK(t.buffer->state == mock::TAKEN || t.buffer->state == mock::ALLOCATED);
        t.buffer->state = mock::FREE;
    }

  private:
    template <typename T> static LocalTensor<T> tensor(mock::Buffer &b)
    {
        LocalTensor<T> t;
        t.data = (T *)(void *)b.base;
        t.buffer = &b;
        return t;
    }
    std::vector<mock::Buffer> buffers;
    std::deque<mock::Buffer *> waiting;
    size_t bytes = 0;
};

template <TPosition At, int Depth> using TQue = TQueBind<At, At, Depth>;

/* Memory of the vector unit that goes through no queue. */
template <TPosition At> class TBuf {
  public:
    TBuf() {}
    TBuf(const TBuf &) = delete;
    ~TBuf() { mock::core.used[(int)mock::memory_of(At)] -= bytes; }
    void init(int64_t size)
    {
        MOCK_CHECK(At == TPosition::VECCALC && size > 0 && size % 32 == 0);
        bytes = (size_t)size;
        size_t &used = mock::core.used[(int)mock::memory_of(At)];
        used += bytes;
        MOCK_CHECK(used <= mock::capacity(At));
        MOCK_CHECK(mock::core.type != KERNEL_TYPE_AIC_ONLY);
        buffer.bytes.resize(bytes + 512, 0xff);
        buffer.base = buffer.bytes.data() + (512 - (size_t)(uintptr_t)buffer.bytes.data() % 512) % 512;
        buffer.from = buffer.to = At;
        buffer.state = mock::ALLOCATED;
    }
    template <typename T> LocalTensor<T> Get()
    {
        LocalTensor<T> t;
        t.data = (T *)(void *)buffer.base;
        t.buffer = &buffer;
        return t;
    }

  private:
    mock::Buffer buffer;
    size_t bytes = 0;
};

class TPipe {
  public:
    template <TPosition At> void InitBuffer(TBuf<At> &buffer, int64_t size) { buffer.init(size); }
    template <typename Queue> void InitBuffer(Queue &queue, int64_t count, int64_t size) { queue.init(count, size); }
};

template <pipe_t> void PipeBarrier() {}

/* ---- copies between global memory and the vector unit's ---- */

struct DataCopyExtParams {
    uint16_t blockCount = 0;
    uint32_t blockLen = 0, srcStride = 0, dstStride = 0;
    uint32_t rsv = 0;
    DataCopyExtParams(uint16_t count, uint32_t length, uint32_t source, uint32_t target, uint32_t reserved)
        : blockCount(count), blockLen(length), srcStride(source), dstStride(target), rsv(reserved)
    {
        MOCK_CHECK(count >= 1 && count <= 4095 && length >= 1 && length <= 2097151);
    }
};
template <typename T> struct DataCopyPadExtParams {
    bool isPad;
    uint8_t leftPadding, rightPadding;
    T paddingValue;
};

template <typename T>
void DataCopyPad(const LocalTensor<T> &to, const GlobalTensor<T> &from, const DataCopyExtParams &p,
                 const DataCopyPadExtParams<T> &padding)
{
    MOCK_CHECK(to.is_writable(TPosition::VECIN) || to.is_writable(TPosition::VECOUT));
    MOCK_CHECK(to.is_aligned(32) && !padding.isPad && p.blockLen % sizeof(T) == 0);
    const int64_t line = (p.blockLen + 31) / 32 * 32 + (int64_t)p.dstStride * 32;
    for (int64_t b = 0; b < p.blockCount; b++)
        memcpy(to.part(b * line / (int64_t)sizeof(T), p.blockLen / sizeof(T)),
               (const unsigned char *)from.data + b * ((int64_t)p.blockLen + p.srcStride), p.blockLen);
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &to, const LocalTensor<T> &from, const DataCopyExtParams &p)
{
    MOCK_CHECK(from.is_readable(TPosition::VECOUT) && from.is_aligned(32) && p.blockLen % sizeof(T) == 0);
    const int64_t line = (p.blockLen + 31) / 32 * 32 + (int64_t)p.srcStride * 32;
    for (int64_t b = 0; b < p.blockCount; b++)
        memcpy((unsigned char *)to.data + b * ((int64_t)p.blockLen + p.dstStride),
               from.part(b * line / (int64_t)sizeof(T), p.blockLen / sizeof(T)), p.blockLen);
}

/* ---- the vector unit ---- */

namespace mock {
template <typename T> bool has_operand(const LocalTensor<T> &t)
{
    return t.is_aligned(32) &&
           (t.is_calculated() || t.is_readable(TPosition::VECIN) || t.is_writable(TPosition::VECOUT));
}
template <typename T> T *result(const LocalTensor<T> &t, int32_t count)
{
    MOCK_CHECK((t.is_calculated() || t.is_writable(TPosition::VECOUT)) && t.is_aligned(32) && count > 0);
    return t.part(0, count);
}
template <typename T> const T *operand(const LocalTensor<T> &t, int32_t count)
{
    MOCK_CHECK(has_operand(t));
    return t.part(0, count);
}
} // namespace mock

#define MOCK_TWO(Name, expression)                                                                                     \
    template <typename T>                                                                                              \
    void Name(const LocalTensor<T> &to, const LocalTensor<T> &a, const LocalTensor<T> &b, int32_t count)               \
    {                                                                                                                  \
        T *r = mock::result(to, count);                                                                                \
        const T *p = mock::operand(a, count), *q = mock::operand(b, count);                                            \
        for (int32_t i = 0; i < count; i++) r[i] = expression;                                                         \
    }
MOCK_TWO(Add, p[i] + q[i])
MOCK_TWO(Sub, p[i] - q[i])
MOCK_TWO(Mul, p[i] * q[i])
MOCK_TWO(Div, p[i] / q[i])
MOCK_TWO(Max, p[i] < q[i] ? q[i] : p[i])
MOCK_TWO(Min, q[i] < p[i] ? q[i] : p[i])
#undef MOCK_TWO

template <typename T> void Muls(const LocalTensor<T> &to, const LocalTensor<T> &a, const T &scalar, int32_t count)
{
    T *r = mock::result(to, count);
    const T *p = mock::operand(a, count);
    for (int32_t i = 0; i < count; i++) r[i] = p[i] * scalar;
}

template <typename T> void Adds(const LocalTensor<T> &to, const LocalTensor<T> &a, const T &scalar, int32_t count)
{
    T *r = mock::result(to, count);
    const T *p = mock::operand(a, count);
    for (int32_t i = 0; i < count; i++) r[i] = p[i] + scalar;
}

#define MOCK_ONE(Name, function)                                                                                       \
    template <typename T> void Name(const LocalTensor<T> &to, const LocalTensor<T> &a, int32_t count)                  \
    {                                                                                                                  \
        T *r = mock::result(to, count);                                                                                \
        const T *p = mock::operand(a, count);                                                                          \
        for (int32_t i = 0; i < count; i++) r[i] = function(p[i]);                                                     \
    }
MOCK_ONE(Exp, std::exp)
MOCK_ONE(Ln, std::log)
MOCK_ONE(Sqrt, std::sqrt)
MOCK_ONE(Abs, std::fabs)
#undef MOCK_ONE

template <typename T> void CreateVecIndex(const LocalTensor<T> &to, const T &first, uint32_t count)
{
    T *r = mock::result(to, (int32_t)count);
    for (uint32_t i = 0; i < count; i++) r[i] = first + (T)i;
}

/* ---- comparisons: one bit an element, in 256 bytes of operands at a time ---- */

enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

namespace mock {
template <typename T> bool holds(CMPMODE mode, T a, T b)
{
    switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return a > b;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return a >= b;
    default: return a != b;
    }
}
inline void set_bit(uint8_t *bits, uint32_t i, bool value)
{
    bits[i / 8] = (uint8_t)((bits[i / 8] & ~(1u << i % 8)) | (unsigned)value << i % 8);
}
} // namespace mock

template <typename T>
void Compare(const LocalTensor<uint8_t> &to, const LocalTensor<T> &a, const LocalTensor<T> &b, CMPMODE mode,
             uint32_t count)
{
    MOCK_CHECK(count * sizeof(T) % 256 == 0);
    uint8_t *r = mock::result(to, (int32_t)count / 8);
    const T *p = mock::operand(a, (int32_t)count), *q = mock::operand(b, (int32_t)count);
    for (uint32_t i = 0; i < count; i++) mock::set_bit(r, i, mock::holds(mode, p[i], q[i]));
}

template <typename T>
void CompareScalar(const LocalTensor<uint8_t> &to, const LocalTensor<T> &a, const T &scalar, CMPMODE mode,
                   uint32_t count)
{
    MOCK_CHECK(count * sizeof(T) % 256 == 0);
    uint8_t *r = mock::result(to, (int32_t)count / 8);
    const T *p = mock::operand(a, (int32_t)count);
    for (uint32_t i = 0; i < count; i++) mock::set_bit(r, i, mock::holds(mode, p[i], scalar));
}

template <typename T>
void Select(const LocalTensor<T> &to, const LocalTensor<uint8_t> &mask, const LocalTensor<T> &a,
            const LocalTensor<T> &b, SELMODE mode, uint32_t count)
{
    MOCK_CHECK(mode == SELMODE::VSEL_TENSOR_TENSOR_MODE);
    const uint8_t *bits = mock::operand(mask, (int32_t)(count + 7) / 8);
    const T *p = mock::operand(a, (int32_t)count), *q = mock::operand(b, (int32_t)count);
    T *r = mock::result(to, (int32_t)count);
    for (uint32_t i = 0; i < count; i++) r[i] = bits[i / 8] >> i % 8 & 1 ? p[i] : q[i];
}

template <typename T>
void Select(const LocalTensor<T> &to, const LocalTensor<uint8_t> &mask, const LocalTensor<T> &a, T scalar, SELMODE mode,
            uint32_t count)
{
    MOCK_CHECK(mode == SELMODE::VSEL_TENSOR_SCALAR_MODE);
    const uint8_t *bits = mock::operand(mask, (int32_t)(count + 7) / 8);
    const T *p = mock::operand(a, (int32_t)count);
    T *r = mock::result(to, (int32_t)count);
    for (uint32_t i = 0; i < count; i++) r[i] = bits[i / 8] >> i % 8 & 1 ? p[i] : scalar;
}

/* ---- reductions: the result is one element; by halves, as no order is documented ---- */

namespace mock {
template <typename T, typename Operation>
void reduce(const LocalTensor<T> &to, const LocalTensor<T> &a, const LocalTensor<T> &work, int32_t count,
            const Operation &operation)
{
    const T *p = operand(a, count);
    MOCK_CHECK(work.data != a.data && to.data != a.data && work.data != to.data);
    T *w = result(work, count);
    for (int32_t i = 0; i < count; i++) w[i] = p[i];
    for (int32_t left = count; left > 1; left = (left + 1) / 2)
        for (int32_t i = 0; i < left / 2; i++) w[i] = operation(w[i], w[i + (left + 1) / 2]);
    *result(to, 1) = w[0];
}
} // namespace mock

template <typename T>
void ReduceSum(const LocalTensor<T> &to, const LocalTensor<T> &a, const LocalTensor<T> &work, int32_t count)
{
    mock::reduce(to, a, work, count, [](T x, T y) { return x + y; });
}
template <typename T>
void ReduceMax(const LocalTensor<T> &to, const LocalTensor<T> &a, const LocalTensor<T> &work, int32_t count, bool place)
{
    MOCK_CHECK(!place);
    mock::reduce(to, a, work, count, [](T x, T y) { return x < y ? y : x; });
}
template <typename T>
void ReduceMin(const LocalTensor<T> &to, const LocalTensor<T> &a, const LocalTensor<T> &work, int32_t count, bool place)
{
    MOCK_CHECK(!place);
    mock::reduce(to, a, work, count, [](T x, T y) { return y < x ? y : x; });
}

template <typename T> void Duplicate(const LocalTensor<T> &to, const T &scalar, int32_t count)
{
    T *r = mock::result(to, count);
    for (int32_t i = 0; i < count; i++) r[i] = scalar;
}

} // namespace AscendC
#include "cube_unit.h"
namespace AscendC {

/* ---- a launch ---- */

namespace mock {

template <typename A> A argument(uint64_t word, uint64_t reach);
template <> inline GM_ADDR argument<GM_ADDR>(uint64_t word, uint64_t reach)
{
    return (GM_ADDR)(uintptr_t)(word != 0 ? word + reach : 0);
}
template <> inline int64_t argument<int64_t>(uint64_t word, uint64_t) { return (int64_t)word; }

template <typename... A, size_t... I>
void call(void (*kernel)(A...), const uint64_t *block, uint64_t reach, std::index_sequence<I...>)
{
    kernel(argument<A>(block[I], reach)...);
}

/* Runs a kernel on as many cores as PTO_MOCK_BLOCKS says, one after the other, with the words of an argument block. */
template <typename... A> int launch(void (*kernel)(A...), const uint64_t *block, size_t words, uint64_t reach)
{
    MOCK_CHECK(words >= sizeof...(A));
    const char *text = getenv("PTO_MOCK_BLOCKS");
    const int64_t count = text ? strtoll(text, nullptr, 10) : 1;
    for (int64_t i = 0; i < count; i++) {
        core = Core();
        core.index = i;
        core.count = count;
        call(kernel, block, reach, std::make_index_sequence<sizeof...(A)>());
        MOCK_CHECK(!core.adds);
    }
    return 0;
}

} // namespace mock
} // namespace AscendC

/* device_NAME, as the stub calls it. */
#define MOCK_KERNEL(name)                                                                                              \
    extern "C" int device_##name(const uint64_t *block, size_t words, uint64_t reach)                                  \
    {                                                                                                                  \
        return AscendC::mock::launch(name, block, words, reach);                                                       \
    }

#endif
