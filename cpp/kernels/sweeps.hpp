// Ordered passes: rows are visited one after the other, and a visit may change the weights.
//
// The perceptron's rule: a visit to a row x of sign s = ±1 and weight a is a mistake when
// s(<w, x> + b) <= margin, and then w += eta s a x, b += eta s a. Nothing else changes w, so a
// row's score can be bounded without reading the row: if its signed score at some reference
// weights was m, it is at least m - |x| |w - reference| now, so the row is no mistake while w is
// less than (m - margin)/|x|, its leeway, away. Such rows are skipped. The proof covers rounding, so the mistakes, and with them every bit of
// w, are those of the plain algorithm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"
#include "order.hpp"
#include "sketch.hpp"

namespace separatrix {

// What a sweep counts, as float64 numbers that the caller keeps from call to call.
enum SweepCounter : int {
    kVisits,       // visits so far, skipped ones included
    kMistakes,     // updates so far
    kError,        // sum of a * max(0, margin - s z) over the mistakes
    kScore,        // z of the last row that was read
    kLastMistake,  // number of the visit that was the last mistake
    kLongestRun,   // longest run of visits without a mistake that ended in one
    kSkipped,      // visits that needed no reading; a look at a sketch is an eighth of one
    kTruncated,    // L1: what every weight should have lost by now
    kWrong,        // sum of a over visits that predict the other class; a score of zero predicts the positive one
    kCounters
};

struct PerceptronTask {
    const Rows* rows = nullptr;
    const std::int32_t* codes = nullptr;
    std::int32_t positive = 1;        // the class of sign +1
    const double* weights = nullptr;  // none: all one
    Order order;
    bool constant = false;
    double rate = 1;
    const double* rates = nullptr;  // one per visit of this call, instead of `rate`
    double margin = 0;
    double shrink = 0;               // L2: w *= 1 - eta shrink at every visit
    double truncate = 0;             // L1: w loses eta truncate at every visit, and stops at zero
    std::int64_t average_from = -1;  // visits before averaging begins; negative: no average

    double* point = nullptr;      // p
    double* counters = nullptr;   // kCounters
    double* run_point = nullptr;  // p, or none: the weights of the longest run
    double* total = nullptr;      // p, if averaging: sum of (visits before) * update; with a penalty of w itself
    double* lost = nullptr;       // d, with an L1 penalty: what each weight did lose

    // skipping; all or none
    float* leeway = nullptr;              // n: no mistake while w is less than this far from the reference
    const float* lengths = nullptr;       // n: |x|, rounded up, the constant included
    const double* reference = nullptr;    // p
    const std::int8_t* sketch = nullptr;  // dense rows only, or none

    std::ptrdiff_t p() const { return rows->d + (constant ? 1 : 0); }
};

// Visits first … last-1 of the order.
void sweep_perceptron(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last);

// Fisher and Yates' shuffle; equal seeds give equal orders.
void shuffle(std::int32_t* order, std::ptrdiff_t count, std::uint64_t seed) noexcept;
void shuffle(std::int64_t* order, std::ptrdiff_t count, std::uint64_t seed) noexcept;

}  // namespace separatrix
