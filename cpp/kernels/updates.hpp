// One step of a network's weights, in one read and one write of everything it touches.
#pragma once

#include <cstddef>

namespace separatrix {

// g <- scale * g + decay * w is the gradient of the averaged, penalised loss.
struct StepTask {
    double scale = 1, decay = 0, rate = 0;
    double first = 0, second = 0, epsilon = 0;  // Adam's beta_1, beta_2, epsilon; `first` is also the momentum
    bool nesterov = false;
};

// m <- beta_1 m + (1 - beta_1) g, v <- beta_2 v + (1 - beta_2) g², w <- w - rate m / (sqrt(v) + epsilon).
// The caller's rate carries the correction for the start at zero.
void adam_step(const StepTask& task, std::ptrdiff_t n, const float* g, float* w, float* m, float* v) noexcept;
void adam_step(const StepTask& task, std::ptrdiff_t n, const double* g, double* w, double* m, double* v) noexcept;

// v <- mu v - rate g;  w <- w + v, or with Nesterov's look ahead w + mu v - rate g.
void momentum_step(const StepTask& task, std::ptrdiff_t n, const float* g, float* w, float* v) noexcept;
void momentum_step(const StepTask& task, std::ptrdiff_t n, const double* g, double* w, double* v) noexcept;

}  // namespace separatrix
