// Rows of small tables in a byte per number, to tell without reading a row that it is no mistake.
//
// A row is x = s q + e with whole numbers |q_j| <= 127, and the weights are w = u v + r with |v_j| below 2^15, so that
//
//     <w, x> = s u <v, q> + <w, e> + <r, s q>,   where   |<w, e>| <= |w| |e|   and   |<r, s q>| <= |r| (|x| + |e|).
//
// <v, q> is a sum of whole numbers below 2^31: exact, and an eighth of the bytes. Where the bound on the signed score
// is above the margin, rounding of the score itself allowed for, the row is passed over; the mistakes stay the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "leeway.hpp"

namespace separatrix {

// What is known of a row beside its whole numbers.
struct RowSketch {
    float step;    // s
    float error;   // |e|, rounded up; infinite where nothing is known
    float length;  // |x|, rounded up
    float spare;
};

inline constexpr std::ptrdiff_t kSketchLine = 64;  // sketches begin at the lines of the cache

// Bytes of a row's sketch: the whole numbers, filled up with zeros to sixteens, and what else is known.
inline constexpr std::ptrdiff_t sketch_numbers(std::ptrdiff_t d) { return (d + 15) / 16 * 16; }
inline constexpr std::ptrdiff_t sketch_stride(std::ptrdiff_t d) {
    return sketch_numbers(d) + static_cast<std::ptrdiff_t>(sizeof(RowSketch));
}

// The first line of the cache in memory that has room for one more.
inline std::int8_t* first_line(std::int8_t* memory) {
    const auto at = reinterpret_cast<std::uintptr_t>(memory);
    return memory + (kSketchLine - at % kSketchLine) % kSketchLine;
}

void sketch_rows(const Rows& rows, std::int8_t* sketch, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                 int threads);

// Weights as they are compared with sketches; renewed whenever they change.
class QuickLook {
public:
    QuickLook(const std::int8_t* sketch, std::ptrdiff_t d, bool constant)
        : sketch_(sketch),
          d_(d),
          constant_(constant),
          whole_(sketch != nullptr ? static_cast<std::size_t>(sketch_numbers(d)) : 0) {}

    SEPARATRIX_INLINE void renew(const double* SEPARATRIX_RESTRICT w) {
        double largest = 0, squares = 0, missed = 0;
        for (std::ptrdiff_t j = 0; j < d_; ++j) {
            largest = std::max(largest, std::abs(w[j]));
            squares += w[j] * w[j];
        }
        offset_ = constant_ ? w[d_] : 0.0;
        known_ = squares > 1e-200 && squares < 1e200 && std::abs(offset_) < 1e100;
        if (!known_) return;
        unit_ = largest / std::min(32767.0, std::floor(2147483647.0 / (127.0 * static_cast<double>(d_))));
        const double shares = 1 / unit_;
        std::int16_t* SEPARATRIX_RESTRICT whole = whole_.data();
        for (std::ptrdiff_t j = 0; j < d_; ++j) {
            whole[j] = static_cast<std::int16_t>(w[j] * shares);  // towards zero: never beyond the limit
            const double rest = w[j] - unit_ * static_cast<double>(whole[j]);
            missed += rest * rest;
        }
        const double size = std::sqrt(squares);
        const double rest = (std::sqrt(missed) + 4 * kUnit * size) * (1 + 1e-9);
        const double rounding = 4 * (static_cast<double>(d_) + 32) * kUnit * (size + rest + std::abs(offset_));
        per_error_ = (size + rest) * (1 + 1e-9) + rounding;
        per_length_ = rest + rounding;
        fixed_ = rounding + kTiny;
    }

    // At most what the signed score of row i is, and of its computed value; NaN or -infinity where nothing is known.
    SEPARATRIX_INLINE double below(std::int64_t i, double sign) const {
        const std::int8_t* SEPARATRIX_RESTRICT q = sketch_ + i * sketch_stride(d_);
        const std::int16_t* SEPARATRIX_RESTRICT v = whole_.data();
        const std::ptrdiff_t count = sketch_numbers(d_);
        std::int32_t sum = 0;
        for (std::ptrdiff_t j = 0; j < count; j += 16)
            for (std::ptrdiff_t k = 0; k < 16; ++k) sum += static_cast<std::int16_t>(q[j + k]) * v[j + k];
        RowSketch row;
        std::memcpy(&row, q + count, sizeof row);
        const double score = static_cast<double>(row.step) * unit_ * static_cast<double>(sum) + offset_;
        const double error = static_cast<double>(row.error), length = static_cast<double>(row.length);
        return sign * score - (per_error_ * error + per_length_ * length + fixed_);
    }

    bool known() const { return known_; }

    SEPARATRIX_INLINE void prefetch(std::int64_t i) const {
#if defined(__GNUC__) || defined(__clang__)
        const std::int8_t* from = sketch_ + i * sketch_stride(d_);
        for (std::ptrdiff_t k = 0; k < sketch_stride(d_); k += kSketchLine) __builtin_prefetch(from + k);
#else
        (void)i;
#endif
    }

private:
    const std::int8_t* sketch_;
    std::ptrdiff_t d_;
    bool constant_, known_ = false;
    std::vector<std::int16_t> whole_;
    double unit_ = 0, offset_ = 0, per_error_ = 0, per_length_ = 0, fixed_ = 0;
};

}  // namespace separatrix
