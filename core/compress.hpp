// S7: f~ = (weighted atoms) + sum_r c_r k(x_r, .) is compressed to few atoms within a budget, by
// destructive KOMP with pre-fitting: the atom whose removal costs least goes, as long as the
// distance to f~ stays within the budget.
#pragma once
#include <numeric>

#include "dictionary.hpp"

namespace halk {

// The new points of a step with their rows against the atoms, and scratch for the tests below.
struct Block {
  int b = 0, p = 0;
  std::vector<const double*> k, u;  // per point: k = k_D(x) and u = Q k
  std::vector<double> x, c, kxx;    // (b, p), (b,), (b,)
  struct Stage {                    // removal of one new point: c / T_gg, 1 / T_gg, and its cost
    double share, inverse, cost;
  };
  std::vector<Stage> stages;
  std::vector<double> rest;
  std::vector<int> in, out;
  std::vector<char> is_kept;
  Array T, rows, columns, P, z, before, weights;

  void resize(int n, int features) {
    b = n;
    p = features;
    k.resize(n);
    u.resize(n);
    x.resize(std::size_t(n) * p);
    c.resize(n);
    kxx.resize(n);
  }
  const double* point(int r) const { return x.data() + std::size_t(r) * p; }
};

struct Counts {  // how steps ended: weights moved only; atoms changed; Q had to be computed anew
  double moved = 0.0, projected = 0.0, repaired = 0.0;
};

// Sweep operator: exchange row and column k of a symmetric matrix between "in the inverse"
// (negative) and "not".
inline void sweep(double* A, int ld, int n, int k) {
  double* pivot = A + std::size_t(k) * ld;
  const double d = 1.0 / pivot[k];
  for (int i = 0; i < n; ++i) {
    if (i == k) continue;
    double* row = A + std::size_t(i) * ld;
    const double f = row[k] * d;
    axpy(row, -f, pivot, padded(n));
    row[k] = f;
  }
  for (int j = 0; j < n; ++j) pivot[j] *= d;
  pivot[k] = -d;
}

// The smallest w^2 - price P over the atoms; padding has P = -1 and w = 0.
HALK_INLINE double smallest_margin(const double* HALK_RESTRICT w, const double* HALK_RESTRICT P,
                                   double price, int end) {
  double low = std::numeric_limits<double>::infinity();
  HALK_SIMD_MIN(low)
  for (int k = 0; k < end; ++k) low = std::min(low, w[k] * w[k] - price * P[k]);
  return low;
}

// Eliminate the new points from their Schur complement T, cheapest first; record every stage.
inline void remove_new_points(const Dictionary& D, Block& B, int ld, double rounding) {
  double* T = B.T.data();
  auto &in = B.in, &out = B.out;
  in.clear();
  out.resize(B.b);
  std::iota(out.begin(), out.end(), 0);
  while (!out.empty()) {  // largest pivot first
    const auto is_less = [&](int a, int o) { return T[a * ld + a] < T[o * ld + o]; };
    const auto best = std::max_element(out.begin(), out.end(), is_less);
    if (!D.is_significant(T[*best * ld + *best], B.k[*best], B.kxx[*best], rounding)) break;
    sweep(T, ld, B.b, *best);
    in.push_back(*best);
    out.erase(best);
  }
  std::sort(in.begin(), in.end());
  B.rest.assign(B.c.begin(), B.c.end());
  for (int a : out)  // points in the span of the others are absorbed by them
    for (int i : in) B.rest[i] += B.c[a] * std::exchange(T[i * ld + a], 0.0);
  B.stages.clear();
  while (!in.empty()) {
    auto gone = in.begin();
    double cost = std::numeric_limits<double>::infinity();
    for (auto a = in.begin(); a != in.end(); ++a) {
      const double c = B.rest[*a] * B.rest[*a] / -T[*a * (ld + 1)];
      if (c <= cost * (1.0 + TIE)) gone = a, cost = c;
    }
    const int g = *gone;
    double* kept = B.rows.data() + B.stages.size() * ld;
    for (int a = 0; a < ld; ++a) kept[a] = -T[g * ld + a];
    const double f = 1.0 / kept[g], share = B.rest[g] * f;
    B.stages.push_back({share, f, cost});
    in.erase(gone);
    for (int i : in) {
      B.rest[i] -= kept[i] * share;
      axpy(T + i * ld, kept[i] * f, kept, ld);
      T[i * ld + g] = 0.0;
    }
  }
}

// Whether the drift of Q is too small to matter for a decision about the squared distance `limit`.
// With e = K u - k the squared distance of c u is wrong by c^2 u'e <= c^2 drift |u|_1 |k|_1, and
// |u|_1 <= sqrt(m k(x,x) trace Q), |k|_1 <= m k(x,x). The drift is a sample: ten times that.
inline bool is_precise(const Dictionary& D, const Block& B, double limit) {
  double size = 0.0, kappa = 0.0, exact_u = 0.0, exact_k = 0.0;
  for (int r = 0; r < B.b; ++r) {
    size += std::abs(B.c[r]);
    kappa = std::max(kappa, B.kxx[r]);
  }
  const double allowed = 1e-3 * limit, factor = 10.0 * D.drift;
  const double bound = D.m * kappa * std::sqrt(D.m * kappa * D.trace);
  if (factor * size * size * bound <= allowed) return true;
  for (int r = 0; r < B.b; ++r)
    for (int k = 0; k < D.m; ++k) {
      exact_u += std::abs(B.c[r] * B.u[r][k]);
      exact_k += std::abs(B.c[r] * B.k[r][k]);
    }
  return factor * exact_u * exact_k <= allowed;
}

// The test below for one new point, in one pass: it goes alone if after its removal no atom is
// within the budget left, and before its removal none is cheaper than it. 1.13x per step with the
// paper's coupling.
inline bool try_weights_only_one(const Dictionary& D, Block& B, double limit, double rounding) {
  const int end = D.end();
  const double c = B.c[0], t = B.kxx[0] - dot(B.k[0], B.u[0], end);
  const double cost = std::max(c * c * t, 0.0);
  if (!(cost < limit)) return false;
  const bool is_new = D.is_significant(t, B.k[0], B.kxx[0], rounding);  // else absorbed at no cost
  const double left = limit - cost, price = is_new ? cost * (1.0 - TIE) : 0.0;
  const double grown = is_new ? price / t : 0.0;
  const double *HALK_RESTRICT w = D.weights(), *HALK_RESTRICT q = D.diagonal(),
                              *HALK_RESTRICT u = B.u[0];
  double* HALK_RESTRICT out = B.weights.data();
  double after = 1.0, before = 1.0;  // smallest margins
  HALK_SIMD_MIN(after, before)
  for (int k = 0; k < end; ++k) {
    const double moved = w[k] + c * u[k];
    after = std::min(after, moved * moved - left * q[k]);
    before = std::min(before, w[k] * w[k] - (price * q[k] + grown * (u[k] * u[k])));
    out[k] = moved;
  }
  return after > 0.0 && before >= 0.0;
}

// Whether no atom can be cheaper than a new point at any stage, by a bound that needs no stages.
// With T = LL' the Schur complement of the new points, s_k = |L^-1 u_k|^2, and d the distance of f~
// from the atoms' span: at every stage the weight of atom k is at least |w_k| - d sqrt(s_k), its
// inverse diagonal at most Q_kk + s_k, and a new point costs at most d^2. So it suffices that
// w_k^2 > d^2 (sqrt(s_k) + sqrt(Q_kk + s_k))^2, which is at most d^2 times either number below.
// Decides two steps in three at p = 1, nine in ten at p = 3: 1.05x and 1.19x per step.
inline bool is_bound_enough(const Dictionary& D, Block& B, int ld, double square) {
  const int b = B.b, end = D.end();
  double *L = B.rows.data(), *P = B.P.data();
  std::copy_n(B.T.data(), std::size_t(b) * ld, L);
  B.is_kept.resize(b);
  factor_cholesky(L, ld, b, 1e-9, B.is_kept.data());
  if (std::find(B.is_kept.begin(), B.is_kept.end(), 0) != B.is_kept.end()) return false;
  std::fill_n(P, end, 0.0);
  for (int r = 0; r < b; ++r) {  // forward substitution, one row of L^-1 U at a time
    double* z = B.z.data() + std::size_t(r) * end;
    std::copy_n(B.u[r], end, z);
    for (int t = 0; t < r; ++t) axpy(z, -L[r * ld + t], B.z.data() + std::size_t(t) * end, end);
    halk::scale(z, 1.0 / L[r * ld + r], end);
    for (int k = 0; k < end; ++k) P[k] += z[k] * z[k];
  }
  for (int k = 0; k < end; ++k) {
    const double q = D.diagonal()[k], s = P[k];
    P[k] = std::min(2.0 * q + 4.0 * s, 1.25 * q + 6.25 * s);
  }
  return smallest_margin(B.weights.data(), P, square, end) > 0.0;
}

// Whether greedy removal would remove all new points and no atom; then B.weights are the weights it
// leaves. Touches no matrix of the dictionary: the points are removed from their own Schur
// complement (b x b) and put back in reverse order, to test at each stage whether an atom, of
// weight w and inverse diagonal P at that stage, would have been cheaper.
inline bool try_weights_only(const ScaledKernel& kernel, const Dictionary& D, Block& B,
                             double budget) {
  const int b = B.b, end = D.end(), ld = padded(b);
  const double limit = budget * budget;
  if (!is_precise(D, B, limit)) return false;
  for (Array* a : {&B.weights, &B.P, &B.before}) ensure(*a, end);
  const double rounding = D.bound_rounding(kernel.kernel->at_itself);
  if (b == 1) return try_weights_only_one(D, B, limit, rounding);
  for (Array* a : {&B.T, &B.rows}) ensure(*a, std::size_t(b) * ld);
  ensure(B.columns, std::size_t(B.p) * ld);
  ensure(B.z, std::size_t(b) * end);
  double* T = B.T.data();
  for (int r = 0; r < b; ++r)
    for (int f = 0; f < B.p; ++f) B.columns[std::size_t(f) * ld + r] = B.point(r)[f];
  kernel.rows({B.columns.data(), ld, b}, B.x.data(), b, T, ld);
  double square = 0.0;
  for (int a = 0; a < b; ++a)
    for (int o = 0; o <= a; ++o) {
      const double t = T[a * ld + o] - dot(B.k[a], B.u[o], end);
      T[a * ld + o] = T[o * ld + a] = t;
      square += (o < a ? 2.0 : 1.0) * B.c[a] * B.c[o] * t;
    }
  square = std::max(square, 0.0);
  if (!(square < limit)) return false;  // removing all of them exceeds the budget
  double *w = B.weights.data(), *P = B.P.data(), *z = B.z.data(), *before = B.before.data();
  std::copy_n(D.weights(), end, w);
  for (int r = 0; r < b; ++r) axpy(w, B.c[r], B.u[r], end);
  if (!(smallest_margin(w, D.diagonal(), limit - square, end) > 0.0)) return false;
  if (b <= LANES && is_bound_enough(D, B, ld, square)) return true;
  remove_new_points(D, B, ld, rounding);
  std::copy_n(D.diagonal(), end, P);
  std::copy_n(w, end, before);
  for (int j = int(B.stages.size()) - 1; j >= 0; --j) {
    const Block::Stage& s = B.stages[j];
    const double* kept = B.rows.data() + std::size_t(j) * ld;
    std::fill_n(z, end, 0.0);
    for (int a = 0; a < b; ++a)
      if (kept[a] != 0.0) axpy(z, kept[a], B.u[a], end);
    for (int k = 0; k < end; ++k) P[k] += z[k] * z[k] * s.inverse, before[k] -= z[k] * s.share;
    if (smallest_margin(before, P, s.cost * (1.0 - TIE), end) < 0.0) return false;
  }
  return true;
}

// KOMP itself, on a copy W of the dictionary that holds all atoms and new points; it replaces the
// dictionary once the result is verified. W's third vector is each atom's index in f~.
class Projection {
 public:
  Projection(Arena& arena, int p) : W(arena, p, 1), before(arena, p, 1) {}

  void run(const ScaledKernel& kernel, Dictionary& D, const Block& B, double budget,
           Counts& counts) {
    ++counts.projected;
    start(D.m + B.b, B.p);
    W.assign(D, D.m + B.b, false);
    for (int a = 0; a < D.m; ++a) {
      D.copy_atom(a, x.data());
      W.vector(2)[a] = n;
      add(x.data(), D.weights()[a]);
    }
    for (int r = 0; r < B.b; ++r) {
      kernel.rows(W.atoms(), B.point(r), 1, k.data(), ld);
      W.multiply_Q(k.data(), u.data());
      const double s = B.kxx[r] - dot(k.data(), u.data(), W.end());
      if (W.is_significant(s, k.data(), B.kxx[r])) {
        W.grow(B.point(r), u.data(), s, B.c[r]);
        W.vector(2)[W.m - 1] = n;
      } else {
        axpy(W.weights(), B.c[r], u.data(), W.end());  // in the span: absorbed
      }
      add(B.point(r), B.c[r]);
    }
    remove_atoms(budget);
    if (!is_within(kernel, budget) || W.measure_drift(kernel) > MAX_DRIFT) {
      ++counts.repaired;
      repair(kernel, budget);
    }
    D.assign(W, W.m, true);
  }

  // Compress a whole function of n atoms (n, p) at once; the result's third vector has the indices
  // of the atoms kept.
  const Dictionary& run(const ScaledKernel& kernel, const double* atoms, const double* w, int count,
                        double budget) {
    start(count, kernel.p());
    for (int a = 0; a < count; ++a) add(atoms + std::size_t(a) * kernel.p(), w[a]);
    repair(kernel, budget);
    return W;
  }

 private:
  Dictionary W, before;
  Array features, weights, difference, k, u;  // f~, and scratch
  std::vector<double> x;
  int n = 0, ld = 0;

  void start(int most, int p) {
    n = 0;
    ld = padded(most);
    features.assign(std::size_t(p) * ld, 0.0);
    weights.assign(ld, 0.0);
    for (Array* a : {&k, &u}) ensure(*a, ld);
    x.resize(p);
  }
  void add(const double* point, double weight) {
    for (std::size_t f = 0; f < x.size(); ++f) features[f * ld + n] = point[f];
    weights[n++] = weight;
  }
  void remove_atoms(double budget) {
    double spent = 0.0, cost;
    while (W.m > 0) {
      const int gone = W.find_cheapest(spent, cost);
      if (!((spent += cost) <= budget * budget)) break;
      W.remove(gone, k);
    }
  }
  // f~ minus the function of W, on the atoms of f~.
  void fill_difference() {
    difference.assign(weights.begin(), weights.end());
    for (int a = 0; a < W.m; ++a) difference[std::size_t(W.vector(2)[a])] -= W.weights()[a];
  }
  // Whether the distance to f~, computed from K itself, is within the budget. Weights of size 1e7
  // times the budget cancel to a distance that rounding hides: refusing it repairs every step.
  bool is_within(const ScaledKernel& kernel, double budget) {
    fill_difference();
    double square = 0.0, size = 0.0;
    for (int a = 0; a < n; ++a) {
      size += std::abs(weights[a]);
      if (difference[a] == 0.0) continue;
      for (std::size_t f = 0; f < x.size(); ++f) x[f] = features[f * ld + a];
      kernel.rows({features.data(), ld, a + 1}, x.data(), 1, k.data(), ld);
      const double below = dot(k.data(), difference.data(), padded(a + 1));  // lower triangle
      square += difference[a] * (2.0 * below - k[a] * difference[a]);
    }
    return square <= budget * budget * (1.0 + 1e-6) + ROUNDING * size * size;
  }
  // Start again from all atoms and points with a fresh inverse.
  void restart(const ScaledKernel& kernel, double least, double most_drift) {
    W.reset(n);
    for (std::size_t f = 0; f < x.size(); ++f)
      std::copy_n(features.data() + f * ld, n, W.features() + f * W.room);
    for (int a = 0; a < n; ++a) W.vector(2)[a] = a;
    std::copy_n(weights.data(), n, W.weights());
    W.rebuild(kernel, least, most_drift);
  }
  // Iterative refinement of the fit to f~, against K itself.
  void refine(const ScaledKernel& kernel) {
    for (int turn = 0; turn < 3; ++turn) {
      fill_difference();
      std::fill_n(u.data(), W.end(), 0.0);
      for (int a = 0; a < W.m; ++a) {
        W.copy_atom(a, x.data());
        kernel.rows({features.data(), ld, n}, x.data(), 1, k.data(), ld);
        u[a] = dot(k.data(), difference.data(), ld);
      }
      W.multiply_Q(u.data(), k.data());
      axpy(W.weights(), 1.0, k.data(), W.end());
    }
  }
  // Greedy removal where Q was not good enough: from a fresh inverse, first of atoms that are well
  // apart; where the budget is too small for that, of all that rounding can tell apart, each
  // removal refined and verified. Then Q has drifted, and the next step comes here again.
  void repair(const ScaledKernel& kernel, double budget) {
    restart(kernel, 100.0 * ROUNDING, MAX_DRIFT);
    remove_atoms(budget);
    if (is_within(kernel, budget)) return;
    restart(kernel, 100.0 * ROUNDING, MAX_DRIFT);  // without any removal
    if (is_within(kernel, budget)) return;
    restart(kernel, 0.1 * ROUNDING, 0.5);
    refine(kernel);
    while (W.m > 0) {
      before.assign(W, W.m, false);
      double cost;
      const int gone = W.find_cheapest(0.0, cost);
      if (!(cost <= budget * budget)) break;
      W.remove(gone, k);
      refine(kernel);
      if (is_within(kernel, budget)) continue;
      W.assign(before, before.m, false);
      break;
    }
    W.measure_drift(kernel);
  }
};

}  // namespace halk
