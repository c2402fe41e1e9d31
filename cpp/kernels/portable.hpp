// What differs between compilers, in one place.
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define SEPARATRIX_INLINE inline __attribute__((always_inline))
#define SEPARATRIX_RESTRICT __restrict__
#define SEPARATRIX_INLINE_LAMBDA __attribute__((always_inline))
#elif defined(_MSC_VER)
#define SEPARATRIX_INLINE __forceinline
#define SEPARATRIX_RESTRICT __restrict
#define SEPARATRIX_INLINE_LAMBDA
#else
#define SEPARATRIX_INLINE inline
#define SEPARATRIX_RESTRICT
#define SEPARATRIX_INLINE_LAMBDA
#endif

// CMake defines SEPARATRIX_HAS_CLONES when a probe program built with
// target_clones linked and ran; everything a clone calls is always inlined,
// so that it is compiled for the clone's instruction set.
#if defined(SEPARATRIX_HAS_CLONES)
#define SEPARATRIX_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define SEPARATRIX_CLONES
#endif

// The same with vectors of eight numbers beside: for work that is mostly exponentials and logarithms. No sum depends on
// how many numbers a vector holds.
#if defined(SEPARATRIX_HAS_WIDE_CLONES)
#define SEPARATRIX_WIDE_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SEPARATRIX_WIDE_CLONES SEPARATRIX_CLONES
#endif

#if (defined(__x86_64__) || defined(__i386__)) && (defined(__GNUC__) || defined(__clang__))
#define SEPARATRIX_BREATH __builtin_ia32_pause()
#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
#define SEPARATRIX_BREATH __asm__ volatile("isb")
#else
#include <thread>
#define SEPARATRIX_BREATH std::this_thread::yield()
#endif

namespace separatrix {

// A moment's rest in a loop that waits for another thread.
inline void take_breath() { SEPARATRIX_BREATH; }

// GCC takes the dispatcher of a multi-versioned function for one that cannot throw, so an exception out of a
// direct call ends the process. Through a pointer that the compiler cannot see through it arrives.
template <class Function>
inline Function* dispatched(Function* function) {
    Function* volatile held = function;
    return held;
}

}  // namespace separatrix
