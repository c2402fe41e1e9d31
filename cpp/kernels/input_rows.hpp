// Rows as a network takes them in: dense ones copied into a buffer of its own type, or used where they lie; sparse ones
// read entry by entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "order.hpp"
#include "rows.hpp"

namespace separatrix {

template <class Real>
inline constexpr Type kTypeOf = std::is_same_v<Real, float> ? Type::f32 : Type::f64;

// Dense rows that need no copy: of the right type, one after the other; null if there are none.
template <class Real>
inline const Real* in_place(const Rows& rows, std::ptrdiff_t& distance) {
    const auto width = static_cast<std::ptrdiff_t>(sizeof(Real));
    if (rows.layout != Layout::dense || !usable_in_place(rows.strip, kTypeOf<Real>) || rows.row_stride % width != 0)
        return nullptr;
    distance = rows.row_stride / width;
    return reinterpret_cast<const Real*>(rows.strip.data);
}

inline constexpr std::ptrdiff_t kRowsAhead = 4;  // rows whose memory is fetched before they are read

SEPARATRIX_INLINE void fetch_ahead(const Rows& rows, std::ptrdiff_t i) {
#if defined(__GNUC__) || defined(__clang__)
    const unsigned char* from = rows.strip.data + i * rows.row_stride;
    const std::ptrdiff_t bytes = rows.d * rows.strip.stride;
    if (rows.layout == Layout::dense && bytes <= 8192)
        for (std::ptrdiff_t k = 0; k < bytes; k += 64) __builtin_prefetch(from + k);
#else
    (void)rows, (void)i;
#endif
}

// Dense rows order[first … last-1], written one after the other; `scratch` has room for a row.
template <class Real>
SEPARATRIX_INLINE void copy_rows(const Rows& rows, const Order& order, std::ptrdiff_t first, std::ptrdiff_t last,
                                 Real* to, double* scratch) {
    if constexpr (std::is_same_v<Real, double>)
        if (order.plain()) {  // columns are turned faster many rows at a time
            const DenseChunk chunk = load_dense(rows, first, last - first, to);
            for (std::ptrdiff_t i = 0; chunk.x != to && i < chunk.m; ++i)
                std::copy(chunk.x + i * chunk.ld, chunk.x + i * chunk.ld + rows.d, to + i * rows.d);
            return;
        }
    for (std::ptrdiff_t k = first; k < last; ++k, to += rows.d) {
        if (k + kRowsAhead < last) fetch_ahead(rows, order[k + kRowsAhead]);
        if (rows.layout == Layout::columns) {
            load_dense(rows, order[k], 1, scratch);
            for (std::ptrdiff_t j = 0; j < rows.d; ++j) to[j] = static_cast<Real>(scratch[j]);
            continue;
        }
        Strip strip = rows.strip;
        strip.data += order[k] * rows.row_stride;
        load(strip, 0, rows.d, to);
    }
}

// One row of a sparse matrix by rows: its entries, indices ascending.
template <class Real>
class Entries {
public:
    explicit Entries(std::ptrdiff_t d) : indices_(static_cast<std::size_t>(d)), values_(static_cast<std::size_t>(d)) {}

    SEPARATRIX_INLINE void read(const Rows& rows, std::ptrdiff_t i) {
        std::int64_t edges[2] = {0, 0};
        load(rows.starts, i, 2, edges);
        count = static_cast<std::ptrdiff_t>(edges[1] - edges[0]);
        load(rows.indices, edges[0], count, indices_.data());
        load(rows.values, edges[0], count, values_.data());
    }
    std::ptrdiff_t index(std::ptrdiff_t k) const { return indices_[static_cast<std::size_t>(k)]; }
    Real value(std::ptrdiff_t k) const { return values_[static_cast<std::size_t>(k)]; }

    std::ptrdiff_t count = 0;

private:
    std::vector<std::int32_t> indices_;
    std::vector<Real> values_;
};

}  // namespace separatrix
