// The logistic loss of a batch of margins, with slope and curvature.
#pragma once

#include <cstddef>
#include <cstdint>

#include "elementary.hpp"

namespace separatrix {

// For the score z of a row with label s in {-1, +1} and weight a:
//   loss = a log(1 + exp(-s z)),  slope = d loss / dz,  curvature = d² loss / dz².
// One exponential e = exp(-|z|) serves all three. A score that is not finite makes
// the loss not finite, whatever the weight: `z * 0` carries it.
SEPARATRIX_INLINE void logistic_rows(std::ptrdiff_t m, const double* SEPARATRIX_RESTRICT score,
                                     const double* SEPARATRIX_RESTRICT sign, const double* SEPARATRIX_RESTRICT weight,
                                     double* SEPARATRIX_RESTRICT loss, double* SEPARATRIX_RESTRICT slope,
                                     double* SEPARATRIX_RESTRICT curvature) {
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double t = sign[i] * score[i];
        const double size = t < 0.0 ? -t : t;
        const double e = exp_of_negative(size < 800.0 ? -size : -800.0);
        const double inverse = 1.0 / (1.0 + e);
        const double wrong = t < 0.0 ? inverse : e * inverse;  // 1 - p(label)
        loss[i] = weight[i] * ((t < 0.0 ? size : 0.0) + log1p_of_unit(e, inverse)) + t * 0.0;
        slope[i] = -(weight[i] * sign[i]) * wrong;
        curvature[i] = weight[i] * (e * inverse) * inverse;
    }
}

// The weight of each row that its score puts on the wrong side, 0 for the others; a score of zero says +1.
SEPARATRIX_INLINE void wrong_rows(std::ptrdiff_t m, const double* SEPARATRIX_RESTRICT score,
                                  const double* SEPARATRIX_RESTRICT sign, const double* SEPARATRIX_RESTRICT weight,
                                  double* SEPARATRIX_RESTRICT mistake) {
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double side = score[i] >= 0.0 ? 1.0 : -1.0;
        mistake[i] = side == sign[i] ? 0.0 : weight[i];
    }
}

// 1 / (1 + exp(-z)) for a batch of scores.
SEPARATRIX_INLINE double sigmoid_of(double z) {
    const double size = z < 0.0 ? -z : z;
    const double e = exp_of_negative(size < 800.0 ? -size : -800.0);
    const double inverse = 1.0 / (1.0 + e);
    return (z < 0.0 ? e * inverse : inverse) + z * 0.0;
}

}  // namespace separatrix
