// Slopes of losses, and proximity functions. At a kink the slope is zero wherever zero is a
// subgradient.
#pragma once
#include <functional>

#include "simd.hpp"

namespace halk {

struct Bound {
  double target, curvature;
};

struct Loss {
  enum Kind { squared, huber, absolute, epsilon_insensitive, quantile, logistic, hinge, python };
  int kind;
  double parameter, curvature;
  std::function<double(double, double)> python_slope;

  // A subgradient in the prediction a.
  double slope(double a, double y) const {
    const double r = a - y, c = parameter;
    if (kind == squared) return r;
    if (kind == huber) return std::clamp(r, -c, c);
    if (kind == absolute) return (r > 0) - (r < 0);
    if (kind == epsilon_insensitive) return (r > c) - (r < -c);
    if (kind == quantile) return r > 0 ? 1.0 - c : r < 0 ? -c : 0.0;
    if (kind == python) return python_slope(a, y);
    const double margin = y * a, decay = exp_minus(std::abs(margin));
    if (kind == hinge) return margin < 1.0 ? -y : 0.0;
    return -y * (margin > 0.0 ? decay : 1.0) / (1.0 + decay);  // logistic
  }

  // The parabola above the loss that touches it at the prediction f: where it is least, and its
  // curvature, 0 for nothing to learn. Losses of one slope are sigma times theirs, the standard
  // deviation of the noise, and round at a kink.
  Bound bound(double f, double y, double sigma) const {
    const double size = std::abs(y - f), c = parameter, smooth = 0.5 * sigma;
    if (kind == huber) return {y, c / std::max(size, c)};
    if (kind == logistic) return {f - 4.0 * slope(f, y), 0.25};
    if (kind == quantile) {
      const double width = std::max(size, smooth);
      return {y + (2.0 * c - 1.0) * width, sigma / (2.0 * width)};
    }
    const double zone = kind == epsilon_insensitive ? c : 0.0;
    if (kind == squared) return {y, 1.0};
    if (size <= zone) return {y, 0.0};
    return {y > f ? y - zone : y + zone, sigma / std::max(size - zone, smooth)};
  }
};

struct Proximity {
  enum Kind { squared, absolute, huber, python };
  int kind;
  double parameter, curvature;
  using Values = std::vector<double>;
  std::function<std::pair<Values, Values>(const Values&, const Values&)> python_compare;

  // h(a, b) and its slope in a, for n pairs. h is symmetric: the slope in b is that of h(b, a).
  void compare(const double* a, const double* b, int n, double* value, double* slope) const {
    if (kind == python && n > 0) {
      const auto [h, d] = python_compare({a, a + n}, {b, b + n});
      std::copy_n(h.data(), n, value);
      std::copy_n(d.data(), n, slope);
    }
    for (int k = 0; k < n && kind != python; ++k) {
      const double d = a[k] - b[k], size = std::abs(d), c = parameter;
      const bool is_square = kind == squared || (kind == huber && size <= c);
      const double steepness = is_square ? size : kind == absolute ? 1.0 : c;
      value[k] = is_square ? 0.5 * d * d : kind == absolute ? size : c * (size - 0.5 * c);
      slope[k] = d > 0 ? steepness : d < 0 ? -steepness : 0.0;
    }
  }
};

}  // namespace halk
