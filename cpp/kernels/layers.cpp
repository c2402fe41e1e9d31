#include "layers.hpp"

#include <cmath>

#include "losses.hpp"

namespace separatrix {
namespace {

// One sigmoid output; the positive class takes ties.
template <class Real>
SEPARATRIX_INLINE OutputSums sigmoid_slopes(std::ptrdiff_t m, Real* score, const std::int32_t* codes,
                                            const double* weights) {
    OutputSums sums;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        const double z = static_cast<double>(score[i]), sign = codes[i] == 1 ? 1.0 : -1.0;
        const double weight = weights ? weights[i] : 1.0;
        double loss = 0, slope = 0, curvature = 0;
        logistic_rows(1, &z, &sign, &weight, &loss, &slope, &curvature);
        score[i] = static_cast<Real>(slope);
        sums.loss += loss;
        if ((z >= 0.0) != (codes[i] == 1)) sums.mistakes += weight;
    }
    return sums;
}

// Softmax; of classes that tie the last is taken.
template <class Real>
SEPARATRIX_INLINE OutputSums softmax_slopes(std::ptrdiff_t m, std::ptrdiff_t k, Real* score,
                                            const std::int32_t* codes, const double* weights) {
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
        for (std::ptrdiff_t j = 0; j < k; ++j) {
            const double below = static_cast<double>(z[j]) - top;
            const double part = exp_of_negative(below < -800.0 ? -800.0 : below);  // NaN stays NaN
            sum += part;
            others += j == codes[i] ? 0.0 : part;
        }
        const double share = weight / sum;
        for (std::ptrdiff_t j = 0; j < k; ++j) {
            const double below = static_cast<double>(z[j]) - top;
            const double slope = share * exp_of_negative(below < -800.0 ? -800.0 : below);
            z[j] = static_cast<Real>(j == codes[i] ? slope - weight : slope);
        }
        // small losses keep their digits: log(1 + others) where the row's own class is the largest
        sums.loss += weight * (own == 0.0 ? std::log1p(others) : std::log(sum) - own) + own * 0.0;
        if (best != codes[i]) sums.mistakes += weight;
    }
    return sums;
}

template <class Real>
SEPARATRIX_INLINE void relu(std::ptrdiff_t m, std::ptrdiff_t k, Real* SEPARATRIX_RESTRICT z,
                            const Real* SEPARATRIX_RESTRICT b) {
    for (std::ptrdiff_t i = 0; i < m; ++i)
        for (std::ptrdiff_t j = 0; j < k; ++j) {
            const Real sum = z[i * k + j] + b[j];
            z[i * k + j] = sum < Real(0) ? Real(0) : sum;
        }
}

template <class Real>
SEPARATRIX_INLINE void back(std::ptrdiff_t n, Real* SEPARATRIX_RESTRICT slope, const Real* SEPARATRIX_RESTRICT z) {
    for (std::ptrdiff_t i = 0; i < n; ++i) slope[i] = z[i] > Real(0) ? slope[i] : Real(0);
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

SEPARATRIX_CLONES
void add_relu(std::ptrdiff_t m, std::ptrdiff_t k, float* z, const float* b) noexcept {
    relu(m, k, z, b);
}

SEPARATRIX_CLONES
void add_relu(std::ptrdiff_t m, std::ptrdiff_t k, double* z, const double* b) noexcept {
    relu(m, k, z, b);
}

SEPARATRIX_CLONES
void relu_back(std::ptrdiff_t n, float* slope, const float* z) noexcept {
    back(n, slope, z);
}

SEPARATRIX_CLONES
void relu_back(std::ptrdiff_t n, double* slope, const double* z) noexcept {
    back(n, slope, z);
}

}  // namespace separatrix
