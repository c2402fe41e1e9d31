#include "backprop.hpp"

#include <algorithm>
#include <utility>

namespace separatrix {
namespace {

std::size_t count(std::ptrdiff_t size) { return static_cast<std::size_t>(size); }

template <class Real>
SEPARATRIX_INLINE void add_scaled(Real by, const Real* SEPARATRIX_RESTRICT from, std::ptrdiff_t n,
                                  Real* SEPARATRIX_RESTRICT to) {
    for (std::ptrdiff_t j = 0; j < n; ++j) to[j] += by * from[j];
}

SEPARATRIX_CLONES
void add_row(float by, const float* from, std::ptrdiff_t n, float* to) noexcept { add_scaled(by, from, n, to); }
SEPARATRIX_CLONES
void add_row(double by, const double* from, std::ptrdiff_t n, double* to) noexcept { add_scaled(by, from, n, to); }

SEPARATRIX_CLONES
void copy(const Rows& rows, const Order& order, std::ptrdiff_t first, std::ptrdiff_t last, float* to,
          double* scratch) noexcept {
    copy_rows(rows, order, first, last, to, scratch);
}
SEPARATRIX_CLONES
void copy(const Rows& rows, const Order& order, std::ptrdiff_t first, std::ptrdiff_t last, double* to,
          double* scratch) noexcept {
    copy_rows(rows, order, first, last, to, scratch);
}

}  // namespace

Shape::Shape(std::vector<std::ptrdiff_t> given, Activation kind) : units(std::move(given)), activation(kind) {
    std::ptrdiff_t at = 0;
    for (std::size_t k = 0; k + 1 < units.size(); ++k) starts.push_back(at), at += units[k] * units[k + 1];
    for (std::size_t k = 1; k < units.size(); ++k) starts.push_back(at), at += units[k];
    starts.push_back(at);
}

template <class Real>
Backprop<Real>::Place::Place(std::ptrdiff_t d, bool sparse)
    : room(count(kPanelBytes) / sizeof(Real) + 64 / sizeof(Real)),
      row(sparse ? 0 : count(d)),
      entries(sparse ? d : 0) {}

// From a full line of the cache on.
template <class Real>
Real* Backprop<Real>::Place::panel() const {
    const auto address = reinterpret_cast<std::uintptr_t>(room.data());
    return const_cast<Real*>(room.data()) + ((64 - address % 64) % 64) / sizeof(Real);
}

template <class Real>
Backprop<Real>::Backprop(Shape given, std::ptrdiff_t most, bool sparse, int team)
    : shape(std::move(given)),
      rows(most),
      threads(team),
      sparse(sparse),
      inputs_(sparse ? 0 : count(most * shape.units[0])),
      codes_(count(most)),
      weights_(count(most)),
      sums_(count(groups(most))) {
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        values_.emplace_back(count(most * shape.units[layer + 1]));
        slopes_.emplace_back(layer + 1 < shape.layers() ? count(most * shape.units[layer + 1]) : 0);
    }
    for (int thread = 0; thread < team; ++thread) places_.emplace_back(shape.units[0], sparse);
}

template <class Real>
Factor<Real> Backprop<Real>::inputs(const Visits& piece) const {
    std::ptrdiff_t distance = 0;
    const Real* at = piece.order.plain() ? in_place<Real>(*piece.rows, distance) : nullptr;
    if (at != nullptr) return {at + piece.first * distance, distance, 1};
    return {inputs_.data(), shape.units[0], 1};
}

template <class Real>
void Backprop<Real>::rows_pass(const Visits& piece, const Real* weights, std::ptrdiff_t first, std::ptrdiff_t last,
                               int thread) noexcept {
    if (first >= last) return;
    const std::ptrdiff_t m = last - first;
    Place& place = places_[static_cast<std::size_t>(thread)];
    Factor<Real> below = inputs(piece);
    if (!sparse && below.at == inputs_.data())
        copy(*piece.rows, piece.order, piece.first + first, piece.first + last, inputs_.data() + first * shape.units[0],
             place.row.data());
    below.at += first * below.row;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const std::ptrdiff_t in = shape.units[layer], out = shape.units[layer + 1];
        Real* here = values_[layer].data() + first * out;
        const Real* matrix = weights + shape.starts[layer];
        if (sparse && layer == 0)
            sparse_scores(piece, matrix, first, last, place);
        else
            multiply(m, in, out, below, Factor<Real>{matrix, out, 1}, false, here, out, place.panel());
        const bool end = layer + 1 == shape.layers();
        activate(end ? Activation::identity : shape.activation, m, out, here,
                 weights + shape.starts[shape.layers() + layer]);
        below = {here, out, 1};
    }
    const std::ptrdiff_t outputs = shape.units.back();
    Real* scores = values_.back().data();
    for (std::ptrdiff_t i = first; i < last; ++i) {
        const std::ptrdiff_t row = piece.order[piece.first + i];
        codes_[count(i)] = piece.codes[row];
        if (piece.weights != nullptr) weights_[count(i)] = piece.weights[row];
    }
    for (std::ptrdiff_t i = first; i < last; i += kGroup)
        sums_[count(i / kGroup)] =
            output_slopes(std::min(kGroup, last - i), outputs, scores + i * outputs, &codes_[count(i)],
                          piece.weights != nullptr ? &weights_[count(i)] : nullptr);
    for (std::size_t layer = shape.layers() - 1; layer > 0; --layer) {
        const std::ptrdiff_t in = shape.units[layer], out = shape.units[layer + 1];
        const Real* above = (layer + 1 < shape.layers() ? slopes_[layer] : values_[layer]).data() + first * out;
        Real* here = slopes_[layer - 1].data() + first * in;
        multiply(m, out, in, Factor<Real>{above, out, 1}, Factor<Real>{weights + shape.starts[layer], 1, out}, false,
                 here, in, place.panel());
        times_derivative(shape.activation, m * in, here, values_[layer - 1].data() + first * in);
    }
}

template <class Real>
void Backprop<Real>::sparse_scores(const Visits& piece, const Real* matrix, std::ptrdiff_t first, std::ptrdiff_t last,
                                   Place& place) noexcept {
    const std::ptrdiff_t out = shape.units[1];
    for (std::ptrdiff_t i = first; i < last; ++i) {
        Real* here = values_[0].data() + i * out;
        std::fill(here, here + out, Real(0));
        place.entries.read(*piece.rows, piece.order[piece.first + i]);
        for (std::ptrdiff_t k = 0; k < place.entries.count; ++k)
            add_row(place.entries.value(k), matrix + place.entries.index(k) * out, out, here);
    }
}

template <class Real>
void Backprop<Real>::sparse_gradient(const Visits& piece, const Real* slopes, std::ptrdiff_t first, std::ptrdiff_t last,
                                     bool add, Real* to, Place& place) noexcept {
    const std::ptrdiff_t out = shape.units[1];
    if (!add) std::fill(to, to + (last - first) * out, Real(0));
    for (std::ptrdiff_t i = 0; i < piece.size(); ++i) {
        place.entries.read(*piece.rows, piece.order[piece.first + i]);
        for (std::ptrdiff_t k = 0; k < place.entries.count; ++k) {
            const std::ptrdiff_t j = place.entries.index(k);
            if (j >= first && j < last) add_row(place.entries.value(k), slopes + i * out, out, to + (j - first) * out);
        }
    }
}

template <class Real>
void Backprop<Real>::matrix_gradient(const Visits& piece, std::size_t layer, std::ptrdiff_t first, std::ptrdiff_t last,
                                     bool add, Real* gradient, int thread) noexcept {
    if (first >= last) return;
    const std::ptrdiff_t in = shape.units[layer], out = shape.units[layer + 1];
    const Real* slopes = (layer + 1 < shape.layers() ? slopes_[layer] : values_[layer]).data();
    Real* to = gradient + shape.starts[layer] + first * out;
    Place& place = places_[static_cast<std::size_t>(thread)];
    if (sparse && layer == 0) return sparse_gradient(piece, slopes, first, last, add, to, place);
    const Factor<Real> below = layer == 0 ? inputs(piece) : Factor<Real>{values_[layer - 1].data(), in, 1};
    multiply(last - first, piece.size(), out, Factor<Real>{below.at + first, 1, below.row},
             Factor<Real>{slopes, out, 1}, add, to, out, place.panel());
}

template <class Real>
void Backprop<Real>::constants_gradient(const Visits& piece, std::size_t layer, bool add, Real* gradient) noexcept {
    const std::ptrdiff_t out = shape.units[layer + 1];
    const Real* slopes = (layer + 1 < shape.layers() ? slopes_[layer] : values_[layer]).data();
    Real* to = gradient + shape.starts[shape.layers() + layer];
    if (!add) std::fill(to, to + out, Real(0));
    for (std::ptrdiff_t i = 0; i < piece.size(); ++i) add_row(Real(1), slopes + i * out, out, to);
}

template <class Real>
void Backprop<Real>::add_sums(const Visits& piece, OutputSums& sums) const noexcept {
    for (std::ptrdiff_t k = 0; k < groups(piece.size()); ++k) {
        sums.loss += sums_[count(k)].loss;
        sums.mistakes += sums_[count(k)].mistakes;
    }
}

template class Backprop<float>;
template class Backprop<double>;

}  // namespace separatrix
