#include "../kernels/descent.hpp"
#include "../kernels/leeway.hpp"
#include "../kernels/sweeps.hpp"
#include "views.hpp"

#include <algorithm>

namespace separatrix {
namespace {

template <class Array>
auto* data_of(const std::optional<Array>& array) {
    return array ? array->data() : nullptr;
}

Order order_of(const std::optional<VisitOrder>& order) {
    if (!order) return {};
    if (const auto* narrow = std::get_if<Codes>(&*order)) return {narrow->data(), nullptr};
    return {nullptr, std::get<RowNumbers>(*order).data()};
}

void check_order(const Rows& rows, const std::optional<VisitOrder>& given, std::ptrdiff_t first, std::ptrdiff_t last) {
    need(rows.layout != Layout::csc, "an ordered pass needs rows, not compressed columns");
    const auto size = [](const auto& numbers) { return static_cast<std::ptrdiff_t>(numbers.size()); };
    const std::ptrdiff_t count = given ? std::visit(size, *given) : rows.n;
    need(0 <= first && first <= last && last <= count, "the visits are out of range");
    const Order order = order_of(given);
    for (std::ptrdiff_t q = first; given && q < last; ++q)
        need(order[q] >= 0 && order[q] < rows.n, "a row number is out of range");
}

void check_bounds(const PerceptronTask& task, const std::optional<MutableFloats>& leeway,
                  const std::optional<MutableFloats>& lengths, const std::optional<Doubles>& reference) {
    const auto n = static_cast<std::size_t>(task.rows->n);
    const bool all = leeway && lengths && reference, none = !leeway && !lengths && !reference;
    need(all || none, "leeway, lengths and reference belong together");
    need(none ||
             (leeway->size() == n && lengths->size() == n && reference->size() == static_cast<std::size_t>(task.p())),
         "one leeway and one length per row, one reference per coefficient");
}

std::size_t sketch_size(std::ptrdiff_t rows, std::ptrdiff_t columns) {
    return static_cast<std::size_t>(rows * sketch_stride(columns) + kSketchLine);
}

void check_sketch(const Rows& rows, const Bytes& sketch) {
    need(!rows.sparse(), "sketches are of dense rows");
    need(sketch.size() == sketch_size(rows.n, rows.d), "a sketch has a byte per number and some more per row");
}

void perceptron(const HeldRows& held, Codes codes, std::int32_t positive, std::optional<Doubles> weights,
                std::optional<VisitOrder> order, bool constant, double rate, std::optional<Doubles> rates,
                double margin, double shrink, double truncate, std::int64_t average_from, MutableDoubles point,
                MutableDoubles counters, std::optional<MutableDoubles> run_point, std::optional<MutableDoubles> total,
                std::optional<MutableDoubles> lost, std::optional<MutableFloats> leeway,
                std::optional<MutableFloats> lengths, std::optional<Doubles> reference, std::optional<Bytes> sketch,
                std::ptrdiff_t first, std::ptrdiff_t last) {
    PerceptronTask task;
    task.rows = &held.rows;
    task.constant = constant;
    const auto n = static_cast<std::size_t>(held.rows.n), p = static_cast<std::size_t>(task.p());
    check_order(held.rows, order, first, last);
    check_bounds(task, leeway, lengths, reference);
    need(codes.size() == n, "one label per row");
    need(!weights || weights->size() == n, "one weight per row");
    need(!rates || rates->size() == static_cast<std::size_t>(last - first), "one rate per visit");
    need(point.size() == p && counters.size() == kCounters, "the point must be p long, the counters nine");
    need(!run_point || run_point->size() == p, "the pocket must be p long");
    need(average_from < 0 || (total && total->size() == p), "an average needs a total, p long");
    need(!(truncate > 0) || (lost && lost->size() == static_cast<std::size_t>(held.rows.d)),
         "an L1 penalty needs to know what each weight lost");
    task.codes = codes.data();
    task.positive = positive;
    task.weights = data_of(weights);
    task.order = order_of(order);
    task.rate = rate;
    task.rates = data_of(rates);
    task.margin = margin;
    task.shrink = shrink;
    task.truncate = truncate;
    task.average_from = average_from;
    task.point = point.data();
    task.counters = counters.data();
    task.run_point = data_of(run_point);
    task.total = data_of(total);
    task.lost = data_of(lost);
    task.leeway = data_of(leeway);
    task.lengths = data_of(lengths);
    task.reference = data_of(reference);
    if (sketch) {
        need(leeway.has_value(), "a sketch goes with leeways");
        check_sketch(held.rows, *sketch);
        task.sketch = first_line(sketch->data());
    }
    nb::gil_scoped_release unlocked;
    sweep_perceptron(task, first, last);
}

void descent(const HeldRows& held, Codes codes, std::optional<Doubles> weights, std::optional<VisitOrder> order,
             std::ptrdiff_t outputs, bool constant, bool hard, std::ptrdiff_t batch, double mean_weight, Doubles rates,
             double shrink, double truncate, std::ptrdiff_t unaveraged, MutableDoubles point, MutableDoubles counters,
             std::optional<MutableDoubles> total, std::ptrdiff_t first, std::ptrdiff_t last) {
    DescentTask task;
    task.rows = &held.rows;
    task.constant = constant;
    const auto n = static_cast<std::size_t>(held.rows.n);
    check_order(held.rows, order, first, last);
    task.order = order_of(order);
    need(outputs >= 1 && outputs != 2, "one weight vector for two classes, one per class for more");
    need(batch >= 1 && mean_weight > 0, "a batch has rows, and rows have weight");
    const auto p = static_cast<std::size_t>(outputs * task.p());
    need(codes.size() == n, "one label per row");
    const auto classes = std::max<std::ptrdiff_t>(outputs, 2);
    if (!order) check_codes(codes, held.rows.n, classes, first, last);
    for (std::ptrdiff_t q = first; order && q < last; ++q) {
        const std::int32_t code = codes.data()[task.order[q]];
        need(code >= 0 && code < classes, "a label is out of range");
    }
    need(!weights || weights->size() == n, "one weight per row");
    need(rates.size() >= static_cast<std::size_t>((last - first + batch - 1) / batch), "one rate per step");
    need(point.size() == p && counters.size() == kCounters, "the point must be outputs x p long, the counters nine");
    need(!total || total->size() == p, "the total must be as long as the point");
    task.codes = codes.data();
    task.weights = data_of(weights);
    task.outputs = outputs;
    task.hard = hard;
    task.batch = batch;
    task.mean_weight = mean_weight;
    task.rates = rates.data();
    task.shrink = shrink;
    task.truncate = truncate;
    task.unaveraged = unaveraged;
    task.point = point.data();
    task.counters = counters.data();
    task.total = data_of(total);
    nb::gil_scoped_release unlocked;
    sweep_descent(task, first, last);
}

void lengths(const HeldRows& held, bool constant, MutableDoubles out, std::ptrdiff_t first, std::ptrdiff_t last,
             std::ptrdiff_t lanes, int threads) {
    check_span(held.rows, first, last, lanes);
    need(held.rows.layout != Layout::csc, "lengths are of rows, not of compressed columns");
    const std::ptrdiff_t origin = origin_of(out, held.rows, 1, first, last);
    nb::gil_scoped_release unlocked;
    row_lengths(held.rows, constant, out.data(), origin, first, last, lanes, threads);
}

void leeways(const HeldRows& held, Codes codes, std::int32_t positive, bool constant, double margin, Doubles point,
             MutableFloats leeway, MutableFloats lengths, std::ptrdiff_t first, std::ptrdiff_t last,
             std::ptrdiff_t lanes, int threads) {
    const auto n = static_cast<std::size_t>(held.rows.n);
    check_span(held.rows, first, last, lanes);
    need(held.rows.layout != Layout::csc, "an ordered pass needs rows, not compressed columns");
    need(codes.size() == n, "one label per row");
    need(point.size() == static_cast<std::size_t>(held.rows.d) + (constant ? 1 : 0), "the point must be p long");
    need(leeway.size() == n && lengths.size() == n, "one leeway and one length per row");
    LeewayTask task{&held.rows, codes.data(), positive, constant, margin, point.data(), leeway.data(), lengths.data()};
    nb::gil_scoped_release unlocked;
    row_leeways(task, first, last, lanes, threads);
}

void sketch(const HeldRows& held, Bytes out, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
            int threads) {
    check_span(held.rows, first, last, lanes);
    check_sketch(held.rows, out);
    nb::gil_scoped_release unlocked;
    sketch_rows(held.rows, first_line(out.data()), first, last, lanes, threads);
}

template <class Number>
void shuffle_rows(nb::ndarray<Number, nb::ndim<1>, nb::c_contig, nb::device::cpu> order, std::uint64_t seed) {
    nb::gil_scoped_release unlocked;
    shuffle(order.data(), static_cast<std::ptrdiff_t>(order.size()), seed);
}

}  // namespace

void bind_sweeps(nb::module_& module) {
    module.def("perceptron", &perceptron, nb::arg("rows"), nb::arg("codes"), nb::arg("positive"),
               nb::arg("weights").none(), nb::arg("order").none().noconvert(), nb::arg("constant"), nb::arg("rate"),
               nb::arg("rates").none(), nb::arg("margin"), nb::arg("shrink"), nb::arg("truncate"),
               nb::arg("average_from"), nb::arg("point").noconvert(), nb::arg("counters").noconvert(),
               nb::arg("run_point").none().noconvert(), nb::arg("total").none().noconvert(),
               nb::arg("lost").none().noconvert(), nb::arg("leeway").none().noconvert(),
               nb::arg("lengths").none().noconvert(), nb::arg("reference").none(), nb::arg("sketch").none(),
               nb::arg("first"), nb::arg("last"),
               "Visit rows in order by the perceptron's rule; point, counters and the rest are changed in place.");
    module.def("descent", &descent, nb::arg("rows"), nb::arg("codes"), nb::arg("weights").none(),
               nb::arg("order").none().noconvert(), nb::arg("outputs"), nb::arg("constant"), nb::arg("hard"),
               nb::arg("batch"), nb::arg("mean_weight"), nb::arg("rates"), nb::arg("shrink"), nb::arg("truncate"),
               nb::arg("unaveraged"), nb::arg("point").noconvert(), nb::arg("counters").noconvert(),
               nb::arg("total").none().noconvert(), nb::arg("first"), nb::arg("last"),
               "Steps of stochastic gradient descent on batches of rows; point, counters and total change in place.");
    module.def("row_lengths", &lengths, nb::arg("rows"), nb::arg("constant"), nb::arg("out").noconvert(),
               nb::arg("first"), nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "The length of each row, rounded up, with 1 for the constant counted in.");
    module.def("leeways", &leeways, nb::arg("rows"), nb::arg("codes"), nb::arg("positive"), nb::arg("constant"),
               nb::arg("margin"), nb::arg("point").noconvert(), nb::arg("leeway").noconvert(),
               nb::arg("lengths").noconvert(), nb::arg("first"), nb::arg("last"), nb::arg("lanes"), nb::arg("threads"),
               "How far the weights may move before a row can be a mistake, and each row's length, as float32.");
    module.def("sketch", &sketch, nb::arg("rows"), nb::arg("out").noconvert(), nb::arg("first"), nb::arg("last"),
               nb::arg("lanes"), nb::arg("threads"),
               "Each row as a step times whole numbers up to 127, and how far that is off.");
    module.def("sketch_size", &sketch_size, nb::arg("rows"), nb::arg("columns"), "Bytes of a sketch.");
    module.def("shuffle", &shuffle_rows<std::int32_t>, nb::arg("order").noconvert(), nb::arg("seed"),
               "Shuffle row numbers in place; equal seeds give equal orders.");
    module.def("shuffle", &shuffle_rows<std::int64_t>, nb::arg("order").noconvert(), nb::arg("seed"));
}

}  // namespace separatrix
