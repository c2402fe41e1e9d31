// The order in which rows are visited.
#pragma once

#include <cstddef>
#include <cstdint>

#include "portable.hpp"

namespace separatrix {

// Row numbers in the order of their visit, in 32 bits where they fit; without any 0, 1, 2, …
struct Order {
    const std::int32_t* narrow = nullptr;
    const std::int64_t* wide = nullptr;

    SEPARATRIX_INLINE std::ptrdiff_t operator[](std::ptrdiff_t k) const {
        return narrow != nullptr ? narrow[k] : wide != nullptr ? static_cast<std::ptrdiff_t>(wide[k]) : k;
    }
    bool plain() const { return narrow == nullptr && wide == nullptr; }
};

}  // namespace separatrix
