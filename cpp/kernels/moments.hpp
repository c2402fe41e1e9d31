// Sums for the moments of each class: weight, sum and scatter about a shift of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

// Sums: K weights, then K sums of a (x - shift_k) (d values each), then the scatters
// sum a (x - shift_k)(x - shift_k)', one for all classes together or one for each.
// Of sparse rows only stored values are shifted: a column may have a shift other than
// zero only if it stores every value.
struct MomentsTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;
    std::ptrdiff_t classes = 1;
    const double* weights = nullptr;  // or null: all 1
    const double* shift = nullptr;    // classes x d
    bool each = false;                // a scatter for each class

    std::ptrdiff_t groups() const { return each ? classes : 1; }
    std::ptrdiff_t side() const;  // d, or padded(d) while dense rows are added
    std::ptrdiff_t head() const { return classes * (1 + rows->d); }
    std::size_t size() const { return static_cast<std::size_t>(head() + groups() * side() * side()); }
};

Total moments_total(const MomentsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads);

// out[i] = sum_j (scale_kj (x_ij - centre_kj))^2 with k the class of row i.
struct SpreadTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;
    const double* centre = nullptr;  // classes x d
    const double* scale = nullptr;   // classes x d
    const double* full = nullptr;    // or null; classes x d, not 0 where every row of the class stores the column
    std::ptrdiff_t classes = 1;
    double* out = nullptr;
};

void spread_rows(const SpreadTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads);

}  // namespace separatrix
