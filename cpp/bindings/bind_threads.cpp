#include "views.hpp"

#if defined(SEPARATRIX_HAS_OPENMP)
#include <omp.h>
#endif

namespace separatrix {

void bind_threads(nb::module_& module) {
    module.def(
        "max_threads",
        []() {
#if defined(SEPARATRIX_HAS_OPENMP)
            return omp_get_max_threads();
#else
            return 1;
#endif
        },
        "What OpenMP would use now: OMP_NUM_THREADS, threadpoolctl.");
#if defined(SEPARATRIX_HAS_CLONES)
    module.attr("multiversioned") = true;
#else
    module.attr("multiversioned") = false;
#endif
#if defined(SEPARATRIX_HAS_OPENMP)
    module.attr("openmp") = true;
#else
    module.attr("openmp") = false;
#endif
}

}  // namespace separatrix
