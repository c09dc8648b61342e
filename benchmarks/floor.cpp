// What a step must at least do, and nothing else: kernel terms, products of matrices with vectors,
// and, in second order, rank-one updates. floor.py compiles and calls it.
#include "kernel.hpp"

namespace {
using namespace halk;

#if defined(__AVX512F__)
constexpr int WIDTH = 8;
#else
constexpr int WIDTH = 4;
#endif

template <int P>
void sum_rows(Atoms a, const double* weights, const double* x, int n, double* out) {
  const int end = (a.n + WIDTH - 1) / WIDTH * WIDTH;
  const double* HALK_RESTRICT D = a.data;
  for (int r = 0; r < n; ++r, x += P) {
    double sum[WIDTH] = {};
    for (int k = 0; k < end; k += WIDTH)
      for (int l = 0; l < WIDTH; ++l) {
        double s = 0.0;
        for (int f = 0; f < P; ++f) {
          const double d = D[std::size_t(f) * a.ld + k + l] - x[f];
          s = f ? s + d * d : d * d;
        }
        sum[l] += weights[k + l] * exp2_minus(s);
      }
    out[r] = 0.0;
    for (int l = 0; l < WIDTH; ++l) out[r] += sum[l];
  }
}
constexpr decltype(&sum_rows<1>) SUM_ROWS[] = {sum_rows<1>, sum_rows<2>, sum_rows<3>, sum_rows<4>,
                                               sum_rows<5>, sum_rows<6>, sum_rows<7>, sum_rows<8>};

// The engine's product, which fetches the next matrix meanwhile.
void multiply_ahead(const double* A, int ld, int m, const double* x, double* out) {
  const double* next = A + std::size_t(ld) * ld;
  for (int k = 0; k < m; k += LANES) {
    const std::size_t row = std::size_t(k) * ld;
    for (int q = 0; q < ld; ++q) __builtin_prefetch(next + row + q * LANES);
    if (k == 0)
      add_scaled_rows<8, true>(A, ld, ld, x, out);
    else if (k + 4 < m)
      add_scaled_rows<8, false>(A + row, ld, ld, x + k, out);
    else
      add_scaled_rows<4, false>(A + row, ld, ld, x + k, out);
  }
}
}  // namespace

extern "C" {

// out[r] = sum_k weights[k] 2^-|x_r - a_k|^2 at n points of 1 to 8 features, `rounds` times. Atoms
// (p, ld) and points (n, p) are in units in which the Gaussian kernel is that; weights are zero in
// their padding.
void sum_terms(const double* atoms, int ld, int m, int p, const double* weights, const double* x,
               int n, double* out, int rounds) {
  for (int i = 0; i < rounds; ++i) SUM_ROWS[p - 1]({atoms, ld, m}, weights, x, n, out);
}

// A[v] += f x[v] x[v]' for n symmetric matrices, `rounds` times, f alternating in sign.
void update(double* A, int ld, int m, int n, const double* x, int rounds) {
  for (int i = 0; i < rounds; ++i)
    for (int v = 0; v < n; ++v) {
      const std::size_t first = std::size_t(v) * ld;
      add_outer_product(A + first * ld, ld, m, i % 2 ? -1e-9 : 1e-9, x + first);
    }
}

// out[v] = A[v] x[v] for n symmetric matrices of m rows, padded to ld, `rounds` times.
void multiply(const double* A, int ld, int m, int n, const double* x, double* out, int is_ahead,
              int rounds) {
  for (int i = 0; i < rounds; ++i)
    for (int v = 0; v < n; ++v) {
      const std::size_t first = std::size_t(v) * ld;
      if (is_ahead)
        multiply_ahead(A + first * ld, ld, m, x + first, out + first);
      else
        multiply_symmetric(A + first * ld, ld, m, x + first, out + first);
    }
}
}
