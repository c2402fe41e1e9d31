#include "descent.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "elementary.hpp"
#include "readers.hpp"

namespace separatrix {
namespace {

constexpr double kSmallScale = 1e-9;
constexpr std::ptrdiff_t kPending = 64;

// NaN stays NaN.
SEPARATRIX_INLINE double at_least(double low, double value) { return value < low ? low : value; }

// exp_of_negative with the same series summed in pairs: a step waits for it, so latency counts, not throughput.
SEPARATRIX_INLINE double exp_soon(double x) {
    constexpr double log2_e = 1.4426950408889634074;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // its last 21 bits are 0
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const double k = (x * log2_e + kRounder) - kRounder;
    const double r = (x - k * ln2_high) - k * ln2_low;
    const double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    const double a = (1.0 + r) + r2 * (0.5 + r * (1.0 / 6.0));
    const double b = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0));
    const double c = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (1.0 / 3628800.0 + r * (1.0 / 39916800.0));
    const double e = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    const double half = (k * 0.5 + kRounder) - kRounder;  // two factors reach the subnormals
    return ((a + r4 * b) + r8 * (c + r4 * e)) * power_of_two(half) * power_of_two(k - half);
}

// Losses wait here until there are enough for a loop that the compiler vectorises.
struct Losses {
    double sum = 0;
    std::ptrdiff_t count = 0;
    double small[kPending], rest[kPending], weight[kPending];

    // weight * (log(1 + e) + r), e in [0, 1]
    SEPARATRIX_INLINE void add(double e, double r, double a) {
        small[count] = e;
        rest[count] = r;
        weight[count] = a;
        if (++count == kPending) flush();
    }
    SEPARATRIX_INLINE void flush() {
        for (std::ptrdiff_t k = 0; k < count; ++k)
            rest[k] = weight[k] * (log1p_of_unit(small[k], 1.0 / (1.0 + small[k])) + rest[k]);
        for (std::ptrdiff_t k = 0; k < count; ++k) sum += rest[k];
        count = 0;
    }
};

SEPARATRIX_INLINE double soft(double value, double by) {
    return value > by ? value - by : value < -by ? value + by : 0.0;
}

// w = scale v, and what an L1 penalty and an average still owe.
template <bool Lazy>
struct Weights {
    const DescentTask& task;
    const std::ptrdiff_t d, p, outputs;
    double scale = 1, inverse = 1;
    double owed = 0;              // L1: what every v_j should have lost since the last balance
    std::vector<double> settled;  // lazy: what it did lose
    double share = 0, steps = 0;  // sum of the scales, and number, of the steps averaged since the last balance
    std::vector<double> lag;      // share * v - lag is their sum

    explicit Weights(const DescentTask& of) : task(of), d(of.rows->d), p(of.p()), outputs(of.outputs) {
        if (Lazy && task.truncate > 0) settled.assign(static_cast<std::size_t>(outputs * d), 0.0);
        if (task.total != nullptr && !(task.truncate > 0)) lag.assign(static_cast<std::size_t>(outputs * p), 0.0);
    }

    SEPARATRIX_INLINE double* row(std::ptrdiff_t k) const { return task.point + k * p; }
    SEPARATRIX_INLINE bool lagging() const { return steps > 0 && !lag.empty(); }

    SEPARATRIX_INLINE void settle(std::ptrdiff_t k, std::ptrdiff_t j) {
        double& done = settled[static_cast<std::size_t>(k * d + j)];
        row(k)[j] = soft(row(k)[j], owed - done);
        done = owed;
    }

    SEPARATRIX_INLINE void settle_all() {
        if (settled.empty() || owed == 0) return;
        for (std::ptrdiff_t k = 0; k < outputs; ++k)
            for (std::ptrdiff_t j = 0; j < d; ++j) settle(k, j);
        std::fill(settled.begin(), settled.end(), 0.0);
        owed = 0;
    }

    // Pay what is owed, so that w = v.
    SEPARATRIX_INLINE void balance() {
        settle_all();
        if (lagging()) {
            for (std::ptrdiff_t k = 0; k < outputs; ++k) {
                double* total = task.total + k * p;
                double* late = lag.data() + k * p;
                for (std::ptrdiff_t j = 0; j < d; ++j) total[j] += share * row(k)[j] - late[j];
                if (task.constant) total[d] += steps * row(k)[d] - late[d];
            }
            std::fill(lag.begin(), lag.end(), 0.0);
            share = steps = 0;
        }
        if (scale != 1)
            for (std::ptrdiff_t k = 0; k < outputs; ++k)
                for (std::ptrdiff_t j = 0; j < d; ++j) row(k)[j] *= scale;
        scale = inverse = 1;
    }

    SEPARATRIX_INLINE void shrink(double rate) {
        if (!(task.shrink > 0)) return;
        const double left = std::max(0.0, 1.0 - rate * task.shrink);
        if (left == 0 || scale * left < kSmallScale) {
            balance();
            for (std::ptrdiff_t k = 0; k < outputs; ++k)
                for (std::ptrdiff_t j = 0; j < d; ++j) row(k)[j] *= left;
        } else {
            scale *= left;
            inverse = 1.0 / scale;
        }
    }

    template <class Reader>
    SEPARATRIX_INLINE void add(const Reader& reader, std::ptrdiff_t k, double step) {
        const double along = step * inverse;
        reader.add(along, row(k));
        if (task.constant) row(k)[d] += step;
        if (lagging()) {
            reader.add(share * along, lag.data() + k * p);
            if (task.constant) lag[static_cast<std::size_t>(k * p + d)] += steps * step;
        }
    }

    SEPARATRIX_INLINE void truncate(double rate) {
        if (!(task.truncate > 0)) return;
        const double by = rate * task.truncate * inverse;
        if (Lazy) {
            owed += by;
            return;
        }
        for (std::ptrdiff_t k = 0; k < outputs; ++k) {
            double* SEPARATRIX_RESTRICT v = row(k);
            for (std::ptrdiff_t j = 0; j < d; ++j) v[j] = soft(v[j], by);
        }
    }

    SEPARATRIX_INLINE void count() {
        if (!(task.truncate > 0)) {
            share += scale;
            steps += 1;
            return;
        }
        settle_all();  // a sum over soft thresholds has no short form
        for (std::ptrdiff_t k = 0; k < outputs; ++k) {
            for (std::ptrdiff_t j = 0; j < d; ++j) task.total[k * p + j] += scale * row(k)[j];
            if (task.constant) task.total[k * p + d] += row(k)[d];
        }
    }
};

// Slopes pi - e_y of one row from its scores, in place; true if the row is on a wrong side.
SEPARATRIX_INLINE bool slopes_of_two(double& z, bool positive, bool hard, double weight, Losses& losses) {
    const double sign = positive ? 1.0 : -1.0;
    const double margin = sign * z;
    const bool wrong = (z >= 0) != positive;
    const double small = exp_soon(at_least(-800.0, -std::abs(z)));
    losses.add(small, margin < 0 ? -margin : 0.0, weight);
    if (hard)
        z = margin > 0 ? 0.0 : -sign;
    else
        z = -sign * (margin < 0 ? 1.0 : small) / (1.0 + small);
    return wrong;
}

SEPARATRIX_INLINE bool slopes_of_many(double* z, std::ptrdiff_t count, std::ptrdiff_t own, bool hard, double weight,
                                      Losses& losses) {
    const double mine = z[own];
    std::ptrdiff_t top = 0, rival = own == 0 ? 1 : 0;
    for (std::ptrdiff_t k = 1; k < count; ++k) {
        if (z[k] >= z[top]) top = k;
        if (k != own && z[k] >= z[rival]) rival = k;
    }
    const double high = z[top];
    double sum = 0;
    const bool beaten = !(mine > z[rival]);
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        z[k] = exp_of_negative(at_least(-800.0, z[k] - high));
        sum += z[k];
    }
    losses.add(0.0, (high - mine) + std::log(sum), weight);
    for (std::ptrdiff_t k = 0; k < count; ++k)
        z[k] = hard ? (beaten && k == rival ? 1.0 : 0.0) - (beaten && k == own ? 1.0 : 0.0)
                    : z[k] / sum - (k == own ? 1.0 : 0.0);
    return top != own;
}

template <class Reader>
SEPARATRIX_INLINE void sweep(const DescentTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    constexpr bool lazy = std::is_same_v<Reader, SparseReader>;
    Reader reader(*task.rows);
    Weights<lazy> weights(task);
    const std::ptrdiff_t d = task.rows->d, outputs = task.outputs;
    std::vector<double> slopes(static_cast<std::size_t>(std::min(task.batch, last - first) * outputs));
    double* counters = task.counters;
    double mistakes = 0,
           not_finite = 0;  // 0, or NaN once a score was not finite: a row may be so and yet have no slope
    Losses losses;
    const auto row_at = [&](std::ptrdiff_t q) SEPARATRIX_INLINE_LAMBDA { return task.order[q]; };
    for (std::ptrdiff_t q = first; q < std::min(first + kAhead, last); ++q) reader.prefetch(row_at(q));
    std::ptrdiff_t step = 0;
    for (std::ptrdiff_t begin = first; begin < last; begin += task.batch, ++step) {
        const std::ptrdiff_t m = std::min(task.batch, last - begin);
        const double rate = task.rates[step], share = 1.0 / (task.mean_weight * static_cast<double>(m));
        for (std::ptrdiff_t r = 0; r < m; ++r) {
            const std::ptrdiff_t i = row_at(begin + r);
            if (begin + r + kAhead < last) reader.prefetch(row_at(begin + r + kAhead));
            reader.at(i);
            double* z = slopes.data() + r * outputs;
            for (std::ptrdiff_t k = 0; k < outputs; ++k) {
                if (lazy && task.truncate > 0)
                    reader.each([&](std::ptrdiff_t j, double) SEPARATRIX_INLINE_LAMBDA { weights.settle(k, j); });
                z[k] = weights.scale * reader.score(weights.row(k)) + (task.constant ? weights.row(k)[d] : 0.0);
            }
            for (std::ptrdiff_t k = 0; k < outputs; ++k) not_finite += 0.0 * z[k];
            const double weight = task.weights != nullptr ? task.weights[i] : 1.0;
            counters[kScore] = z[outputs - 1];
            const bool wrong = outputs == 1 ? slopes_of_two(z[0], task.codes[i] == 1, task.hard, weight, losses)
                                            : slopes_of_many(z, outputs, task.codes[i], task.hard, weight, losses);
            mistakes += wrong ? weight : 0.0;
            for (std::ptrdiff_t k = 0; k < outputs; ++k) z[k] *= weight * share;
        }
        weights.shrink(rate);
        for (std::ptrdiff_t r = 0; r < m; ++r) {
            if (m > 1) reader.at(row_at(begin + r));
            const double* z = slopes.data() + r * outputs;
            for (std::ptrdiff_t k = 0; k < outputs; ++k)
                if (z[k] != 0) weights.add(reader, k, -rate * z[k]);
        }
        weights.truncate(rate);
        if (task.total != nullptr && step >= task.unaveraged) weights.count();
    }
    weights.balance();
    losses.flush();
    counters[kVisits] += static_cast<double>(last - first);
    counters[kMistakes] += mistakes;
    counters[kError] += losses.sum + not_finite;
}

SEPARATRIX_CLONES
void sweep_dense(const DescentTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep<DenseReader>(task, first, last);
}

SEPARATRIX_CLONES
void sweep_sparse(const DescentTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep<SparseReader>(task, first, last);
}

}  // namespace

void sweep_descent(const DescentTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    dispatched(task.rows->sparse() ? sweep_sparse : sweep_dense)(task, first, last);
}

}  // namespace separatrix
