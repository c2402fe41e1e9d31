// The compiled kernels, a table of contents.
#include "views.hpp"

NB_MODULE(_kernels, module) {
    module.doc() = "Kernels of separatrix: sums over rows, one output per row.";
    // what lives as long as the process (the hold on BLAS, a verdict's last thread) is no leak to tell users of
    nanobind::set_leak_warnings(false);
    separatrix::bind_threads(module);
    separatrix::bind_rows(module);
    separatrix::bind_logistic(module);
    separatrix::bind_softmax(module);
    separatrix::bind_quadratic(module);
    separatrix::bind_columns(module);
    separatrix::bind_maps(module);
    separatrix::bind_exact(module);
    separatrix::bind_sweeps(module);
    separatrix::bind_network(module);
    separatrix::bind_batches(module);
    separatrix::bind_moments(module);
#if defined(SEPARATRIX_FAULTS)
    separatrix::bind_faults(module);
#endif
}
