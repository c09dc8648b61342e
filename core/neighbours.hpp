// Readings as inputs: one agent of the neighbour model (SPEC section 12).
//
// An agent hears a value per step from itself and its nearest sensors, keeps their lagged
// covariances, and predicts a missing reading by the conditional Gaussian on what it heard. It
// hides readings it does have behind gaps like its own (replay), and so chooses its settings and
// calibrates its intervals. The network around it is in neighbour_network.hpp.
#pragma once
#include "neighbour_prediction.hpp"

namespace halk::neighbours {

struct Agent : Predictor {
  using Predictor::Predictor;

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
