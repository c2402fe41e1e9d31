// Some columns of a table, copied one after the other as float64: dense about a shift, or compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dense.hpp"
#include "rows.hpp"

namespace separatrix {

struct PackedColumns {
    std::ptrdiff_t n = 0, count = 0;
    bool sparse = false;
    std::vector<std::int32_t> place;   // of each column of the table among the packed ones; `count` for the others
    std::vector<std::int64_t> which;   // the columns of the table
    std::vector<std::int64_t> counts;  // sparse: entries of every column of the table, once they were counted
    std::vector<std::int64_t> starts;  // sparse: count + 1
    std::vector<std::int64_t> cursor;  // sparse: where the next entry of a column goes
    std::vector<std::int32_t> rows;    // sparse: the row of each value
    std::vector<double> values;        // and one more, which is not used

    std::ptrdiff_t begin(std::ptrdiff_t j) const {
        return sparse ? static_cast<std::ptrdiff_t>(starts[static_cast<std::size_t>(j)]) : n * j;
    }
    std::ptrdiff_t stored() const { return begin(count); }
    std::ptrdiff_t length(std::ptrdiff_t j) const { return begin(j + 1) - begin(j); }
};

// Packing goes by stretches of rows, so that it may be interrupted: the entries of all columns are counted once, in
// sparse rows; then columns are chosen, as often as wanted, and copied in the order of the rows.
void count_entries(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, PackedColumns& packed);
void choose_columns(const Rows& rows, const std::int64_t* which, std::ptrdiff_t count, PackedColumns& packed);
// False, with nothing written out of place, where the rows are not those that were counted.
bool copy_entries(const Rows& rows, const double* shift, std::ptrdiff_t first, std::ptrdiff_t last,
                  PackedColumns& packed);

struct DenseColumns {
    std::ptrdiff_t n;
    const double* values;
    SEPARATRIX_INLINE double product(std::ptrdiff_t j, const double* x) const { return dot(values + j * n, x, n); }
    SEPARATRIX_INLINE void add(std::ptrdiff_t j, double t, double* SEPARATRIX_RESTRICT x) const {
        const double* SEPARATRIX_RESTRICT from = values + j * n;
        for (std::ptrdiff_t i = 0; i < n; ++i) x[i] += t * from[i];
    }
    SEPARATRIX_INLINE std::ptrdiff_t length(std::ptrdiff_t) const { return n; }
};

struct SparseColumns {
    const std::int64_t* starts;
    const std::int32_t* rows;
    const double* values;
    SEPARATRIX_INLINE double product(std::ptrdiff_t j, const double* x) const {
        const std::int64_t end = starts[j + 1];
        std::int64_t k = starts[j];
        double a = 0, b = 0, c = 0, e = 0;
        for (; k + 4 <= end; k += 4) {
            a += values[k] * x[rows[k]];
            b += values[k + 1] * x[rows[k + 1]];
            c += values[k + 2] * x[rows[k + 2]];
            e += values[k + 3] * x[rows[k + 3]];
        }
        for (; k < end; ++k) a += values[k] * x[rows[k]];
        return (a + b) + (c + e);
    }
    SEPARATRIX_INLINE void add(std::ptrdiff_t j, double t, double* SEPARATRIX_RESTRICT x) const {
        for (std::int64_t k = starts[j]; k < starts[j + 1]; ++k) x[rows[k]] += t * values[k];
    }
    SEPARATRIX_INLINE std::ptrdiff_t length(std::ptrdiff_t j) const {
        return static_cast<std::ptrdiff_t>(starts[j + 1] - starts[j]);
    }
};

// work(columns) with the columns in their form; `values` may stand in for theirs.
template <class Work>
SEPARATRIX_INLINE auto with_columns(const PackedColumns& packed, const double* values, const Work& work) {
    if (packed.sparse) return work(SparseColumns{packed.starts.data(), packed.rows.data(), values});
    return work(DenseColumns{packed.n, values});
}

}  // namespace separatrix
