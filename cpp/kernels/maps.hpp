// One output per row: scores, probabilities, rows themselves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

struct ScoreTask {
    const Rows* rows = nullptr;
    const double* points = nullptr;  // count x p
    std::ptrdiff_t count = 1;
    bool constant = false;
    bool probabilities = false;  // out becomes rows x 2: 1 - p and p of the only point
    double* out = nullptr;       // rows origin, origin + 1, … x count
    std::ptrdiff_t origin = 0;
};

void score_rows(const ScoreTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads);

// Dense rows `which` as float64, row-major (count x d).
void gather_rows(const Rows& rows, const std::int64_t* which, std::ptrdiff_t count, double* out);

// Whether sparse indices lie in range and strictly increase within each row or column.
enum class SparseFault { none, starts, range, order };
SparseFault check_sparse(const Rows& rows, std::ptrdiff_t stored, std::ptrdiff_t lanes, int threads);

}  // namespace separatrix
