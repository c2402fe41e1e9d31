#include "moments.hpp"

#include <cmath>

#include "chunks.hpp"
#include "curvature.hpp"
#include "dense.hpp"
#include "sparse.hpp"
#include "totals.hpp"

namespace separatrix {

std::ptrdiff_t MomentsTask::side() const { return rows->sparse() ? rows->d : padded(rows->d); }

namespace {

struct MomentsScratch {
    std::vector<std::ptrdiff_t> listed, starts;  // rows of a chunk by class, and where each class begins
    std::vector<double> panel, values;
    MomentsScratch(const MomentsTask& task, std::ptrdiff_t chunk_rows)
        : listed(static_cast<std::size_t>(chunk_rows)), starts(static_cast<std::size_t>(task.classes) + 1) {
        if (!task.rows->sparse()) panel.resize(static_cast<std::size_t>(chunk_rows * task.side()));
    }
};

SEPARATRIX_INLINE double weight_of(const MomentsTask& task, std::ptrdiff_t row) {
    return task.weights != nullptr ? task.weights[row] : 1.0;
}

// Rows of a class stand together, in their order: one call per class adds its scatter. Rows of
// weight zero stay, so that they do not hide a NaN.
SEPARATRIX_INLINE void sort_by_class(const MomentsTask& task, std::ptrdiff_t first, std::ptrdiff_t m,
                                     MomentsScratch& s) {
    std::fill(s.starts.begin(), s.starts.end(), 0);
    for (std::ptrdiff_t i = 0; i < m; ++i) ++s.starts[static_cast<std::size_t>(task.codes[first + i]) + 1];
    for (std::size_t k = 1; k < s.starts.size(); ++k) s.starts[k] += s.starts[k - 1];
    for (std::ptrdiff_t i = m; i-- > 0;) {
        // filled from the end, so that afterwards starts[k + 1] is where class k begins
        auto& end = s.starts[static_cast<std::size_t>(task.codes[first + i]) + 1];
        s.listed[static_cast<std::size_t>(--end)] = i;
    }
}

SEPARATRIX_INLINE void add_chunk(const MomentsTask& task, const DenseChunk& chunk, std::ptrdiff_t first,
                                 MomentsScratch& s, Total& total) {
    const std::ptrdiff_t d = task.rows->d, side = task.side();
    const std::ptrdiff_t count = chunk.m;
    sort_by_class(task, first, count, s);
    double* scatter = total.sums.data() + task.head();
    for (std::ptrdiff_t r = 0; r < count; ++r) {
        const std::ptrdiff_t i = s.listed[static_cast<std::size_t>(r)];
        const std::ptrdiff_t k = task.codes[first + i];
        const double weight = weight_of(task, first + i);
        const double root = std::sqrt(weight);
        const double* SEPARATRIX_RESTRICT x = chunk.x + i * chunk.ld;
        const double* SEPARATRIX_RESTRICT shift = task.shift + k * d;
        double* SEPARATRIX_RESTRICT to = s.panel.data() + r * side;
        double* SEPARATRIX_RESTRICT sum = total.sums.data() + task.classes + k * d;
        total.sums[static_cast<std::size_t>(k)] += weight;
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            const double centred = x[j] - shift[j];
            sum[j] += weight * centred;
            to[j] = root * centred;
        }
        for (std::ptrdiff_t j = d; j < side; ++j) to[j] = 0.0;
    }
    if (!task.each) {
        add_panel(s.panel.data(), count, side, scatter);
        return;
    }
    for (std::ptrdiff_t k = 0; k < task.classes; ++k) {
        const std::ptrdiff_t begin = s.starts[static_cast<std::size_t>(k) + 1];
        const std::ptrdiff_t end = k + 1 < task.classes ? s.starts[static_cast<std::size_t>(k) + 2] : count;
        if (end > begin) add_panel(s.panel.data() + begin * side, end - begin, side, scatter + k * side * side);
    }
}

SEPARATRIX_INLINE void add_chunk(const MomentsTask& task, const SparseChunk& chunk, std::ptrdiff_t first,
                                 MomentsScratch& s, Total& total) {
    const std::ptrdiff_t d = task.rows->d;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const double weight = weight_of(task, first + i);
        const std::ptrdiff_t k = task.codes[first + i];
        total.sums[static_cast<std::size_t>(k)] += weight;
        const double* shift = task.shift + k * d;
        double* sum = total.sums.data() + task.classes + k * d;
        double* scatter = total.sums.data() + task.head() + (task.each ? k * d * d : 0);
        const std::int64_t begin = chunk.starts[i], end = chunk.starts[i + 1];
        s.values.resize(static_cast<std::size_t>(end - begin));
        double* centred = s.values.data() - begin;
        for (std::int64_t e = begin; e < end; ++e) centred[e] = chunk.values[e] - shift[chunk.indices[e]];
        for (std::int64_t e = begin; e < end; ++e) {
            const double ax = weight * centred[e];
            sum[chunk.indices[e]] += ax;
            double* row = scatter + static_cast<std::ptrdiff_t>(chunk.indices[e]) * d;
            for (std::int64_t f = e; f < end; ++f) row[chunk.indices[f]] += ax * centred[f];
        }
    }
}

SEPARATRIX_CLONES
void moments_lane(const MomentsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(task.size(), 0.0);
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, panel_rows(task.rows->d));
    MomentsScratch scratch(task, step);
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_chunk(task, chunk, at, scratch, total);
    });
}

SEPARATRIX_INLINE void spread_chunk(const SpreadTask& task, const DenseChunk& chunk, std::ptrdiff_t first,
                                    const double*) {
    const std::ptrdiff_t d = task.rows->d;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const std::ptrdiff_t k = task.codes[first + i];
        const double* SEPARATRIX_RESTRICT x = chunk.x + i * chunk.ld;
        const double* SEPARATRIX_RESTRICT centre = task.centre + k * d;
        const double* SEPARATRIX_RESTRICT scale = task.scale + k * d;
        double sum = 0;
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            const double z = scale[j] * (x[j] - centre[j]);
            sum += z * z;
        }
        task.out[first + i] = sum;
    }
}

// What an empty row would give, corrected by its stored values. Columns that every row of the class stores are not
// part of the empty row: nothing cancels there.
SEPARATRIX_INLINE void spread_chunk(const SpreadTask& task, const SparseChunk& chunk, std::ptrdiff_t first,
                                    const double* empty) {
    const std::ptrdiff_t d = task.rows->d;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const std::ptrdiff_t k = task.codes[first + i];
        double sum = empty[k];
        for (std::int64_t e = chunk.starts[i]; e < chunk.starts[i + 1]; ++e) {
            const std::ptrdiff_t j = chunk.indices[e];
            const double scale = task.scale[k * d + j], centre = task.centre[k * d + j];
            const double apart = chunk.values[e] - centre;
            if (task.full != nullptr && task.full[k * d + j] != 0.0)
                sum += scale * scale * apart * apart;
            else
                sum += scale * scale * chunk.values[e] * (apart - centre);
        }
        task.out[first + i] = sum < 0 ? 0.0 : sum;  // NaN stays
    }
}

SEPARATRIX_CLONES
void spread_lane(const SpreadTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    const std::ptrdiff_t d = task.rows->d;
    std::vector<double> empty(static_cast<std::size_t>(task.classes), 0.0);
    for (std::ptrdiff_t k = 0; k < task.classes; ++k)
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            if (task.full != nullptr && task.full[k * d + j] != 0.0) continue;
            const double z = task.scale[k * d + j] * task.centre[k * d + j];
            empty[static_cast<std::size_t>(k)] += z * z;
        }
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, 0);
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        spread_chunk(task, chunk, at, empty.data());
    });
}

}  // namespace

Total moments_total(const MomentsTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(moments_lane));
}

void spread_rows(const SpreadTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto edges = lane_edges(*task.rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(spread_lane)(task, edges[k], edges[k + 1]);
    });
}

}  // namespace separatrix
