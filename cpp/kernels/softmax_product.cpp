// The Hessian of the softmax loss times a direction.
#include <cstddef>
#include <vector>

#include "chunks.hpp"
#include "class_rows.hpp"
#include "softmax.hpp"
#include "totals.hpp"

namespace separatrix {
namespace {

template <class Chunk>
SEPARATRIX_INLINE void add_softmax_product(const SoftmaxProductTask& task, const Chunk& chunk, std::ptrdiff_t first,
                                           std::vector<double>& score, std::vector<double>& mean, SparseClasses& sparse,
                                           Total& total) {
    const std::ptrdiff_t m = chunk.m, d = task.rows->d, K = task.classes;
    const auto stride = static_cast<std::ptrdiff_t>(mean.size());
    double* SEPARATRIX_RESTRICT average = mean.data();
    all_scores(chunk, task.direction, sparse, d, stride, score.data());
    for (std::ptrdiff_t i = 0; i < m; ++i) average[i] = 0;
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        const double* SEPARATRIX_RESTRICT u = score.data() + k * stride;
        const double* SEPARATRIX_RESTRICT pi = task.probabilities + k * task.rows->n + first;
        for (std::ptrdiff_t i = 0; i < m; ++i) average[i] += pi[i] * u[i];
    }
    for (std::ptrdiff_t k = 0; k < K; ++k) {
        double* SEPARATRIX_RESTRICT u = score.data() + k * stride;
        const double* SEPARATRIX_RESTRICT pi = task.probabilities + k * task.rows->n + first;
        for (std::ptrdiff_t i = 0; i < m; ++i) u[i] = pi[i] * (u[i] - average[i]);
        if (task.weights != nullptr)
            for (std::ptrdiff_t i = 0; i < m; ++i) u[i] *= task.weights[first + i];
    }
    all_gradients(chunk, score.data(), sparse, d, stride, total.sums.data(), sparse.gradient);
}

SEPARATRIX_CLONES
void softmax_product_lane(const SoftmaxProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last, Total& total) {
    total.sums.assign(static_cast<std::size_t>(task.classes * task.p()), 0.0);
    const std::ptrdiff_t step = panel(*task.rows, first, last, task.classes, 0);
    std::vector<double> score(static_cast<std::size_t>(step * task.classes)), mean(static_cast<std::size_t>(step));
    SparseClasses sparse(*task.rows, task.direction, task.classes, task.p(), step);
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        add_softmax_product(task, chunk, at, score, mean, sparse, total);
    });
    sparse.hand_over(sparse.gradient, total.sums.data());
}

}  // namespace

Total softmax_product_total(const SoftmaxProductTask& task, std::ptrdiff_t first, std::ptrdiff_t last,
                            std::ptrdiff_t lanes, int threads) {
    return add_up(task, first, last, lanes, threads, dispatched(softmax_product_lane));
}

}  // namespace separatrix
