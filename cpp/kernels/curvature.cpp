// This file alone is compiled with contraction to fused multiply-add: the product
// of two panels is bound by arithmetic, not by memory. The order of the sums is
// fixed by the panel, so the bits depend on the instruction set and on nothing else.
#include "curvature.hpp"

#include <cmath>

#include "blas.hpp"

namespace separatrix {

Blas& blas() {
    static Blas functions;
    return functions;
}

namespace {

#if defined(__GNUC__) || defined(__clang__)
// A tile of 4 x 12 sums held in twelve vector registers.
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));

SEPARATRIX_INLINE void add_tile(const double* left_panel, const double* panel, std::ptrdiff_t m, std::ptrdiff_t ld,
                                std::ptrdiff_t row, std::ptrdiff_t column, double* hessian) {
    Four sum[4][3] = {};
    const double* left = left_panel + row;
    const double* right = panel + column;
    for (std::ptrdiff_t k = 0; k < m; ++k, left += ld, right += ld) {
        const Four b0 = *reinterpret_cast<const Four*>(right);
        const Four b1 = *reinterpret_cast<const Four*>(right + 4);
        const Four b2 = *reinterpret_cast<const Four*>(right + 8);
        for (int r = 0; r < 4; ++r) {
            const double scalar = left[r];
            const Four a = {scalar, scalar, scalar, scalar};
            sum[r][0] += a * b0;
            sum[r][1] += a * b1;
            sum[r][2] += a * b2;
        }
    }
    for (int r = 0; r < 4; ++r) {
        double* out = hessian + (row + r) * ld + column;
        for (int q = 0; q < 3; ++q) {
            Four* at = reinterpret_cast<Four*>(out + 4 * q);
            *at = *at + sum[r][q];
        }
    }
}
#else
inline void add_tile(const double* left_panel, const double* panel, std::ptrdiff_t m, std::ptrdiff_t ld,
                     std::ptrdiff_t row, std::ptrdiff_t column, double* hessian) {
    double sum[4][12] = {};
    for (std::ptrdiff_t k = 0; k < m; ++k)
        for (int r = 0; r < 4; ++r)
            for (int q = 0; q < 12; ++q) sum[r][q] += left_panel[k * ld + row + r] * panel[k * ld + column + q];
    for (int r = 0; r < 4; ++r)
        for (int q = 0; q < 12; ++q) hessian[(row + r) * ld + column + q] += sum[r][q];
}
#endif

// hessian += left' panel by BLAS, the upper triangle of it. Rows of the panel are columns to BLAS, which counts by
// columns: so its lower triangle is our upper one. Two different panels have no product of their own for a symmetric
// result: strips of columns are multiplied from the diagonal on.
void add_by_blas(const double* left, const double* panel, std::ptrdiff_t m, std::ptrdiff_t ld, double* hessian) {
    char lower = 'L', plain = 'N', turned = 'T';
    int n = static_cast<int>(ld), k = static_cast<int>(m);
    double one = 1.0;
    auto* right = const_cast<double*>(panel);
    if (left == panel) {
        blas().syrk(&lower, &plain, &n, &k, &one, right, &n, &one, hessian, &n);
        return;
    }
    constexpr std::ptrdiff_t kStrip = 96;
    for (std::ptrdiff_t row = 0; row < ld; row += kStrip) {
        int width = static_cast<int>(row + kStrip < ld ? kStrip : ld - row), rest = static_cast<int>(ld - row);
        blas().gemm(&plain, &turned, &rest, &width, &k, &one, right + row, &n, const_cast<double*>(left) + row, &n,
                    &one, hessian + row * ld + row, &n);
    }
}

// The upper triangle, tile by tile.
SEPARATRIX_INLINE void add_tiles(const double* left, const double* panel, std::ptrdiff_t m, std::ptrdiff_t ld,
                                 double* hessian) {
    if (use_blas(ld)) {
        if (m > 0) add_by_blas(left, panel, m, ld, hessian);
        return;
    }
    for (std::ptrdiff_t column = 0; column < ld; column += 12)
        for (std::ptrdiff_t row = 0; row < column + 12 && row < ld; row += 4)
            add_tile(left, panel, m, ld, row, column, hessian);
}

}  // namespace

SEPARATRIX_CLONES
void add_curvature(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count, const double* curvature,
                   const double* shift, std::ptrdiff_t d, bool constant, double* panel, double* hessian) noexcept {
    const std::ptrdiff_t p = d + (constant ? 1 : 0);
    const std::ptrdiff_t ld = padded(p);
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        const double root = std::sqrt(curvature[listed[r]]);
        const double* SEPARATRIX_RESTRICT x = chunk.x + listed[r] * chunk.ld;
        double* SEPARATRIX_RESTRICT to = panel + r * ld;
        for (std::ptrdiff_t j = 0; j < d; ++j) to[j] = root * (x[j] - shift[j]);
        if (constant) to[d] = root;
        for (std::ptrdiff_t j = p; j < ld; ++j) to[j] = 0.0;
    }
    add_tiles(panel, panel, count, ld, hessian);
}

SEPARATRIX_CLONES
void add_signed_curvature(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                          const double* factor, const double* shift, std::ptrdiff_t d, bool constant, bool fill,
                          double* panel, double* left, double* hessian) noexcept {
    const std::ptrdiff_t p = d + (constant ? 1 : 0);
    const std::ptrdiff_t ld = padded(p);
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        double* SEPARATRIX_RESTRICT plain = panel + r * ld;
        if (fill) {
            const double* SEPARATRIX_RESTRICT x = chunk.x + listed[r] * chunk.ld;
            for (std::ptrdiff_t j = 0; j < d; ++j) plain[j] = x[j] - shift[j];
            if (constant) plain[d] = 1.0;
            for (std::ptrdiff_t j = p; j < ld; ++j) plain[j] = 0.0;
        }
        const double f = factor[listed[r]];
        double* SEPARATRIX_RESTRICT scaled = left + r * ld;
        for (std::ptrdiff_t j = 0; j < ld; ++j) scaled[j] = f * plain[j];
    }
    add_tiles(left, panel, count, ld, hessian);
}

SEPARATRIX_CLONES
void add_panel(const double* panel, std::ptrdiff_t count, std::ptrdiff_t ld, double* hessian) noexcept {
    add_tiles(panel, panel, count, ld, hessian);
}

}  // namespace separatrix
