// exp and log1p that compilers can vectorise: no branches, no tables, no errno.
// Both stay within 3 ulp; the tests compare them with the C library's.
#pragma once

#include <bit>
#include <cstdint>

#include "portable.hpp"

namespace separatrix {

// Adding and subtracting 1.5 * 2^52 rounds to an integer, which then also stands
// in the low bits of the sum.
inline constexpr double kRounder = 6755399441055744.0;

SEPARATRIX_INLINE double power_of_two(double whole) {
    const auto bits = std::bit_cast<std::uint64_t>(whole + kRounder);
    return std::bit_cast<double>((bits << 52) + 0x3ff0000000000000ULL);
}

// exp(x) for x in [-800, 0]; 0 or subnormal where it must be.
// x = k ln 2 + r with |r| <= ln 2 / 2, then the Taylor series of exp(r): its first
// omitted term r^14/14! is below 5e-18.
SEPARATRIX_INLINE double exp_of_negative(double x) {
    constexpr double log2_e = 1.4426950408889634074;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // its last 21 bits are 0
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const double k = (x * log2_e + kRounder) - kRounder;
    const double r = (x - k * ln2_high) - k * ln2_low;
    double s = 1.0 / 6227020800.0;
    s = s * r + 1.0 / 479001600.0;
    s = s * r + 1.0 / 39916800.0;
    s = s * r + 1.0 / 3628800.0;
    s = s * r + 1.0 / 362880.0;
    s = s * r + 1.0 / 40320.0;
    s = s * r + 1.0 / 5040.0;
    s = s * r + 1.0 / 720.0;
    s = s * r + 1.0 / 120.0;
    s = s * r + 1.0 / 24.0;
    s = s * r + 1.0 / 6.0;
    s = s * r + 0.5;
    s = s * r + 1.0;
    s = s * r + 1.0;
    const double half = (k * 0.5 + kRounder) - kRounder;  // two factors reach the subnormals
    return s * power_of_two(half) * power_of_two(k - half);
}

// log(1 + e) for e in [0, 1]: log of the rounded sum plus what the rounding lost.
// With s = f/(2+f), log(1+f) = 2 (s + s^3/3 + s^5/5 + …) and |s| < 0.172.
SEPARATRIX_INLINE double log1p_of_unit(double e) {
    const double sum = 1.0 + e;
    const double lost = e - (sum - 1.0);
    const bool upper = sum > 1.41421356237309504880;
    const double f = (upper ? sum * 0.5 : sum) - 1.0;
    const double s = f / (2.0 + f);
    const double q = s * s;
    double t = 1.0 / 23.0;
    t = t * q + 1.0 / 21.0;
    t = t * q + 1.0 / 19.0;
    t = t * q + 1.0 / 17.0;
    t = t * q + 1.0 / 15.0;
    t = t * q + 1.0 / 13.0;
    t = t * q + 1.0 / 11.0;
    t = t * q + 1.0 / 9.0;
    t = t * q + 1.0 / 7.0;
    t = t * q + 1.0 / 5.0;
    t = t * q + 1.0 / 3.0;
    const double log_part = 2.0 * s + 2.0 * s * (q * t);
    return (upper ? log_part + 0.693147180559945309417 : log_part) + lost / sum;
}

// log(1 + e) for 0 <= e < 2^60: the sum is 2^k f with f near 1, and log f is the series above.
SEPARATRIX_INLINE double log1p_of_positive(double e) {
    const double sum = 1.0 + e;
    const double part = sum - 1.0;
    const double lost = (1.0 - (sum - part)) + (e - part);
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcdULL;
    const std::uint64_t whole = (bits - root_of_half) >> 52;
    const double k = std::bit_cast<double>(whole + std::bit_cast<std::uint64_t>(kRounder)) - kRounder;
    const double f = std::bit_cast<double>(bits - (whole << 52)) - 1.0;
    const double s = f / (2.0 + f);
    const double q = s * s;
    double t = 1.0 / 23.0;
    t = t * q + 1.0 / 21.0;
    t = t * q + 1.0 / 19.0;
    t = t * q + 1.0 / 17.0;
    t = t * q + 1.0 / 15.0;
    t = t * q + 1.0 / 13.0;
    t = t * q + 1.0 / 11.0;
    t = t * q + 1.0 / 9.0;
    t = t * q + 1.0 / 7.0;
    t = t * q + 1.0 / 5.0;
    t = t * q + 1.0 / 3.0;
    const double log_part = 2.0 * s + 2.0 * s * (q * t);
    return (log_part + k * 0.693147180559945309417) + lost / sum;
}

}  // namespace separatrix
