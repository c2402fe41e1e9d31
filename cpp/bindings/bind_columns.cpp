#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>

#include "../kernels/column_loss.hpp"
#include "../kernels/column_model.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

// Packed columns, the loss on them and its model: what a Newton step with an L1 penalty needs.
class ColumnProblem {
public:
    ColumnProblem(Codes codes, std::optional<Doubles> weights, double weight, bool constant, double ridge) {
        const std::size_t n = codes.size();
        need(n >= 1 && (!weights || weights->size() == n), "one weight per row");
        loss_.sign.resize(n);
        loss_.weight.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            loss_.sign[i] = codes.data()[i] == 1 ? 1.0 : -1.0;
            loss_.weight[i] = (weights ? weights->data()[i] : 1.0) / weight;
        }
        for (auto* each : {&loss_.score, &loss_.slope, &loss_.curvature}) each->assign(n, 0.0);
        model_.constant = constant;
        model_.ridge = ridge;
    }

    void count(const HeldRows& held, std::ptrdiff_t first, std::ptrdiff_t last) {
        need(static_cast<std::size_t>(held.rows.n) == loss_.sign.size(), "one label per row");
        need(first == counted_ && first < last && last <= held.rows.n, "rows must follow each other");
        nb::gil_scoped_release unlocked;
        count_entries(held.rows, first, last, columns_);
        counted_ = last;
    }

    void choose(const HeldRows& held, RowNumbers which, Doubles shift) {
        need(counted_ == held.rows.n, "count before you choose");
        need(!held.rows.sparse() || columns_.counts.size() == static_cast<std::size_t>(held.rows.d), "other rows");
        need(which.size() == shift.size(), "one shift per column");
        for (std::size_t j = 0; j < which.size(); ++j)
            need(which.data()[j] >= 0 && which.data()[j] < held.rows.d, "a column number is out of range");
        need(!held.rows.sparse() || held.rows.n < (std::ptrdiff_t{1} << 31), "row numbers must fit into 32 bits");
        std::vector<bool> chosen(static_cast<std::size_t>(held.rows.d));
        for (std::size_t j = 0; j < which.size(); ++j) {
            need(!chosen[static_cast<std::size_t>(which.data()[j])], "a column is chosen once");
            chosen[static_cast<std::size_t>(which.data()[j])] = true;
        }
        ready_ = renewed_ = begun_ = false;
        copied_ = -1;  // should memory run out below
        nb::gil_scoped_release unlocked;
        shift_.assign(shift.data(), shift.data() + shift.size());
        choose_columns(held.rows, which.data(), static_cast<std::ptrdiff_t>(which.size()), columns_);
        copied_ = 0;
    }

    void copy(const HeldRows& held, std::ptrdiff_t first, std::ptrdiff_t last) {
        need(held.rows.n == columns_.n && static_cast<std::size_t>(held.rows.d) == columns_.place.size() &&
                 held.rows.sparse() == columns_.sparse,
             "the rows must be those that the columns were chosen of");
        need(first == copied_ && first < last && last <= columns_.n, "rows must follow each other");
        nb::gil_scoped_release unlocked;
        copied_ = -1;
        need(copy_entries(held.rows, shift_.data(), first, last, columns_), "the rows are not those that were counted");
        copied_ = last;
        ready_ = last == columns_.n;
    }

    std::tuple<double, double, OutDoubles> evaluate_at(Doubles point, int threads) {
        need(ready_ && point.size() == size(), "one coefficient per column");
        std::vector<double> gradient(size());
        {
            nb::gil_scoped_release unlocked;
            evaluate(columns_, model_.constant, point.data(), threads, loss_, gradient.data());
        }
        const std::size_t p = gradient.size();
        return {loss_.loss, loss_.slope_size, hand_over(std::move(gradient), {p})};
    }

    OutDoubles renew_here(int threads) {
        need(ready_, "copy before you renew");
        std::vector<double> out;
        {
            nb::gil_scoped_release unlocked;
            renew(columns_, loss_.curvature.data(), threads, model_);
            out = model_.diagonal;
            if (model_.constant) out.push_back(model_.total);
        }
        renewed_ = true;
        begun_ = false;
        return hand_over(std::move(out), {size()});
    }

    void begin(Doubles gradient, Doubles point, Doubles penalty) {
        need(renewed_, "renew before you begin");
        need(gradient.size() == size() && point.size() == size() && penalty.size() == size(), "sizes must agree");
        const auto count = static_cast<std::size_t>(columns_.count);
        point_.assign(point.data(), point.data() + count);
        penalty_.assign(penalty.data(), penalty.data() + count);
        slope_.assign(gradient.data(), gradient.data() + count);
        of_constant_ = model_.constant ? gradient.data()[count] : 0.0;
        if (model_.constant && model_.total > 0)
            for (std::size_t j = 0; j < count; ++j)
                slope_[j] -= model_.along[j] * of_constant_ / std::sqrt(model_.total);
        std::fill(model_.step.begin(), model_.step.end(), 0.0);
        std::fill(model_.image.begin(), model_.image.end(), 0.0);
        model_.shared = model_.gain = 0;
        model_.place = 0;
        begun_ = true;
    }

    bool descend(double tol, double most) {
        need(begun_, "begin before you descend");
        need(tol >= 0, "tol must be at least 0");
        nb::gil_scoped_release unlocked;
        return descend_columns(columns_, model_, slope_.data(), point_.data(), penalty_.data(), tol, most);
    }

    OutDoubles step() const {
        need(begun_, "begin before you ask for a step");
        std::vector<double> out = model_.step;
        if (model_.constant)
            out.push_back(model_.total > 0 ? -of_constant_ / model_.total - model_.shared / std::sqrt(model_.total)
                                           : 0.0);
        return hand_over(std::move(out), {size()});
    }

    std::ptrdiff_t stored() const { return ready_ ? columns_.stored() : 0; }

private:
    std::size_t size() const { return static_cast<std::size_t>(columns_.count) + (model_.constant ? 1U : 0U); }

    PackedColumns columns_;
    ColumnLoss loss_;
    ColumnModel model_;
    std::vector<double> shift_, point_, slope_, penalty_;
    double of_constant_ = 0;
    std::ptrdiff_t counted_ = 0, copied_ = 0;
    bool ready_ = false, renewed_ = false, begun_ = false;
};

}  // namespace

void bind_columns(nb::module_& module) {
    nb::class_<ColumnProblem>(module, "ColumnProblem",
                              "Some columns, the logistic loss on them, and its quadratic model.")
        .def(nb::init<Codes, std::optional<Doubles>, double, bool, double>(), nb::arg("codes"),
             nb::arg("weights").none(), nb::arg("weight"), nb::arg("constant"), nb::arg("ridge"))
        .def("count", &ColumnProblem::count, nb::arg("rows"), nb::arg("first"), nb::arg("last"),
             "Count the entries of all columns in some rows; once.")
        .def("choose", &ColumnProblem::choose, nb::arg("rows"), nb::arg("which"), nb::arg("shift"), "Other columns.")
        .def("copy", &ColumnProblem::copy, nb::arg("rows"), nb::arg("first"), nb::arg("last"), "Copy some rows.")
        .def("evaluate", &ColumnProblem::evaluate_at, nb::arg("point"), nb::arg("threads"),
             "The loss, the size of its slopes and its gradient.")
        .def("renew", &ColumnProblem::renew_here, nb::arg("threads"),
             "The model at the point evaluated last; its second derivatives.")
        .def("begin", &ColumnProblem::begin, nb::arg("gradient"), nb::arg("point"), nb::arg("penalty"),
             "A step of zero from a point.")
        .def("descend", &ColumnProblem::descend, nb::arg("tol"), nb::arg("most"),
             "Go on until a sweep gains no more than tol, or the work is done; whether it ended.")
        .def("step", &ColumnProblem::step, "The step so far, that of the constant last.")
        .def_prop_ro("stored", &ColumnProblem::stored);
}

}  // namespace separatrix
