// The quadratic model of a loss with an L1 penalty, minimised on the columns of the data: no Hessian is formed.
//
// With V = sqrt(c) X (rows scaled by the roots of their curvatures) and the constant at its best for every step,
//     <g, d> + (|V d|^2 - <along, d>^2 + ridge |d|^2) / 2 + sum_j penalty_j |w_j + d_j|,
//     along_j = sum_i c_i x_ij / sqrt(sum_i c_i)   (nothing without a constant).
// Coordinate descent finds the support: with the image V d at hand a slope is one product with a column, and a move
// one addition. Once the signs stay, conjugate gradients on the support go on, which narrow valleys do not slow down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace separatrix {

// Columns one after the other: dense (no starts: `n` values each) or compressed with 32-bit row numbers.
struct Columnwise {
    std::ptrdiff_t n = 0, count = 0;
    const std::int64_t* starts = nullptr;
    const std::int32_t* rows = nullptr;
    const double* values = nullptr;

    std::ptrdiff_t stored() const { return starts != nullptr ? static_cast<std::ptrdiff_t>(starts[count]) : n * count; }
};

struct ColumnModel {
    Columnwise columns;           // as they are
    bool constant = false;
    double ridge = 0;
    std::vector<double> scaled;   // V, where the columns' values stand
    std::vector<double> along;    // count
    std::vector<double> diagonal;  // count: the second derivatives
    std::vector<double> image;    // n: V d
    std::vector<double> step;     // d
    double shared = 0;            // <along, d>
    double total = 0;             // the sum of the curvatures
    std::ptrdiff_t place = 0;     // where a sweep over all goes on that was interrupted
    double gain = 0;              // and what it has gained
};

// Scale the columns by the roots of the rows' curvatures; d becomes zero.
void renew(ColumnModel& model, const double* curvature);

// Lower the model until a sweep over all coordinates gains no more than `tol`, or the work, in multiply-adds, exceeds
// `most`. Returns whether it ended; if not, call again. Slopes are those at d = 0 with the constant at its best.
bool descend_columns(ColumnModel& model, const double* slope, const double* point, const double* penalty, double tol,
                     double most);

}  // namespace separatrix
