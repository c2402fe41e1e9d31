// A crew: threads that help whoever calls with the lanes of a job, if they come in time.
//
// The caller takes lanes like everybody else and waits, at the end, only for those who have begun one. So where the
// system has given all processors to somebody else, a job takes as long as without help; OpenMP waits there for
// threads that have yet to wake up, a slice of time for each pass over the data.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>

namespace separatrix {

// work(what, lane) for lane = 0, 1, …; lives on the caller's stack.
struct Job {
    void (*work)(const void* what, std::ptrdiff_t lane);
    const void* what;
    std::ptrdiff_t lanes;
    int wanted;  // hands that may still join

    std::atomic<std::ptrdiff_t> next{0};
    std::atomic<int> inside{0};
    std::exception_ptr failure = nullptr;
    Job* after = nullptr;

    bool open() const { return wanted > 0 && next.load(std::memory_order_relaxed) < lanes; }
};

class Crew {
public:
    // Every lane of the job, with as many hands as it wants, if the system gives them; throws what a lane threw.
    void run(Job& job);

private:
    void hire(int wanted);
    void serve();
    void take_turns(Job& job);
    Job* open_job() const;

    std::mutex mutex_;
    std::condition_variable posted_, left_;
    Job* first_ = nullptr;
    int hands_ = 0;
    std::atomic<int> callers_{0};
    std::atomic<unsigned> jobs_{0};
};

// The crew of this process, made when first asked for. It is never destroyed: its threads may outlive all else.
Crew& crew();

}  // namespace separatrix
