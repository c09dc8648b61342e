// Aligned arrays and the dense loops that take the time: products, rank-one updates, exp, sin, log.
//
// Plain C++: loops run over whole cache lines without tails, which compilers vectorise at any SIMD
// width. Sums always use LANES partial sums; together with -ffp-contract=off every build gives the
// same bits.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

namespace halk {

constexpr int LANES = 8;          // doubles per cache line
constexpr double LARGEST = 1e50;  // beyond it is divergence; squares and products stay finite
constexpr int padded(int n) { return (n + LANES - 1) / LANES * LANES; }

#define HALK_RESTRICT __restrict__
#define HALK_INLINE inline __attribute__((always_inline))
// Into L2: prefetching into L1 stalls the kernel rows.
#define HALK_PREFETCH(p) __builtin_prefetch(p, 0, 2)
#define HALK_PRAGMA(text) _Pragma(#text)
#define HALK_SIMD HALK_PRAGMA(omp simd)  // with -fopenmp-simd
// A minimum is exact in any order.
#define HALK_SIMD_MIN(...) HALK_PRAGMA(omp simd reduction(min : __VA_ARGS__))

template <class T>
struct Aligned {  // allocator of memory aligned to a cache line
  using value_type = T;
  Aligned() = default;
  template <class U>
  Aligned(const Aligned<U>&) {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t(64)); }
  bool operator==(const Aligned&) const { return true; }
};
using Array = std::vector<double, Aligned<double>>;

// Make room for n doubles; contents are not kept meaningful.
inline void ensure(Array& a, std::size_t n) {
  if (a.size() < n) a.resize(n + n / 4);
}

HALK_INLINE double sum_lanes(const double* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// In the loops below n is padded.
HALK_INLINE void scale(double* y, double a, int n) {
  for (int k = 0; k < n; k += LANES)
    for (int l = 0; l < LANES; ++l) y[k + l] *= a;
}

HALK_INLINE double dot(const double* a, const double* b, int n) {  // one is zero in its padding
  double s[LANES] = {};
  for (int k = 0; k < n; k += LANES)
    for (int l = 0; l < LANES; ++l) s[l] += a[k + l] * b[k + l];
  return sum_lanes(s);
}

HALK_INLINE void axpy(double* HALK_RESTRICT y, double a, const double* HALK_RESTRICT x, int n) {
  for (int k = 0; k < n; k += LANES)
    for (int l = 0; l < LANES; ++l) y[k + l] += a * x[k + l];
}

// out = or += the sum over G rows of x[k] A[k]; eight rows per pass load out least often.
template <int G, bool IS_FIRST>
HALK_INLINE void add_scaled_rows(const double* HALK_RESTRICT A, int ld, int end, const double* x,
                                 double* HALK_RESTRICT out) {
  double f[G];
  for (int g = 0; g < G; ++g) f[g] = x[g];
  HALK_SIMD
  for (int c = 0; c < end; ++c) {
    double s = IS_FIRST ? 0.0 : out[c];
    for (int g = 0; g < G; ++g) s += f[g] * A[std::size_t(g) * ld + c];
    out[c] = s;
  }
}

// out = A x for symmetric A; rows of A and entries of x past n are zero up to the padding.
inline void multiply_symmetric(const double* A, int ld, int n, const double* x, double* out) {
  const int end = padded(n);
  if (n > 0) add_scaled_rows<8, true>(A, ld, end, x, out);
  int k = 8;
  for (; k + 4 < n; k += 8) add_scaled_rows<8, false>(A + std::size_t(k) * ld, ld, end, x + k, out);
  if (k < n) add_scaled_rows<4, false>(A + std::size_t(k) * ld, ld, end, x + k, out);
}

// A += f g g', symmetric.
inline void add_outer_product(double* A, int ld, int n, double f, const double* g) {
  for (int a = 0; a < n; ++a) axpy(A + std::size_t(a) * ld, f * g[a], g, padded(n));
}

// The inner product of the first n entries, n arbitrary.
HALK_INLINE double dot_prefix(const double* a, const double* b, int n) {
  const int whole = n / LANES * LANES;
  double s = dot(a, b, whole);
  for (int k = whole; k < n; ++k) s += a[k] * b[k];
  return s;
}

// Overwrite the lower triangle of A by its Cholesky factor, leaving out rows whose pivot is not
// above the share `least` of their diagonal entry; is_kept tells which are in the factor.
inline void factor_cholesky(double* A, int ld, int n, double least, char* is_kept) {
  for (int i = 0; i < n; ++i) {
    double* row = A + std::size_t(i) * ld;
    for (int j = 0; j < i; ++j) {
      const double* other = A + std::size_t(j) * ld;
      row[j] = is_kept[j] ? (row[j] - dot_prefix(row, other, j)) / other[j] : 0.0;
    }
    const double pivot = row[i] - dot_prefix(row, row, i);
    is_kept[i] = pivot > least * row[i];
    row[i] = is_kept[i] ? std::sqrt(pivot) : 0.0;
  }
}

// Solve L L' x = b in place for a factor without skipped rows.
inline void solve_cholesky(const double* L, int ld, int n, double* b) {
  for (int i = 0; i < n; ++i) {
    const double* row = L + std::size_t(i) * ld;
    b[i] = (b[i] - dot_prefix(row, b, i)) / row[i];
  }
  for (int i = n - 1; i >= 0; --i) {
    b[i] /= L[std::size_t(i) * ld + i];
    for (int t = 0; t < i; ++t) b[t] -= L[std::size_t(i) * ld + t] * b[i];
  }
}

// 2^-a for a >= 0, exactly 1 at 0, relative error below 5e-16; above 1010 (and NaN) 2^-1010.
// 2^f = 1 + f ln 2 + f^2 q(f), q of degree 9 through Chebyshev nodes of |f| <= 1/2. Base 2 makes
// the range reduction exact; std::exp would not be vectorised.
HALK_INLINE double exp2_minus(double a) {
  constexpr double round = 1.5 * 4503599627370496.0;  // adding it rounds to an integer
  a = a < 1010.0 ? a : 1010.0;
  const double t = a + round, f = (t - round) - a, f2 = f * f, f4 = f2 * f2;
  const double q0 = (f * 0.05550410866482158 + 0.24022650695910075) +
                    f2 * (f * 0.0013333558146423213 + 0.009618129107618664);
  const double q4 = (f * 1.5252733820797812e-05 + 0.00015403530424780296) +
                    f2 * (f * 1.017806726594912e-07 + 1.3215451630406807e-06);
  const double q8 = f * 4.4541037535145475e-10 + 7.07097850985382e-09;
  const double p = (f * 0.6931471805599453 + 1.0) + f2 * (q0 + f4 * (q4 + f4 * q8));
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(p) -
                               (std::bit_cast<std::int64_t>(t) << 52));
}
HALK_INLINE double exp_minus(double a) { return exp2_minus(a * 1.4426950408889634); }

// The polynomial in x with these coefficients, highest power first.
template <int N>
HALK_INLINE double horner(const double (&coefficients)[N], double x) {
  double s = coefficients[0];
  for (int k = 1; k < N; ++k) s = s * x + coefficients[k];
  return s;
}

// sin(pi a) with its exact period, by the Taylor series on |a| <= 1/2; absolute error below 4e-16.
HALK_INLINE double sin_pi(double a) {
  constexpr double round = 1.5 * 4503599627370496.0;
  constexpr double taylor[] = {
      -1.0518471716932065e-11, 5.392664662608129e-10,   -2.2948428997269873e-08,
      7.952054001475513e-07,   -2.1915353447830217e-05, 0.00046630280576761255,
      -0.0073704309457143504,  0.08214588661112823,     -0.5992645293207921,
      2.5501640398773455,      -5.16771278004997,       3.141592653589793};
  a = std::abs(a) < 1e15 ? a : 0.0;  // all larger numbers are integers, or as good as
  const double t = a + round, r = a - (t - round);
  return horner(taylor, r * r) * r;  // up to its sign, which the square does not need
}

// log2(a) for normal a >= 1: exponent and 2 atanh(z) / ln 2 with z = (m - 1) / (m + 1), |z| <
// 0.172.
HALK_INLINE double log2_above_one(double a) {
  constexpr double atanh[] = {0.12545174268599682, 0.1373995277037108,  0.15186263588304877,
                              0.16972882833987804, 0.19235933878519512, 0.22195308321368667,
                              0.2623081892525388,  0.3205988979753252,  0.4121985831111324,
                              0.5770780163555853,  0.9617966939259756,  2.8853900817779268};
  const auto bits = std::bit_cast<std::int64_t>(a);
  double exponent = double((bits >> 52) - 1023);
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  const bool is_large = m > 1.4142135623730951;
  m = is_large ? 0.5 * m : m;
  exponent = is_large ? exponent + 1.0 : exponent;
  const double z = (m - 1.0) / (m + 1.0);
  return exponent + horner(atanh, z * z) * z;
}

}  // namespace halk
