#include <nanobind/stl/tuple.h>

#include "../kernels/quadratic.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

std::tuple<OutDoubles, std::ptrdiff_t> descend(Doubles hessian, Doubles gradient, Doubles point, Doubles penalty,
                                               double tol, std::ptrdiff_t most_sweeps) {
    const std::size_t p = point.size();
    need(hessian.size() == p * p && gradient.size() == p && penalty.size() == p, "sizes must agree");
    std::vector<double> step(p, 0.0), slope(gradient.data(), gradient.data() + p);
    std::ptrdiff_t sweeps = 0;
    {
        nb::gil_scoped_release unlocked;
        sweeps = descend_quadratic(hessian.data(), static_cast<std::ptrdiff_t>(p), point.data(), penalty.data(), tol,
                                   most_sweeps, step.data(), slope.data());
    }
    return {hand_over(std::move(step), {p}), sweeps};
}

}  // namespace

void bind_quadratic(nb::module_& module) {
    module.def("descend_quadratic", &descend, nb::arg("hessian"), nb::arg("gradient"), nb::arg("point"),
               nb::arg("penalty"), nb::arg("tol"), nb::arg("most_sweeps"),
               "Coordinate descent on a quadratic with an L1 penalty: the step and the sweeps it took.");
}

}  // namespace separatrix
