// The first steps of a penalised logistic fit, all of them in one call: where a pass over the rows costs less than saying
// so in Python.
#pragma once

#include <cstddef>
#include <vector>

#include "logistic.hpp"

namespace separatrix {

// Another way that may be had: its price in passes, and what a pass is said to leave of the decrement then; 0 where the
// price is that of the whole rest, and above 1 where the rest takes so many times fewer passes than at the present rate.
struct Offer {
    double price = 0.0;
    double rate = 0.0;
};

// F(w, b) = (1/weight) sum a_i loss_i + strength/2 |w|^2, in the coordinates (w, b + <shift, w>).
struct QuickStart {
    LogisticTask task;  // rows, codes, weights, shift, constant
    std::ptrdiff_t lanes = 1;
    int threads = 1;
    double weight = 1.0;
    double strength = 0.0;
    bool newton = false;            // full Hessians; else secants on top of `lower`, or of the diagonal
    const double* lower = nullptr;  // a Cholesky factor (p x p, by columns), or null
    double goal = 0.0;              // near is where half the squared decrement is this share of min(F, 1)
    double tol = 0.0;               // what the fit asks for, as a share of min(F, 1): a short gradient proves it
    double proof = 0.0;             // what another proof costs, in passes: so many may shorten the gradient instead
    std::vector<Offer> offers;      // what else there is
    double spent = 0.0;             // passes that went before; an offer may cost twice what was spent
    double unknown = 1.0;           // what a pass leaves of the decrement, as far as one can say at the start
    std::ptrdiff_t most = 60;       // passes at most
    std::size_t memory = 30;        // secants that are remembered
    bool keep = true;               // the point of every pass, or of the last alone
};

// What was seen at each pass, where it ended, and the last secants: steps and how the gradient changed along them.
struct Started {
    std::vector<double> points, values, norms, mistakes, inverse, steps, changes;
    std::ptrdiff_t passes = 0, pairs = 0, taken = -1;  // taken: the offer that pays
    bool near = false;
};

// From a point (p numbers). Without any pass where the value there is not finite.
Started quick_start(const QuickStart& start, const double* begin);

}  // namespace separatrix
