// Chunks of sparse rows: 32-bit column numbers, 64-bit row starts, float64 values.
// Compressed rows are used in place where their types allow; compressed columns
// are turned into rows for one chunk at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace separatrix {

struct SparseChunk {
    const std::int64_t* starts = nullptr;  // m+1 offsets into indices and values
    const std::int32_t* indices = nullptr;
    const double* values = nullptr;
    std::ptrdiff_t m = 0;
};

struct SparseScratch {
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> cursor;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    std::ptrdiff_t reached = -1;  // the row before which the columns' cursors stand
};

inline std::int64_t entry(const Strip& strip, std::ptrdiff_t k) {
    std::int64_t value = 0;
    load(strip, k, 1, &value);
    return value;
}

inline SparseChunk load_csr(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t m, SparseScratch& scratch) {
    scratch.starts.resize(static_cast<std::size_t>(m) + 1);
    load(rows.starts, first, m + 1, scratch.starts.data());
    const std::int64_t begin = scratch.starts.front();
    const std::int64_t count = scratch.starts.back() - begin;
    for (auto& start : scratch.starts) start -= begin;
    SparseChunk chunk{scratch.starts.data(), nullptr, nullptr, m};
    if (usable_in_place(rows.indices, Type::i32)) {
        chunk.indices = reinterpret_cast<const std::int32_t*>(rows.indices.data) + begin;
    } else {
        scratch.indices.resize(static_cast<std::size_t>(count));
        load(rows.indices, begin, count, scratch.indices.data());
        chunk.indices = scratch.indices.data();
    }
    if (usable_in_place(rows.values, Type::f64)) {
        chunk.values = reinterpret_cast<const double*>(rows.values.data) + begin;
    } else {
        scratch.values.resize(static_cast<std::size_t>(count));
        load(rows.values, begin, count, scratch.values.data());
        chunk.values = scratch.values.data();
    }
    return chunk;
}

// The first entry of a column (sorted row numbers) whose row number is at least `row`.
inline std::int64_t first_at(const Rows& rows, std::int64_t begin, std::int64_t end, std::int64_t row) {
    while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        if (entry(rows.indices, middle) < row)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// Index and value of an entry: in place where the types allow, which is several times quicker than by `load`.
struct PlainEntries {
    const std::int32_t* indices;
    const double* values;
    SEPARATRIX_INLINE std::int64_t line(std::int64_t k) const { return indices[k]; }
    SEPARATRIX_INLINE double value(std::int64_t k) const { return values[k]; }
};

struct AnyEntries {
    const Rows& rows;
    SEPARATRIX_INLINE std::int64_t line(std::int64_t k) const { return entry(rows.indices, k); }
    SEPARATRIX_INLINE double value(std::int64_t k) const {
        double x = 0;
        load(rows.values, k, 1, &x);
        return x;
    }
};

// Each column's cursor stands where the last chunk ended, if that was just before this one; else it is searched.
template <class Entries>
SparseChunk turn_columns(const Rows& rows, const Entries& from, std::ptrdiff_t first, std::ptrdiff_t m,
                         SparseScratch& scratch) {
    const auto d = static_cast<std::size_t>(rows.d);
    const bool goes_on = scratch.reached == first && scratch.cursor.size() == 2 * d;
    scratch.cursor.resize(2 * d);
    scratch.starts.assign(static_cast<std::size_t>(m) + 1, 0);
    const std::int64_t after = first + m;
    for (std::size_t j = 0; j < d; ++j) {
        const std::int64_t begin = entry(rows.starts, static_cast<std::ptrdiff_t>(j));
        const std::int64_t end = entry(rows.starts, static_cast<std::ptrdiff_t>(j) + 1);
        std::int64_t k = goes_on ? scratch.cursor[2 * j + 1] : first == 0 ? begin : first_at(rows, begin, end, first);
        scratch.cursor[2 * j] = k;
        for (; k < end && from.line(k) < after; ++k)
            ++scratch.starts[static_cast<std::size_t>(from.line(k) - first) + 1];
        scratch.cursor[2 * j + 1] = k;
    }
    scratch.reached = after;
    for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i) scratch.starts[i + 1] += scratch.starts[i];
    const auto count = static_cast<std::size_t>(scratch.starts.back());
    scratch.indices.resize(count);
    scratch.values.resize(count);
    for (std::size_t j = 0; j < d; ++j) {
        for (std::int64_t k = scratch.cursor[2 * j]; k < scratch.cursor[2 * j + 1]; ++k) {
            const auto slot =
                static_cast<std::size_t>(scratch.starts[static_cast<std::size_t>(from.line(k) - first)]++);
            scratch.indices[slot] = static_cast<std::int32_t>(j);
            scratch.values[slot] = from.value(k);
        }
    }
    for (std::size_t i = static_cast<std::size_t>(m); i > 0; --i) scratch.starts[i] = scratch.starts[i - 1];
    scratch.starts[0] = 0;
    return {scratch.starts.data(), scratch.indices.data(), scratch.values.data(), m};
}

inline SparseChunk load_csc(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t m, SparseScratch& scratch) {
    if (usable_in_place(rows.indices, Type::i32) && usable_in_place(rows.values, Type::f64)) {
        const PlainEntries plain{reinterpret_cast<const std::int32_t*>(rows.indices.data),
                                 reinterpret_cast<const double*>(rows.values.data)};
        return turn_columns(rows, plain, first, m, scratch);
    }
    return turn_columns(rows, AnyEntries{rows}, first, m, scratch);
}

inline SparseChunk load_sparse(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t m, SparseScratch& scratch) {
    return rows.layout == Layout::csr ? load_csr(rows, first, m, scratch) : load_csc(rows, first, m, scratch);
}

}  // namespace separatrix
