// How an agent of the neighbour model predicts its own reading: inputs, conditional Gaussian,
// intervals calibrated by hiding readings it has.
#pragma once
#include "neighbour_memory.hpp"

namespace halk::neighbours {

struct Predictor : Listener {
  using Listener::Listener;

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
    // A beginner's intervals under a logarithm would reach too far.
    const double reach = s.age < 8.0 * settings->window ? std::max(3.0, std::abs(p.mean)) : 6.0;
    const auto end = [&](double z) { return restore(std::clamp(z, -reach, reach), p.form); };
    return {restore(p.mean, p.form), 0.5 * (end(p.mean + one) - end(p.mean - one)),
            end(p.mean - half), end(p.mean + half), p.bin % BINS};
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

  template <class Agents>
  void be_told(const Agents& all) {
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
};

}  // namespace halk::neighbours
