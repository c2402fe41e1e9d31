#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>

#include "../kernels/column_model.hpp"
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

// A model together with the arrays its columns live in.
struct HeldModel {
    ColumnModel model;
    std::vector<double> point, slope, penalty;
    double gradient_of_constant = 0;
    std::optional<Starts> starts;
    std::optional<Codes> rows;
    FlatDoubles values;

    HeldModel(std::optional<Starts> starts_, std::optional<Codes> rows_, FlatDoubles values_, std::ptrdiff_t n,
              std::ptrdiff_t count, bool constant, double ridge)
        : starts(std::move(starts_)), rows(std::move(rows_)), values(std::move(values_)) {
        need(n >= 1 && count >= 0 && starts.has_value() == rows.has_value(), "compressed columns have starts and rows");
        Columnwise& columns = model.columns;
        columns.n = n;
        columns.count = count;
        columns.values = values.data();
        const auto stored = static_cast<std::ptrdiff_t>(values.size());
        if (starts) {
            need(static_cast<std::ptrdiff_t>(starts->size()) == count + 1 && rows->size() == values.size(),
                 "one start for each column, one row for each value");
            columns.starts = starts->data();
            columns.rows = rows->data();
            need(columns.starts[0] == 0 && columns.starts[count] == stored, "starts must cover the values");
            for (std::ptrdiff_t j = 0; j < count; ++j) need(columns.starts[j] <= columns.starts[j + 1], "starts must ascend");
            for (std::ptrdiff_t k = 0; k < stored; ++k)
                need(columns.rows[k] >= 0 && columns.rows[k] < n, "a row number is out of range");
        } else {
            need(stored == n * count, "n values for each column");
        }
        model.constant = constant;
        model.ridge = ridge;
    }

    OutDoubles renew_at(Doubles curvature) {
        need(static_cast<std::ptrdiff_t>(curvature.size()) == model.columns.n, "one curvature for each row");
        std::vector<double> out;
        {
            nb::gil_scoped_release unlocked;
            renew(model, curvature.data());
            out = model.diagonal;
            if (model.constant) out.push_back(model.total);
        }
        const std::size_t p = out.size();
        return hand_over(std::move(out), {p});
    }

    // The gradient has one entry more where there is a constant: its own.
    void begin(Doubles gradient, Doubles at, Doubles penalties) {
        const auto p = static_cast<std::size_t>(model.columns.count) + (model.constant ? 1U : 0U);
        need(gradient.size() == p && at.size() == p && penalties.size() == p, "sizes must agree");
        need(model.step.size() + (model.constant ? 1U : 0U) == p, "renew before you begin");
        const std::size_t count = model.step.size();
        point.assign(at.data(), at.data() + count);
        penalty.assign(penalties.data(), penalties.data() + count);
        slope.assign(gradient.data(), gradient.data() + count);
        gradient_of_constant = model.constant ? gradient.data()[count] : 0.0;
        if (model.constant && model.total > 0)
            for (std::size_t j = 0; j < count; ++j)
                slope[j] -= model.along[j] * gradient_of_constant / std::sqrt(model.total);
        std::fill(model.step.begin(), model.step.end(), 0.0);
        std::fill(model.image.begin(), model.image.end(), 0.0);
        model.shared = model.gain = 0;
        model.place = 0;
    }

    bool descend(double tol, double most) {
        need(slope.size() == model.step.size(), "begin before you descend");
        nb::gil_scoped_release unlocked;
        return descend_columns(model, slope.data(), point.data(), penalty.data(), tol, most);
    }

    OutDoubles step() const {
        std::vector<double> out = model.step;
        if (model.constant) {
            const double root = std::sqrt(model.total);
            out.push_back(model.total > 0 ? -gradient_of_constant / model.total - model.shared / root : 0.0);
        }
        const std::size_t p = out.size();
        return hand_over(std::move(out), {p});
    }
};

}  // namespace

void bind_quadratic(nb::module_& module) {
    module.def("descend_quadratic", &descend, nb::arg("hessian"), nb::arg("gradient"), nb::arg("point"),
               nb::arg("penalty"), nb::arg("tol"), nb::arg("most_sweeps"),
               "Coordinate descent on a quadratic with an L1 penalty: the step and the sweeps it took.");
    nb::class_<HeldModel>(module, "ColumnModel", "The quadratic model with an L1 penalty, on the columns of the data.")
        .def(nb::init<std::optional<Starts>, std::optional<Codes>, FlatDoubles, std::ptrdiff_t, std::ptrdiff_t, bool, double>(),
             nb::arg("starts").none(), nb::arg("rows").none(), nb::arg("values"), nb::arg("n"), nb::arg("count"),
             nb::arg("constant"), nb::arg("ridge"))
        .def("renew", &HeldModel::renew_at, nb::arg("curvature"), "Curvatures of the rows, their weights included; returns those of the coordinates.")
        .def("begin", &HeldModel::begin, nb::arg("gradient"), nb::arg("point"), nb::arg("penalty"),
             "A new point: the step is zero.")
        .def("descend", &HeldModel::descend, nb::arg("tol"), nb::arg("most"),
             "Go on until a sweep gains no more than tol, or the work is done; whether it ended.")
        .def("step", &HeldModel::step, "The step so far, that of the constant last.");
}

}  // namespace separatrix
