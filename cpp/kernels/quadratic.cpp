#include "quadratic.hpp"

namespace separatrix {
namespace {

SEPARATRIX_CLONES
double sweep(const double* SEPARATRIX_RESTRICT hessian, std::ptrdiff_t p, const double* point, const double* penalty,
             bool moved_only, double* step, double* SEPARATRIX_RESTRICT slope) {
    double gain = 0;
    for (std::ptrdiff_t j = 0; j < p; ++j) {
        const double h = hessian[j * p + j];
        if (!(h > 0)) continue;
        const double u = point[j] + step[j];
        if (moved_only && u == 0.0) continue;
        const double t = best_move(slope[j], h, u, penalty[j]);
        if (t == 0.0) continue;
        gain += gain_of_move(slope[j], h, u, t, t == -u ? 0.0 : u + t, penalty[j]);
        // a coordinate that reaches zero must be exactly zero
        step[j] = t == -u ? -point[j] : step[j] + t;
        const double* row = hessian + j * p;
        for (std::ptrdiff_t k = 0; k < p; ++k) slope[k] += t * row[k];
    }
    return gain;
}

}  // namespace

std::ptrdiff_t descend_quadratic(const double* hessian, std::ptrdiff_t p, const double* point, const double* penalty,
                                 double tol, std::ptrdiff_t most_sweeps, double* step, double* slope) noexcept {
    std::ptrdiff_t sweeps = 0;
    while (sweeps < most_sweeps) {
        ++sweeps;
        if (sweep(hessian, p, point, penalty, false, step, slope) <= tol) break;
        while (sweeps < most_sweeps) {
            ++sweeps;
            if (sweep(hessian, p, point, penalty, true, step, slope) <= tol) break;
        }
    }
    return sweeps;
}

}  // namespace separatrix
