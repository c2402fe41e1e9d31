#include <algorithm>

#include "../kernels/counts.hpp"
#include "../kernels/curvature.hpp"
#include "../kernels/moments.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

// Drops the padding of the scatters and fills their lower triangles from the upper.
std::vector<double> tidy(const MomentsTask& task, std::vector<double>&& sums) {
    const std::ptrdiff_t d = task.rows->d, side = task.side(), head = task.head();
    std::vector<double> out(static_cast<std::size_t>(head + task.groups() * d * d));
    std::copy_n(sums.data(), head, out.data());
    for (std::ptrdiff_t g = 0; g < task.groups(); ++g) {
        copy_symmetric(sums.data() + head + g * side * side, side, d, out.data() + head + g * d * d, d);
    }
    return out;
}

OutDoubles moments(const HeldRows& held, Codes codes, std::ptrdiff_t classes, std::optional<Doubles> weights,
                   Doubles shift, bool each, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                   int threads) {
    MomentsTask task;
    task.rows = &held.rows;
    check_span(held.rows, first, last, lanes);
    check_codes(codes, held.rows.n, classes, first, last);
    need(!weights || weights->size() == static_cast<std::size_t>(held.rows.n), "one weight per row");
    need(shift.size() == static_cast<std::size_t>(classes * held.rows.d), "one shift per class and column");
    task.codes = codes.data();
    task.classes = classes;
    task.weights = weights ? weights->data() : nullptr;
    task.shift = shift.data();
    task.each = each;
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = moments_total(task, first, last, lanes, threads);
        total.sums = tidy(task, std::move(total.sums));
    }
    const std::size_t size = total.sums.size();
    return hand_over(std::move(total.sums), {size});
}

void spreads(const HeldRows& held, Codes codes, Doubles centre, Doubles scale, std::optional<Doubles> full,
             MutableDoubles out, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    check_span(held.rows, first, last, lanes);
    need(centre.ndim() == 2 && centre.shape(1) == static_cast<std::size_t>(held.rows.d), "one centre per column");
    need(scale.size() == centre.size() && (!full || full->size() == centre.size()), "one scale per centre");
    const auto classes = static_cast<std::ptrdiff_t>(centre.shape(0));
    check_codes(codes, held.rows.n, classes, first, last);
    need(out.size() == static_cast<std::size_t>(held.rows.n), "one output per row");
    const SpreadTask task{&held.rows, codes.data(), centre.data(), scale.data(), full ? full->data() : nullptr,
                          classes,    out.data()};
    nb::gil_scoped_release unlocked;
    spread_rows(task, first, last, lanes, threads);
}

OutDoubles counts(const HeldRows& held, Codes codes, std::ptrdiff_t classes, std::optional<Doubles> weights,
                  double threshold, bool binary, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                  int threads) {
    CountsTask task;
    task.rows = &held.rows;
    check_span(held.rows, first, last, lanes);
    check_codes(codes, held.rows.n, classes, first, last);
    need(!weights || weights->size() == static_cast<std::size_t>(held.rows.n), "one weight per row");
    task.codes = codes.data();
    task.classes = classes;
    task.weights = weights ? weights->data() : nullptr;
    task.threshold = threshold;
    task.binary = binary;
    Total total;
    {
        nb::gil_scoped_release unlocked;
        total = counts_total(task, first, last, lanes, threads);
    }
    const std::size_t size = total.sums.size();
    return hand_over(std::move(total.sums), {size});
}

}  // namespace

void bind_moments(nb::module_& module) {
    module.def("moments", &moments, nb::arg("rows"), nb::arg("codes"), nb::arg("classes"), nb::arg("weights").none(),
               nb::arg("shift"), nb::arg("each"), nb::arg("first"), nb::arg("last"), nb::arg("lanes"),
               nb::arg("threads"), "Weights, sums and scatters of the classes about their shifts.");
    module.def("spreads", &spreads, nb::arg("rows"), nb::arg("codes"), nb::arg("centre"), nb::arg("scale"),
               nb::arg("full").none(), nb::arg("out"), nb::arg("first"), nb::arg("last"), nb::arg("lanes"),
               nb::arg("threads"), "Squared length of each row about its class's centre, every column scaled.");
    module.def("counts", &counts, nb::arg("rows"), nb::arg("codes"), nb::arg("classes"), nb::arg("weights").none(),
               nb::arg("threshold"), nb::arg("binary"), nb::arg("first"), nb::arg("last"), nb::arg("lanes"),
               nb::arg("threads"), "Weights of the classes, counts above the threshold, and strange values.");
}

}  // namespace separatrix
