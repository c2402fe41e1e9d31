// What a hidden unit makes of its score, and the slope of that, found from the value. Rows lie one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace separatrix {

enum class Activation : std::uint8_t { identity, relu, tanh, logistic };

// h <- phi(z + b), in place, of m rows by k units; NaN stays NaN. ReLU is max(z, 0).
void activate(Activation kind, std::ptrdiff_t m, std::ptrdiff_t k, float* z, const float* b) noexcept;
void activate(Activation kind, std::ptrdiff_t m, std::ptrdiff_t k, double* z, const double* b) noexcept;

// slope <- slope phi'(z), with phi' from h = phi(z): 1 where h > 0, 1 - h², or h (1 - h).
void times_derivative(Activation kind, std::ptrdiff_t n, float* slope, const float* h) noexcept;
void times_derivative(Activation kind, std::ptrdiff_t n, double* slope, const double* h) noexcept;

}  // namespace separatrix
