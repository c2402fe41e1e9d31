#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "../kernels/exact.hpp"
#include "../kernels/modular.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

OutDoubles exact_of(const HeldRows& held, RowNumbers which, Doubles parts, bool constant, std::ptrdiff_t lanes,
                    int threads) {
    const std::size_t p = static_cast<std::size_t>(held.rows.d) + (constant ? 1 : 0);
    need(parts.ndim() == 3 && parts.shape(2) == p, "parts must be vectors x parts x p");
    need(lanes >= 1, "at least one lane");
    const auto count = static_cast<std::ptrdiff_t>(which.size());
    for (std::ptrdiff_t k = 0; k < count; ++k)
        need(which.data()[k] >= 0 && which.data()[k] < held.rows.n, "a row number is out of range");
    for (std::size_t k = 0; k < parts.size(); ++k) need(std::isfinite(parts.data()[k]), "parts must be finite");
    std::vector<double> out(which.size() * parts.shape(0));
    ExactTask task{&held.rows,
                   which.data(),
                   count,
                   parts.data(),
                   static_cast<std::ptrdiff_t>(parts.shape(0)),
                   static_cast<std::ptrdiff_t>(parts.shape(1)),
                   constant,
                   out.data()};
    {
        nb::gil_scoped_release unlocked;
        exact_products(task, lanes, threads);
    }
    return hand_over(std::move(out), {which.size(), parts.shape(0)});
}

void bracket(const HeldRows& held, Doubles point, bool constant, MutableDoubles product, MutableDoubles magnitude,
             std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const std::size_t p = static_cast<std::size_t>(held.rows.d) + (constant ? 1 : 0);
    check_span(held.rows, first, last, lanes);
    need(point.size() == p, "one weight per column");
    need(product.size() == magnitude.size(), "a magnitude for every product");
    const std::ptrdiff_t origin = origin_of(product, held.rows, 1, first, last);
    BracketTask task{&held.rows, point.data(), constant, product.data(), magnitude.data(), origin};
    nb::gil_scoped_release unlocked;
    bracket_rows(task, first, last, lanes, threads);
}

std::tuple<std::vector<std::int64_t>, std::vector<std::int64_t>, std::vector<std::int64_t>> eliminate_modulo(
    Doubles matrix, std::uint64_t prime) {
    need(matrix.ndim() == 2, "a matrix");
    need(prime % 2 == 1 && prime > (1u << 30) && prime < (1u << 31), "a prime between 2**30 and 2**31");
    for (std::size_t k = 0; k < matrix.size(); ++k) need(std::isfinite(matrix.data()[k]), "entries must be finite");
    Echelon echelon;
    {
        nb::gil_scoped_release unlocked;
        echelon = eliminate(matrix.data(), static_cast<std::ptrdiff_t>(matrix.shape(0)),
                            static_cast<std::ptrdiff_t>(matrix.shape(1)), prime);
    }
    return {std::move(echelon.pivot_rows), std::move(echelon.pivot_columns), std::move(echelon.reduced)};
}

}  // namespace

void bind_exact(nb::module_& module) {
    module.def("exact_products", &exact_of, nb::arg("rows"), nb::arg("which"), nb::arg("parts"), nb::arg("constant"),
               nb::arg("lanes"), nb::arg("threads"),
               "Products of chosen rows with vectors given as sums of parts, rounded once.");
    module.def("bracket", &bracket, nb::arg("rows"), nb::arg("point"), nb::arg("constant"), nb::arg("product"),
               nb::arg("magnitude"), nb::arg("first"), nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "The product of every row with a point, and the sum of its terms' sizes.");
    module.def("eliminate", &eliminate_modulo, nb::arg("matrix"), nb::arg("prime"),
               "Pivot rows, pivot columns and the reduced echelon form modulo a prime.");
}

}  // namespace separatrix
