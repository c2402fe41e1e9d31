#include <nanobind/stl/tuple.h>

#include "../kernels/curvature.hpp"
#include "../kernels/logistic.hpp"
#include "../kernels/quick_start.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

// Drops the padding of the Hessian and fills its lower triangle from the upper.
std::vector<double> tidy(const LogisticTask& task, std::vector<double>&& sums) {
    if (!task.want_curvature) return std::move(sums);
    const std::ptrdiff_t p = task.p(), side = task.hessian_side(), head = kHeader + p;
    const std::ptrdiff_t groups = task.fold_count * task.point_count;
    std::vector<double> out(static_cast<std::size_t>(groups * (head + p * p)));
    for (std::ptrdiff_t group = 0; group < groups; ++group) {
        const double* from = sums.data() + group * static_cast<std::ptrdiff_t>(task.stride());
        double* to = out.data() + group * (head + p * p);
        std::copy_n(from, head, to);
        copy_symmetric(from + head, side, p, to + head, p);
    }
    return out;
}

std::tuple<OutDoubles, OutDoubles> logistic(const HeldRows& held, Codes codes, std::int32_t positive,
                                            std::optional<Doubles> weights, std::optional<Codes> folds,
                                            std::ptrdiff_t fold_count, Doubles points, std::optional<Doubles> shift,
                                            bool constant, bool curvature, bool diagonal, bool ranges,
                                            std::optional<MutableDoubles> row_curvature, std::ptrdiff_t first,
                                            std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto n = static_cast<std::size_t>(held.rows.n);
    LogisticTask task;
    task.rows = &held.rows;
    task.constant = constant;
    const auto p = static_cast<std::size_t>(task.p());
    check_span(held.rows, first, last, lanes);
    need(codes.size() == n, "one label per row");
    need(!weights || weights->size() == n, "one weight per row");
    need(points.ndim() == 2 && points.shape(0) >= 1 && points.shape(1) == p, "points must be K x p, K >= 1");
    need(!shift || shift->size() == static_cast<std::size_t>(held.rows.d), "one shift per column");
    need(!row_curvature || row_curvature->size() == n, "one curvature per row");
    need(fold_count >= 1 && (folds.has_value() ? folds->size() == n : fold_count == 1), "one fold per row");
    if (folds) check_codes(*folds, held.rows.n, fold_count, first, last);
    task.codes = codes.data();
    task.positive = positive;
    task.weights = weights ? weights->data() : nullptr;
    task.folds = folds ? folds->data() : nullptr;
    task.fold_count = fold_count;
    task.points = points.data();
    task.point_count = static_cast<std::ptrdiff_t>(points.shape(0));
    task.shift = shift ? shift->data() : nullptr;
    task.want_curvature = curvature;
    task.want_diagonal = diagonal;
    task.want_ranges = ranges;
    task.row_curvature = row_curvature ? row_curvature->data() : nullptr;
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = logistic_total(task, first, last, lanes, threads);
        total.sums = tidy(task, std::move(total.sums));
    }
    const auto f = static_cast<std::size_t>(fold_count), k = points.shape(0);
    const std::size_t width = total.sums.size() / (f * k), extremes = total.maxima.size();
    return {hand_over(std::move(total.sums), {f, k, width}), hand_over(std::move(total.maxima), {extremes})};
}

OutDoubles product(const HeldRows& held, std::optional<Doubles> row_weights, Doubles directions, bool constant,
                   std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    ProductTask task;
    task.rows = &held.rows;
    task.constant = constant;
    check_span(held.rows, first, last, lanes);
    need(!row_weights || row_weights->size() == static_cast<std::size_t>(held.rows.n), "one weight per row");
    need(directions.ndim() == 2 && directions.shape(1) == static_cast<std::size_t>(task.p()),
         "directions must be K x p");
    task.row_weights = row_weights ? row_weights->data() : nullptr;
    task.directions = directions.data();
    task.count = static_cast<std::ptrdiff_t>(directions.shape(0));
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = product_total(task, first, last, lanes, threads);
    }
    return hand_over(std::move(total.sums), {directions.shape(0), directions.shape(1)});
}

// Points, values, norms and mistakes by pass; the inverse diagonal; steps and changes by pair; the offer taken; whether
// it came near.
std::tuple<OutDoubles, OutDoubles, OutDoubles, OutDoubles, OutDoubles, OutDoubles, OutDoubles, std::ptrdiff_t, bool>
quick_start_from(const HeldRows& held, Codes codes, std::int32_t positive, std::optional<Doubles> weights,
                 std::optional<Doubles> shift, bool constant, Doubles begin, double weight, double strength,
                 bool newton, std::optional<Columns> lower, double goal, double tol, double proof, Doubles prices,
                 Doubles rates, double spent, double unknown, std::ptrdiff_t most, std::size_t memory, bool keep,
                 std::ptrdiff_t lanes, int threads) {
    const auto n = static_cast<std::size_t>(held.rows.n);
    QuickStart start;
    start.task.rows = &held.rows;
    start.task.constant = constant;
    const auto p = static_cast<std::size_t>(start.task.p());
    check_span(held.rows, 0, held.rows.n, lanes);
    need(codes.size() == n, "one label per row");
    need(!weights || weights->size() == n, "one weight per row");
    need(!shift || shift->size() == static_cast<std::size_t>(held.rows.d), "one shift per column");
    need(begin.size() == p, "one number per coefficient");
    need(!lower || (lower->shape(0) == p && lower->shape(1) == p), "a factor has a side for each coefficient");
    need(prices.size() == rates.size(), "one rate per price");
    need(weight > 0.0 && strength > 0.0 && goal > 0.0 && memory > 0, "weight, strength, goal, memory must be positive");
    start.task.codes = codes.data();
    start.task.positive = positive;
    start.task.weights = weights ? weights->data() : nullptr;
    start.task.shift = shift ? shift->data() : nullptr;
    start.lanes = lanes;
    start.threads = threads;
    start.weight = weight;
    start.strength = strength;
    start.newton = newton;
    start.lower = lower ? lower->data() : nullptr;
    start.goal = goal;
    start.tol = tol;
    start.proof = proof;
    start.spent = spent;
    start.unknown = unknown;
    start.most = most;
    start.memory = memory;
    start.keep = keep;
    for (std::size_t k = 0; k < prices.size(); ++k) start.offers.push_back({prices.data()[k], rates.data()[k]});
    Started out;
    {
        nb::gil_scoped_release unlocked;
        out = quick_start(start, begin.data());
    }
    const auto passes = static_cast<std::size_t>(out.passes), pairs = static_cast<std::size_t>(out.pairs);
    const auto diagonal = out.inverse.size();
    return {hand_over(std::move(out.points), {keep ? passes : std::min<std::size_t>(passes, 1), p}),
            hand_over(std::move(out.values), {passes}),
            hand_over(std::move(out.norms), {passes}),
            hand_over(std::move(out.mistakes), {passes}),
            hand_over(std::move(out.inverse), {diagonal}),
            hand_over(std::move(out.steps), {pairs, p}),
            hand_over(std::move(out.changes), {pairs, p}),
            out.taken,
            out.near};
}

}  // namespace

void bind_logistic(nb::module_& module) {
    module.def("logistic", &logistic, nb::arg("rows"), nb::arg("codes"), nb::arg("positive"), nb::arg("weights").none(),
               nb::arg("folds").none(), nb::arg("fold_count"), nb::arg("points"), nb::arg("shift").none(),
               nb::arg("constant"), nb::arg("curvature"), nb::arg("diagonal"), nb::arg("ranges"),
               nb::arg("row_curvature").none(), nb::arg("first"), nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "Sums of the logistic loss: (folds, points, width) and the maxima.");
    module.def("product", &product, nb::arg("rows"), nb::arg("row_weights").none(), nb::arg("directions"),
               nb::arg("constant"), nb::arg("first"), nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "Weighted Gram matrix times each direction.");
    module.def("quick_start", &quick_start_from, nb::arg("rows"), nb::arg("codes"), nb::arg("positive"),
               nb::arg("weights").none(), nb::arg("shift").none(), nb::arg("constant"), nb::arg("begin"),
               nb::arg("weight"), nb::arg("strength"), nb::arg("newton"), nb::arg("lower").none(), nb::arg("goal"),
               nb::arg("tol"), nb::arg("proof"), nb::arg("prices"), nb::arg("rates"), nb::arg("spent"),
               nb::arg("unknown"), nb::arg("most"), nb::arg("memory"), nb::arg("keep"), nb::arg("lanes"),
               nb::arg("threads"),
               "All first steps of a fit: points, values, norms, mistakes, diagonal, secants, offer, near.");
}

}  // namespace separatrix
