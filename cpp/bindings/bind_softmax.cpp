#include <nanobind/stl/tuple.h>

#include "../kernels/combine.hpp"
#include "../kernels/curvature.hpp"
#include "../kernels/softmax.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

// Drops the padding of the Hessian's blocks and lays them out as one (Kp x Kp) matrix, those of one class alone one
// after the other.
std::vector<double> tidy(const SoftmaxTask& task, std::vector<double>&& sums) {
    if (task.blocks() == 0) return std::move(sums);
    const std::ptrdiff_t p = task.p(), side = task.side(), K = task.classes, q = K * p;
    const std::ptrdiff_t head = kSoftHeader + K * K + q;
    if (!task.want_curvature) {
        const std::ptrdiff_t blocks = task.blocks();
        const std::ptrdiff_t rest = task.want_rows ? q : 0;
        std::vector<double> out(static_cast<std::size_t>(head + blocks * p * p + rest));
        std::copy_n(sums.data(), head, out.data());
        std::copy_n(sums.data() + head + blocks * side * side, rest, out.data() + head + blocks * p * p);
        for (std::ptrdiff_t k = 0; k < blocks; ++k)
            copy_symmetric(sums.data() + head + k * side * side, side, p, out.data() + head + k * p * p, p);
        return out;
    }
    std::vector<double> out(static_cast<std::size_t>(head + q * q));
    std::copy_n(sums.data(), head, out.data());
    const double* from = sums.data() + head;
    double* to = out.data() + head;
    for (std::ptrdiff_t k = 0; k < K; ++k)
        for (std::ptrdiff_t l = k; l < K; ++l, from += side * side)
            for (std::ptrdiff_t i = 0; i < p; ++i)
                for (std::ptrdiff_t j = 0; j < p; ++j) {
                    const double value = from[std::min(i, j) * side + std::max(i, j)];
                    to[(k * p + i) * q + l * p + j] = value;
                    to[(l * p + j) * q + k * p + i] = value;
                }
    return out;
}

std::tuple<OutDoubles, OutDoubles> softmax(const HeldRows& held, Codes codes, std::ptrdiff_t classes,
                                           std::optional<Doubles> weights, Doubles point, std::optional<Doubles> shift,
                                           bool constant, bool curvature, std::ptrdiff_t blocks, bool diagonal,
                                           bool weighted_rows, bool scores, bool ranges,
                                           std::optional<MutableDoubles> row_probabilities, std::ptrdiff_t first,
                                           std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto n = static_cast<std::size_t>(held.rows.n), K = static_cast<std::size_t>(classes);
    SoftmaxTask task;
    task.rows = &held.rows;
    task.constant = constant;
    check_span(held.rows, first, last, lanes);
    need(classes >= 2, "at least two classes");
    check_codes(codes, held.rows.n, classes, first, last);
    need(!weights || weights->size() == n, "one weight per row");
    need(point.size() == K * static_cast<std::size_t>(task.p()), "the point must be classes x p");
    need(!shift || shift->size() == static_cast<std::size_t>(held.rows.d), "one shift per column");
    need(!row_probabilities || row_probabilities->size() == n * K, "classes probabilities per row");
    task.codes = codes.data();
    task.classes = classes;
    task.weights = weights ? weights->data() : nullptr;
    task.point = point.data();
    task.shift = shift ? shift->data() : nullptr;
    task.want_curvature = curvature;
    need(blocks == 0 || blocks == 1 || blocks == classes, "no blocks, one, or one per class");
    task.want_blocks = blocks;
    task.want_diagonal = diagonal;
    task.want_scores = scores;
    task.want_rows = weighted_rows;
    need(!curvature || !weighted_rows, "no weighted rows beside the whole Hessian");
    task.want_ranges = ranges;
    task.row_probabilities = row_probabilities ? row_probabilities->data() : nullptr;
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = softmax_total(task, first, last, lanes, threads);
        total.sums = tidy(task, std::move(total.sums));
    }
    const std::size_t width = total.sums.size(), extremes = total.maxima.size();
    return {hand_over(std::move(total.sums), {width}), hand_over(std::move(total.maxima), {extremes})};
}

OutDoubles softmax_product(const HeldRows& held, std::ptrdiff_t classes, std::optional<Doubles> weights,
                           Doubles probabilities, Doubles direction, bool constant, std::ptrdiff_t first,
                           std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto n = static_cast<std::size_t>(held.rows.n), K = static_cast<std::size_t>(classes);
    SoftmaxProductTask task;
    task.rows = &held.rows;
    task.constant = constant;
    check_span(held.rows, first, last, lanes);
    need(!weights || weights->size() == n, "one weight per row");
    need(probabilities.size() == n * K, "classes probabilities per row");
    need(direction.size() == K * static_cast<std::size_t>(task.p()), "the direction must be classes x p");
    task.classes = classes;
    task.weights = weights ? weights->data() : nullptr;
    task.probabilities = probabilities.data();
    task.direction = direction.data();
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = softmax_product_total(task, first, last, lanes, threads);
    }
    const std::size_t width = total.sums.size();
    return hand_over(std::move(total.sums), {width});
}

OutDoubles combine(const HeldRows& held, Doubles factors, bool constant, std::ptrdiff_t first, std::ptrdiff_t last,
                   std::ptrdiff_t lanes, int threads) {
    CombineTask task;
    task.rows = &held.rows;
    task.constant = constant;
    check_span(held.rows, first, last, lanes);
    need(factors.ndim() == 2 && factors.shape(0) == static_cast<std::size_t>(held.rows.n), "factors must be n x K");
    task.factors = factors.data();
    task.count = static_cast<std::ptrdiff_t>(factors.shape(1));
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = combine_total(task, first, last, lanes, threads);
    }
    return hand_over(std::move(total.sums), {2, factors.shape(1), static_cast<std::size_t>(task.p())});
}

}  // namespace

void bind_softmax(nb::module_& module) {
    module.def("softmax", &softmax, nb::arg("rows"), nb::arg("codes"), nb::arg("classes"), nb::arg("weights").none(),
               nb::arg("point"), nb::arg("shift").none(), nb::arg("constant"), nb::arg("curvature"), nb::arg("blocks"),
               nb::arg("diagonal"), nb::arg("weighted_rows"), nb::arg("scores"), nb::arg("ranges"),
               nb::arg("row_probabilities").none(), nb::arg("first"), nb::arg("last"), nb::arg("lanes"),
               nb::arg("threads"), "Sums of the softmax loss, and the maxima.");
    module.def("softmax_product", &softmax_product, nb::arg("rows"), nb::arg("classes"), nb::arg("weights").none(),
               nb::arg("probabilities"), nb::arg("direction"), nb::arg("constant"), nb::arg("first"), nb::arg("last"),
               nb::arg("lanes"), nb::arg("threads"), "The softmax Hessian times a direction.");
    module.def("combine", &combine, nb::arg("rows"), nb::arg("factors"), nb::arg("constant"), nb::arg("first"),
               nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "Rows added up with factors: high parts and what they lost, one row per column of factors.");
}

}  // namespace separatrix
