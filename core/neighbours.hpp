// Readings as inputs: one agent of the neighbour model (SPEC section 12).
//
// An agent hears a value per step from itself and its nearest sensors, keeps their lagged
// covariances, and predicts a missing reading by the conditional Gaussian on what it heard. It
// hides readings it does have behind gaps like its own (replay), and so chooses its settings and
// calibrates its intervals. The network around it is in neighbour_network.hpp.
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

struct Agent {
  int k1;                             // heard sensors, itself first
  std::vector<std::int64_t> near;     // their indices
  std::vector<std::int8_t> is_blind;  // which of them do not hear this agent
  std::vector<double> distance;       // (k1, k1), in units of mean_distance
  double mean_distance;
  std::vector<double> value;                   // (rows, k1), the last 2W + 1 steps
  std::vector<std::int8_t> heard;              // whether it was a reading
  std::vector<Moments> moments, saved, early;  // now, and before the last level shift
  std::vector<double> saved_at;                // -1: never
  std::vector<Scale> scales;
  std::vector<float> table, lagged;  // sums of z_k(t) z_j(t - l) as (k, j, l); last rows (j, l)
  std::vector<double> autocorrelation, cross;  // the prior: by lag; scaled correlations (k1, k1)
  std::vector<std::uint8_t> gaps;              // (gap_memory, 2, k1): who was silent, for how long
  std::vector<double> rejects;                 // (3, shift_rejects): residual, reading, estimate
  Scalars s;
  std::uint64_t key;
  Draws draws;
  std::vector<Event> events;  // of this call
  const Settings* settings;
  const Tables* tables;

  Agent(const Settings& c, const Tables& shared, std::vector<std::int64_t> who,
        std::vector<std::int8_t> blind, std::vector<double> apart, std::uint64_t key)
      : k1(int(who.size())),
        near(std::move(who)),
        is_blind(std::move(blind)),
        distance(std::move(apart)),
        value(std::size_t(c.lags()) * k1, UNKNOWN),
        heard(value.size()),
        moments(k1),
        saved(k1),
        early(k1),
        saved_at(k1, -1.0),
        scales(k1),
        table(std::size_t(k1) * k1 * c.lags()),
        lagged(std::size_t(k1) * c.lags()),
        autocorrelation(c.lags()),
        cross(std::size_t(k1) * k1),
        gaps(std::size_t(c.gap_memory) * 2 * k1),
        rejects(std::size_t(3) * c.shift_rejects),
        key(key),
        draws{key},
        settings(&c),
        tables(&shared) {
    double total = 0.0;
    for (double d : distance) total += d;
    mean_distance = k1 > 1 && total > 0.0 ? total / (k1 * (k1 - 1.0)) : 1.0;
    for (double& d : distance) d /= mean_distance;
    for (auto& chosen : s.chosen) chosen[0] = 0.0, chosen[1] = 1.0, chosen[2] = 2.0;
    for (auto& loss : s.losses) {
      for (int r = 1; r <= RIDGES; ++r) std::fill_n(loss[r], 3, 1e-9);
      loss[2][2] = 0.0;  // start: identity, the middle ridge, the strongest shrinkage
    }
  }

  // ------------------------------------------------------------------ what was heard
  std::size_t cell(std::int64_t u, int j) const {
    return std::size_t(u % settings->lags()) * k1 + j;
  }
  bool is_heard(std::int64_t u, int j) const { return heard[cell(u, j)] >= READING; }
  void put(std::int64_t t, int j, double x, int kind) {
    value[cell(t, j)] = x, heard[cell(t, j)] = std::int8_t(kind);
  }
  bool knows() const {
    for (const Moments& m : moments)
      if (m.count > 0.0) return true;
    return false;
  }

  // Forget what was heard last, keep what was learned: for a second hearing, which starts from the
  // levels that the first soon had.
  void rewind() {
    moments = early;
    shrink_moments();
    std::fill(lagged.begin(), lagged.end(), 0.0f);
    std::fill(heard.begin(), heard.end(), std::int8_t(0));
    std::fill(saved_at.begin(), saved_at.end(), -1.0);
    s.last_reading = UNKNOWN;
    s.run = s.n_rejects = s.n_recent = s.n_back = 0.0;
    s.block = s.n_block = s.n_blocks = s.block_square = s.is_drifting = 0.0;
    s.shifted_at = -1.0;
    for (int d = 0; d < 2; ++d) s.drift[d] = 0.0, s.drift_from[d] = -1.0;
  }

  void hear(std::int64_t t, const Message* all, bool is_first, Workspace& ws) {
    const double decay = settings->decay();
    s.age += 1.0;
    for (int j = 0; j < k1; ++j) {
      const Message& said = all[near[j]];
      Moments& m = moments[j];
      const bool is_reading = said.kind >= READING;
      put(t, j, said.value, said.kind);
      if (said.kind == SHIFTED)
        saved[j] = m, saved_at[j] = double(t), m.move(said.before, said.after);
      if (said.kind == RETURNED && saved_at[j] >= 0.0) take_back(t, j);
      m.decay(decay);
      if (is_reading || (m.count > 0.0 && said.value == said.value)) m.add(said.value, 1.0);
      if (is_reading && said.value < 0.0) refuse_transforms();
      // Later levels say nothing about the start.
      const bool has_shifted = saved_at[j] >= 0.0 && early[j].count >= 12.0;
      if (is_first && double(t) < settings->memory && !has_shifted) early[j] = m;
    }
    if (is_first && settings->is_robust && t < 2 * settings->window && (t < 8 || t % 4 == 0))
      clean_start(t, ws);
    shrink_moments();
  }

  void refuse_transforms() {
    s.is_nonnegative = 0.0;
    for (auto& chosen : s.chosen) chosen[0] = IDENTITY;
  }

  // A level shift was none: what was heard since does not count.
  void take_back(std::int64_t t, int j) {
    const auto from = std::int64_t(saved_at[j]);
    const double d = settings->decay();
    moments[j] = saved[j];
    for (auto u = from; u < t; ++u) moments[j].decay(d);
    for (auto u = std::max(from, t - settings->lags() + 1); u < t; ++u) put(u, j, UNKNOWN, GUESS);
    saved_at[j] = -1.0;
  }

  // Moments of the first 2W steps, without readings 10 MADs off both their sensor's median and that
  // step's over sensors.
  void clean_start(std::int64_t t, Workspace& ws) {
    auto& x = ws.median;
    const auto centre_of = [&](auto is_in) {
      x.clear();
      for (std::int64_t u = 0; u <= t; ++u)
        for (int j = 0; j < k1; ++j)
          if (is_in(u, j) && is_heard(u, j)) x.push_back(value[cell(u, j)]);
      return x.empty() ? 0.0 : median_of(x);
    };
    const auto spread_of = [&](double centre) {
      for (double& v : x) v = std::abs(v - centre);
      return x.empty() ? 0.0 : median_of(x);
    };
    const double centre = centre_of([](auto, auto) { return true; });
    if (x.size() < 5) return;
    const double spread = spread_of(centre);
    s.is_nonnegative = 1.0;
    for (int j = 0; j < k1; ++j) {
      double m = centre_of([&](auto, int k) { return k == j; }), d = spread;
      if (x.empty()) continue;
      if (x.size() >= 5)
        d = std::max(spread_of(m), 0.25 * spread);
      else
        m = centre;
      moments[j] = Moments();
      for (std::int64_t u = 0; u <= t; ++u) {
        double& v = value[cell(u, j)];
        if (is_heard(u, j) && d > 0.0 && std::abs(v - m) > 10.0 * d &&
            std::abs(v - centre_of([&](auto w, auto) { return w == u; })) > 10.0 * d) {
          if (j == 0) events.push_back({double(u), 0, IS_OUTLIER, double(u), m, v});
          v = m, heard[cell(u, j)] = 0;
        }
        if (v != v) continue;
        moments[j].add(v, tables->power[t - u]);
        if (v < 0.0) s.is_nonnegative = 0.0;
      }
    }
    if (s.is_nonnegative == 0.0) refuse_transforms();
  }

  // Means and stds, shrunk to the neighbourhood's with the weight of one decorrelation time.
  void shrink_moments() {
    double n = 0.0;
    for (const Moments& m : moments) n += m.count;
    if (n <= 0.0) return;
    for (int g = 0; g < FORMS; ++g) {
      double pooled = 0.0, var = 0.0;
      for (const Moments& m : moments) pooled += m.count * m.mean[g];
      pooled /= n;
      for (const Moments& m : moments) {
        const double apart = m.mean[g] - pooled;
        var += m.squares[g] + m.count * apart * apart;
      }
      var /= n;
      const double least = 1e-6 * var + 1e-20 * pooled * pooled + 1e-200;
      for (int j = 0; j < k1; ++j) {
        const Moments& m = moments[j];
        const double total = m.count + s.tau,
                     centre = (m.count * m.mean[g] + s.tau * pooled) / total;
        const double apart = m.mean[g] - centre;
        scales[j].centre[g] = centre;
        scales[j].std[g] =
            std::sqrt((m.squares[g] + m.count * apart * apart + s.tau * var) / total + least);
      }
    }
  }

  // ------------------------------------------------------------------ prediction
  // Inputs for the own reading at u, given what was heard until last. Sensor j is hidden closer
  // than before[j] steps before and after[j] steps after u. Own two last (and next) readings;
  // neighbours at u and at the own last and next; silent ones: last (and next) reading, and their
  // estimate.
  int choose_inputs(std::int64_t at, std::int64_t last, Mode mode, Estimates used,
                    Workspace& ws) const {
    const int W = settings->window, reach = mode == AHEAD ? 2 * W : W;
    const int stale = mode == AHEAD ? reach : std::min(settings->stale, W);
    const std::int64_t first = std::max<std::int64_t>({at - reach, 0, last - 2 * W});
    const std::int64_t end = mode == FILL ? std::min(at + W, last) : std::min(at - 1, last);
    const int *before = ws.before.data(), *after = ws.after.data();
    std::int64_t own[2] = {-1, -1}, nearest = 2 * W + 1;
    ws.n = 0;
    for (int side = 0; side < 2; ++side) {
      const int step = 2 * side - 1;
      auto u = at + step * std::max(side ? after[0] : before[0], 1);
      for (int n = 0; first <= u && u <= end && n < 2; u += step)
        if (is_heard(u, 0)) {
          if (n++ == 0) own[side] = u, nearest = std::min(nearest, std::abs(at - u));
          ws.add(0, u);
        }
    }
    // Where the own readings are far, those of the day before and after tell more.
    if (settings->period > 0 && nearest > 3)
      for (int side = 0; side < (mode == FILL ? 2 : 1); ++side) {
        const int step = 2 * side - 1, far = std::max(side ? after[0] : before[0], 1);
        auto u = at + step * settings->period;
        while (std::abs(u - at) < far || (side == 0 && u > end)) u += step * settings->period;
        bool is_new = u >= first && u <= end && is_heard(u, 0);
        for (int a = 0; a < ws.n; ++a) is_new = is_new && ws.when[a] != u;
        if (is_new) ws.add(0, u);
      }
    for (int j = 1; j < k1; ++j) {
      if (before[j] == 0 && at <= last && is_heard(at, j)) {
        ws.add(j, at);
        for (auto u : own)
          if (u >= 0 && is_heard(u, j)) ws.add(j, u);
        continue;
      }
      const bool has_estimate = used == ALL || (used == BLIND && is_blind[j]);
      if (before[j] == 0 && has_estimate && heard[cell(at, j)] == ESTIMATE) ws.add(j, at, true);
      for (int side = 0; side < 2; ++side) {
        const int step = 2 * side - 1;
        auto u = at + step * std::max(side ? after[j] : before[j], 1);
        for (; u >= std::max(first, at - stale) && u <= std::min(end, at + stale); u += step)
          if (is_heard(u, j)) {
            ws.add(j, u);
            break;
          }
      }
    }
    bool is_alone = true;
    for (int a = 0; a < ws.n; ++a) is_alone = is_alone && (ws.when[a] != at || ws.is_estimate[a]);
    ws.who[ws.n] = 0, ws.when[ws.n] = at, ws.is_estimate[ws.n] = 0;
    const std::int64_t limits[2][3] = {{1, 3, 11}, {2, 8, 24}};
    int bin = 0;
    while (bin < 3 && nearest > limits[mode == AHEAD][bin]) ++bin;
    return is_alone ? bin + BINS : bin;
  }

  // A: the decayed table is the autocovariance of one tapered series, hence positive semidefinite.
  void fill_covariances(Workspace& ws) const {
    const int lags = settings->lags(), n = ws.n;
    for (int l = 0; l < lags; ++l) ws.lag_weight[l] = tables->half_decay[l] / s.weight;
    for (int a = 0; a <= n; ++a) {
      double *A = &ws.A[std::size_t(a) * ws.ld], *B = &ws.B[std::size_t(a) * ws.ld];
      const int j = ws.who[a];
      for (int b = a; b <= n; ++b) {
        const int k = ws.who[b];
        const auto lag = ws.when[b] - ws.when[a], l = std::abs(lag);
        if (l < lags) {
          const int later = lag < 0 ? j : k, earlier = lag < 0 ? k : j;
          A[b] = table[(std::size_t(later) * k1 + earlier) * lags + l] * ws.lag_weight[l];
          B[b] = cross[std::size_t(j) * k1 + k] * autocorrelation[l];
        } else {
          A[b] = B[b] = 0.0;
        }
      }
      if (ws.is_estimate[a]) A[a] += settings->estimate_noise, B[a] += settings->estimate_noise;
    }
  }

  void standardize_inputs(int g, double* z, const Workspace& ws) const {
    for (int a = 0; a < ws.n; ++a) {
      const int j = ws.who[a];
      z[a] = std::clamp(scales[j].standardize(value[cell(ws.when[a], j)], g), -6.0, 6.0);
    }
  }

  // Means of the target given inputs z (n_forms rows) under (1 - alpha) A + alpha B + ridge I, and
  // its std, by Cholesky with the target and the inputs as columns behind. A dead pivot drops its
  // input.
  double condition(int n_forms, double alpha, double ridge, double* means, Workspace& ws) const {
    const int n = ws.n, ld = ws.ld, width = padded(n + 1 + n_forms);
    double total = 0.0;
    for (int i = 0; i <= n; ++i) {
      const int from = i / LANES * LANES, size = width - from;
      double* HALK_RESTRICT row = &ws.U[std::size_t(i) * ld];
      const double *HALK_RESTRICT A = &ws.A[std::size_t(i) * ld],
                                  *HALK_RESTRICT B = &ws.B[std::size_t(i) * ld];
      for (int c = from; c < width; ++c) row[c] = (1.0 - alpha) * A[c] + alpha * B[c];
      for (int f = 0; f < n_forms; ++f) row[n + 1 + f] = i < n ? ws.z[f * ld + i] : 0.0;
      if (i < n)
        row[i] += ridge;
      else
        total = row[n];
      double* x = ws.column.data();
      for (int k = 0; k < i; ++k) x[k] = -ws.U[std::size_t(k) * ld + i];
      int k = 0;
      const double* above = ws.U.data() + from;
      for (; k + 8 <= i; k += 8)
        add_scaled_rows<8, false>(above + std::size_t(k) * ld, ld, size, x + k, row + from);
      if (k + 4 <= i)
        add_scaled_rows<4, false>(above + std::size_t(k) * ld, ld, size, x + k, row + from), k += 4;
      for (; k < i; ++k)
        add_scaled_rows<1, false>(above + std::size_t(k) * ld, ld, size, x + k, row + from);
      if (i == n) break;
      const double f = row[i] > 1e-6 ? 1.0 / std::sqrt(row[i]) : 0.0;
      for (int c = from; c < width; ++c) row[c] *= f;
    }
    const double* last = &ws.U[std::size_t(n) * ld];
    for (int f = 0; f < n_forms; ++f) means[f] = std::clamp(-last[n + 1 + f], -6.0, 6.0);
    return std::sqrt(std::max(last[n], 1e-3 * total + 1e-6));
  }

  int chosen(Mode mode, int what) const { return int(s.chosen[mode][what]); }

  // The own reading at `at` from what was heard until `last`; the nearest `hidden - 1` own readings
  // on each side are left out.
  Prediction predict(std::int64_t at, std::int64_t last, Mode mode, Estimates used, int hidden,
                     Workspace& ws) const {
    std::fill_n(ws.before.begin(), k1, mode == AHEAD ? int(at - last) : 0);
    std::fill_n(ws.after.begin(), k1, 0);
    if (hidden > 0) ws.before[0] = ws.after[0] = hidden;
    Prediction p;
    p.form = chosen(mode, 0);
    p.bin = choose_inputs(at, last, mode, used, ws);
    fill_covariances(ws);
    standardize_inputs(p.form, ws.z.data(), ws);
    p.std = condition(1, s.alpha[chosen(mode, 2)], RIDGE[chosen(mode, 1)], &p.mean, ws);
    return p;
  }

  double restore(double z, int g) const {
    return inverse(scales[0].centre[g] + scales[0].std[g] * std::clamp(z, -6.0, 6.0), g);
  }
  Estimate estimate(const Prediction& p, Mode mode) const {
    if (!knows()) return {};
    const double half = p.std * quantile(mode, p.bin, miss());
    const double one = p.std * quantile(mode, p.bin, miss(0.9)) / 1.6448536269514722;
    return {restore(p.mean, p.form),
            0.5 * (restore(p.mean + one, p.form) - restore(p.mean - one, p.form)),
            restore(p.mean - half, p.form), restore(p.mean + half, p.form), p.bin % BINS};
  }

  // ------------------------------------------------------------------ calibration
  double miss() const { return miss(settings->coverage); }
  // Replays are a little easier than real gaps: ask for more than the coverage.
  static double miss(double coverage) { return 0.83 * (1.0 - coverage); }

  double quantile(Mode mode, int bin, double miss) const {
    double counts[SCORES], total = 0.0;
    for (int k = 0; k < SCORES; ++k)
      total += counts[k] = s.scores[mode][bin][k] + s.told_scores[mode][bin][k] + tables->prior[k];
    const double target = std::min((1.0 - miss) * (total + 1.0), (1.0 - 0.25 * miss) * total);
    double sum = 0.0;
    int k = 0;
    while (k < SCORES - 1 && sum + counts[k] < target) sum += counts[k++];
    const double part = std::clamp((target - sum) / std::max(counts[k], 1e-12), 0.0, 1.0);
    return tables->edge[k] + part * (tables->edge[k + 1] - tables->edge[k]);
  }
  void count_score(Mode mode, int bin, double score) {
    const auto& edge = tables->edge;
    const auto k = std::lower_bound(edge.begin(), edge.end(), score) - edge.begin() - 1;
    for (double& c : s.scores[mode][bin]) c *= settings->score_decay;
    s.scores[mode][bin][std::clamp<std::ptrdiff_t>(k, 0, SCORES - 1)] += 1.0;
  }

  // Forget losses and scores of `steps` steps: fast at first, when they were those of a beginner.
  void forget(double steps) {
    const double rate = std::max(2.0 / (s.age + 2.0 * settings->window), 1.0 / settings->memory);
    const double kept = std::max(1.0 - steps * rate, 0.0);
    for (auto& mode : s.losses)
      for (auto& row : mode)
        for (double& l : row) l *= kept;
    for (auto& mode : s.scores)
      for (auto& bin : mode)
        for (double& n : bin) n *= kept;
  }

  void be_told(const std::vector<Agent>& all) {
    std::fill_n(&s.told_losses[0][0][0], sizeof(s.told_losses) / sizeof(double), 0.0);
    std::fill_n(&s.told_scores[0][0][0], sizeof(s.told_scores) / sizeof(double), 0.0);
    for (int j = 1; j < k1; ++j) {
      const Scalars& other = all[near[j]].s;
      for (int m = 0; m < MODES; ++m) {
        for (int b = 0; b < CASES; ++b)
          for (int k = 0; k < SCORES; ++k) s.told_scores[m][b][k] += other.scores[m][b][k];
        const auto& loss = other.losses[m];
        if (loss[1][0] <= 1e-6 || other.is_nonnegative != s.is_nonnegative) continue;
        const double share = settings->pool / sum_of_pairs(loss);
        for (int r = 0; r <= RIDGES; ++r)
          for (int c = 0; c < 3; ++c) s.told_losses[m][r][c] += share * loss[r][c];
      }
    }
  }
  static double sum_of_pairs(const double (&loss)[1 + RIDGES][3]) {
    double total = 0.0;
    for (int r = 1; r <= RIDGES; ++r)
      for (int c = 0; c < SHRINKAGES; ++c) total += loss[r][c];
    return total;
  }

  // Hide the own reading at `at` as a remembered gap would; score the candidates, and the interval.
  void replay(std::int64_t at, std::int64_t last, Mode mode, Workspace& ws) {
    const int W = settings->window;
    std::fill_n(ws.before.begin(), k1, 0), std::fill_n(ws.after.begin(), k1, 0);
    if (mode == AHEAD) {
      const int horizon = draws.log_uniform(2 * W);
      std::fill_n(ws.before.begin(), k1, horizon);
      last = at - horizon;
    } else if (s.n_gaps < 8 || draws.uniform() < 0.25) {  // an invented gap
      const int length = draws.log_uniform(W);
      ws.before[0] = draws.below(length) + 1;
      ws.after[0] = length - ws.before[0] + 1;
    } else {
      const std::uint8_t* gap = &gaps[std::size_t(draws.below(int(s.n_gaps))) * 2 * k1];
      std::copy_n(gap, k1, ws.before.begin()), std::copy_n(gap + k1, k1, ws.after.begin());
    }
    // Estimates of neighbours that hear this agent contain the hidden reading.
    const int bin = choose_inputs(at, last, mode, mode == AHEAD ? NONE : BLIND, ws);
    fill_covariances(ws);
    const int n_forms = s.is_nonnegative != 0.0 ? FORMS : 1;
    for (int g = 0; g < n_forms; ++g) standardize_inputs(g, &ws.z[std::size_t(g) * ws.ld], ws);
    const double x = value[cell(at, 0)], unit = scales[0].std[IDENTITY];
    const int form = chosen(mode, 0), ridge = chosen(mode, 1), shrinkage = chosen(mode, 2);
    auto& loss = s.losses[mode];
    for (auto& row : loss)
      for (double& l : row) l *= 0.997;
    double means[FORMS];
    for (int r = 0; r < RIDGES; ++r)
      for (int c = 0; c < SHRINKAGES; ++c) {
        const double std = condition(n_forms, s.alpha[c], RIDGE[r], means, ws);
        loss[1 + r][c] += std::abs(x - restore(means[form], form)) / unit;
        if (r != ridge || c != shrinkage) continue;
        for (int g = 0; g < n_forms; ++g) loss[0][g] += std::abs(x - restore(means[g], g)) / unit;
        count_score(mode, bin, std::abs(scales[0].standardize(x, form) - means[form]) / std);
      }
    choose(mode, n_forms);
  }

  void choose(Mode mode, int n_forms) {
    const auto &own = s.losses[mode], &told = s.told_losses[mode];
    const double total = std::max(sum_of_pairs(own), 1e-300);
    const auto of = [&](int r, int c) { return own[r][c] / total + told[r][c]; };
    int form = 0, ridge = 0, shrinkage = 0;
    for (int g = 1; g < n_forms; ++g)
      if (of(0, g) < of(0, form)) form = g;
    for (int r = 0; r < RIDGES; ++r)
      for (int c = 0; c < SHRINKAGES; ++c)
        if (of(1 + r, c) < of(1 + ridge, shrinkage)) ridge = r, shrinkage = c;
    s.chosen[mode][0] = form, s.chosen[mode][1] = ridge, s.chosen[mode][2] = shrinkage;
  }

  // Keep who was silent around an own gap, and for how long before and after.
  void remember_gap(std::int64_t at, std::int64_t last) {
    const int most = settings->gap_memory, W = settings->window;
    int e = int(s.n_gaps);
    if (e == most) {
      if (draws.uniform() >= 0.25) return;
      e = draws.below(most);
    } else {
      s.n_gaps += 1.0;
    }
    for (int side = 0; side < 2; ++side)
      for (int j = 0; j < k1; ++j) {
        int w = 0;
        if (!is_heard(at, j)) {
          const auto spoke = [&](std::int64_t u) { return u >= 0 && u <= last && is_heard(u, j); };
          for (w = 1; w <= W && !spoke(at + (2 * side - 1) * w);) ++w;
        }
        gaps[(std::size_t(e) * 2 + side) * k1 + j] = std::uint8_t(w);
      }
  }

  // Draws of a step and mode depend on nothing else: a bad reading does not change those to come.
  void begin_draws(std::int64_t t, bool is_first, Mode mode) {
    const auto which = std::uint64_t(t) * 8 + mode * 2 + is_first + 1;
    draws.state = key + which * 0xD1B54A32D192ED03u;
  }

  // ------------------------------------------------------------------ learning
  void learn(std::int64_t at) {
    const int lags = settings->lags(), g = chosen(FILL, 0);
    for (int j = 0; j < k1; ++j) {
      float* row = &lagged[std::size_t(j) * lags];
      std::memmove(row + 1, row, sizeof(float) * (lags - 1));
      const double x = value[cell(at, j)];
      const bool is_known = moments[j].count > 0.0 && x == x;
      row[0] = is_known ? float(std::clamp(scales[j].standardize(x, g), -5.0, 5.0)) : 0.0f;
    }
    const auto decay = float(settings->decay());
    s.weight = s.weight * settings->decay() + 1.0;
    const int size = k1 * lags;
    const float* HALK_RESTRICT past = lagged.data();
    for (int k = 0; k < k1; ++k) {
      const float now = past[std::size_t(k) * lags];
      float* HALK_RESTRICT row = &table[std::size_t(k) * size];
      HALK_SIMD
      for (int c = 0; c < size; ++c) row[c] = decay * row[c] + now * past[c];
    }
    if (at < 64 || at % 16 == 0) fit_prior();
  }

  // Covariance fitted over the neighbourhood: s exp(-d / r) times the pooled autocorrelation.
  void fit_prior() {
    const int lags = settings->lags();
    const double n = s.weight, n0 = PRIOR_ROWS, w = n / (n + n0);
    const auto at = [&](int j, int k, int l) {
      return double(table[(std::size_t(j) * k1 + k) * lags + l]);
    };
    double trace = 1e-9, squares = 0.0;
    for (int j = 0; j < k1; ++j) trace += at(j, j, 0);
    for (int l = 0; l < lags; ++l) {
      double a = 0.0;
      for (int j = 0; j < k1; ++j) a += at(j, j, l);
      const double ac =
          (n * a / trace * tables->half_decay[l] + n0 * exp_minus(0.25 * l)) / (n + n0);
      autocorrelation[l] = ac, squares += ac * ac;
    }
    s.tau = std::max(2.0 * squares - 1.0, 1.0);
    for (int c = 0; c < SHRINKAGES; ++c) s.alpha[c] = SHRINKAGE[c] / (SHRINKAGE[c] + n / s.tau);
    double best = 0.0;
    for (int r = 0; r < 8; ++r) {
      double num = 0.8 * n0, den = n0;
      for (int j = 0; j < k1; ++j)
        for (int k = 0; k < j; ++k) {
          const double e = exp_minus(distance[std::size_t(j) * k1 + k] / RANGE[r]);
          const double y = at(j, k, 0) / std::sqrt((at(j, j, 0) + 1e-3) * (at(k, k, 0) + 1e-3));
          num += w * y * e, den += w * e * e;
        }
      const double one = std::clamp(num / den, 0.0, 0.98);
      const double error =
          one * one * den - 2.0 * one * num + (1.0 - w) * LOG_RANGE[r] * LOG_RANGE[r];
      if (r == 0 || error < best) best = error, s.sill = one, s.range = RANGE[r];
    }
    for (int j = 0; j < k1; ++j)
      for (int k = 0; k < k1; ++k) {
        const double e = exp_minus(distance[std::size_t(j) * k1 + k] / s.range);
        const double size = (at(j, j, 0) + n0) * (at(k, k, 0) + n0);
        cross[std::size_t(j) * k1 + k] = std::sqrt(size) / (n + n0) * (j == k ? 1.0 : s.sill * e);
      }
  }

  // ------------------------------------------------------------------ judging own readings
  // Whether a reading is to be believed by itself (READING), is suspect (SUSPECT) or stuck (STUCK).
  Flag look(std::int64_t t, double x) {
    if (!settings->is_robust) return ACCEPTED;
    if (!(std::abs(x) <= LARGEST_READING)) return SUSPECT;
    s.run = x == s.last_reading ? s.run + 1.0 : 0.0;
    s.last_reading = x;
    if (s.run == 0.0) s.run_start = double(t), s.is_stuck = 0.0;
    if (s.run >= 5.0 &&
        s.run * std::log((s.repeats + 1.0) / (s.pairs + 10.0)) < std::log(settings->stuck_odds)) {
      if (s.is_stuck == 0.0) events.push_back({double(t), 0, IS_STUCK, s.run_start, x, x});
      s.is_stuck = 1.0;
      return STUCK;
    }
    s.repeats += s.run > 0.0, s.pairs += 1.0;
    double n = 0.0;
    for (const Moments& m : moments) n += m.count;
    if (n < 5.0) return ACCEPTED;
    if (s.n_rejects > 0.0) return SUSPECT;
    const int g = chosen(NOW, 0);
    double error = scales[0].standardize(x, g), var = 1.0;
    for (int l = 1; l <= std::min<std::int64_t>(settings->window, t); ++l)
      if (is_heard(t - l, 0)) {
        const double ac = autocorrelation[l];
        error -= ac * scales[0].standardize(value[cell(t - l, 0)], g);
        var = std::max(1.0 - ac * ac, 0.02);
        break;
      }
    const bool is_off = error * error > 16.0 * var || (s.is_nonnegative != 0.0 && x < 0.0);
    return is_off ? SUSPECT : ACCEPTED;
  }

  // What to say of a suspect reading, given the prediction without it.
  Message judge(std::int64_t t, double x, const Prediction& p, int kind, double* z, Workspace& ws) {
    const int g = x < 0.0 ? IDENTITY : p.form;
    const double e = std::clamp((scales[0].standardize(x, g) - p.mean) / p.std, -1e6, 1e6);
    const double q = quantile(NOW, p.bin, miss(0.9)), guess = restore(p.mean, p.form);
    *z = 1.6448536269514722 * e / q;
    // After a reject the prediction widens: what agrees with it must come closer to be believed.
    const double gate = s.n_rejects > 0.0 ? settings->close : settings->gate;
    if (std::abs(e) < gate * q) {
      s.n_rejects = s.n_back = 0.0;
      return {x, READING};
    }
    if (std::abs(x) > LARGEST_READING) return {guess, kind};
    if (is_back(t, x, ws)) return come_back(t, x);
    const int most = settings->shift_rejects;
    double* row[3] = {rejects.data(), rejects.data() + most, rejects.data() + 2 * most};
    if (s.n_rejects == 0.0) s.first_reject = double(t);
    int n = int(s.n_rejects);
    if (n == most) {
      for (double* r : row) std::copy(r + 1, r + most, r);
      --n;
    }
    row[0][n] = e, row[1][n] = x, row[2][n] = guess;
    s.n_rejects = ++n;
    if (n < most) return {guess, kind};
    double mean[3] = {}, square = 0.0;
    for (int k = 0; k < most; ++k) {
      for (int r = 0; r < 3; ++r) mean[r] += row[r][k] / most;
      square += row[0][k] * row[0][k] / most;
    }
    const double m2 = mean[0] * mean[0];
    if (!(m2 > 4.0 * (square - m2))) return {guess, kind};
    return shift(t, x, s.first_reject, mean[2], mean[1]);
  }

  bool may_come_back(std::int64_t t) const {
    return s.shifted_at >= 0.0 && t - s.shifted_at <= 12 * settings->window;
  }
  Message come_back(std::int64_t t, double x) {
    events.push_back({double(t), 0, IS_RETURN, s.shifted_from, s.level[1], s.level[0]});
    s.n_rejects = s.n_back = s.n_recent = 0.0, s.shifted_at = -1.0;
    return {x, RETURNED};
  }
  Message shift(std::int64_t t, double x, double from, double before, double after) {
    if (may_come_back(t) && std::abs(after - s.level[0]) < 0.5 * std::abs(after - s.level[1]))
      return come_back(t, x);
    s.level[0] = before, s.level[1] = after;
    events.push_back({double(t), 0, IS_SHIFT, from, before, after});
    s.n_rejects = s.n_recent = s.n_back = 0.0;
    s.shifted_at = double(t), s.shifted_from = from;
    return {x, SHIFTED, before, after};
  }

  // Three suspects on end that fit the level before the last shift: it was none.
  bool is_back(std::int64_t t, double x, Workspace& ws) {
    if (!may_come_back(t)) return false;
    const Prediction p = predict(t, t, NOW, NONE, settings->window + 1, ws);
    const Moments& m = saved[0];
    const double var = m.squares[p.form] / std::max(m.count, 1.0);
    const double z = (forward(x, p.form) - m.mean[p.form]) / std::sqrt(var + 1e-200);
    s.n_back = std::abs(z - p.mean) < 3.0 * p.std ? s.n_back + 1.0 : 0.0;
    return s.n_back >= 3.0;
  }

  // Compare an accepted reading with what the neighbours alone predict: find shifts that pass the
  // gate, and slow drifts.
  Message watch(std::int64_t t, double x, Workspace& ws) {
    if (k1 == 1 || s.weight < 3.0 * settings->window) return {x, READING};
    const Prediction p = predict(t, t, NOW, NONE, settings->window + 1, ws);
    const double e = scales[0].standardize(x, p.form) - p.mean;
    watch_drift(t, e);
    int n = int(s.n_recent);
    if (n == RECENT) {
      for (auto& row : s.recent) std::copy(row + 1, row + RECENT, row);
      --n;
    }
    s.recent[0][n] = e / std::max(p.std, 0.1), s.recent[1][n] = x;
    s.recent[2][n] = restore(p.mean, p.form);
    s.n_recent = ++n;
    if (n < RECENT) return {x, READING};
    const auto median = [&](int row, int from, int to) {
      ws.median.assign(s.recent[row] + from, s.recent[row] + to);
      return median_of(ws.median);
    };
    const int early = RECENT - LATE;
    if (std::abs(median(0, early, RECENT) - median(0, 0, early)) <= settings->shift_jump)
      return {x, READING};
    return shift(t, x, double(t - 2 * LATE), median(2, early, RECENT), median(1, early, RECENT));
  }

  // Page's test, in both directions, on means over blocks of residuals.
  void watch_drift(std::int64_t t, double e) {
    s.block += std::clamp(e, -3.0, 3.0), s.n_block += 1.0;
    if (s.n_block < BLOCK) return;
    const double mean = s.block / s.n_block;
    s.block = s.n_block = 0.0, s.n_blocks += 1.0;
    const double rate = 1.0 / std::min(s.n_blocks, 60.0);
    const double std = std::sqrt(std::max(s.block_square, 1e-4));
    if (s.n_blocks > 8.0) {
      const double z = std::clamp(mean / std, -3.0, 3.0);
      for (int d = 0; d < 2; ++d) {
        if (s.drift[d] == 0.0) s.drift_from[d] = double(t - 2 * BLOCK);
        s.drift[d] = std::max(s.drift[d] + (d ? -z : z) - 0.75, 0.0);
        if (s.drift[d] > settings->drift && s.is_drifting == 0.0) {
          events.push_back({double(t), 0, IS_DRIFT, s.drift_from[d], mean, s.drift[d]});
          s.is_drifting = 1.0;
        }
      }
      if (s.drift[0] == 0.0 && s.drift[1] == 0.0) s.is_drifting = 0.0;
    }
    s.block_square += rate * (std::min(mean * mean, 9.0 * s.block_square + 1e-2) - s.block_square);
  }
};

}  // namespace halk::neighbours
