// The function of one agent: atoms, weights, and the inverse Q of the atoms' Gram matrix K.
// Shared by all steps: grow by a point, remove an atom, keep Q accurate.
#pragma once
#include <functional>

#include "arena.hpp"
#include "kernel.hpp"

namespace halk {

constexpr double ROUNDING = 1e-14;  // relative rounding error of a conditional variance
constexpr double MAX_DRIFT = 1e-6;  // of Q K from the identity, at the atom most at risk
constexpr double TIE = 1e-9;        // costs this close, relatively, are equal: the newer atom goes

// One contiguous slab per agent, which can be prefetched:
//   weights | diagonal of Q | further vectors | features (p) | Q | further matrices,
// all of row length `room`. Invariant: vectors and matrices are zero past m (the diagonal -1, so
// that padding never looks removable). Second order adds vectors and a matrix of its own.
class Dictionary {
 public:
  int m = 0, room = 0;
  double trace = 0.0;  // of Q
  double drift = 0.0;  // of Q K from the identity, as last measured

  explicit Dictionary(Arena& arena, int p, int n_vectors = 0, int n_matrices = 0)
      : arena(&arena), p(p), n_vectors(2 + n_vectors), n_matrices(1 + n_matrices) {}
  Dictionary make_like() const { return Dictionary(*arena, p, n_vectors - 2, n_matrices - 1); }

  int n_features() const { return p; }
  int end() const { return padded(m); }
  double* weights() const { return slab.get(); }
  double* vector(int i) const { return weights() + std::size_t(i) * room; }
  double* diagonal() const { return vector(1); }
  double* features() const { return vector(n_vectors); }
  double* matrix(int i) const {
    return weights() + (std::size_t(n_vectors + p) + std::size_t(i) * room) * room;
  }
  double* Q(int row = 0) const { return matrix(0) + std::size_t(row) * room; }
  Atoms atoms() const { return {features(), room, m}; }
  Prefetch used_memory() const { return {weights(), size(room) - std::size_t(room - m) * room}; }
  void multiply_Q(const double* x, double* out) const { multiply_symmetric(Q(), room, m, x, out); }
  void copy_atom(int k, double* x) const {
    for (int f = 0; f < p; ++f) x[f] = features()[std::size_t(f) * room + k];
  }
  void set_atom(int k, const double* x) {
    for (int f = 0; f < p; ++f) features()[std::size_t(f) * room + k] = x[f];
  }

  void reserve(int n) {
    if (n > room) reallocate(padded(n));
  }
  // Move the slab to another arena, which the owner then swaps with the present one.
  void move_to(Arena& other) {
    double* moved = other.allocate(size(room));
    std::copy_n(weights(), size(room), moved);
    slab.release();
    slab.reset(moved);
  }
  // Become a copy of other, with room for n atoms; a room that is much too large is given back if
  // is_tight.
  void assign(const Dictionary& other, int n, bool is_tight) {
    const int wanted = padded(std::max(n, 1));
    if (wanted > room || (is_tight && wanted + LANES < room))
      m = 0, reallocate(wanted);
    else
      clear();
    copy(other, *this);
    m = other.m;
    trace = other.trace;
    drift = other.drift;
  }
  // n atoms with zero weights and an inverse still to be filled in or computed.
  void reset(int n) {
    m = 0;
    reserve(std::max(n, 1));
    clear();
    m = n;
  }
  void read_diagonal() {
    for (int k = 0; k < m; ++k) diagonal()[k] = Q(k)[k];
    sum_diagonal();
  }

  double evaluate(const ScaledKernel& kernel, const double* x, Array& scratch) const {
    ensure(scratch, end());
    kernel.rows(atoms(), x, 1, scratch.data(), end());
    return dot(scratch.data(), weights(), end());
  }

  // A bound on the rounding error of any conditional variance, for a kernel with k(x, x) = kappa.
  double bound_rounding(double kappa) const {
    const double most = 1.0 + std::sqrt(m * kappa * trace);
    return ROUNDING * kappa * most * most;
  }
  // Whether a conditional variance k(x, x) - k'Qk is above its rounding error, that is, ROUNDING
  // times the size of its terms. `bound` decides most cases, if there is one.
  bool is_significant(double variance, const double* k, double kxx, double bound = NAN) const {
    if (variance > bound) return true;
    double s[LANES] = {};
    const double* q = diagonal();
    for (int a = 0; a < end(); a += LANES)
      for (int l = 0; l < LANES; ++l) s[l] += std::abs(k[a + l]) * std::sqrt(std::abs(q[a + l]));
    const double size = std::sqrt(kxx) + sum_lanes(s);
    return variance > ROUNDING * size * size;
  }

  // Add atom x with u = Q k and conditional variance s.
  void grow(const double* x, const double* u, double s, double weight) {
    reserve(m + 1);
    const double f = 1.0 / s;
    add_outer_product(Q(), room, m, f, u);
    for (int k = 0; k < m; ++k) Q(k)[m] = Q(m)[k] = -f * u[k];
    Q(m)[m] = f;
    set_atom(m, x);
    weights()[m] = weight;
    for (int k = 0; k < m; ++k) diagonal()[k] += f * u[k] * u[k];  // as in Q, bit for bit
    diagonal()[m++] = f;
    sum_diagonal();
  }

  // Remove an atom and refit the others: the function moves by sqrt(w_k^2 / Q_kk).
  void remove(int gone, Array& scratch) {
    ensure(scratch, end());
    double* q = scratch.data();
    std::copy_n(Q(gone), end(), q);
    const double f = -1.0 / q[gone];
    axpy(weights(), weights()[gone] * f, q, end());
    for (int k = 0; k < m; ++k) diagonal()[k] += f * q[k] * q[k];
    add_outer_product(Q(), room, m, f, q);
    erase(gone);
    sum_diagonal();
  }

  // Erase an atom everywhere without a refit; the others keep their order.
  void erase(int gone) {
    const int wide = end();
    --m;
    for (int i = 0; i < n_vectors + p; ++i) close_gap(vector(i), vector(i), gone, wide);
    diagonal()[m] = -1.0;
    for (int i = 0; i < n_matrices; ++i) {
      double* row = matrix(i);
      for (int k = 0; k <= m; ++k, row += room)
        if (k != gone) close_gap(row, k < gone ? row : row - room, gone, wide);
      std::fill_n(row - room, wide, 0.0);
    }
  }

  // The atom whose removal costs least, w_k^2 / Q_kk, which is written to cost; the newest in a
  // tie, where what was spent before counts too.
  int find_cheapest(double spent, double& cost) const {
    const double *HALK_RESTRICT w = weights(), *HALK_RESTRICT q = diagonal();
    double least = std::numeric_limits<double>::infinity();
    HALK_SIMD_MIN(least)
    for (int k = 0; k < end(); ++k) {
      const double c = w[k] * w[k] / q[k];
      least = std::min(least, k < m ? c : least);
    }
    cost = least;
    const double limit = cost + TIE * (spent + cost);
    double newest = 1.0;  // its negative index; division would cost as much again
    HALK_SIMD_MIN(newest)
    for (int k = 0; k < end(); ++k)
      newest = std::min(newest, k < m && w[k] * w[k] <= limit * q[k] ? -double(k) : 1.0);
    if (newest <= 0.0 && limit >= 0.0) return int(-newest);
    int best = m - 1;  // where products underflow, or Q is none
    while (best > 0 && !(w[best] * w[best] / q[best] <= limit)) --best;
    return best;
  }

  // Measure |Q k(a) - e_a| at the atom most at risk: how far Q is from the inverse.
  double measure_drift(const ScaledKernel& kernel) {
    Array scratch;
    return measure_drift(kernel, scratch);
  }
  double measure_drift(const ScaledKernel& kernel, Array& scratch) {
    drift = 0.0;
    if (m == 0) return drift;
    ensure(scratch, 2 * end() + padded(p));
    double *k = scratch.data(), *u = k + end(), *x = u + end();
    int risky = 0;
    double most = -1.0;
    const bool is_stationary = std::isfinite(kernel.kernel->at_itself);
    for (int a = 0; a < m; ++a) {
      if (!is_stationary) copy_atom(a, x);
      const double risk = diagonal()[a] * (is_stationary ? 1.0 : kernel.diagonal(x));
      if (risk > most) most = risk, risky = a;
    }
    copy_atom(risky, x);
    kernel.rows(atoms(), x, 1, k, end());
    multiply_Q(k, u);
    u[risky] -= 1.0;
    for (int a = 0; a < m; ++a)
      if (!(std::abs(u[a]) <= drift)) drift = std::abs(u[a]);
    return drift;
  }

  // Compute Q anew from the atoms, by Cholesky with pivoting: what adds most to the span comes
  // first. Atoms that add less than the share `least` of k(x, x), and those for which Q would be
  // further than `most_drift` from an inverse, are erased; their weights are projected onto the
  // others.
  void rebuild(const ScaledKernel& kernel, double least = 100.0 * ROUNDING,
               double most_drift = MAX_DRIFT) {
    Array x(std::size_t(m) * p), K, L, residual, absorbed_x, absorbed_w, k(end()), u(end());
    std::vector<int> order;
    auto absorb = [&](int gone) {
      absorbed_x.resize(absorbed_x.size() + p);
      copy_atom(gone, absorbed_x.data() + absorbed_x.size() - p);
      absorbed_w.push_back(weights()[gone]);
      erase(gone);
    };
    for (;;) {
      const int n = m, ld = padded(n);
      K.resize(std::size_t(n) * ld);
      for (int a = 0; a < n; ++a) copy_atom(a, &x[std::size_t(a) * p]);
      kernel.rows(atoms(), x.data(), n, K.data(), ld);
      const int rank = factor_with_pivots(K, ld, n, least, L, residual, order);
      invert(L, ld, rank, order);
      std::sort(order.begin() + rank, order.end(), std::greater<int>());
      for (int a = rank; a < n; ++a) absorb(order[a]);
      read_diagonal();
      if (measure_drift(kernel) <= most_drift) break;
      absorb(int(std::max_element(diagonal(), diagonal() + m) - diagonal()));
    }
    for (std::size_t a = 0; a < absorbed_w.size(); ++a) {
      kernel.rows(atoms(), &absorbed_x[a * p], 1, k.data(), end());
      multiply_Q(k.data(), u.data());
      axpy(weights(), absorbed_w[a], u.data(), end());
    }
  }

 private:
  struct Release {
    Arena* arena;
    std::size_t n;
    void operator()(double* data) const { arena->release(data, n); }
  };
  Arena* arena;
  std::unique_ptr<double[], Release> slab;
  int p, n_vectors, n_matrices;

  void sum_diagonal() {
    double s[LANES] = {};
    for (int k = 0; k < end(); k += LANES)
      for (int l = 0; l < LANES; ++l) s[l] += k + l < m ? std::abs(diagonal()[k + l]) : 0.0;
    trace = sum_lanes(s);
  }
  // to = from without its entry `gone`, and a zero behind; both have n entries, which is padded,
  // and may be the same. Reads one entry more.
  static void close_gap(const double* from, double* to, int gone, int n) {
    for (int k = to == from ? gone / LANES * LANES : 0; k < n; k += LANES) {
      HALK_SIMD
      for (int l = 0; l < LANES; ++l) {
        const double stays = from[k + l], moves = from[k + l + 1];
        to[k + l] = k + l < gone ? stays : moves;
      }
    }
    to[n - 1] = 0.0;
  }
  std::size_t size(int wide) const {
    return (std::size_t(n_vectors + p) + std::size_t(n_matrices) * wide) * wide + LANES;
  }
  void clear() {
    std::fill_n(weights(), size(room), 0.0);
    std::fill_n(diagonal(), room, -1.0);
    m = 0;
  }
  void reallocate(int wide) {
    decltype(slab) fresh(arena->allocate(size(wide)), {arena, size(wide)});
    const Dictionary old = std::move(*this);
    slab = std::move(fresh);
    room = wide;
    clear();
    if (old.m) copy(old, *this);
    m = old.m;
  }
  static void copy(const Dictionary& from, Dictionary& to) {
    for (int i = 0; i < std::min(from.n_vectors, to.n_vectors); ++i)
      std::copy_n(from.vector(i), from.m, to.vector(i));
    for (int f = 0; f < from.p; ++f)
      std::copy_n(from.vector(from.n_vectors + f), from.m, to.vector(to.n_vectors + f));
    for (int i = 0; i < std::min(from.n_matrices, to.n_matrices); ++i)
      for (int k = 0; k < from.m; ++k)
        std::copy_n(from.matrix(i) + std::size_t(k) * from.room, from.m,
                    to.matrix(i) + std::size_t(k) * to.room);
  }
  // Rows of L are those of K; its columns, and `order`, follow the pivots. Returns the rank.
  static int factor_with_pivots(const Array& K, int ld, int n, double least, Array& L,
                                Array& residual, std::vector<int>& order) {
    L.assign(std::size_t(n) * ld, 0.0);
    residual.resize(n);
    order.resize(n);
    for (int k = 0; k < n; ++k) order[k] = k, residual[k] = K[std::size_t(k) * (ld + 1)];
    for (int s = 0; s < n; ++s) {
      auto share = [&](int k) {
        const double own = K[std::size_t(k) * (ld + 1)];
        return own > 0.0 ? residual[k] / own : 0.0;
      };
      int best = s;
      for (int a = s + 1; a < n; ++a)
        if (share(order[a]) > share(order[best])) best = a;
      if (!(share(order[best]) > least)) return s;
      std::swap(order[s], order[best]);
      const int pivot = order[s];
      double* row = &L[std::size_t(pivot) * ld];
      row[s] = std::sqrt(residual[pivot]);
      for (int a = s + 1; a < n; ++a) {
        double* other = &L[std::size_t(order[a]) * ld];
        const double k = K[std::size_t(order[a]) * ld + pivot];
        other[s] = (k - dot_prefix(other, row, s)) / row[s];
        residual[order[a]] -= other[s] * other[s];
      }
    }
    return n;
  }
  // Q = L^-T L^-1 of the first pivots; rows and columns of the others are zero.
  void invert(const Array& L, int ld, int rank, const std::vector<int>& order) {
    Array Y(std::size_t(rank) * ld);
    std::fill_n(Q(), std::size_t(room) * room, 0.0);
    for (int s = 0; s < rank; ++s) {
      const double* row = &L[std::size_t(order[s]) * ld];
      double* y = &Y[std::size_t(s) * ld];
      y[order[s]] = 1.0;
      for (int t = 0; t < s; ++t) axpy(y, -row[t], &Y[std::size_t(t) * ld], ld);
      halk::scale(y, 1.0 / row[s], ld);
      add_outer_product(Q(), room, m, 1.0, y);
    }
  }
};

}  // namespace halk
