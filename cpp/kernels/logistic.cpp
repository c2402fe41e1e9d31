#include "logistic.hpp"

#include <algorithm>
#include <type_traits>

#include "chunks.hpp"
#include "curvature.hpp"
#include "dense.hpp"
#include "losses.hpp"
#include "sparse.hpp"
#include "totals.hpp"

namespace separatrix {

std::ptrdiff_t LogisticTask::hessian_side() const { return rows->sparse() ? p() : padded(p()); }

std::ptrdiff_t LogisticTask::curvature_size() const {
    if (want_curvature) return hessian_side() * hessian_side();
    return want_diagonal ? p() : 0;
}

std::size_t LogisticTask::stride() const { return static_cast<std::size_t>(kHeader + p() + curvature_size()); }

namespace {

struct LogisticScratch {
    std::vector<double> sign, weight, score, loss, slope, curvature, mistake, panel, no_shift;
    std::vector<std::ptrdiff_t> listed;
    explicit LogisticScratch(const LogisticTask& task, std::ptrdiff_t chunk_rows) {
        const auto m = static_cast<std::size_t>(chunk_rows);
        for (auto* v : {&sign, &weight, &score, &loss, &slope, &curvature, &mistake}) v->resize(m);
        listed.resize(m);
        if (task.want_curvature && !task.rows->sparse()) panel.resize(m * static_cast<std::size_t>(padded(task.p())));
        no_shift.assign(static_cast<std::size_t>(task.rows->d), 0.0);
    }
};

SEPARATRIX_INLINE void add_hessian(const LogisticTask& task, const DenseChunk& chunk, std::ptrdiff_t count,
                                   LogisticScratch& s, double* hessian) {
    const double* shift = task.shift != nullptr ? task.shift : s.no_shift.data();
    add_curvature(chunk, s.listed.data(), count, s.curvature.data(), shift, task.rows->d, task.constant, s.panel.data(),
                  hessian);
}

SEPARATRIX_INLINE void add_hessian(const LogisticTask& task, const SparseChunk& chunk, std::ptrdiff_t count,
                                   LogisticScratch& s, double* hessian) {
    add_curvature(chunk, s.listed.data(), count, s.curvature.data(), task.rows->d, task.constant, hessian);
}

template <class Chunk>
SEPARATRIX_INLINE void add_chunk(const LogisticTask& task, const Chunk& chunk, std::ptrdiff_t first, LogisticScratch& s,
                                 Total& total) {
    const std::ptrdiff_t m = chunk.m, d = task.rows->d, p = task.p();
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        s.sign[static_cast<std::size_t>(i)] = task.codes[first + i] == task.positive ? 1.0 : -1.0;
        s.weight[static_cast<std::size_t>(i)] = task.weights != nullptr ? task.weights[first + i] : 1.0;
    }
    for (std::ptrdiff_t k = 0; k < task.point_count; ++k) {
        const double* point = task.points + k * p;
        add_scores(chunk, point, d, task.constant ? point[d] : 0.0, s.score.data());
        logistic_rows(m, s.score.data(), s.sign.data(), s.weight.data(), s.loss.data(), s.slope.data(),
                      s.curvature.data());
        wrong_rows(m, s.score.data(), s.sign.data(), s.weight.data(), s.mistake.data());
        if (task.row_curvature != nullptr && k == 0) std::copy_n(s.curvature.data(), m, task.row_curvature + first);
        for (std::ptrdiff_t fold = 0; fold < task.fold_count; ++fold) {
            double* sums = total.sums.data() + static_cast<std::size_t>(fold * task.point_count + k) * task.stride();
            // row by row onto what is there: how rows are cut into chunks does not change a bit
            double loss = sums[kLoss], weight = sums[kWeight], curvature = sums[kCurvature], mistakes = sums[kMistakes],
                   slope_size = sums[kSlope], slope_sum = task.constant ? sums[kHeader + d] : 0.0;
            std::ptrdiff_t count = 0;
            for (std::ptrdiff_t i = 0; i < m; ++i) {
                const auto row = static_cast<std::size_t>(i);
                if (task.folds != nullptr && task.folds[first + i] != fold) continue;
                loss += s.loss[row];  // first, so that a zero weight does not hide a NaN
                if (s.weight[row] == 0.0) continue;
                s.listed[static_cast<std::size_t>(count++)] = i;
                weight += s.weight[row];
                curvature += s.curvature[row];
                slope_sum += s.slope[row];
                slope_size += s.slope[row] < 0 ? -s.slope[row] : s.slope[row];
                mistakes += s.mistake[row];
            }
            sums[kLoss] = loss;
            sums[kWeight] = weight;
            sums[kCurvature] = curvature;
            sums[kMistakes] = mistakes;
            sums[kSlope] = slope_size;
            add_gradient(chunk, s.listed.data(), count, s.slope.data(), d, sums + kHeader);
            if (task.constant) sums[kHeader + d] = slope_sum;
            if (task.want_curvature) {
                if constexpr (!std::is_same_v<Chunk, FloatChunk>)
                    add_hessian(task, chunk, count, s, sums + kHeader + p);
            } else if (task.want_diagonal) {
                const double* shift = task.shift != nullptr ? task.shift : s.no_shift.data();
                add_squares(chunk, s.listed.data(), count, s.curvature.data(), shift, d, sums + kHeader + p);
                if (task.constant) sums[kHeader + p + d] = curvature;
            }
            if (task.want_ranges && k == 0)
                total.maxima[static_cast<std::size_t>(2 * d)] =
                    widen_ranges(chunk, s.listed.data(), count, d, total.maxima.data(),
                                 total.maxima[static_cast<std::size_t>(2 * d)]);
        }
    }
}

bool some_are_left_out(const LogisticTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    if (task.folds != nullptr) return true;
    return task.weights != nullptr &&
           std::any_of(task.weights + first, task.weights + last, [](double weight) { return weight == 0.0; });
}

SEPARATRIX_WIDE_CLONES
void logistic_lane(const LogisticTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(task.stride() * static_cast<std::size_t>(task.fold_count * task.point_count), 0.0);
    if (task.want_ranges) start_ranges(*task.rows, total);
    // rows that count are taken by fours, so where some do not the cut must be the same in every layout
    const std::ptrdiff_t near = some_are_left_out(task, first, last) ? 0 : near_rows(*task.rows);
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, task.want_curvature ? panel_rows(task.p()) : near);
    LogisticScratch scratch(task, step);
    const auto add = [&](const auto& chunk, std::ptrdiff_t at)
                         SEPARATRIX_INLINE_LAMBDA { add_chunk(task, chunk, at, scratch, total); };
    if (task.want_curvature)  // packs its rows anyway
        for_chunks(*task.rows, first, last, step, add);
    else
        for_chunks_in_place(*task.rows, first, last, step, add);
}

template <class Chunk>
SEPARATRIX_INLINE void add_product(const ProductTask& task, const Chunk& chunk, std::ptrdiff_t first,
                                   std::vector<double>& score, const std::ptrdiff_t* everyone, Total& total) {
    const std::ptrdiff_t d = task.rows->d, p = task.p();
    for (std::ptrdiff_t k = 0; k < task.count; ++k) {
        const double* direction = task.directions + k * p;
        double* sums = total.sums.data() + k * p;
        add_scores(chunk, direction, d, task.constant ? direction[d] : 0.0, score.data());
        double sum = task.constant ? sums[d] : 0.0;
        for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
            if (task.row_weights != nullptr) score[static_cast<std::size_t>(i)] *= task.row_weights[first + i];
            sum += score[static_cast<std::size_t>(i)];
        }
        add_gradient(chunk, everyone, chunk.m, score.data(), d, sums);
        if (task.constant) sums[d] = sum;
    }
}

SEPARATRIX_WIDE_CLONES
void product_lane(const ProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(static_cast<std::size_t>(task.count * task.p()), 0.0);
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, near_rows(*task.rows));
    std::vector<double> score(static_cast<std::size_t>(step));
    const auto everyone = count_up(step);
    for_chunks_in_place(*task.rows, first, last, step,
                        [&](const auto& chunk, std::ptrdiff_t at)
                            SEPARATRIX_INLINE_LAMBDA { add_product(task, chunk, at, score, everyone.data(), total); });
}

}  // namespace

Total logistic_total(const LogisticTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                     int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(logistic_lane));
}

Total product_total(const ProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(product_lane));
}

}  // namespace separatrix
