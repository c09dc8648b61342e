// The module halk._core: arrays in, arrays out. Values are validated in Python, shapes here too.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "first_order.hpp"
#include "peer.hpp"
#include "second_order.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace halk;

template <class T, int N>
using Given = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <int N>
using In = Given<const double, N>;
using Ints = Given<const std::int64_t, 1>;

static void require(bool condition, const std::string& message) {
  if (!condition) throw nb::value_error(message.c_str());
}

// ------------------------------------------------------------------- arrays

template <class T>
static nb::object own_array(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape = {kept->size()};
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner).cast();
}

// Structs of doubles as the rows of a matrix; get finds the struct in an item.
constexpr auto itself = [](auto& item) -> auto& { return item; };
constexpr auto state_in = [](auto& agent) -> auto& { return agent.state; };
constexpr auto counts_in = [](auto& ws) -> auto& { return ws->agent.counts; };

template <class Items, class F>
static nb::object to_rows(Items& items, F get) {
  constexpr std::size_t width = sizeof(get(items[0])) / sizeof(double);
  std::vector<double> out(items.size() * width);
  double* row = out.data();
  for (auto& item : items) std::memcpy(row, &get(item), width * sizeof(double)), row += width;
  return own_array(std::move(out), {items.size(), width});
}
template <class Items, class F>
static void from_rows(Items& items, In<2> rows, const std::string& name, F get) {
  constexpr std::size_t width = sizeof(get(items[0])) / sizeof(double);
  require(rows.shape(0) == items.size() && rows.shape(1) == width,
          name + " must have shape (" + std::to_string(items.size()) + ", " +
              std::to_string(width) + ")");
  const double* row = rows.data();
  for (auto& item : items)
    std::memcpy(static_cast<void*>(&get(item)), row, width * sizeof(double)), row += width;
}
template <class S>
static std::vector<S> read_rows(In<2> rows, const char* name) {
  std::vector<S> out(rows.shape(0));
  from_rows(out, rows, name, itself);
  return out;
}

// --------------------------------------------------------------- components

struct PythonKernel final : Kernel {
  nb::callable matrix;  // (X (b, p), Y (m, p), scale) -> (b, m), which it has checked
  PythonKernel(int p, nb::callable f, std::vector<double> scales)
      : Kernel(p), matrix(std::move(f)) {
    is_python = true;
    length_scale = std::move(scales);
  }
  void rows(Atoms a, const double* x, int b, double* out, std::size_t ld, double scale,
            Prefetch) const override {
    if (b == 0 || a.n == 0) return;
    const std::size_t n = a.n, width = p;
    std::vector<double> points(x, x + b * width), atoms(n * width);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t f = 0; f < width; ++f) atoms[k * width + f] = a.data[f * a.ld + k];
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

static nb::tuple compare(const Proximity& h, In<1> a, In<1> b) {
  require(a.size() == b.size(), "both arguments must have the same length");
  std::vector<double> value(a.size()), slope(a.size());
  h.compare(a.data(), b.data(), int(a.size()), value.data(), slope.data());
  return nb::make_tuple(own_array(std::move(value)), own_array(std::move(slope)));
}

static void bind_components(nb::module_& m) {
  using SharedKernel = std::shared_ptr<Kernel>;
  nb::class_<Kernel>(m, "Kernel").def("matrix", &evaluate, "X"_a, "Y"_a, "scale"_a = 1.0);
  nb::class_<PythonKernel, Kernel>(m, "PythonKernel")
      .def(nb::init<int, nb::callable, std::vector<double>>(), "n_features"_a, "matrix"_a,
           "length_scale"_a);
  nb::class_<Labelled, Kernel>(m, "LabelledKernel")
      .def(nb::init<SharedKernel, double>(), "inner"_a, "between"_a);
  nb::class_<Pair, Kernel>(m, "PairKernel")
      .def(nb::init<SharedKernel, SharedKernel, bool>(), "left"_a, "right"_a, "is_sum"_a);
  m.def("native_kernel", &make_kernel, "name"_a, "n_features"_a, "length_scale"_a, "parameters"_a);
  nb::class_<Loss>(m, "Loss")
      .def(nb::init<int, double, double, decltype(Loss::python_slope)>(), "kind"_a, "parameter"_a,
           "curvature"_a, "slope"_a)
      .def("slope", &Loss::slope, "a"_a, "y"_a);
  nb::class_<Proximity>(m, "Proximity")
      .def(nb::init<int, double, double, decltype(Proximity::python_compare)>(), "kind"_a,
           "parameter"_a, "curvature"_a, "value_and_slope"_a)
      .def("compare", &compare, "a"_a, "b"_a);
  nb::class_<Adaptation>(m, "Adaptation")
      .def(nb::init<int, double, double, double, double, double, double, double>(), "kind"_a,
           "rate"_a, "warm_up"_a, "narrowest"_a, "widest"_a, "threshold"_a, "smoothing"_a,
           "sharing"_a);
  nb::class_<Settings>(m, "Settings")
      .def(nb::init<SharedKernel, Loss, Proximity, Adaptation, double, double, double, double, bool,
                    bool, bool, bool>(),
           "kernel"_a, "loss"_a, "proximity"_a, "adaptation"_a, "regularization"_a,
           "dual_regularization"_a, "tightening"_a, "norm_bound"_a, "is_exact"_a, "is_normalized"_a,
           "removes_offset"_a, "removes_std"_a);
  nb::class_<NewtonSettings>(m, "NewtonSettings")
      .def(nb::init<SharedKernel, Loss, double, double, double, double, int, double, double, double,
                    double, double, bool, bool, bool>(),
           "kernel"_a, "loss"_a, "forgetting"_a, "regularization"_a, "robust"_a, "novelty"_a,
           "max_atoms"_a, "budget"_a, "dual_gain"_a, "warm_up"_a, "largest_multiplier"_a,
           "tightening"_a, "exchanges_readings"_a, "removes_offset"_a, "removes_std"_a);
}

// ------------------------------------------------------ the state of agents

struct Ownership {  // of a network, by this thread
  std::atomic<std::thread::id>& owner;
  explicit Ownership(decltype(owner) o) : owner(o) { owner = std::this_thread::get_id(); }
  ~Ownership() { owner = std::thread::id(); }
};
// A function that works with a network alone: other threads wait, without the GIL, for a step to
// end.
template <class N, class Result, class... Args>
static auto alone(Result (*f)(N&, Args...)) {
  return [f](N& n, Args... args) {
    require(n.owner.load() != std::this_thread::get_id(),
            "model must not be used by its own kernel, loss or proximity");
    if (!n.mutex.try_lock()) {
      nb::gil_scoped_release release;
      n.mutex.lock();
    }
    const std::lock_guard guard(n.mutex, std::adopt_lock);
    const Ownership owned(n.owner);
    return f(n, args...);
  };
}

template <class Agent>
static nb::object orders_of(Network<Agent>& n) {
  std::vector<std::int64_t> out;
  for (const Agent& agent : n.agents) out.push_back(agent.D.m);
  return own_array(std::move(out));
}
template <class Agent>
static nb::tuple function_of(Network<Agent>& n, std::size_t i) {
  Agent& agent = n.agents.at(i);
  agent.refresh_weights();
  const Dictionary& D = agent.D;
  const std::size_t m = D.m, p = D.n_features();
  std::vector<double> atoms(m * p);
  for (std::size_t k = 0; k < m; ++k) D.copy_atom(int(k), &atoms[k * p]);
  return nb::make_tuple(own_array(std::move(atoms), {m, p}),
                        own_array(std::vector<double>(D.weights(), D.weights() + m)));
}

// What a state holds besides atoms: f(name, is a matrix, where it is in an agent).
template <class Agent, class F>
static void visit_arrays(F f) {
  f("weights", false, [](Agent& a) { return a.D.weights(); });
  f("inverse", true, [](Agent& a) { return a.D.Q(); });
  if constexpr (Agent::ADAPTS_FIRST) {
    f("values", false, [](Agent& a) { return a.values(); });
    f("covariance", true, [](Agent& a) { return a.S(); });
  }
}

// Flat arrays without spare room, of all agents in turn: atoms (N, p), weights (N,), inverse
// (sum m^2,); then a row of numbers per agent and per edge.
template <class Agent>
static nb::dict state_of(Network<Agent>& n) {
  const std::size_t p = n.settings.kernel->p;
  nb::dict state;
  state["order"] = orders_of(n);
  std::vector<double> atoms;
  for (Agent& agent : n.agents) {
    agent.refresh_weights();
    for (int k = 0; k < agent.D.m; ++k) {
      atoms.resize(atoms.size() + p);
      agent.D.copy_atom(k, atoms.data() + atoms.size() - p);
    }
  }
  const std::size_t n_atoms = atoms.size() / p;
  state["atoms"] = own_array(std::move(atoms), {n_atoms, p});
  visit_arrays<Agent>([&](const char* name, bool is_matrix, auto find) {
    std::vector<double> out;
    for (Agent& agent : n.agents) {
      const double* row = find(agent);
      for (int k = 0; k < (is_matrix ? agent.D.m : 1); ++k, row += agent.D.room)
        out.insert(out.end(), row, row + agent.D.m);
    }
    state[name] = own_array(std::move(out));
  });
  state["agents"] = to_rows(n.agents, state_in);
  state["edges"] = to_rows(n.edges, itself);
  return state;
}

// All is checked before anything is changed.
template <class Agent>
static void restore(Network<Agent>& n, nb::dict state) {
  const std::size_t p = n.settings.kernel->p;
  const auto order = nb::cast<Ints>(state["order"]);
  const auto atoms = nb::cast<In<2>>(state["atoms"]);
  require(order.size() == n.agents.size() && atoms.shape(1) == p, "order and atoms must fit");
  std::size_t n_atoms = 0, n_cells = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    require(order(i) >= 0 && std::size_t(order(i)) <= atoms.shape(0), "order must fit to atoms");
    n_atoms += order(i);
    n_cells += order(i) * order(i);
  }
  require(n_atoms == atoms.shape(0), "order must fit to atoms");
  visit_arrays<Agent>([&](const char* name, bool is_matrix, auto) {
    require(nb::cast<In<1>>(state[name]).size() == (is_matrix ? n_cells : n_atoms),
            std::string(name) + " must fit to order");
  });
  from_rows(n.edges, nb::cast<In<2>>(state["edges"]), "edges", itself);
  from_rows(n.agents, nb::cast<In<2>>(state["agents"]), "agents", state_in);
  const double* x = atoms.data();
  for (std::size_t i = 0; i < order.size(); ++i) {
    Dictionary& D = n.agents[i].D;
    D.reset(int(order(i)));
    for (int k = 0; k < D.m; ++k, x += p) D.set_atom(k, x);
  }
  visit_arrays<Agent>([&](const char* name, bool is_matrix, auto find) {
    const auto given = nb::cast<In<1>>(state[name]);
    const double* from = given.data();
    for (Agent& agent : n.agents) {
      double* row = find(agent);
      for (int k = 0; k < (is_matrix ? agent.D.m : 1); ++k, row += agent.D.room, from += agent.D.m)
        std::copy_n(from, agent.D.m, row);
    }
  });
  for (Agent& agent : n.agents) {
    if constexpr (Agent::ADAPTS_FIRST)
      for (int k = 0; k < agent.D.m; ++k) agent.variances()[k] = agent.S(k)[k];
    agent.D.read_diagonal();
    agent.D.measure_drift(agent.kernel(n.settings));
    agent.resume();
  }
}

// ----------------------------------------------------------------- networks

template <class Agent>
static void make_network(Network<Agent>* self, const typename Agent::Settings& settings, Ints start,
                         Ints neighbour, Ints reverse, In<2> edges, In<2> paces) {
  require(start.size() == paces.shape(0) + 1 && neighbour.size() == edges.shape(0) &&
              reverse.size() == edges.shape(0),
          "graph must fit together");
  auto copy = [](Ints a) { return std::vector(a.data(), a.data() + a.size()); };
  new (self) Network<Agent>(settings, {copy(start), copy(neighbour), copy(reverse)},
                            read_rows<typename Agent::Pace>(paces, "paces"),
                            read_rows<typename Agent::Edge>(edges, "edges"));
}

// The agent that diverged or -1, and the record.
template <class Agent>
static nb::tuple run(Network<Agent>& n, Ints start, Ints agent, In<2> x, In<1> y, int n_threads) {
  n.steps_made = 0;
  const std::int64_t n_steps = std::int64_t(start.size()) - 1, n_readings = y.size();
  require(n_steps >= 0 && start(0) == 0 && start(n_steps) == n_readings &&
              agent.size() == y.size() && x.shape(0) == y.size() &&
              x.shape(1) == std::size_t(n.settings.kernel->p),
          "start, agent, x and y must fit together");
  for (std::int64_t t = 0; t < n_steps; ++t) {
    require(start(t) <= start(t + 1) && start(t + 1) <= n_readings,
            "start must rise to the number of readings");
    std::int64_t last = -1;
    for (auto r = start(t); r < start(t + 1); last = agent(r++))
      require(agent(r) > last && std::size_t(agent(r)) < n.agents.size(),
              "agent must be ascending within a step, and within the network");
  }
  const Stream stream{n_steps, start.data(), agent.data(), x.data(), y.data()};
  const bool is_python = n.settings.is_python();
  std::optional<nb::gil_scoped_release> release;
  if (!is_python) release.emplace();
  const int diverged = n.run(stream, is_python ? 1 : n_threads);
  release.reset();
  Record& seen = n.record;
  return nb::make_tuple(diverged, own_array(std::move(seen.prediction)),
                        own_array(std::move(seen.disagreement)), own_array(std::move(seen.asked)),
                        own_array(std::move(seen.variance)));
}

// One step of all agents, for arrays as they should be: returns false, with nothing changed, for
// all others and on divergence, for the way that explains itself. NaN in y: no reading.
template <class Agent>
static bool learn_one(Network<Agent>& n, nb::handle x_given, nb::handle y_given,
                      bool takes_labels) {
  In<2> x;
  In<1> y;
  if (!nb::try_cast(x_given, x, false) || !nb::try_cast(y_given, y, false)) return false;
  const std::size_t V = n.agents.size(), p = n.settings.kernel->p;
  if (x.shape(0) != V || x.shape(1) != p || y.size() != V) return false;
  constexpr double LARGEST_INPUT = 1e40;
  std::vector<std::int64_t> agents;
  std::vector<double> points, targets;
  for (std::size_t i = 0; i < V; ++i) {
    const double target = y(i), *point = x.data() + i * p;
    if (target != target) continue;
    if (takes_labels && std::abs(target) != 1.0) return false;
    agents.push_back(std::int64_t(i));
    targets.push_back(target);
    points.insert(points.end(), point, point + p);
  }
  const auto is_sound = [](double v) { return std::abs(v) <= LARGEST_INPUT; };
  if (!std::all_of(points.begin(), points.end(), is_sound)) return false;
  if (!std::all_of(targets.begin(), targets.end(), is_sound)) return false;
  const std::int64_t start[] = {0, std::int64_t(agents.size())};
  return n.run({1, start, agents.data(), points.data(), targets.data()}, 1) < 0;
}

// Of agents[r] at X[r].
template <class Agent, class F>
static nb::object evaluate_all(Network<Agent>& n, Ints agents, In<2> X, F f) {
  require(X.shape(0) == agents.size() && X.shape(1) == std::size_t(n.settings.kernel->p),
          "agents and X must fit together");
  std::vector<double> out;
  for (std::size_t r = 0; r < agents.size(); ++r) {
    require(agents(r) >= 0 && std::size_t(agents(r)) < n.agents.size(),
            "agents must be indices of the network's agents");
    out.push_back(f(n.agents[agents(r)], X.data() + r * X.shape(1)));
  }
  return own_array(std::move(out));
}
template <class Agent>
static nb::object predict(Network<Agent>& n, Ints agents, In<2> X) {
  Array scratch;
  return evaluate_all(n, agents, X, [&](Agent& agent, const double* x) {
    return agent.predict(n.settings, x, scratch);
  });
}
static nb::object variance(Network<SecondOrder>& n, Ints agents, In<2> X) {
  Arena arena;
  SecondOrder::Workspace ws(arena, n.settings.kernel->p);
  return evaluate_all(n, agents, X, [&](SecondOrder& agent, const double* x) {
    return agent.variance(n.settings, ws, x);
  });
}

// By hand: a network of one agent whose neighbours are elsewhere.

template <class Agent>
static const double* check_point(const Network<Agent>& n, In<1> x) {
  require(x.size() == std::size_t(n.settings.kernel->p), "x must have all features");
  return x.data();
}
template <class Agent>
static Queries check_queries(const Network<Agent>& n, In<2> x, Given<const int, 1> edge,
                             In<1> multiplier) {
  require(x.shape(1) == std::size_t(n.settings.kernel->p) && edge.size() == x.shape(0) &&
              multiplier.size() == x.shape(0),
          "queries must fit together");
  for (std::size_t r = 0; r < edge.size(); ++r)
    require(edge(r) >= 0 && std::size_t(edge(r)) < n.edges.size(), "edge must be one there is");
  return {int(x.shape(0)), x.data(), multiplier.data(), edge.data()};
}

template <class Agent>
static nb::object answer(Network<Agent>& n, In<2> x, Given<const int, 1> edge, In<1> multiplier) {
  std::vector<typename Agent::Answer> out(x.shape(0));
  Peer<Agent>{n}.answer(check_queries(n, x, edge, multiplier), out.data());
  return to_rows(out, itself);
}

// carried: value and std per query.
template <class Agent>
static void update(Network<Agent>& n, std::optional<In<1>> x, double y, In<2> answers,
                   double around, In<2> queries, Given<const int, 1> edge, In<1> multiplier,
                   In<2> carried) {
  const auto given = read_rows<typename Agent::Answer>(answers, "answers");
  const auto askers = read_rows<Asker>(carried, "carried");
  require(given.size() == n.edges.size() && askers.size() == queries.shape(0),
          "there must be an answer per edge, and an asker per query");
  Peer<Agent>{n}.update(x ? check_point(n, *x) : nullptr, y, given.data(), around,
                        check_queries(n, queries, edge, multiplier), askers.data());
}

template <class Agent>
static void bind_network(nb::module_& m, const char* name) {
  using N = Network<Agent>;
  nb::class_<N> network(m, name);
  network
      .def("__init__", &make_network<Agent>, "settings"_a, "start"_a, "neighbour"_a, "reverse"_a,
           "edges"_a, "paces"_a)
      .def("run", alone(&run<Agent>), "start"_a, "agent"_a, "x"_a, "y"_a, "n_threads"_a)
      .def("learn_one", alone(&learn_one<Agent>), "x"_a.none(), "y"_a.none(), "takes_labels"_a)
      .def("predict", alone(&predict<Agent>), "agents"_a, "X"_a)
      .def("function", alone(&function_of<Agent>), "agent"_a)
      .def("state", alone(&state_of<Agent>))
      .def("restore", alone(&restore<Agent>), "state"_a)
      .def("set_paces", alone(+[](N& n, In<2> v) { from_rows(n.paces, v, "paces", itself); }),
           "paces"_a)
      .def_prop_ro("order", alone(&orders_of<Agent>))
      .def_prop_rw("agents", alone(+[](N& n) { return to_rows(n.agents, state_in); }),
                   alone(+[](N& n, In<2> v) { from_rows(n.agents, v, "agents", state_in); }))
      .def_prop_rw("edges", alone(+[](N& n) { return to_rows(n.edges, itself); }),
                   alone(+[](N& n, In<2> v) { from_rows(n.edges, v, "edges", itself); }))
      .def_prop_ro("counts", alone(+[](N& n) { return to_rows(n.workspaces, counts_in); }))
      .def_ro("steps_made", &N::steps_made)
      .def_ro("is_torn", &N::is_torn)
      .def("predict_one",
           alone(+[](N& n, In<1> x) { return Peer<Agent>{n}.predict(check_point(n, x)); }), "x"_a)
      .def("answer", alone(&answer<Agent>), "queries"_a, "edge"_a, "multiplier"_a)
      .def("adopt", alone(+[](N& n, double value, double std) {
             n.agents[0].state.target.adopt(value, std, n.settings.standardization);
           }),
           "value"_a, "std"_a)
      .def("update", alone(&update<Agent>), "x"_a.none(), "y"_a, "answers"_a, "around"_a,
           "queries"_a, "edge"_a, "multiplier"_a, "carried"_a);
  if constexpr (Agent::ADAPTS_FIRST)
    network.def("variance", alone(&variance), "agents"_a, "X"_a)
        .def("adapt", alone(+[](N& n, In<1> x, double y) {
               return Peer<Agent>{n}.adapt(check_point(n, x), y);
             }),
             "x"_a, "y"_a);
  else
    network.def("observe", alone(+[](N& n, double y) { n.agents[0].observe(n.settings, y); }),
                "y"_a);
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
  return nb::make_tuple(own_array(std::vector<std::int64_t>(D.vector(2), D.vector(2) + D.m)),
                        own_array(std::vector<double>(D.weights(), D.weights() + D.m)));
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
  return own_array(std::move(out));
}

static void add_rows(Given<double, 2> out, Ints i, In<1> c, In<2> B, Ints j) {
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

void bind_neighbours(nb::module_& m);  // neighbours_bindings.cpp

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // kernels in Python live until the interpreter ends
  bind_components(m);
  bind_network<FirstOrder>(m, "Network");
  bind_network<SecondOrder>(m, "NewtonNetwork");
  bind_neighbours(m);
  m.def("compress", &compress, "kernel"_a, "atoms"_a, "weights"_a, "budget"_a);
  m.def("dots", &dots, "A"_a, "i"_a, "B"_a, "j"_a);
  m.def("add_rows", &add_rows, "out"_a.noconvert(), "i"_a, "c"_a, "B"_a, "j"_a);
  m.def("build_info", &build_info);
}
