#include "packed_columns.hpp"

#include <algorithm>

#include "chunks.hpp"
#include "sparse_rows.hpp"

namespace separatrix {
namespace {

constexpr std::ptrdiff_t kStretch = 64;  // rows of a dense table that are copied in one go

std::size_t at(std::ptrdiff_t k) { return static_cast<std::size_t>(k); }

constexpr std::int64_t kEntries = 4096;  // column numbers that are read in one go

// Entries of columns that are not wanted go to one place behind all others: a branch that the processor cannot foresee
// would cost more than to write them. So do those that no place was counted for; then it says false.
bool copy_rows(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, PackedColumns& packed) {
    const std::int32_t* place = packed.place.data();
    const auto count = static_cast<std::int32_t>(packed.count);
    std::int64_t* cursor = packed.cursor.data();
    std::int32_t* lines = packed.rows.data();
    double* values = packed.values.data();
    const std::int64_t behind = packed.starts.back();
    std::vector<std::int64_t> ends(packed.starts.begin() + 1, packed.starts.end());
    ends.push_back(behind + 1);
    SparseScratch scratch;
    std::int64_t strange = 0;
    const std::ptrdiff_t step = chunk_rows(rows, first, last, 0);
    for (std::ptrdiff_t from = first; from < last; from += step) {
        const SparseChunk chunk = load_csr(rows, from, std::min(step, last - from), scratch);
        for (std::ptrdiff_t i = 0; i < chunk.m; ++i)
            for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k) {
                const std::int32_t j = place[chunk.indices[k]];
                const std::int64_t next = cursor[j];
                const bool full = next >= ends[at(j)];
                const std::int64_t to = full ? behind : next;
                strange += full ? 1 : 0;
                cursor[j] = next + (j < count && !full ? 1 : 0);
                lines[to] = static_cast<std::int32_t>(from + i);
                values[to] = chunk.values[k];
            }
    }
    return strange == 0;
}

}  // namespace

void count_entries(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, PackedColumns& packed) {
    packed.counts.resize(rows.sparse() ? at(rows.d) : 0, 0);
    std::int64_t* counts = packed.counts.data();
    if (rows.layout == Layout::csr) {
        const std::int64_t begin = entry(rows.starts, first), end = entry(rows.starts, last);
        std::vector<std::int32_t> some(at(std::min<std::ptrdiff_t>(kEntries, end - begin)));
        for (std::int64_t from = begin; from < end; from += kEntries) {
            const std::int64_t m = std::min<std::int64_t>(kEntries, end - from);
            load(rows.indices, from, m, some.data());
            for (std::int64_t k = 0; k < m; ++k) ++counts[some[at(k)]];
        }
    } else if (rows.layout == Layout::csc && first == 0) {
        for (std::ptrdiff_t j = 0; j < rows.d; ++j) counts[j] = entry(rows.starts, j + 1) - entry(rows.starts, j);
    }
}

void choose_columns(const Rows& rows, const std::int64_t* which, std::ptrdiff_t count, PackedColumns& packed) {
    packed.n = rows.n;
    packed.count = count;
    packed.sparse = rows.sparse();
    packed.which.assign(which, which + count);
    packed.place.assign(at(rows.d), static_cast<std::int32_t>(count));
    for (std::ptrdiff_t j = 0; j < count; ++j) packed.place[at(which[j])] = static_cast<std::int32_t>(j);
    packed.starts.assign(packed.sparse ? at(count + 1) : 0, 0);
    packed.rows.clear();  // or what they hold would be copied when they grow
    packed.values.clear();
    if (packed.sparse) {
        for (std::ptrdiff_t j = 0; j < count; ++j)
            packed.starts[at(j + 1)] = packed.starts[at(j)] + packed.counts[at(which[j])];
        packed.rows.resize(static_cast<std::size_t>(packed.starts.back()) + 1);
        packed.cursor = packed.starts;
    }
    packed.values.resize(at(packed.begin(count)) + 1);
}

bool copy_entries(const Rows& rows, const double* shift, std::ptrdiff_t first, std::ptrdiff_t last,
                  PackedColumns& packed) {
    double* values = packed.values.data();
    if (rows.layout == Layout::csr) {
        if (!copy_rows(rows, first, last, packed)) return false;
        if (last == packed.n)
            for (std::ptrdiff_t j = 0; j < packed.count; ++j)
                if (packed.cursor[at(j)] != packed.starts[at(j + 1)]) return false;
    } else if (rows.layout == Layout::csc) {
        if (first > 0) return true;
        for (std::ptrdiff_t j = 0; j < packed.count; ++j) {
            const auto column = static_cast<std::ptrdiff_t>(packed.which[at(j)]);
            const auto from = static_cast<std::ptrdiff_t>(entry(rows.starts, column));
            if (entry(rows.starts, column + 1) - from != packed.length(j)) return false;
            load(rows.indices, from, packed.length(j), packed.rows.data() + packed.begin(j));
            load(rows.values, from, packed.length(j), values + packed.begin(j));
        }
    } else if (rows.layout == Layout::dense) {
        for (std::ptrdiff_t from = first; from < last; from += kStretch) {
            const std::ptrdiff_t m = std::min(kStretch, last - from);
            for (std::ptrdiff_t j = 0; j < packed.count; ++j) {
                Strip column = rows.strip;
                column.data += static_cast<std::ptrdiff_t>(packed.which[at(j)]) * rows.strip.stride;
                column.stride = rows.row_stride;
                double* to = values + j * packed.n + from;
                load(column, from, m, to);
                for (std::ptrdiff_t i = 0; i < m; ++i) to[i] -= shift[j];
            }
        }
    } else {
        const std::ptrdiff_t step = chunk_rows(rows, first, last, 0);
        for_chunks(rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t from) {
            if constexpr (std::is_same_v<std::decay_t<decltype(chunk)>, DenseChunk>)
                for (std::ptrdiff_t j = 0; j < packed.count; ++j)
                    for (std::ptrdiff_t i = 0; i < chunk.m; ++i)
                        values[j * packed.n + from + i] = chunk.x[i * chunk.ld + packed.which[at(j)]] - shift[j];
        });
    }
    return true;
}

}  // namespace separatrix
