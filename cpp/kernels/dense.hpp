// Dense chunks: scores, gradients, column ranges. Sums use eight partial sums in a
// fixed order, so the result depends on the chunk alone.
#pragma once

#include <cstddef>
#include <cstring>

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

// Four rows at once: as `dot` adds them up, to the bit, but no addition waits for the last one of its own row. Rows a
// few thousand bytes on are asked for in passing, because four streams at once are more than a processor foresees.
#if defined(__GNUC__) || defined(__clang__)
typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));

SEPARATRIX_INLINE void four_dots(const double* SEPARATRIX_RESTRICT x, std::ptrdiff_t ld,
                                 const double* SEPARATRIX_RESTRICT w, std::ptrdiff_t d, double offset,
                                 double* SEPARATRIX_RESTRICT score) {
    constexpr std::ptrdiff_t kAhead = 1024;
    Quad low[4] = {}, high[4] = {};
    std::ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8) {
        const Quad first = *reinterpret_cast<const Quad*>(w + j), second = *reinterpret_cast<const Quad*>(w + j + 4);
        for (int r = 0; r < 4; ++r) {
            const double* at = x + r * ld + j;
            __builtin_prefetch(at + kAhead);
            low[r] += *reinterpret_cast<const Quad*>(at) * first;
            high[r] += *reinterpret_cast<const Quad*>(at + 4) * second;
        }
    }
    double part[4][8];
    for (int r = 0; r < 4; ++r) {
        std::memcpy(part[r], &low[r], sizeof(Quad));
        std::memcpy(part[r] + 4, &high[r], sizeof(Quad));
    }
    for (int k = 0; j < d; ++j, ++k)
        for (int r = 0; r < 4; ++r) part[r][k] += x[r * ld + j] * w[j];
    for (int r = 0; r < 4; ++r) {
        const double* p = part[r];
        score[r] = offset + (((p[0] + p[4]) + (p[2] + p[6])) + ((p[1] + p[5]) + (p[3] + p[7])));
    }
}
#else
inline void four_dots(const double* x, std::ptrdiff_t ld, const double* w, std::ptrdiff_t d, double offset,
                      double* score) {
    for (int r = 0; r < 4; ++r) score[r] = offset + dot(x + r * ld, w, d);
}
#endif

// score[i] = offset + <x_i, w>
SEPARATRIX_INLINE void add_scores(const DenseChunk& chunk, const double* w, std::ptrdiff_t d, double offset,
                                  double* score) {
    std::ptrdiff_t i = 0;
    for (; i + 4 <= chunk.m; i += 4) four_dots(chunk.x + i * chunk.ld, chunk.ld, w, d, offset, score + i);
    for (; i < chunk.m; ++i) score[i] = offset + dot(chunk.x + i * chunk.ld, w, d);
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
