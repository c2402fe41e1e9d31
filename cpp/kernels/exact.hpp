// Exact sums of products of float64 numbers, and brackets that say when they are needed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes.hpp"

namespace separatrix {

// A fixed-point number wide enough for any sum of fewer than 2^29 products of finite
// float64 numbers: base 2^32 digits from 2^-2148 upwards, carries settled at the end.
// No rounding, no overflow, no underflow.
class LongSum {
public:
    void clear();
    void add_product(double a, double b);  // both finite
    // The sum rounded to about 52 bits, its sign exact; ±inf where it overflows, and the
    // smallest number of the right sign where it underflows. Settles the carries.
    double value();

private:
    static constexpr int digits_ = 140;
    static constexpr int lowest_ = -2148;  // exponent of digit 0
    std::int64_t digit_[digits_] = {};
    int low_ = digits_, high_ = -1;  // digits touched so far

    void add_shifted(std::uint64_t part, int exponent, bool negative);
};

struct ExactTask {
    const Rows* rows = nullptr;
    const std::int64_t* which = nullptr;  // row numbers
    std::ptrdiff_t count = 0;
    const double* parts = nullptr;  // vectors x parts_count x p: a vector is the sum of its parts
    std::ptrdiff_t vectors = 1;
    std::ptrdiff_t parts_count = 1;
    bool constant = false;
    double* out = nullptr;  // count x vectors
};

// ⟨v, row⟩ of each chosen row with each vector, exact but for one last rounding.
void exact_products(const ExactTask& task, std::ptrdiff_t lanes, int threads);

struct BracketTask {
    const Rows* rows = nullptr;
    const double* point = nullptr;  // p
    bool constant = false;
    double* product = nullptr;    // ⟨v, row⟩ in floating point, of rows origin, origin + 1, …
    double* magnitude = nullptr;  // Σ|v_j x_j|, which bounds the error of the product
    std::ptrdiff_t origin = 0;
};

void bracket_rows(const BracketTask& task, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes,
                  int threads);

}  // namespace separatrix
