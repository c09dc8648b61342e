// Adaptation of an agent's length scale (S10), and the refit when the kernel changes.
#pragma once
#include "dictionary.hpp"

namespace halk {

struct Adaptation {
  enum { fixed, leave_one_out, loss_following };
  int kind = fixed;
  double rate = 0.05, warm_up = 20.0, narrowest = 0.1, widest = 10.0;
  double threshold = 0.05, smoothing = 0.01, sharing = 0.5;
};

// What an agent keeps of it.
struct AdaptationState {
  double log_scale = 0.0;  // proposed
  double n_readings = 0.0, slope = 0.0, square = 0.0;
};

// The mean of squared distances, weighted by exp(-square / 2), of one point from n others, or -1.
// Its own and those of duplicates do not count; exponents are shifted by the nearest neighbour's,
// so an isolated point does not divide by zero.
inline double weigh_squares(const double* squares, int own, int n) {
  double nearest = std::numeric_limits<double>::infinity(), above = 0.0, below = 0.0;
  for (int k = 0; k < n; ++k)
    if (k != own && squares[k] > 0.0) nearest = std::min(nearest, squares[k]);
  if (!(nearest < std::numeric_limits<double>::infinity())) return -1.0;
  for (int k = 0; k < n; ++k) {
    if (k == own || !(squares[k] > 0.0)) continue;
    const double weight = exp_minus(0.5 * (squares[k] - nearest));
    above += weight * squares[k];
    below += weight;
  }
  return above / below;
}

// The right-hand side of S10 over the squared length scale in use; the dictionary counts with x.
inline double leave_one_out_ratio(const ScaledKernel& kernel, const Dictionary& D,
                                  const double* x) {
  const int n = D.m + 1, p = kernel.p();
  Array points(std::size_t(n) * p), squares(n);
  for (int k = 0; k < D.m; ++k) D.copy_atom(k, &points[std::size_t(k) * p]);
  std::copy_n(x, p, &points[std::size_t(D.m) * p]);
  double total = 0.0;
  int counted = 0;
  for (int own = 0; own < n; ++own) {
    for (int k = 0; k < n; ++k) {
      squares[k] = 0.0;
      for (int f = 0; f < p; ++f) {
        const double d = points[std::size_t(k) * p + f] - points[std::size_t(own) * p + f];
        const double ratio = d / (kernel.kernel->length_scale[f] * kernel.scale);
        squares[k] += ratio * ratio;
      }
    }
    const double mean = weigh_squares(squares.data(), own, n);
    if (mean >= 0.0) total += mean, ++counted;
  }
  return total / std::max(counted, 1);
}

// K and K w at the atoms.
inline void fill_gram(const ScaledKernel& kernel, const Dictionary& D, Array& K, Array& Kw) {
  const int m = D.m, ld = D.end(), p = kernel.p();
  Array x(std::size_t(m) * p);
  for (int k = 0; k < m; ++k) D.copy_atom(k, &x[std::size_t(k) * p]);
  K.resize(std::size_t(m) * ld);
  Kw.assign(ld, 0.0);
  kernel.rows(D.atoms(), x.data(), m, K.data(), ld);
  for (int k = 0; k < m; ++k) Kw[k] = dot(&K[std::size_t(k) * ld], D.weights(), ld);
}

// Overwrite b by (K + smoothing diag K)^-1 b; overwrites K.
inline void solve_ridge(Array& K, int m, double smoothing, double* b) {
  const int ld = padded(m);
  std::vector<char> is_kept(m);
  for (int k = 0; k < m; ++k) K[std::size_t(k) * ld + k] *= 1.0 + smoothing;
  factor_cholesky(K.data(), ld, m, 0.0, is_kept.data());
  solve_cholesky(K.data(), ld, m, b);
}

// df(x) / d log(scale) when the weights follow so that the atoms keep their values:
// dk(x)'w - u' dK w with u = (K + smoothing I)^-1 k(x), by central differences.
inline double refitted_slope(const ScaledKernel& kernel, const Dictionary& D, const double* x,
                             double smoothing) {
  constexpr double STEP = 1e-4;
  const ScaledKernel wider{kernel.kernel, kernel.scale * std::exp(STEP)};
  const ScaledKernel narrower{kernel.kernel, kernel.scale * std::exp(-STEP)};
  const int ld = D.end();
  Array K, change, other, k(ld);
  fill_gram(wider, D, K, change);
  fill_gram(narrower, D, K, other);
  axpy(change.data(), -1.0, other.data(), ld);
  const double slope = D.evaluate(wider, x, k) - D.evaluate(narrower, x, k);
  fill_gram(kernel, D, K, other);
  solve_ridge(K, D.m, smoothing, change.data());
  kernel.rows(D.atoms(), x, 1, k.data(), ld);
  return (slope - dot(k.data(), change.data(), ld)) / (2.0 * STEP);
}

// Exchange the kernel under the function by kernel ridge regression of its values at the atoms:
// interpolating them exactly with a wider kernel would make it swing between the atoms.
inline void refit(const ScaledKernel& old, const ScaledKernel& fresh, Dictionary& D,
                  double smoothing) {
  Array K, values, unused;
  fill_gram(old, D, K, values);
  fill_gram(fresh, D, K, unused);
  solve_ridge(K, D.m, smoothing, values.data());
  std::copy_n(values.data(), D.m, D.weights());
  D.rebuild(fresh);
}

// Let the length scale follow a reading at x, where the loss has this slope; `around` is the mean
// log scale of the neighbours, NaN without any. Returns the agent's new scale.
inline double adapt_scale(const Adaptation& rule, const ScaledKernel& kernel, Dictionary& D,
                          AdaptationState& state, const double* x, double slope, double around) {
  state.n_readings += 1.0;
  const double n = state.n_readings - rule.warm_up;
  if (D.m >= 3 && n > 0.0 && rule.kind == Adaptation::leave_one_out) {
    const double ratio = leave_one_out_ratio(kernel, D, x);
    if (ratio > 0.0)
      state.log_scale +=
          rule.rate * (std::log(kernel.scale) + 0.5 * std::log(ratio) - state.log_scale);
  } else if (D.m >= 3 && n > 0.0) {
    const double gradient = slope * refitted_slope(kernel, D, x, rule.smoothing);
    state.slope += (gradient - state.slope) * std::max(0.05, 1.0 / n);
    state.square += (gradient * gradient - state.square) * std::max(0.01, 1.0 / n);
    if (state.square > 0.0)
      state.log_scale -=
          rule.rate / std::sqrt(1.0 + n / 100.0) * state.slope / std::sqrt(state.square);
  }
  if (around == around) state.log_scale += rule.sharing * (around - state.log_scale);
  state.log_scale = std::clamp(state.log_scale, std::log(rule.narrowest), std::log(rule.widest));
  if (std::abs(state.log_scale - std::log(kernel.scale)) <= rule.threshold) return kernel.scale;
  const ScaledKernel fresh{kernel.kernel, std::exp(state.log_scale)};
  refit(kernel, fresh, D, rule.smoothing);
  return fresh.scale;
}

}  // namespace halk
