#include "sketch.hpp"

#include <limits>

#include "readers.hpp"

namespace separatrix {
namespace {

SEPARATRIX_INLINE double largest_of(const double* SEPARATRIX_RESTRICT x, std::ptrdiff_t d) {
    double high[8] = {};
    std::ptrdiff_t j = 0;
    for (; j + 8 <= d; j += 8)
        for (int k = 0; k < 8; ++k) high[k] = std::abs(x[j + k]) > high[k] ? std::abs(x[j + k]) : high[k];
    double largest = 0;
    for (; j < d; ++j) largest = std::max(largest, std::abs(x[j]));
    for (int k = 0; k < 8; ++k) largest = std::max(largest, high[k]);
    return largest;
}

// `rest` has room for d numbers.
SEPARATRIX_INLINE void sketch_row(const double* SEPARATRIX_RESTRICT x, std::ptrdiff_t d,
                                  double* SEPARATRIX_RESTRICT rest, std::int8_t* SEPARATRIX_RESTRICT q) {
    constexpr double kRound = 0x1.8p52;  // added and taken off again it leaves a whole number
    const double largest = largest_of(x, d), squares = dot(x, x, d);
    // sizes of which no float32 can be made, and what is not finite, stay unknown
    const bool usual = squares > 1e-60 && squares < 1e60;
    RowSketch row{usual ? static_cast<float>(largest / 127 * (1 + 0x1p-20)) : 0.0F, 0.0F, 0.0F, 0.0F};
    const double s = static_cast<double>(row.step), shares = usual ? 1 / s : 0;
    double missed = 0;
    if (usual) {
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            // s has 24 bits and the whole number 7: their product is exact
            const double number = (x[j] * shares + kRound) - kRound;
            rest[j] = x[j] - s * number;
            q[j] = static_cast<std::int8_t>(static_cast<std::int32_t>(number));
        }
        missed = dot(rest, rest, d);
    }
    const double rounded = (std::sqrt(missed) + 4 * kUnit * std::sqrt(squares)) * (1 + 1e-9);
    if (usual)
        row.error = float_above(rounded);
    else if (!(largest == 0 && squares == 0))
        row.error = std::numeric_limits<float>::infinity();
    row.length = float_above(std::sqrt(squares) * (1 + (static_cast<double>(d) + 8) * kUnit));
    const std::ptrdiff_t count = sketch_numbers(d);
    std::fill(usual ? q + d : q, q + count, std::int8_t{0});
    std::memcpy(q + count, &row, sizeof row);
}

SEPARATRIX_CLONES
void sketch_lane(const Rows& rows, std::int8_t* sketch, std::ptrdiff_t first, std::ptrdiff_t last) {
    DenseReader reader(rows);
    std::vector<double> rest(static_cast<std::size_t>(rows.d));
    for (std::ptrdiff_t i = first; i < last; ++i) {
        reader.at(i);
        sketch_row(reader.x, rows.d, rest.data(), sketch + i * sketch_stride(rows.d));
    }
}

}  // namespace

void sketch_rows(const Rows& rows, std::int8_t* sketch, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                 int threads) {
    const auto edges = lane_edges(rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(sketch_lane)(rows, sketch, edges[k], edges[k + 1]);
    });
}

}  // namespace separatrix
