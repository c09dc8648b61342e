// The second-order step of one agent (SPEC section 11): a sparse online Gaussian process, bound to
// its neighbours by multipliers.
//
// Beside atoms and Q = K^-1 an agent keeps the values m of its function at the atoms and their
// covariance S. S itself, not K - S: gains g = S u then have a small relative error even where Q is
// slightly off and S is tiny; k - (K - S) u has an absolute one, which divided by a small noise
// makes S indefinite (seen at 1e-6).
#pragma once
#include "dictionary.hpp"
#include "losses.hpp"
#include "tape.hpp"
#include "target.hpp"

namespace halk {

struct NewtonSettings {
  std::shared_ptr<Kernel> kernel;
  Loss loss;
  double forgetting = 1.0;      // beta; 1: never
  double regularization = 0.0;  // lambda of S1 per reading
  double robust = 3.0;          // phi: standard deviations beyond which weight is lost; 0: never
  double novelty = 1e-4;        // share of k(x, x) that must be new for x to become an atom
  int max_atoms = 60;
  double budget = 0.0;                                                // of a compression
  double dual_gain = 2.0, warm_up = 20.0, largest_multiplier = 10.0;  // kappa, t0, mu_max
  double tightening = 0.0;                                            // nu
  bool exchanges_readings = false;                                    // instead of predictions
  Standardization standardization;

  static bool is_pulled() { return true; }
  static bool is_adaptive() { return false; }
  bool is_python() const { return kernel->is_python; }
};

class SecondOrder {
 public:
  static constexpr double SILENT = 1e-9;    // multipliers below neither pull nor ask for a variance
  static constexpr double HUGE = 1e150;     // residuals beyond it are not learned
  static constexpr double SETTLED = 20;     // readings after which the robust threshold is narrower
  static constexpr double CERTAIN = 0.01;   // answers of a larger variance count less than half
  static constexpr double EPSILON = 1e-15;  // of rounding, where Q grows
  static constexpr int MAX_PENDING = 16;    // updates of S that are applied in one pass
  static constexpr bool ADAPTS_FIRST = true;

  using Settings = NewtonSettings;
  struct Pace {
    double noise;  // sigma2: variance of a reading, relative to the prior's
  };
  struct Edge {
    double tolerance, multiplier;
    double violation, asked;    // sum of h - tolerance over the steps that asked; these
    double told, disagreement;  // the neighbour's multiplier for the way back; running mean of h
  };
  struct Answer {
    double value, variance;  // in the unit of the target; NaN for none
  };
  struct Edges {
    int n;
    Edge* edge;
    const Answer* answer;
  };
  struct State {
    RobustTarget target;
    double readings = 0.0, suspects = 0.0, has_grown = 0.0;
    double drift = 0.0;  // of Q K from the identity: an estimate, measured when it is too large
  };
  struct Header {
    int n_points;
    bool has_reading, has_own;  // has_own: the first point is that of the own reading
    double value;               // f there, which the queries carry
  };
  struct Point {
    double s, kxx;  // conditional variance, 0 where it is rounding error; k(x, x)
    double multiplier = 0.0;
    int origin = -1, edge = -1;  // which of the step's queries, along which edge
  };
  struct Workspace {  // one per thread
    Workspace(Arena& arena, int) : tape(arena) {}
    Tape<Header, Point> tape;  // rows per point: u = Q k, g = S u, x
    Array k, u, g, asked, pending, gain;
    double factor[MAX_PENDING];
    int n_pending = 0, n_flushed = 0;  // updates of S that are not applied yet; passes over S
    Counts counts;
  };

  Dictionary D;
  State state;

  SecondOrder(Arena& arena, const Settings& s) : D(arena, s.kernel->p, 2, 1) { D.reserve(LANES); }

  ScaledKernel kernel(const Settings& s) const { return {s.kernel.get(), 1.0}; }
  void prefetch_update() const {}

  double predict(const Settings& s, const double* x, Array& scratch) {
    refresh_weights();
    return state.target.to_unit(D.evaluate(kernel(s), x, scratch));
  }
  // The variance of the field at x, without the noise of a reading; in the target's unit.
  double variance(const Settings& s, Workspace& ws, const double* x) const {
    const Point at = look(s, ws, x);
    return square(state.target.std) * (at.s + span_of(ws.u.data(), ws.g.data()));
  }

  // N0 and N1: learn a reading. Returns what was predicted, and the variance of a reading there.
  Answer adapt(const Settings& s, const Pace& pace, Workspace& ws, const double* x, double y) {
    ws.n_pending = 0;  // an exception may have left some of another agent's
    Point at = look(s, ws, x);
    const double f = dot(ws.u.data(), values(), D.end());
    const double v = at.s + span_of(ws.u.data(), ws.g.data()) + pace.noise;
    const Answer before{state.target.to_unit(f), square(state.target.std) * v};
    const bool is_poisoned = follow_scale(s, y);
    const double phi = robust_threshold(s), r = to_own(y) - dot(ws.u.data(), values(), D.end());
    const bool is_robust = phi > 0.0 && s.loss.kind == Loss::squared;
    if (is_robust && square(r) > square(phi) * v) state.suspects += 1.0;
    if (is_poisoned) forget(s, ws, 0.0);
    if (s.forgetting < 1.0) forget(s, ws, s.forgetting);
    if (s.regularization > 0.0) regularize(ws, s.regularization / pace.noise);
    if (is_poisoned || s.forgetting < 1.0) multiply_S(ws.u.data(), ws.g.data());
    read(s, pace, ws, at, x, ws.u.data(), ws.g.data(), y, 0.0);
    flush(ws);
    state.readings += 1.0;
    if (D.m > s.max_atoms + 1) compress(s, ws);  // adapted again and again, without an update
    return before;
  }

  // Round 1, with a reading at x that was adapted to; returns what the queries carry.
  double take_reading(const Settings& s, Workspace& ws, const double* x, double y, int n_edges) {
    ws.tape.push_header() = {0, true, false, 0.0};
    if (s.exchanges_readings || n_edges == 0) return y;
    const double* u = push_point(ws, look(s, ws, x), x);
    Header& header = ws.tape.last_header();
    header.has_own = true;
    header.value = dot(u, values(), D.end());
    return state.target.to_unit(header.value);
  }
  // Round 1, without one.
  void listen(Workspace& ws) { ws.tape.push_header() = {0, false, false, 0.0}; }

  // Round 1, N2: value and variance at the points of queries. What will pull stays on the tape.
  void answer(const Settings& s, Workspace& ws, const Queries& queries, Edge* edges, Answer* out,
              Prefetch next) {
    const int end = D.end(), p = s.kernel->p;
    ensure(ws.asked, std::size_t(queries.n) * end);
    kernel(s).rows(D.atoms(), queries.x, queries.n, ws.asked.data(), end, next);
    for (int r = 0; r < queries.n; ++r) {
      const double *x = queries.x + std::size_t(r) * p, *k = ws.asked.data() + std::size_t(r) * end;
      Edge& edge = edges[queries.edge[r]];
      edge.told = std::min(queries.multiplier[r], s.largest_multiplier);
      double value, variance = 0.0;
      if (s.exchanges_readings || edge.told > SILENT) {
        Point at = look(s, ws, x, k);
        at.multiplier = edge.told;
        at.origin = r;
        at.edge = queries.edge[r];
        const double* u = push_point(ws, at, x);
        value = dot(u, values(), end);
        variance = at.s + span_of(u, u + end);
      } else {
        refresh_weights();
        value = dot(k, D.weights(), end);
      }
      const double std = state.target.std;
      out[r] = {is_scaled(s) ? state.target.to_unit(value) : NAN, square(std) * variance};
    }
  }

  // Round 2, N3 to N6. Returns the sum of h over the edges that were answered.
  double update(const Settings& s, const Pace& pace, Workspace& ws, Edges e, const Asker* askers,
                double) {
    const Header header = ws.tape.next_header();
    const Point* points = ws.tape.next_points(header.n_points);
    const int end = D.end(), stride = row_size();
    ws.n_pending = ws.n_flushed = 0;
    for (int q = 0; q < header.n_points; ++q) {
      const double *u = ws.tape.next_row(stride), *g = u + end, *x = g + end;
      Point at = points[q];
      if (ws.n_flushed) {  // what the first round computed is out of date
        at = look(s, ws, x);
        u = ws.u.data(), g = ws.g.data();
      }
      if (points[q].origin < 0) {
        obey(s, pace, ws, e, at, x, u, g, header.value);
        continue;
      }
      const Asker& asker = askers[points[q].origin];
      state.target.adopt(asker.value, asker.std, s.standardization);
      if (s.exchanges_readings) {
        const double spread = 2.0 * e.edge[points[q].edge].tolerance / square(state.target.std);
        read(s, pace, ws, at, x, u, g, asker.value, spread);
      } else {
        const double noise = pace.noise / points[q].multiplier;
        observe(s, ws, at, x, u, g, to_own(asker.value), noise, robust_threshold(s));
      }
    }
    flush(ws);
    const double own = state.target.to_unit(header.value);
    const double apart = header.has_own ? update_multipliers(s, e, own) : 0.0;
    compress(s, ws);
    return apart;
  }

  void refresh_weights() {
    if (!is_stale) return;
    D.multiply_Q(values(), D.weights());
    is_stale = false;
  }
  // After the dictionary was filled in from outside.
  void resume() { is_stale = true; }

  double* values() const { return D.vector(2); }
  double* variances() const { return D.vector(3); }  // the diagonal of S, pending updates included
  double* S(int row = 0) const { return D.matrix(1) + std::size_t(row) * D.room; }

 private:
  bool is_stale = false;  // weights do not belong to the values

  static double square(double a) { return a * a; }
  int row_size() const { return 2 * D.end() + padded(D.n_features()); }
  double to_own(double y) const { return (y - state.target.offset) / state.target.std; }
  bool is_scaled(const Settings& s) const {
    return !s.standardization.is_on() || state.target.count + state.target.adopted > 0.0;
  }
  void multiply_S(const double* x, double* out) const {
    multiply_symmetric(S(), D.room, D.m, x, out);
  }
  double span_of(const double* u, const double* g) const {
    return std::max(dot(u, g, D.end()), 0.0);
  }
  // Wider while a sensor is not known well: a dozen readings leave no warm-up. Wider still while
  // its std is not: in one that is too small all that neighbours say looks far off.
  double robust_threshold(const Settings& s) const {
    const bool is_new = s.standardization.removes_std && state.target.count < WARM_UP;
    return s.robust * (is_new ? 4.5 : state.readings < SETTLED ? 1.5 : 1.0);
  }

  // k (unless known), u = Q k, g = S u in the workspace; s and k(x, x).
  Point look(const Settings& s, Workspace& ws, const double* x, const double* k = nullptr) const {
    for (Array* a : {&ws.k, &ws.u, &ws.g}) ensure(*a, D.end());
    if (!k) kernel(s).rows(D.atoms(), x, 1, ws.k.data(), D.end()), k = ws.k.data();
    D.multiply_Q(k, ws.u.data());
    multiply_S(ws.u.data(), ws.g.data());
    Point at{0.0, kernel(s).diagonal(x)};
    at.s = std::max(at.kxx - dot(k, ws.u.data(), D.end()), 0.0);
    if (at.s > s.novelty * at.kxx && !D.is_significant(at.s, k, at.kxx)) at.s = 0.0;
    return at;
  }
  // Keep a point that was looked at for the second round; returns its row.
  const double* push_point(Workspace& ws, const Point& at, const double* x) {
    double* row = ws.tape.push_row(row_size());
    std::copy_n(ws.u.data(), D.end(), row);
    std::copy_n(ws.g.data(), D.end(), row + D.end());
    std::copy_n(x, D.n_features(), row + 2 * D.end());
    ws.tape.push_point() = at;
    ++ws.tape.last_header().n_points;
    return row;
  }

  // A reading, by a parabola above its loss that touches it at the present prediction.
  void read(const Settings& s, const Pace& pace, Workspace& ws, const Point& at, const double* x,
            const double* u, const double* g, double y, double spread) {
    if (s.loss.kind == Loss::squared)
      return observe(s, ws, at, x, u, g, to_own(y), pace.noise + spread, robust_threshold(s));
    const double label = s.loss.kind == Loss::logistic ? y : to_own(y);
    const auto [target, curvature] =
        s.loss.bound(dot(u, values(), D.end()), label, std::sqrt(pace.noise));
    if (curvature > 0.0) observe(s, ws, at, x, u, g, target, pace.noise / curvature + spread, 0.0);
  }

  // OBS: "f at x is target, with this noise variance".
  void observe(const Settings& s, Workspace& ws, const Point& at, const double* x, const double* u,
               const double* g, double target, double noise, double phi) {
    if (ws.n_pending == MAX_PENDING) {
      flush(ws);
      const Point again = look(s, ws, x);
      return observe(s, ws, again, x, ws.u.data(), ws.g.data(), target, noise, phi);
    }
    const int end = D.end();
    ensure(ws.pending, std::size_t(MAX_PENDING) * (end + LANES));
    double* gain = ws.pending.data() + std::size_t(ws.n_pending) * end;
    std::copy_n(g, end, gain);
    for (int j = 0; j < ws.n_pending; ++j) {
      const double* row = ws.pending.data() + std::size_t(j) * end;
      axpy(gain, -ws.factor[j] * dot(row, u, end), row, end);
    }
    const double r = target - dot(u, values(), end);
    const double v = at.s + enforce_cauchy_schwarz(gain, span_of(u, gain));
    if (phi > 0.0) noise += std::max(square(r / phi) - noise - v, 0.0);  // redescending
    const double c = 1.0 / (noise + v);
    if (!(c > 0.0 && c < LARGEST && std::abs(r) < HUGE)) return;  // nothing to learn from
    if (at.s > s.novelty * at.kxx) gain = grow(ws, at, x, u, gain, v);
    axpy(values(), c * r, gain, D.end());
    double* left = variances();
    for (int a = 0; a < D.end(); ++a) left[a] = std::max(left[a] - c * gain[a] * gain[a], 0.0);
    ws.factor[ws.n_pending++] = c;
    is_stale = true;
  }

  // g_a^2 <= S_aa u'Su holds in exact arithmetic; where rounding breaks it, the variance is what
  // the gains demand, and no gain is left where there is no variance.
  double enforce_cauchy_schwarz(double* HALK_RESTRICT gain, double span) const {
    const double* HALK_RESTRICT left = variances();
    const int end = D.end();
    double margin = 0.0;
    HALK_SIMD_MIN(margin)
    for (int a = 0; a < end; ++a)
      margin = std::min(margin, (1.0 + TIE) * span * left[a] - gain[a] * gain[a]);
    if (margin >= 0.0) return span;
    for (int a = 0; a < D.m; ++a) {
      if (left[a] <= 1e-15 * std::abs(gain[a]))
        gain[a] = 0.0;
      else
        span = std::max(span, gain[a] * gain[a] / left[a]);
    }
    return span;
  }

  // Make x an atom: about its value only what the atoms tell is known. Returns its gain.
  double* grow(Workspace& ws, const Point& at, const double* x, const double* u, const double* gain,
               double v) {
    const int m = D.m;
    const double value = dot(u, values(), D.end());
    ensure(ws.gain, D.end() + LANES);
    std::copy_n(gain, D.end(), ws.gain.data());
    flush(ws);
    D.reserve(m + 1);
    for (int a = 0; a < m; ++a) S(a)[m] = S(m)[a] = ws.gain[a];
    S(m)[m] = variances()[m] = v;
    values()[m] = value;
    D.grow(x, u, at.s, 0.0);
    double* fresh = ws.pending.data();
    std::copy_n(ws.gain.data(), m, fresh);
    fresh[m] = v;
    std::fill(fresh + m + 1, fresh + D.end(), 0.0);
    ++ws.n_flushed;
    state.has_grown = 1.0;
    state.drift += (state.drift + EPSILON) * at.kxx / at.s;  // the error of s, over s
    return fresh;
  }

  // Apply the pending updates in one pass over S.
  void flush(Workspace& ws) {
    const int n = std::exchange(ws.n_pending, 0), end = D.end();
    if (n == 0) return;
    for (int a = 0; a < D.m; ++a) {
      double* row = S(a);
      for (int j = 0; j < n; ++j) {
        const double* g = ws.pending.data() + std::size_t(j) * end;
        axpy(row, -ws.factor[j] * g[a], g, end);
      }
      row[a] = variances()[a];  // never negative
    }
    ++ws.n_flushed;
  }

  // N0: back towards the prior.
  void forget(const Settings& s, Workspace& ws, double beta) {
    ensure(ws.gain, padded(D.n_features()));
    for (int a = 0; a < D.m; ++a) {
      D.copy_atom(a, ws.gain.data());
      kernel(s).rows(D.atoms(), ws.gain.data(), 1, ws.k.data(), D.end());
      double* row = S(a);
      for (int k = 0; k < D.end(); ++k) row[k] = beta * row[k] + (1.0 - beta) * ws.k[k];
      variances()[a] = row[a];
      values()[a] *= std::sqrt(beta);
    }
    is_stale = true;
  }

  // S1's lambda: m -= t S w, with t limited to where the norm of f is least.
  void regularize(Workspace& ws, double t) {
    refresh_weights();
    ensure(ws.gain, 2 * D.end());
    double *d = ws.gain.data(), *qd = d + D.end();
    multiply_S(D.weights(), d);
    D.multiply_Q(d, qd);
    const double slope = dot(d, D.weights(), D.end()), curvature = dot(d, qd, D.end());
    if (!(slope > 0.0 && curvature > 0.0)) return;
    axpy(values(), -std::min(t, slope / curvature), d, D.end());
    is_stale = true;
  }

  // Keep the function where it is known when offset and std move. Returns whether it was learned
  // from an outlier, which the first readings cannot be told from.
  bool follow_scale(const Settings& s, double y) {
    if (!s.standardization.is_on()) return false;
    const Target before = state.target;
    if (!state.target.observe(y, s.standardization)) return false;
    bool is_poisoned = false;
    for (int a = 0; a < D.m; ++a) {
      const double value = before.to_unit(values()[a]);
      is_poisoned = is_poisoned || state.target.is_absurd(value);
      values()[a] = to_own(value);
    }
    is_stale = true;
    return is_poisoned;
  }

  // N3: the answers as one observation, each weighed by its certainty and robustly.
  void obey(const Settings& s, const Pace& pace, Workspace& ws, const Edges& e, const Point& at,
            const double* x, const double* u, const double* g, double own) {
    const double c = std::min(pace.noise, CERTAIN), unit = 1.0 / square(state.target.std);
    const double v = at.s + enforce_cauchy_schwarz(copy_gain(ws, g), span_of(u, g));
    const double phi = robust_threshold(s);
    double precision = 0.0, total = 0.0;
    for (int k = 0; k < e.n; ++k) {
      const double a = to_own(e.answer[k].value);
      if (!(std::abs(a - own) < HUGE) || !(e.edge[k].multiplier > SILENT)) continue;
      double noise = pace.noise * (c + unit * e.answer[k].variance) / (c * e.edge[k].multiplier);
      if (phi > 0.0) noise += std::max(square((a - own) / phi) - noise - v, 0.0);
      precision += 1.0 / noise;
      total += a / noise;
    }
    if (precision > 0.0) observe(s, ws, at, x, u, g, total / precision, 1.0 / precision, 0.0);
  }
  double* copy_gain(Workspace& ws, const double* g) const {
    ensure(ws.gain, D.end());
    std::copy_n(g, D.end(), ws.gain.data());
    return ws.gain.data();
  }

  // N5, for the edges that were answered; by the sum of multipliers before.
  double update_multipliers(const Settings& s, Edges& e, double own) {
    double sum = 1.0, apart = 0.0;
    for (int k = 0; k < e.n; ++k) sum += e.edge[k].multiplier + e.edge[k].told;
    const double gain = s.dual_gain / (state.readings + s.warm_up) * sum;
    for (int k = 0; k < e.n; ++k) {
      Edge& edge = e.edge[k];
      const double h = 0.5 * square(own - e.answer[k].value), excess = h - edge.tolerance;
      if (!(h < 0.5 * HUGE * HUGE)) continue;
      if (edge.asked == 0.0) edge.disagreement = h;
      const double step =
          (excess + s.tightening) / (4.0 * (edge.disagreement + edge.tolerance) + 1e-12);
      edge.multiplier = std::clamp(edge.multiplier + gain * step, 0.0, s.largest_multiplier);
      edge.disagreement += std::max(1.0 / state.readings, 0.01) * (h - edge.disagreement);
      edge.violation += excess;
      edge.asked += 1.0;
      apart += h;
    }
    return apart;
  }

  // N6: KOMP. A removal keeps the values and the covariance at the other atoms.
  void compress(const Settings& s, Workspace& ws) {
    const bool has_grown = std::exchange(state.has_grown, 0.0) != 0.0;
    if (!(state.drift <= MAX_DRIFT)) {
      if (D.measure_drift(kernel(s), ws.k) > MAX_DRIFT) {
        D.rebuild(kernel(s));
        is_stale = true;
        ++ws.counts.repaired;
      }
      state.drift = D.drift;
    }
    const double limit = has_grown ? square(s.budget) : 0.0;
    double spent = 0.0, cost;
    if (!(limit > 0.0) && D.m <= s.max_atoms) return void(++ws.counts.moved);
    ++ws.counts.projected;
    refresh_weights();
    while (D.m > 1) {
      const int gone = D.find_cheapest(spent, cost);
      if (D.m <= s.max_atoms && !(spent + cost <= limit)) break;
      spent += cost;
      D.remove(gone, ws.gain);
      is_stale = true;  // a copy would have other weights by a rounding error
    }
  }
};

}  // namespace halk
