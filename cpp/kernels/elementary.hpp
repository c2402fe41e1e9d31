// exp, expm1 and log1p that compilers can vectorise: no branches, no tables, no errno.
// They stay within 3 ulp; the tests compare them with the C library's.
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

// x = k ln 2 + r with |r| <= ln 2 / 2, then 1 + r + r^2 times the polynomial that interpolates (exp(r) - 1 - r) / r^2 in
// the ten nodes of Chebyshev: within 1.6e-17 of exp(r), relatively.
struct Reduced {
    double k, r, t;  // x = k ln 2 + r, and exp(r) = 1 + r t
};

SEPARATRIX_INLINE Reduced reduce(double x) {
    constexpr double log2_e = 1.4426950408889634074;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // its last 21 bits are 0
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const double k = (x * log2_e + kRounder) - kRounder;
    const double r = (x - k * ln2_high) - k * ln2_low;
    double s = 2.510037583256132e-08;
    s = s * r + 2.762007587998348e-07;
    s = s * r + 2.7557268480310024e-06;
    s = s * r + 2.4801521322368692e-05;
    s = s * r + 1.9841269863040545e-04;
    s = s * r + 1.3888888917196719e-03;
    s = s * r + 8.333333333330065e-03;
    s = s * r + 4.1666666666624164e-02;
    s = s * r + 1.6666666666666669e-01;
    s = s * r + 0.5000000000000001;
    s = s * r + 1.0;
    return {k, r, s};
}

// exp(x) for x in [-800, 0]; 0 or subnormal where it must be.
SEPARATRIX_INLINE double exp_of_negative(double x) {
    const Reduced reduced = reduce(x);
    const double k = reduced.k, s = reduced.t * reduced.r + 1.0;
    const double half = (k * 0.5 + kRounder) - kRounder;  // two factors reach the subnormals
    return s * power_of_two(half) * power_of_two(k - half);
}

// exp(x) - 1 for x in [-700, 0], with all its digits near 0.
SEPARATRIX_INLINE double expm1_of_negative(double x) {
    const Reduced reduced = reduce(x);
    const double power = power_of_two(reduced.k);
    return power * (reduced.t * reduced.r) + (power - 1.0);
}

// (atanh(s) / s - 1) / s^2 for q = s^2 <= 0.0295, interpolated in seven nodes of Chebyshev: within 5e-18 of atanh(s) / s.
SEPARATRIX_INLINE double atanh_tail(double q) {
    double t = 0.07308224843153788;
    t = t * q + 0.07665860800226883;
    t = t * q + 0.09091444562632399;
    t = t * q + 0.11111105567397518;
    t = t * q + 0.14285714312987743;
    t = t * q + 0.19999999999949752;
    t = t * q + 0.3333333333333335;
    return t;
}

// log(1 + e) for e in [0, 1], given 1/(1 + e): log of the rounded sum plus what the rounding lost.
// With s = f/(2+f), log(1+f) = 2 atanh(s) and |s| < 0.172.
SEPARATRIX_INLINE double log1p_of_unit(double e, double inverse) {
    const double sum = 1.0 + e;
    const double lost = e - (sum - 1.0);
    const bool upper = sum > 1.41421356237309504880;
    const double f = (upper ? sum * 0.5 : sum) - 1.0;
    const double s = f / (2.0 + f);
    const double q = s * s;
    const double log_part = 2.0 * s + 2.0 * s * (q * atanh_tail(q));
    return (upper ? log_part + 0.693147180559945309417 : log_part) + lost * inverse;
}

// log(1 + e) for 0 <= e < 2^60: the sum is 2^k f with f near 1, and log f is as above.
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
    const double log_part = 2.0 * s + 2.0 * s * (q * atanh_tail(q));
    return (log_part + k * 0.693147180559945309417) + lost / sum;
}

}  // namespace separatrix
