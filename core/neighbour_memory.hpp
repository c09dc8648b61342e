// What an agent of the neighbour model keeps of what it hears: the last 2W + 1 steps, moments of
// every heard sensor, the table of lagged covariances and the prior fitted to it.
#pragma once
#include "neighbour_parts.hpp"

namespace halk::neighbours {

struct Listener {
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

  Listener(const Settings& c, const Tables& shared, std::vector<std::int64_t> who,
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

  std::size_t cell(std::int64_t u, int j) const {
    return std::size_t(u % settings->lags()) * k1 + j;
  }
  bool is_heard(std::int64_t u, int j) const { return heard[cell(u, j)] >= READING; }
  void put(std::int64_t t, int j, double x, int kind) {
    value[cell(t, j)] = x, heard[cell(t, j)] = std::int8_t(kind);
  }
  int chosen(Mode mode, int what) const { return int(s.chosen[mode][what]); }
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
};

}  // namespace halk::neighbours
