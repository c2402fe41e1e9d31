#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "../kernels/maps.hpp"
#include "views.hpp"

namespace separatrix {
namespace {

HeldRows dense(nb::handle array) {
    HeldRows held;
    held.views.push_back(std::make_shared<View>(array, 2));
    const View& view = *held.views.back();
    held.rows.layout = Layout::dense;
    held.rows.n = view.length(0);
    held.rows.d = view.length(1);
    held.rows.strip = view.strip(1);
    held.rows.row_stride = view.stride(0);
    return held;
}

// Each column is a list of pieces (first_row, array, bit_offset), in order; a piece
// ends where the next begins. A bit_offset of -1 means plain values, otherwise the
// array is a bitmap of bytes and the offset says where its first value stands.
using PieceList = std::vector<std::tuple<std::ptrdiff_t, nb::object, std::ptrdiff_t>>;

HeldRows columns(const std::vector<PieceList>& lists, std::ptrdiff_t n) {
    HeldRows held;
    held.rows.layout = Layout::columns;
    held.rows.n = n;
    held.rows.d = static_cast<std::ptrdiff_t>(lists.size());
    for (const PieceList& list : lists) {
        Column column;
        std::ptrdiff_t reached = 0;
        for (const auto& [first_row, array, bit_offset] : list) {
            need(first_row == 0 ? column.empty() : first_row > column.back().first_row && first_row <= reached,
                 "the pieces of a column must follow each other");
            held.views.push_back(std::make_shared<View>(array, 1));
            const View& view = *held.views.back();
            Piece piece{first_row, view.strip(0)};
            std::ptrdiff_t length = view.length(0);
            if (bit_offset >= 0) {
                need(piece.strip.type == Type::u8 && piece.strip.stride == 1, "a bitmap is an array of bytes");
                piece.strip.type = Type::bit;
                piece.strip.bit_offset = bit_offset;
                length = length * 8 - bit_offset;
            }
            reached = first_row + length;
            column.push_back(piece);
        }
        need(!column.empty() && reached >= n, "a column is shorter than the table");
        held.rows.columns.push_back(std::move(column));
    }
    return held;
}

HeldRows sparse(nb::handle starts, nb::handle indices, nb::handle values, std::ptrdiff_t n, std::ptrdiff_t d,
                bool by_rows) {
    HeldRows held;
    for (nb::handle array : {starts, indices, values}) held.views.push_back(std::make_shared<View>(array, 1));
    held.rows.layout = by_rows ? Layout::csr : Layout::csc;
    held.rows.n = n;
    held.rows.d = d;
    held.rows.starts = held.views[0]->strip(0);
    held.rows.indices = held.views[1]->strip(0);
    held.rows.values = held.views[2]->strip(0);
    held.stored = std::min(held.views[1]->length(0), held.views[2]->length(0));
    need(n >= 0 && d >= 0 && d <= 2147483646, "a sparse matrix may have at most 2**31 - 2 columns");
    need(held.views[0]->length(0) == (by_rows ? n : d) + 1, "indptr must have one entry more than lines");
    return held;
}

std::string fault_of(const HeldRows& held, std::ptrdiff_t lanes, int threads) {
    SparseFault fault = SparseFault::none;
    {
        nb::gil_scoped_release unlocked;
        fault = check_sparse(held.rows, held.stored, lanes, threads);
    }
    switch (fault) {
        case SparseFault::starts:
            return "starts";
        case SparseFault::range:
            return "range";
        case SparseFault::order:
            return "order";
        default:
            return "";
    }
}

OutDoubles gather(const HeldRows& held, RowNumbers which) {
    need(!held.rows.sparse(), "gather reads dense rows");
    const auto count = static_cast<std::ptrdiff_t>(which.size());
    for (std::ptrdiff_t k = 0; k < count; ++k)
        need(which.data()[k] >= 0 && which.data()[k] < held.rows.n, "a row number is out of range");
    std::vector<double> out(static_cast<std::size_t>(count * held.rows.d));
    {
        nb::gil_scoped_release unlocked;
        gather_rows(held.rows, which.data(), count, out.data());
    }
    return hand_over(std::move(out), {static_cast<std::size_t>(count), static_cast<std::size_t>(held.rows.d)});
}

}  // namespace

void bind_rows(nb::module_& module) {
    nb::class_<HeldRows>(module, "Rows", "Rows where they lie: dense, a list of columns, or sparse.")
        .def_static("dense", &dense, nb::arg("array"))
        .def_static("columns", &columns, nb::arg("pieces"), nb::arg("n"))
        .def_static("sparse", &sparse, nb::arg("starts"), nb::arg("indices"), nb::arg("values"), nb::arg("n"),
                    nb::arg("d"), nb::arg("by_rows"))
        .def("fault", &fault_of, nb::arg("lanes"), nb::arg("threads"),
             "'' or what is wrong with a sparse matrix: 'starts', 'range', 'order'.")
        .def("gather", &gather, nb::arg("which"), "Dense rows by number, as float64.")
        .def_prop_ro("n", [](const HeldRows& held) { return held.rows.n; })
        .def_prop_ro("d", [](const HeldRows& held) { return held.rows.d; });
}

}  // namespace separatrix
