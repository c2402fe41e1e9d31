// Products of rows with few classes, in registers. BLAS copies the rows before it multiplies them, which for few classes
// costs more than the product. Every sum runs in the order of columns or of rows, however the rows are cut.
#pragma once

#include <cstddef>

#include "dense.hpp"

namespace separatrix {

inline constexpr std::ptrdiff_t kNarrow = 16;         // classes at most
inline constexpr std::ptrdiff_t kNarrowRows = 64;     // whose scores are added up at a time
inline constexpr std::ptrdiff_t kNarrowColumns = 64;  // whose coefficients are turned at a time

#if defined(__GNUC__) || defined(__clang__)
inline constexpr bool kHasNarrow = true;

SEPARATRIX_INLINE void put_quad(Quad value, double* at) { *reinterpret_cast<Quad*>(at) = value; }

// sums (R x 4Q) += x (R x count) turned (count x 4Q)
template <int R, int Q>
SEPARATRIX_INLINE void score_tile(const double* x, std::ptrdiff_t ld, const double* turned, std::ptrdiff_t count,
                                  double* sums) {
    Quad part[R][Q];
    for (int r = 0; r < R; ++r)
        for (int q = 0; q < Q; ++q) part[r][q] = quad_at(sums + 4 * (r * Q + q));
    for (std::ptrdiff_t j = 0; j < count; ++j) {
        Quad w[Q];
        for (int q = 0; q < Q; ++q) w[q] = quad_at(turned + 4 * (j * Q + q));
        for (int r = 0; r < R; ++r)
            for (int q = 0; q < Q; ++q) part[r][q] += x[r * ld + j] * w[q];
    }
    for (int r = 0; r < R; ++r)
        for (int q = 0; q < Q; ++q) put_quad(part[r][q], sums + 4 * (r * Q + q));
}

// As class_scores, for at most 4Q classes.
template <int R, int Q>
SEPARATRIX_INLINE void scores_by_quads(const DenseChunk& chunk, const double* point, std::ptrdiff_t classes,
                                       std::ptrdiff_t p, std::ptrdiff_t d, std::ptrdiff_t stride, double* score) {
    double turned[4 * Q * kNarrowColumns] = {}, sums[4 * Q * kNarrowRows];
    for (std::ptrdiff_t first = 0; first < chunk.m; first += kNarrowRows) {
        const std::ptrdiff_t m = chunk.m - first < kNarrowRows ? chunk.m - first : kNarrowRows;
        for (std::ptrdiff_t i = 0; i < m; ++i)
            for (std::ptrdiff_t k = 0; k < 4 * Q; ++k)
                sums[4 * Q * i + k] = k < classes && p > d ? point[k * p + d] : 0.0;
        for (std::ptrdiff_t at = 0; at < d; at += kNarrowColumns) {
            const std::ptrdiff_t count = d - at < kNarrowColumns ? d - at : kNarrowColumns;
            for (std::ptrdiff_t k = 0; k < classes; ++k)
                for (std::ptrdiff_t j = 0; j < count; ++j) turned[4 * Q * j + k] = point[k * p + at + j];
            const double* x = chunk.x + first * chunk.ld + at;
            std::ptrdiff_t i = 0;
            for (; i + R <= m; i += R) score_tile<R, Q>(x + i * chunk.ld, chunk.ld, turned, count, sums + 4 * Q * i);
            for (; i < m; ++i) score_tile<1, Q>(x + i * chunk.ld, chunk.ld, turned, count, sums + 4 * Q * i);
        }
        for (std::ptrdiff_t k = 0; k < classes; ++k)
            for (std::ptrdiff_t i = 0; i < m; ++i) score[k * stride + first + i] = sums[4 * Q * i + k];
    }
}

// gradient (G rows p apart, 4Q columns) += slope' (G x m, rows `stride` apart) x (m x 4Q); of the last quad `last` columns.
template <int G, int Q>
SEPARATRIX_INLINE void gradient_tile(const double* x, std::ptrdiff_t ld, std::ptrdiff_t m, const double* slope,
                                     std::ptrdiff_t stride, double* gradient, std::ptrdiff_t p, std::ptrdiff_t last) {
    Quad part[G][Q];
    for (int g = 0; g < G; ++g)
        for (int q = 0; q < Q; ++q)
            part[g][q] = q + 1 < Q ? quad_at(gradient + g * p + 4 * q) : some_at(gradient + g * p + 4 * q, last);
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        Quad row[Q];
        for (int q = 0; q < Q; ++q)
            row[q] = q + 1 < Q ? quad_at(x + i * ld + 4 * q) : some_at(x + i * ld + 4 * q, last);
        for (int g = 0; g < G; ++g)
            for (int q = 0; q < Q; ++q) part[g][q] += slope[g * stride + i] * row[q];
    }
    for (int g = 0; g < G; ++g)
        for (int q = 0; q < Q; ++q)
            for (int k = 0; k < (q + 1 < Q ? 4 : last); ++k) gradient[g * p + 4 * q + k] = part[g][q][k];
}

template <int G>
SEPARATRIX_INLINE void gradient_of_group(const DenseChunk& chunk, const double* slope, std::ptrdiff_t p,
                                         std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient) {
    constexpr int kQuads = 3;
    std::ptrdiff_t j = 0;
    for (; j + 4 * kQuads <= d; j += 4 * kQuads)
        gradient_tile<G, kQuads>(chunk.x + j, chunk.ld, chunk.m, slope, stride, gradient + j, p, 4);
    for (; j + 4 <= d; j += 4) gradient_tile<G, 1>(chunk.x + j, chunk.ld, chunk.m, slope, stride, gradient + j, p, 4);
    if (j < d) gradient_tile<G, 1>(chunk.x + j, chunk.ld, chunk.m, slope, stride, gradient + j, p, d - j);
}

// As add_class_gradient without the constant, class by class in groups of at most four.
SEPARATRIX_INLINE void gradient_by_groups(const DenseChunk& chunk, const double* slope, std::ptrdiff_t classes,
                                          std::ptrdiff_t p, std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient) {
    std::ptrdiff_t k = 0;
    for (; k + 4 <= classes; k += 4) gradient_of_group<4>(chunk, slope + k * stride, p, d, stride, gradient + k * p);
    slope += k * stride;
    gradient += k * p;
    if (classes - k == 3) gradient_of_group<3>(chunk, slope, p, d, stride, gradient);
    if (classes - k == 2) gradient_of_group<2>(chunk, slope, p, d, stride, gradient);
    if (classes - k == 1) gradient_of_group<1>(chunk, slope, p, d, stride, gradient);
}
#else
inline constexpr bool kHasNarrow = false;

template <int R, int Q>
inline void scores_by_quads(const DenseChunk&, const double*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t,
                            std::ptrdiff_t, double*) {}
inline void gradient_by_groups(const DenseChunk&, const double*, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t,
                               std::ptrdiff_t, double*) {}
#endif

}  // namespace separatrix
