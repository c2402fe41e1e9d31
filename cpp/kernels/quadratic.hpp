// Coordinate descent on a small quadratic with an L1 penalty: the inner problem of
// proximal Newton. The matrix is dense and in memory; no data is read.
#pragma once

#include <cstddef>

#include "portable.hpp"

namespace separatrix {

// The minimiser of s t + h t^2/2 + penalty |u + t| in t.
SEPARATRIX_INLINE double best_move(double s, double h, double u, double penalty) {
    const double low = s - penalty, high = s + penalty;  // slopes right and left of zero
    if (high < h * u) return -high / h;
    if (low > h * u) return -low / h;
    return -u;
}

// What that move gains. A coordinate that keeps its sign, or leaves zero, ends where the slope is zero; there the sum of
// all parts would be rounding alone, near the minimum.
SEPARATRIX_INLINE double gain_of_move(double s, double h, double u, double t, double after, double penalty) {
    if (penalty == 0.0 || u == 0.0 || u * after > 0.0) return 0.5 * h * t * t;
    const double size_before = u < 0 ? -u : u, size_after = after < 0 ? -after : after;
    return -(s * t + 0.5 * h * t * t + penalty * (size_after - size_before));
}

// Minimise  g'd + d'Hd/2 + sum_j penalty_j |w_j + d_j|  over d, one coordinate at a time.
// `slope` holds g on entry and g + H d on return; `step` holds d. A sweep goes over all
// coordinates, later ones only over those that moved, until a full sweep changes the
// objective by less than `tol`. Returns the number of sweeps.
std::ptrdiff_t descend_quadratic(const double* hessian, std::ptrdiff_t p, const double* point, const double* penalty,
                                 double tol, std::ptrdiff_t most_sweeps, double* step, double* slope) noexcept;

}  // namespace separatrix
