#include "softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chunks.hpp"
#include "curvature.hpp"
#include "dense.hpp"
#include "losses.hpp"
#include "sparse.hpp"
#include "totals.hpp"

namespace separatrix {

std::ptrdiff_t SoftmaxTask::side() const { return rows->sparse() ? p() : padded(p()); }

std::size_t SoftmaxTask::width() const {
    std::ptrdiff_t size = kSoftHeader + classes * classes + classes * p();
    if (want_curvature)
        size += blocks() * side() * side();
    else if (want_diagonal)
        size += classes * p();
    return static_cast<std::size_t>(size);
}

namespace {

struct SoftmaxScratch {
    std::vector<double> weight, probability, slope, factor, rest, met, panel, left, no_shift, loss;
    std::vector<std::ptrdiff_t> listed;
    SoftmaxScratch(const SoftmaxTask& task, std::ptrdiff_t chunk_rows) {
        const auto m = static_cast<std::size_t>(chunk_rows), k = static_cast<std::size_t>(task.classes);
        for (auto* v : {&weight, &loss, &factor, &rest, &met}) v->resize(m);
        listed.resize(m);
        probability.resize(m * k);  // class by class, so that each class is contiguous
        slope.resize(m * k);
        if (task.want_curvature && !task.rows->sparse()) {
            panel.resize(m * static_cast<std::size_t>(padded(task.p())));
            left.resize(panel.size());
        }
        no_shift.assign(static_cast<std::size_t>(task.rows->d), 0.0);
    }
};

// Scores (class by class) become probabilities, and the losses are filled in.
// Subtracting the largest score keeps every exponential in [0, 1]. The largest itself
// is left out of `rest`, so that log1p(rest) keeps its digits when the others vanish.
// `z * 0` carries NaN.
SEPARATRIX_INLINE void softmax_rows(std::ptrdiff_t m, std::ptrdiff_t stride, std::ptrdiff_t classes,
                                    const std::int32_t* codes, const double* weight, double* score, double* loss,
                                    double* largest, double* rest, double* met) {
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        largest[i] = score[i];
        rest[i] = met[i] = 0.0;
    }
    for (std::ptrdiff_t k = 1; k < classes; ++k)
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            const double z = score[k * stride + i];
            largest[i] = z > largest[i] ? z : largest[i];
        }
    for (std::ptrdiff_t i = 0; i < m; ++i) loss[i] = largest[i] - score[codes[i] * stride + i];
    for (std::ptrdiff_t k = 0; k < classes; ++k) {
        double* z = score + k * stride;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            const double below = z[i] - largest[i];
            const double e = exp_of_negative(below > -800.0 ? below : -800.0) + z[i] * 0.0;
            const bool first_largest = below == 0.0 && met[i] == 0.0;
            met[i] = first_largest ? 1.0 : met[i];
            rest[i] += first_largest ? 0.0 : e;
            z[i] = e;
        }
    }
    for (std::ptrdiff_t k = 0; k < classes; ++k) {
        double* z = score + k * stride;
        for (std::ptrdiff_t i = 0; i < m; ++i) z[i] /= 1.0 + rest[i];
    }
    for (std::ptrdiff_t i = 0; i < m; ++i)
        loss[i] = weight[i] * (loss[i] + std::log1p(rest[i])) + largest[i] * 0.0;
}

SEPARATRIX_INLINE void add_block(const SoftmaxTask& task, const DenseChunk& chunk, std::ptrdiff_t count,
                                 SoftmaxScratch& s, double* hessian, bool first_block) {
    const double* shift = task.shift != nullptr ? task.shift : s.no_shift.data();
    add_signed_curvature(chunk, s.listed.data(), count, s.factor.data(), shift, task.rows->d, task.constant,
                         first_block, s.panel.data(), s.left.data(), hessian);
}

SEPARATRIX_INLINE void add_block(const SoftmaxTask& task, const SparseChunk& chunk, std::ptrdiff_t count,
                                 SoftmaxScratch& s, double* hessian, bool) {
    add_curvature(chunk, s.listed.data(), count, s.factor.data(), task.rows->d, task.constant, hessian);
}

template <class Chunk>
SEPARATRIX_INLINE void add_chunk(const SoftmaxTask& task, const Chunk& chunk, std::ptrdiff_t first,
                                 SoftmaxScratch& s, Total& total) {
    const std::ptrdiff_t m = chunk.m, d = task.rows->d, p = task.p(), K = task.classes;
    const auto stride = static_cast<std::ptrdiff_t>(s.weight.size());
    for (std::ptrdiff_t i = 0; i < m; ++i)
        s.weight[static_cast<std::size_t>(i)] = task.weights != nullptr ? task.weights[first + i] : 1.0;
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        const double* w = task.point + k * p;
        add_scores(chunk, w, d, task.constant ? w[d] : 0.0, s.probability.data() + k * stride);
    }
    const std::int32_t* codes = task.codes + first;
    // a mistake: another class scores higher, or as high with a larger code
    double mistakes = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        const std::ptrdiff_t own = codes[i];
        const double z = s.probability[static_cast<std::size_t>(own * stride + i)];
        bool wrong = false;
        for (std::ptrdiff_t k = 0; k < K; ++k) {
            const double other = s.probability[static_cast<std::size_t>(k * stride + i)];
            wrong = wrong || other > z || (other == z && k > own);
        }
        if (wrong) mistakes += s.weight[static_cast<std::size_t>(i)];
    }
    softmax_rows(m, stride, K, codes, s.weight.data(), s.probability.data(), s.loss.data(), s.factor.data(),
                 s.rest.data(), s.met.data());
    if (task.row_probabilities != nullptr)
        for (std::ptrdiff_t i = 0; i < m; ++i)
            for (std::ptrdiff_t k = 0; k < K; ++k)
                task.row_probabilities[(first + i) * K + k] = s.probability[static_cast<std::size_t>(k * stride + i)];
    double* sums = total.sums.data();
    std::ptrdiff_t count = 0;
    double loss = 0, weight = 0;
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        const auto row = static_cast<std::size_t>(i);
        loss += s.loss[row];  // first, so that a zero weight does not hide a NaN
        if (s.weight[row] == 0.0) continue;
        s.listed[static_cast<std::size_t>(count++)] = i;
        weight += s.weight[row];
    }
    sums[kSoftLoss] += loss;
    sums[kSoftWeight] += weight;
    sums[kSoftMistakes] += mistakes;
    double* curvature = sums + kSoftHeader;
    double* gradient = curvature + K * K;
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        double* slope = s.slope.data() + k * stride;
        const double* pi = s.probability.data() + k * stride;
        double sum = 0, size = 0;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            // for the own class 1 - pi is added up from the others below
            slope[i] = s.weight[static_cast<std::size_t>(i)] * (codes[i] == k ? 0.0 : pi[i]);
        }
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            if (codes[i] != k) continue;
            double others = 0;
            for (std::ptrdiff_t l = 0; l < K; ++l)
                if (l != k) others += s.probability[static_cast<std::size_t>(l * stride + i)];
            slope[i] = -s.weight[static_cast<std::size_t>(i)] * others;
        }
        for (std::ptrdiff_t r = 0; r < count; ++r) {
            const double v = slope[s.listed[static_cast<std::size_t>(r)]];
            sum += v;
            size += v < 0 ? -v : v;
        }
        sums[kSoftSlope] += size;
        add_gradient(chunk, s.listed.data(), count, slope, d, gradient + k * p);
        if (task.constant) gradient[k * p + d] += sum;
    }
    double* after = gradient + K * p;
    std::ptrdiff_t block = 0;
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        const double* pk = s.probability.data() + k * stride;
        for (std::ptrdiff_t l = k; l < K; ++l, ++block) {
            const double* pl = s.probability.data() + l * stride;
            double sum = 0;
            for (std::ptrdiff_t i = 0; i < m; ++i) {
                const auto row = static_cast<std::size_t>(i);
                s.factor[row] = k == l ? s.weight[row] * pk[i] * (1.0 - pk[i]) : -s.weight[row] * pk[i] * pl[i];
                sum += s.factor[row];
            }
            curvature[k * K + l] += sum;
            if (k != l) curvature[l * K + k] += sum;
            if (task.want_curvature) {
                add_block(task, chunk, count, s, after + block * task.side() * task.side(), block == 0);
            } else if (task.want_diagonal && k == l) {
                const double* shift = task.shift != nullptr ? task.shift : s.no_shift.data();
                add_squares(chunk, s.listed.data(), count, s.factor.data(), shift, d, after + k * p);
                if (task.constant) after[k * p + d] += sum;
            }
        }
    }
    if (task.want_ranges) {
        auto& longest = total.maxima[static_cast<std::size_t>(2 * d)];
        longest = widen_ranges(chunk, s.listed.data(), count, d, total.maxima.data(), longest);
    }
}

SEPARATRIX_CLONES
void softmax_lane(const SoftmaxTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(task.width(), 0.0);
    if (task.want_ranges) start_ranges(*task.rows, total);
    const std::ptrdiff_t step =
        chunk_rows(*task.rows, first, last, task.want_curvature ? panel_rows(task.p()) : 0);
    SoftmaxScratch scratch(task, step);
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_chunk(task, chunk, at, scratch, total);
    });
}

template <class Chunk>
SEPARATRIX_INLINE void add_softmax_product(const SoftmaxProductTask& task, const Chunk& chunk, std::ptrdiff_t first,
                                           std::vector<double>& score, std::vector<double>& mean,
                                           const std::ptrdiff_t* everyone, Total& total) {
    const std::ptrdiff_t m = chunk.m, d = task.rows->d, p = task.p(), K = task.classes;
    const auto stride = static_cast<std::ptrdiff_t>(mean.size());
    for (std::ptrdiff_t i = 0; i < m; ++i) mean[static_cast<std::size_t>(i)] = 0;
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        const double* v = task.direction + k * p;
        double* u = score.data() + k * stride;
        add_scores(chunk, v, d, task.constant ? v[d] : 0.0, u);
        for (std::ptrdiff_t i = 0; i < m; ++i)
            mean[static_cast<std::size_t>(i)] += task.probabilities[(first + i) * K + k] * u[i];
    }
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        double* u = score.data() + k * stride;
        double sum = 0;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            const double a = task.weights != nullptr ? task.weights[first + i] : 1.0;
            u[i] = a * task.probabilities[(first + i) * K + k] * (u[i] - mean[static_cast<std::size_t>(i)]);
            sum += u[i];
        }
        add_gradient(chunk, everyone, m, u, d, total.sums.data() + k * p);
        if (task.constant) total.sums[static_cast<std::size_t>(k * p + d)] += sum;
    }
}

SEPARATRIX_CLONES
void softmax_product_lane(const SoftmaxProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(static_cast<std::size_t>(task.classes * task.p()), 0.0);
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, 0);
    std::vector<double> score(static_cast<std::size_t>(step * task.classes)), mean(static_cast<std::size_t>(step));
    const auto everyone = count_up(step);
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_softmax_product(task, chunk, at, score, mean, everyone.data(), total);
    });
}

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

Total softmax_total(const SoftmaxTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(softmax_lane));
}

Total softmax_product_total(const SoftmaxProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last,
                            std::ptrdiff_t lanes, int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(softmax_product_lane));
}

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
