#include "views.hpp"

#include <algorithm>
#include <cstring>

namespace separatrix {
namespace {

Type type_of(const Py_buffer& view, bool& swapped) {
    const char* format = view.format != nullptr ? view.format : "B";
    const std::uint16_t probe = 1;
    unsigned char low = 0;
    std::memcpy(&low, &probe, 1);
    const bool little = low == 1;
    swapped = false;
    while (std::strchr("@=^<>!|", *format) != nullptr && *format != '\0') {
        if (view.itemsize > 1) swapped = (*format == '<') ? !little : (*format == '>' || *format == '!') && little;
        ++format;
    }
    const char kind = std::strlen(format) == 1 ? *format : '\0';
    if (kind == 'd') return Type::f64;
    if (kind == 'f') return Type::f32;
    if (kind == '?') return Type::u8;
    const bool is_signed = kind != '\0' && std::strchr("bhilqn", kind) != nullptr;
    const bool is_unsigned = kind != '\0' && std::strchr("BHILQN", kind) != nullptr;
    if (is_signed || is_unsigned) switch (view.itemsize) {
            case 8:
                return is_signed ? Type::i64 : Type::u64;
            case 4:
                return is_signed ? Type::i32 : Type::u32;
            case 2:
                return is_signed ? Type::i16 : Type::u16;
            case 1:
                return is_signed ? Type::i8 : Type::u8;
            default:
                break;
        }
    throw nb::type_error("arrays must hold float64, float32, integers or booleans");
}

}  // namespace

View::View(nb::handle array, int dimensions) {
    if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) throw nb::python_error();
    if (view_.ndim != dimensions) {
        PyBuffer_Release(&view_);
        throw nb::value_error("an array has the wrong number of dimensions");
    }
}

View::~View() { PyBuffer_Release(&view_); }

Strip View::strip(int axis) const {
    Strip strip;
    strip.data = static_cast<const unsigned char*>(view_.buf);
    strip.stride = view_.strides[axis];
    strip.type = type_of(view_, strip.swapped);
    return strip;
}

OutDoubles hand_over(std::vector<double>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<double>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return OutDoubles(owned->data(), shape, owner);
}

void need(bool holds, const char* rule) {
    if (!holds) throw nb::value_error(rule);
}

void check_codes(const Codes& codes, std::ptrdiff_t n, std::ptrdiff_t classes, std::ptrdiff_t first,
                 std::ptrdiff_t last) {
    need(codes.size() == static_cast<std::size_t>(n), "one label per row");
    need(classes >= 1, "at least one class");
    std::int32_t low = 0, high = 0;
    {
        nb::gil_scoped_release unlocked;
        const std::int32_t* code = codes.data();
        for (std::ptrdiff_t i = first; i < last; ++i) {
            low = std::min(low, code[i]);
            high = std::max(high, code[i]);
        }
    }
    need(low >= 0 && high < classes, "a label is out of range");
}

std::ptrdiff_t origin_of(const MutableDoubles& out, const Rows& rows, std::size_t width, std::ptrdiff_t first,
                         std::ptrdiff_t last) {
    const bool all = out.size() == static_cast<std::size_t>(rows.n) * width;
    need(all || out.size() == static_cast<std::size_t>(last - first) * width, "one output per row");
    return all ? 0 : first;
}

void check_span(const Rows& rows, std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t lanes) {
    need(0 <= first && first <= last && last <= rows.n, "the span of rows is out of range");
    need(lanes >= 1, "at least one lane");
}

}  // namespace separatrix
