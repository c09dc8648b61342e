// The module halk._core: arrays in, arrays out. Values are validated in Python, shapes here too.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "network.hpp"
#include "peer.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace halk;

template <int N>
using In = nb::ndarray<const double, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <int N>
using Inout = nb::ndarray<double, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Ints = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InoutInts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool condition, const std::string& message) {
  if (!condition) throw nb::value_error(message.c_str());
}

// ------------------------------------------------------------------- arrays

template <class T>
static nb::object own_array(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner).cast();
}
template <class T>
static nb::object copy_array(const std::vector<T>& values) {
  return own_array(std::vector<T>(values), {values.size()});
}
template <class T>
static void fill_from(std::vector<T>& out, nb::dict state, const char* name) {
  using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  const auto given = nb::cast<Given>(state[name]);
  require(given.size() == out.size(), std::string(name) + " must have " +
                                          std::to_string(out.size()) + " entries, got " +
                                          std::to_string(given.size()));
  std::copy_n(given.data(), out.size(), out.begin());
}
static In<2> matrix_of(nb::dict state, const char* name, std::size_t rows, std::size_t columns) {
  const auto given = nb::cast<In<2>>(state[name]);
  require(given.shape(0) == rows && given.shape(1) == columns,
          std::string(name) + " must have shape (" + std::to_string(rows) + ", " +
              std::to_string(columns) + ")");
  return given;
}

// ------------------------------------------- components written in Python

struct PythonKernel final : Kernel {
  nb::callable matrix;  // (X (b, p), Y (m, p), scale) -> (b, m), which it has checked
  PythonKernel(int p, nb::callable f) : Kernel(p), matrix(std::move(f)) { is_python = true; }
  void rows(Atoms a, const double* x, int b, double* out, std::size_t ld, double scale,
            Prefetch) const override {
    if (b == 0 || a.n == 0) return;
    std::vector<double> points(x, x + std::size_t(b) * p), atoms(std::size_t(a.n) * p);
    for (int k = 0; k < a.n; ++k)
      for (int f = 0; f < p; ++f) atoms[std::size_t(k) * p + f] = a.data[std::size_t(f) * a.ld + k];
    const std::size_t n = a.n, width = p;
    const nb::object result = matrix(own_array(std::move(points), {std::size_t(b), width}),
                                     own_array(std::move(atoms), {n, width}), scale);
    const auto K = nb::cast<In<2>>(result);
    require(K.shape(0) == std::size_t(b) && K.shape(1) == n, "kernel must return (n, m) values");
    for (int r = 0; r < b; ++r) {
      std::copy_n(K.data() + std::size_t(r) * n, n, out + r * ld);
      std::fill(out + r * ld + n, out + r * ld + padded(a.n), 0.0);
    }
  }
};

static void compare_in_python(const nb::callable& compare, const double* a, const double* b, int n,
                              double* value, double* slope) {
  const std::size_t size = n;
  const nb::object result = compare(own_array(std::vector<double>(a, a + n), {size}),
                                    own_array(std::vector<double>(b, b + n), {size}));
  const auto pair = nb::cast<nb::tuple>(result);
  const auto h = nb::cast<In<1>>(pair[0]), d = nb::cast<In<1>>(pair[1]);
  require(h.size() == size && d.size() == size, "proximity must return one value per pair");
  std::copy_n(h.data(), n, value);
  std::copy_n(d.data(), n, slope);
}

static nb::object evaluate(const Kernel& kernel, In<2> X, In<2> Y, double scale) {
  const std::size_t n = X.shape(0), m = Y.shape(0), p = kernel.p;
  require(X.shape(1) == p && Y.shape(1) == p,
          "X and Y must have " + std::to_string(p) + " features");
  const int ld = padded(int(m));
  Array atoms(p * ld), row(ld);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t f = 0; f < p; ++f) atoms[f * ld + k] = Y(k, f);
  std::vector<double> out(n * m);
  for (std::size_t r = 0; r < n; ++r) {
    kernel.rows({atoms.data(), ld, int(m)}, X.data() + r * p, 1, row.data(), ld, scale, {});
    std::copy_n(row.data(), m, out.data() + r * m);
  }
  return own_array(std::move(out), {n, m});
}

template <class F>
static nb::object evaluate_pairs(In<1> a, In<1> b, F f) {
  require(a.size() == b.size(), "both arguments must have the same length");
  std::vector<double> out(a.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = f(a(k), b(k));
  return own_array(std::move(out), {a.size()});
}

template <class Component, class Kind>
static Component make_named(const std::string& name, double parameter, Kind n_kinds) {
  for (int kind = 0; kind < int(n_kinds); ++kind)
    if (name == Component::NAMES[kind]) {
      Component made;
      made.kind = Kind(kind);
      made.parameter = parameter;
      return made;
    }
  throw nb::value_error(("unknown component " + name).c_str());
}

static void bind_components(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel").def("matrix", &evaluate, "X"_a, "Y"_a, "scale"_a = 1.0);
  m.def(
      "native_kernel",
      [](const std::string& name, int n_features, std::vector<double> length_scale,
         std::vector<double> parameters) {
        auto kernel = make_kernel(name, n_features, length_scale, parameters);
        require(kernel != nullptr, "unknown kernel " + name);
        return kernel;
      },
      "name"_a, "n_features"_a, "length_scale"_a, "parameters"_a);
  auto pair = [](bool is_sum) {
    return [is_sum](std::shared_ptr<Kernel> a, std::shared_ptr<Kernel> b) {
      return std::shared_ptr<Kernel>(std::make_shared<Pair>(a, b, is_sum));
    };
  };
  m.def("sum_kernel", pair(true), "left"_a, "right"_a);
  m.def("product_kernel", pair(false), "left"_a, "right"_a);
  m.def(
      "python_kernel",
      [](int n_features, nb::callable matrix, std::vector<double> length_scale) {
        auto kernel = std::make_shared<PythonKernel>(n_features, std::move(matrix));
        kernel->length_scale = std::move(length_scale);
        return std::shared_ptr<Kernel>(kernel);
      },
      "n_features"_a, "matrix"_a, "length_scale"_a);

  nb::class_<Loss>(m, "Loss")
      .def(
          "value",
          [](const Loss& l, In<1> a, In<1> y) {
            return evaluate_pairs(a, y, [&](double u, double v) { return l.value(u, v); });
          },
          "a"_a, "y"_a)
      .def(
          "slope",
          [](const Loss& l, In<1> a, In<1> y) {
            return evaluate_pairs(a, y, [&](double u, double v) { return l.slope(u, v); });
          },
          "a"_a, "y"_a)
      .def_ro("curvature", &Loss::curvature);
  m.def(
      "native_loss",
      [](const std::string& name, double parameter) {
        Loss loss = make_named<Loss>(name, parameter, Loss::python);
        loss.curvature = Loss::curvature_of(loss.kind);
        return loss;
      },
      "name"_a, "parameter"_a = 0.0);
  m.def(
      "python_loss",
      [](nb::callable slope, double curvature) {
        Loss loss;
        loss.kind = Loss::python;
        loss.curvature = curvature;
        loss.python_slope = [slope](double a, double y) { return nb::cast<double>(slope(a, y)); };
        return loss;
      },
      "slope"_a, "curvature"_a);

  nb::class_<Proximity>(m, "Proximity")
      .def(
          "compare",
          [](const Proximity& h, In<1> a, In<1> b) {
            require(a.size() == b.size(), "both arguments must have the same length");
            std::vector<double> value(a.size()), slope(a.size());
            h.compare(a.data(), b.data(), int(a.size()), value.data(), slope.data());
            return nb::make_tuple(own_array(std::move(value), {a.size()}),
                                  own_array(std::move(slope), {a.size()}));
          },
          "a"_a, "b"_a)
      .def_ro("curvature", &Proximity::curvature);
  m.def(
      "native_proximity",
      [](const std::string& name, double parameter) {
        return make_named<Proximity>(name, parameter, Proximity::python);
      },
      "name"_a, "parameter"_a = 0.0);
  m.def(
      "python_proximity",
      [](nb::callable value_and_slope, double curvature) {
        Proximity h;
        h.kind = Proximity::python;
        h.curvature = curvature;
        h.python_compare = [value_and_slope](auto... arguments) {
          compare_in_python(value_and_slope, arguments...);
        };
        return h;
      },
      "value_and_slope"_a, "curvature"_a);

  nb::class_<Adaptation>(m, "Adaptation")
      .def(
          "__init__",
          [](Adaptation* self, const std::string& kind, double rate, double warm_up,
             double narrowest, double widest, double threshold, double smoothing, double sharing) {
            new (self) Adaptation{kind == "leave_one_out"    ? Adaptation::leave_one_out
                                  : kind == "loss_following" ? Adaptation::loss_following
                                                             : Adaptation::fixed,
                                  rate,
                                  warm_up,
                                  narrowest,
                                  widest,
                                  threshold,
                                  smoothing,
                                  sharing};
          },
          "kind"_a, "rate"_a = 0.05, "warm_up"_a = 20.0, "narrowest"_a = 0.1, "widest"_a = 10.0,
          "threshold"_a = 0.05, "smoothing"_a = 0.01, "sharing"_a = 0.5);
  nb::class_<Settings>(m, "Settings")
      .def(
          "__init__",
          [](Settings* self, std::shared_ptr<Kernel> kernel, Loss loss, Proximity proximity,
             Adaptation adaptation, double regularization, double dual_regularization,
             double tightening, double norm_bound, bool is_exact, bool is_normalized,
             bool removes_offset, bool removes_std) {
            new (self) Settings{kernel,        loss,           proximity,
                                adaptation,    regularization, dual_regularization,
                                tightening,    norm_bound,     is_exact,
                                is_normalized, removes_offset, removes_std};
          },
          "kernel"_a, "loss"_a, "proximity"_a, "adaptation"_a, "regularization"_a,
          "dual_regularization"_a, "tightening"_a, "norm_bound"_a, "is_exact"_a, "is_normalized"_a,
          "removes_offset"_a, "removes_std"_a)
      .def_prop_ro("is_python", &Settings::is_python);
}

// ------------------------------------------------------ the state of agents

// Works with a network alone: other threads wait, without the GIL, for a step to end.
class Hold {
 public:
  explicit Hold(Network& n) : n(n) {
    require(n.owner.load() != std::this_thread::get_id(),
            "model must not be used by its own kernel, loss or proximity");
    if (!n.mutex.try_lock()) {
      nb::gil_scoped_release release;
      n.mutex.lock();
    }
    n.owner = std::this_thread::get_id();
  }
  Hold(const Hold&) = delete;
  ~Hold() {
    n.owner = std::thread::id();
    n.mutex.unlock();
  }

 private:
  Network& n;
};
struct Free {  // a single agent never runs without the GIL
  explicit Free(Peer&) {}
  ~Free() {}
};
static Hold hold(Network& n) { return Hold(n); }
static Free hold(Peer& a) { return Free(a); }

static std::span<FirstOrder> agents_of(Network& n) { return n.agents; }
static std::span<FirstOrder> agents_of(Peer& a) { return {&a.agent, 1}; }

static std::vector<double> read(const Target& t) {
  return {t.count, t.mean, t.squares, t.offset, t.std, t.adopted};
}
static std::vector<double> read(const AdaptationState& a) {
  return {a.log_scale, a.n_readings, a.slope, a.square};
}
static Target make_target(const double* t) { return {t[0], t[1], t[2], t[3], t[4], t[5]}; }

// One row of numbers per agent.
template <class F>
static nb::object collect(std::span<const FirstOrder> agents, std::size_t width, F row_of) {
  std::vector<double> out;
  for (const FirstOrder& agent : agents) {
    const std::vector<double> row = row_of(agent);
    out.insert(out.end(), row.begin(), row.end());
  }
  return own_array(std::move(out), {agents.size(), width});
}
static nb::object targets_of(std::span<const FirstOrder> agents) {
  return collect(agents, 6, [](auto& agent) { return read(agent.target); });
}
static nb::object adaptations_of(std::span<const FirstOrder> agents) {
  return collect(agents, 4, [](auto& agent) { return read(agent.adaptation); });
}
static std::vector<std::int64_t> orders_of(std::span<const FirstOrder> agents) {
  std::vector<std::int64_t> out;
  for (const FirstOrder& agent : agents) out.push_back(agent.D.m);
  return out;
}
static std::vector<double> scales_of(std::span<const FirstOrder> agents) {
  std::vector<double> out;
  for (const FirstOrder& agent : agents) out.push_back(agent.scale);
  return out;
}

static void append(const Dictionary& D, std::vector<double>& atoms, std::vector<double>& weights) {
  const std::size_t p = D.n_features();
  for (int k = 0; k < D.m; ++k) {
    atoms.resize(atoms.size() + p);
    D.copy_atom(k, atoms.data() + atoms.size() - p);
  }
  weights.insert(weights.end(), D.weights(), D.weights() + D.m);
}
static nb::tuple function_of(const FirstOrder& agent) {
  std::vector<double> atoms, weights;
  append(agent.D, atoms, weights);
  const std::size_t m = weights.size(), p = agent.D.n_features();
  return nb::make_tuple(own_array(std::move(atoms), {m, p}), own_array(std::move(weights), {m}));
}

// Flat arrays without spare room: atoms (N, p), weights (N,), inverse (sum m^2,), ...
template <class T>
static nb::dict state_of(T& model) {
  const auto held = hold(model);
  const std::span<FirstOrder> agents = agents_of(model);
  std::vector<double> atoms, weights, inverse;
  for (const FirstOrder& agent : agents) {
    append(agent.D, atoms, weights);
    for (int k = 0; k < agent.D.m; ++k)
      inverse.insert(inverse.end(), agent.D.Q(k), agent.D.Q(k) + agent.D.m);
  }
  const std::size_t n = weights.size(), p = model.settings.kernel->p;
  nb::dict state;
  state["order"] = copy_array(orders_of(agents));
  state["atoms"] = own_array(std::move(atoms), {n, p});
  state["weights"] = copy_array(weights);
  state["inverse"] = copy_array(inverse);
  state["scale"] = copy_array(scales_of(agents));
  state["target"] = targets_of(agents);
  state["adaptation"] = adaptations_of(agents);
  state["multipliers"] = copy_array(model.multipliers);
  state["violation"] = copy_array(model.violation);
  state["asked"] = copy_array(model.asked);
  state["readings"] = copy_array(model.readings);
  return state;
}

template <class T>
static void restore(T& model, nb::dict state) {
  const auto held = hold(model);
  const std::span<FirstOrder> agents = agents_of(model);
  const std::size_t p = model.settings.kernel->p;
  std::vector<std::int64_t> order(agents.size());
  fill_from(order, state, "order");
  std::size_t n_atoms = 0, n_cells = 0;
  for (auto m : order) {
    require(m >= 0 && m < (1 << 24), "order must be a number of atoms");
    n_atoms += std::size_t(m);
    n_cells += std::size_t(m) * m;
  }
  std::vector<double> weights(n_atoms), inverse(n_cells), scale(agents.size());
  fill_from(weights, state, "weights");
  fill_from(inverse, state, "inverse");
  fill_from(scale, state, "scale");
  const auto atoms = matrix_of(state, "atoms", n_atoms, p);
  const auto target = matrix_of(state, "target", agents.size(), 6);
  const auto adaptation = matrix_of(state, "adaptation", agents.size(), 4);
  fill_from(model.multipliers, state, "multipliers");
  fill_from(model.violation, state, "violation");
  fill_from(model.asked, state, "asked");
  fill_from(model.readings, state, "readings");
  const double *w = weights.data(), *q = inverse.data(), *x = atoms.data();
  for (std::size_t i = 0; i < agents.size(); ++i) {
    FirstOrder& agent = agents[i];
    const int m = int(order[i]);
    agent.D.reset(m);
    for (int k = 0; k < m; ++k, x += p, q += m) {
      agent.D.set_atom(k, x);
      agent.D.weights()[k] = *w++;
      std::copy_n(q, m, agent.D.Q(k));
    }
    agent.D.read_diagonal();
    agent.scale = scale[i];
    agent.D.measure_drift(agent.kernel(model.settings));
    agent.target = make_target(target.data() + 6 * i);
    const double* a = adaptation.data() + 4 * i;
    agent.adaptation = {a[0], a[1], a[2], a[3]};
  }
}

template <class T>
static void set_target(T& model, In<2> target) {
  const auto held = hold(model);
  const std::span<FirstOrder> agents = agents_of(model);
  require(target.shape(0) == agents.size() && target.shape(1) == 6,
          "target must have six numbers per agent");
  for (std::size_t i = 0; i < agents.size(); ++i)
    agents[i].target = make_target(target.data() + 6 * i);
}
static void assign(std::vector<double>& out, In<1> values, const char* name) {
  require(values.size() == out.size(), std::string(name) + " must have as many entries as before");
  std::copy_n(values.data(), values.size(), out.begin());
}

template <class T, class F>
static auto show(F f) {
  return [f](T& model) {
    const auto held = hold(model);
    return f(model);
  };
}

// What a network and a single agent show alike.
template <class T>
static void bind_state(nb::class_<T>& c) {
  c.def("state", &state_of<T>)
      .def("restore", &restore<T>, "state"_a)
      .def("set_target", &set_target<T>, "target"_a)
      .def(
          "set_multipliers",
          [](T& model, In<1> values) {
            const auto held = hold(model);
            assign(model.multipliers, values, "multipliers");
          },
          "multipliers"_a)
      .def_prop_ro("target", show<T>([](T& model) { return targets_of(agents_of(model)); }))
      .def_prop_ro("adaptation", show<T>([](T& model) { return adaptations_of(agents_of(model)); }))
      .def_prop_ro("scale",
                   show<T>([](T& model) { return copy_array(scales_of(agents_of(model))); }))
      .def_prop_ro("order",
                   show<T>([](T& model) { return copy_array(orders_of(agents_of(model))); }))
      .def_prop_ro("tolerance", show<T>([](T& model) { return copy_array(model.tolerance); }))
      .def_prop_ro("multipliers", show<T>([](T& model) { return copy_array(model.multipliers); }))
      .def_prop_ro("violation", show<T>([](T& model) { return copy_array(model.violation); }))
      .def_prop_ro("asked", show<T>([](T& model) { return copy_array(model.asked); }));
}

// ------------------------------------------------------- network and agent

static void make_network(Network* self, const Settings& settings, Ints start, Ints neighbour,
                         Ints reverse, In<1> tolerance, In<2> paces) {
  require(start.size() > 0 && neighbour.size() == reverse.size() &&
              neighbour.size() == tolerance.size() && paces.shape(1) == 3 &&
              paces.shape(0) == start.size() - 1,
          "graph, tolerance and paces must fit together");
  auto copy = [](auto a) { return std::vector(a.data(), a.data() + a.size()); };
  std::vector<Pace> all;
  for (std::size_t i = 0; i < paces.shape(0); ++i)
    all.push_back({paces(i, 0), paces(i, 1), paces(i, 2)});
  new (self) Network(settings, {copy(start), copy(neighbour), copy(reverse)}, std::move(all),
                     copy(tolerance));
}

static int run(Network& n, Ints start, Ints agent, In<2> x, In<1> y, Inout<1> prediction,
               Inout<1> disagreement, InoutInts asked, int n_threads) {
  const Hold held(n);
  n.steps_made = 0;
  const std::size_t n_steps = start.size() - 1, n_readings = y.size();
  require(start.size() > 0 && start(0) == 0 && std::size_t(start(n_steps)) == n_readings &&
              agent.size() == n_readings && x.shape(0) == n_readings &&
              x.shape(1) == std::size_t(n.settings.kernel->p) && prediction.size() == n_readings &&
              disagreement.size() == n_steps && asked.size() == n_steps,
          "start, agent, x, y and the record must fit together");
  for (std::size_t t = 0; t < n_steps; ++t) {
    require(start(t) <= start(t + 1) && std::size_t(start(t + 1)) <= n_readings,
            "start must rise to the number of readings");
    std::int64_t last = -1;
    for (auto r = start(t); r < start(t + 1); last = agent(r++))
      require(agent(r) > last && std::size_t(agent(r)) < n.agents.size(),
              "agent must be ascending within a step, and within the network");
  }
  const Stream stream{std::int64_t(n_steps), start.data(), agent.data(), x.data(), y.data()};
  const Record record{prediction.data(), disagreement.data(), asked.data()};
  if (n.settings.is_python()) return n.run(stream, record, 1);
  nb::gil_scoped_release release;
  return n.run(stream, record, n_threads);
}

// One step of all agents, for arrays as they should be: returns false, with nothing changed, for
// all others and on divergence, for the way that explains itself. NaN in y: no reading.
static bool learn_one(Network& n, nb::handle x_given, nb::handle y_given, bool takes_labels) {
  In<2> x;
  In<1> y;
  if (!nb::try_cast(x_given, x, false) || !nb::try_cast(y_given, y, false)) return false;
  const std::size_t V = n.agents.size(), p = n.settings.kernel->p;
  if (x.shape(0) != V || x.shape(1) != p || y.size() != V) return false;
  std::vector<std::int64_t> agents;
  std::vector<double> points, targets, prediction;
  constexpr double LARGEST_INPUT = 1e40;
  for (std::size_t i = 0; i < V; ++i) {
    const double target = y(i);
    if (target != target) continue;
    if (!(std::abs(target) <= LARGEST_INPUT) || (takes_labels && std::abs(target) != 1.0))
      return false;
    for (std::size_t f = 0; f < p; ++f)
      if (!(std::abs(x(i, f)) <= LARGEST_INPUT)) return false;
    agents.push_back(std::int64_t(i));
    targets.push_back(target);
    points.insert(points.end(), x.data() + i * p, x.data() + (i + 1) * p);
  }
  const Hold held(n);
  prediction.resize(agents.size());
  const std::int64_t start[] = {0, std::int64_t(agents.size())};
  double disagreement;
  std::int64_t asked;
  const Stream stream{1, start, agents.data(), points.data(), targets.data()};
  return n.run(stream, {prediction.data(), &disagreement, &asked}, 1) < 0;
}

static nb::object predict(Network& n, Ints agents, In<2> X) {
  const Hold held(n);
  require(X.shape(0) == agents.size() && X.shape(1) == std::size_t(n.settings.kernel->p),
          "agents and X must fit together");
  for (std::size_t r = 0; r < agents.size(); ++r)
    require(agents(r) >= 0 && std::size_t(agents(r)) < n.agents.size(),
            "agents must be indices of the network's agents");
  std::vector<double> out(agents.size());
  n.predict(agents.data(), X.data(), std::int64_t(out.size()), out.data());
  return own_array(std::move(out), {agents.size()});
}

static void set_budget(Network& n, In<1> budget) {
  const Hold held(n);
  require(budget.size() == n.paces.size(), "budget must have one per agent");
  for (std::size_t i = 0; i < n.paces.size(); ++i) n.paces[i].budget = budget(i);
}

static nb::dict counts_of(const Network& n) {
  const Counts counts = n.counts();
  nb::dict out;
  out["moved"] = counts.moved;
  out["projected"] = counts.projected;
  out["repaired"] = counts.repaired;
  return out;
}

static void bind_network(nb::module_& m) {
  nb::class_<Network> network(m, "Network");
  bind_state(network);
  network
      .def("__init__", &make_network, "settings"_a, "start"_a, "neighbour"_a, "reverse"_a,
           "tolerance"_a, "paces"_a)
      .def("run", &run, "start"_a, "agent"_a, "x"_a, "y"_a, "prediction"_a.noconvert(),
           "disagreement"_a.noconvert(), "asked"_a.noconvert(), "n_threads"_a)
      .def("learn_one", &learn_one, "x"_a.none(), "y"_a.none(), "takes_labels"_a)
      .def("predict", &predict, "agents"_a, "X"_a)
      .def(
          "function",
          [](Network& n, std::size_t i) {
            const Hold held(n);
            return function_of(n.agents.at(i));
          },
          "agent"_a)
      .def(
          "set_tolerance",
          [](Network& n, In<1> values) {
            const Hold held(n);
            assign(n.tolerance, values, "tolerance");
          },
          "tolerance"_a)
      .def("set_budget", &set_budget, "budget"_a)
      .def_ro("steps_made", &Network::steps_made)
      .def_ro("is_torn", &Network::is_torn)
      .def_prop_ro("counts", &counts_of);
}

// The step of one agent: carried holds value, multiplier and std per query.
static void update(Peer& a, std::optional<In<1>> x, double y, In<1> answers, double around,
                   In<2> queries, In<2> carried) {
  const std::size_t n = queries.shape(0), p = a.settings.kernel->p;
  require((!x || x->size() == p) && answers.size() == a.tolerance.size() && queries.shape(1) == p &&
              carried.shape(0) == n && carried.shape(1) == 3,
          "x, answers, queries and what they carry must fit together");
  std::vector<double> multiplier(n);
  std::vector<Asker> askers(n);
  for (std::size_t r = 0; r < n; ++r) {
    askers[r] = {carried(r, 0), carried(r, 2)};
    multiplier[r] = carried(r, 1);
  }
  a.update(x ? x->data() : nullptr, y, answers.data(), around, int(n), queries.data(),
           multiplier.data(), askers.data());
}

static void bind_peer(nb::module_& m) {
  nb::class_<Peer> peer(m, "Peer");
  bind_state(peer);
  peer.def(
          "__init__",
          [](Peer* self, const Settings& settings, double step_size, double dual_step_size,
             double budget, In<1> tolerance) {
            new (self) Peer(settings, {step_size, dual_step_size, budget},
                            {tolerance.data(), tolerance.data() + tolerance.size()});
          },
          "settings"_a, "step_size"_a, "dual_step_size"_a, "budget"_a, "tolerance"_a)
      .def(
          "predict",
          [](Peer& a, In<1> x) {
            require(x.size() == std::size_t(a.settings.kernel->p), "x must have all features");
            return a.predict(x.data());
          },
          "x"_a)
      .def(
          "observe", [](Peer& a, double y) { a.agent.observe(a.settings, y); }, "y"_a)
      .def(
          "adopt",
          [](Peer& a, double value, double std) { a.agent.target.adopt(value, std, a.settings); },
          "value"_a, "std"_a)
      .def("update", &update, "x"_a.none(), "y"_a, "answers"_a, "around"_a, "queries"_a,
           "carried"_a)
      .def("function", [](const Peer& a) { return function_of(a.agent); });
}

// --------------------------------------------------------------- functions

// Indices of the atoms kept, and their weights.
static nb::tuple compress(const Kernel& kernel, In<2> atoms, In<1> weights, double budget) {
  require(atoms.shape(0) == weights.size() && atoms.shape(1) == std::size_t(kernel.p),
          "atoms and weights must fit together");
  Arena arena;
  Projection projection(arena, kernel.p);
  const Dictionary& D =
      projection.run({&kernel, 1.0}, atoms.data(), weights.data(), int(weights.size()), budget);
  const std::vector<std::int64_t> kept(D.vector(2), D.vector(2) + D.m);
  const std::vector<double> w(D.weights(), D.weights() + D.m);
  return nb::make_tuple(copy_array(kept), copy_array(w));
}

static void check_rows(Ints i, std::size_t n_rows) {
  for (std::size_t k = 0; k < i.size(); ++k)
    require(i(k) >= 0 && std::size_t(i(k)) < n_rows, "row indices must be within the matrix");
}

static nb::object dots(In<2> A, Ints i, In<2> B, Ints j) {
  require(A.shape(1) == B.shape(1) && i.size() == j.size(), "A, i, B and j must fit together");
  check_rows(i, A.shape(0)), check_rows(j, B.shape(0));
  const std::size_t d = A.shape(1);
  std::vector<double> out(i.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = dot_prefix(A.data() + i(k) * d, B.data() + j(k) * d, int(d));
  return own_array(std::move(out), {i.size()});
}

static void add_rows(Inout<2> out, Ints i, In<1> c, In<2> B, Ints j) {
  require(out.shape(1) == B.shape(1) && i.size() == j.size() && i.size() == c.size(),
          "out, i, c, B and j must fit together");
  check_rows(i, out.shape(0)), check_rows(j, B.shape(0));
  const std::size_t d = B.shape(1);
  for (std::size_t k = 0; k < i.size(); ++k) {
    double* row = out.data() + i(k) * d;
    const double* b = B.data() + j(k) * d;
    for (std::size_t f = 0; f < d; ++f) row[f] += c(k) * b[f];
  }
}

static nb::dict build_info() {
  nb::dict info;
  info["digest"] = HALK_DIGEST;
  info["level"] = HALK_LEVEL;
  info["compiler"] = HALK_COMPILER;
  info["sanitizers"] = HALK_SANITIZERS;
  return info;
}

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // kernels in Python live until the interpreter ends
  bind_components(m);
  bind_network(m);
  bind_peer(m);
  m.def("compress", &compress, "kernel"_a, "atoms"_a, "weights"_a, "budget"_a);
  m.def("dots", &dots, "A"_a, "i"_a, "B"_a, "j"_a);
  m.def("add_rows", &add_rows, "out"_a.noconvert(), "i"_a, "c"_a, "B"_a, "j"_a);
  m.def("build_info", &build_info);
}
