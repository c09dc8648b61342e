// Running statistics of an agent's target: values travel between agents in the target's unit,
// F = offset + std f.
#pragma once
#include <numeric>

#include "simd.hpp"

namespace halk {

constexpr double CONSTANT = 1e-9;  // std, as a share of the mean, below which a target is constant
constexpr int WARM_UP = 10;        // readings before offset and std are known well enough

struct Standardization {
  bool removes_offset = false, removes_std = false;
  bool is_on() const { return removes_offset || removes_std; }
};

struct Target {
  double count = 0.0, mean = 0.0, squares = 0.0, offset = 0.0, std = 1.0, adopted = 0.0;

  double to_unit(double f) const { return offset + std * f; }
  double measured_std() const { return std::sqrt(squares / std::max(count, 1.0)); }
  bool is_constant() const { return measured_std() <= CONSTANT * std::abs(mean); }

  // Take in a reading (Welford); return old over new std, by which the weights must be multiplied.
  // Statistics first: so the scaled target is at most the root of the number of readings.
  double observe(double y, Standardization s) {
    count += 1.0;
    const double before = y - mean, old = std;
    mean += before / count;
    squares += before * (y - mean);
    if (s.removes_offset) offset = mean;
    if (s.removes_std && !is_constant()) std = measured_std();
    return old / std;
  }
  // An agent without readings takes offset and std over from the first that asks. It would predict
  // zero otherwise, far from everybody, and be made to pay for it.
  void adopt(double value, double their_std, Standardization s) {
    if (count != 0.0 || adopted != 0.0) return;
    adopted = 1.0;
    if (s.removes_offset) offset = value;
    if (s.removes_std) std = their_std;
  }
  // Multipliers rest while the statistics are not known. A stuck sensor never knows its std: priced
  // in one of nothing, its neighbours would be made to follow it.
  bool is_known(Standardization s) const {
    return !s.is_on() || !(count < WARM_UP || (s.removes_std && is_constant()));
  }
};

// Statistics of the first readings that are no outliers, frozen after that: an outlier would move
// offset and std for good.
struct RobustTarget : Target {
  static constexpr int SAMPLE = 50;
  static constexpr double FAR = 10.0;           // std: an outlier
  static constexpr double ABSURD = 100.0;       // std: even by the scale of very few readings
  static constexpr double PER_MEDIAN = 1.4826;  // std over the median absolute deviation
  static constexpr double PER_MEAN = 1.2533;    // and over the mean one, if that is zero
  double n_seen = 0.0, sample[SAMPLE] = {};

  // Whether a value, in the target's unit, can only have been learned from an outlier.
  bool is_absurd(double value) const {
    return !is_constant() && std::abs(value - mean) > ABSURD * measured_std();
  }
  // Whether offset or std moved.
  bool observe(double y, Standardization s) {
    if (count >= SAMPLE) return false;
    n_seen = std::clamp(n_seen, 0.0, double(SAMPLE - 1));
    sample[int(n_seen++)] = y;
    const auto middle = [](std::vector<double>& v) {
      std::sort(v.begin(), v.end());
      return 0.5 * (v[(v.size() - 1) / 2] + v[v.size() / 2]);
    };
    std::vector<double> sorted(sample, sample + int(n_seen)), distance;
    const double median = middle(sorted);
    for (double v : sorted) distance.push_back(std::abs(v - median));
    double deviation = PER_MEDIAN * middle(distance);
    if (!(deviation > 0.0))  // most are equal
      deviation = PER_MEAN / n_seen * std::accumulate(distance.begin(), distance.end(), 0.0);
    const double limit = FAR * deviation;
    const double old_offset = offset, old_std = std;
    count = mean = squares = 0.0;
    int kept = 0;
    for (int k = 0; k < int(n_seen); ++k) {
      if (!(std::abs(sample[k] - median) <= limit)) continue;
      Target::observe(sample[k], s);
      ++kept;
    }
    if (int(n_seen) == SAMPLE && kept < SAMPLE) {  // room for others
      double* end = std::remove_if(sample, sample + SAMPLE,
                                   [&](double v) { return !(std::abs(v - median) <= limit); });
      n_seen = double(end - sample);
    }
    return offset != old_offset || std != old_std;
  }
};

}  // namespace halk
