// Stochastic gradient descent on the logistic and the softmax loss: an ordered pass in mini-batches.
//
// A step on rows B of weights a, with |B| = m and a_ the mean weight, is
//
//     w <- (1 - eta shrink) w - eta/(m a_) sum a (pi(x) - e_y) x,   then |w_j| loses eta truncate, at zero it stops,
//
// all pi at the weights before the step. The factor is kept apart (w = scale v), and sparse rows settle the
// L1 part of a weight when they next touch it: soft thresholds add up, so the result is that of the plain steps.
// The mean of the weights after each step is had from v and from one more vector that changes where v does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sweeps.hpp"

namespace separatrix {

struct DescentTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;
    const double* weights = nullptr;  // none: all one
    Order order;
    std::ptrdiff_t outputs = 1;  // one weight vector (sign +1 is class 1), or one per class
    bool constant = false;
    bool hard = false;  // pi replaced by the most probable label; where that is not unique, by a wrong one
    std::ptrdiff_t batch = 1;
    double mean_weight = 1;
    const double* rates = nullptr;  // one per step of this call
    double shrink = 0;              // L2
    double truncate = 0;            // L1
    std::ptrdiff_t unaveraged = 0;  // steps of this call before averaging begins

    double* point = nullptr;     // outputs x p
    double* counters = nullptr;  // as in sweeps.hpp: visits, mistakes, error (here the loss met), score
    double* total = nullptr;     // outputs x p, or none: the sum of the weights after each step

    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
};

// Visits first … last-1 of the order; `first` begins a batch.
void sweep_descent(const DescentTask& task, std::ptrdiff_t first, std::ptrdiff_t last);

}  // namespace separatrix
