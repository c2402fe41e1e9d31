// Compiled with contraction to fused multiply-add, as curvature.cpp is: products of panels are bound by arithmetic.
#include "layer_products.hpp"

#include <algorithm>

#include "portable.hpp"

namespace separatrix {
namespace {

#if defined(__GNUC__) || defined(__clang__)
template <class Real, int Bytes>
struct Packed;
template <>
struct Packed<float, 16> {
    typedef float Type __attribute__((vector_size(16), aligned(4), may_alias));
};
template <>
struct Packed<float, 32> {
    typedef float Type __attribute__((vector_size(32), aligned(4), may_alias));
};
template <>
struct Packed<float, 64> {
    typedef float Type __attribute__((vector_size(64), aligned(4), may_alias));
};
template <>
struct Packed<double, 16> {
    typedef double Type __attribute__((vector_size(16), aligned(8), may_alias));
};
template <>
struct Packed<double, 32> {
    typedef double Type __attribute__((vector_size(32), aligned(8), may_alias));
};
template <>
struct Packed<double, 64> {
    typedef double Type __attribute__((vector_size(64), aligned(8), may_alias));
};

// R rows by C vectors of sums, which begin at what `out` holds.
template <class Real, int Bytes, int R, int C>
SEPARATRIX_INLINE void add_tile(Factor<Real> left, const Real* panel, std::ptrdiff_t k, Real* out, std::ptrdiff_t ld) {
    using Vector = typename Packed<Real, Bytes>::Type;
    constexpr std::ptrdiff_t lanes = Bytes / static_cast<int>(sizeof(Real));
    Vector sum[R][C];
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) sum[r][c] = *reinterpret_cast<const Vector*>(out + r * ld + c * lanes);
    const Real* from = left.at;
    for (std::ptrdiff_t t = 0; t < k; ++t, from += left.column, panel += C * lanes) {
        Vector b[C];
        for (int c = 0; c < C; ++c) b[c] = *reinterpret_cast<const Vector*>(panel + c * lanes);
        for (int r = 0; r < R; ++r) {
            const Vector a = from[r * left.row] - Vector{};  // the same number in every lane
            for (int c = 0; c < C; ++c) sum[r][c] += a * b[c];
        }
    }
    for (int r = 0; r < R; ++r)
        for (int c = 0; c < C; ++c) *reinterpret_cast<Vector*>(out + r * ld + c * lanes) = sum[r][c];
}
#else
template <class Real, int Bytes, int R, int C>
inline void add_tile(Factor<Real> left, const Real* panel, std::ptrdiff_t k, Real* out, std::ptrdiff_t ld) {
    constexpr int width = C * Bytes / static_cast<int>(sizeof(Real));
    Real sum[R][width];
    for (int r = 0; r < R; ++r)
        for (int j = 0; j < width; ++j) sum[r][j] = out[r * ld + j];
    for (std::ptrdiff_t t = 0; t < k; ++t)
        for (int r = 0; r < R; ++r)
            for (int j = 0; j < width; ++j) sum[r][j] += left.at[r * left.row + t * left.column] * panel[t * width + j];
    for (int r = 0; r < R; ++r)
        for (int j = 0; j < width; ++j) out[r * ld + j] = sum[r][j];
}
#endif

// The first columns of the right factor, row after row; what is beyond them is 0.
template <class Real, int Width>
SEPARATRIX_INLINE void pack(Factor<Real> right, std::ptrdiff_t k, std::ptrdiff_t columns,
                            Real* SEPARATRIX_RESTRICT panel) {
    if (right.column == 1 && columns == Width) {
        for (std::ptrdiff_t t = 0; t < k; ++t)
            for (int j = 0; j < Width; ++j) panel[t * Width + j] = right.at[t * right.row + j];
        return;
    }
    constexpr std::ptrdiff_t kLine = 16;  // a turned matrix is read by lines of the cache
    for (std::ptrdiff_t first = 0; first < k; first += kLine) {
        const std::ptrdiff_t last = std::min(k, first + kLine);
        for (std::ptrdiff_t j = 0; j < columns; ++j)
            for (std::ptrdiff_t t = first; t < last; ++t)
                panel[t * Width + j] = right.at[t * right.row + j * right.column];
        for (std::ptrdiff_t t = first; t < last; ++t)
            for (std::ptrdiff_t j = columns; j < Width; ++j) panel[t * Width + j] = Real(0);
    }
}

// All rows of a panel of C vectors, R at a time. The last tile goes back over rows that are done, if there are R, and
// writes only its own.
template <class Real, int Bytes, int R, int C>
SEPARATRIX_INLINE void add_panel(Factor<Real> left, const Real* panel, std::ptrdiff_t m, std::ptrdiff_t k,
                                 std::ptrdiff_t columns, Real* out, std::ptrdiff_t ld) {
    constexpr std::ptrdiff_t width = C * Bytes / static_cast<std::ptrdiff_t>(sizeof(Real));
    Real spare[R * width] = {};
    for (std::ptrdiff_t begin = 0; begin < m;) {
        const bool few = m < R;
        const std::ptrdiff_t rows = few ? 1 : R, first = few ? begin : std::min(begin, m - R);
        const Factor<Real> part{left.at + first * left.row, left.row, left.column};
        if (!few && columns == width && first == begin) {
            add_tile<Real, Bytes, R, C>(part, panel, k, out + first * ld, ld);
        } else {
            for (std::ptrdiff_t r = begin - first; r < rows; ++r)
                for (std::ptrdiff_t j = 0; j < columns; ++j) spare[r * width + j] = out[(first + r) * ld + j];
            if (few)
                add_tile<Real, Bytes, 1, C>(part, panel, k, spare, width);
            else
                add_tile<Real, Bytes, R, C>(part, panel, k, spare, width);
            for (std::ptrdiff_t r = begin - first; r < rows; ++r)
                for (std::ptrdiff_t j = 0; j < columns; ++j) out[(first + r) * ld + j] = spare[r * width + j];
        }
        begin = first + rows;
    }
}

template <class Real, int Bytes, int R>
SEPARATRIX_INLINE void product(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<Real> left,
                               Factor<Real> right, bool add, Real* out, std::ptrdiff_t ld, Real* panel) {
    constexpr int half = Bytes / static_cast<int>(sizeof(Real));
    if (!add)
        for (std::ptrdiff_t i = 0; i < m; ++i) std::fill(out + i * ld, out + i * ld + n, Real(0));
    for (std::ptrdiff_t from = 0; from < k; from += kPanelDepth) {
        const std::ptrdiff_t depth = std::min(kPanelDepth, k - from);
        const Factor<Real> some{left.at + from * left.column, left.row, left.column};
        for (std::ptrdiff_t first = 0; first < n; first += 2 * half) {
            const std::ptrdiff_t columns = std::min<std::ptrdiff_t>(2 * half, n - first);
            const Factor<Real> part{right.at + from * right.row + first * right.column, right.row, right.column};
            if (columns > half) {
                pack<Real, 2 * half>(part, depth, columns, panel);
                add_panel<Real, Bytes, R, 2>(some, panel, m, depth, columns, out + first, ld);
            } else {
                pack<Real, half>(part, depth, columns, panel);
                add_panel<Real, Bytes, R, 1>(some, panel, m, depth, columns, out + first, ld);
            }
        }
    }
}

// Tiles as large as the registers of each instruction set allow, so clones of one function would not do.
#if defined(SEPARATRIX_HAS_WIDE_CLONES)
template <class Real>
__attribute__((target("arch=x86-64-v4"))) void wide(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n,
                                                    Factor<Real> left, Factor<Real> right, bool add, Real* out,
                                                    std::ptrdiff_t ld, Real* panel) {
    product<Real, 64, 8>(m, k, n, left, right, add, out, ld, panel);
}
#endif
#if defined(SEPARATRIX_HAS_CLONES)
template <class Real>
__attribute__((target("arch=x86-64-v3"))) void middle(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n,
                                                      Factor<Real> left, Factor<Real> right, bool add, Real* out,
                                                      std::ptrdiff_t ld, Real* panel) {
    product<Real, 32, 6>(m, k, n, left, right, add, out, ld, panel);
}
#endif

template <class Real>
void narrow(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<Real> left, Factor<Real> right, bool add,
            Real* out, std::ptrdiff_t ld, Real* panel) {
    product<Real, 16, 4>(m, k, n, left, right, add, out, ld, panel);
}

template <class Real>
using Product = void (*)(std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t, Factor<Real>, Factor<Real>, bool, Real*,
                         std::ptrdiff_t, Real*);

template <class Real>
Product<Real> chosen() {
#if defined(SEPARATRIX_HAS_WIDE_CLONES)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return wide<Real>;
#endif
#if defined(SEPARATRIX_HAS_CLONES)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return middle<Real>;
#endif
    return narrow<Real>;
}

template <class Real>
void multiply_by_tiles(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<Real> left, Factor<Real> right,
                       bool add, Real* out, std::ptrdiff_t ld, Real* panel) {
    static const Product<Real> product_of_tiles = chosen<Real>();
    product_of_tiles(m, k, n, left, right, add, out, ld, panel);
}

}  // namespace

void multiply(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<float> left, Factor<float> right, bool add,
              float* out, std::ptrdiff_t ld, float* panel) noexcept {
    multiply_by_tiles(m, k, n, left, right, add, out, ld, panel);
}

void multiply(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<double> left, Factor<double> right, bool add,
              double* out, std::ptrdiff_t ld, double* panel) noexcept {
    multiply_by_tiles(m, k, n, left, right, add, out, ld, panel);
}

}  // namespace separatrix
