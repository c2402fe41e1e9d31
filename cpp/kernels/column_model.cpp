#include "column_model.hpp"

#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "quadratic.hpp"

namespace separatrix {
namespace {

constexpr std::ptrdiff_t kLanes = 16;  // of columns, which one thread scales
constexpr int kSteady = 4;             // sweeps over the support that change no sign, then conjugate gradients
constexpr int kMostSweeps = 40;        // sweeps over the support between two over all
constexpr int kMostProducts = 400;
constexpr double kShare = 0.01;  // what conjugate gradients leave of the slopes' size, squared

// One model, the point it stands at and the work it may still do.
template <class Columns>
struct Descent {
    ColumnModel& model;
    Columns columns;
    std::ptrdiff_t count;
    const double *slope, *point, *penalty;
    double left;
    std::vector<std::ptrdiff_t> listed;          // the coordinates that are not zero, or not penalised
    std::vector<double> begin, rest, move, way;  // of conjugate gradients: slopes, what is left of them, the step
    std::vector<double> image, turn;             // n each

    SEPARATRIX_INLINE double at(std::ptrdiff_t j) const { return point[j] + model.step[static_cast<std::size_t>(j)]; }

    SEPARATRIX_INLINE double slope_at(std::ptrdiff_t j) const {
        const auto k = static_cast<std::size_t>(j);
        return slope[j] + columns.product(j, model.image.data()) - model.along[k] * model.shared +
               model.ridge * model.step[k];
    }

    // Moves one coordinate to its best; what that gains. `turned` counts changes of sign.
    SEPARATRIX_INLINE double visit(std::ptrdiff_t j, int& turned) {
        const auto k = static_cast<std::size_t>(j);
        const double h = model.diagonal[k];
        left -= static_cast<double>(columns.length(j)) + 4.0;
        if (!(h > 0)) return 0.0;
        const double u = at(j), s = slope_at(j), t = best_move(s, h, u, penalty[j]);
        if (t == 0.0) return 0.0;
        left -= static_cast<double>(columns.length(j));
        const bool to_zero = t == -u;
        const double after = to_zero ? 0.0 : u + t;
        if (penalty[j] > 0 && !(u * after > 0)) ++turned;
        // a coordinate that reaches zero must be exactly zero
        model.step[k] = to_zero ? -point[j] : model.step[k] + t;
        model.shared += t * model.along[k];
        columns.add(j, t, model.image.data());
        return gain_of_move(s, h, u, t, after, penalty[j]);
    }

    SEPARATRIX_INLINE bool sweep_all() {
        int turned = 0;
        for (std::ptrdiff_t j = model.place; j < count; ++j) {
            if (left <= 0) {
                model.place = j;
                return false;
            }
            model.gain += visit(j, turned);
        }
        model.place = 0;
        return true;
    }

    SEPARATRIX_INLINE void list() {
        listed.clear();
        for (std::ptrdiff_t j = 0; j < count; ++j)
            if (at(j) != 0.0 || penalty[j] == 0.0) listed.push_back(j);
    }

    // The support, until a sweep gains little; or its signs stay and conjugate gradients take over.
    SEPARATRIX_INLINE void sweep_support(double tol) {
        int steady = 0;
        for (int round = 0; round < kMostSweeps && left > 0; ++round) {
            int turned = 0;
            double gain = 0;
            for (const std::ptrdiff_t j : listed)
                if (at(j) != 0.0 || penalty[j] == 0.0) gain += visit(j, turned);
            if (gain <= tol) return;
            steady = turned == 0 ? steady + 1 : 0;
            if (steady < kSteady) continue;
            list();
            if (!slide(tol)) return;
            steady = 0;
        }
    }

    // Conjugate gradients for the best point with these signs, and on the way there until the first sign changes.
    // Returns whether one did.
    SEPARATRIX_INLINE bool slide(double tol) {
        const auto free = listed.size();
        begin.resize(free);
        rest.resize(free);
        way.resize(free);
        move.assign(free, 0.0);
        turn.assign(model.image.size(), 0.0);
        double size = 0;
        for (std::size_t k = 0; k < free; ++k) {
            const std::ptrdiff_t j = listed[k];
            const double h = model.diagonal[static_cast<std::size_t>(j)];
            rest[k] = h > 0 ? -(slope_at(j) + (at(j) > 0 ? penalty[j] : -penalty[j])) : 0.0;
            begin[k] = -rest[k];
            way[k] = h > 0 ? rest[k] / h : 0.0;
            size += rest[k] * way[k];
            left -= static_cast<double>(columns.length(j));
        }
        const double goal = std::max(kShare * tol, 0.0);
        double moved_shared = 0;
        for (int product = 0; product < kMostProducts && size > goal && left > 0; ++product) {
            image.assign(model.image.size(), 0.0);
            double shared = 0;
            for (std::size_t k = 0; k < free; ++k) {
                columns.add(listed[k], way[k], image.data());
                shared += way[k] * model.along[static_cast<std::size_t>(listed[k])];
                left -= 2.0 * static_cast<double>(columns.length(listed[k]));
            }
            double curvature =
                dot(image.data(), image.data(), static_cast<std::ptrdiff_t>(image.size())) - shared * shared;
            for (std::size_t k = 0; k < free; ++k) curvature += model.ridge * way[k] * way[k];
            if (!(curvature > 0)) break;
            const double length = size / curvature;
            double next = 0;
            for (std::size_t k = 0; k < free; ++k) {
                const auto j = static_cast<std::size_t>(listed[k]);
                const double product_k = columns.product(listed[k], image.data()) - model.along[j] * shared;
                move[k] += length * way[k];
                rest[k] -= length * (product_k + model.ridge * way[k]);
                if (model.diagonal[j] > 0) next += rest[k] * rest[k] / model.diagonal[j];
            }
            for (std::size_t i = 0; i < turn.size(); ++i) turn[i] += length * image[i];
            moved_shared += length * shared;
            const double share = next / size;
            size = next;
            for (std::size_t k = 0; k < free; ++k) {
                const double h = model.diagonal[static_cast<std::size_t>(listed[k])];
                way[k] = (h > 0 ? rest[k] / h : 0.0) + share * way[k];
            }
        }
        double length = 1.0;
        std::ptrdiff_t first = -1;
        for (std::size_t k = 0; k < free; ++k) {
            const std::ptrdiff_t j = listed[k];
            const double u = at(j);
            if (penalty[j] > 0 && u * (u + move[k]) < 0 && -u / move[k] < length) {
                length = -u / move[k];
                first = j;
            }
        }
        if (first >= 0 && clip()) return true;
        for (std::size_t k = 0; k < free; ++k) {
            const std::ptrdiff_t j = listed[k];
            double& step = model.step[static_cast<std::size_t>(j)];
            step = j == first ? -point[j] : step + length * move[k];
        }
        for (std::size_t i = 0; i < turn.size(); ++i) model.image[i] += length * turn[i];
        model.shared += length * moved_shared;
        return first >= 0;
    }

    // The whole of a move, coordinates whose sign would change left at zero, if that lowers the model.
    SEPARATRIX_INLINE bool clip() {
        image.assign(model.image.size(), 0.0);
        double change = 0, shared = 0;
        for (std::size_t k = 0; k < listed.size(); ++k) {
            const std::ptrdiff_t j = listed[k];
            const double u = at(j);
            if (penalty[j] > 0 && u * (u + move[k]) < 0) move[k] = -u;
            columns.add(j, move[k], image.data());
            shared += move[k] * model.along[static_cast<std::size_t>(j)];
            change += begin[k] * move[k] + 0.5 * model.ridge * move[k] * move[k];
            left -= static_cast<double>(columns.length(j));
        }
        change += 0.5 * (dot(image.data(), image.data(), static_cast<std::ptrdiff_t>(image.size())) - shared * shared);
        if (!(change < 0)) return false;
        for (std::size_t k = 0; k < listed.size(); ++k) {
            const std::ptrdiff_t j = listed[k];
            double& step = model.step[static_cast<std::size_t>(j)];
            step = move[k] == -at(j) ? -point[j] : step + move[k];
        }
        for (std::size_t i = 0; i < image.size(); ++i) model.image[i] += image[i];
        model.shared += shared;
        return true;
    }

    SEPARATRIX_INLINE bool run(double tol) {
        while (left > 0) {
            if (!sweep_all()) return false;
            const double gain = model.gain;
            model.gain = 0;
            if (gain <= tol) return true;
            list();
            sweep_support(tol);
        }
        return false;
    }
};

SEPARATRIX_CLONES
bool descend_dense(const PackedColumns& packed, ColumnModel& model, const double* slope, const double* point,
                   const double* penalty, double tol, double most) {
    const DenseColumns columns{packed.n, model.scaled.data()};
    Descent<DenseColumns> descent{model, columns, packed.count, slope, point, penalty, most,
                                  {},    {},      {},           {},    {},    {},      {}};
    return descent.run(tol);
}

SEPARATRIX_CLONES
bool descend_sparse(const PackedColumns& packed, ColumnModel& model, const double* slope, const double* point,
                    const double* penalty, double tol, double most) {
    const SparseColumns columns{packed.starts.data(), packed.rows.data(), model.scaled.data()};
    Descent<SparseColumns> descent{model, columns, packed.count, slope, point, penalty, most,
                                   {},    {},      {},           {},    {},    {},      {}};
    return descent.run(tol);
}

void renew_some(const PackedColumns& columns, const double* root, std::ptrdiff_t first, std::ptrdiff_t last,
                ColumnModel& model) {
    for (std::ptrdiff_t j = first; j < last; ++j) {
        const std::ptrdiff_t begin = columns.begin(j), length = columns.length(j);
        const double* from = columns.values.data() + begin;
        double* to = model.scaled.data() + begin;
        double sum[4] = {0, 0, 0, 0}, squares[4] = {0, 0, 0, 0};
        const std::int32_t* rows = columns.sparse ? columns.rows.data() + begin : nullptr;
        for (std::ptrdiff_t k = 0; k < length; ++k) {
            const double r = root[rows != nullptr ? rows[k] : k], v = r * from[k];
            to[k] = v;
            sum[k & 3] += r * v;
            squares[k & 3] += v * v;
        }
        const auto at = static_cast<std::size_t>(j);
        double square = (squares[0] + squares[1]) + (squares[2] + squares[3]);
        if (model.constant && model.total > 0) {
            const double along = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / std::sqrt(model.total);
            model.along[at] = along;
            square = std::max(square - along * along, 0.0);
        }
        model.diagonal[at] = square + model.ridge;
    }
}

}  // namespace

void renew(const PackedColumns& columns, const double* curvature, int threads, ColumnModel& model) {
    const auto n = static_cast<std::size_t>(columns.n), count = static_cast<std::size_t>(columns.count);
    std::vector<double> root(n);
    model.total = 0;
    for (std::size_t i = 0; i < n; ++i) {
        root[i] = std::sqrt(curvature[i]);
        model.total += curvature[i];
    }
    if (model.scaled.size() != columns.values.size()) model.scaled.clear();
    model.scaled.resize(columns.values.size());
    model.along.assign(count, 0.0);
    model.diagonal.assign(count, 0.0);
    model.step.assign(count, 0.0);
    model.image.assign(n, 0.0);
    run_lanes(kLanes, threads, [&](std::ptrdiff_t lane) {
        renew_some(columns, root.data(), columns.count * lane / kLanes, columns.count * (lane + 1) / kLanes, model);
    });
}

bool descend_columns(const PackedColumns& columns, ColumnModel& model, const double* slope, const double* point,
                     const double* penalty, double tol, double most) {
    const auto function = dispatched(columns.sparse ? descend_sparse : descend_dense);
    return function(columns, model, slope, point, penalty, tol, most);
}

}  // namespace separatrix
