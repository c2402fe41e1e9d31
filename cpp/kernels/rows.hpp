// Rows wherever they lie: a strided array of any numeric type, a list of columns,
// or compressed sparse rows or columns. A chunk of rows is brought to float64 in
// scratch memory that stays in cache; float64 rows are used in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "portable.hpp"

namespace separatrix {

enum class Type : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8, bit };

inline std::size_t bytes_of(Type type) {
    switch (type) {
        case Type::f64:
        case Type::i64:
        case Type::u64:
            return 8;
        case Type::f32:
        case Type::i32:
        case Type::u32:
            return 4;
        case Type::i16:
        case Type::u16:
            return 2;
        default:
            return 1;
    }
}

// A run of equally spaced values: address, distance in bytes, type, byte order.
struct Strip {
    const unsigned char* data = nullptr;
    std::ptrdiff_t stride = 0;
    Type type = Type::f64;
    bool swapped = false;
    std::ptrdiff_t bit_offset = 0;  // Type::bit only: where the first value stands
};

// A column of a frame may consist of several pieces (Arrow's chunks).
struct Piece {
    std::ptrdiff_t first_row = 0;
    Strip strip;
};
using Column = std::vector<Piece>;

enum class Layout : std::uint8_t { dense, columns, csr, csc };

struct Rows {
    Layout layout = Layout::dense;
    std::ptrdiff_t n = 0;
    std::ptrdiff_t d = 0;
    // dense: strip.stride is the distance between columns
    Strip strip;
    std::ptrdiff_t row_stride = 0;
    // columns
    std::vector<Column> columns;
    // sparse: starts has n+1 (csr) or d+1 (csc) entries
    Strip starts, indices, values;

    bool sparse() const { return layout == Layout::csr || layout == Layout::csc; }
};

template <class T>
SEPARATRIX_INLINE T read_as(const unsigned char* at, bool swapped) {
    T value;
    if (swapped) {
        unsigned char bytes[sizeof(T)];
        for (std::size_t k = 0; k < sizeof(T); ++k) bytes[k] = at[sizeof(T) - 1 - k];
        std::memcpy(&value, bytes, sizeof(T));
    } else {
        std::memcpy(&value, at, sizeof(T));  // tolerates unaligned addresses
    }
    return value;
}

template <class From, class To>
SEPARATRIX_INLINE void convert(const Strip& from, std::ptrdiff_t first, std::ptrdiff_t count, To* to,
                               std::ptrdiff_t step) {
    const unsigned char* at = from.data + first * from.stride;
    if (from.swapped) {
        for (std::ptrdiff_t k = 0; k < count; ++k, at += from.stride)
            to[k * step] = static_cast<To>(read_as<From>(at, true));
    } else if (from.stride == static_cast<std::ptrdiff_t>(sizeof(From)) && step == 1) {
        for (std::ptrdiff_t k = 0; k < count; ++k)
            to[k] = static_cast<To>(read_as<From>(at + k * static_cast<std::ptrdiff_t>(sizeof(From)), false));
    } else {
        for (std::ptrdiff_t k = 0; k < count; ++k, at += from.stride)
            to[k * step] = static_cast<To>(read_as<From>(at, false));
    }
}

// Values first … first+count-1 of a strip, written to[0], to[step], to[2 step] …
template <class To>
SEPARATRIX_INLINE void load(const Strip& from, std::ptrdiff_t first, std::ptrdiff_t count, To* to,
                            std::ptrdiff_t step = 1) {
    switch (from.type) {
        case Type::f64:
            convert<double>(from, first, count, to, step);
            break;
        case Type::f32:
            convert<float>(from, first, count, to, step);
            break;
        case Type::i64:
            convert<std::int64_t>(from, first, count, to, step);
            break;
        case Type::i32:
            convert<std::int32_t>(from, first, count, to, step);
            break;
        case Type::i16:
            convert<std::int16_t>(from, first, count, to, step);
            break;
        case Type::i8:
            convert<std::int8_t>(from, first, count, to, step);
            break;
        case Type::u64:
            convert<std::uint64_t>(from, first, count, to, step);
            break;
        case Type::u32:
            convert<std::uint32_t>(from, first, count, to, step);
            break;
        case Type::u16:
            convert<std::uint16_t>(from, first, count, to, step);
            break;
        case Type::u8:
            convert<std::uint8_t>(from, first, count, to, step);
            break;
        case Type::bit:
            for (std::ptrdiff_t k = 0; k < count; ++k) {
                const std::ptrdiff_t bit = from.bit_offset + first + k;
                to[k * step] = static_cast<To>((from.data[bit >> 3] >> (bit & 7)) & 1);
            }
            break;
    }
}

SEPARATRIX_INLINE bool usable_in_place(const Strip& strip, Type type) {
    const auto width = static_cast<std::ptrdiff_t>(bytes_of(type));
    return strip.type == type && !strip.swapped && strip.stride == width &&
           reinterpret_cast<std::uintptr_t>(strip.data) % static_cast<std::uintptr_t>(width) == 0;
}

// m rows of d values, row i at x + i*ld.
template <class T>
struct DenseChunkOf {
    const T* x = nullptr;
    std::ptrdiff_t ld = 0;
    std::ptrdiff_t m = 0;
};
using DenseChunk = DenseChunkOf<double>;
using FloatChunk = DenseChunkOf<float>;  // in place; every value becomes a double when it is read

inline bool floats_in_place(const Rows& rows) {
    const std::ptrdiff_t width = sizeof(float);
    return rows.layout == Layout::dense && rows.d > 0 && usable_in_place(rows.strip, Type::f32) &&
           rows.row_stride % width == 0;
}

inline FloatChunk floats_of(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t m) {
    const unsigned char* data = rows.strip.data + first * rows.row_stride;
    return {reinterpret_cast<const float*>(data), rows.row_stride / static_cast<std::ptrdiff_t>(sizeof(float)), m};
}

SEPARATRIX_INLINE DenseChunk load_dense(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t m, double* scratch) {
    if (rows.layout == Layout::columns) {
        for (std::ptrdiff_t j = 0; j < rows.d; ++j) {
            const Column& column = rows.columns[static_cast<std::size_t>(j)];
            const auto after =
                std::upper_bound(column.begin(), column.end(), first,
                                 [](std::ptrdiff_t row, const Piece& piece) { return row < piece.first_row; });
            auto p = static_cast<std::size_t>(after - column.begin()) - 1;
            std::ptrdiff_t at = first;
            while (at < first + m) {
                std::ptrdiff_t end = first + m;
                if (p + 1 < column.size() && column[p + 1].first_row < end) end = column[p + 1].first_row;
                load(column[p].strip, at - column[p].first_row, end - at, scratch + (at - first) * rows.d + j, rows.d);
                at = end;
                ++p;
            }
        }
        return {scratch, rows.d, m};
    }
    Strip strip = rows.strip;
    strip.data += first * rows.row_stride;
    const std::ptrdiff_t width = sizeof(double);
    if (rows.d > 0 && (rows.d == 1 || strip.stride == width) && strip.type == Type::f64 && !strip.swapped &&
        rows.row_stride % width == 0 && reinterpret_cast<std::uintptr_t>(strip.data) % alignof(double) == 0)
        return {reinterpret_cast<const double*>(strip.data), rows.row_stride / width, m};
    const bool by_rows = strip.stride == static_cast<std::ptrdiff_t>(bytes_of(strip.type));
    if (by_rows) {
        for (std::ptrdiff_t i = 0; i < m; ++i, strip.data += rows.row_stride)
            load(strip, 0, rows.d, scratch + i * rows.d);
    } else {
        Strip column = strip;
        column.stride = rows.row_stride;
        for (std::ptrdiff_t j = 0; j < rows.d; ++j, column.data += strip.stride)
            load(column, 0, m, scratch + j, rows.d);
    }
    return {scratch, rows.d, m};
}

}  // namespace separatrix
