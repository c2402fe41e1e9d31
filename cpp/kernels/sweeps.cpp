#include "sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "leeway.hpp"
#include "readers.hpp"

namespace separatrix {
namespace {

// By how much, per unit of a row's length, a score may have fallen: the way from the reference, and the
// rounding of the score now, of the one that the leeway came from, and of this arithmetic.
SEPARATRIX_INLINE double reach_of(const double* SEPARATRIX_RESTRICT point, const double* SEPARATRIX_RESTRICT reference,
                                  std::ptrdiff_t p) {
    double way[8] = {0, 0, 0, 0, 0, 0, 0, 0}, size[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    double longest = 0, largest = 0;
    std::ptrdiff_t j = 0;
    for (; j + 8 <= p; j += 8)
        for (int k = 0; k < 8; ++k) {
            const double from = reference[j + k], by = point[j + k] - from;
            way[k] += by * by;
            size[k] += from * from;
        }
    for (int k = 0; j < p; ++j, ++k) {
        const double from = reference[j], by = point[j] - from;
        way[k] += by * by;
        size[k] += from * from;
    }
    double ways = 0, sizes = 0;
    for (int k = 0; k < 8; ++k) ways += way[k], sizes += size[k];
    if (!(ways > 1e-280 && ways < 1e300 && sizes > 1e-280 && sizes < 1e300))
        for (std::ptrdiff_t k = 0; k < p; ++k) {
            longest = std::max(longest, std::abs(point[k] - reference[k]));
            largest = std::max(largest, std::abs(reference[k]));
        }
    const double moved = length_above(ways, longest, p) * (1 + 4 * kUnit);
    const double slack = 4 * (static_cast<double>(p) + 24) * kUnit;
    return moved + slack * (moved + length_above(sizes, largest, p));
}

constexpr std::ptrdiff_t kLooks = 16;   // sketches whose memory is fetched before they are looked at
constexpr std::ptrdiff_t kWindow = 64;  // visits looked at past one that waits to be read: a mistake there undoes them
constexpr double kLookPrice = 0.125;

template <class Reader>
SEPARATRIX_INLINE void sweep_rows(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    Reader reader(*task.rows);
    const std::ptrdiff_t d = task.rows->d, p = task.p();
    double* point = task.point;
    double* counters = task.counters;
    const bool skipping = task.leeway != nullptr, looking = skipping && task.sketch != nullptr;
    const auto before = static_cast<std::ptrdiff_t>(counters[kVisits]) - first;  // visits before position 0
    double reach = skipping ? reach_of(point, task.reference, p) : 0;
    QuickLook look(task.sketch, d, task.constant);
    if (looking) look.renew(point);
    const auto note = [&](std::int64_t i, double signed_score) SEPARATRIX_INLINE_LAMBDA {
        const double known = (signed_score - (task.margin + kTiny)) / static_cast<double>(task.lengths[i]) - reach;
        task.leeway[i] = std::max(task.leeway[i], float_below(known));
    };
    // Rows to be read wait in a ring while their memory is fetched; `ahead` is where the search for more stands.
    std::ptrdiff_t places[kAhead], read = 0, looked = 0, ahead = first, head = 0, waiting = 0;
    std::int64_t numbers[kAhead];
    for (;;) {
        for (; waiting < kAhead && ahead < last; ++ahead) {
            if (looking && waiting > 0 && ahead > places[head] + kWindow) break;
            const std::int64_t i = task.order[ahead];
            if (looking && ahead + kLooks < last) {
                const std::int64_t later = task.order[ahead + kLooks];
                look.prefetch(later);
                prefetch_one(task.codes + later);
                prefetch_one(task.leeway + later);
            }
            if (skipping && reach < static_cast<double>(task.leeway[i])) continue;
            if (looking) {
                ++looked;
                const double sign = task.codes[i] == task.positive ? 1.0 : -1.0;
                if (look.known() && look.below(i, sign) > task.margin) continue;
            }
            const std::ptrdiff_t slot = (head + waiting++) % kAhead;
            places[slot] = ahead;
            numbers[slot] = i;
            reader.prefetch(i);
        }
        if (waiting == 0) break;
        const std::ptrdiff_t place = places[head];
        const std::int64_t i = numbers[head];
        head = (head + 1) % kAhead;
        --waiting;
        reader.at(i);
        ++read;
        const double score = reader.score(point) + (task.constant ? point[d] : 0.0);
        const double sign = task.codes[i] == task.positive ? 1.0 : -1.0;
        const double signed_score = sign * score;
        counters[kScore] = score;
        if (skipping) note(i, signed_score);
        if (signed_score > task.margin) continue;
        const std::ptrdiff_t visit = before + place + 1;
        const double weight = task.weights != nullptr ? task.weights[i] : 1.0;
        const double rate = task.rates != nullptr ? task.rates[place - first] : task.rate;
        const double step = rate * sign * weight;
        counters[kMistakes] += 1;
        counters[kError] += weight * (task.margin - signed_score);
        if (sign > 0 ? score < 0 : !(score < 0)) counters[kWrong] += weight;
        const double run = static_cast<double>(visit) - 1 - counters[kLastMistake];
        if (task.run_point != nullptr && run > counters[kLongestRun]) {
            counters[kLongestRun] = run;
            std::copy_n(point, p, task.run_point);
        }
        counters[kLastMistake] = static_cast<double>(visit);
        reader.add(step, point);
        if (task.constant) point[d] += step;
        if (task.average_from >= 0 && visit - 1 > task.average_from) {
            const double late = static_cast<double>(visit - 1 - task.average_from) * step;
            reader.add(late, task.total);
            if (task.constant) task.total[d] += late;
        }
        if (skipping) {
            const double now = reach_of(point, task.reference, p);
            if (looking || !(now <= reach)) {  // rows passed over may be mistakes now
                waiting = 0;
                ahead = place + 1;
            }
            reach = now;
            if (looking) look.renew(point);
        }
    }
    counters[kVisits] += static_cast<double>(last - first);
    counters[kSkipped] += static_cast<double>(last - first - read) - kLookPrice * static_cast<double>(looked);
}

// With a penalty every visit changes w: the L2 part as a common factor, the L1 part by what each
// weight still owes (cumulative truncation, Tsuruoka, Tsujii and Ananiadou 2009).
template <class Reader>
SEPARATRIX_INLINE void sweep_penalised(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    Reader reader(*task.rows);
    const std::ptrdiff_t d = task.rows->d, p = task.p();
    double* point = task.point;
    double* counters = task.counters;
    double scale = 1;
    for (std::ptrdiff_t q = first; q < last; ++q) {
        const std::int64_t i = task.order[q];
        reader.at(i);
        const double score = scale * reader.score(point) + (task.constant ? point[d] : 0.0);
        const double sign = task.codes[i] == task.positive ? 1.0 : -1.0;
        const double signed_score = sign * score;
        const double rate = task.rates != nullptr ? task.rates[q - first] : task.rate;
        const double weight = task.weights != nullptr ? task.weights[i] : 1.0;
        const bool mistake = !(signed_score > task.margin);
        counters[kScore] = score;
        counters[kVisits] += 1;
        if (mistake) {
            const double run = counters[kVisits] - 1 - counters[kLastMistake];
            if (task.run_point != nullptr && run > counters[kLongestRun]) {
                counters[kLongestRun] = run;
                for (std::ptrdiff_t j = 0; j < p; ++j) task.run_point[j] = (j < d ? scale : 1.0) * point[j];
            }
            counters[kMistakes] += 1;
            counters[kError] += weight * (task.margin - signed_score);
            if (sign > 0 ? score < 0 : !(score < 0)) counters[kWrong] += weight;
            counters[kLastMistake] = counters[kVisits];
        }
        if (task.shrink > 0) {
            scale *= std::max(0.0, 1.0 - rate * task.shrink);
            if (scale < 1e-9) {
                for (std::ptrdiff_t j = 0; j < d; ++j) point[j] *= scale;
                scale = 1;
            }
        }
        if (mistake) {
            const double step = rate * sign * weight;
            reader.add(step / scale, point);
            if (task.constant) point[d] += step;
        }
        if (task.truncate > 0) {
            counters[kTruncated] += rate * task.truncate;
            const double due = counters[kTruncated];
            reader.each([&](std::ptrdiff_t j, double) SEPARATRIX_INLINE_LAMBDA {
                const double was = scale * point[j];
                const double now = was > 0   ? std::max(0.0, was - (due + task.lost[j]))
                                   : was < 0 ? std::min(0.0, was + (due - task.lost[j]))
                                             : was;
                task.lost[j] += now - was;
                if (now != was) point[j] = now / scale;
            });
        }
        if (task.average_from >= 0 && counters[kVisits] > static_cast<double>(task.average_from))
            for (std::ptrdiff_t j = 0; j < p; ++j) task.total[j] += (j < d ? scale : 1.0) * point[j];
    }
    for (std::ptrdiff_t j = 0; j < d; ++j) point[j] *= scale;
}

SEPARATRIX_CLONES
void sweep_dense(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep_rows<DenseReader>(task, first, last);
}

SEPARATRIX_CLONES
void sweep_floats(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep_rows<FloatReader>(task, first, last);
}

SEPARATRIX_CLONES
void sweep_sparse(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep_rows<SparseReader>(task, first, last);
}

SEPARATRIX_CLONES
void sweep_dense_penalised(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep_penalised<DenseReader>(task, first, last);
}

SEPARATRIX_CLONES
void sweep_sparse_penalised(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    sweep_penalised<SparseReader>(task, first, last);
}

}  // namespace

void sweep_perceptron(const PerceptronTask& task, std::ptrdiff_t first, std::ptrdiff_t last) {
    const bool penalised = task.shrink > 0 || task.truncate > 0;
    if (task.rows->sparse())
        dispatched(penalised ? sweep_sparse_penalised : sweep_sparse)(task, first, last);
    else if (penalised)
        dispatched(sweep_dense_penalised)(task, first, last);
    else
        dispatched(floats_in_place(*task.rows) ? sweep_floats : sweep_dense)(task, first, last);
}

namespace {

template <class Number>
void shuffle_numbers(Number* order, std::ptrdiff_t count, std::uint64_t seed) noexcept {
    for (std::ptrdiff_t left = count; left > 1; --left) {
        // splitmix64, then 32 bits scaled to 0 … left-1; the bias is below left / 2^32
        std::uint64_t bits = (seed += 0x9e3779b97f4a7c15ULL);
        bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
        bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
        bits ^= bits >> 31;
        const auto range = static_cast<std::uint64_t>(left);
        const std::uint64_t pick = range < (1ULL << 32) ? ((bits >> 32) * range) >> 32 : bits % range;
        std::swap(order[left - 1], order[pick]);
    }
}

}  // namespace

void shuffle(std::int32_t* order, std::ptrdiff_t count, std::uint64_t seed) noexcept {
    shuffle_numbers(order, count, seed);
}

void shuffle(std::int64_t* order, std::ptrdiff_t count, std::uint64_t seed) noexcept {
    shuffle_numbers(order, count, seed);
}

}  // namespace separatrix
