// What is known of rows that an ordered pass does not read: how far the weights may move before a row can be a mistake.
//
// The leeway of a row at a reference is (s(<w, x> + b) - margin) / |x|. It is kept as float32, rounded down, and |x| is
// kept as float32, rounded up, so that four bytes each do and no row is passed over that should not be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

inline constexpr double kUnit = 0x1p-53;
inline constexpr double kTiny = 1e-290;  // covers what underflow may take from a score

struct LeewayTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;
    std::int32_t positive = 1;
    bool constant = false;
    double margin = 0;
    const double* point = nullptr;  // p: the reference
    float* leeway = nullptr;        // n
    float* lengths = nullptr;       // n
};

void row_leeways(const LeewayTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads);

// |x| of rows first … last-1, rounded up, with 1 for the constant counted in; out[0] is of the row `origin`.
void row_lengths(const Rows& rows, bool constant, double* out, std::ptrdiff_t origin, std::ptrdiff_t first,
                 std::ptrdiff_t last, std::ptrdiff_t lanes, int threads);

// |v| of count values, not smaller than the true one; squares that leave the range of floats are avoided.
SEPARATRIX_INLINE double length_above(double squares, double largest, std::ptrdiff_t count) {
    const auto terms = static_cast<double>(count);
    if (squares != squares) return squares;
    if (squares > 1e-280 && squares < 1e300) return std::sqrt(squares) * (1 + (terms + 8) * kUnit);
    return largest * std::sqrt(terms) * (1 + 8 * kUnit);
}

// A float32 that is not above the value; never an infinity above zero, NaN stays NaN.
SEPARATRIX_INLINE float float_below(double value) {
    const double lower = value - (std::abs(value) * 0x1p-23 + 1e-44);
    return static_cast<float>(lower > 3e38 ? 3e38 : lower);
}

// A float32 that is not below a length; never zero, so that one can divide by it.
SEPARATRIX_INLINE float float_above(double length) { return static_cast<float>(length * (1 + 0x1p-23) + 0x1p-120); }

}  // namespace separatrix
