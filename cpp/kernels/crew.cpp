#include "crew.hpp"

#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "portable.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <csignal>
#endif

namespace separatrix {
namespace {

// How long a hand looks out for the next job before it sleeps: about what Python takes between two passes.
constexpr std::chrono::microseconds LOOK_OUT{100};

// How long a caller looks out for the last lanes before it sleeps.
constexpr int GLANCES = 2000;

// Signals are for the threads of Python: those made here are asked for while all are blocked.
class NoSignals {
public:
#if defined(__unix__) || defined(__APPLE__)
    NoSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
#endif
};

}  // namespace

Crew& crew() {
    static Crew* const only = new Crew;
    return *only;
}

void Crew::run(Job& job) {
    const int wanted = job.wanted;  // hands that join count it down
    callers_.fetch_add(1, std::memory_order_relaxed);
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        hire(wanted);
        job.after = first_;
        first_ = &job;
        jobs_.fetch_add(1, std::memory_order_release);
    }
    for (int hand = 0; hand < wanted; ++hand) posted_.notify_one();
    take_turns(job);
    std::unique_lock<std::mutex> lock(mutex_);
    Job** link = &first_;
    while (*link != &job) link = &(*link)->after;
    *link = job.after;
    lock.unlock();
    callers_.fetch_sub(1, std::memory_order_relaxed);
    for (int glance = 0; glance < GLANCES && job.inside.load(std::memory_order_acquire) > 0; ++glance) take_breath();
    if (job.inside.load(std::memory_order_acquire) > 0) {
        lock.lock();
        left_.wait(lock, [&] { return job.inside.load(std::memory_order_acquire) == 0; });
    }
    if (job.failure) std::rethrow_exception(job.failure);
}

// With the mutex held. Without a thread to be had the caller works with those there are.
void Crew::hire(int wanted) {
    if (hands_ >= wanted) return;
    const NoSignals blocked;
    try {
        for (; hands_ < wanted; ++hands_) std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
}

void Crew::take_turns(Job& job) {
    for (;;) {
        const std::ptrdiff_t lane = job.next.fetch_add(1, std::memory_order_relaxed);
        if (lane >= job.lanes) return;
        try {
            job.work(job.what, lane);
        } catch (...) {
            const std::lock_guard<std::mutex> guard(mutex_);
            job.failure = std::current_exception();
        }
    }
}

Job* Crew::open_job() const {
    Job* job = first_;
    while (job != nullptr && !job->open()) job = job->after;
    return job;
}

void Crew::serve() {
    // What a thread needs to throw is had now: where it cannot be had later, the C library ends the process.
    try {
        throw std::bad_alloc();
    } catch (const std::bad_alloc&) {
    }
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        if (Job* const job = open_job()) {
            --job->wanted;
            job->inside.fetch_add(1, std::memory_order_relaxed);
            lock.unlock();
            take_turns(*job);
            lock.lock();
            // from here on the caller may be gone, and the job with it
            if (job->inside.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_all();
            continue;
        }
        const unsigned seen = jobs_.load(std::memory_order_acquire);
        lock.unlock();
        const auto until = std::chrono::steady_clock::now() + LOOK_OUT;
        while (jobs_.load(std::memory_order_acquire) == seen && callers_.load(std::memory_order_relaxed) == 0 &&
               std::chrono::steady_clock::now() < until)
            for (int turn = 0; turn < 16; ++turn) take_breath();
        lock.lock();
        posted_.wait(lock, [&] { return jobs_.load(std::memory_order_acquire) != seen; });
    }
}

}  // namespace separatrix
