// Walking through rows first … last-1 in chunks that fit the cache, dense or sparse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sparse_rows.hpp"

namespace separatrix {

// A dense chunk stays in a second-level cache: it is read twice, and with few rows the exponentials would wait for each
// other. Columns that are compressed are
// turned into rows once per lane. `wanted` > 0 asks for a number of rows.
inline std::ptrdiff_t chunk_rows(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t wanted) {
    std::ptrdiff_t step = 64;
    if (rows.layout == Layout::csc)
        step = std::min<std::ptrdiff_t>(last - first, 1 << 16);
    else if (rows.layout != Layout::csr)
        step = wanted > 0 ? wanted
                          : std::clamp<std::ptrdiff_t>(16384 / std::max<std::ptrdiff_t>(rows.d, 1) / 4 * 4, 8, 128);
    return std::max<std::ptrdiff_t>(1, std::min(step, last - first));
}

// Rows of a chunk that stays in the first-level cache, for one that is read twice and no more; 0, which leaves it open,
// where rows do not lie one after the other. Sums over all of its rows do not depend on the cut: they are taken by fours.
inline std::ptrdiff_t near_rows(const Rows& rows) {
    const bool by_rows =
        rows.layout == Layout::dense && rows.strip.stride == static_cast<std::ptrdiff_t>(bytes_of(rows.strip.type));
    return by_rows ? std::clamp<std::ptrdiff_t>(4096 / std::max<std::ptrdiff_t>(rows.d, 1) / 4 * 4, 8, 128) : 0;
}

template <class Work>
SEPARATRIX_INLINE void for_chunks(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t step,
                                  const Work& work) {
    if (rows.sparse()) {
        SparseScratch scratch;
        for (std::ptrdiff_t at = first; at < last; at += step)
            work(load_sparse(rows, at, std::min(step, last - at), scratch), at);
    } else {
        std::vector<double> scratch(static_cast<std::size_t>(step * rows.d));
        for (std::ptrdiff_t at = first; at < last; at += step)
            work(load_dense(rows, at, std::min(step, last - at), scratch.data()), at);
    }
}

// The same; rows of float32 are not brought to scratch memory first: for work that reads each value twice.
template <class Work>
SEPARATRIX_INLINE void for_chunks_in_place(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last,
                                           std::ptrdiff_t step, const Work& work) {
    if (!floats_in_place(rows)) return for_chunks(rows, first, last, step, work);
    for (std::ptrdiff_t at = first; at < last; at += step) work(floats_of(rows, at, std::min(step, last - at)), at);
}

}  // namespace separatrix
