#include "softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chunks.hpp"
#include "class_rows.hpp"
#include "curvature.hpp"
#include "dense.hpp"
#include "losses.hpp"
#include "sparse.hpp"
#include "totals.hpp"

namespace separatrix {

std::ptrdiff_t SoftmaxTask::side() const { return rows->sparse() ? p() : padded(p()); }

std::size_t SoftmaxTask::width() const {
    std::ptrdiff_t size = kSoftHeader + classes * classes + classes * p() + blocks() * side() * side();
    if (blocks() == 0 && want_diagonal) size += classes * p();
    if (want_rows) size += classes * p();
    return static_cast<std::size_t>(size);
}

namespace {

struct SoftmaxScratch {
    std::vector<double> weight, probability, slope, factor, largest, best, rest, loss, own, mistake, panel, left,
        no_shift, pairs;
    std::vector<std::ptrdiff_t> listed;
    SparseClasses sparse;
    SoftmaxScratch(const SoftmaxTask& task, std::ptrdiff_t chunk_rows)
        : sparse(*task.rows, task.point, task.classes, task.p(), chunk_rows) {
        const auto m = static_cast<std::size_t>(chunk_rows), k = static_cast<std::size_t>(task.classes);
        for (auto* v : {&loss, &factor, &largest, &best, &rest, &own, &mistake}) v->resize(m);
        weight.assign(m, 1.0);
        listed = count_up(chunk_rows);
        probability.resize(m * k);  // class by class, so that each class is contiguous
        slope.resize(m * k);
        if (task.blocks() > 0 && !task.rows->sparse()) {
            panel.resize(m * static_cast<std::size_t>(padded(task.p())));
            left.resize(panel.size());
        }
        if (task.want_rows && task.want_diagonal && !task.rows->sparse())
            panel.resize(std::max(panel.size(), m * static_cast<std::size_t>(task.rows->d)));
        if (task.want_scores) pairs.assign(k * k, 0.0);
        no_shift.assign(static_cast<std::size_t>(task.rows->d), 0.0);
    }
};

// Eight partial sums in a fixed order: one after the other each addition would wait for the last.
SEPARATRIX_INLINE double sum_of(const std::vector<double>& values, std::ptrdiff_t m) {
    const double* SEPARATRIX_RESTRICT a = values.data();
    double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    std::ptrdiff_t i = 0;
    for (; i + 8 <= m; i += 8)
        for (int k = 0; k < 8; ++k) part[k] += a[i + k];
    for (int k = 0; i < m; ++i, ++k) part[k] += a[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

// What stands at each row's own class.
SEPARATRIX_INLINE void take_own(std::ptrdiff_t m, std::ptrdiff_t stride, const std::int32_t* SEPARATRIX_RESTRICT codes,
                                const double* SEPARATRIX_RESTRICT all, double* SEPARATRIX_RESTRICT own) {
    for (std::ptrdiff_t i = 0; i < m; ++i) own[i] = all[codes[i] * stride + i];
}

// Scores (class by class) become probabilities, slopes, losses and weights of mistakes; `rest` becomes 1 - pi of the own
// class times the weight.
// Subtracting the largest score keeps every exponential in [0, 1]. The largest itself
// is left out of `rest`, so that log1p(rest) keeps its digits when the others vanish; so is the own class
// left out of what its slope is made of. Of classes that tie the last is taken. `z * 0` carries NaN. No branch depends
// on a row: half of them would be foreseen wrongly.
SEPARATRIX_INLINE void softmax_rows(std::ptrdiff_t m, std::ptrdiff_t stride, std::ptrdiff_t classes,
                                    const std::int32_t* SEPARATRIX_RESTRICT codes, SoftmaxScratch& s) {
    double* SEPARATRIX_RESTRICT largest = s.largest.data();
    double* SEPARATRIX_RESTRICT best = s.best.data();
    double* SEPARATRIX_RESTRICT rest = s.rest.data();
    double* SEPARATRIX_RESTRICT loss = s.loss.data();
    double* SEPARATRIX_RESTRICT inverse = s.factor.data();
    double* SEPARATRIX_RESTRICT own = s.own.data();
    double* SEPARATRIX_RESTRICT mistake = s.mistake.data();
    const double* SEPARATRIX_RESTRICT weight = s.weight.data();
    double* scores = s.probability.data();
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        largest[i] = scores[i];
        best[i] = rest[i] = 0.0;
    }
    for (std::ptrdiff_t k = 1; k < classes; ++k) {
        const double* SEPARATRIX_RESTRICT z = scores + k * stride;
        const auto number = static_cast<double>(k);
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            best[i] = z[i] >= largest[i] ? number : best[i];
            largest[i] = z[i] >= largest[i] ? z[i] : largest[i];
        }
    }
    take_own(m, stride, codes, scores, own);
    for (std::ptrdiff_t i = 0; i < m; ++i) loss[i] = largest[i] - own[i];
    for (std::ptrdiff_t k = 0; k < classes; ++k) {
        double* SEPARATRIX_RESTRICT z = scores + k * stride;
        const auto number = static_cast<double>(k);
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            const double below = z[i] - largest[i];
            const double e = exp_of_negative(below > -800.0 ? below : -800.0) + z[i] * 0.0;
            rest[i] += best[i] == number ? 0.0 : e;
            z[i] = e;
        }
    }
    take_own(m, stride, codes, scores, own);
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        inverse[i] = 1.0 / (1.0 + rest[i]);
        loss[i] = weight[i] * (loss[i] + log1p_of_positive(rest[i])) + (largest[i] + rest[i]) * 0.0;
    }
    for (std::ptrdiff_t i = 0; i < m; ++i) largest[i] = static_cast<double>(codes[i]);
    for (std::ptrdiff_t i = 0; i < m; ++i) mistake[i] = best[i] == largest[i] ? 0.0 : weight[i];
    for (std::ptrdiff_t i = 0; i < m; ++i) {  // 1 - pi of the own class, added up from the others
        const double others = rest[i], also = 1.0 + (others - own[i]);
        rest[i] = weight[i] * ((best[i] == largest[i] ? others : also) * inverse[i]);
    }
    for (std::ptrdiff_t k = 0; k < classes; ++k) {
        double* SEPARATRIX_RESTRICT p = scores + k * stride;
        double* SEPARATRIX_RESTRICT slope = s.slope.data() + k * stride;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            p[i] *= inverse[i];
            slope[i] = weight[i] * p[i];
        }
    }
}

SEPARATRIX_INLINE void add_block(const SoftmaxTask& task, const DenseChunk& chunk, std::ptrdiff_t count,
                                 SoftmaxScratch& s, double* hessian, bool first_block) {
    const double* shift = task.shift != nullptr ? task.shift : s.no_shift.data();
    if (task.want_curvature)
        add_signed_curvature(chunk, s.listed.data(), count, s.factor.data(), shift, task.rows->d, task.constant,
                             first_block, s.panel.data(), s.left.data(), hessian);
    else
        add_curvature(chunk, s.listed.data(), count, s.factor.data(), shift, task.rows->d, task.constant,
                      s.panel.data(), hessian);
}

SEPARATRIX_INLINE void add_block(const SoftmaxTask& task, const SparseChunk& chunk, std::ptrdiff_t count,
                                 SoftmaxScratch& s, double* hessian, bool) {
    add_curvature(chunk, s.listed.data(), count, s.factor.data(), task.rows->d, task.constant, hessian);
}

// rest = the sum of the probabilities of at most a half: 1 - pi of a class above, whose own digits are lost to the 1.
SEPARATRIX_INLINE void add_up_others(std::ptrdiff_t m, std::ptrdiff_t stride, std::ptrdiff_t classes,
                                     SoftmaxScratch& s) {
    double* SEPARATRIX_RESTRICT rest = s.rest.data();
    for (std::ptrdiff_t i = 0; i < m; ++i) rest[i] = 0.0;
    for (std::ptrdiff_t k = 0; k < classes; ++k) {
        const double* SEPARATRIX_RESTRICT pk = s.probability.data() + k * stride;
        for (std::ptrdiff_t i = 0; i < m; ++i) rest[i] += pk[i] > 0.5 ? 0.0 : pk[i];
    }
}

// The Hessian, its blocks of one class, or its diagonal.
template <class Chunk>
SEPARATRIX_INLINE void add_second_order(const SoftmaxTask& task, const Chunk& chunk, std::ptrdiff_t count,
                                        SoftmaxScratch& s, double* after) {
    const std::ptrdiff_t m = chunk.m, d = task.rows->d, p = task.p(), K = task.classes;
    const auto stride = static_cast<std::ptrdiff_t>(s.weight.size());
    const double* shift = task.shift != nullptr ? task.shift : s.no_shift.data();
    add_up_others(m, stride, K, s);
    if (task.blocks() == 1) {  // the trace of each row's curvature
        for (std::ptrdiff_t i = 0; i < m; ++i) s.factor[static_cast<std::size_t>(i)] = 0.0;
        for (std::ptrdiff_t k = 0; k < K; ++k) {
            const double* pk = s.probability.data() + k * stride;
            for (std::ptrdiff_t i = 0; i < m; ++i)
                s.factor[static_cast<std::size_t>(i)] +=
                    pk[i] * (pk[i] > 0.5 ? s.rest[static_cast<std::size_t>(i)] : 1.0 - pk[i]);
        }
        for (std::ptrdiff_t i = 0; i < m; ++i)
            s.factor[static_cast<std::size_t>(i)] *= s.weight[static_cast<std::size_t>(i)];
        add_block(task, chunk, count, s, after, true);
        return;
    }
    std::ptrdiff_t block = 0;
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        const double* pk = s.probability.data() + k * stride;
        for (std::ptrdiff_t l = k; l < (task.want_curvature ? K : k + 1); ++l, ++block) {
            const double* pl = s.probability.data() + l * stride;
            double sum = 0;
            for (std::ptrdiff_t i = 0; i < m; ++i) {
                const auto row = static_cast<std::size_t>(i);
                const double others = pk[i] > 0.5 ? s.rest[row] : 1.0 - pk[i];
                s.factor[row] = s.weight[row] * pk[i] * (k == l ? others : -pl[i]);
                sum += s.factor[row];
            }
            if (task.blocks() > 0) {
                add_block(task, chunk, count, s, after + block * task.side() * task.side(), block == 0);
            } else {
                add_squares(chunk, s.listed.data(), count, s.factor.data(), shift, d, after + k * p);
                if (task.constant) after[k * p + d] += sum;
            }
        }
    }
}

// The Hessian's diagonal of all classes at once, from the curvatures of rows and classes that stand among the slopes.
SEPARATRIX_INLINE void add_diagonals(const SoftmaxTask& task, const DenseChunk& chunk, SoftmaxScratch& s,
                                     double* diagonal) {
    const std::ptrdiff_t d = task.rows->d;
    const double* SEPARATRIX_RESTRICT shift = task.shift != nullptr ? task.shift : s.no_shift.data();
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const double* SEPARATRIX_RESTRICT x = chunk.x + i * chunk.ld;
        double* SEPARATRIX_RESTRICT square = s.panel.data() + i * d;
        for (std::ptrdiff_t j = 0; j < d; ++j) square[j] = (x[j] - shift[j]) * (x[j] - shift[j]);
    }
    add_class_gradient({s.panel.data(), d, chunk.m}, s.slope.data(), task.classes, task.p(), d,
                       static_cast<std::ptrdiff_t>(s.weight.size()), diagonal);
}

SEPARATRIX_INLINE void add_diagonals(const SoftmaxTask& task, const SparseChunk& chunk, SoftmaxScratch& s,
                                     double* diagonal) {
    const std::ptrdiff_t d = task.rows->d, p = task.p();
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i)
        for (std::ptrdiff_t k = 0; k < task.classes; ++k) {
            const double c = s.slope[static_cast<std::size_t>(k * static_cast<std::ptrdiff_t>(s.weight.size()) + i)];
            for (std::int64_t e = chunk.starts[i]; e < chunk.starts[i + 1]; ++e)
                diagonal[k * p + chunk.indices[e]] += c * chunk.values[e] * chunk.values[e];
            if (task.constant) diagonal[k * p + d] += c;
        }
}

template <class Chunk>
SEPARATRIX_INLINE void add_chunk(const SoftmaxTask& task, const Chunk& chunk, std::ptrdiff_t first, SoftmaxScratch& s,
                                 Total& total) {
    const std::ptrdiff_t m = chunk.m, d = task.rows->d, p = task.p(), K = task.classes;
    const auto stride = static_cast<std::ptrdiff_t>(s.weight.size());
    const std::int32_t* codes = task.codes + first;
    std::ptrdiff_t count = m;
    if (task.weights != nullptr) {
        count = 0;
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            s.weight[static_cast<std::size_t>(i)] = task.weights[first + i];
            if (task.weights[first + i] != 0.0) s.listed[static_cast<std::size_t>(count++)] = i;
        }
    }
    all_scores(chunk, task.point, s.sparse, d, stride, s.probability.data());
    softmax_rows(m, stride, K, codes, s);
    if (task.row_probabilities != nullptr)
        for (std::ptrdiff_t k = 0; k < K; ++k)
            std::copy_n(s.probability.data() + k * stride, m, task.row_probabilities + k * task.rows->n + first);
    if (task.want_scores) add_class_pairs(s.slope.data(), s.probability.data(), m, K, stride, s.pairs.data());
    for (std::ptrdiff_t i = 0; i < m; ++i)
        s.slope[static_cast<std::size_t>(codes[i] * stride + i)] = -s.rest[static_cast<std::size_t>(i)];
    double* sums = total.sums.data();
    sums[kSoftLoss] += sum_of(s.loss, m);  // of rows without weight too, so that these do not hide a NaN
    sums[kSoftWeight] += task.weights != nullptr ? sum_of(s.weight, m) : static_cast<double>(m);
    sums[kSoftMistakes] += sum_of(s.mistake, m);
    sums[kSoftSlope] += 2.0 * sum_of(s.rest, m);
    double* gradient = sums + kSoftHeader + K * K;
    all_gradients(chunk, s.slope.data(), s.sparse, d, stride, gradient, s.sparse.gradient);
    const bool at_once = task.want_rows && task.want_diagonal && task.blocks() == 0;
    if (task.blocks() > 0 || (task.want_diagonal && !at_once))
        add_second_order(task, chunk, count, s, gradient + K * p);
    if (task.want_rows) {
        for (std::ptrdiff_t k = 0; k < K; ++k)
            for (std::ptrdiff_t i = 0; i < m; ++i) {
                const double pi = s.probability[static_cast<std::size_t>(k * stride + i)];
                s.slope[static_cast<std::size_t>(k * stride + i)] =
                    s.weight[static_cast<std::size_t>(i)] * pi * (1.0 - pi);
            }
        if (at_once) add_diagonals(task, chunk, s, gradient + K * p);
        if (s.sparse.rows.size() != s.sparse.gradient.size()) s.sparse.rows.assign(s.sparse.gradient.size(), 0.0);
        all_gradients(chunk, s.slope.data(), s.sparse, d, stride,
                      sums + static_cast<std::ptrdiff_t>(task.width()) - K * p, s.sparse.rows);
    }
    if (task.want_ranges) {
        auto& longest = total.maxima[static_cast<std::size_t>(2 * d)];
        longest = widen_ranges(chunk, s.listed.data(), count, d, total.maxima.data(), longest);
    }
}

// The curvature of the scores from the averages of pi_k pi_l: each row of it sums to zero.
void add_scores_curvature(const std::vector<double>& pairs, std::ptrdiff_t classes, double* curvature) {
    for (std::ptrdiff_t k = 0; k < classes; ++k)
        for (std::ptrdiff_t l = 0; l < k; ++l) {
            const double both = pairs[static_cast<std::size_t>(k * classes + l)];
            curvature[k * classes + l] -= both;
            curvature[l * classes + k] -= both;
            curvature[k * classes + k] += both;
            curvature[l * classes + l] += both;
        }
}

SEPARATRIX_WIDE_CLONES
void softmax_lane(const SoftmaxTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(task.width(), 0.0);
    if (task.want_ranges) start_ranges(*task.rows, total);
    const std::ptrdiff_t step =
        panel(*task.rows, first, last, task.classes, task.blocks() > 0 ? panel_rows(task.p()) : 0);
    SoftmaxScratch scratch(task, step);
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_chunk(task, chunk, at, scratch, total);
    });
    scratch.sparse.hand_over(scratch.sparse.gradient, total.sums.data() + kSoftHeader + task.classes * task.classes);
    if (task.want_rows)
        scratch.sparse.hand_over(scratch.sparse.rows,
                                 total.sums.data() + task.width() - static_cast<std::size_t>(task.classes * task.p()));
    if (task.want_scores) add_scores_curvature(scratch.pairs, task.classes, total.sums.data() + kSoftHeader);
}

}  // namespace

Total softmax_total(const SoftmaxTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                    int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(softmax_lane));
}

}  // namespace separatrix
