// Dense chunks: scores, gradients, column ranges. Sums use eight partial sums in a
// fixed order, so the result depends on the chunk alone.
#pragma once

#include <cstddef>

#include "rows.hpp"

namespace separatrix {

SEPARATRIX_INLINE double dot(const double* SEPARATRIX_RESTRICT x, const double* SEPARATRIX_RESTRICT w,
                             std::ptrdiff_t d) {
    double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    std::ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (int k = 0; k < 8; ++k) part[k] += x[j + k] * w[j + k];
    for (int k = 0; j < d; ++j, ++k) part[k] += x[j] * w[j];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

// score[i] = offset + <x_i, w>
SEPARATRIX_INLINE void add_scores(const DenseChunk& chunk, const double* w, std::ptrdiff_t d, double offset,
                                  double* score) {
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) score[i] = offset + dot(chunk.x + i * chunk.ld, w, d);
}

// gradient += sum over the listed rows of slope[i] * x_i, four rows at a time.
SEPARATRIX_INLINE void add_gradient(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                    const double* slope, std::ptrdiff_t d, double* SEPARATRIX_RESTRICT gradient) {
    std::ptrdiff_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double* SEPARATRIX_RESTRICT a = chunk.x + listed[i] * chunk.ld;
        const double* SEPARATRIX_RESTRICT b = chunk.x + listed[i + 1] * chunk.ld;
        const double* SEPARATRIX_RESTRICT c = chunk.x + listed[i + 2] * chunk.ld;
        const double* SEPARATRIX_RESTRICT e = chunk.x + listed[i + 3] * chunk.ld;
        const double s0 = slope[listed[i]], s1 = slope[listed[i + 1]], s2 = slope[listed[i + 2]],
                     s3 = slope[listed[i + 3]];
        for (std::ptrdiff_t j = 0; j < d; ++j)
            gradient[j] += (s0 * a[j] + s1 * b[j]) + (s2 * c[j] + s3 * e[j]);
    }
    for (; i < count; ++i) {
        const double* SEPARATRIX_RESTRICT a = chunk.x + listed[i] * chunk.ld;
        const double s = slope[listed[i]];
        for (std::ptrdiff_t j = 0; j < d; ++j) gradient[j] += s * a[j];
    }
}

// The same with what each addition loses kept in `lost` (Knuth's two-sum): high + lost
// is the sum to nearly twice the precision.
SEPARATRIX_INLINE void add_exactly(double term, double& high, double& lost) {
    const double sum = high + term;
    const double part = sum - high;
    lost += (high - (sum - part)) + (term - part);
    high = sum;
}

SEPARATRIX_INLINE void combine_exactly(const DenseChunk& chunk, const double* factor, std::ptrdiff_t d,
                                       double* SEPARATRIX_RESTRICT high, double* SEPARATRIX_RESTRICT lost) {
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const double* SEPARATRIX_RESTRICT x = chunk.x + i * chunk.ld;
        const double f = factor[i];
        for (std::ptrdiff_t j = 0; j < d; ++j) add_exactly(f * x[j], high[j], lost[j]);
    }
}

// diagonal += sum over the listed rows of curvature[i] * (x_i - shift)^2.
SEPARATRIX_INLINE void add_squares(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                   const double* curvature, const double* SEPARATRIX_RESTRICT shift,
                                   std::ptrdiff_t d, double* SEPARATRIX_RESTRICT diagonal) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const double* SEPARATRIX_RESTRICT x = chunk.x + listed[i] * chunk.ld;
        const double c = curvature[listed[i]];
        for (std::ptrdiff_t j = 0; j < d; ++j) diagonal[j] += c * (x[j] - shift[j]) * (x[j] - shift[j]);
    }
}

// highest[j] = max x_ij and highest[d+j] = max -x_ij; returns the largest squared
// length of a listed row, or the one given.
SEPARATRIX_INLINE double widen_ranges(const DenseChunk& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                      std::ptrdiff_t d, double* SEPARATRIX_RESTRICT highest, double longest) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const double* SEPARATRIX_RESTRICT x = chunk.x + listed[i] * chunk.ld;
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            highest[j] = x[j] > highest[j] ? x[j] : highest[j];
            highest[d + j] = -x[j] > highest[d + j] ? -x[j] : highest[d + j];
        }
        const double length = dot(x, x, d);
        longest = length > longest ? length : longest;
    }
    return longest;
}

}  // namespace separatrix
