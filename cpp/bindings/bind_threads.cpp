#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "../kernels/blas.hpp"
#include "views.hpp"

#if defined(SEPARATRIX_HAS_OPENMP)
#include <omp.h>
#endif

namespace separatrix {
namespace {

// Libraries kept to one thread for as long as anyone is inside. Entries are counted,
// not locked out: many may be inside at once. Entering and leaving are single calls of
// compiled code, so that no signal handler of Python can come between the count and
// the limit, and an interrupt never leaves a library at one thread.
class Hold {
public:
    // addresses of `int get()` and `void set(int)`, as integers
    explicit Hold(const std::vector<std::pair<std::uintptr_t, std::uintptr_t>>& libraries) {
        for (const auto& [get, set] : libraries) {
            need(get != 0 && set != 0, "a library needs both functions");
            libraries_.push_back({reinterpret_cast<Get>(get), reinterpret_cast<Set>(set), 0});
        }
    }

    void enter() {
        const std::lock_guard<std::mutex> guard(*mutex_);
        if (inside_++ == 0)
            for (Library& library : libraries_) {
                library.before = library.get();
                if (library.before != 1) library.set(1);
            }
    }

    void leave() {
        const std::lock_guard<std::mutex> guard(*mutex_);
        if (inside_ > 0 && --inside_ == 0) restore();
    }

    // In a forked child the other threads are gone, whatever they held.
    void forked() {
        mutex_ = std::make_unique<std::mutex>();
        if (inside_ > 0) restore();
        inside_ = 0;
    }

    int inside() const { return inside_; }

private:
    using Get = int (*)();
    using Set = void (*)(int);
    struct Library {
        Get get;
        Set set;
        int before;
    };

    void restore() {
        for (Library& library : libraries_)
            if (library.before != 1) library.set(library.before);
    }

    std::vector<Library> libraries_;
    std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
    int inside_ = 0;
};

}  // namespace

void bind_threads(nb::module_& module) {
    nb::class_<Hold>(module, "Hold", "Libraries kept to one thread while anyone is inside.")
        .def(nb::init<const std::vector<std::pair<std::uintptr_t, std::uintptr_t>>&>(), nb::arg("libraries"))
        .def("__enter__", &Hold::enter)
        .def(
            "__exit__", [](Hold& hold, nb::handle, nb::handle, nb::handle) { hold.leave(); }, nb::arg("kind").none(),
            nb::arg("value").none(), nb::arg("traceback").none())
        .def("forked", &Hold::forked, "Forget threads that are gone after a fork.")
        .def_prop_ro("inside", &Hold::inside, "How many are inside now.");
    module.def(
        "use_blas",
        [](nb::handle syrk, nb::handle gemm, nb::handle potrf) {
            const auto pointer = [](nb::handle capsule) {
                void* found = PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
                if (found == nullptr) throw nb::python_error();
                return found;
            };
            blas() = {reinterpret_cast<Syrk>(pointer(syrk)), reinterpret_cast<Gemm>(pointer(gemm)),
                      reinterpret_cast<Potrf>(pointer(potrf))};
        },
        nb::arg("syrk"), nb::arg("gemm"), nb::arg("potrf"), "Take dsyrk, dgemm and dpotrf from SciPy's capsules.");
    module.def("without_blas", []() { blas() = {}; }, "Use the kernels' own tiles for every width.");
    module.def(
        "max_threads",
        []() {
#if defined(SEPARATRIX_HAS_OPENMP)
            return omp_get_max_threads();
#else
            const char* asked = std::getenv("OMP_NUM_THREADS");
            const int wanted = asked == nullptr ? 0 : std::atoi(asked);
            return wanted > 0 ? wanted : static_cast<int>(std::thread::hardware_concurrency());
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
