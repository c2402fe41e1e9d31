#include "combine.hpp"

#include "chunks.hpp"
#include "dense.hpp"
#include "sparse.hpp"

namespace separatrix {
namespace {

template <class Chunk>
SEPARATRIX_INLINE void add_combination(const CombineTask& task, const Chunk& chunk, std::ptrdiff_t first,
                                       std::vector<double>& factor, Total& total) {
    const std::ptrdiff_t d = task.rows->d, p = task.p();
    for (std::ptrdiff_t k = 0; k < task.count; ++k) {
        double* high = total.sums.data() + k * p;
        double* lost = high + task.count * p;
        for (std::ptrdiff_t i = 0; i < chunk.m; ++i)
            factor[static_cast<std::size_t>(i)] = task.factors[(first + i) * task.count + k];
        combine_exactly(chunk, factor.data(), d, high, lost);
        if (task.constant)
            for (std::ptrdiff_t i = 0; i < chunk.m; ++i)
                add_exactly(factor[static_cast<std::size_t>(i)], high[d], lost[d]);
    }
}

SEPARATRIX_CLONES
void combine_lane(const CombineTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(static_cast<std::size_t>(2 * task.count * task.p()), 0.0);
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, 0);
    std::vector<double> factor(static_cast<std::size_t>(step));
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_combination(task, chunk, at, factor, total);
    });
}

}  // namespace

Total combine_total(const CombineTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads) {
    std::vector<Total> totals(static_cast<std::size_t>(lanes));
    const auto edges = lane_edges(*task.rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(combine_lane)(task, edges[k], edges[k + 1], totals[k]);
    });
    // lanes are few: they are merged in order, exactly as the rows were
    Total merged = std::move(totals[0]);
    const std::size_t half = merged.sums.size() / 2;
    for (std::size_t lane = 1; lane < totals.size(); ++lane)
        for (std::size_t k = 0; k < half; ++k) {
            add_exactly(totals[lane].sums[k], merged.sums[k], merged.sums[half + k]);
            merged.sums[half + k] += totals[lane].sums[half + k];
        }
    return merged;
}

}  // namespace separatrix
