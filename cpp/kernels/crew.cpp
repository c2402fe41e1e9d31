#include "crew.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace separatrix {
namespace {

constexpr int kMostHelpers = 255;
constexpr int kLooks = 50;  // looks before sleep, for the next call or for the last helper: some microseconds

// One call, on its caller's stack; in the list while helpers may still join it.
struct Call {
    LaneWork work;
    const void* context;
    std::ptrdiff_t lanes;
    int places;  // helpers that may still join
    std::atomic<std::ptrdiff_t> next{0};
    std::atomic<int> inside{0};  // helpers at work; changed under the lock
    std::exception_ptr failure{};
    std::condition_variable done{};
    Call* before = nullptr;
    Call* after = nullptr;
};

class Crew {
public:
    void run(Call& call) {
        const int wanted = call.places;
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            enlist(call);
            hire(wanted);
        }
        for (int k = 0; k < wanted; ++k) waiting_.notify_one();
        std::exception_ptr failure = help(call);
        {
            const std::lock_guard<std::mutex> guard(mutex_);
            if (call.places > 0) strike(call);
        }
        look_for([&] { return call.inside.load() == 0; });
        {
            std::unique_lock<std::mutex> guard(mutex_);  // whoever was the last has let go of the call with it
            call.done.wait(guard, [&] { return call.inside.load() == 0; });
            if (failure == nullptr) failure = call.failure;
        }
        if (failure != nullptr) std::rethrow_exception(failure);
    }

private:
    template <class Seen>
    static void look_for(const Seen& seen) {
        for (int look = 0; look < kLooks && !seen(); ++look) std::this_thread::yield();
    }

    static std::exception_ptr help(Call& call) noexcept {
        std::exception_ptr failure;
        for (std::ptrdiff_t lane = call.next.fetch_add(1); lane < call.lanes; lane = call.next.fetch_add(1)) {
            try {
                call.work(call.context, lane);
            } catch (...) {
                failure = std::current_exception();
            }
        }
        return failure;
    }

    void enlist(Call& call) {
        call.after = first_;
        if (first_ != nullptr) first_->before = &call;
        first_ = &call;
        open_.fetch_add(1);
    }

    void strike(Call& call) {
        (call.before != nullptr ? call.before->after : first_) = call.after;
        if (call.after != nullptr) call.after->before = call.before;
        open_.fetch_sub(1);
    }

    // Where no thread is to be had the caller does without.
    void hire(int wanted) {
        try {
            while (helpers_ < wanted && helpers_ < kMostHelpers) {
                std::thread([this] { serve(); }).detach();
                ++helpers_;
            }
        } catch (...) {
        }
    }

    void serve() {
        std::unique_lock<std::mutex> guard(mutex_);
        while (true) {
            if (first_ == nullptr) {
                guard.unlock();
                look_for([this] { return open_.load() > 0; });
                guard.lock();
                waiting_.wait(guard, [&] { return first_ != nullptr; });
            }
            Call& call = *first_;
            if (--call.places == 0) strike(call);
            ++call.inside;
            guard.unlock();
            std::exception_ptr failure = help(call);
            guard.lock();
            if (failure != nullptr) call.failure = failure;
            failure = nullptr;
            if (--call.inside == 0) call.done.notify_one();  // under the lock: the call may be gone after it
        }
    }

    std::mutex mutex_;
    std::condition_variable waiting_;
    std::atomic<int> open_{0};  // calls in the list
    Call* first_ = nullptr;
    int helpers_ = 0;
};

// Never destroyed: helpers wait in it until the process ends.
Crew& crew() {
    static Crew* const everyone = new Crew;
    return *everyone;
}

}  // namespace

void run_by_crew(std::ptrdiff_t lanes, int threads, LaneWork work, const void* context) {
    Call call{work, context, lanes, static_cast<int>(lanes < threads ? lanes : threads) - 1};
    crew().run(call);
}

}  // namespace separatrix
