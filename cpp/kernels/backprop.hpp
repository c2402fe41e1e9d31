// Cross-entropy of a network and its gradient, for a piece of a batch: the layers of `terms/layers.py`.
//
// A piece goes forward and back by rows, then its gradient is added up by parts of the weights: so threads share the
// rows first and the weights after. Every sum of products is one chain in the order of the rows or of the units, and
// losses are added up in groups of eight rows: no cut changes a bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "activations.hpp"
#include "input_rows.hpp"
#include "layer_products.hpp"
#include "layers.hpp"

namespace separatrix {

inline constexpr std::ptrdiff_t kGroup = 8;  // rows, or inputs, that stay together

// Layers, and where each matrix (inputs x outputs), then each vector of constants lies in the vector of all weights.
struct Shape {
    std::vector<std::ptrdiff_t> units, starts;
    Activation activation = Activation::relu;

    Shape(std::vector<std::ptrdiff_t> given, Activation kind);
    std::size_t layers() const { return units.size() - 1; }
    std::ptrdiff_t parameters() const { return starts.back(); }
    std::ptrdiff_t matrices_end() const { return starts[layers()]; }
};

inline std::ptrdiff_t groups(std::ptrdiff_t count) { return (count + kGroup - 1) / kGroup; }

// Rows first … last-1 of the order with their labels; weights may be null.
struct Visits {
    const Rows* rows = nullptr;
    Order order;
    const std::int32_t* codes = nullptr;
    const double* weights = nullptr;
    std::ptrdiff_t first = 0, last = 0;

    std::ptrdiff_t size() const { return last - first; }
};

template <class Real>
class Backprop {
public:
    // Buffers for pieces of at most `rows` rows, dense or sparse, and panels for so many threads.
    Backprop(Shape shape, std::ptrdiff_t rows, bool sparse, int threads);

    // Rows first … last-1 of the piece, `first` a multiple of kGroup: forward, losses, back. Allocates nothing.
    void rows_pass(const Visits& piece, const Real* weights, std::ptrdiff_t first, std::ptrdiff_t last,
                   int thread) noexcept;

    // The gradient of inputs first … last-1 of a layer's matrix, and of its constants, summed over the piece: written
    // into the vector of all, or added to what is there.
    void matrix_gradient(const Visits& piece, std::size_t layer, std::ptrdiff_t first, std::ptrdiff_t last, bool add,
                         Real* gradient, int thread) noexcept;
    void constants_gradient(const Visits& piece, std::size_t layer, bool add, Real* gradient) noexcept;

    void add_sums(const Visits& piece, OutputSums& sums) const noexcept;  // once all its rows have passed

    const Shape shape;
    const std::ptrdiff_t rows;
    const int threads;
    const bool sparse;

private:
    struct Place {  // of one thread
        Place(std::ptrdiff_t d, bool sparse);
        Real* panel() const;
        std::vector<Real> room;
        std::vector<double> row;
        Entries<Real> entries;
    };
    Factor<Real> inputs(const Visits& piece) const;
    void sparse_scores(const Visits& piece, const Real* matrix, std::ptrdiff_t first, std::ptrdiff_t last,
                       Place& place) noexcept;
    void sparse_gradient(const Visits& piece, const Real* slopes, std::ptrdiff_t first, std::ptrdiff_t last, bool add,
                         Real* to, Place& place) noexcept;

    std::vector<Real> inputs_;
    std::vector<std::vector<Real>> values_, slopes_;  // of each layer; the output's scores turn into its slopes
    std::vector<std::int32_t> codes_;
    std::vector<double> weights_;
    std::vector<OutputSums> sums_;  // of groups of rows
    std::vector<Place> places_;
};

extern template class Backprop<float>;
extern template class Backprop<double>;

}  // namespace separatrix
