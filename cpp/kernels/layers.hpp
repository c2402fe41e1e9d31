// The cross-entropy at a network's output and its slopes. Rows lie one after the other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace separatrix {

// Scores of m rows by k outputs become d loss / d score, times the row's weight (1 if null).
// k = 1: a sigmoid, label 1 for code 1; else softmax over k classes. The loss is computed in
// double precision from the scores, so that none is lost where a probability rounds to 0.
struct OutputSums {
    double loss = 0, mistakes = 0;
};
OutputSums output_slopes(std::ptrdiff_t m, std::ptrdiff_t k, float* score, const std::int32_t* codes,
                         const double* weights) noexcept;
OutputSums output_slopes(std::ptrdiff_t m, std::ptrdiff_t k, double* score, const std::int32_t* codes,
                         const double* weights) noexcept;

}  // namespace separatrix
