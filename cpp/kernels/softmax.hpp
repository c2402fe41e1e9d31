// Sums over rows for softmax regression: K score columns, one read of the rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

// Sums: loss, weight, mistakes, size of the slopes, then the mean curvature of the
// scores (K x K: sum of a (diag(pi) - pi pi'), zero unless wanted), the gradient (K x p, the constant
// last in each row), then, if wanted, the Hessian's diagonal (K x p), its blocks of one class (K blocks of
// p x p), the sum of those (one block) or the Hessian (K(K+1)/2 blocks, for classes k <= l), and last, if wanted,
// the rows added up with the curvatures a pi_k (1 - pi_k) of each class (K x p).
enum SoftmaxHeader : std::ptrdiff_t { kSoftLoss, kSoftWeight, kSoftMistakes, kSoftSlope, kSoftHeader };

struct SoftmaxTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;  // class of each row, 0 … classes-1
    std::ptrdiff_t classes = 2;
    const double* weights = nullptr;  // or null: all 1
    const double* point = nullptr;    // classes x p
    const double* shift = nullptr;    // d values, or null: the curvature is taken about them
    bool constant = false;
    bool want_curvature = false;
    std::ptrdiff_t want_blocks = 0;  // 0, 1 (their sum) or classes
    bool want_diagonal = false;
    bool want_rows = false;
    bool want_scores = false;
    bool want_ranges = false;
    double* row_probabilities = nullptr;  // or null; classes x n

    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
    std::ptrdiff_t side() const;  // p, or padded(p) while dense rows are added
    std::ptrdiff_t blocks() const { return want_curvature ? classes * (classes + 1) / 2 : want_blocks; }
    std::size_t width() const;  // numbers among the sums
};

Total softmax_total(const SoftmaxTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads);

// The Hessian times a direction, from the probabilities kept at a point.
struct SoftmaxProductTask {
    const Rows* rows = nullptr;
    std::ptrdiff_t classes = 2;
    const double* weights = nullptr;        // or null
    const double* probabilities = nullptr;  // classes x n
    const double* direction = nullptr;      // classes x p
    bool constant = false;
    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
};

Total softmax_product_total(const SoftmaxProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last,
                            std::ptrdiff_t lanes, int threads);

}  // namespace separatrix
