// Rows one at a time, in any order: what an ordered pass reads with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dense.hpp"
#include "sparse.hpp"

namespace separatrix {

inline constexpr std::ptrdiff_t kAhead = 8;  // rows whose memory is fetched before they are read

SEPARATRIX_INLINE void prefetch_dense(const Rows& rows, std::ptrdiff_t i) {
#if defined(__GNUC__) || defined(__clang__)
    if (rows.layout != Layout::dense) return;
    const unsigned char* from = rows.strip.data + i * rows.row_stride;
    const std::ptrdiff_t bytes = rows.d * rows.strip.stride;
    for (std::ptrdiff_t k = 0; k < bytes && k < 2048; k += 64) __builtin_prefetch(from + k);
#else
    (void)rows;
    (void)i;
#endif
}

struct DenseReader {
    const Rows& rows;
    const double* base = nullptr;  // float64 rows in place
    std::ptrdiff_t ld = 0;
    std::vector<double> scratch;
    const double* x = nullptr;

    explicit DenseReader(const Rows& from) : rows(from), scratch(static_cast<std::size_t>(from.d)) {
        const DenseChunk whole =
            rows.layout == Layout::dense && rows.n > 0 ? load_dense(rows, 0, 1, scratch.data()) : DenseChunk{};
        if (whole.x != nullptr && whole.x != scratch.data()) base = whole.x, ld = whole.ld;
    }
    SEPARATRIX_INLINE void at(std::ptrdiff_t i) {
        x = base != nullptr ? base + i * ld : load_dense(rows, i, 1, scratch.data()).x;
    }
    SEPARATRIX_INLINE double score(const double* w) const { return dot(x, w, rows.d); }
    SEPARATRIX_INLINE void add(double step, double* SEPARATRIX_RESTRICT w) const {
        const double* SEPARATRIX_RESTRICT from = x;
        for (std::ptrdiff_t j = 0; j < rows.d; ++j) w[j] += step * from[j];
    }
    SEPARATRIX_INLINE double squares() const { return dot(x, x, rows.d); }
    template <class Work>
    SEPARATRIX_INLINE void each(const Work& work) const {
        for (std::ptrdiff_t j = 0; j < rows.d; ++j) work(j, x[j]);
    }
    SEPARATRIX_INLINE void prefetch(std::ptrdiff_t i) const { prefetch_dense(rows, i); }
};

template <class T>
SEPARATRIX_INLINE void prefetch_one(const T* at) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(at);
#else
    (void)at;
#endif
}

// float32 rows in place: every number becomes a double in a register, with the same bits as one after the other.
struct FloatReader {
    const Rows& rows;
    const float* x = nullptr;

    explicit FloatReader(const Rows& from) : rows(from) {}
    SEPARATRIX_INLINE void at(std::ptrdiff_t i) { x = floats_of(rows, i, 1).x; }
    SEPARATRIX_INLINE double score(const double* w) const { return dot(x, w, rows.d); }
    SEPARATRIX_INLINE void add(double step, double* SEPARATRIX_RESTRICT w) const {
        const float* SEPARATRIX_RESTRICT from = x;
        for (std::ptrdiff_t j = 0; j < rows.d; ++j) w[j] += step * static_cast<double>(from[j]);
    }
    SEPARATRIX_INLINE void prefetch(std::ptrdiff_t i) const { prefetch_dense(rows, i); }
};

struct SparseReader {
    const Rows& rows;
    SparseScratch scratch;
    SparseChunk row;
    const std::int32_t* indices = nullptr;  // both in place, or none
    const double* values = nullptr;
    std::int64_t edges[2] = {0, 0};

    explicit SparseReader(const Rows& from) : rows(from) {
        if (!usable_in_place(from.indices, Type::i32) || !usable_in_place(from.values, Type::f64)) return;
        indices = reinterpret_cast<const std::int32_t*>(from.indices.data);
        values = reinterpret_cast<const double*>(from.values.data);
    }
    SEPARATRIX_INLINE void at(std::ptrdiff_t i) {
        if (values == nullptr) {
            row = load_csr(rows, i, 1, scratch);
            return;
        }
        const std::int64_t begin = start(i);
        edges[1] = start(i + 1) - begin;
        row = {edges, indices + begin, values + begin, 1};
    }
    SEPARATRIX_INLINE std::int64_t start(std::ptrdiff_t i) const {
        std::int64_t value = 0;
        load(rows.starts, i, 1, &value);
        return value;
    }
    SEPARATRIX_INLINE double score(const double* w) const { return sparse_dot(row, 0, w); }
    SEPARATRIX_INLINE void add(double step, double* w) const {
        for (std::int64_t k = 0; k < row.starts[1]; ++k) w[row.indices[k]] += step * row.values[k];
    }
    SEPARATRIX_INLINE double squares() const {
        double sum = 0;
        for (std::int64_t k = 0; k < row.starts[1]; ++k) sum += row.values[k] * row.values[k];
        return sum;
    }
    template <class Work>
    SEPARATRIX_INLINE void each(const Work& work) const {
        for (std::int64_t k = 0; k < row.starts[1]; ++k) work(row.indices[k], row.values[k]);
    }
    SEPARATRIX_INLINE void prefetch(std::ptrdiff_t i) const {
#if defined(__GNUC__) || defined(__clang__)
        if (values == nullptr) return;
        const std::int64_t begin = start(i), end = std::min(start(i + 1), begin + 256);
        for (std::int64_t k = begin; k < end; k += 8) __builtin_prefetch(values + k);
        for (std::int64_t k = begin; k < end; k += 16) __builtin_prefetch(indices + k);
#else
        (void)i;
#endif
    }
};

}  // namespace separatrix
