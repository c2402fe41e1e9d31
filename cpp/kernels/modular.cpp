#include "modular.hpp"

#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "portable.hpp"

namespace separatrix {
namespace {

// x mod prime for x < 2^62 by a quotient in floating point, off by one at most.
struct Modulus {
    std::uint64_t prime;
    double inverse;

    explicit Modulus(std::uint64_t p) : prime(p), inverse(1.0 / static_cast<double>(p)) {}

    std::uint64_t operator()(std::uint64_t x) const {
        const auto quotient = static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(x)) * inverse);
        auto rest = static_cast<std::int64_t>(x) - quotient * static_cast<std::int64_t>(prime);
        const auto p = static_cast<std::int64_t>(prime);
        rest += rest < 0 ? p : 0;
        rest -= rest >= p ? p : 0;
        return static_cast<std::uint64_t>(rest);
    }

    std::uint64_t power(std::uint64_t base, std::uint64_t exponent) const {
        std::uint64_t result = 1;
        for (base = (*this)(base); exponent > 0; exponent >>= 1, base = (*this)(base * base))
            if (exponent & 1) result = (*this)(result * base);
        return result;
    }
};

// 2^e for every e that a 53-bit integer mantissa may have: from -1126 (of 5e-324) to 971.
constexpr int lowest_power = -1130;

std::vector<std::uint64_t> powers_of_two(const Modulus& mod) {
    std::vector<std::uint64_t> powers(2200);
    powers[0] = mod.power((mod.prime + 1) / 2, static_cast<std::uint64_t>(-lowest_power));
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = mod(powers[k - 1] * 2);
    return powers;
}

std::uint64_t residue(double value, const Modulus& mod, const std::vector<std::uint64_t>& powers) {
    if (value == 0.0) return 0;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    const std::uint64_t size = mod(mod(mantissa) * powers[static_cast<std::size_t>(exponent - 53 - lowest_power)]);
    return value < 0 && size != 0 ? mod.prime - size : size;
}

SEPARATRIX_CLONES
void subtract(std::uint64_t* row, const std::uint64_t* pivot, std::uint64_t factor, std::ptrdiff_t from,
              std::ptrdiff_t p, const Modulus& mod) {
    const std::uint64_t other = mod.prime - factor;
    for (std::ptrdiff_t j = from; j < p; ++j) row[j] = mod(row[j] + other * pivot[j]);
}

}  // namespace

Echelon eliminate(const double* matrix, std::ptrdiff_t m, std::ptrdiff_t p, std::uint64_t prime) {
    const Modulus mod(prime);
    const auto powers = powers_of_two(mod);
    const auto at = [p](std::ptrdiff_t i) { return static_cast<std::size_t>(i * p); };
    std::vector<std::uint64_t> a(at(m));
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = residue(matrix[k], mod, powers);
    std::vector<std::int64_t> order(static_cast<std::size_t>(m));
    std::iota(order.begin(), order.end(), 0);
    Echelon echelon;
    std::ptrdiff_t rank = 0;
    for (std::ptrdiff_t j = 0; j < p && rank < m; ++j) {
        std::ptrdiff_t i = rank;
        while (i < m && a[at(i) + static_cast<std::size_t>(j)] == 0) ++i;
        if (i == m) continue;
        if (i != rank) {
            std::swap_ranges(a.begin() + static_cast<std::ptrdiff_t>(at(i)),
                             a.begin() + static_cast<std::ptrdiff_t>(at(i)) + p,
                             a.begin() + static_cast<std::ptrdiff_t>(at(rank)));
            std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(rank)]);
        }
        std::uint64_t* pivot = a.data() + at(rank);
        const std::uint64_t inverse = mod.power(pivot[j], prime - 2);
        for (std::ptrdiff_t k = j; k < p; ++k) pivot[k] = mod(pivot[k] * inverse);
        for (std::ptrdiff_t k = 0; k < m; ++k) {
            std::uint64_t* row = a.data() + at(k);
            if (k != rank && row[j] != 0) subtract(row, pivot, row[j], j, p, mod);
        }
        echelon.pivot_rows.push_back(order[static_cast<std::size_t>(rank)]);
        echelon.pivot_columns.push_back(j);
        ++rank;
    }
    echelon.reduced.assign(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(at(rank)));
    return echelon;
}

}  // namespace separatrix
