// pto.hpp - owning handles in C++11 and later for tensors, sparse matrices, runtimes and loaded programs; spans in C++20.
//
//     pto::Runtime runtime;
//     pto::Program program("scale.so");
//     pto::Tensor y;
//     program.call(runtime, "scale", pto::arg("x", x), pto::result("y", y), pto::arg("factor", 10));
//     for (float value : y.read<float>()) ...
//
// Nothing here does more than the function of C that it calls: pto_registry.h, pto_sparse.h and pto_call.h say which
// thread may call it, whether it blocks, and what can fail.  A failure is a pto::Error with the status and the text.
#ifndef PTO_HPP
#define PTO_HPP
#include <pto/pto_call.h>
#include <pto/pto_sparse.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace pto {

class Error : public std::runtime_error {
public:
    Error(PTOStatus status, const char *text) : std::runtime_error(text), status_(status) {}
    PTOStatus status() const noexcept { return status_; }

private:
    PTOStatus status_;
};

namespace detail {
inline void check(PTOStatus status)
{
    if (status < 0) throw Error(status, pto_last_error(nullptr));
}
template <class Handle> Handle *made(Handle *handle)
{
    if (!handle) throw Error(pto_last_status(), pto_last_error(nullptr));
    return handle;
}
// The number of elements of `size` bytes; an exception where the bytes have no number.
inline std::int64_t count(const std::int64_t *shape, std::size_t rank, std::size_t size)
{
    bool is_empty = false;
    for (std::size_t i = 0; i < rank; i++) {
        if (shape[i] < 0) throw Error(PTO_ERR_ARGUMENT, "an extent is negative");
        is_empty = is_empty || shape[i] == 0;
    }
    if (is_empty) return 0;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < rank; i++) {
        if (elements > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(size) / shape[i])
            throw Error(PTO_ERR_ARGUMENT, "the extents make more bytes than a signed 64-bit number counts");
        elements *= shape[i];
    }
    return elements;
}
// Of what has one owner.
struct Close {
    void operator()(PTORuntime *runtime) const noexcept { pto_runtime_destroy(runtime); }
    void operator()(PTOLoaded *program) const noexcept { pto_program_close(program); }
};
template <class T> struct type_of;
template <> struct type_of<float> : std::integral_constant<PTOType, PTO_F32> {};
template <> struct type_of<double> : std::integral_constant<PTOType, PTO_F64> {};
template <> struct type_of<std::int8_t> : std::integral_constant<PTOType, PTO_I8> {};
template <> struct type_of<std::int16_t> : std::integral_constant<PTOType, PTO_I16> {};
template <> struct type_of<std::int32_t> : std::integral_constant<PTOType, PTO_I32> {};
template <> struct type_of<std::int64_t> : std::integral_constant<PTOType, PTO_I64> {};
template <> struct type_of<std::uint8_t> : std::integral_constant<PTOType, PTO_U8> {};
template <> struct type_of<std::uint16_t> : std::integral_constant<PTOType, PTO_U16> {};
template <> struct type_of<std::uint32_t> : std::integral_constant<PTOType, PTO_U32> {};
template <> struct type_of<std::uint64_t> : std::integral_constant<PTOType, PTO_U64> {};
template <> struct type_of<bool> : std::integral_constant<PTOType, PTO_BOOL> {};
template <class T> struct type_of<const T> : type_of<T> {};
} // namespace detail

// The elements of a contiguous tensor, while this object lives: runs that would disturb them wait.
template <class T> class Map {
public:
    Map(PTOTensor *tensor, PTOAccess access) : tensor_(pto_tensor_retain(tensor))
    {
        PTODescription d;
        try {
            detail::check(pto_tensor_describe(tensor, &d));
            if (d.type != detail::type_of<T>::value) throw Error(PTO_ERR_ARGUMENT, "the tensor has another element type");
            count_ = detail::count(d.shape, static_cast<std::size_t>(d.rank), sizeof(T));
            std::int64_t below = 1;
            for (std::int32_t i = d.rank; count_ > 0 && i-- > 0;) {
                if (d.shape[i] > 1 && d.strides[i] != below)
                    throw Error(PTO_ERR_WOULD_COPY, "the tensor is strided: dense() makes a contiguous one");
                below *= d.shape[i];
            }
            if (count_ > 0) {
                data_ = static_cast<T *>(detail::made(pto_tensor_map(tensor, access)));
                is_mapped_ = true;
            }
        } catch (...) {
            pto_tensor_release(tensor_);
            throw;
        }
    }
    Map(Map &&other) noexcept
        : tensor_(other.tensor_), data_(other.data_), count_(other.count_), is_mapped_(other.is_mapped_)
    {
        other.tensor_ = nullptr;
        other.is_mapped_ = false;
    }
    Map(const Map &) = delete;
    Map &operator=(const Map &) = delete;
    Map &operator=(Map &&) = delete;
    ~Map()
    {
        if (is_mapped_) pto_tensor_unmap(tensor_);
        pto_tensor_release(tensor_);
    }
    T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(count_); }
    T *begin() const noexcept { return data_; }
    T *end() const noexcept { return data_ + count_; }
    T &operator[](std::size_t i) const noexcept { return data_[i]; }
#if __cplusplus >= 202002L
    operator std::span<T>() const noexcept { return {data_, size()}; }
#endif

private:
    PTOTensor *tensor_;
    T *data_ = nullptr;
    std::int64_t count_ = 0;
    bool is_mapped_ = false;
};

// A tensor: a copy is another reference.
class Tensor {
public:
    using Extents = std::initializer_list<std::int64_t>;

    Tensor() noexcept = default;
    explicit Tensor(PTOTensor *adopted) noexcept : handle_(adopted) {} // the reference becomes this object's
    Tensor(const Tensor &other) noexcept : handle_(pto_tensor_retain(other.handle_)) {}
    Tensor(Tensor &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Tensor &operator=(Tensor other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Tensor() { pto_tensor_release(handle_); }

    // Elements that are not initialised.
    static Tensor make(PTOType type, Extents shape)
    {
        return Tensor(detail::made(pto_tensor_new(nullptr, type, static_cast<int>(shape.size()), shape.begin())));
    }
    template <class T> static Tensor make(Extents shape) { return make(detail::type_of<T>::value, shape); }

    // Memory of the caller, who keeps it until nothing uses the tensor.  Of const elements: read-only.
    template <class T> static Tensor of(T *data, Extents shape)
    {
        const std::int64_t bytes =
            detail::count(shape.begin(), shape.size(), sizeof(T)) * static_cast<std::int64_t>(sizeof(T));
        return attach(data, bytes, shape.size(), shape.begin(), nullptr, nullptr);
    }
    // Memory that the tensor owns from now on.
    template <class T> static Tensor of(std::vector<T> &&elements, Extents shape)
    {
        static_assert(!std::is_same<T, bool>::value, "std::vector<bool> has bits");
        const std::int64_t count = detail::count(shape.begin(), shape.size(), sizeof(T));
        if (count != static_cast<std::int64_t>(elements.size()))
            throw Error(PTO_ERR_ARGUMENT, "the vector has another number of elements than the shape");
        if (count == 0) return make<T>(shape);
        std::vector<T> *const kept = new std::vector<T>(std::move(elements));
        try {
            return attach(kept->data(), count * static_cast<std::int64_t>(sizeof(T)), shape.size(), shape.begin(),
                          [](void *vector) { delete static_cast<std::vector<T> *>(vector); }, kept);
        } catch (...) {
            delete kept;
            throw;
        }
    }

    PTOTensor *get() const noexcept { return handle_; }
    PTOTensor *release() noexcept // the caller owns the reference from now on
    {
        PTOTensor *const handle = handle_;
        handle_ = nullptr;
        return handle;
    }
    explicit operator bool() const noexcept { return handle_ != nullptr; }

    PTODescription describe() const
    {
        PTODescription d;
        detail::check(pto_tensor_describe(handle_, &d));
        return d;
    }
    Tensor slice(int dim, std::int64_t first, std::int64_t count, std::int64_t step = 1) const
    {
        return Tensor(detail::made(pto_tensor_slice(handle_, dim, first, count, step)));
    }
    Tensor index(int dim, std::int64_t at) const { return Tensor(detail::made(pto_tensor_index(handle_, dim, at))); }
    Tensor transpose() const { return Tensor(detail::made(pto_tensor_transpose(handle_, nullptr))); }
    Tensor reshape(Extents shape) const
    {
        return Tensor(detail::made(pto_tensor_reshape(handle_, static_cast<int>(shape.size()), shape.begin())));
    }
    Tensor share() const { return Tensor(detail::made(pto_tensor_share(handle_))); }
    Tensor detach() const { return Tensor(detail::made(pto_tensor_detach(handle_))); }
    Tensor copy() const { return Tensor(detail::made(pto_tensor_copy(handle_))); }
    Tensor dense() const { return Tensor(detail::made(pto_tensor_dense(handle_))); }

    template <class T> Map<const T> read() const { return Map<const T>(handle_, PTO_READ); }
    template <class T> Map<T> write() const { return Map<T>(handle_, PTO_READ_WRITE); }

private:
    friend class Argument;

    template <class T>
    static Tensor attach(T *data, std::int64_t bytes, std::size_t rank, const std::int64_t *shape, void (*release)(void *),
                         void *context)
    {
        PTOForeign f = PTOForeign();
        f.address = const_cast<typename std::remove_const<T>::type *>(data);
        f.bytes = bytes;
        f.type = detail::type_of<T>::value;
        f.rank = static_cast<std::int32_t>(rank);
        f.shape = shape;
        f.flags = std::is_const<T>::value ? PTO_READ_ONLY : 0;
        f.release = release;
        f.context = context;
        return Tensor(detail::made(pto_tensor_attach(&f)));
    }

    PTOTensor *handle_ = nullptr;
};

// A sparse matrix: a copy is another reference.
class Sparse {
public:
    Sparse() noexcept = default;
    explicit Sparse(PTOSparse *adopted) noexcept : handle_(adopted) {}
    Sparse(PTOFormat format, std::int64_t rows, std::int64_t columns, std::initializer_list<Tensor> arrays,
           PTOSparseCheck check = PTO_CHECK_ALL)
    {
        PTOTensor *tensors[PTO_SPARSE_ARRAYS] = {};
        std::size_t count = 0;
        if (arrays.size() != (format == PTO_CSR4 ? 4 : 3))
            throw Error(PTO_ERR_ARGUMENT, "a matrix of the format csr4 has four arrays, each other one has three");
        for (const Tensor &array : arrays) tensors[count++] = array.get();
        handle_ = detail::made(pto_sparse_make(format, rows, columns, tensors, check));
    }
    Sparse(const Sparse &other) noexcept : handle_(pto_sparse_retain(other.handle_)) {}
    Sparse(Sparse &&other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    Sparse &operator=(Sparse other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Sparse() { pto_sparse_release(handle_); }

    PTOSparse *get() const noexcept { return handle_; }
    PTOSparseDescription describe() const
    {
        PTOSparseDescription d;
        detail::check(pto_sparse_describe(handle_, &d));
        return d;
    }
    Tensor array(int which) const { return Tensor(pto_tensor_retain(detail::made(pto_sparse_array(handle_, which)))); }
    Sparse rows(std::int64_t first, std::int64_t count) const
    {
        return Sparse(detail::made(pto_sparse_rows(handle_, first, count)));
    }
    Sparse transpose() const { return Sparse(detail::made(pto_sparse_transpose(handle_))); }
    Sparse convert(PTOFormat format) const { return Sparse(detail::made(pto_sparse_convert(handle_, format))); }

private:
    PTOSparse *handle_ = nullptr;
};

// One argument of a call; made by arg, result and value below.
class Argument {
public:
    Argument(const char *name, const Tensor &t) : argument_(PTO_T(name, t.get())), kept_(t) {}
    Argument(const char *name, const Sparse &s) : argument_(PTO_S(name, s.get())), sparse_(s) {}
    Argument(const char *name, Tensor *result) : argument_(PTO_R(name, nullptr)), result_(result) {}
    Argument(const char *name, Sparse *result) : argument_(PTO_RS(name, nullptr)), sparse_result_(result) {}
    explicit Argument(const PTOArgument &argument) : argument_(argument) {}
    template <class T> Argument(const char *name, T *data, std::int64_t count) : argument_(PTO_T(name, nullptr))
    {
        kept_ = Tensor::attach(data, count * static_cast<std::int64_t>(sizeof(T)), 1, &count, nullptr, nullptr);
        argument_ = PTO_T(name, kept_.get());
    }

private:
    friend class Program;

    PTOArgument lower() // the address of `made_` must not change from now on
    {
        if (result_) argument_.value.result = &made_;
        if (sparse_result_) argument_.value.sparse_result = &made_sparse_;
        return argument_;
    }
    void take()
    {
        if (result_) *result_ = Tensor(made_);
        if (sparse_result_) *sparse_result_ = Sparse(made_sparse_);
        made_ = nullptr;
        made_sparse_ = nullptr;
    }

    PTOArgument argument_;
    Tensor kept_;
    Sparse sparse_;
    Tensor *result_ = nullptr;
    Sparse *sparse_result_ = nullptr;
    PTOTensor *made_ = nullptr;
    PTOSparse *made_sparse_ = nullptr;
};

// A name of nullptr takes the next formal.
inline Argument arg(const char *name, const Tensor &t) { return Argument(name, t); }
inline Argument arg(const char *name, const Sparse &s) { return Argument(name, s); }
template <class N> typename std::enable_if<std::is_integral<N>::value, Argument>::type arg(const char *name, N n)
{
    const std::int64_t integer = static_cast<std::int64_t>(n);
    if (std::is_unsigned<N>::value && integer < 0) {
        const std::string text = (name ? "'" + std::string(name) + "'" : "an argument") + " is " + std::to_string(n) +
                                 ": an integer is at most 9223372036854775807";
        throw Error(PTO_ERR_ARGUMENT, text.c_str());
    }
    return Argument(PTO_I(name, integer));
}
template <class R> typename std::enable_if<std::is_floating_point<R>::value, Argument>::type arg(const char *name, R r)
{
    return Argument(PTO_F(name, static_cast<double>(r)));
}
template <class T> Argument arg(const char *name, std::vector<T> &v)
{
    return Argument(name, v.data(), static_cast<std::int64_t>(v.size()));
}
template <class T> Argument arg(const char *name, const std::vector<T> &v)
{
    return Argument(name, v.data(), static_cast<std::int64_t>(v.size()));
}
#if __cplusplus >= 202002L
template <class T, std::size_t N> Argument arg(const char *name, std::span<T, N> s)
{
    return Argument(name, s.data(), static_cast<std::int64_t>(s.size()));
}
#endif
inline Argument result(const char *name, Tensor &made) { return Argument(name, &made); }
inline Argument result(const char *name, Sparse &made) { return Argument(name, &made); }
inline Argument value(PTOScalar &scalar) { return Argument(PTO_V(&scalar)); }
inline Argument flags(std::int64_t f) { return Argument(PTO_CALL_FLAGS(f)); }

class Runtime {
public:
    Runtime() : handle_(create(nullptr)) {}
    explicit Runtime(const PTOConfig &config) : handle_(create(&config)) {}
    PTORuntime *get() const noexcept { return handle_.get(); }
    void cancel() const noexcept { pto_cancel(handle_.get()); }

private:
    static PTORuntime *create(const PTOConfig *config)
    {
        PTOStatus status = PTO_OK;
        PTORuntime *const handle = pto_runtime_create(config, &status);
        if (!handle) throw Error(status, pto_last_error(nullptr));
        return handle;
    }
    std::unique_ptr<PTORuntime, detail::Close> handle_;
};

// A loaded program.
class Program {
public:
    explicit Program(const char *path) : handle_(detail::made(pto_program_open(path))) {}
    explicit Program(const std::string &path) : Program(path.c_str()) {}
    PTOLoaded *get() const noexcept { return handle_.get(); }

    PTOSignature describe(const char *entry = nullptr) const
    {
        PTOSignature s;
        detail::check(pto_program_describe(get(), entry, &s));
        return s;
    }

    // Runs an entry; nullptr: the only one.
    template <class... Arguments> void call(const Runtime &runtime, const char *entry, Arguments &&...arguments) const
    {
        Argument list[sizeof...(arguments) + 1] = {std::forward<Arguments>(arguments)..., flags(0)};
        PTOArgument lowered[sizeof...(arguments) + 1];
        for (std::size_t i = 0; i <= sizeof...(arguments); i++) lowered[i] = list[i].lower();
        const PTOStatus status = pto_program_call(runtime.get(), get(), entry, lowered,
                                                  static_cast<std::int32_t>(sizeof...(arguments)) + 1);
        if (status < 0) {
            const bool is_of_thread = status == PTO_ERR_STATE || status == PTO_ERR_MISUSE;
            throw Error(status, pto_last_error(is_of_thread ? nullptr : runtime.get()));
        }
        for (Argument &argument : list) argument.take();
    }

private:
    std::unique_ptr<PTOLoaded, detail::Close> handle_;
};

} // namespace pto
#endif
