// The last steps and how gradients changed along them, on top of a first matrix: what BFGS makes of it, by two loops.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "triangles.hpp"

namespace separatrix {

// The first matrix: the inverse of a diagonal, or a Cholesky factor (p x p, by columns).
struct Guide {
    std::vector<double> inverse;
    const double* lower = nullptr;
};

class Secants {
public:
    static constexpr double kLeastCurvature = 1e-14;  // of a pair's lengths; below it is rounding

    Secants(Guide guide, std::ptrdiff_t p, std::size_t most) : guide_(std::move(guide)), p_(p), most_(most) {}

    SEPARATRIX_INLINE void learn(std::vector<double> step, std::vector<double> change) {
        const double product = dot(step.data(), change.data(), p_);
        const double lengths = std::sqrt(dot(step.data(), step.data(), p_) * dot(change.data(), change.data(), p_));
        if (!(product > kLeastCurvature * lengths)) return;
        std::vector<double> image = change;
        solve_first(image);
        scale_ = product / dot(change.data(), image.data(), p_);
        if (products_.size() == most_) {
            steps_.erase(steps_.begin());
            changes_.erase(changes_.begin());
            products_.erase(products_.begin());
        }
        steps_.push_back(std::move(step));
        changes_.push_back(std::move(change));
        products_.push_back(product);
    }

    // -B^-1 gradient.
    SEPARATRIX_INLINE std::vector<double> step(const std::vector<double>& gradient) const {
        std::vector<double> q = gradient, along(products_.size());
        for (std::size_t k = products_.size(); k-- > 0;) {
            along[k] = dot(steps_[k].data(), q.data(), p_) / products_[k];
            add_scaled(-along[k], changes_[k].data(), q.data(), p_);
        }
        solve_first(q);
        for (double& each : q) each *= scale_;
        for (std::size_t k = 0; k < products_.size(); ++k) {
            const double back = along[k] - dot(changes_[k].data(), q.data(), p_) / products_[k];
            add_scaled(back, steps_[k].data(), q.data(), p_);
        }
        for (double& each : q) each = -each;
        return q;
    }

    // How many pairs, and all of them one after the other: for whoever goes on from here.
    std::ptrdiff_t hand_over(std::vector<double>& steps, std::vector<double>& changes) const {
        for (const auto& each : steps_) steps.insert(steps.end(), each.begin(), each.end());
        for (const auto& each : changes_) changes.insert(changes.end(), each.begin(), each.end());
        return static_cast<std::ptrdiff_t>(products_.size());
    }

    const Guide& guide() const { return guide_; }

private:
    SEPARATRIX_INLINE void solve_first(std::vector<double>& x) const {
        if (guide_.lower != nullptr)
            solve_triangles(guide_.lower, p_, x.data());
        else
            for (std::size_t j = 0; j < x.size(); ++j) x[j] *= guide_.inverse[j];
    }

    Guide guide_;
    std::ptrdiff_t p_;
    std::size_t most_;
    double scale_ = 1.0;
    std::vector<std::vector<double>> steps_, changes_;
    std::vector<double> products_;
};

}  // namespace separatrix
