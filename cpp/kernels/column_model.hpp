// The quadratic model of a loss with an L1 penalty, minimised on the columns of the data: no Hessian is formed.
//
// With V = sqrt(c) X (rows scaled by the roots of their curvatures) and the constant at its best for every step,
//     <g, d> + (|V d|^2 - <along, d>^2 + ridge |d|^2) / 2 + sum_j penalty_j |w_j + d_j|,
//     along_j = sum_i c_i x_ij / sqrt(sum_i c_i)   (nothing without a constant).
// Coordinate descent finds the support: with the image V d at hand a slope is one product with a column, and a move
// one addition. Once the signs stay, conjugate gradients on the support go on, which narrow valleys do not slow down.
#pragma once

#include <cstddef>
#include <vector>

#include "packed_columns.hpp"

namespace separatrix {

struct ColumnModel {
    bool constant = false;
    double ridge = 0;
    std::vector<double> scaled;    // V, in the places of the columns' values
    std::vector<double> along;     // one number for each column
    std::vector<double> diagonal;  // the second derivatives
    std::vector<double> image;     // V d, one number for each row
    std::vector<double> step;      // d
    double shared = 0;             // <along, d>
    double total = 0;              // the sum of the curvatures
    std::ptrdiff_t place = 0;      // where a sweep over all goes on that was interrupted
    double gain = 0;               // and what it has gained
};

// Scale the columns by the roots of the rows' curvatures; d becomes zero. Columns do not depend on each other, so
// threads change no bit.
void renew(const PackedColumns& columns, const double* curvature, int threads, ColumnModel& model);

// Lower the model until a sweep over all coordinates gains no more than `tol`, or the work, in multiply-adds, exceeds
// `most`. Returns whether it ended; if not, call again. Slopes are those at d = 0 with the constant at its best.
bool descend_columns(const PackedColumns& columns, ColumnModel& model, const double* slope, const double* point,
                     const double* penalty, double tol, double most);

}  // namespace separatrix
