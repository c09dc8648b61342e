// Losses and proximity functions. Conventions at a kink: the slope is zero wherever zero is a
// subgradient.
#pragma once
#include <functional>
#include <string>

#include "simd.hpp"

namespace halk {

struct Loss {
  enum Kind { squared, huber, absolute, epsilon_insensitive, quantile, logistic, hinge, python };
  Kind kind = squared;
  double parameter = 0.0, curvature = 0.0;
  std::function<double(double, double)> python_slope;

  static constexpr const char* NAMES[] = {"squared",  "huber",    "absolute", "epsilon_insensitive",
                                          "quantile", "logistic", "hinge"};
  static double curvature_of(Kind kind) {
    return kind == squared || kind == huber ? 1.0 : kind == logistic ? 0.25 : 0.0;
  }

  double value(double a, double y) const {
    const double r = a - y, size = std::abs(r), c = parameter, margin = y * a;
    switch (kind) {
      case squared:
        return 0.5 * r * r;
      case huber:
        return size <= c ? 0.5 * r * r : c * (size - 0.5 * c);
      case absolute:
        return size;
      case epsilon_insensitive:
        return std::max(size - c, 0.0);
      case quantile:
        return std::max(-c * r, (1.0 - c) * r);
      case logistic:
        return std::log1p(exp_minus(std::abs(margin))) + std::max(-margin, 0.0);
      case hinge:
        return std::max(1.0 - margin, 0.0);
      case python:
        break;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  // A subgradient in the prediction a.
  double slope(double a, double y) const {
    const double r = a - y, c = parameter, margin = y * a;
    switch (kind) {
      case squared:
        return r;
      case huber:
        return std::clamp(r, -c, c);
      case absolute:
        return (r > 0) - (r < 0);
      case epsilon_insensitive:
        return (r > c) - (r < -c);
      case quantile:
        return r > 0 ? 1.0 - c : r < 0 ? -c : 0.0;
      case logistic: {
        const double decay = exp_minus(std::abs(margin));
        return -y * (margin > 0.0 ? decay : 1.0) / (1.0 + decay);
      }
      case hinge:
        return margin < 1.0 ? -y : 0.0;
      case python:
        return python_slope(a, y);
    }
    return 0.0;
  }
};

struct Proximity {
  enum Kind { squared, absolute, huber, python };
  Kind kind = squared;
  double parameter = 0.0, curvature = 1.0;
  std::function<void(const double*, const double*, int, double*, double*)> python_compare;

  static constexpr const char* NAMES[] = {"squared", "absolute", "huber"};

  // h(a, b) and its slope in a, for n pairs. h is symmetric: the slope in b is that of h(b, a).
  void compare(const double* a, const double* b, int n, double* value, double* slope) const {
    if (kind == python) {
      if (n > 0) python_compare(a, b, n, value, slope);
      return;
    }
    for (int k = 0; k < n; ++k) {
      const double d = a[k] - b[k], size = std::abs(d), c = parameter;
      if (kind == squared || (kind == huber && size <= c)) {
        value[k] = 0.5 * d * d;
        slope[k] = d;
      } else if (kind == absolute) {
        value[k] = size;
        slope[k] = (d > 0) - (d < 0);
      } else {
        value[k] = c * (size - 0.5 * c);
        slope[k] = d > 0 ? c : -c;
      }
    }
  }
};

}  // namespace halk
