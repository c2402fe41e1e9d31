// Elimination modulo a prime: what is independent modulo a prime is independent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace separatrix {

// Reduced row echelon form over the integers modulo `prime` (between 2^30 and 2^31) of an
// m x p matrix of float64 numbers, each taken as the fraction that it is. Columns are
// tried from left to right, so every other column is a combination of those before it.
struct Echelon {
    std::vector<std::int64_t> pivot_rows;     // rank
    std::vector<std::int64_t> pivot_columns;  // rank, increasing
    std::vector<std::int64_t> reduced;        // rank x p
};

Echelon eliminate(const double* matrix, std::ptrdiff_t m, std::ptrdiff_t p, std::uint64_t prime);

}  // namespace separatrix
