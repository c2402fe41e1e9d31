#include "maps.hpp"

#include <atomic>

#include "chunks.hpp"
#include "dense.hpp"
#include "losses.hpp"
#include "sparse.hpp"

namespace separatrix {
namespace {

template <class Chunk>
SEPARATRIX_INLINE void score_chunk(const ScoreTask& task, const Chunk& chunk, std::ptrdiff_t at, double* score) {
    const std::ptrdiff_t d = task.rows->d, p = d + (task.constant ? 1 : 0);
    at -= task.origin;
    for (std::ptrdiff_t k = 0; k < task.count; ++k) {
        const double* point = task.points + k * p;
        add_scores(chunk, point, d, task.constant ? point[d] : 0.0, score);
        if (task.probabilities) {
            // Each tail from its own score, so that neither loses digits near 0.
            for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
                task.out[(at + i) * 2] = sigmoid_of(-score[i]);
                task.out[(at + i) * 2 + 1] = sigmoid_of(score[i]);
            }
        } else {
            for (std::ptrdiff_t i = 0; i < chunk.m; ++i) task.out[(at + i) * task.count + k] = score[i];
        }
    }
}

SEPARATRIX_CLONES
void score_lane(const ScoreTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, 0);
    std::vector<double> score(static_cast<std::size_t>(step));
    for_chunks(*task.rows, first, last, step, [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA {
        score_chunk(task, chunk, at, score.data());
    });
}

// Whether numbers lie in 0 … limit-1 and strictly increase; without branches, so that it is done in vectors.
template <class Index>
SEPARATRIX_INLINE SparseFault check_line(const Index* line, std::int64_t count, std::int64_t limit) {
    if (count == 0) return SparseFault::none;
    Index low = line[0], high = line[0];
    int disorder = 0;
    for (std::int64_t k = 1; k < count; ++k) {
        disorder |= line[k] > line[k - 1] ? 0 : 1;
        low = line[k] < low ? line[k] : low;
        high = line[k] > high ? line[k] : high;
    }
    if (low < 0 || high >= limit) return SparseFault::range;
    return disorder != 0 ? SparseFault::order : SparseFault::none;
}

SEPARATRIX_CLONES
SparseFault check_lines(const Rows& rows, std::int64_t first, std::int64_t last, std::int64_t stored,
                        std::int64_t limit) {
    std::vector<std::int64_t> line, starts(static_cast<std::size_t>(last - first) + 1);
    load(rows.starts, first, last - first + 1, starts.data());
    const bool short_in_place = usable_in_place(rows.indices, Type::i32);
    const bool long_in_place = usable_in_place(rows.indices, Type::i64);
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t begin = starts[static_cast<std::size_t>(i - first)];
        const std::int64_t end = starts[static_cast<std::size_t>(i - first) + 1];
        if (begin < 0 || end < begin || end > stored) return SparseFault::starts;
        SparseFault fault = SparseFault::none;
        if (short_in_place) {
            fault = check_line(reinterpret_cast<const std::int32_t*>(rows.indices.data) + begin, end - begin, limit);
        } else if (long_in_place) {
            fault = check_line(reinterpret_cast<const std::int64_t*>(rows.indices.data) + begin, end - begin, limit);
        } else {
            line.resize(static_cast<std::size_t>(end - begin));
            load(rows.indices, begin, end - begin, line.data());
            fault = check_line(line.data(), end - begin, limit);
        }
        if (fault != SparseFault::none) return fault;
    }
    return SparseFault::none;
}

}  // namespace

void score_rows(const ScoreTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes, int threads) {
    const auto edges = lane_edges(*task.rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(score_lane)(task, edges[k], edges[k + 1]);
    });
}

void gather_rows(const Rows& rows, const std::int64_t* which, std::ptrdiff_t count, double* out) {
    for (std::ptrdiff_t i = 0; i < count;) {
        // neighbouring rows are loaded together
        std::ptrdiff_t run = 1;
        while (i + run < count && which[i + run] == which[i] + run) ++run;
        double* to = out + i * rows.d;
        const DenseChunk chunk = load_dense(rows, which[i], run, to);
        if (chunk.x != to)
            for (std::ptrdiff_t r = 0; r < run; ++r) std::copy_n(chunk.x + r * chunk.ld, rows.d, to + r * rows.d);
        i += run;
    }
}

SparseFault check_sparse(const Rows& rows, std::ptrdiff_t stored, std::ptrdiff_t lanes, int threads) {
    const std::int64_t lines = rows.layout == Layout::csr ? rows.n : rows.d;
    const std::int64_t limit = rows.layout == Layout::csr ? rows.d : rows.n;
    std::atomic<int> worst{static_cast<int>(SparseFault::none)};
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const SparseFault fault =
            dispatched(check_lines)(rows, lines * lane / lanes, lines * (lane + 1) / lanes, stored, limit);
        if (fault != SparseFault::none) {
            int known = worst.load();
            // the gravest fault wins, so that the answer does not depend on the threads
            while ((known == 0 || static_cast<int>(fault) < known) &&
                   !worst.compare_exchange_weak(known, static_cast<int>(fault))) {
            }
        }
    });
    return static_cast<SparseFault>(worst.load());
}

}  // namespace separatrix
