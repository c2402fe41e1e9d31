// Rows added up with factors, almost without error.
#pragma once

#include <cstddef>

#include "lanes.hpp"

namespace separatrix {

// sum_i r_ik x_i for each of `count` columns of row factors r (n x count), with errors of
// a few units in the last place of the largest term, however many rows there are. The
// sums hold the high parts of all, then what was lost.
struct CombineTask {
    const Rows* rows = nullptr;
    const double* factors = nullptr;  // n x count
    std::ptrdiff_t count = 1;
    bool constant = false;
    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
};

Total combine_total(const CombineTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads);

}  // namespace separatrix
