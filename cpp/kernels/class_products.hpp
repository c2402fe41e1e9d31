// Scores of all classes at once and the gradient of all at once: products of a panel of dense rows with K columns.
// Large ones are BLAS's, small ones are our own. Both depend on the shape alone.
#pragma once

#include <cstddef>

#include "rows.hpp"

namespace separatrix {

// score[k * stride + i] = <x_i, w_k> (+ w_k[d], the constant), with w_k = point + k * p.
void class_scores(const DenseChunk& chunk, const double* point, std::ptrdiff_t classes, std::ptrdiff_t p,
                  std::ptrdiff_t d, std::ptrdiff_t stride, double* score) noexcept;

// gradient[k * p + j] += sum over rows of slope[k * stride + i] x_ij, and where p > d the plain sum of the slopes.
void add_class_gradient(const DenseChunk& chunk, const double* slope, std::ptrdiff_t classes, std::ptrdiff_t p,
                        std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient) noexcept;

// pairs[k * classes + l] += sum over m rows of left[k * stride + i] right[l * stride + i], for l < k or for all.
void add_class_pairs(const double* left, const double* right, std::ptrdiff_t m, std::ptrdiff_t classes,
                     std::ptrdiff_t stride, double* pairs) noexcept;

}  // namespace separatrix
