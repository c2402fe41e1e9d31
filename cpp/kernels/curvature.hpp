// The weighted Gram matrix of dense rows: hessian += sum c_i (x_i - shift)(x_i - shift)'.
#pragma once

#include <cstddef>

#include "blas.hpp"
#include "rows.hpp"

namespace separatrix {

inline std::ptrdiff_t padded(std::ptrdiff_t p) { return (p + 11) / 12 * 12; }

// Rows for one call of add_curvature; the panel then stays in the second-level cache. BLAS cuts for the cache itself,
// and with few rows would spend its time on reading and writing the Hessian.
inline std::ptrdiff_t panel_rows(std::ptrdiff_t p) {
    if (use_blas(padded(p))) return 256;
    const std::ptrdiff_t rows = 24576 / padded(p);
    return rows < 32 ? 32 : (rows > 256 ? 256 : rows);
}

// to (p x p, rows `stride` apart) = the symmetric matrix whose upper triangle stands in `from` (rows `side` apart);
// block by block, so that the turned half is not written one cache line a number.
inline void copy_symmetric(const double* from, std::ptrdiff_t side, std::ptrdiff_t p, double* to,
                           std::ptrdiff_t stride) {
    constexpr std::ptrdiff_t kBlock = 32;
    for (std::ptrdiff_t i0 = 0; i0 < p; i0 += kBlock)
        for (std::ptrdiff_t j0 = i0; j0 < p; j0 += kBlock) {
            const std::ptrdiff_t i1 = i0 + kBlock < p ? i0 + kBlock : p, j1 = j0 + kBlock < p ? j0 + kBlock : p;
            for (std::ptrdiff_t i = i0; i < i1; ++i)
                for (std::ptrdiff_t j = j0 > i ? j0 : i; j < j1; ++j) to[i * stride + j] = from[i * side + j];
            for (std::ptrdiff_t j = j0; j < j1; ++j)
                for (std::ptrdiff_t i = i0; i < (i1 < j ? i1 : j); ++i) to[j * stride + i] = from[i * side + j];
        }
}

// panel holds panel_rows(p) x padded(p) doubles, hessian padded(p) x padded(p), of
// which the upper triangle is meaningful. The constant, if any, is the last column.
void add_curvature(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count, const double* curvature,
                   const double* shift, std::ptrdiff_t d, bool constant, double* panel, double* hessian) noexcept;

// The same for factors of either sign, which have no root: hessian += sum f_i x_i x_i'
// with one panel scaled and one not. `fill` says that `panel` must be filled first; the
// next call for the same chunk finds it there.
void add_signed_curvature(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                          const double* factor, const double* shift, std::ptrdiff_t d, bool constant, bool fill,
                          double* panel, double* left, double* hessian) noexcept;

// hessian += panel' panel for a panel (count x padded) that the caller has filled.
void add_panel(const double* panel, std::ptrdiff_t count, std::ptrdiff_t ld, double* hessian) noexcept;

}  // namespace separatrix
