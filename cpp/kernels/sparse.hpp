// Sparse chunks: scores, gradients, column ranges, curvature.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dense.hpp"
#include "sparse_rows.hpp"

namespace separatrix {

SEPARATRIX_INLINE double sparse_dot(const SparseChunk& chunk, std::ptrdiff_t i, const double* w) {
    const std::int64_t end = chunk.starts[i + 1];
    std::int64_t k = chunk.starts[i];
    double a = 0, b = 0, c = 0, e = 0;
    for (; k + 4 <= end; k += 4) {
        a += chunk.values[k] * w[chunk.indices[k]];
        b += chunk.values[k + 1] * w[chunk.indices[k + 1]];
        c += chunk.values[k + 2] * w[chunk.indices[k + 2]];
        e += chunk.values[k + 3] * w[chunk.indices[k + 3]];
    }
    for (; k < end; ++k) a += chunk.values[k] * w[chunk.indices[k]];
    return (a + b) + (c + e);
}

SEPARATRIX_INLINE void add_scores(const SparseChunk& chunk, const double* w, std::ptrdiff_t, double offset,
                                  double* score) {
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) score[i] = offset + sparse_dot(chunk, i, w);
}

SEPARATRIX_INLINE void add_gradient(const SparseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                    const double* slope, std::ptrdiff_t, double* gradient) {
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        const std::ptrdiff_t i = listed[r];
        const double s = slope[i];
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k)
            gradient[chunk.indices[k]] += s * chunk.values[k];
    }
}

SEPARATRIX_INLINE void combine_exactly(const SparseChunk& chunk, const double* factor, std::ptrdiff_t, double* high,
                                       double* lost) {
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i)
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k) {
            const std::ptrdiff_t j = chunk.indices[k];
            add_exactly(factor[i] * chunk.values[k], high[j], lost[j]);
        }
}

// Sparse rows are never shifted.
SEPARATRIX_INLINE void add_squares(const SparseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                   const double* curvature, const double*, std::ptrdiff_t, double* diagonal) {
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        const std::ptrdiff_t i = listed[r];
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k)
            diagonal[chunk.indices[k]] += curvature[i] * chunk.values[k] * chunk.values[k];
    }
}

// Ranges of the stored values; the caller starts them at zero, as if every column
// left out at least one.
SEPARATRIX_INLINE double widen_ranges(const SparseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                      std::ptrdiff_t d, double* highest, double longest) {
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        const std::ptrdiff_t i = listed[r];
        double length = 0;
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k) {
            const double x = chunk.values[k];
            const std::ptrdiff_t j = chunk.indices[k];
            highest[j] = x > highest[j] ? x : highest[j];
            highest[d + j] = -x > highest[d + j] ? -x : highest[d + j];
            length += x * x;
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

// hessian (p x p, upper triangle) += curvature[i] x_i x_i', the constant, if any, last.
SEPARATRIX_INLINE void add_curvature(const SparseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                     const double* curvature, std::ptrdiff_t d, bool constant, double* hessian) {
    const std::ptrdiff_t p = d + (constant ? 1 : 0);
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        const std::ptrdiff_t i = listed[r];
        const double c = curvature[i];
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k) {
            const double cx = c * chunk.values[k];
            double* row = hessian + static_cast<std::ptrdiff_t>(chunk.indices[k]) * p;
            for (std::int64_t l = k; l < chunk.starts[i + 1]; ++l) row[chunk.indices[l]] += cx * chunk.values[l];
            if (constant) row[d] += cx;
        }
        if (constant) hessian[d * p + d] += c;
    }
}

}  // namespace separatrix
