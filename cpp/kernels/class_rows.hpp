// All classes at once, of dense rows and of sparse ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "chunks.hpp"
#include "class_products.hpp"
#include "sparse_rows.hpp"

namespace separatrix {

inline constexpr std::ptrdiff_t kPanelNumbers =
    49152;  // of rows, scores and slopes: they stay in the second-level cache

// Rows of a chunk: compressed ones as everywhere, dense ones by how many numbers belong to each.
inline std::ptrdiff_t panel(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t classes,
                            std::ptrdiff_t wanted) {
    if (wanted == 0) wanted = std::clamp<std::ptrdiff_t>(kPanelNumbers / (rows.d + 2 * classes) / 8 * 8, 32, 256);
    return chunk_rows(rows, first, last, wanted);
}

// Sparse rows are multiplied by all classes at once: coefficients and gradient lie column by column, the classes of a
// column together and padded to fours.
struct SparseClasses {
    std::ptrdiff_t classes, side, p;
    std::vector<double> point, gradient, rows, score;

    SparseClasses(const Rows& rows, const double* from, std::ptrdiff_t count, std::ptrdiff_t length,
                  std::ptrdiff_t chunk_rows)
        : classes(count), side((count + 3) / 4 * 4), p(length) {
        if (!rows.sparse()) return;
        point.assign(static_cast<std::size_t>(p * side), 0.0);
        gradient.assign(point.size(), 0.0);
        score.resize(static_cast<std::size_t>(chunk_rows * side));
        for (std::ptrdiff_t k = 0; k < classes; ++k)
            for (std::ptrdiff_t j = 0; j < p; ++j) point[static_cast<std::size_t>(j * side + k)] = from[k * p + j];
    }

    // out (classes x p) += the sums of a lane
    void hand_over(const std::vector<double>& sums, double* out) const {
        if (sums.empty()) return;
        for (std::ptrdiff_t k = 0; k < classes; ++k)
            for (std::ptrdiff_t j = 0; j < p; ++j) out[k * p + j] += sums[static_cast<std::size_t>(j * side + k)];
    }
};

SEPARATRIX_INLINE void add_scaled(double scale, const double* SEPARATRIX_RESTRICT from, std::ptrdiff_t side,
                                  double* SEPARATRIX_RESTRICT to) {
    for (std::ptrdiff_t k = 0; k < side; k += 4)
        for (int q = 0; q < 4; ++q) to[k + q] += scale * from[k + q];
}

// score[k * stride + i] of every class
SEPARATRIX_INLINE void all_scores(const DenseChunk& chunk, const double* point, SparseClasses& classes,
                                  std::ptrdiff_t d, std::ptrdiff_t stride, double* score) {
    class_scores(chunk, point, classes.classes, classes.p, d, stride, score);
}

SEPARATRIX_INLINE void all_scores(const SparseChunk& chunk, const double*, SparseClasses& classes, std::ptrdiff_t d,
                                  std::ptrdiff_t stride, double* score) {
    const std::ptrdiff_t side = classes.side;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        double* z = classes.score.data() + i * side;
        for (std::ptrdiff_t k = 0; k < side; ++k) z[k] = 0.0;
        if (classes.p > d) add_scaled(1.0, classes.point.data() + d * side, side, z);
        for (std::int64_t e = chunk.starts[i]; e < chunk.starts[i + 1]; ++e)
            add_scaled(chunk.values[e], classes.point.data() + chunk.indices[e] * side, side, z);
        for (std::ptrdiff_t k = 0; k < classes.classes; ++k) score[k * stride + i] = z[k];
    }
}

// The gradient of every class; that of sparse rows is handed over at the end of the lane.
SEPARATRIX_INLINE void all_gradients(const DenseChunk& chunk, const double* slope, SparseClasses& classes,
                                     std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient, std::vector<double>&) {
    add_class_gradient(chunk, slope, classes.classes, classes.p, d, stride, gradient);
}

SEPARATRIX_INLINE void all_gradients(const SparseChunk& chunk, const double* slope, SparseClasses& classes,
                                     std::ptrdiff_t d, std::ptrdiff_t stride, double*, std::vector<double>& sums) {
    const std::ptrdiff_t side = classes.side;
    double* s = classes.score.data();
    for (std::ptrdiff_t k = 0; k < side; ++k) s[k] = 0.0;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        for (std::ptrdiff_t k = 0; k < classes.classes; ++k) s[k] = slope[k * stride + i];
        if (classes.p > d) add_scaled(1.0, s, side, sums.data() + d * side);
        for (std::int64_t e = chunk.starts[i]; e < chunk.starts[i + 1]; ++e)
            add_scaled(chunk.values[e], s, side, sums.data() + chunk.indices[e] * side);
    }
}

}  // namespace separatrix
