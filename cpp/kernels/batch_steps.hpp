// Steps over batches of rows, many in one call: forward, back, gradient, update.
#pragma once

#include <cstddef>

#include "backprop.hpp"
#include "updates.hpp"

namespace separatrix {

// What an epoch carries from call to call, because a call may end within a batch.
enum Carried : int { kObjective, kMistakes, kLoss, kWeight, kCarried };

template <class Real>
struct StepsTask {
    Visits rows;  // all of the epoch: order, codes, weights, first = 0, last = n
    std::ptrdiff_t batch = 1;
    double alpha = 0;
    StepTask rule;                  // but for scale, decay and rate
    const double* rates = nullptr;  // of the batches that end within the call
    Real* weights = nullptr;
    Real* gradient = nullptr;
    Real* mean = nullptr;       // Adam's, or the velocity
    Real* square = nullptr;     // Adam's, or null: steps with momentum
    double* carried = nullptr;  // kObjective: sum over batches of rows times F as met; kLoss, kWeight: of this batch
};

// Visits pieces from row `first` on, so many or up to the end, on so many threads, and returns where it stopped. After the last piece of a
// batch the weights are moved by the gradient of
//     F = (1/S)[sum of a loss + (alpha/2) |W|²],  S = sum of a.
template <class Real>
std::ptrdiff_t run_steps(Backprop<Real>& passing, const StepsTask<Real>& task, std::ptrdiff_t first,
                         std::ptrdiff_t pieces, int threads, double* squares);

// Adds the loss of rows first … last-1 to carried[kLoss], the mistakes to carried[kMistakes] and their gradient to
// `gradient`, unscaled, without the penalty.
template <class Real>
void add_losses(Backprop<Real>& passing, const Visits& rows, const Real* weights, Real* gradient, double* carried,
                int threads);

// Room that the squares of the weights take in run_steps.
inline std::ptrdiff_t squares_room(const Shape& shape) {
    std::ptrdiff_t room = 0;
    for (std::size_t k = 0; k < shape.layers(); ++k) room += groups(shape.units[k]);
    return room;
}

}  // namespace separatrix
