// Threads that help whoever has lanes to run.
//
// The caller works too, and waits for nobody who has not begun: where the machine has no processor to spare a call takes
// as long as on one thread. (OpenMP waits for all its threads at the end of each region, spinning at first; when the
// other processors are busy every short pass then costs a turn of the system's scheduler.)
#pragma once

#include <cstddef>
#include <exception>

namespace separatrix {

using LaneWork = void (*)(const void* context, std::ptrdiff_t lane);

// work(context, lane) for every lane, on this thread and at most `threads` - 1 helpers; the last exception is thrown here.
// Helpers are threads of this process: after a fork they are gone, and the child must not call this.
void run_by_crew(std::ptrdiff_t lanes, int threads, LaneWork work, const void* context);

}  // namespace separatrix
