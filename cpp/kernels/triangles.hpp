// Symmetric positive matrices by their Cholesky factor, in the lower triangle by columns, as LAPACK keeps it.
#pragma once

#include <cmath>
#include <cstddef>

#include "blas.hpp"
#include "dense.hpp"

namespace separatrix {

SEPARATRIX_INLINE void add_scaled(double scale, const double* SEPARATRIX_RESTRICT a, double* SEPARATRIX_RESTRICT to,
                                  std::ptrdiff_t n) {
    for (std::ptrdiff_t j = 0; j < n; ++j) to[j] += scale * a[j];
}

// L L' = A in place (p x p); false where A is not positive.
inline bool cholesky(double* a, std::ptrdiff_t p) {
    if (blas().potrf != nullptr) {
        char lower = 'L';
        int n = static_cast<int>(p), info = 0;
        blas().potrf(&lower, &n, a, &n, &info);
        return info == 0;
    }
    for (std::ptrdiff_t j = 0; j < p; ++j) {
        double* column = a + j * p;
        if (!(column[j] > 0.0)) return false;
        const double root = std::sqrt(column[j]);
        for (std::ptrdiff_t i = j; i < p; ++i) column[i] /= root;
        for (std::ptrdiff_t k = j + 1; k < p; ++k) add_scaled(-column[k], column + k, a + k * p + k, p - k);
    }
    return true;
}

// x = (L L')^-1 x.
SEPARATRIX_INLINE void solve_triangles(const double* lower, std::ptrdiff_t p, double* x) {
    for (std::ptrdiff_t j = 0; j < p; ++j) {
        const double* column = lower + j * p;
        x[j] /= column[j];
        add_scaled(-x[j], column + j + 1, x + j + 1, p - j - 1);
    }
    for (std::ptrdiff_t j = p - 1; j >= 0; --j) {
        const double* column = lower + j * p;
        x[j] = (x[j] - dot(column + j + 1, x + j + 1, p - j - 1)) / column[j];
    }
}

}  // namespace separatrix
