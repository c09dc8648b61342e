// Kernels: rows of values k(point, atom). Atoms are stored feature by feature, points row by row.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>

#include "simd.hpp"

namespace halk {

// n atoms of p features; feature f of atom k is at data[f * ld + k].
struct Atoms {
  const double* data;
  int ld, n;
};

// Memory that the next agent will read, to be fetched while this one is worked on.
struct Prefetch {
  const double* data = nullptr;
  std::size_t n = 0;
};

struct Kernel {
  explicit Kernel(int p) : p(p) {}
  virtual ~Kernel() = default;
  const int p;
  double at_itself = std::numeric_limits<double>::quiet_NaN();  // k(x, x) if constant, else NaN
  std::vector<double> length_scale;                             // per feature; empty for none
  bool is_python = false;

  // out[r * ld + k] = k(x_r, a_k) for b points, zero from a.n up to the padding; ld >= padded(a.n).
  // Length scales count `scale` times. One call for all points per agent and step.
  virtual void rows(Atoms a, const double* x, int b, double* out, std::size_t ld, double scale,
                    Prefetch next) const = 0;
};

// A kernel with an agent's own multiple of the length scale.
struct ScaledKernel {
  const Kernel* kernel;
  double scale;

  int p() const { return kernel->p; }
  void rows(Atoms a, const double* x, int b, double* out, std::size_t ld,
            Prefetch next = {}) const {
    kernel->rows(a, x, b, out, ld, scale, next);
  }
  double diagonal(const double* x) const {
    if (kernel->at_itself == kernel->at_itself) return kernel->at_itself;
    alignas(64) double out[LANES];
    Array one(std::size_t(p()) * LANES);
    for (int f = 0; f < p(); ++f) one[std::size_t(f) * LANES] = x[f];
    kernel->rows({one.data(), LANES, 1}, x, 1, out, LANES, scale, {});
    return out[0];
  }
};

// A kernel that is a formula at(s) of a sum s over features of term(atom, point, unit, f).
template <class Formula>
struct Pointwise final : Kernel {
  Formula formula;
  std::vector<double> unit;  // per feature; divided by the agent's scale

  Pointwise(int p, Formula formula, std::vector<double> scales)
      : Kernel(p), formula(std::move(formula)), unit(p, 1.0) {
    if (Formula::is_stationary) at_itself = 1.0;
    length_scale = std::move(scales);
    for (std::size_t f = 0; f < length_scale.size(); ++f)
      unit[f] = Formula::unit_factor / length_scale[f];
  }

  // Half a cache line at a time: 6 % fewer terms than whole ones.
  static constexpr int evaluated(int n) { return (n + 3) / 4 * 4; }

  template <int P>
  HALK_INLINE void fill_row(Atoms a, const double* x, double* HALK_RESTRICT out,
                            double inverse) const {
    const int end = evaluated(a.n);
    const double *HALK_RESTRICT D = a.data, *HALK_RESTRICT units = unit.data();
    HALK_SIMD
    for (int k = 0; k < end; ++k) {
      double s = 0.0;
      for (int f = 0; f < P; ++f)
        s += formula.term(D[std::size_t(f) * a.ld + k], x[f], units[f] * inverse, f);
      out[k] = formula.at(s);
    }
  }
  // Any number of features, one at a time: compilers do not vectorise the loop above then.
  void fill_long_row(Atoms a, const double* x, double* HALK_RESTRICT out, double inverse) const {
    const int end = evaluated(a.n);
    std::fill_n(out, end, 0.0);
    for (int f = 0; f < p; ++f) {
      const double* HALK_RESTRICT D = a.data + std::size_t(f) * a.ld;
      const double point = x[f], units = unit[f] * inverse;
      HALK_SIMD
      for (int k = 0; k < end; ++k) out[k] += formula.term(D[k], point, units, f);
    }
    HALK_SIMD
    for (int k = 0; k < end; ++k) out[k] = formula.at(out[k]);
  }

  void rows(Atoms a, const double* x, int b, double* out, std::size_t ld, double scale,
            Prefetch next) const override {
    if (a.n == 0) return;
    const double inverse = 1.0 / scale;
    // The next agent's memory, spread over the rows (1.2 to 1.3x at 20,000 agents).
    const std::size_t lines = b ? (next.n / LANES + b - 1) / b : 0;
    for (int r = 0; r < b; ++r, x += p, out += ld) {
      for (std::size_t q = 0; q < lines; ++q, next.data += LANES) HALK_PREFETCH(next.data);
      if (p == 1)
        fill_row<1>(a, x, out, inverse);
      else if (p == 2)
        fill_row<2>(a, x, out, inverse);
      else if (p == 3)
        fill_row<3>(a, x, out, inverse);
      else
        fill_long_row(a, x, out, inverse);
      for (int k = padded(a.n) - LANES, l = 0; l < LANES; ++l)
        out[k + l] = k + l < a.n ? out[k + l] : 0.0;
    }
  }
};

// Formulas. s is the squared distance, each feature over its length scale, or the inner product.
struct Radial {
  static constexpr bool is_stationary = true;
  static constexpr double unit_factor = 1.0;
  static HALK_INLINE double term(double atom, double point, double unit, int) {
    const double d = (atom - point) * unit;
    return d * d;
  }
};
struct Gaussian : Radial {
  static constexpr double unit_factor = 0.8493218002880191;  // sqrt(log2(e) / 2): s is to base 2
  HALK_INLINE double at(double s) const { return exp2_minus(s); }
};
struct Laplacian : Radial {
  HALK_INLINE double at(double s) const { return exp_minus(std::sqrt(s)); }
};
struct Matern32 : Radial {
  HALK_INLINE double at(double s) const {
    const double a = std::min(std::sqrt(3.0 * s), 700.0);
    return (1.0 + a) * exp_minus(a);
  }
};
struct Matern52 : Radial {
  HALK_INLINE double at(double s) const {
    const double a = std::min(std::sqrt(5.0 * s), 700.0);
    return (1.0 + a + a * a / 3.0) * exp_minus(a);
  }
};
struct RationalQuadratic : Radial {
  double alpha;
  HALK_INLINE double at(double s) const {
    return exp2_minus(alpha * log2_above_one(1.0 + s / (2.0 * alpha)));
  }
};
struct Periodic {
  static constexpr bool is_stationary = true;
  static constexpr double unit_factor = 1.0;
  std::vector<double> period;
  HALK_INLINE double term(double atom, double point, double unit, int f) const {
    const double d = sin_pi((atom - point) / period[f]) * unit;
    return d * d;
  }
  HALK_INLINE double at(double s) const { return exp_minus(2.0 * s); }
};
struct InnerProduct {
  static constexpr bool is_stationary = false;
  static constexpr double unit_factor = 1.0;
  static HALK_INLINE double term(double atom, double point, double, int) { return atom * point; }
};
struct Polynomial : InnerProduct {
  int degree;
  double gain, offset;
  HALK_INLINE double at(double s) const {
    const double base = gain * s + offset;
    double power = 1.0, square = base;
    for (int d = degree; d > 0; d /= 2, square *= square) power = d % 2 ? power * square : power;
    return power;
  }
};
inline std::shared_ptr<Kernel> make_kernel(const std::string& name, int p,
                                           std::vector<double> length_scale,
                                           std::vector<double> parameters) {
  auto make = [&](auto formula) -> std::shared_ptr<Kernel> {
    return std::make_shared<Pointwise<decltype(formula)>>(p, formula, length_scale);
  };
  if (name == "gaussian") return make(Gaussian{});
  if (name == "laplacian") return make(Laplacian{});
  if (name == "matern32") return make(Matern32{});
  if (name == "matern52") return make(Matern52{});
  if (name == "rational_quadratic") return make(RationalQuadratic{{}, parameters.at(0)});
  if (name == "periodic") return make(Periodic{parameters});
  if (name == "polynomial") {  // of degree, gain, offset; also the linear and the constant kernel
    const Polynomial formula{{}, int(parameters.at(0)), parameters.at(1), parameters.at(2)};
    auto kernel = make(formula);
    if (formula.gain == 0.0) kernel->at_itself = formula.at(0.0);
    return kernel;
  }
  throw std::invalid_argument("unknown kernel " + name);
}

// A kernel of all features but the last, a label, times `between` where labels differ.
struct Labelled final : Kernel {
  std::shared_ptr<Kernel> inner;
  double between;
  Labelled(std::shared_ptr<Kernel> kernel, double between)
      : Kernel(kernel->p + 1), inner(std::move(kernel)), between(between) {
    at_itself = inner->at_itself;
    is_python = inner->is_python;
  }
  void rows(Atoms a, const double* x, int b, double* out, std::size_t ld, double scale,
            Prefetch) const override {
    const double* labels = a.data + std::size_t(p - 1) * a.ld;
    for (int r = 0; r < b; ++r, x += p, out += ld) {
      inner->rows(a, x, 1, out, ld, scale, {});
      for (int k = 0; k < a.n; ++k) out[k] *= labels[k] == x[p - 1] ? 1.0 : between;
    }
  }
};

// Sum or product of two kernels.
struct Pair final : Kernel {
  std::shared_ptr<Kernel> left, right;
  bool is_sum;
  Pair(std::shared_ptr<Kernel> a, std::shared_ptr<Kernel> b, bool is_sum)
      : Kernel(a->p), left(std::move(a)), right(std::move(b)), is_sum(is_sum) {
    at_itself = combine(left->at_itself, right->at_itself);
    is_python = left->is_python || right->is_python;
  }
  double combine(double a, double b) const { return is_sum ? a + b : a * b; }
  void rows(Atoms a, const double* x, int b, double* out, std::size_t ld, double scale,
            Prefetch) const override {
    constexpr int CHUNK = 64;  // atoms at a time, so that the second factor needs no allocation
    alignas(64) double other[CHUNK];
    left->rows(a, x, b, out, ld, scale, {});
    for (int r = 0; r < b; ++r)
      for (int first = 0; first < a.n; first += CHUNK) {
        const int n = std::min(CHUNK, a.n - first);
        right->rows({a.data + first, a.ld, n}, x + std::size_t(r) * p, 1, other, CHUNK, scale, {});
        double* row = out + r * ld + first;
        for (int k = 0; k < padded(n); ++k) row[k] = combine(row[k], other[k]);
      }
  }
};

}  // namespace halk
