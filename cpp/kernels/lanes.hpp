// Lanes: rows first … last-1 are cut into a fixed number of lanes, each summed in
// order by one thread, then merged in a fixed tree. Which thread takes which lane
// does not matter, so the bits are the same for any number of threads.
#pragma once

#include <cstddef>
#include <vector>

#include "crew.hpp"
#include "sparse_rows.hpp"

namespace separatrix {

// What a lane adds up: sums merge by +, maxima by max (minima are maxima of -x).
struct Total {
    std::vector<double> sums;
    std::vector<double> maxima;
};

// Row numbers at which the lanes begin, and the end. Sparse rows are cut by their
// number of entries, dense rows by count.
inline std::vector<std::ptrdiff_t> lane_edges(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last,
                                              std::ptrdiff_t lanes) {
    std::vector<std::ptrdiff_t> edges(static_cast<std::size_t>(lanes) + 1, first);
    edges.back() = last;
    for (std::ptrdiff_t k = 1; k < lanes; ++k) {
        std::ptrdiff_t edge = first + (last - first) * k / lanes;
        if (rows.layout == Layout::csr) {
            const std::int64_t begin = entry(rows.starts, first), end = entry(rows.starts, last);
            const std::int64_t wanted = begin + (end - begin) / lanes * k;
            std::ptrdiff_t low = edges[static_cast<std::size_t>(k) - 1], high = last;
            while (low < high) {
                const std::ptrdiff_t middle = low + (high - low) / 2;
                if (entry(rows.starts, middle) < wanted)
                    low = middle + 1;
                else
                    high = middle;
            }
            edge = low;
        }
        edges[static_cast<std::size_t>(k)] = edge;
    }
    return edges;
}

// work(lane) for every lane, on at most `threads` threads. One thread never asks for helpers: after a fork there are none.
template <class Work>
void run_lanes(std::ptrdiff_t lanes, int threads, const Work& work) {
    if (threads <= 1 || lanes <= 1) {
        for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) work(lane);
        return;
    }
    run_by_crew(
        lanes, threads, [](const void* context, std::ptrdiff_t lane) { (*static_cast<const Work*>(context))(lane); }, &work);
}

inline void merge(Total& into, const Total& from) {
    for (std::size_t k = 0; k < into.sums.size(); ++k) into.sums[k] += from.sums[k];
    for (std::size_t k = 0; k < into.maxima.size(); ++k)
        if (from.maxima[k] > into.maxima[k]) into.maxima[k] = from.maxima[k];
}

// ((0 + 1) + (2 + 3)) + ((4 + 5) + …): neighbours first.
inline Total merge_tree(std::vector<Total>& lanes) {
    for (std::size_t step = 1; step < lanes.size(); step *= 2)
        for (std::size_t k = 0; k + step < lanes.size(); k += 2 * step) merge(lanes[k], lanes[k + step]);
    return std::move(lanes[0]);
}

}  // namespace separatrix
