// Adding up a task over lanes: each lane a total of its own, then the fixed tree.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "lanes.hpp"

namespace separatrix {

template <class Task, class Lane>
Total add_up(const Task& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads,
             Lane lane_work) {
    std::vector<Total> totals(static_cast<std::size_t>(lanes));
    const auto edges = lane_edges(*task.rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        lane_work(task, edges[k], edges[k + 1], totals[k]);
    });
    return merge_tree(totals);
}

// Ranges begin below everything; for sparse rows at zero, which any column may hold.
inline void start_ranges(const Rows& rows, Total& total) {
    const double lowest = rows.sparse() ? 0.0 : -std::numeric_limits<double>::infinity();
    total.maxima.assign(static_cast<std::size_t>(2 * rows.d + 1), lowest);
    total.maxima.back() = 0.0;
}

// 0, 1, 2, …: every row of a chunk is listed.
inline std::vector<std::ptrdiff_t> count_up(std::ptrdiff_t count) {
    std::vector<std::ptrdiff_t> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::ptrdiff_t>(i);
    return numbers;
}

}  // namespace separatrix
