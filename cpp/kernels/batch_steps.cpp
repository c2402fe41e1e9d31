#include "batch_steps.hpp"

#include <algorithm>

#include "lanes.hpp"

namespace separatrix {
namespace {

// Sum of squares in sixteen chains, in float64.
template <class Real>
SEPARATRIX_INLINE double squares_of(const Real* w, std::ptrdiff_t n) {
    double part[16] = {};
    std::ptrdiff_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; ++k) part[k] += static_cast<double>(w[i + k]) * static_cast<double>(w[i + k]);
    for (int k = 0; i < n; ++i, ++k) part[k] += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    for (int half = 8; half > 0; half /= 2)
        for (int k = 0; k < half; ++k) part[k] += part[k + half];
    return part[0];
}

SEPARATRIX_CLONES
double sum_of_squares(const float* w, std::ptrdiff_t n) noexcept { return squares_of(w, n); }
SEPARATRIX_CLONES
double sum_of_squares(const double* w, std::ptrdiff_t n) noexcept { return squares_of(w, n); }

struct Range {
    std::ptrdiff_t first, last;
};

// A thread's share of `count` rows or inputs, in whole groups.
Range share(std::ptrdiff_t count, int thread, int all) {
    const std::ptrdiff_t whole = groups(count);
    return {std::min(count, whole * thread / all * kGroup), std::min(count, whole * (thread + 1) / all * kGroup)};
}

bool has_constants(std::size_t layer, int thread, int all) { return static_cast<int>(layer) % all == all - 1 - thread; }

template <class Real>
void move(const StepsTask<Real>& task, const StepTask& rule, std::ptrdiff_t first, std::ptrdiff_t last) noexcept {
    if (first >= last) return;
    if (task.square != nullptr)
        adam_step(rule, last - first, task.gradient + first, task.weights + first, task.mean + first,
                  task.square + first);
    else
        momentum_step(rule, last - first, task.gradient + first, task.weights + first, task.mean + first);
}

// The rows of a piece, forwards and back to the slopes of every layer, shared out.
template <class Real>
void all_rows(Backprop<Real>& passing, const Visits& piece, const Real* weights, int threads) {
    run_lanes(threads, threads, [&](std::ptrdiff_t lane) {
        const Range mine = share(piece.size(), static_cast<int>(lane), threads);
        passing.rows_pass(piece, weights, mine.first, mine.last, static_cast<int>(lane));
    });
}

// A thread's parts of the gradient over a piece: some inputs of every matrix, all constants of some layers.
template <class Real>
void parts_pass(Backprop<Real>& passing, const Visits& piece, bool add, Real* gradient, int thread, int all) noexcept {
    for (std::size_t layer = 0; layer < passing.shape.layers(); ++layer) {
        const Range mine = share(passing.shape.units[layer], thread, all);
        passing.matrix_gradient(piece, layer, mine.first, mine.last, add, gradient, thread);
        if (has_constants(layer, thread, all)) passing.constants_gradient(piece, layer, add, gradient);
    }
}

// The same thread's step with these parts; the squares of the weights before it, by groups of inputs.
template <class Real>
void step_parts(const Shape& shape, const StepsTask<Real>& task, const StepTask& rule, int thread, int all,
                double* squares) noexcept {
    StepTask penalised = rule;
    penalised.decay = task.alpha * rule.scale;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const Range mine = share(shape.units[layer], thread, all);
        const std::ptrdiff_t width = shape.units[layer + 1], start = shape.starts[layer];
        for (std::ptrdiff_t i = mine.first; i < mine.last; i += kGroup)
            squares[i / kGroup] =
                sum_of_squares(task.weights + start + i * width, (std::min(mine.last, i + kGroup) - i) * width);
        squares += groups(shape.units[layer]);
        move(task, penalised, start + mine.first * width, start + mine.last * width);
        const std::size_t constants = shape.layers() + layer;
        if (has_constants(layer, thread, all)) move(task, rule, shape.starts[constants], shape.starts[constants + 1]);
    }
}

}  // namespace

template <class Real>
std::ptrdiff_t run_steps(Backprop<Real>& passing, const StepsTask<Real>& task, std::ptrdiff_t begin,
                         std::ptrdiff_t pieces, int threads, double* squares) {
    const Shape& shape = passing.shape;
    const std::ptrdiff_t n = task.rows.last;
    double weight = task.carried[kWeight], objective = task.carried[kObjective];
    OutputSums sums{task.carried[kLoss], task.carried[kMistakes]};
    std::ptrdiff_t at = begin, steps = 0;
    for (std::ptrdiff_t k = 0; k < pieces && at < n; ++k) {
        const std::ptrdiff_t batch_first = at / task.batch * task.batch;
        const std::ptrdiff_t batch_last = std::min(n, batch_first + task.batch);
        Visits piece = task.rows;
        piece.first = at;
        piece.last = std::min(batch_last, at + passing.rows);
        all_rows(passing, piece, task.weights, threads);
        if (piece.weights == nullptr)
            weight += static_cast<double>(piece.size());
        else
            for (std::ptrdiff_t i = piece.first; i < piece.last; ++i) weight += piece.weights[piece.order[i]];
        passing.add_sums(piece, sums);
        const bool ends = piece.last == batch_last;
        StepTask rule = task.rule;
        rule.scale = 1.0 / weight;
        if (ends) rule.rate = task.rates[steps++];
        run_lanes(threads, threads, [&](std::ptrdiff_t lane) {
            const int thread = static_cast<int>(lane);
            parts_pass(passing, piece, at > batch_first, task.gradient, thread, threads);
            if (ends) step_parts(shape, task, rule, thread, threads, squares);
        });
        at = piece.last;
        if (!ends) continue;
        double length = 0;
        for (std::ptrdiff_t group = 0; group < squares_room(shape); ++group) length += squares[group];
        objective +=
            rule.scale * (sums.loss + 0.5 * task.alpha * length) * static_cast<double>(batch_last - batch_first);
        sums.loss = weight = 0;
    }
    task.carried[kObjective] = objective;
    task.carried[kMistakes] = sums.mistakes;
    task.carried[kLoss] = sums.loss;
    task.carried[kWeight] = weight;
    return at;
}

template <class Real>
void add_losses(Backprop<Real>& passing, const Visits& rows, const Real* weights, Real* gradient, double* carried,
                int threads) {
    OutputSums sums{carried[kLoss], carried[kMistakes]};
    Visits piece = rows;
    for (std::ptrdiff_t at = rows.first; at < rows.last; at = piece.last) {
        piece.first = at;
        piece.last = std::min(rows.last, at + passing.rows);
        all_rows(passing, piece, weights, threads);
        run_lanes(threads, threads, [&](std::ptrdiff_t lane) {
            parts_pass(passing, piece, true, gradient, static_cast<int>(lane), threads);
        });
        passing.add_sums(piece, sums);
    }
    carried[kLoss] = sums.loss;
    carried[kMistakes] = sums.mistakes;
}

template std::ptrdiff_t run_steps(Backprop<float>&, const StepsTask<float>&, std::ptrdiff_t, std::ptrdiff_t, int,
                                  double*);
template std::ptrdiff_t run_steps(Backprop<double>&, const StepsTask<double>&, std::ptrdiff_t, std::ptrdiff_t, int,
                                  double*);
template void add_losses(Backprop<float>&, const Visits&, const float*, float*, double*, int);
template void add_losses(Backprop<double>&, const Visits&, const double*, double*, double*, int);

}  // namespace separatrix
