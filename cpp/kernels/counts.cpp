#include "counts.hpp"

#include <algorithm>
#include <cmath>

#include "chunks.hpp"
#include "totals.hpp"

namespace separatrix {
namespace {

SEPARATRIX_INLINE bool is_strange(double x, bool binary) { return binary ? !(x == 0.0 || x == 1.0) : !(x - x == 0.0); }

SEPARATRIX_INLINE void add_chunk(const CountsTask& task, const DenseChunk& chunk, std::ptrdiff_t first, Total& total) {
    const std::ptrdiff_t d = task.rows->d;
    const double threshold = task.threshold;
    std::int64_t strange = 0;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const double* SEPARATRIX_RESTRICT x = chunk.x + i * chunk.ld;
        for (std::ptrdiff_t j = 0; j < d; ++j) strange += is_strange(x[j], task.binary) ? 1 : 0;
        const double weight = task.weights != nullptr ? task.weights[first + i] : 1.0;
        const std::ptrdiff_t k = task.codes[first + i];
        total.sums[static_cast<std::size_t>(k)] += weight;
        double* SEPARATRIX_RESTRICT count = total.sums.data() + task.classes + k * d;
        for (std::ptrdiff_t j = 0; j < d; ++j) count[j] += x[j] > threshold ? weight : 0.0;
    }
    total.sums.back() += static_cast<double>(strange);
}

// Values left out are zero: they count where the threshold is negative, so there what is
// stored and not above it is taken off; the caller adds the classes' weights.
SEPARATRIX_INLINE void add_chunk(const CountsTask& task, const SparseChunk& chunk, std::ptrdiff_t first, Total& total) {
    const std::ptrdiff_t d = task.rows->d;
    const double threshold = task.threshold;
    const bool zero_counts = 0.0 > threshold;
    std::int64_t strange = 0;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const double weight = task.weights != nullptr ? task.weights[first + i] : 1.0;
        const std::ptrdiff_t k = task.codes[first + i];
        total.sums[static_cast<std::size_t>(k)] += weight;
        double* count = total.sums.data() + task.classes + k * d;
        const double step = zero_counts ? -weight : weight;
        for (std::int64_t e = chunk.starts[i]; e < chunk.starts[i + 1]; ++e) {
            const double x = chunk.values[e];
            strange += is_strange(x, task.binary) ? 1 : 0;
            count[chunk.indices[e]] += (x > threshold) == zero_counts ? 0.0 : step;
        }
    }
    total.sums.back() += static_cast<double>(strange);
}

// How many values of a chunk are strange, and whether all lie above the threshold.
SEPARATRIX_INLINE bool all_above(const double* SEPARATRIX_RESTRICT values, std::int64_t count, double threshold,
                                 bool binary, std::int64_t& strange) {
    std::int64_t odd = 0, low = 0;
    for (std::int64_t e = 0; e < count; ++e) odd += is_strange(values[e], binary) ? 1 : 0;
    for (std::int64_t e = 0; e < count; ++e) low += values[e] > threshold ? 0 : 1;
    strange += odd;
    return low == 0;
}

// Sparse rows of weight one: whole numbers are added, and where every stored value counts the values
// are not looked at again.
SEPARATRIX_INLINE void count_sparse(const CountsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    const std::ptrdiff_t d = task.rows->d;
    std::vector<std::int32_t> whole(static_cast<std::size_t>(task.classes * d), 0);
    std::int64_t strange = 0;
    SparseScratch scratch;
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, 0);
    for (std::ptrdiff_t at = first; at < last; at += step) {
        const SparseChunk chunk = load_sparse(*task.rows, at, std::min(step, last - at), scratch);
        const bool plain = all_above(chunk.values, chunk.starts[chunk.m], task.threshold, task.binary, strange);
        for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
            const std::ptrdiff_t k = task.codes[at + i];
            total.sums[static_cast<std::size_t>(k)] += 1.0;
            std::int32_t* SEPARATRIX_RESTRICT count = whole.data() + k * d;
            const std::int64_t end = chunk.starts[i + 1];
            if (plain)
                for (std::int64_t e = chunk.starts[i]; e < end; ++e) ++count[chunk.indices[e]];
            else
                for (std::int64_t e = chunk.starts[i]; e < end; ++e)
                    count[chunk.indices[e]] += chunk.values[e] > task.threshold ? 1 : 0;
        }
    }
    for (std::size_t j = 0; j < whole.size(); ++j)
        total.sums[static_cast<std::size_t>(task.classes) + j] = static_cast<double>(whole[j]);
    total.sums.back() += static_cast<double>(strange);
}

// Rows of bytes, all of weight one: byte counters hold 255 rows of a class, then they are emptied.
SEPARATRIX_INLINE void count_bytes(const CountsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    const std::ptrdiff_t d = task.rows->d;
    const auto width = static_cast<std::size_t>(d);
    // x > threshold for a byte is x >= least, or never
    const double above = std::floor(task.threshold) + 1.0;
    const bool never = above > 255.0;
    const auto least = static_cast<unsigned char>(std::clamp(above, 0.0, 255.0));
    std::vector<unsigned char> bytes(static_cast<std::size_t>(task.classes) * width, 0), seen(width, 0);
    std::vector<std::ptrdiff_t> rows(static_cast<std::size_t>(task.classes), 0);
    const auto empty = [&](std::ptrdiff_t k) {
        unsigned char* from = bytes.data() + k * d;
        double* to = total.sums.data() + task.classes + k * d;
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            to[j] += static_cast<double>(from[j]);
            from[j] = 0;
        }
        total.sums[static_cast<std::size_t>(k)] += static_cast<double>(rows[static_cast<std::size_t>(k)]);
        rows[static_cast<std::size_t>(k)] = 0;
    };
    const unsigned char* at = task.rows->strip.data + first * task.rows->row_stride;
    for (std::ptrdiff_t i = first; i < last; ++i, at += task.rows->row_stride) {
        const std::ptrdiff_t k = task.codes[i];
        const unsigned char* SEPARATRIX_RESTRICT x = at;
        unsigned char* SEPARATRIX_RESTRICT count = bytes.data() + k * d;
        unsigned char* SEPARATRIX_RESTRICT any = seen.data();
        if (!never)
            for (std::ptrdiff_t j = 0; j < d; ++j)
                count[j] = static_cast<unsigned char>(count[j] + (x[j] >= least ? 1 : 0));
        if (task.binary)
            for (std::ptrdiff_t j = 0; j < d; ++j) any[j] = static_cast<unsigned char>(any[j] | x[j]);
        if (++rows[static_cast<std::size_t>(k)] == 255) empty(k);
    }
    for (std::ptrdiff_t k = 0; k < task.classes; ++k) empty(k);
    for (const unsigned char value : seen) total.sums.back() += value > 1 ? 1.0 : 0.0;
}

SEPARATRIX_CLONES
void counts_lane(const CountsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(task.size(), 0.0);
    const Rows& rows = *task.rows;
    if (rows.layout == Layout::dense && rows.strip.type == Type::u8 && task.weights == nullptr &&
        (rows.strip.stride == 1 || rows.d == 1)) {
        count_bytes(task, first, last, total);
        return;
    }
    if (rows.sparse() && task.weights == nullptr && task.threshold >= 0.0 && last - first < (1 << 30)) {
        count_sparse(task, first, last, total);
        return;
    }
    const std::ptrdiff_t step = chunk_rows(rows, first, last, 0);
    for_chunks(rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_chunk(task, chunk, at, total);
    });
}

}  // namespace

Total counts_total(const CountsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                   int threads) {
    Total total = add_up(task, first, last, lanes, threads, dispatched(counts_lane));
    if (task.rows->sparse() && 0.0 > task.threshold)
        for (std::ptrdiff_t k = 0; k < task.classes; ++k)
            for (std::ptrdiff_t j = 0; j < task.rows->d; ++j)
                total.sums[static_cast<std::size_t>(task.classes + k * task.rows->d + j)] +=
                    total.sums[static_cast<std::size_t>(k)];
    return total;
}

}  // namespace separatrix
