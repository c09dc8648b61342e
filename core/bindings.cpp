// The module halk._core: arrays in, arrays out. Values are validated in Python, shapes here too.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "first_order.hpp"
#include "network.hpp"
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
static nb::object own_array(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner).cast();
}
template <class T>
static nb::object own_array(std::vector<T>&& values) {
  const std::size_t n = values.size();
  return own_array(std::move(values), {n});
}

// A struct of doubles as a row of a matrix.
template <class S>
constexpr std::size_t WIDTH = sizeof(S) / sizeof(double);

template <class Items, class F>
static nb::object to_rows(const Items& items, F get) {
  using S = std::decay_t<decltype(get(*items.begin()))>;
  static_assert(std::is_trivially_copyable_v<S> && sizeof(S) % sizeof(double) == 0);
  std::vector<double> out(items.size() * WIDTH<S>);
  double* row = out.data();
  for (const auto& item : items) std::memcpy(row, &get(item), sizeof(S)), row += WIDTH<S>;
  return own_array(std::move(out), {items.size(), WIDTH<S>});
}
template <class Items, class F>
static void from_rows(Items&& items, In<2> rows, const char* name, F get) {
  using S = std::decay_t<decltype(get(*items.begin()))>;
  require(rows.shape(0) == items.size() && rows.shape(1) == WIDTH<S>,
          std::string(name) + " must have shape (" + std::to_string(items.size()) + ", " +
              std::to_string(WIDTH<S>) + ")");
  const double* row = rows.data();
  for (auto& item : items)
    std::memcpy(static_cast<void*>(&get(item)), row, sizeof(S)), row += WIDTH<S>;
}
constexpr auto itself = [](auto& item) -> auto& { return item; };
constexpr auto state_in = [](auto& agent) -> auto& { return agent.state; };

// ----------------------------------------------- components, some in Python

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

static std::shared_ptr<Kernel> native_kernel(const std::string& name, int n_features,
                                             std::vector<double> length_scale,
                                             std::vector<double> parameters) {
  auto kernel = make_kernel(name, n_features, std::move(length_scale), std::move(parameters));
  require(kernel != nullptr, "unknown kernel " + name);
  return kernel;
}
static std::shared_ptr<Kernel> python_kernel(int n_features, nb::callable matrix,
                                             std::vector<double> length_scale) {
  auto kernel = std::make_shared<PythonKernel>(n_features, std::move(matrix));
  kernel->length_scale = std::move(length_scale);
  return kernel;
}
static std::shared_ptr<Kernel> pair_kernel(std::shared_ptr<Kernel> left,
                                           std::shared_ptr<Kernel> right, bool is_sum) {
  return std::make_shared<Pair>(std::move(left), std::move(right), is_sum);
}

static std::shared_ptr<Kernel> labelled_kernel(std::shared_ptr<Kernel> inner, double between) {
  return std::make_shared<Labelled>(std::move(inner), between);
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

template <class Component>
static void make_component(Component* self, const std::string& name, double parameter,
                           double curvature) {
  const auto* found = std::find(std::begin(Component::NAMES), std::end(Component::NAMES), name);
  require(found != std::end(Component::NAMES), "unknown formula " + name);
  new (self) Component;
  self->kind = typename Component::Kind(found - std::begin(Component::NAMES));
  self->parameter = parameter;
  self->curvature = curvature;
}
static void make_loss(Loss* self, const std::string& name, double parameter, double curvature,
                      std::optional<nb::callable> slope) {
  make_component(self, name, parameter, curvature);
  if (slope)
    self->python_slope = [f = *slope](double a, double y) { return nb::cast<double>(f(a, y)); };
}
static void make_proximity(Proximity* self, const std::string& name, double parameter,
                           double curvature, std::optional<nb::callable> value_and_slope) {
  make_component(self, name, parameter, curvature);
  if (!value_and_slope) return;
  self->python_compare = [f = *value_and_slope](const double* a, const double* b, int n,
                                                double* value, double* slope) {
    const auto pair = nb::cast<nb::tuple>(
        f(own_array(std::vector<double>(a, a + n)), own_array(std::vector<double>(b, b + n))));
    const auto h = nb::cast<In<1>>(pair[0]), d = nb::cast<In<1>>(pair[1]);
    require(int(h.size()) == n && int(d.size()) == n, "proximity must return one value per pair");
    std::copy_n(h.data(), n, value);
    std::copy_n(d.data(), n, slope);
  };
}
static nb::object slopes(const Loss& loss, In<1> a, In<1> y) {
  require(a.size() == y.size(), "both arguments must have the same length");
  std::vector<double> out(a.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = loss.slope(a(k), y(k));
  return own_array(std::move(out));
}
static nb::tuple compare(const Proximity& h, In<1> a, In<1> b) {
  require(a.size() == b.size(), "both arguments must have the same length");
  std::vector<double> value(a.size()), slope(a.size());
  h.compare(a.data(), b.data(), int(a.size()), value.data(), slope.data());
  return nb::make_tuple(own_array(std::move(value)), own_array(std::move(slope)));
}

static void bind_components(nb::module_& m) {
  nb::class_<Kernel>(m, "Kernel").def("matrix", &evaluate, "X"_a, "Y"_a, "scale"_a = 1.0);
  m.def("native_kernel", &native_kernel, "name"_a, "n_features"_a, "length_scale"_a,
        "parameters"_a);
  m.def("python_kernel", &python_kernel, "n_features"_a, "matrix"_a, "length_scale"_a);
  m.def("labelled_kernel", &labelled_kernel, "inner"_a, "between"_a);
  m.def("pair_kernel", &pair_kernel, "left"_a, "right"_a, "is_sum"_a);
  nb::class_<Loss>(m, "Loss")
      .def("__init__", &make_loss, "name"_a, "parameter"_a, "curvature"_a, "slope"_a.none())
      .def("slope", &slopes, "a"_a, "y"_a);
  nb::class_<Proximity>(m, "Proximity")
      .def("__init__", &make_proximity, "name"_a, "parameter"_a, "curvature"_a,
           "value_and_slope"_a.none())
      .def("compare", &compare, "a"_a, "b"_a);
  nb::class_<Adaptation>(m, "Adaptation")
      .def(nb::init<int, double, double, double, double, double, double, double>(), "kind"_a,
           "rate"_a, "warm_up"_a, "narrowest"_a, "widest"_a, "threshold"_a, "smoothing"_a,
           "sharing"_a);
  nb::class_<Settings>(m, "Settings")
      .def(nb::init<std::shared_ptr<Kernel>, Loss, Proximity, Adaptation, double, double, double,
                    double, bool, bool, bool, bool>(),
           "kernel"_a, "loss"_a, "proximity"_a, "adaptation"_a, "regularization"_a,
           "dual_regularization"_a, "tightening"_a, "norm_bound"_a, "is_exact"_a, "is_normalized"_a,
           "removes_offset"_a, "removes_std"_a)
      .def_prop_ro("is_python", &Settings::is_python);
  nb::class_<NewtonSettings>(m, "NewtonSettings")
      .def(nb::init<std::shared_ptr<Kernel>, Loss, double, double, double, double, int, double,
                    double, double, double, double, bool, bool, bool>(),
           "kernel"_a, "loss"_a, "forgetting"_a, "regularization"_a, "robust"_a, "novelty"_a,
           "max_atoms"_a, "budget"_a, "dual_gain"_a, "warm_up"_a, "largest_multiplier"_a,
           "tightening"_a, "exchanges_readings"_a, "removes_offset"_a, "removes_std"_a);
}

// ------------------------------------------------------ the state of agents

// Works with a network alone: other threads wait, without the GIL, for a step to end.
template <class Agent>
class Hold {
 public:
  explicit Hold(Network<Agent>& n) : n(n) {
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
  Network<Agent>& n;
};
struct Free {  // a single agent never runs without the GIL
  template <class Agent>
  explicit Free(Peer<Agent>&) {}
  ~Free() {}
};
template <class Agent>
static Hold<Agent> hold(Network<Agent>& n) {
  return Hold<Agent>(n);
}
template <class Agent>
static Free hold(Peer<Agent>& a) {
  return Free(a);
}
// A method that works with a model alone.
template <class Model, class... Args, class F>
static auto held(F f) {
  return [f](Model& model, Args... args) {
    const auto guard = hold(model);
    return f(model, args...);
  };
}

template <class Agent>
static std::span<Agent> agents_of(Network<Agent>& n) {
  return n.agents;
}
template <class Agent>
static std::span<Agent> agents_of(Peer<Agent>& a) {
  return {&a.agent, 1};
}

template <class Model>
constexpr bool is_second_order = std::is_same_v<typename Model::Settings, NewtonSettings>;

template <class Model>
static nb::object orders_of(Model& model) {
  std::vector<std::int64_t> out;
  for (const auto& agent : agents_of(model)) out.push_back(agent.D.m);
  return own_array(std::move(out));
}
static void append_atom(const Dictionary& D, int k, std::vector<double>& atoms) {
  atoms.resize(atoms.size() + D.n_features());
  D.copy_atom(k, atoms.data() + atoms.size() - D.n_features());
}
template <class Agent>
static nb::tuple function_of(Agent& agent) {
  if constexpr (Agent::ADAPTS_FIRST) agent.refresh_weights();
  const Dictionary& D = agent.D;
  const std::size_t m = D.m, p = D.n_features();
  std::vector<double> atoms;
  for (int k = 0; k < D.m; ++k) append_atom(D, k, atoms);
  return nb::make_tuple(own_array(std::move(atoms), {m, p}),
                        own_array(std::vector<double>(D.weights(), D.weights() + m)));
}

// Flat arrays without spare room, of all agents in turn: atoms (N, p), weights (N,), inverse
// (sum m^2,); then a row of numbers per agent and per edge.
template <class Model>
static nb::dict state_of(Model& model) {
  const std::size_t p = model.settings.kernel->p;
  std::vector<double> atoms, weights, inverse, values, covariance;
  for (auto& agent : agents_of(model)) {
    const Dictionary& D = agent.D;
    auto append = [&](std::vector<double>& out, const double* row) {
      out.insert(out.end(), row, row + D.m);
    };
    for (int k = 0; k < D.m; ++k) {
      append_atom(D, k, atoms);
      append(inverse, D.Q(k));
      if constexpr (is_second_order<Model>) append(covariance, agent.S(k));
    }
    if constexpr (is_second_order<Model>) agent.refresh_weights(), append(values, agent.values());
    append(weights, D.weights());
  }
  nb::dict state;
  state["order"] = orders_of(model);
  state["atoms"] = own_array(std::move(atoms), {weights.size(), p});
  state["weights"] = own_array(std::move(weights));
  state["inverse"] = own_array(std::move(inverse));
  if constexpr (is_second_order<Model>) {
    state["values"] = own_array(std::move(values));
    state["covariance"] = own_array(std::move(covariance));
  }
  state["agents"] = to_rows(agents_of(model), state_in);
  state["edges"] = to_rows(model.edges, itself);
  return state;
}

template <class Model>
static void restore(Model& model, nb::dict state) {
  const auto agents = agents_of(model);
  const std::size_t p = model.settings.kernel->p;
  const auto order = nb::cast<Ints>(state["order"]);
  const auto atoms = nb::cast<In<2>>(state["atoms"]);
  const auto weights = nb::cast<In<1>>(state["weights"]),
             inverse = nb::cast<In<1>>(state["inverse"]);
  require(order.size() == agents.size(), "order must have one number per agent");
  std::size_t n_atoms = 0, n_cells = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    require(order(i) >= 0 && order(i) < (1 << 24), "order must be a number of atoms");
    n_atoms += std::size_t(order(i));
    n_cells += std::size_t(order(i)) * order(i);
  }
  require(atoms.shape(0) == n_atoms && atoms.shape(1) == p && weights.size() == n_atoms &&
              inverse.size() == n_cells,
          "atoms, weights and inverse must fit to order");
  from_rows(model.edges, nb::cast<In<2>>(state["edges"]), "edges", itself);
  from_rows(agents, nb::cast<In<2>>(state["agents"]), "agents", state_in);
  const double *x = atoms.data(), *w = weights.data(), *q = inverse.data();
  const double *f = nullptr, *c = nullptr;
  if constexpr (is_second_order<Model>) {
    const auto values = nb::cast<In<1>>(state["values"]);
    const auto covariance = nb::cast<In<1>>(state["covariance"]);
    require(values.size() == n_atoms && covariance.size() == n_cells,
            "values and covariance must fit to order");
    f = values.data(), c = covariance.data();
  }
  for (std::size_t i = 0; i < agents.size(); ++i) {
    Dictionary& D = agents[i].D;
    const int m = int(order(i));
    D.reset(m);
    for (int k = 0; k < m; ++k, x += p, q += m) {
      D.set_atom(k, x);
      D.weights()[k] = *w++;
      std::copy_n(q, m, D.Q(k));
      if constexpr (is_second_order<Model>) {
        agents[i].values()[k] = *f++;
        agents[i].variances()[k] = c[k];
        std::copy_n(c, m, agents[i].S(k));
        c += m;
      }
    }
    D.read_diagonal();
    D.measure_drift(agents[i].kernel(model.settings));
    agents[i].resume();
  }
}

// What a network and a single agent have alike.
template <class Model>
static void bind_state(nb::class_<Model>& c) {
  using M = Model;
  c.def("state", held<M>([](M& m) { return state_of(m); }))
      .def("restore", held<M, nb::dict>([](M& m, nb::dict state) { restore(m, state); }), "state"_a)
      .def_prop_ro("order", held<M>([](M& m) { return orders_of(m); }))
      .def_prop_rw("agents", held<M>([](M& m) { return to_rows(agents_of(m), state_in); }),
                   held<M, In<2>>(
                       [](M& m, In<2> rows) { from_rows(agents_of(m), rows, "agents", state_in); }))
      .def_prop_rw(
          "edges", held<M>([](M& m) { return to_rows(m.edges, itself); }),
          held<M, In<2>>([](M& m, In<2> rows) { from_rows(m.edges, rows, "edges", itself); }));
}

// ------------------------------------------------------- network and agent

template <class Agent>
static void make_network(Network<Agent>* self, const typename Agent::Settings& settings, Ints start,
                         Ints neighbour, Ints reverse, In<2> edges, In<2> paces) {
  require(start.size() > 0 && neighbour.size() == reverse.size(), "graph must fit together");
  auto copy = [](auto a) { return std::vector(a.data(), a.data() + a.size()); };
  std::vector<typename Agent::Pace> all(start.size() - 1);
  std::vector<typename Agent::Edge> given(neighbour.size());
  from_rows(all, paces, "paces", itself);
  from_rows(given, edges, "edges", itself);
  new (self) Network<Agent>(settings, {copy(start), copy(neighbour), copy(reverse)}, std::move(all),
                            std::move(given));
}

template <class Agent>
static int run(Network<Agent>& n, Ints start, Ints agent, In<2> x, In<1> y,
               Given<double, 1> prediction, Given<double, 1> disagreement,
               Given<std::int64_t, 1> asked, Given<double, 1> variance, int n_threads) {
  n.steps_made = 0;
  const std::size_t n_steps = start.size() - 1, n_readings = y.size();
  require(start.size() > 0 && start(0) == 0 && std::size_t(start(n_steps)) == n_readings &&
              agent.size() == n_readings && x.shape(0) == n_readings &&
              x.shape(1) == std::size_t(n.settings.kernel->p) && prediction.size() == n_readings &&
              disagreement.size() == n_steps && asked.size() == n_steps &&
              (variance.size() == 0 || variance.size() == n_readings),
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
  const Record record{prediction.data(), disagreement.data(), asked.data(),
                      variance.size() ? variance.data() : nullptr};
  if (n.settings.is_python()) return n.run(stream, record, 1);
  nb::gil_scoped_release release;
  return n.run(stream, record, n_threads);
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
  prediction.resize(agents.size());
  const std::int64_t start[] = {0, std::int64_t(agents.size())};
  double disagreement;
  std::int64_t asked;
  const Stream stream{1, start, agents.data(), points.data(), targets.data()};
  return n.run(stream, {prediction.data(), &disagreement, &asked}, 1) < 0;
}

template <class Agent>
static void check_points(const Network<Agent>& n, Ints agents, In<2> X) {
  require(X.shape(0) == agents.size() && X.shape(1) == std::size_t(n.settings.kernel->p),
          "agents and X must fit together");
  for (std::size_t r = 0; r < agents.size(); ++r)
    require(agents(r) >= 0 && std::size_t(agents(r)) < n.agents.size(),
            "agents must be indices of the network's agents");
}
template <class Agent>
static nb::object predict(Network<Agent>& n, Ints agents, In<2> X) {
  check_points(n, agents, X);
  std::vector<double> out(agents.size());
  n.predict(agents.data(), X.data(), std::int64_t(out.size()), out.data());
  return own_array(std::move(out));
}
static nb::object variance(Network<SecondOrder>& n, Ints agents, In<2> X) {
  check_points(n, agents, X);
  Arena arena;
  SecondOrder::Workspace ws(arena, n.settings.kernel->p);
  std::vector<double> out(agents.size());
  for (std::size_t r = 0; r < out.size(); ++r)
    out[r] = n.agents[agents(r)].variance(n.settings, ws, X.data() + r * X.shape(1));
  return own_array(std::move(out));
}

static nb::dict counts_of(const Counts& counts) {
  nb::dict out;
  out["moved"] = counts.moved;
  out["projected"] = counts.projected;
  out["repaired"] = counts.repaired;
  return out;
}

template <class Agent>
static void bind_network(nb::module_& m, const char* name) {
  using N = Network<Agent>;
  nb::class_<N> network(m, name);
  bind_state(network);
  network
      .def("__init__", &make_network<Agent>, "settings"_a, "start"_a, "neighbour"_a, "reverse"_a,
           "edges"_a, "paces"_a)
      .def("run",
           held<N, Ints, Ints, In<2>, In<1>, Given<double, 1>, Given<double, 1>,
                Given<std::int64_t, 1>, Given<double, 1>, int>(&run<Agent>),
           "start"_a, "agent"_a, "x"_a, "y"_a, "prediction"_a.noconvert(),
           "disagreement"_a.noconvert(), "asked"_a.noconvert(), "variance"_a.noconvert(),
           "n_threads"_a)
      .def("learn_one", held<N, nb::handle, nb::handle, bool>(&learn_one<Agent>), "x"_a.none(),
           "y"_a.none(), "takes_labels"_a)
      .def("predict", held<N, Ints, In<2>>(&predict<Agent>), "agents"_a, "X"_a)
      .def("function",
           held<N, std::size_t>([](N& n, std::size_t i) { return function_of(n.agents.at(i)); }),
           "agent"_a)
      .def("set_paces",
           held<N, In<2>>([](N& n, In<2> rows) { from_rows(n.paces, rows, "paces", itself); }),
           "paces"_a)
      .def_ro("steps_made", &N::steps_made)
      .def_ro("is_torn", &N::is_torn)
      .def_prop_ro("counts", [](const N& n) { return counts_of(n.counts()); });
  if constexpr (std::is_same_v<Agent, SecondOrder>)
    network.def("variance", held<N, Ints, In<2>>(&variance), "agents"_a, "X"_a);
}

template <class Agent>
static void make_peer(Peer<Agent>* self, const typename Agent::Settings& settings, In<2> edges,
                      In<2> pace) {
  std::vector<typename Agent::Edge> given(edges.shape(0));
  std::vector<typename Agent::Pace> own(1);
  from_rows(given, edges, "edges", itself);
  from_rows(own, pace, "pace", itself);
  new (self) Peer<Agent>(settings, own[0], std::move(given));
}

// Queries as arrays: carried holds value, multiplier and std per query.
class GivenQueries {
 public:
  std::vector<double> multiplier;
  std::vector<Asker> askers;

  template <class Agent>
  GivenQueries(const Peer<Agent>& a, In<2> x, Given<const int, 1> edge, In<2> carried)
      : x(x), edge(edge) {
    require(x.shape(1) == std::size_t(a.settings.kernel->p) && edge.size() == x.shape(0) &&
                carried.shape(0) == x.shape(0) && carried.shape(1) == 3,
            "queries and what they carry must fit together");
    for (std::size_t r = 0; r < x.shape(0); ++r) {
      require(edge(r) >= 0 && std::size_t(edge(r)) < a.edges.size(), "edge must be one there is");
      askers.push_back({carried(r, 0), carried(r, 2)});
      multiplier.push_back(carried(r, 1));
    }
  }
  Queries view() const { return {int(x.shape(0)), x.data(), multiplier.data(), edge.data()}; }

 private:
  In<2> x;
  Given<const int, 1> edge;
};

template <class Agent>
static nb::object answer(Peer<Agent>& a, In<2> x, Given<const int, 1> edge, In<2> carried) {
  const GivenQueries queries(a, x, edge, carried);
  std::vector<typename Agent::Answer> out(x.shape(0));
  a.answer(queries.view(), out.data());
  return to_rows(out, itself);
}

template <class Agent>
static void update(Peer<Agent>& a, std::optional<In<1>> x, double y, In<2> answers, double around,
                   In<2> queries, Given<const int, 1> edge, In<2> carried) {
  require(!x || x->size() == std::size_t(a.settings.kernel->p), "x must have all features");
  std::vector<typename Agent::Answer> given(a.edges.size());
  from_rows(given, answers, "answers", itself);
  const GivenQueries came(a, queries, edge, carried);
  a.update(x ? x->data() : nullptr, y, given.data(), around, came.view(), came.askers.data());
}

template <class Agent>
static void bind_peer(nb::module_& m, const char* name) {
  using P = Peer<Agent>;
  nb::class_<P> peer(m, name);
  bind_state(peer);
  peer.def("__init__", &make_peer<Agent>, "settings"_a, "edges"_a, "pace"_a)
      .def(
          "predict",
          [](P& a, In<1> x) {
            require(x.size() == std::size_t(a.settings.kernel->p), "x must have all features");
            return a.predict(x.data());
          },
          "x"_a)
      .def("answer", &answer<Agent>, "queries"_a, "edge"_a, "carried"_a)
      .def(
          "adopt",
          [](P& a, double value, double std) {
            a.agent.state.target.adopt(value, std, a.settings.standardization);
          },
          "value"_a, "std"_a)
      .def("update", &update<Agent>, "x"_a.none(), "y"_a, "answers"_a, "around"_a, "queries"_a,
           "edge"_a, "carried"_a)
      .def("function", [](P& a) { return function_of(a.agent); });
  if constexpr (std::is_same_v<Agent, SecondOrder>)
    peer.def(
        "adapt",
        [](P& a, In<1> x, double y) {
          require(x.size() == std::size_t(a.settings.kernel->p), "x must have all features");
          double carried = 0.0;
          a.take_back_on_error([&] { carried = a.adapt(x.data(), y); });
          return carried;
        },
        "x"_a, "y"_a);
  else
    peer.def("observe", [](P& a, double y) { a.agent.observe(a.settings, y); }, "y"_a);
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
  bind_peer<FirstOrder>(m, "Peer");
  bind_network<SecondOrder>(m, "NewtonNetwork");
  bind_peer<SecondOrder>(m, "NewtonPeer");
  bind_neighbours(m);
  m.def("compress", &compress, "kernel"_a, "atoms"_a, "weights"_a, "budget"_a);
  m.def("dots", &dots, "A"_a, "i"_a, "B"_a, "j"_a);
  m.def("add_rows", &add_rows, "out"_a.noconvert(), "i"_a, "c"_a, "B"_a, "j"_a);
  m.def("build_info", &build_info);
}
