// The neighbour model's part of the module halk._core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>

#include "neighbour_network.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace halk;
using namespace halk::neighbours;

template <class T, int N>
using Given = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw nb::value_error(message.c_str());
}

template <class T>
nb::object own_array(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner).cast();
}

// An optional array to be written to, of a given shape.
template <class T, int N>
T* target(const std::optional<Given<T, N>>& array, const std::string& name,
          std::array<std::size_t, N> shape) {
  if (!array) return nullptr;
  for (int d = 0; d < N; ++d)
    require(array->shape(d) == shape[d], name + " must have " + std::to_string(shape[d]) +
                                             " entries along axis " + std::to_string(d) + ", got " +
                                             std::to_string(array->shape(d)));
  return array->data();
}

struct Model {
  Network network;
  std::mutex mutex;
  explicit Model(const Settings& s) : network(s) {}
};

void make_model(Model* self, int window, int stale, int period, double memory, double coverage,
                bool is_robust) {
  require(window >= 1 && window <= 120, "window must be from 1 to 120");
  require(stale >= 0 && period >= 0, "stale and period must not be negative");
  require(memory > 1.0, "memory must be above 1");
  require(coverage > 0.0 && coverage < 1.0, "coverage must be between 0 and 1");
  Settings s;
  s.window = window, s.stale = stale, s.period = period;
  s.memory = memory, s.coverage = coverage, s.is_robust = is_robust;
  new (self) Model(s);
}

void add(Model& m, Given<const std::int64_t, 1> near, Given<const std::int8_t, 1> is_blind,
         Given<const double, 2> distances, std::int64_t key) {
  const std::scoped_lock lock(m.mutex);
  const std::size_t k1 = near.size();
  require(k1 >= 1 && is_blind.size() == k1 && distances.shape(0) == k1 && distances.shape(1) == k1,
          "near, is_blind and distances must fit together");
  m.network.add({near.data(), near.data() + k1}, {is_blind.data(), is_blind.data() + k1},
                {distances.data(), distances.data() + k1 * k1}, std::uint64_t(key));
}

void check_neighbours(const Network& n) {
  for (const Agent& a : n.agents)
    for (auto j : a.near)
      require(j >= 0 && j < n.size(), "near must be indices of agents that were added");
}

nb::object rows_of(const std::vector<Event>& events) {
  constexpr std::size_t width = sizeof(Event) / sizeof(double);
  std::vector<double> out(events.size() * width);
  if (!events.empty()) std::memcpy(out.data(), events.data(), sizeof(double) * out.size());
  return own_array(std::move(out), {events.size(), width});
}

nb::object hear(Model& m, Given<const double, 2> values, std::optional<Given<double, 3>> now,
                std::optional<Given<std::int8_t, 2>> now_bin, std::optional<Given<double, 3>> fill,
                std::optional<Given<std::int8_t, 2>> fill_bin,
                std::optional<Given<std::int8_t, 2>> flag,
                std::optional<Given<double, 2>> predicted, std::optional<Given<double, 2>> z,
                int n_threads) {
  const std::scoped_lock lock(m.mutex);
  const std::size_t n = values.shape(0), width = m.network.size();
  require(values.shape(1) == width,
          "values must have " + std::to_string(width) + " columns, one per agent");
  check_neighbours(m.network);
  Found found;
  found.now = target<double, 3>(now, "now", {n, width, 4});
  found.now_bin = target<std::int8_t, 2>(now_bin, "now_bin", {n, width});
  found.fill = target<double, 3>(fill, "fill", {n, width, 4});
  found.fill_bin = target<std::int8_t, 2>(fill_bin, "fill_bin", {n, width});
  found.flag = target<std::int8_t, 2>(flag, "flag", {n, width});
  found.predicted = target<double, 2>(predicted, "predicted", {n, width});
  found.z = target<double, 2>(z, "z", {n, width});
  require(!found.now == !found.now_bin && !found.fill == !found.fill_bin,
          "now and fill need their bins");
  require(!found.predicted == !found.z, "predicted and z must be given together");
  {
    nb::gil_scoped_release release;
    m.network.hear(values.data(), std::int64_t(n), found, n_threads);
  }
  return rows_of(m.network.events);
}

void flush(Model& m, Given<double, 3> fill, Given<std::int8_t, 2> bin) {
  const std::scoped_lock lock(m.mutex);
  const std::size_t n = m.network.settings.window, width = m.network.size();
  target<double, 3>(fill, "fill", {n, width, 4});
  target<std::int8_t, 2>(bin, "fill_bin", {n, width});
  check_neighbours(m.network);
  nb::gil_scoped_release release;
  m.network.flush(fill.data(), bin.data());
}

nb::tuple forecast(Model& m, Given<const std::int64_t, 1> agents,
                   Given<const std::int64_t, 1> ahead) {
  const std::scoped_lock lock(m.mutex);
  require(agents.size() == ahead.size(), "agents and ahead must have equal lengths");
  check_neighbours(m.network);
  const std::size_t n = agents.size();
  std::vector<double> out(4 * n);
  std::vector<std::int8_t> bins(n);
  Workspace ws;
  for (std::size_t r = 0; r < n; ++r) {
    require(agents(r) >= 0 && agents(r) < m.network.size(), "agents must be indices of agents");
    require(ahead(r) >= 1, "ahead must be at least 1");
    const int steps = int(std::min<std::int64_t>(ahead(r), 1 << 30));
    const Estimate e = m.network.forecast(int(agents(r)), steps, ws);
    double* row = &out[4 * r];
    row[0] = e.value, row[1] = e.std, row[2] = e.low, row[3] = e.high;
    bins[r] = std::int8_t(e.bin);
  }
  return nb::make_tuple(own_array(std::move(out), {n, 4}), own_array(std::move(bins), {n}));
}

void hear_again(Model& m, Given<const double, 2> shifts) {
  const std::scoped_lock lock(m.mutex);
  constexpr std::size_t width = sizeof(Event) / sizeof(double);
  require(shifts.shape(1) == width, "shifts must have " + std::to_string(width) + " columns");
  std::vector<Event> known(shifts.shape(0));
  if (!known.empty()) std::memcpy(known.data(), shifts.data(), sizeof(Event) * known.size());
  for (const Event& e : known)
    require(e.sensor >= 0.0 && e.sensor < m.network.size(), "shifts must be of agents");
  m.network.rewind(known);
}

// Every array of an agent's state, by name.
template <class A, class F>
void each_array(A& a, F f) {
  f("value", a.value), f("heard", a.heard), f("table", a.table), f("lagged", a.lagged);
  f("autocorrelation", a.autocorrelation), f("cross", a.cross), f("gaps", a.gaps);
  f("rejects", a.rejects), f("saved_at", a.saved_at);
  f("moments", a.moments), f("saved", a.saved), f("early", a.early), f("scales", a.scales);
}
// The numbers of a vector of structs of doubles, or of numbers.
template <class T>
using Number = std::conditional_t<std::is_class_v<T>, double, T>;

nb::dict state(Model& m) {
  const std::scoped_lock lock(m.mutex);
  nb::dict out;
  const auto& agents = m.network.agents;
  if (agents.empty()) return out;
  std::size_t which = 0;
  each_array(agents[0], [&](const char* name, const auto& first) {
    using T = std::decay_t<decltype(first[0])>;
    std::vector<Number<T>> all;
    for (const Agent& a : agents) {
      std::size_t k = 0;
      each_array(a, [&](const char*, const auto& items) {
        if constexpr (std::is_same_v<std::decay_t<decltype(items[0])>, T>)
          if (k == which) {
            const auto* p = reinterpret_cast<const Number<T>*>(items.data());
            all.insert(all.end(), p, p + items.size() * sizeof(T) / sizeof(Number<T>));
          }
        ++k;
      });
    }
    const std::size_t n = all.size();
    out[name] = own_array(std::move(all), {n});
    ++which;
  });
  constexpr std::size_t width = sizeof(Scalars) / sizeof(double);
  std::vector<double> scalars(agents.size() * width);
  for (std::size_t i = 0; i < agents.size(); ++i)
    std::memcpy(&scalars[i * width], &agents[i].s, sizeof(Scalars));
  out["scalars"] = own_array(std::move(scalars), {agents.size(), width});
  const Network& n = m.network;
  out["steps"] = own_array(std::vector<std::int64_t>{n.t, n.is_first, n.replays}, {3});
  return out;
}

template <class T>
Given<const T, 1> vector_of(const nb::dict& state, const char* name, std::size_t size) {
  require(state.contains(name), std::string("state must have ") + name);
  const auto a = nb::cast<Given<const T, 1>>(state[name]);
  require(a.size() == size, std::string(name) + " must have " + std::to_string(size) +
                                " entries, got " + std::to_string(a.size()));
  return a;
}

void load(Model& m, const nb::dict& state) {
  const std::scoped_lock lock(m.mutex);
  auto& agents = m.network.agents;
  require(!agents.empty(), "agents must be added before their state is loaded");
  constexpr std::size_t width = sizeof(Scalars) / sizeof(double);
  require(state.contains("scalars"), "state must have scalars");
  const auto scalars = nb::cast<Given<const double, 2>>(state["scalars"]);
  require(scalars.shape(0) == agents.size() && scalars.shape(1) == width,
          "scalars must have shape (" + std::to_string(agents.size()) + ", " +
              std::to_string(width) + ")");
  const auto steps = vector_of<std::int64_t>(state, "steps", 3);
  for (const bool writes : {false, true}) {  // all shapes are checked before anything is changed
    std::size_t which = 0;
    each_array(agents[0], [&](const char* name, const auto& first) {
      using T = std::decay_t<decltype(first[0])>;
      constexpr std::size_t share = sizeof(T) / sizeof(Number<T>);
      std::vector<Number<T>*> to;
      std::vector<std::size_t> sizes;
      std::size_t total = 0;
      for (Agent& a : agents) {
        std::size_t k = 0;
        each_array(a, [&](const char*, auto& items) {
          if constexpr (std::is_same_v<std::decay_t<decltype(items[0])>, T>)
            if (k == which) {
              to.push_back(reinterpret_cast<Number<T>*>(items.data()));
              sizes.push_back(items.size() * share), total += sizes.back();
            }
          ++k;
        });
      }
      const auto given = vector_of<Number<T>>(state, name, total);
      const Number<T>* from = given.data();
      for (std::size_t i = 0; writes && i < to.size(); from += sizes[i++])
        std::copy_n(from, sizes[i], to[i]);
      ++which;
    });
  }
  for (std::size_t i = 0; i < agents.size(); ++i)
    std::memcpy(static_cast<void*>(&agents[i].s), scalars.data() + i * width, sizeof(Scalars));
  m.network.t = steps(0), m.network.is_first = steps(1) != 0;
  m.network.replays = steps(2) != 0;
}

// What the agents fitted: mean and std, sill and range of the prior.
nb::dict prior(Model& m) {
  const std::scoped_lock lock(m.mutex);
  const std::size_t n = m.network.size();
  std::vector<double> centre(n), std(n), sill(n), range(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Agent& a = m.network.agents[i];
    centre[i] = a.scales[0].centre[IDENTITY], std[i] = a.scales[0].std[IDENTITY];
    sill[i] = a.s.sill, range[i] = a.s.range * a.mean_distance;
  }
  nb::dict out;
  out["mean"] = own_array(std::move(centre), {n});
  out["std"] = own_array(std::move(std), {n});
  out["sill"] = own_array(std::move(sill), {n});
  out["range"] = own_array(std::move(range), {n});
  return out;
}

}  // namespace

void bind_neighbours(nb::module_& m) {
  nb::class_<Model>(m, "NeighbourNetwork")
      .def("__init__", &make_model, "window"_a, "stale"_a, "period"_a, "memory"_a, "coverage"_a,
           "is_robust"_a)
      .def("add", &add, "near"_a, "is_blind"_a, "distances"_a, "key"_a)
      .def("hear", &hear, "values"_a, "now"_a.none().noconvert(), "now_bin"_a.none().noconvert(),
           "fill"_a.none().noconvert(), "fill_bin"_a.none().noconvert(),
           "flag"_a.none().noconvert(), "predicted"_a.none().noconvert(), "z"_a.none().noconvert(),
           "n_threads"_a)
      .def("flush", &flush, "fill"_a.noconvert(), "fill_bin"_a.noconvert())
      .def("forecast", &forecast, "agents"_a, "ahead"_a)
      .def("rewind", &hear_again, "shifts"_a)
      .def("state", &state)
      .def("load", &load, "state"_a)
      .def("prior", &prior)
      .def_prop_ro("steps", [](const Model& m) { return m.network.t; });
}
