#include "layers.hpp"

#include <cmath>

#include "losses.hpp"

namespace separatrix {
namespace {

// One sigmoid output; the positive class takes ties.
template <class Real>
SEPARATRIX_INLINE OutputSums sigmoid_slopes(std::ptrdiff_t m, Real* score, const std::int32_t* codes,
                                            const double* weights) {
    constexpr std::ptrdiff_t kAtOnce = 8;
    OutputSums sums;
    for (std::ptrdiff_t first = 0; first < m; first += kAtOnce) {
        double z[kAtOnce] = {}, sign[kAtOnce] = {}, weight[kAtOnce] = {}, loss[kAtOnce], slope[kAtOnce],
               curvature[kAtOnce];
        const std::ptrdiff_t count = m - first < kAtOnce ? m - first : kAtOnce;
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            z[i] = static_cast<double>(score[first + i]);
            sign[i] = codes[first + i] == 1 ? 1.0 : -1.0;
            weight[i] = weights ? weights[first + i] : 1.0;
        }
        logistic_rows(kAtOnce, z, sign, weight, loss, slope, curvature);  // of so many, to fill the registers
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            score[first + i] = static_cast<Real>(slope[i]);
            sums.loss += loss[i];
            if ((z[i] >= 0.0) != (sign[i] > 0.0)) sums.mistakes += weight[i];
        }
    }
    return sums;
}

// exp(z - top), where NaN stays NaN.
template <class Real>
SEPARATRIX_INLINE double part_of(Real z, double top) {
    const double below = static_cast<double>(z) - top;
    return exp_of_negative(below < -800.0 ? -800.0 : below);
}

// Softmax; of classes that tie the last is taken.
template <class Real>
SEPARATRIX_INLINE OutputSums softmax_slopes(std::ptrdiff_t m, std::ptrdiff_t k, Real* score, const std::int32_t* codes,
                                            const double* weights) {
    constexpr std::ptrdiff_t kKept = 64;  // exponentials of so many classes are kept, of more taken twice
    double kept[kKept];
    OutputSums sums;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        Real* z = score + i * k;
        const double weight = weights ? weights[i] : 1.0;
        double top = static_cast<double>(z[0]);
        std::ptrdiff_t best = 0;
        for (std::ptrdiff_t j = 1; j < k; ++j)
            if (static_cast<double>(z[j]) >= top) {
                top = static_cast<double>(z[j]);
                best = j;
            }
        const double own = static_cast<double>(z[codes[i]]) - top;
        double sum = 0, others = 0;
        for (std::ptrdiff_t j = 0; j < k && j < kKept; ++j) kept[j] = part_of(z[j], top);
        for (std::ptrdiff_t j = 0; j < k; ++j) {
            const double part = j < kKept ? kept[j] : part_of(z[j], top);
            sum += part;
            others += j == codes[i] ? 0.0 : part;
        }
        const double share = weight / sum;
        for (std::ptrdiff_t j = 0; j < k; ++j) {
            const double slope = share * (j < kKept ? kept[j] : part_of(z[j], top));
            z[j] = static_cast<Real>(j == codes[i] ? slope - weight : slope);
        }
        // small losses keep their digits: log(1 + others) where the row's own class is the largest
        sums.loss += weight * (own == 0.0 ? std::log1p(others) : std::log(sum) - own) + own * 0.0;
        if (best != codes[i]) sums.mistakes += weight;
    }
    return sums;
}

template <class Real>
SEPARATRIX_INLINE OutputSums slopes(std::ptrdiff_t m, std::ptrdiff_t k, Real* score, const std::int32_t* codes,
                                    const double* weights) {
    return k == 1 ? sigmoid_slopes(m, score, codes, weights) : softmax_slopes(m, k, score, codes, weights);
}

}  // namespace

SEPARATRIX_CLONES
OutputSums output_slopes(std::ptrdiff_t m, std::ptrdiff_t k, float* score, const std::int32_t* codes,
                         const double* weights) noexcept {
    return slopes(m, k, score, codes, weights);
}

SEPARATRIX_CLONES
OutputSums output_slopes(std::ptrdiff_t m, std::ptrdiff_t k, double* score, const std::int32_t* codes,
                         const double* weights) noexcept {
    return slopes(m, k, score, codes, weights);
}

}  // namespace separatrix
