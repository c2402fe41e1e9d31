// Arrays of Python seen as strips of values, through the buffer protocol: any
// numeric type, stride, alignment or byte order, read-only or not, never copied.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "../kernels/rows.hpp"

namespace separatrix {

namespace nb = nanobind;

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using MutableDoubles = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RowNumbers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VisitOrder = std::variant<Codes, RowNumbers>;  // row numbers of 32 or of 64 bits
using Bytes = nb::ndarray<std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MutableFloats = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutDoubles = nb::ndarray<nb::numpy, double>;

// Holds a Py_buffer, and so the array, for as long as the rows are used.
class View {
public:
    View(nb::handle array, int dimensions);
    ~View();
    View(const View&) = delete;
    View& operator=(const View&) = delete;

    std::ptrdiff_t length(int axis) const { return view_.shape[axis]; }
    std::ptrdiff_t stride(int axis) const { return view_.strides[axis]; }
    Strip strip(int axis) const;  // along one axis

private:
    Py_buffer view_{};
};

// Rows together with the arrays they live in.
struct HeldRows {
    Rows rows;
    std::vector<std::shared_ptr<View>> views;
    std::ptrdiff_t stored = 0;  // entries of a sparse matrix
};

// A new float64 array of the given shape that takes over the values.
OutDoubles hand_over(std::vector<double>&& values, std::initializer_list<std::size_t> shape);

void need(bool holds, const char* rule);
// Codes index sums, so a strange one would write out of bounds. Rows first … last-1 are looked at, with the
// interpreter free.
void check_codes(const Codes& codes, std::ptrdiff_t n, std::ptrdiff_t classes, std::ptrdiff_t first,
                 std::ptrdiff_t last);
// Outputs are of all rows, or of rows first … last-1 alone: the number of the row that the first one is of.
std::ptrdiff_t origin_of(const MutableDoubles& out, const Rows& rows, std::size_t width, std::ptrdiff_t first,
                         std::ptrdiff_t last);
void check_span(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes);

void bind_rows(nb::module_& module);
void bind_logistic(nb::module_& module);
void bind_softmax(nb::module_& module);
void bind_quadratic(nb::module_& module);
void bind_columns(nb::module_& module);
void bind_maps(nb::module_& module);
void bind_exact(nb::module_& module);
void bind_sweeps(nb::module_& module);
void bind_network(nb::module_& module);
void bind_batches(nb::module_& module);
void bind_moments(nb::module_& module);
void bind_threads(nb::module_& module);
void bind_faults(nb::module_& module);

}  // namespace separatrix
