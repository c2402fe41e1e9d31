#include "quick_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "secants.hpp"

namespace separatrix {

namespace {

using Vector = std::vector<double>;

constexpr std::size_t kAskAfter = 3;  // passes after which decrements tell how fast they fall
constexpr double kEnough = 1e-4;      // of the fall that a slope promises (Armijo)
constexpr double kShortest = 1.0 / (1 << 20);
constexpr double kWorth = 0.8;  // a change must promise at most this share of the cost of going on
constexpr double kAhead = 2.0;  // and cost at most so many times what was spent

struct Evaluation {
    Vector point, gradient, second;  // second: the Hessian's upper triangle (side x side), or its diagonal
    double value = 0, norm = 0, mistakes = 0;
};

class Objective {
public:
    explicit Objective(const QuickStart& start) : start_(start), p_(start.task.p()), d_(start.task.rows->d) {}

    Evaluation operator()(Vector point, bool curvature, bool diagonal) const {
        const double* shift = start_.task.shift;
        Vector raw = point;
        if (start_.task.constant && shift != nullptr) raw.back() -= dot(point.data(), shift, d_);
        LogisticTask task = start_.task;
        task.points = raw.data();
        task.want_curvature = curvature;
        task.want_diagonal = diagonal;
        Total total = logistic_total(task, 0, task.rows->n, start_.lanes, start_.threads);
        const double* sums = total.sums.data();
        Evaluation here;
        here.gradient.assign(sums + kHeader, sums + kHeader + p_);
        const double of_constant = start_.task.constant ? here.gradient.back() : 0.0;
        for (std::ptrdiff_t j = 0; j < p_; ++j) {
            double& g = here.gradient[static_cast<std::size_t>(j)];
            if (j < d_ && shift != nullptr) g -= of_constant * shift[j];
            g /= start_.weight;
            if (j < d_) g += start_.strength * point[static_cast<std::size_t>(j)];
        }
        const double squared = dot(point.data(), point.data(), d_);
        here.value = sums[kLoss] / start_.weight + 0.5 * start_.strength * squared;
        here.norm = std::sqrt(squared);
        here.mistakes = sums[kMistakes];
        if (curvature || diagonal)
            here.second.assign(sums + kHeader + p_, sums + static_cast<std::ptrdiff_t>(task.stride()));
        here.point = std::move(point);
        return here;
    }

    std::ptrdiff_t size() const { return p_; }
    std::ptrdiff_t columns() const { return d_; }
    const QuickStart& start() const { return start_; }

private:
    const QuickStart& start_;
    std::ptrdiff_t p_, d_;
};

// The first of start + step, step/2, step/4, … that lowers the value enough; as solvers/line_search does it.
bool backtrack(const Objective& objective, const Evaluation& from, const Vector& step, double descent, bool curvature,
               Evaluation& found) {
    const double noise = 1e-13 * std::fabs(from.value);
    for (double length = 1.0; length > kShortest; length *= 0.5) {
        Vector point = from.point;
        add_scaled(length, step.data(), point.data(), objective.size());
        Evaluation trial = objective(std::move(point), curvature, false);
        if (std::isfinite(trial.value)) {
            const double slope = std::fabs(dot(trial.gradient.data(), step.data(), objective.size()));
            if (trial.value <= from.value + kEnough * length * descent ||
                (trial.value <= from.value + noise && slope <= 0.9 * std::fabs(descent))) {
                found = std::move(trial);
                return true;
            }
            if (-descent * length <= noise) return false;
        }
    }
    return false;
}

// -H^-1 g from the Hessian's sums; false where it has no factor.
bool newton_step(const Objective& objective, const Evaluation& here, Vector& step) {
    const std::ptrdiff_t p = objective.size(), side = objective.start().task.hessian_side();
    Vector a(static_cast<std::size_t>(p * p));
    for (std::ptrdiff_t j = 0; j < p; ++j)
        for (std::ptrdiff_t i = j; i < p; ++i)
            a[static_cast<std::size_t>(j * p + i)] =
                here.second[static_cast<std::size_t>(j * side + i)] / objective.start().weight;
    for (std::ptrdiff_t j = 0; j < objective.columns(); ++j)
        a[static_cast<std::size_t>(j * p + j)] += objective.start().strength;
    if (!cholesky(a.data(), p)) return false;
    step = here.gradient;
    for (double& each : step) each = -each;
    solve_triangles(a.data(), p, step.data());
    return true;
}

Guide first_guide(const Objective& objective, const Evaluation& here) {
    const QuickStart& start = objective.start();
    if (start.newton || start.lower != nullptr) return {{}, start.lower};
    Vector inverse = here.second;
    for (std::size_t j = 0; j < inverse.size(); ++j) {
        inverse[j] /= start.weight;
        if (static_cast<std::ptrdiff_t>(j) < objective.columns()) inverse[j] += start.strength;
        inverse[j] = inverse[j] > 0.0 ? 1.0 / inverse[j] : 1.0;
    }
    return {std::move(inverse), nullptr};
}

void record(Started& out, const Evaluation& here, bool keep) {
    if (!keep) out.points.clear();
    out.points.insert(out.points.end(), here.point.begin(), here.point.end());
    out.values.push_back(here.value);
    out.norms.push_back(here.norm);
    out.mistakes.push_back(here.mistakes);
    ++out.passes;
}

// How many passes make a decrement `needed` (a logarithm) times smaller.
double passes_until(double needed, double rate) {
    if (!(rate < 1.0)) return std::numeric_limits<double>::infinity();
    return std::max(needed, 0.0) / -std::log(std::max(rate, 1e-6));
}

// The mean factor of a pass over the last few, or the last third: decrements swing. NaN where they are too few.
double rate_of(const Vector& decrements) {
    const std::size_t k = decrements.size();
    const std::size_t over = std::max(kAskAfter, k / 3);
    if (k <= over) return std::numeric_limits<double>::quiet_NaN();
    return std::pow(decrements[k - 1] / decrements[k - 1 - over], 1.0 / static_cast<double>(over));
}

// The length of a typical row by the diagonal at zero, a quarter of the mean square in each column; 0 where that is unknown.
double row_length(const Objective& objective, const Guide& guide) {
    double squared = 0.0;
    if (!guide.inverse.empty())
        for (std::ptrdiff_t j = 0; j < objective.columns(); ++j)
            squared += 4.0 / guide.inverse[static_cast<std::size_t>(j)];
    return std::sqrt(squared);
}

// Whether a few passes more would prove the point by its gradient alone for less than another proof costs: with the slope
// g0 of the constant, (|g| + |row| |g0|)^2 / 2 strength is about what certificates/iterative makes of no direction.
bool worth_shortening(const Objective& objective, const Evaluation& here, const Vector& decrements, double row) {
    const QuickStart& start = objective.start();
    const double* g = here.gradient.data();
    double size = std::sqrt(dot(g, g, objective.columns()));
    if (start.task.constant) size += row * std::fabs(g[objective.columns()]);
    const double needed = std::log(size * size / (start.strength * start.tol * std::min(here.value, 1.0)));
    return needed > 0.0 && passes_until(needed, rate_of(decrements)) <= start.proof;
}

// The offer that costs less than going on, or -1. The rate is that of the last few passes; at the very start it is a guess,
// and only an offer that leaves nothing to do may rest on that.
std::ptrdiff_t best_offer(const QuickStart& start, const Vector& decrements, double goal) {
    const std::size_t k = decrements.size();
    const bool guess = k == 1 && start.spent == 0.0;
    if (!guess && k <= kAskAfter) return -1;
    const double rate = guess ? start.unknown : rate_of(decrements);
    const double needed = std::log(decrements[k - 1] / goal), spent = start.spent + static_cast<double>(k);
    double least = kWorth * passes_until(needed, rate), any = least;  // of those that may be taken now, and of all
    std::ptrdiff_t best = -1;
    for (std::size_t at = 0; at < start.offers.size(); ++at) {
        const Offer& offer = start.offers[at];
        const bool whole = offer.rate == 0.0, quicker = offer.rate > 1.0;
        const double left = quicker ? passes_until(needed, rate) / offer.rate : passes_until(needed, offer.rate);
        const double cost = offer.price + (whole ? 0.0 : left);
        const bool now = guess ? whole : offer.price <= kAhead * spent;
        if (now && cost < (quicker ? std::min(least, any) : least)) {
            least = cost;
            best = static_cast<std::ptrdiff_t>(at);
        }
        any = std::min(any, cost);
    }
    return best;
}

}  // namespace

SEPARATRIX_CLONES
Started quick_start(const QuickStart& start, const double* begin) {
    const Objective objective(start);
    Started out;
    Evaluation here =
        objective(Vector(begin, begin + objective.size()), start.newton, !start.newton && start.lower == nullptr);
    Evaluation next;
    Secants secants(first_guide(objective, here), objective.size(), start.memory);
    const double row = row_length(objective, secants.guide());
    Vector step, decrements;
    while (std::isfinite(here.value)) {
        record(out, here, start.keep);
        if (start.newton) {
            if (!newton_step(objective, here, step)) break;
        } else {
            step = secants.step(here.gradient);
        }
        const double decrement = -dot(here.gradient.data(), step.data(), objective.size());
        const double goal = 2.0 * start.goal * std::min(here.value, 1.0);
        out.near = decrement <= goal;
        decrements.push_back(decrement);
        if (!(decrement > 0.0) || out.passes >= start.most) break;
        if (out.near && !worth_shortening(objective, here, decrements, row)) break;
        if (!out.near) out.taken = best_offer(start, decrements, goal);
        if (out.taken >= 0 || !backtrack(objective, here, step, -decrement, start.newton, next)) break;
        if (!start.newton) {
            Vector along = next.point, change = next.gradient;
            add_scaled(-1.0, here.point.data(), along.data(), objective.size());
            add_scaled(-1.0, here.gradient.data(), change.data(), objective.size());
            secants.learn(std::move(along), std::move(change));
        }
        std::swap(here, next);
    }
    out.pairs = secants.hand_over(out.steps, out.changes);
    out.inverse = secants.guide().inverse;
    return out;
}

}  // namespace separatrix
