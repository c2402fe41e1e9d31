// What BLAS and LAPACK do: products of panels of rows, and a Cholesky factor. The functions are SciPy's, handed
// over when the module is first used; without them the kernels' own tiles serve.
#pragma once

#include <cstddef>

namespace separatrix {

using Syrk = void (*)(char* uplo, char* trans, int* n, int* k, double* alpha, double* a, int* lda, double* beta,
                      double* c, int* ldc);
using Gemm = void (*)(char* trans_a, char* trans_b, int* m, int* n, int* k, double* alpha, double* a, int* lda,
                      double* b, int* ldb, double* beta, double* c, int* ldc);

using Potrf = void (*)(char* uplo, int* n, double* a, int* lda, int* info);

struct Blas {
    Syrk syrk = nullptr;
    Gemm gemm = nullptr;
    Potrf potrf = nullptr;
};

// Set once, before any fit; BLAS must be held at one thread while kernels run.
Blas& blas();

// From so many columns on BLAS is quicker than tiles of our own, which do not cut for the cache.
inline constexpr std::ptrdiff_t kBlasColumns = 400;

inline bool use_blas(std::ptrdiff_t ld) { return ld >= kBlasColumns && blas().syrk != nullptr; }

}  // namespace separatrix
