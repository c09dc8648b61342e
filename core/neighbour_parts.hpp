// What the neighbour model is made of: settings, transforms, moments, messages, scratch.
#pragma once
#include <array>
#include <string>

#include "simd.hpp"

namespace halk::neighbours {

enum Mode { FILL, NOW, AHEAD };  // from both sides W late; from the past and present; from the past
enum Form { IDENTITY, ROOT, LOG };    // transforms of readings
enum Estimates { NONE, ALL, BLIND };  // of neighbours, as inputs: BLIND do not hear this agent
// Of a message: an estimate from the past; one from what others read at that step; a reading.
enum Kind : std::int8_t { GUESS, ESTIMATE, READING, SHIFTED, RETURNED };
enum Flag : std::int8_t { NO_READING, ACCEPTED, SUSPECT, STUCK, SHIFT };
enum What { IS_SHIFT, IS_RETURN, IS_STUCK, IS_OUTLIER, IS_DRIFT };  // of an event

constexpr int MODES = 3, FORMS = 3, RIDGES = 3, SHRINKAGES = 3, BINS = 4, CASES = 2 * BINS,
              SCORES = 40;
constexpr double RIDGE[RIDGES] = {0.002, 0.01, 0.05};
constexpr double SHRINKAGE[SHRINKAGES] = {3.0, 12.0, 50.0};  // alpha = nu / (nu + rows that count)
constexpr double PRIOR_ROWS = 10.0, UNKNOWN = std::numeric_limits<double>::quiet_NaN();
constexpr double RANGE[8] = {0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 25.0};  // in mean distances
constexpr double LOG_RANGE[8] = {                                       // of half the range
                                 -2.995732273553991, -2.3025850929940455,  -1.6094379124341003,
                                 -0.916290731874155, -0.22314355131420974, 0.47000362924573563,
                                 1.1631508098056809, 2.5257286443082556};
constexpr double LARGEST_READING = 1e30;
constexpr int RECENT = 24, LATE = 8, BLOCK = 24;  // residuals that tell of shifts, and of drifts

struct Settings {
  int window = 24;  // W: half window, and delay of a fill (steps)
  int stale = 12;   // oldest reading of a silent neighbour (steps)
  int period = 0;   // of the readings (steps), for forecasts; 0: none
  int gap_memory = 128, tell_every = 24, shift_rejects = 12;
  double memory = 700;  // of the table (steps)
  double estimate_noise = 1, replay_rate = 0.125, pool = 0.25, coverage = 0.9;
  double score_decay = 0.98, gate = 5, close = 1.5, shift_jump = 5, stuck_odds = 1e-6, drift = 10;
  bool is_robust = true;

  int lags() const { return 2 * window + 1; }
  double decay() const { return 1.0 - 1.0 / memory; }
};

// What all agents share: powers of the decay, edges of the score histogram.
struct Tables {
  std::vector<double> half_decay, power;
  std::array<double, SCORES + 1> edge;
  std::array<double, SCORES> prior;  // ten half-normal scores

  explicit Tables(const Settings& s) : half_decay(s.lags()), power(s.lags()) {
    const double decay = s.decay(), root = std::sqrt(decay);
    half_decay[0] = power[0] = 1.0;
    for (int l = 1; l < s.lags(); ++l)
      half_decay[l] = half_decay[l - 1] * root, power[l] = power[l - 1] * decay;
    for (int k = 0; k <= SCORES; ++k)  // from 0.1 to 20
      edge[k] = 20.0 * exp_minus(5.298317366548036 * double(SCORES - k) / SCORES);
    double total = 0.0;
    for (int k = 0; k < SCORES; ++k) {
      const double middle = std::sqrt(edge[k] * edge[k + 1]);
      total += prior[k] = exp_minus(0.5 * middle * middle) * middle;
    }
    for (double& p : prior) p *= 10.0 / total;
  }
};

struct Draws {  // splitmix64
  std::uint64_t state;
  double uniform() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  int below(int n) { return int(uniform() * n); }
  int log_uniform(int n) {  // from 1 to n
    return std::min(int(1.0 / exp_minus(uniform() * std::log(n + 1.0))), n);
  }
};

inline double forward(double x, int form) {
  if (form == IDENTITY) return x;
  x = x > 0.0 ? x : 0.0;
  return form == ROOT ? std::sqrt(x) : 0.6931471805599453 * log2_above_one(1.0 + x);
}
inline double inverse(double y, int form) {
  if (form == IDENTITY) return y;
  y = std::clamp(y, 0.0, form == ROOT ? 1e25 : 115.0);
  return form == ROOT ? y * y : 1.0 / exp_minus(y) - 1.0;
}

// Running count, mean and sum of squared differences of a heard sensor.
struct Moments {
  double count = 0.0, mean[FORMS] = {}, squares[FORMS] = {};
  void decay(double d) {
    count *= d;
    for (double& s : squares) s *= d;
  }
  void add(double x, double weight) {
    count += weight;
    for (int g = 0; g < FORMS; ++g) {
      const double y = forward(x, g), apart = y - mean[g];
      mean[g] += apart * (weight / count);
      squares[g] += weight * apart * (y - mean[g]);
    }
  }
  void shift_mean(double before, double after) {
    for (int g = 0; g < FORMS; ++g) mean[g] += forward(after, g) - forward(before, g);
  }
  void move(double before, double after) {  // to another level, of which less is known
    const double keep = std::clamp(count, 12.0, 50.0), share = count > 1.0 ? keep / count : 0.0;
    for (int g = 0; g < FORMS; ++g) {
      if (count <= 1.0) mean[g] = forward(before, g);
      squares[g] *= share;
    }
    shift_mean(before, after);
    count = keep;
  }
};
struct Scale {  // mean and std of a heard sensor, shrunk to the neighbourhood's
  double centre[FORMS] = {}, std[FORMS] = {1.0, 1.0, 1.0};
  double standardize(double x, int g) const { return (forward(x, g) - centre[g]) / std[g]; }
};

struct Prediction {  // of a standardized reading
  double mean = 0.0, std = 1.0;
  int bin = CASES - 1, form = IDENTITY;
};
struct Estimate {
  double value = UNKNOWN, std = UNKNOWN, low = UNKNOWN, high = UNKNOWN;
  int bin = -1;
};
struct Message {
  double value = UNKNOWN;
  int kind = GUESS;
  double before = 0.0, after = 0.0;  // level, if it shifted
};
struct Event {
  double step, sensor, what, from, before, after;
};

// Scratch of a thread: inputs (heard sensor, step) with the target last, their covariances by the
// table (A) and by the prior (B), the factor U with right-hand sides behind the target.
struct Workspace {
  int n = 0, ld = 0;
  std::vector<int> who, before, after;
  std::vector<std::int64_t> when;
  std::vector<char> is_estimate;
  std::vector<double> median;
  Array A, B, U, z, column, lag_weight;

  void prepare(int k1, int lags) {
    const int most = 3 * k1 + 5;
    if (int(who.size()) >= most && int(lag_weight.size()) >= lags) return;
    ld = padded(most + 1 + FORMS);
    who.resize(most), when.resize(most), is_estimate.resize(most);
    before.resize(k1), after.resize(k1);
    median.reserve(std::size_t(k1) * lags);
    for (Array* a : {&A, &B, &U}) a->assign(std::size_t(most) * ld, 0.0);
    z.resize(std::size_t(FORMS) * ld), column.resize(ld), lag_weight.resize(lags);
  }
  void add(int j, std::int64_t u, bool estimate = false) {
    who[n] = j, when[n] = u, is_estimate[n++] = estimate;
  }
};

inline double median_of(std::vector<double>& x) {  // leaves x in another order
  const auto middle = x.begin() + x.size() / 2;
  std::nth_element(x.begin(), middle, x.end());
  return x.size() % 2 ? *middle : 0.5 * (*middle + *std::max_element(x.begin(), middle));
}

struct Scalars {  // of an agent's state; doubles only, saved as a row
  double age = 0.0, weight = 1e-9, tau = 1.0, alpha[SHRINKAGES] = {1.0, 1.0, 1.0},
         is_nonnegative = 1.0;
  double losses[MODES][1 + RIDGES][3] = {}, told_losses[MODES][1 + RIDGES][3] = {};
  double chosen[MODES][3];  // transform, ridge, shrinkage
  double scores[MODES][CASES][SCORES] = {}, told_scores[MODES][CASES][SCORES] = {};
  double n_gaps = 0.0, run = 0.0, run_start = 0.0, is_stuck = 0.0, repeats = 0.0, pairs = 0.0;
  double last_reading = UNKNOWN, n_rejects = 0.0, first_reject = 0.0, n_recent = 0.0;
  double recent[3][RECENT] = {};  // residual from neighbours alone, reading, its estimate
  double shifted_at = -1.0, shifted_from = -1.0, level[2] = {}, n_back = 0.0;
  double block = 0.0, n_block = 0.0, n_blocks = 0.0, block_square = 0.0;
  double sill = 0.8, range = 1.0;  // of the prior
  double drift[2] = {}, drift_from[2] = {-1.0, -1.0}, is_drifting = 0.0;
};

}  // namespace halk::neighbours
