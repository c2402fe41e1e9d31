#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../kernels/batch_steps.hpp"
#include "../kernels/sparse_rows.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

template <class Real>
using InOut = nb::ndarray<Real, nb::c_contig, nb::device::cpu>;
using Narrow = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Buffers of a network's passes, kept for as long as a fit runs.
template <class Real>
struct Passing {
    Backprop<Real> backprop;
    std::vector<double> squares;

    Passing(std::vector<std::ptrdiff_t> units, int activation, std::ptrdiff_t rows, bool sparse, int threads)
        : backprop(checked(std::move(units), activation, rows, threads), rows, sparse, threads),
          squares(static_cast<std::size_t>(squares_room(backprop.shape))) {}

    static Shape checked(std::vector<std::ptrdiff_t> units, int activation, std::ptrdiff_t rows, int threads) {
        need(units.size() >= 2, "a network has inputs and outputs");
        for (const std::ptrdiff_t count : units)
            need(count > 0 && count < (std::ptrdiff_t{1} << 31), "units are counts");
        need(activation >= 0 && activation <= static_cast<int>(Activation::logistic), "there are four activations");
        need(rows > 0 && rows % kGroup == 0 && threads > 0, "rows come in groups of eight");
        return Shape(std::move(units), static_cast<Activation>(activation));
    }

    Visits piece(const HeldRows& held, const Codes& codes, const std::optional<Doubles>& weights) const {
        const Rows& rows = held.rows;
        const auto n = static_cast<std::size_t>(rows.n);
        need(rows.d == backprop.shape.units[0], "as many columns as inputs");
        need(rows.sparse() == backprop.sparse && rows.layout != Layout::csc,
             "rows must be dense, or compressed by rows");
        need(codes.size() == n && (!weights || weights->size() == n), "one code and one weight per row");
        Visits found;
        found.rows = &rows;
        found.codes = codes.data();
        found.weights = weights ? weights->data() : nullptr;
        found.last = rows.n;
        return found;
    }

    // Numbers and codes of the visits first … last-1 index memory, so a strange one would write out of bounds.
    void check(const Visits& piece, std::ptrdiff_t first, std::ptrdiff_t last) const {
        const std::ptrdiff_t outputs = backprop.shape.units.back(), classes = outputs == 1 ? 2 : outputs;
        for (std::ptrdiff_t k = first; k < last; ++k) {
            const std::ptrdiff_t row = piece.order[k];
            need(row >= 0 && row < piece.rows->n, "row numbers must be of rows");
            if (piece.rows->sparse()) {
                const std::int64_t stored = entry(piece.rows->starts, row + 1) - entry(piece.rows->starts, row);
                need(stored >= 0 && stored <= piece.rows->d, "a row stores more numbers than there are columns");
            }
            need(piece.codes[row] >= 0 && piece.codes[row] < classes, "codes must be classes");
        }
    }
};

template <class Real>
std::ptrdiff_t steps(Passing<Real>& passing, const HeldRows& held, std::optional<Narrow> narrow,
                     std::optional<RowNumbers> wide, Codes codes, std::optional<Doubles> row_weights,
                     InOut<Real> weights, InOut<Real> gradient, InOut<Real> mean, std::optional<InOut<Real>> square,
                     double alpha, double first_share, double second_share, double epsilon, bool nesterov,
                     Doubles rates, std::ptrdiff_t batch, MutableDoubles carried, std::ptrdiff_t first,
                     std::ptrdiff_t pieces, int threads) {
    StepsTask<Real> task;
    task.rows = passing.piece(held, codes, row_weights);
    if (narrow) task.rows.order.narrow = narrow->data(), task.rows.last = static_cast<std::ptrdiff_t>(narrow->size());
    if (wide) task.rows.order.wide = wide->data(), task.rows.last = static_cast<std::ptrdiff_t>(wide->size());
    const auto size = static_cast<std::size_t>(passing.backprop.shape.parameters());
    need(
        weights.size() == size && gradient.size() == size && mean.size() == size && (!square || square->size() == size),
        "sizes must agree");
    need(batch > 0 && first >= 0 && first <= task.rows.last && carried.size() == kCarried,
         "the visits are out of range");
    need(0 < threads && threads <= passing.backprop.threads, "more threads than there is room for");
    need(pieces >= 0 && rates.size() == static_cast<std::size_t>(pieces), "a rate for each piece");
    task.batch = batch;
    task.alpha = alpha;
    task.rule.first = first_share;
    task.rule.second = second_share;
    task.rule.epsilon = epsilon;
    task.rule.nesterov = nesterov;
    task.rates = rates.data();
    task.weights = weights.data();
    task.gradient = gradient.data();
    task.mean = mean.data();
    task.square = square ? square->data() : nullptr;
    task.carried = carried.data();
    nb::gil_scoped_release unlocked;
    passing.check(task.rows, first, std::min(task.rows.last, first + pieces * passing.backprop.rows));
    return run_steps(passing.backprop, task, first, pieces, threads, passing.squares.data());
}

template <class Real>
void losses(Passing<Real>& passing, const HeldRows& held, Codes codes, std::optional<Doubles> row_weights,
            nb::ndarray<const Real, nb::c_contig, nb::device::cpu> weights, InOut<Real> gradient,
            MutableDoubles carried, std::ptrdiff_t first, std::ptrdiff_t last, int threads) {
    Visits piece = passing.piece(held, codes, row_weights);
    const auto size = static_cast<std::size_t>(passing.backprop.shape.parameters());
    need(weights.size() == size && gradient.size() == size, "sizes must agree");
    need(0 <= first && first <= last && last <= held.rows.n && carried.size() == kCarried, "the rows are out of range");
    need(0 < threads && threads <= passing.backprop.threads, "more threads than there is room for");
    piece.first = first;
    piece.last = last;
    nb::gil_scoped_release unlocked;
    passing.check(piece, first, last);
    add_losses(passing.backprop, piece, weights.data(), gradient.data(), carried.data(), threads);
}

template <class Real>
void bind(nb::module_& module, const char* name) {
    nb::class_<Passing<Real>>(module, name, "Buffers of a network's passes over batches of rows.")
        .def(nb::init<std::vector<std::ptrdiff_t>, int, std::ptrdiff_t, bool, int>(), nb::arg("units"),
             nb::arg("activation"), nb::arg("rows"), nb::arg("sparse"), nb::arg("threads"))
        .def("steps", &steps<Real>, nb::arg("rows"), nb::arg("narrow").none(), nb::arg("wide").none(), nb::arg("codes"),
             nb::arg("row_weights").none(), nb::arg("weights").noconvert(), nb::arg("gradient").noconvert(),
             nb::arg("mean").noconvert(), nb::arg("square").noconvert().none(), nb::arg("alpha"),
             nb::arg("first_share"), nb::arg("second_share"), nb::arg("epsilon"), nb::arg("nesterov"), nb::arg("rates"),
             nb::arg("batch"), nb::arg("carried").noconvert(), nb::arg("first"), nb::arg("pieces"), nb::arg("threads"),
             "Visit so many pieces, with a step after each batch; returns the next row's place.")
        .def("losses", &losses<Real>, nb::arg("rows"), nb::arg("codes"), nb::arg("row_weights").none(),
             nb::arg("weights").noconvert(), nb::arg("gradient").noconvert(), nb::arg("carried").noconvert(),
             nb::arg("first"), nb::arg("last"), nb::arg("threads"), "Add up the losses of rows and their gradient.");
}

}  // namespace

void bind_batches(nb::module_& module) {
    bind<float>(module, "FloatPassing");
    bind<double>(module, "DoublePassing");
}

}  // namespace separatrix
