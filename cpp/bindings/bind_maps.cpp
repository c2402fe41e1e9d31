#include "../kernels/maps.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

void score(const HeldRows& held, Doubles points, bool constant, bool probabilities, MutableDoubles out,
           std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const std::size_t p = static_cast<std::size_t>(held.rows.d) + (constant ? 1 : 0);
    check_span(held.rows, first, last, lanes);
    need(points.ndim() == 2 && points.shape(1) == p, "points must be K x p");
    need(!probabilities || points.shape(0) == 1, "probabilities are of one point");
    const std::size_t width = probabilities ? 2 : points.shape(0);
    ScoreTask task{&held.rows,    points.data(), static_cast<std::ptrdiff_t>(points.shape(0)), constant,
                   probabilities, out.data(),    origin_of(out, held.rows, width, first, last)};
    nb::gil_scoped_release unlocked;
    score_rows(task, first, last, lanes, threads);
}

}  // namespace

void bind_maps(nb::module_& module) {
    module.def("score", &score, nb::arg("rows"), nb::arg("points"), nb::arg("constant"), nb::arg("probabilities"),
               nb::arg("out"), nb::arg("first"), nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "Scores, or the two probabilities, of each row.");
}

}  // namespace separatrix
