#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "chunks.hpp"

namespace separatrix {
namespace {

struct Split {
    std::uint64_t mantissa;
    int exponent;  // value = mantissa * 2^exponent
};

inline Split split(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const int biased = static_cast<int>((bits >> 52) & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    if (biased == 0) return {fraction, -1074};
    return {fraction | (std::uint64_t{1} << 52), biased - 1075};
}

constexpr std::uint64_t low_half = 0xffffffffu;

}  // namespace

void LongSum::clear() {
    for (int k = low_; k <= high_; ++k) digit_[k] = 0;
    low_ = digits_;
    high_ = -1;
}

inline void LongSum::add_shifted(std::uint64_t part, int exponent, bool negative) {
    const int place = exponent - lowest_, at = place >> 5, shift = place & 31;
    const auto d0 = static_cast<std::int64_t>((part << shift) & low_half);
    const auto d1 = static_cast<std::int64_t>((part >> (32 - shift)) & low_half);
    const auto d2 = static_cast<std::int64_t>(shift == 0 ? 0 : part >> (64 - shift));
    if (negative) {
        digit_[at] -= d0;
        digit_[at + 1] -= d1;
        digit_[at + 2] -= d2;
    } else {
        digit_[at] += d0;
        digit_[at + 1] += d1;
        digit_[at + 2] += d2;
    }
    low_ = std::min(low_, at);
    high_ = std::max(high_, at + 2);
}

void LongSum::add_product(double a, double b) {
    const Split x = split(a), y = split(b);
    if (x.mantissa == 0 || y.mantissa == 0) return;
    const bool negative = std::signbit(a) != std::signbit(b);
    const int exponent = x.exponent + y.exponent;
    // 21 + 32 bits each: four partial products, none above 64 bits
    const std::uint64_t x0 = x.mantissa & low_half, x1 = x.mantissa >> 32;
    const std::uint64_t y0 = y.mantissa & low_half, y1 = y.mantissa >> 32;
    if (x0 != 0 && y0 != 0) add_shifted(x0 * y0, exponent, negative);
    const std::uint64_t middle = x1 * y0 + x0 * y1;  // below 2^54
    if (middle != 0) add_shifted(middle, exponent + 32, negative);
    add_shifted(x1 * y1, exponent + 64, negative);
}

double LongSum::value() {
    if (high_ < 0) return 0.0;
    // settle carries: all digits in [0, 2^32), the sign in what is carried out at the top
    const int top = std::min(high_ + 2, digits_ - 1);
    std::int64_t carry = 0;
    for (int k = low_; k <= top; ++k) {
        const std::int64_t sum = digit_[k] + carry;
        carry = sum >> 32;  // rounds down, also for negative sums
        digit_[k] = sum - carry * (std::int64_t{1} << 32);
    }
    high_ = top;
    const bool negative = carry < 0;
    if (negative) {
        std::int64_t borrow = 1;  // two's complement: invert and add one
        for (int k = low_; k <= top; ++k) {
            const std::int64_t sum = static_cast<std::int64_t>(low_half) - digit_[k] + borrow;
            borrow = sum >> 32;
            digit_[k] = sum & static_cast<std::int64_t>(low_half);
        }
    }
    int first = top;
    while (first >= low_ && digit_[first] == 0) --first;
    if (first < low_) return 0.0;
    // the leading 64 bits, the last of them set if anything follows: then one conversion rounds, to nearest
    const auto digit = [&](int k) { return k >= low_ ? static_cast<std::uint64_t>(digit_[k]) : std::uint64_t{0}; };
    int bits = 0;
    for (std::uint64_t left = digit(first); left != 0; left >>= 1) ++bits;
    std::uint64_t leading = digit(first) << (64 - bits) | digit(first - 1) << (32 - bits) | digit(first - 2) >> bits;
    bool more = (digit(first - 2) & ((std::uint64_t{1} << bits) - 1)) != 0;
    for (int k = first - 3; k >= low_ && !more; --k) more = digit_[k] != 0;
    if (more) leading |= 1;
    double size = std::ldexp(static_cast<double>(leading), lowest_ + 32 * (first - 2) + bits);
    if (size == 0.0) size = std::numeric_limits<double>::denorm_min();
    return negative ? -size : size;
}

namespace {

template <class Entry>
void products_of_row(const ExactTask& task, LongSum& sum, double* out, const Entry& each_entry) {
    const std::ptrdiff_t d = task.rows->d, p = d + (task.constant ? 1 : 0);
    for (std::ptrdiff_t v = 0; v < task.vectors; ++v) {
        sum.clear();
        for (std::ptrdiff_t part = 0; part < task.parts_count; ++part) {
            const double* vector = task.parts + (v * task.parts_count + part) * p;
            each_entry([&](std::ptrdiff_t j, double x) { sum.add_product(vector[j], x); });
            if (task.constant) sum.add_product(vector[d], 1.0);
        }
        out[v] = sum.value();
    }
}

template <class Chunk>
void products_of_sparse_row(const ExactTask& task, LongSum& sum, double* out, const Chunk& chunk, std::ptrdiff_t i) {
    products_of_row(task, sum, out, [&](auto&& take) {
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k) take(chunk.indices[k], chunk.values[k]);
    });
}

// Compressed columns: where rows ascend and are not few, those between the first and the last of a batch are turned
// into rows together, because a search of every column for each row takes far longer.
bool turned_together(const ExactTask& task, std::ptrdiff_t first, std::ptrdiff_t last, LongSum& sum) {
    if (task.rows->layout != Layout::csc || last - first < 2) return false;
    for (std::ptrdiff_t i = first + 1; i < last; ++i)
        if (task.which[i] <= task.which[i - 1]) return false;
    const std::int64_t span = task.which[last - 1] - task.which[first] + 1;
    if (span > 64 * (last - first)) return false;
    constexpr std::int64_t kBatch = 1 << 14;
    SparseScratch sparse;
    for (std::ptrdiff_t i = first; i < last;) {
        const std::int64_t begin = task.which[i];
        const auto m = static_cast<std::ptrdiff_t>(std::min<std::int64_t>(kBatch, task.which[last - 1] + 1 - begin));
        const SparseChunk chunk = load_sparse(*task.rows, static_cast<std::ptrdiff_t>(begin), m, sparse);
        for (; i < last && task.which[i] < begin + m; ++i)
            products_of_sparse_row(task, sum, task.out + i * task.vectors, chunk,
                                   static_cast<std::ptrdiff_t>(task.which[i] - begin));
    }
    return true;
}

void exact_lane(const ExactTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    LongSum sum;
    if (turned_together(task, first, last, sum)) return;
    SparseScratch sparse;
    std::vector<double> dense(task.rows->sparse() ? 0 : static_cast<std::size_t>(task.rows->d));
    for (std::ptrdiff_t i = first; i < last; ++i) {
        double* out = task.out + i * task.vectors;
        const auto row = static_cast<std::ptrdiff_t>(task.which[i]);
        if (task.rows->sparse()) {
            products_of_sparse_row(task, sum, out, load_sparse(*task.rows, row, 1, sparse), 0);
        } else {
            const DenseChunk chunk = load_dense(*task.rows, row, 1, dense.data());
            products_of_row(task, sum, out, [&](auto&& take) {
                for (std::ptrdiff_t j = 0; j < task.rows->d; ++j) take(j, chunk.x[j]);
            });
        }
    }
}

SEPARATRIX_INLINE void bracket_chunk(const BracketTask& task, const DenseChunk& chunk, std::ptrdiff_t at) {
    const std::ptrdiff_t d = task.rows->d;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        const double* x = chunk.x + i * chunk.ld;
        // eight running sums, so that the additions do not wait for each other
        double sum[8] = {}, size[8] = {};
        std::ptrdiff_t j = 0;
        for (; j + 8 <= d; j += 8)
            for (int k = 0; k < 8; ++k) {
                const double product = task.point[j + k] * x[j + k];
                sum[k] += product;
                size[k] += std::abs(product);
            }
        double whole = task.constant ? task.point[d] : 0.0, large = std::abs(whole);
        for (; j < d; ++j) {
            const double product = task.point[j] * x[j];
            whole += product;
            large += std::abs(product);
        }
        for (int k = 0; k < 8; ++k) {
            whole += sum[k];
            large += size[k];
        }
        task.product[at - task.origin + i] = whole;
        task.magnitude[at - task.origin + i] = large;
    }
}

SEPARATRIX_INLINE void bracket_chunk(const BracketTask& task, const SparseChunk& chunk, std::ptrdiff_t at) {
    const std::ptrdiff_t d = task.rows->d;
    for (std::ptrdiff_t i = 0; i < chunk.m; ++i) {
        double whole = task.constant ? task.point[d] : 0.0, large = std::abs(whole);
        for (std::int64_t k = chunk.starts[i]; k < chunk.starts[i + 1]; ++k) {
            const double product = task.point[chunk.indices[k]] * chunk.values[k];
            whole += product;
            large += std::abs(product);
        }
        task.product[at - task.origin + i] = whole;
        task.magnitude[at - task.origin + i] = large;
    }
}

SEPARATRIX_CLONES
void bracket_lane(const BracketTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    const std::ptrdiff_t step = chunk_rows(*task.rows, first, last, 0);
    for_chunks(*task.rows, first, last, step,
               [&](const auto& chunk, std::ptrdiff_t at) SEPARATRIX_INLINE_LAMBDA { bracket_chunk(task, chunk, at); });
}

}  // namespace

void exact_products(const ExactTask& task, std::ptrdiff_t lanes, int threads) {
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        exact_lane(task, task.count * lane / lanes, task.count * (lane + 1) / lanes);
    });
}

void bracket_rows(const BracketTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                  int threads) {
    const auto edges = lane_edges(*task.rows, first, last, lanes);
    run_lanes(lanes, threads, [&](std::ptrdiff_t lane) {
        const auto k = static_cast<std::size_t>(lane);
        dispatched(bracket_lane)(task, edges[k], edges[k + 1]);
    });
}

}  // namespace separatrix
