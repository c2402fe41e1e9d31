// Dense chunks: scores, gradients, column ranges. Sums use eight partial sums in a
// fixed order, so the result depends on the chunk alone.
#pragma once

#include <cstddef>
#include <cstring>

#include "rows.hpp"

namespace separatrix {

template <class T>
SEPARATRIX_INLINE double dot(const T* SEPARATRIX_RESTRICT x, const double* SEPARATRIX_RESTRICT w, std::ptrdiff_t d) {
    double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    std::ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (int k = 0; k < 8; ++k) part[k] += static_cast<double>(x[j + k]) * w[j + k];
    for (int k = 0; j < d; ++j, ++k) part[k] += static_cast<double>(x[j]) * w[j];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

#if defined(__GNUC__) || defined(__clang__)
typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));
typedef float FloatQuad __attribute__((vector_size(16), aligned(4), may_alias));

SEPARATRIX_INLINE Quad quad_at(const double* at) { return *reinterpret_cast<const Quad*>(at); }
SEPARATRIX_INLINE Quad quad_at(const float* at) {
    return __builtin_convertvector(*reinterpret_cast<const FloatQuad*>(at), Quad);
}

// The first `count` of four values, then zeros.
template <class T>
SEPARATRIX_INLINE Quad some_at(const T* at, std::ptrdiff_t count) {
    if (count >= 4) return quad_at(at);
    if (count == 3)
        return Quad{static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2]), 0.0};
    if (count == 2) return Quad{static_cast<double>(at[0]), static_cast<double>(at[1]), 0.0, 0.0};
    return count == 1 ? Quad{static_cast<double>(at[0]), 0.0, 0.0, 0.0} : Quad{};
}

// Eight at once: one register of AVX-512, two of AVX, four of SSE; what is added to what is the same.
typedef double Eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef float FloatEight __attribute__((vector_size(32), aligned(4), may_alias));

SEPARATRIX_INLINE Eight eight_at(const double* at) { return *reinterpret_cast<const Eight*>(at); }
SEPARATRIX_INLINE Eight eight_at(const float* at) {
    return __builtin_convertvector(*reinterpret_cast<const FloatEight*>(at), Eight);
}

struct Halves {
    Quad low, high;
    SEPARATRIX_INLINE explicit Halves(const Eight& both) { std::memcpy(this, &both, sizeof both); }
    SEPARATRIX_INLINE double sum() const {
        const Quad part = low + high;
        return (part[0] + part[2]) + (part[1] + part[3]);
    }
};

// Scores of four rows at once: as `dot` adds them up, to the bit (zeros added to a sum leave it), but no addition waits
// for the last one of its own row. Rows a few thousand bytes on are asked for in passing, because four streams at once
// are more than a processor foresees. The weights of the last columns stand in `last`.
template <class T>
SEPARATRIX_INLINE void four_dots(const T* SEPARATRIX_RESTRICT x, std::ptrdiff_t ld, const double* SEPARATRIX_RESTRICT w,
                                 std::ptrdiff_t d, const Quad* last, double offset, double* SEPARATRIX_RESTRICT score) {
    constexpr std::ptrdiff_t kAhead = 8192 / static_cast<std::ptrdiff_t>(sizeof(T));
    const T *x0 = x, *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    Eight first{}, second{}, third{}, fourth{};
    std::ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8) {
        const Eight weight = eight_at(w + j);
        __builtin_prefetch(x0 + j + kAhead);
        __builtin_prefetch(x1 + j + kAhead);
        __builtin_prefetch(x2 + j + kAhead);
        __builtin_prefetch(x3 + j + kAhead);
        first += eight_at(x0 + j) * weight;
        second += eight_at(x1 + j) * weight;
        third += eight_at(x2 + j) * weight;
        fourth += eight_at(x3 + j) * weight;
    }
    Halves a(first), b(second), c(third), e(fourth);
    if (const std::ptrdiff_t left = d - j; left > 0) {
        a.low += some_at(x0 + j, left) * last[0];
        b.low += some_at(x1 + j, left) * last[0];
        c.low += some_at(x2 + j, left) * last[0];
        e.low += some_at(x3 + j, left) * last[0];
        if (left > 4) {
            a.high += some_at(x0 + j + 4, left - 4) * last[1];
            b.high += some_at(x1 + j + 4, left - 4) * last[1];
            c.high += some_at(x2 + j + 4, left - 4) * last[1];
            e.high += some_at(x3 + j + 4, left - 4) * last[1];
        }
    }
    score[0] = offset + a.sum();
    score[1] = offset + b.sum();
    score[2] = offset + c.sum();
    score[3] = offset + e.sum();
}

// score[i] = offset + <x_i, w>
template <class T>
SEPARATRIX_INLINE void add_scores(const DenseChunkOf<T>& chunk, const double* w, std::ptrdiff_t d, double offset,
                                  double* score) {
    const std::ptrdiff_t whole = d / 8 * 8;
    const Quad last[2] = {some_at(w + whole, d - whole),
                          d - whole > 4 ? some_at(w + whole + 4, d - whole - 4) : Quad{}};
    std::ptrdiff_t i = 0;
    for (; i + 4 <= chunk.m; i += 4) four_dots(chunk.x + i * chunk.ld, chunk.ld, w, d, last, offset, score + i);
    for (; i < chunk.m; ++i) score[i] = offset + dot(chunk.x + i * chunk.ld, w, d);
}
#else
template <class T>
inline void add_scores(const DenseChunkOf<T>& chunk, const double* w, std::ptrdiff_t d, double offset, double* score) {
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) score[i] = offset + dot(chunk.x + i * chunk.ld, w, d);
}
#endif

// gradient += s0 a + s1 b + s2 c + s3 e
template <class T>
SEPARATRIX_INLINE void add_four(const T* SEPARATRIX_RESTRICT a, const T* SEPARATRIX_RESTRICT b,
                                const T* SEPARATRIX_RESTRICT c, const T* SEPARATRIX_RESTRICT e, const double* s,
                                std::ptrdiff_t d, double* SEPARATRIX_RESTRICT gradient) {
    const double s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
    std::ptrdiff_t j = 0;
#if defined(__GNUC__) || defined(__clang__)
    for (; j + 8 <= d; j += 8)
        *reinterpret_cast<Eight*>(gradient + j) +=
            (s0 * eight_at(a + j) + s1 * eight_at(b + j)) + (s2 * eight_at(c + j) + s3 * eight_at(e + j));
    for (; j + 4 <= d; j += 4)
        *reinterpret_cast<Quad*>(gradient + j) +=
            (s0 * quad_at(a + j) + s1 * quad_at(b + j)) + (s2 * quad_at(c + j) + s3 * quad_at(e + j));
#endif
    for (; j < d; ++j)
        gradient[j] += (s0 * static_cast<double>(a[j]) + s1 * static_cast<double>(b[j])) +
                       (s2 * static_cast<double>(c[j]) + s3 * static_cast<double>(e[j]));
}

// gradient += sum over the listed rows of slope[i] * x_i, four rows at a time.
template <class T>
SEPARATRIX_INLINE void add_gradient(const DenseChunkOf<T>& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                    const double* slope, std::ptrdiff_t d, double* SEPARATRIX_RESTRICT gradient) {
    const auto row = [&](std::ptrdiff_t i) SEPARATRIX_INLINE_LAMBDA { return chunk.x + listed[i] * chunk.ld; };
    std::ptrdiff_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const double slopes[4] = {slope[listed[i]], slope[listed[i + 1]], slope[listed[i + 2]], slope[listed[i + 3]]};
        add_four(row(i), row(i + 1), row(i + 2), row(i + 3), slopes, d, gradient);
    }
    for (; i < count; ++i) {
        const T* SEPARATRIX_RESTRICT a = row(i);
        const double s = slope[listed[i]];
        for (std::ptrdiff_t j = 0; j < d; ++j) gradient[j] += s * static_cast<double>(a[j]);
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
template <class T>
SEPARATRIX_INLINE void add_squares(const DenseChunkOf<T>& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                   const double* curvature, const double* SEPARATRIX_RESTRICT shift, std::ptrdiff_t d,
                                   double* SEPARATRIX_RESTRICT diagonal) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const T* SEPARATRIX_RESTRICT x = chunk.x + listed[i] * chunk.ld;
        const double c = curvature[listed[i]];
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            const double off = static_cast<double>(x[j]) - shift[j];
            diagonal[j] += c * off * off;
        }
    }
}

// highest[j] = max x_ij and highest[d+j] = max -x_ij; returns the largest squared
// length of a listed row, or the one given.
template <class T>
SEPARATRIX_INLINE double widen_ranges(const DenseChunkOf<T>& chunk, const std::ptrdiff_t* listed, std::ptrdiff_t count,
                                      std::ptrdiff_t d, double* SEPARATRIX_RESTRICT highest, double longest) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const T* SEPARATRIX_RESTRICT x = chunk.x + listed[i] * chunk.ld;
        double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        std::ptrdiff_t j = 0;
        const auto widen = [&](std::ptrdiff_t at, int k) SEPARATRIX_INLINE_LAMBDA {
            const double value = static_cast<double>(x[at]);
            highest[at] = value > highest[at] ? value : highest[at];
            highest[d + at] = -value > highest[d + at] ? -value : highest[d + at];
            part[k] += value * value;
        };
        for (; j + 8 <= d; j += 8)
            for (int k = 0; k < 8; ++k) widen(j + k, k);
        for (int k = 0; j < d; ++j, ++k) widen(j, k);
        const double length = ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
        longest = length > longest ? length : longest;
    }
    return longest;
}

}  // namespace separatrix
