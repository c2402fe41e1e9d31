#include "column_loss.hpp"

#include <algorithm>

#include "lanes.hpp"
#include "losses.hpp"

namespace separatrix {
namespace {

constexpr std::ptrdiff_t kChunk = 256;  // rows whose losses are added up at a time
constexpr std::ptrdiff_t kLanes = 16;   // of columns

SEPARATRIX_CLONES
void add_columns(const PackedColumns& packed, const double* point, double* score) {
    with_columns(packed, packed.values.data(), [&](const auto& columns) SEPARATRIX_INLINE_LAMBDA {
        for (std::ptrdiff_t j = 0; j < packed.count; ++j)
            if (point[j] != 0.0) columns.add(j, point[j], score);
    });
}

SEPARATRIX_WIDE_CLONES
void add_losses(ColumnLoss& at) {
    double loss[kChunk];
    const auto n = static_cast<std::ptrdiff_t>(at.score.size());
    at.loss = at.slope_size = 0;
    for (std::ptrdiff_t first = 0; first < n; first += kChunk) {
        const std::ptrdiff_t m = std::min(kChunk, n - first);
        logistic_rows(m, at.score.data() + first, at.sign.data() + first, at.weight.data() + first, loss,
                      at.slope.data() + first, at.curvature.data() + first);
        for (std::ptrdiff_t i = 0; i < m; ++i) {
            const double slope = at.slope[static_cast<std::size_t>(first + i)];
            at.loss += loss[i];
            at.slope_size += slope < 0 ? -slope : slope;
        }
    }
}

SEPARATRIX_CLONES
void add_products(const PackedColumns& packed, const double* slope, std::ptrdiff_t first, std::ptrdiff_t last,
                  double* gradient) {
    with_columns(packed, packed.values.data(), [&](const auto& columns) SEPARATRIX_INLINE_LAMBDA {
        for (std::ptrdiff_t j = first; j < last; ++j) gradient[j] = columns.product(j, slope);
    });
}

}  // namespace

void evaluate(const PackedColumns& columns, bool constant, const double* point, int threads, ColumnLoss& loss,
              double* gradient) {
    std::fill(loss.score.begin(), loss.score.end(), constant ? point[columns.count] : 0.0);
    dispatched(add_columns)(columns, point, loss.score.data());
    dispatched(add_losses)(loss);
    const auto products = dispatched(add_products);
    run_lanes(kLanes, threads, [&](std::ptrdiff_t lane) {
        products(columns, loss.slope.data(), columns.count * lane / kLanes, columns.count * (lane + 1) / kLanes,
                 gradient);
    });
    if (constant) {
        gradient[columns.count] = 0.0;
        for (const double slope : loss.slope) gradient[columns.count] += slope;
    }
}

}  // namespace separatrix
