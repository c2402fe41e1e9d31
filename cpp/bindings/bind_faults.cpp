// Only in test builds: the n-th allocation from now on fails once, as it would when memory runs out. Counted are
// those of the kernels, which run without the interpreter's lock, and large ones; not the few bytes that the binding
// library needs for its own books, where it ends the process by itself.
#include <atomic>
#include <cstdlib>
#include <new>

#include "views.hpp"

namespace {

std::atomic<long long> countdown{-1};  // below zero: nothing fails
std::atomic<long long> allocations{0};

constexpr std::size_t kLarge = 16384;

void* allocate(std::size_t size) {
    if (size >= kLarge || PyGILState_Check() == 0) {
        allocations.fetch_add(1, std::memory_order_relaxed);
        if (countdown.load(std::memory_order_relaxed) >= 0 && countdown.fetch_sub(1) == 0) throw std::bad_alloc();
    }
    if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace separatrix {

void bind_faults(nb::module_& module) {
    module.def(
        "fail_allocation", [](long long which) { countdown.store(which); }, nb::arg("which"),
        "Let allocation number `which` from now on fail, counted from 0; -1 for none.");
    module.def("allocations", []() { return allocations.load(); }, "Allocations so far.");
}

}  // namespace separatrix
