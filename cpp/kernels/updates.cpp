#include "updates.hpp"

#include <cmath>

#include "portable.hpp"

namespace separatrix {
namespace {

template <class Real>
SEPARATRIX_INLINE void adam(const StepTask& task, std::ptrdiff_t n, const Real* SEPARATRIX_RESTRICT g,
                            Real* SEPARATRIX_RESTRICT w, Real* SEPARATRIX_RESTRICT m, Real* SEPARATRIX_RESTRICT v) {
    const Real scale = static_cast<Real>(task.scale), decay = static_cast<Real>(task.decay),
               rate = static_cast<Real>(task.rate), first = static_cast<Real>(task.first),
               second = static_cast<Real>(task.second), epsilon = static_cast<Real>(task.epsilon);
    const Real new_first = static_cast<Real>(1.0 - task.first), new_second = static_cast<Real>(1.0 - task.second);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        const Real slope = scale * g[i] + decay * w[i];
        m[i] = first * m[i] + new_first * slope;
        v[i] = second * v[i] + new_second * (slope * slope);
        w[i] -= rate * m[i] / (std::sqrt(v[i]) + epsilon);
    }
}

template <class Real>
SEPARATRIX_INLINE void momentum(const StepTask& task, std::ptrdiff_t n, const Real* SEPARATRIX_RESTRICT g,
                                Real* SEPARATRIX_RESTRICT w, Real* SEPARATRIX_RESTRICT v) {
    const Real scale = static_cast<Real>(task.scale), decay = static_cast<Real>(task.decay),
               rate = static_cast<Real>(task.rate), mu = static_cast<Real>(task.first);
    // the step is v, or one more application of the same rule
    const Real ahead = task.nesterov ? mu : Real(1), again = task.nesterov ? rate : Real(0);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        const Real slope = scale * g[i] + decay * w[i];
        v[i] = mu * v[i] - rate * slope;
        w[i] += ahead * v[i] - again * slope;
    }
}

}  // namespace

SEPARATRIX_WIDE_CLONES
void adam_step(const StepTask& task, std::ptrdiff_t n, const float* g, float* w, float* m, float* v) noexcept {
    adam(task, n, g, w, m, v);
}

SEPARATRIX_WIDE_CLONES
void adam_step(const StepTask& task, std::ptrdiff_t n, const double* g, double* w, double* m, double* v) noexcept {
    adam(task, n, g, w, m, v);
}

SEPARATRIX_CLONES
void momentum_step(const StepTask& task, std::ptrdiff_t n, const float* g, float* w, float* v) noexcept {
    momentum(task, n, g, w, v);
}

SEPARATRIX_CLONES
void momentum_step(const StepTask& task, std::ptrdiff_t n, const double* g, double* w, double* v) noexcept {
    momentum(task, n, g, w, v);
}

}  // namespace separatrix
