#include "leeway.hpp"

#include "readers.hpp"

namespace separatrix {
namespace {

template <class Reader>
SEPARATRIX_INLINE double length_of(const Reader& reader, bool constant, std::ptrdiff_t p) {
    const double squares = reader.squares() + (constant ? 1 : 0);
    double largest = constant ? 1 : 0;
    if (!(squares > 1e-280 && squares < 1e300))
        reader.each([&](std::ptrdiff_t, double x)
                        SEPARATRIX_INLINE_LAMBDA { largest = std::max(largest, std::abs(x)); });
    return length_above(squares, largest, p);
}

template <class Reader>
SEPARATRIX_INLINE void measure(const Rows& rows, bool constant, double* out, std::ptrdiff_t origin,
                               std::ptrdiff_t first, std::ptrdiff_t last) {
    Reader reader(rows);
    const std::ptrdiff_t p = rows.d + (constant ? 1 : 0);
    for (std::ptrdiff_t i = first; i < last; ++i) {
        reader.at(i);
        out[i - origin] = length_of(reader, constant, p);
    }
}

template <class Reader>
SEPARATRIX_INLINE void look(const LeewayTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    Reader reader(*task.rows);
    const std::ptrdiff_t d = task.rows->d, p = d + (task.constant ? 1 : 0);
    const double offset = task.constant ? task.point[d] : 0.0;
    for (std::ptrdiff_t i = first; i < last; ++i) {
        reader.at(i);
        const double score = reader.score(task.point) + offset;
        const double signed_score = task.codes[i] == task.positive ? score : -score;
        const float length = float_above(length_of(reader, task.constant, p));
        task.lengths[i] = length;
        task.leeway[i] = float_below((signed_score - (task.margin + kTiny)) / static_cast<double>(length));
    }
}

SEPARATRIX_CLONES
void measure_dense(const Rows& rows, bool constant, double* out, std::ptrdiff_t origin, std::ptrdiff_t first,
                   std::ptrdiff_t last) {
    measure<DenseReader>(rows, constant, out, origin, first, last);
}

SEPARATRIX_CLONES
void measure_sparse(const Rows& rows, bool constant, double* out, std::ptrdiff_t origin, std::ptrdiff_t first,
                    std::ptrdiff_t last) {
    measure<SparseReader>(rows, constant, out, origin, first, last);
}

SEPARATRIX_CLONES
void look_dense(const LeewayTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    look<DenseReader>(task, first, last);
}

SEPARATRIX_CLONES
void look_sparse(const LeewayTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    look<SparseReader>(task, first, last);
}

}  // namespace

void row_leeways(const LeewayTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto edges = lane_edges(*task.rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(task.rows->sparse() ? look_sparse : look_dense)(task, edges[k], edges[k + 1]);
    });
}

void row_lengths(const Rows& rows, bool constant, double* out, std::ptrdiff_t origin, std::ptrdiff_t first,
                 std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto edges = lane_edges(rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(rows.sparse() ? measure_sparse : measure_dense)(rows, constant, out, origin, edges[k], edges[k + 1]);
    });
}

}  // namespace separatrix
