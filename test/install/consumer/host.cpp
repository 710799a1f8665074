// Everything of pto.hpp, for each standard of C++ from C++11.
#include <pto/pto.hpp>

#include <iostream>
#include <stdexcept>

#define EXPECT(...)                                                                                                    \
    do {                                                                                                               \
        if (!(__VA_ARGS__))                                                                                            \
            throw std::runtime_error(std::string(#__VA_ARGS__) + ", line " + std::to_string(__LINE__));                \
    } while (0)

// Does this throw an error of this status, whose text has this part?
template <class Call> static bool refused(PTOStatus status, const char *text, Call call)
{
    try {
        call();
    } catch (const pto::Error &e) {
        return e.status() == status && std::string(e.what()).find(text) != std::string::npos;
    }
    return false;
}

// A tensor without elements has no gaps, whatever its strides are.
static void empty_tensors()
{
    const pto::Tensor of_three = pto::Tensor::make<float>({3, 0}), of_four = pto::Tensor::make<float>({4, 3});
    for (const pto::Tensor &t : {of_three, of_three.transpose(), pto::Tensor::make<float>({0, 3}).transpose(),
                                 of_four.slice(1, 0, 0), of_four.slice(1, 3, 0, -1), of_four.slice(0, 0, 0).transpose(),
                                 pto::Tensor::make<float>({0, std::int64_t(1) << 32, std::int64_t(1) << 32})}) {
        EXPECT(t.read<float>().size() == 0 && t.write<float>().size() == 0);
        EXPECT(refused(PTO_ERR_ARGUMENT, "another element type", [&] { t.read<double>(); }));
    }
}

static void numbers_that_do_not_fit()
{
    float x[4] = {};
    const std::int64_t big = std::int64_t(1) << 32;
    const char *const many = "the extents make more bytes than a signed 64-bit number counts";
    EXPECT(refused(PTO_ERR_ARGUMENT, many, [&] { pto::Tensor::of(x, {big, big}); }));
    EXPECT(refused(PTO_ERR_ARGUMENT, many, [&] { pto::Tensor::of(x, {big, big / 2}); }));
    EXPECT(refused(PTO_ERR_ARGUMENT, many, [&] { pto::Tensor::of(std::vector<float>(), {big, big}); }));
    EXPECT(refused(PTO_ERR_ARGUMENT, "negative", [&] { pto::Tensor::of(x, {-2, -2}); }));
    EXPECT(
        refused(PTO_ERR_ARGUMENT, "another number of elements", [] { pto::Tensor::of(std::vector<float>(3), {2}); }));
    EXPECT(pto::Tensor::of(x, {big, 0, big}).describe().shape[2] == big);
    EXPECT(refused(PTO_ERR_ARGUMENT, "'k' is 18446744073709551615: an integer is at most 9223372036854775807",
                   [] { pto::arg("k", ~0ull); }));
    pto::arg("k", ~0ull >> 1);
    pto::arg("k", true);
    pto::arg("k", static_cast<unsigned char>(255));
}

static void tensors()
{
    float data[2][3] = {{1, 2, 3}, {4, 5, 6}};
    pto::Tensor a = pto::Tensor::of(&data[0][0], {2, 3}), b = a.transpose(), none;
    EXPECT(a && !none && b.describe().shape[0] == 3 && b.describe().references == 1);
    pto::Tensor same = a;
    EXPECT(same.get() == a.get() && a.describe().references == 2);
    same = pto::Tensor();
    EXPECT(a.describe().references == 1);
    pto::Tensor moved = std::move(a);
    EXPECT(!a && moved.slice(1, 0, 2).index(0, 1).describe().shape[0] == 2);
    const pto::Tensor dense = b.dense();
    {
        const pto::Map<const float> map = dense.read<float>();
        EXPECT(map.size() == 6 && map[1] == 4 && *(map.end() - 1) == 6);
    }
    dense.write<float>()[0] = 7;
    EXPECT(dense.copy().read<float>()[0] == 7 && data[0][0] == 1);
    try {
        b.read<float>();
        EXPECT(false);
    } catch (const pto::Error &e) {
        EXPECT(e.status() == PTO_ERR_WOULD_COPY);
    }
    try {
        dense.read<double>();
        EXPECT(false);
    } catch (const pto::Error &e) {
        EXPECT(e.status() == PTO_ERR_ARGUMENT);
    }
    pto::Tensor owned = pto::Tensor::of(std::vector<std::int64_t>{1, 2, 3, 4}, {2, 2});
    EXPECT(owned.reshape({4}).read<std::int64_t>()[3] == 4 && owned.share().detach());
    EXPECT(pto::Tensor::make<double>({0, 3}).read<double>().size() == 0);
    EXPECT(pto::Tensor::of(static_cast<const float *>(&data[0][0]), {6}).describe().flags & PTO_READ_ONLY);
}

static void matrices()
{
    pto::Sparse a(PTO_CSR, 2, 3,
                  {pto::Tensor::of(std::vector<std::int64_t>{0, 1, 2}, {3}),
                   pto::Tensor::of(std::vector<std::int64_t>{2, 0}, {2}),
                   pto::Tensor::of(std::vector<float>{5, 6}, {2})});
    EXPECT(a.transpose().describe().rows == 3 && a.rows(1, 1).array(2).read<float>()[0] == 6);
    EXPECT(a.convert(PTO_COO).describe().format == PTO_COO);
    const pto::Tensor ptr = a.array(0), idx = a.array(1), val = a.array(2);
    const char *const wrong = "a matrix of the format csr4 has four arrays, each other one has three";
    EXPECT(refused(PTO_ERR_ARGUMENT, wrong, [&] { pto::Sparse(PTO_CSR, 2, 3, {ptr, idx, val, val, val, val}); }));
    EXPECT(refused(PTO_ERR_ARGUMENT, wrong, [&] { pto::Sparse(PTO_CSR, 2, 3, {ptr, idx}); }));
    EXPECT(refused(PTO_ERR_ARGUMENT, wrong, [&] { pto::Sparse(PTO_CSR4, 2, 3, {ptr, idx, val}); }));
    const pto::Tensor first = ptr.slice(0, 0, 2), last = ptr.slice(0, 1, 2);
    EXPECT(pto::Sparse(PTO_CSR4, 2, 3, {first, last, idx, val}).describe().nnz == 2);
}

static void calls(const char *path)
{
    pto::Runtime runtime;
    const pto::Program program(path);
    EXPECT(program.describe("main").formal_count == 2);
    pto::Tensor x = pto::Tensor::of(std::vector<float>{1, 2, 3, 4}, {2, 2}), y;
    program.call(runtime, "main", pto::arg("x", x.transpose()), pto::result("y", y), pto::arg("times", 10));
    EXPECT(y.read<float>()[1] == 60);
    program.call(runtime, nullptr, pto::arg(nullptr, x), pto::result(nullptr, y), pto::flags(PTO_CALL_NO_WAIT));
    float sum = 0;
    for (float value : y.read<float>()) sum += value;
    EXPECT(sum == 20);
    try {
        program.call(runtime, "main", pto::arg("x", std::vector<float>(4)), pto::result("y", y));
        EXPECT(false);
    } catch (const pto::Error &e) {
        EXPECT(e.status() == PTO_ERR_ARGUMENT && std::string(e.what()).find("'x' is f32[4]") != std::string::npos);
        EXPECT(y.read<float>()[0] == 2);
    }
    try {
        pto::Program missing("missing.so");
        EXPECT(false);
    } catch (const pto::Error &e) {
        EXPECT(e.status() == PTO_ERR_IO);
    }
#if __cplusplus >= 202002L
    const std::span<const float> all = y.read<float>();
    EXPECT(all.size() == 4);
    try {
        program.call(runtime, "main", pto::arg("x", all), pto::arg("times", 2.5));
        EXPECT(false);
    } catch (const pto::Error &e) {
        EXPECT(e.status() == PTO_ERR_ARGUMENT);
    }
#endif
    pto::Runtime other(std::move(runtime));
    other.cancel();
    program.call(other, "main", pto::arg("x", x), pto::result("y", y));
}

// Results whose size the run decides, matrices in and out, a number.
static void results(const char *path)
{
    pto::Runtime runtime;
    const pto::Program program(path);
    const pto::Sparse a(PTO_CSR, 2, 3,
                        {pto::Tensor::of(std::vector<std::int64_t>{0, 1, 2}, {3}),
                         pto::Tensor::of(std::vector<std::int64_t>{2, 0}, {2}),
                         pto::Tensor::of(std::vector<float>{5, 6}, {2})});
    pto::Sparse square;
    program.call(runtime, "product", pto::arg("a", a), pto::arg("b", a.transpose().convert(PTO_CSR)),
                 pto::result("result", square));
    const PTOSparseDescription made = square.describe();
    EXPECT(made.format == PTO_CSR && made.rows == 2 && made.columns == 2 && made.nnz == 2);
    EXPECT(square.array(0).read<std::int64_t>()[2] == 2 && square.array(1).read<std::int64_t>()[1] == 1);
    EXPECT(square.array(2).read<float>()[0] == 25 && square.array(2).read<float>()[1] == 36);
    pto::Sparse again = square;
    program.call(runtime, "product", pto::arg("a", again), pto::arg("b", again), pto::result("result", again));
    EXPECT(again.array(2).read<float>()[0] == 625 && square.array(2).read<float>()[0] == 25);
    pto::Tensor some;
    program.call(runtime, "first", pto::arg("x", std::vector<float>{1, 2, 3}), pto::arg("m", 2),
                 pto::result("result", some));
    EXPECT(some.describe().shape[0] == 2 && some.read<float>()[1] == 2);
    PTOScalar number;
    program.call(runtime, "half", pto::arg("x", 5.0), pto::value(number));
    EXPECT(number.f64 == 2.5);
    try {
        program.call(runtime, "product", pto::arg("a", a), pto::arg("b", a), pto::result("result", again));
        EXPECT(false);
    } catch (const pto::Error &e) {
        EXPECT(e.status() == PTO_ERR_ARGUMENT && again.array(2).read<float>()[0] == 625);
    }
}

int main(int argc, char **argv)
{
    try {
        EXPECT(argc == 3);
        empty_tensors();
        numbers_that_do_not_fit();
        tensors();
        matrices();
        calls(argv[1]);
        results(argv[2]);
        std::cout << "ok\n";
    } catch (const std::exception &e) {
        std::cout << e.what() << "\n";
        return 1;
    }
    return 0;
}
