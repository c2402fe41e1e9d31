// Products of matrices of a few hundred rows, as a network's layers and their gradients are: tiles of sums in registers,
// panels of the right factor packed for the first caches.
#pragma once

#include <cstddef>

namespace separatrix {

// A matrix wherever it lies: entry (i, j) at at[i * row + j * column]; turning it swaps the two.
template <class Real>
struct Factor {
    const Real* at = nullptr;
    std::ptrdiff_t row = 0, column = 0;
};

inline constexpr std::ptrdiff_t kPanelDepth = 1024;  // entries of a sum between which the panel is packed anew
inline constexpr std::ptrdiff_t kPanelBytes = kPanelDepth * 128;

// out (m x n, rows ld apart) = left (m x k) right (k x n), or += where `add`. Every entry is one chain of
// multiply-adds in the order of k, begun at 0 or at what `out` holds: so neither the cut into rows, columns and tiles
// nor a sum in several calls changes a bit; only the instruction set does. `panel` has room for kPanelBytes.
void multiply(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<float> left, Factor<float> right, bool add,
              float* out, std::ptrdiff_t ld, float* panel) noexcept;
void multiply(std::ptrdiff_t m, std::ptrdiff_t k, std::ptrdiff_t n, Factor<double> left, Factor<double> right, bool add,
              double* out, std::ptrdiff_t ld, double* panel) noexcept;

}  // namespace separatrix
