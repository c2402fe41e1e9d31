// Counts for binary features: how much weight of each class has x_j above a threshold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

// Sums: K weights, K x d counts, and last how many values are strange: NaN or infinite, or, where
// `binary` asks for it, neither 0 nor 1. Of a row of weight zero only strange values are counted.
struct CountsTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;
    std::ptrdiff_t classes = 1;
    const double* weights = nullptr;  // or null: all 1
    double threshold = 0.0;           // x counts as 1 when x > threshold
    bool binary = false;

    std::size_t size() const { return static_cast<std::size_t>(classes * (1 + rows->d) + 1); }
};

Total counts_total(const CountsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                   int threads);

}  // namespace separatrix
