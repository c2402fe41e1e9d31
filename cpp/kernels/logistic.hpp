// Sums over rows for logistic regression, at several points and for several folds
// in one read of the rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

// Sums of one (fold, point): the header below, then the gradient (p values, the
// constant last), then, if wanted, the Hessian's diagonal (p) or the Hessian (p x p).
enum Header : std::ptrdiff_t { kLoss, kWeight, kCurvature, kMistakes, kSlope, kHeader };

struct LogisticTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;  // class of each row
    std::int32_t positive = 1;            // the code that counts as +1
    const double* weights = nullptr;      // or null: all 1
    const std::int32_t* folds = nullptr;  // or null: one fold
    std::ptrdiff_t fold_count = 1;
    const double* points = nullptr;  // point_count x p
    std::ptrdiff_t point_count = 1;
    const double* shift = nullptr;  // d values: the Hessian is taken about them
    bool constant = false;
    bool want_curvature = false;
    bool want_diagonal = false;
    bool want_ranges = false;
    double* row_curvature = nullptr;  // or null; n values, first point only

    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
    std::ptrdiff_t hessian_side() const;    // p, or padded(p) while dense rows are added
    std::ptrdiff_t curvature_size() const;  // numbers after the gradient
    std::size_t stride() const;             // of one (fold, point) among the sums
};

Total logistic_total(const LogisticTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                     int threads);

// sum_i c_i x_i <x_i, v> for each of several directions v, constant included.
struct ProductTask {
    const Rows* rows = nullptr;
    const double* row_weights = nullptr;  // or null: all 1
    const double* directions = nullptr;   // count x p
    std::ptrdiff_t count = 1;
    bool constant = false;
    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
};

Total product_total(const ProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads);

}  // namespace separatrix
