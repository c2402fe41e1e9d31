#include <nanobind/stl/tuple.h>

#include "../kernels/activations.hpp"
#include "../kernels/layers.hpp"
#include "../kernels/updates.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

template <class Real>
using In = nb::ndarray<const Real, nb::c_contig, nb::device::cpu>;
template <class Real>
using InOut = nb::ndarray<Real, nb::c_contig, nb::device::cpu>;

template <class Real>
void adam(In<Real> g, InOut<Real> w, InOut<Real> m, InOut<Real> v, double scale, double decay, double rate,
          double beta_1, double beta_2, double epsilon) {
    const std::size_t n = w.size();
    need(g.size() == n && m.size() == n && v.size() == n, "sizes must agree");
    const StepTask task{scale, decay, rate, beta_1, beta_2, epsilon, false};
    nb::gil_scoped_release unlocked;
    adam_step(task, static_cast<std::ptrdiff_t>(n), g.data(), w.data(), m.data(), v.data());
}

template <class Real>
void momentum(In<Real> g, InOut<Real> w, InOut<Real> v, double scale, double decay, double rate, double share,
              bool nesterov) {
    const std::size_t n = w.size();
    need(g.size() == n && v.size() == n, "sizes must agree");
    const StepTask task{scale, decay, rate, share, 0.0, 0.0, nesterov};
    nb::gil_scoped_release unlocked;
    momentum_step(task, static_cast<std::ptrdiff_t>(n), g.data(), w.data(), v.data());
}

template <class Real>
std::tuple<double, double> outputs(InOut<Real> score, Codes codes, std::optional<Doubles> weights) {
    need(score.ndim() == 2 && codes.size() == score.shape(0), "one code per row");
    need(!weights || weights->size() == codes.size(), "one weight per row");
    const auto m = static_cast<std::ptrdiff_t>(score.shape(0)), k = static_cast<std::ptrdiff_t>(score.shape(1));
    const std::int32_t most = k == 1 ? 2 : static_cast<std::int32_t>(k);
    bool inside = true;
    for (std::ptrdiff_t i = 0; i < m; ++i) inside = inside && codes.data()[i] >= 0 && codes.data()[i] < most;
    need(inside, "codes must be classes");
    OutputSums sums;
    {
        nb::gil_scoped_release unlocked;
        sums = output_slopes(m, k, score.data(), codes.data(), weights ? weights->data() : nullptr);
    }
    return {sums.loss, sums.mistakes};
}

Activation kind_of(int kind) {
    need(kind >= 0 && kind <= static_cast<int>(Activation::logistic), "there are four activations");
    return static_cast<Activation>(kind);
}

template <class Real>
void forth(InOut<Real> z, In<Real> b, int kind) {
    need(z.ndim() == 2 && b.size() == z.shape(1), "one constant per column");
    const Activation given = kind_of(kind);
    nb::gil_scoped_release unlocked;
    activate(given, static_cast<std::ptrdiff_t>(z.shape(0)), static_cast<std::ptrdiff_t>(z.shape(1)), z.data(),
             b.data());
}

template <class Real>
void back(InOut<Real> slope, In<Real> h, int kind) {
    need(slope.size() == h.size(), "sizes must agree");
    const Activation given = kind_of(kind);
    nb::gil_scoped_release unlocked;
    times_derivative(given, static_cast<std::ptrdiff_t>(h.size()), slope.data(), h.data());
}

template <class Real>
void bind(nb::module_& module) {
    module.def("adam_step", &adam<Real>, nb::arg("gradient").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("mean").noconvert(), nb::arg("square").noconvert(), nb::arg("scale"), nb::arg("decay"),
               nb::arg("rate"), nb::arg("beta_1"), nb::arg("beta_2"), nb::arg("epsilon"), "A step of Adam, in place.");
    module.def("momentum_step", &momentum<Real>, nb::arg("gradient").noconvert(), nb::arg("weights").noconvert(),
               nb::arg("velocity").noconvert(), nb::arg("scale"), nb::arg("decay"), nb::arg("rate"),
               nb::arg("momentum"), nb::arg("nesterov"), "A step with momentum, in place.");
    module.def("output_slopes", &outputs<Real>, nb::arg("scores").noconvert(), nb::arg("codes"),
               nb::arg("weights") = nb::none(), "Scores become slopes of the cross-entropy; its sum and the mistakes.");
    module.def("activate", &forth<Real>, nb::arg("scores").noconvert(), nb::arg("constants").noconvert(),
               nb::arg("kind"), "phi(z + b), in place.");
    module.def("times_derivative", &back<Real>, nb::arg("slopes").noconvert(), nb::arg("values").noconvert(),
               nb::arg("kind"), "Slopes times phi', found from the values, in place.");
}

}  // namespace

void bind_network(nb::module_& module) {
    bind<float>(module);
    bind<double>(module);
}

}  // namespace separatrix
