// Threads that go through a long call together and wait for each other between its stages, where lanes would have to be
// started anew for each. The stages' results must not depend on how many there are.
#pragma once

#if defined(SEPARATRIX_HAS_OPENMP)
#include <omp.h>
#endif

namespace separatrix {

// work(thread, all) on every thread of a team of at most so many; it must not throw. One thread never enters an OpenMP
// region: after a fork that could hang.
template <class Work>
void run_team(int threads, const Work& work) noexcept {
#if defined(SEPARATRIX_HAS_OPENMP)
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        work(omp_get_thread_num(), omp_get_num_threads());
        return;
    }
#endif
    work(0, 1);
    (void)threads;
}

// Called by all of a team.
inline void wait_for_team(int all) noexcept {
#if defined(SEPARATRIX_HAS_OPENMP)
    if (all > 1) {
#pragma omp barrier
    }
#endif
    (void)all;
}

}  // namespace separatrix
