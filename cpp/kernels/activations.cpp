#include "activations.hpp"

#include <cmath>

#include "elementary.hpp"

namespace separatrix {
namespace {

// tanh(x) = -e / (2 + e) with e = exp(-2|x|) - 1, and the sign of x: no digit is lost near 0, and beyond 20 it is 1.
SEPARATRIX_INLINE double hyperbolic(double x) {
    const double size = std::fabs(x), e = expm1_of_negative(size > 40.0 ? -80.0 : -2.0 * size);
    return std::copysign(-e / (2.0 + e), x);
}

// 1 / (1 + exp(-x)); each tail from its own exponential.
SEPARATRIX_INLINE double sigmoid(double x) {
    const double size = std::fabs(x), e = exp_of_negative(size > 800.0 ? -800.0 : -size);
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

template <class Real, class Function>
SEPARATRIX_INLINE void each(std::ptrdiff_t m, std::ptrdiff_t k, Real* SEPARATRIX_RESTRICT z,
                            const Real* SEPARATRIX_RESTRICT b, const Function& function) {
    for (std::ptrdiff_t i = 0; i < m; ++i)
        for (std::ptrdiff_t j = 0; j < k; ++j) z[i * k + j] = function(z[i * k + j] + b[j]);
}

template <class Real>
SEPARATRIX_INLINE void forth(Activation kind, std::ptrdiff_t m, std::ptrdiff_t k, Real* z, const Real* b) {
    switch (kind) {
        case Activation::identity:
            each(m, k, z, b, [](Real x) SEPARATRIX_INLINE_LAMBDA { return x; });
            break;
        case Activation::relu:
            each(m, k, z, b, [](Real x) SEPARATRIX_INLINE_LAMBDA { return x < Real(0) ? Real(0) : x; });
            break;
        case Activation::tanh:
            each(m, k, z, b, [](Real x) SEPARATRIX_INLINE_LAMBDA { return static_cast<Real>(hyperbolic(x)); });
            break;
        case Activation::logistic:
            each(m, k, z, b, [](Real x) SEPARATRIX_INLINE_LAMBDA { return static_cast<Real>(sigmoid(x)); });
            break;
    }
}

template <class Real>
SEPARATRIX_INLINE void back(Activation kind, std::ptrdiff_t n, Real* SEPARATRIX_RESTRICT slope,
                            const Real* SEPARATRIX_RESTRICT h) {
    switch (kind) {
        case Activation::identity:
            break;
        case Activation::relu:
            for (std::ptrdiff_t i = 0; i < n; ++i) slope[i] = h[i] > Real(0) ? slope[i] : Real(0);
            break;
        case Activation::tanh:
            for (std::ptrdiff_t i = 0; i < n; ++i) slope[i] *= Real(1) - h[i] * h[i];
            break;
        case Activation::logistic:
            for (std::ptrdiff_t i = 0; i < n; ++i) slope[i] *= h[i] * (Real(1) - h[i]);
            break;
    }
}

}  // namespace

SEPARATRIX_WIDE_CLONES
void activate(Activation kind, std::ptrdiff_t m, std::ptrdiff_t k, float* z, const float* b) noexcept {
    forth(kind, m, k, z, b);
}

SEPARATRIX_WIDE_CLONES
void activate(Activation kind, std::ptrdiff_t m, std::ptrdiff_t k, double* z, const double* b) noexcept {
    forth(kind, m, k, z, b);
}

SEPARATRIX_CLONES
void times_derivative(Activation kind, std::ptrdiff_t n, float* slope, const float* h) noexcept {
    back(kind, n, slope, h);
}

SEPARATRIX_CLONES
void times_derivative(Activation kind, std::ptrdiff_t n, double* slope, const double* h) noexcept {
    back(kind, n, slope, h);
}

}  // namespace separatrix
