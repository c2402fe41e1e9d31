// The logistic loss on packed columns: scores by columns, then slopes, curvatures and the gradient.
#pragma once

#include <vector>

#include "packed_columns.hpp"

namespace separatrix {

struct ColumnLoss {
    std::vector<double> sign, weight;             // of every row; the weights as they are to be added up
    std::vector<double> score, slope, curvature;  // at the point that was evaluated last
    double loss = 0, slope_size = 0;
};

// At (w, b'), b' last if there is a constant; the gradient (as many numbers) is without any penalty. Its entries do not
// depend on each other, so threads change no bit.
void evaluate(const PackedColumns& columns, bool constant, const double* point, int threads, ColumnLoss& loss,
              double* gradient);

}  // namespace separatrix
