// The first-order step of one agent, S3 to S9.
//
// Values travel between agents in the unit of the target, F = offset + std f. Every agent measures
// its own constraints in its own unit, over its own std; with offset 0 and std 1, the default,
// these are the equations of the specification.
#pragma once
#include "adaptation.hpp"
#include "compress.hpp"
#include "losses.hpp"
#include "tape.hpp"
#include "target.hpp"

namespace halk {

// What all agents share.
struct Settings {
  std::shared_ptr<Kernel> kernel;
  Loss loss;
  Proximity proximity;
  Adaptation adaptation;
  double regularization = 1e-5, dual_regularization = 1e-5, tightening = 0.0;  // lambda, delta, nu
  double norm_bound = std::numeric_limits<double>::infinity();
  bool is_exact = true, is_normalized = true;
  Standardization standardization;

  bool is_pulled() const { return is_exact; }  // by its neighbours' constraints
  bool is_adaptive() const { return adaptation.kind != Adaptation::fixed; }
  bool is_python() const {
    return kernel->is_python || loss.kind == Loss::python || proximity.kind == Proximity::python;
  }
};

// What may differ between agents.
struct Pace {
  double step_size, dual_step_size, budget;  // eta, its dual, epsilon
};

// An agent's edge to a neighbour.
struct Edge {
  double tolerance, multiplier = 0.0;
  double violation = 0.0, asked = 0.0;  // sum of h - tolerance over the steps that asked; these
};

struct Answer {
  double value;  // F_j(x_i), NaN for none
};

// An agent's edges with what came back along them in this step.
struct Edges {
  int n;
  Edge* edge;
  const Answer* answer;
};

class FirstOrder {
 public:
  using Settings = halk::Settings;
  using Pace = halk::Pace;
  using Edge = halk::Edge;
  using Edges = halk::Edges;
  using Answer = halk::Answer;
  static constexpr bool ADAPTS_FIRST = false;
  struct Header {
    int n_points;
    bool has_reading;
    double reading;
  };
  struct Point {
    double value, multiplier;  // F at the point, and the asking agent's multiplier
    int origin;                // which of the step's queries; -1 for the agent's own reading
  };
  struct Workspace {  // one per thread
    Workspace(Arena& arena, int p) : tape(arena), projection(arena, p) {}
    Tape<Header, Point> tape;  // rows per point: k, u, x
    Array row, asked, own, other, h, slope, atom;
    std::vector<int> answered;
    Block block;
    Projection projection;
    Counts counts;
  };

  // Numbers only: Python reads and writes them as a row.
  struct State {
    Target target;
    AdaptationState adaptation;
    double scale = 1.0;  // of the length scale
    double readings = 0.0;
  };

  Dictionary D;
  State state;

  FirstOrder(Arena& arena, const Settings& s) : D(arena, s.kernel->p) { D.reserve(LANES); }

  ScaledKernel kernel(const Settings& s) const { return {s.kernel.get(), state.scale}; }
  // Weights and diagonal, which the second round needs.
  void prefetch_update() const {
    for (int k = 0; k < 2 * D.room; k += LANES) HALK_PREFETCH(D.weights() + k);
  }

  double predict(const Settings& s, const double* x, Array& scratch) const {
    return state.target.to_unit(D.evaluate(kernel(s), x, scratch));
  }
  void refresh_weights() {}
  void resume() {}  // after the dictionary was filled in from outside
  void observe(const Settings& s, double y) {
    const double ratio = state.target.observe(y, s.standardization);
    if (ratio != 1.0) halk::scale(D.weights(), ratio, D.end());
  }

  // Round 1, with a reading; returns F(x), which the queries carry.
  double take_reading(const Settings& s, Workspace& ws, const double* x, double y, int) {
    ws.tape.push_header() = {1, true, y};
    double* k = push_row(ws, x);
    kernel(s).rows(D.atoms(), x, 1, k, D.end());
    D.multiply_Q(k, k + D.end());
    const double value = state.target.to_unit(dot(k, D.weights(), D.end()));
    ws.tape.push_point() = {value, 1.0, -1};
    return value;
  }
  // Round 1, without one.
  void listen(Workspace& ws) { ws.tape.push_header() = {0, false, 0.0}; }

  // Round 1: values at the points of n queries. Those that will pull (S4) stay on the tape.
  void answer(const Settings& s, Workspace& ws, const Queries& queries, Edge*, Answer* out,
              Prefetch next) {
    const int end = D.end(), p = s.kernel->p;
    const double* x = queries.x;
    ensure(ws.asked, std::size_t(queries.n) * end);
    kernel(s).rows(D.atoms(), x, queries.n, ws.asked.data(), end, next);
    for (int r = 0; r < queries.n; ++r, x += p) {
      const double* row = ws.asked.data() + std::size_t(r) * end;
      out[r].value = state.target.to_unit(dot(row, D.weights(), end));
      if (!s.is_exact || !(queries.multiplier[r] > 0.0)) continue;
      double* k = push_row(ws, x);
      std::copy_n(row, end, k);
      D.multiply_Q(k, k + end);
      ws.tape.push_point() = {out[r].value, queries.multiplier[r], r};
      ++ws.tape.last_header().n_points;
    }
  }

  // Round 2, S3 to S9, with the answers to the own query and who sent the queries answered in round
  // 1. Returns the sum of h over the edges that were answered.
  double update(const Settings& s, const Pace& pace, Workspace& ws, Edges e, const Asker* askers,
                double around) {
    const Header header = ws.tape.next_header();
    const Point* points = ws.tape.next_points(header.n_points);
    Block& B = ws.block;
    B.resize(header.n_points, s.kernel->p);
    const double kappa = read_block(s, ws);
    double price = 0.0, apart = 0.0;
    for (int k = 0; k < e.n; ++k) price += e.edge[k].multiplier;
    double curvature = s.loss.curvature + 2.0 * price * s.proximity.curvature;
    const int first = header.has_reading;
    curvature += pull_of_neighbours(s, ws, points, first, askers);
    double slope = 0.0;
    if (header.has_reading) {
      const double own = points[0].value, unit = 1.0 / state.target.std;
      slope = s.loss.slope((own - state.target.offset) * unit,
                           (header.reading - state.target.offset) * unit);
      B.c[0] = slope + pull_of_own_edges(s, ws, e, own);
    }
    double eta = pace.step_size;
    if (s.is_normalized) eta /= 1.0 + eta * kappa * curvature;
    bool is_pulled = header.has_reading;
    for (int r = 0; r < B.b; ++r) {
      B.c[r] *= -eta;
      is_pulled = is_pulled || B.c[r] != 0.0;
    }
    if (is_pulled) {
      if (header.has_reading) halk::scale(D.weights(), 1.0 - eta * s.regularization, D.end());
      compress(s, pace.budget, ws);
      scale_into_ball(s, ws);
    }
    if (header.has_reading) {
      if (s.is_adaptive()) {
        state.scale =
            adapt_scale(s.adaptation, kernel(s), D, state.adaptation, B.point(0), slope, around);
        scale_into_ball(s, ws);
      }
      const bool is_resting = !state.target.is_known(s.standardization);
      apart = update_multipliers(s, is_resting ? 0.0 : pace.dual_step_size, ws, e);
      state.readings += 1.0;
    }
    return apart;
  }

 private:
  std::size_t row_size() const { return 2 * D.end() + padded(D.n_features()); }
  double* push_row(Workspace& ws, const double* x) {
    double* row = ws.tape.push_row(row_size());
    std::copy_n(x, D.n_features(), row + 2 * D.end());
    return row;
  }

  // Points, kernel values and their products with Q, from the tape; returns the largest k(x, x).
  double read_block(const Settings& s, Workspace& ws) {
    Block& B = ws.block;
    double kappa = 0.0;
    for (int r = 0; r < B.b; ++r) {
      const double* row = ws.tape.next_row(row_size());
      B.k[r] = row;
      B.u[r] = row + D.end();
      std::copy_n(row + 2 * D.end(), B.p, &B.x[std::size_t(r) * B.p]);
      B.kxx[r] = kernel(s).diagonal(B.point(r));
      kappa = std::max(kappa, B.kxx[r]);
    }
    return kappa;
  }

  // S4: the pull of each neighbour that asked, in its unit. Returns their curvature, for S9.
  double pull_of_neighbours(const Settings& s, Workspace& ws, const Point* points, int first,
                            const Asker* askers) {
    Block& B = ws.block;
    const int n = B.b - first;
    reserve(ws, n);
    for (int k = 0; k < n; ++k) {
      const Point& point = points[first + k];
      const double unit = 1.0 / askers[point.origin].std;
      ws.own[k] = point.value * unit;
      ws.other[k] = askers[point.origin].value * unit;
    }
    s.proximity.compare(ws.own.data(), ws.other.data(), n, ws.h.data(), ws.slope.data());
    double price = 0.0;
    for (int k = 0; k < n; ++k) {
      const Point& point = points[first + k];
      const double ratio = state.target.std / askers[point.origin].std;
      B.c[first + k] = point.multiplier * ws.slope[k] * ratio;
      price += point.multiplier * ratio * ratio;
    }
    return 2.0 * price * s.proximity.curvature;
  }

  // The pull of the own constraints (S3). Leaves h in ws.h, per edge answered.
  double pull_of_own_edges(const Settings& s, Workspace& ws, const Edges& e, double own) {
    reserve(ws, e.n);
    ws.answered.clear();
    const double unit = 1.0 / state.target.std;
    for (int k = 0; k < e.n; ++k) {
      if (e.answer[k].value != e.answer[k].value) continue;
      ws.own[ws.answered.size()] = own * unit;
      ws.other[ws.answered.size()] = e.answer[k].value * unit;
      ws.answered.push_back(k);
    }
    const int n = int(ws.answered.size());
    s.proximity.compare(ws.own.data(), ws.other.data(), n, ws.h.data(), ws.slope.data());
    double pull = 0.0;
    for (int k = 0; k < n; ++k) pull += e.edge[ws.answered[k]].multiplier * ws.slope[k];
    return pull;
  }

  // S6, with the h that pull_of_own_edges left.
  double update_multipliers(const Settings& s, double eta, Workspace& ws, Edges& e) {
    const double decay = 1.0 - s.dual_regularization * eta * eta;
    double apart = 0.0;
    for (std::size_t a = 0; a < ws.answered.size(); ++a) {
      Edge& edge = e.edge[ws.answered[a]];
      const double excess = ws.h[a] - edge.tolerance;
      edge.multiplier = std::max(0.0, edge.multiplier * decay + eta * (excess + s.tightening));
      edge.violation += excess;
      edge.asked += 1.0;
      apart += ws.h[a];
    }
    return apart;
  }

  void compress(const Settings& s, double budget, Workspace& ws) {
    if (try_weights_only(kernel(s), D, ws.block, budget)) {
      std::copy_n(ws.block.weights.data(), D.end(), D.weights());
      ++ws.counts.moved;
    } else {
      ws.projection.run(kernel(s), D, ws.block, budget, ws.counts);
    }
  }

  void scale_into_ball(const Settings& s, Workspace& ws) {  // S8
    if (!(s.norm_bound < LARGEST)) return;
    ensure(ws.atom, D.n_features());
    double square = 0.0;
    for (int k = 0; k < D.m; ++k) {
      D.copy_atom(k, ws.atom.data());
      square += D.weights()[k] * D.evaluate(kernel(s), ws.atom.data(), ws.row);
    }
    if (square > s.norm_bound * s.norm_bound)
      halk::scale(D.weights(), s.norm_bound / std::sqrt(square), D.end());
  }

  static void reserve(Workspace& ws, std::size_t n) {
    for (Array* a : {&ws.own, &ws.other, &ws.h, &ws.slope}) ensure(*a, n);
  }
};

}  // namespace halk
