// Compiled with contraction to fused multiply-add, as curvature.cpp is: products of panels are bound by arithmetic.
#include "class_products.hpp"

#include "blas.hpp"
#include "dense.hpp"
#include "narrow_products.hpp"

namespace separatrix {
namespace {

// Below so many multiply-adds to a row the rows are turned instead.
constexpr std::ptrdiff_t kBlasWork = 48;
constexpr std::ptrdiff_t kStretch = 128;  // rows turned at a time

// Rows that lie backwards or on each other have a distance that BLAS does not take.
bool by_blas(std::ptrdiff_t classes, std::ptrdiff_t d, std::ptrdiff_t ld) {
    return blas().gemm != nullptr && d > 0 && ld >= d && ld < (1 << 30) && classes * d >= kBlasWork;
}

bool by_quads(std::ptrdiff_t classes) { return kHasNarrow && classes <= kNarrow; }

int narrow(std::ptrdiff_t size) { return static_cast<int>(size); }

SEPARATRIX_INLINE double plain_sum(const double* a, std::ptrdiff_t m) {
    double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    std::ptrdiff_t i = 0;
    for (; i + 8 <= m; i += 8)
        for (int k = 0; k < 8; ++k) part[k] += a[i + k];
    for (int k = 0; i < m; ++i, ++k) part[k] += a[i];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

// Few columns: the rows are turned, so that the loops run along them.
SEPARATRIX_CLONES
void few_scores(const DenseChunk& chunk, const double* point, std::ptrdiff_t classes, std::ptrdiff_t p,
                std::ptrdiff_t d, std::ptrdiff_t stride, double* score) {
    double column[kStretch];
    for (std::ptrdiff_t first = 0; first < chunk.m; first += kStretch) {
        const std::ptrdiff_t m = chunk.m - first < kStretch ? chunk.m - first : kStretch;
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            const double* x = chunk.x + first * chunk.ld + j;
            for (std::ptrdiff_t i = 0; i < m; ++i) column[i] = x[i * chunk.ld];
            for (std::ptrdiff_t k = 0; k < classes; ++k) {
                const double w = point[k * p + j];
                double* SEPARATRIX_RESTRICT z = score + k * stride + first;
                for (std::ptrdiff_t i = 0; i < m; ++i) z[i] += w * column[i];
            }
        }
    }
}

SEPARATRIX_WIDE_CLONES
void narrow_scores(const DenseChunk& chunk, const double* point, std::ptrdiff_t classes, std::ptrdiff_t p,
                   std::ptrdiff_t d, std::ptrdiff_t stride, double* score) {
    switch ((classes + 3) / 4) {
        case 1:
            return scores_by_quads<8, 1>(chunk, point, classes, p, d, stride, score);
        case 2:
            return scores_by_quads<6, 2>(chunk, point, classes, p, d, stride, score);
        case 3:
            return scores_by_quads<4, 3>(chunk, point, classes, p, d, stride, score);
        default:
            return scores_by_quads<3, 4>(chunk, point, classes, p, d, stride, score);
    }
}

SEPARATRIX_WIDE_CLONES
void narrow_gradients(const DenseChunk& chunk, const double* slope, std::ptrdiff_t classes, std::ptrdiff_t p,
                      std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient) {
    gradient_by_groups(chunk, slope, classes, p, d, stride, gradient);
}

SEPARATRIX_CLONES
void few_gradients(const DenseChunk& chunk, const double* slope, std::ptrdiff_t classes, std::ptrdiff_t p,
                   std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient) {
    double column[kStretch];
    for (std::ptrdiff_t first = 0; first < chunk.m; first += kStretch) {
        const std::ptrdiff_t m = chunk.m - first < kStretch ? chunk.m - first : kStretch;
        for (std::ptrdiff_t j = 0; j < d; ++j) {
            const double* x = chunk.x + first * chunk.ld + j;
            for (std::ptrdiff_t i = 0; i < m; ++i) column[i] = x[i * chunk.ld];
            for (std::ptrdiff_t k = 0; k < classes; ++k)
                gradient[k * p + j] += dot(slope + k * stride + first, column, m);
        }
    }
}

SEPARATRIX_CLONES
void add_sums(const double* slope, std::ptrdiff_t m, std::ptrdiff_t classes, std::ptrdiff_t p, std::ptrdiff_t stride,
              double* last) {
    for (std::ptrdiff_t k = 0; k < classes; ++k) last[k * p] += plain_sum(slope + k * stride, m);
}

SEPARATRIX_CLONES
void few_pairs(const double* left, const double* right, std::ptrdiff_t m, std::ptrdiff_t classes, std::ptrdiff_t stride,
               double* pairs) {
    for (std::ptrdiff_t k = 0; k < classes; ++k)
        for (std::ptrdiff_t l = 0; l < classes; ++l)
            pairs[k * classes + l] += dot(left + k * stride, right + l * stride, m);
}

}  // namespace

void class_scores(const DenseChunk& chunk, const double* point, std::ptrdiff_t classes, std::ptrdiff_t p,
                  std::ptrdiff_t d, std::ptrdiff_t stride, double* score) noexcept {
    if (by_quads(classes)) return narrow_scores(chunk, point, classes, p, d, stride, score);
    for (std::ptrdiff_t k = 0; k < classes; ++k) {
        const double constant = p > d ? point[k * p + d] : 0.0;
        for (std::ptrdiff_t i = 0; i < chunk.m; ++i) score[k * stride + i] = constant;
    }
    if (!by_blas(classes, d, chunk.ld)) return few_scores(chunk, point, classes, p, d, stride, score);
    // rows are columns to BLAS: score (m x K) = X' (m x d) W (d x K)
    char turned = 'T', plain = 'N';
    int m = narrow(chunk.m), n = narrow(classes), k = narrow(d), ldx = narrow(chunk.ld), ldw = narrow(p),
        lds = narrow(stride);
    double one = 1.0;
    blas().gemm(&turned, &plain, &m, &n, &k, &one, const_cast<double*>(chunk.x), &ldx, const_cast<double*>(point), &ldw,
                &one, score, &lds);
}

void add_class_gradient(const DenseChunk& chunk, const double* slope, std::ptrdiff_t classes, std::ptrdiff_t p,
                        std::ptrdiff_t d, std::ptrdiff_t stride, double* gradient) noexcept {
    if (p > d) add_sums(slope, chunk.m, classes, p, stride, gradient + d);
    if (by_quads(classes)) return narrow_gradients(chunk, slope, classes, p, d, stride, gradient);
    if (!by_blas(classes, d, chunk.ld)) return few_gradients(chunk, slope, classes, p, d, stride, gradient);
    char plain = 'N';
    int m = narrow(d), n = narrow(classes), k = narrow(chunk.m), ldx = narrow(chunk.ld), lds = narrow(stride),
        ldg = narrow(p);
    double one = 1.0;
    blas().gemm(&plain, &plain, &m, &n, &k, &one, const_cast<double*>(chunk.x), &ldx, const_cast<double*>(slope), &lds,
                &one, gradient, &ldg);
}

void add_class_pairs(const double* left, const double* right, std::ptrdiff_t m, std::ptrdiff_t classes,
                     std::ptrdiff_t stride, double* pairs) noexcept {
    if (!by_blas(classes, classes, classes)) return few_pairs(left, right, m, classes, stride, pairs);
    char turned = 'T', plain = 'N';
    int n = narrow(classes), k = narrow(m), ld = narrow(stride);
    double one = 1.0;
    blas().gemm(&turned, &plain, &n, &n, &k, &one, const_cast<double*>(right), &ld, const_cast<double*>(left), &ld,
                &one, pairs, &n);
}

}  // namespace separatrix
