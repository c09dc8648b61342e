// All agents of a network in one process.
//
// A step is two rounds over the agents it touches. In the first each agent takes its own reading
// and answers its neighbours' queries, for which it needs functions and multipliers of the last
// step only; in the second it updates with the answers to its own. Agents are visited by who
// answers, not by who asks: each reads only its own slab, twice per step.
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <unordered_map>

#include "arena.hpp"
#include "target.hpp"

namespace halk {

// Edge e of agent i, from start[i] to start[i + 1], leads to neighbour[e]; reverse[e] is the same
// edge backwards.
struct Graph {
  std::vector<std::int64_t> start, neighbour, reverse;
  int n_agents() const { return int(start.size()) - 1; }
  int degree(int i) const { return int(start[i + 1] - start[i]); }
};

// Step t has the readings start[t] up to start[t + 1]: agent[r] read y[r] at x[r * p].
struct Stream {
  std::int64_t n_steps;
  const std::int64_t *start, *agent;
  const double *x, *y;
};

// What is seen on the way: predictions before learning (per reading), the mean of h over the edges
// asked and their number (per step); in second order the variance of the readings predicted.
struct Record {
  std::vector<double> prediction, disagreement, variance;
  std::vector<std::int64_t> asked;
};

template <class Agent>
class Network {
 public:
  using Settings = typename Agent::Settings;
  using Pace = typename Agent::Pace;
  using Edge = typename Agent::Edge;
  using Answer = typename Agent::Answer;

  struct Workspace {  // one per thread
    explicit Workspace(int p) : agent(arena, p) {}
    Arena arena;
    typename Agent::Workspace agent;
    std::vector<double> x, multiplier;
    std::vector<int> edge;
    std::vector<Answer> answers;
    std::vector<Asker> askers;
    int diverged = -1;
    std::exception_ptr error;
  };

  Settings settings;
  Graph graph;
  std::vector<Pace> paces;
  std::vector<Edge> edges;
  Arena arena;
  std::vector<Agent> agents;
  std::vector<std::unique_ptr<Workspace>> workspaces;
  Record record;                // of the last stream
  std::int64_t steps_made = 0;  // of it
  bool is_torn = false;         // a step was left half-made for lack of memory
  std::mutex mutex;             // held by whoever works with it
  std::atomic<std::thread::id> owner;

  Network(Settings s, Graph g, std::vector<Pace> paces, std::vector<Edge> edges)
      : settings(std::move(s)),
        graph(std::move(g)),
        paces(std::move(paces)),
        edges(std::move(edges)),
        reading(graph.n_agents(), NONE),
        own(graph.n_agents()),
        apart(graph.n_agents()),
        around(graph.n_agents()),
        given(graph.neighbour.size()) {
    agents.reserve(graph.n_agents());
    for (int i = 0; i < graph.n_agents(); ++i) agents.emplace_back(arena, settings);
    add_workspaces(1);
  }
  Network(const Network&) = delete;

  // Run a stream; returns -1, or the agent whose prediction left the finite numbers, in a step that
  // is then not made. The result does not depend on n_threads.
  int run(const Stream& given_stream, int n_threads) {
    stream = given_stream;
    const auto n_readings = stream.start[stream.n_steps];
    record.prediction.assign(n_readings, 0.0);
    record.variance.assign(Agent::ADAPTS_FIRST ? n_readings : 0, 0.0);
    record.disagreement.assign(stream.n_steps, 0.0);
    record.asked.assign(stream.n_steps, 0);
    steps_made = 0;
    add_workspaces(n_threads);
    return take_back_on_error([&] {
      for (; steps_made < stream.n_steps; ++steps_made) {
        begin();
        share(n_threads, &Network::answer_some);
        for (int k = 0; k < n_threads; ++k)
          if (workspaces[k]->diverged >= 0) return take_back(workspaces[k]->diverged);
        share(n_threads, &Network::update_some);
        finish();
      }
      return -1;
    });
  }

  // An exception of a user's own component leaves all agents as they were before the call.
  template <class F>
  auto take_back_on_error(F f) {
    try {
      const auto result = f();
      saved.clear();
      return result;
    } catch (const std::bad_alloc&) {
      is_torn = true;
      throw;
    } catch (...) {
      restore();
      throw;
    }
  }
  void save(int i) {
    if (!settings.is_python() || saved.contains(i)) return;
    const Agent& agent = agents[i];
    Dictionary copy = agent.D.make_like();
    copy.assign(agent.D, agent.D.m, true);
    saved.emplace(i, Saved{std::move(copy),
                           agent.state,
                           {edges.begin() + graph.start[i], edges.begin() + graph.start[i + 1]}});
  }

 private:
  static constexpr std::int64_t NONE = -1, LISTENS = -2;
  struct Saved {  // of an agent, before a call that may be taken back
    Dictionary D;
    typename Agent::State state;
    std::vector<Edge> edges;
  };
  struct Unscaled {  // of an agent, before its target's statistics move
    int agent;
    Target target;
    std::vector<double> weights;
  };

  Stream stream{};
  std::vector<std::int64_t> reading;  // per agent: its reading in this step, NONE or LISTENS
  std::vector<int> touched;           // agents of this step, ascending
  std::vector<Asker> own;             // F_i(x_i) and std, which the queries of agent i carry
  std::vector<double> apart, around;  // per agent: sum of h; mean log scale of the neighbours
  std::vector<Answer> given;          // what an agent answered to the query on edge e
  std::unordered_map<int, Saved> saved;
  std::vector<Unscaled> unscaled;
  Array scratch;

  void add_workspaces(int n) {
    while (int(workspaces.size()) < n)
      workspaces.push_back(std::make_unique<Workspace>(settings.kernel->p));
  }

  // A round of the step by several threads, started for each: 20 us, of rounds of milliseconds.
  void share(int n_threads, void (Network::*round)(Workspace&, std::size_t, std::size_t)) {
    const auto work = [&](int id) {
      const std::size_t n = touched.size();
      try {
        (this->*round)(*workspaces[id], n * id / n_threads, n * (id + 1) / n_threads);
      } catch (...) {
        workspaces[id]->error = std::current_exception();
      }
    };
    std::vector<std::thread> threads;
    threads.reserve(n_threads - 1);
    int id = 1;
    try {
      for (; id < n_threads; ++id) threads.emplace_back(work, id);
    } catch (const std::exception&) {  // no more to be had: their shares are done here
    }
    work(0);
    for (; id < n_threads; ++id) work(id);
    for (auto& thread : threads) thread.join();
    for (auto& ws : workspaces)
      if (auto error = std::exchange(ws->error, nullptr)) std::rethrow_exception(error);
  }

  // Take in the readings of the next step, and list whom it touches.
  void begin() {
    if (arena.is_wasteful()) compact();
    const auto first = stream.start[steps_made], last = stream.start[steps_made + 1];
    const bool was_everybody = int(touched.size()) == graph.n_agents();
    unscaled.clear();
    for (int i : touched) reading[i] = NONE;
    for (auto r = first; r < last; ++r) reading[stream.agent[r]] = r;
    if (!(was_everybody && last - first == graph.n_agents())) {
      touched.clear();
      for (auto r = first; r < last; ++r) {
        const int i = int(stream.agent[r]);
        touched.push_back(i);
        for (auto e = graph.start[i]; e < graph.start[i + 1]; ++e)
          if (const int j = int(graph.neighbour[e]); reading[j] == NONE)
            reading[j] = LISTENS, touched.push_back(j);
      }
      std::sort(touched.begin(), touched.end());
    }
    for (int i : touched) save(i);
    if constexpr (!Agent::ADAPTS_FIRST)
      if (settings.standardization.is_on()) take_statistics(first, last);
  }

  // Before anybody answers: the statistics of the targets move.
  void take_statistics(std::int64_t first, std::int64_t last) {
    for (int i : touched) {
      const Dictionary& D = agents[i].D;
      unscaled.push_back({i, agents[i].state.target, {D.weights(), D.weights() + D.end()}});
    }
    for (auto r = first; r < last; ++r) {
      Agent& agent = agents[stream.agent[r]];
      const double* x = stream.x + r * settings.kernel->p;
      record.prediction[r] = agent.predict(settings, x, scratch);
      agent.observe(settings, stream.y[r]);
      own[stream.agent[r]].value = agent.predict(settings, x, scratch);
    }
    for (auto r = first; r < last; ++r) {
      const auto i = stream.agent[r];
      for (auto e = graph.start[i]; e < graph.start[i + 1]; ++e)
        agents[graph.neighbour[e]].state.target.adopt(own[i].value, agents[i].state.target.std,
                                                      settings.standardization);
    }
  }

  template <class F>
  void for_each_query(int j, F f) const {
    for (auto e = graph.start[j]; e < graph.start[j + 1]; ++e)
      if (reading[graph.neighbour[e]] >= 0) f(e, graph.neighbour[e]);
  }

  // What lies at the other ends of an agent's edges, anywhere in memory: 1.14x at 50,000 agents.
  template <class T>
  void prefetch_ends(int i, const std::vector<std::int64_t>& by, const std::vector<T>& ends) const {
    for (auto e = graph.start[i]; e < graph.start[i + 1]; ++e) HALK_PREFETCH(&ends[by[e]]);
  }

  void answer_some(Workspace& ws, std::size_t from, std::size_t to) {
    ws.agent.tape.rewind();
    ws.diverged = -1;
    for (std::size_t n = from; n < to; ++n) {
      const int next = touched[std::min(n + 1, to - 1)];
      prefetch_ends(next, graph.reverse, edges);
      prefetch_ends(next, graph.neighbour, reading);
      answer(touched[n], next, ws);
    }
  }

  void answer(int j, int next, Workspace& ws) {
    const int p = settings.kernel->p, degree = graph.degree(j);
    const auto first = graph.start[j];
    ws.x.resize(std::size_t(degree) * p);
    ws.multiplier.resize(degree);
    ws.edge.resize(degree);
    ws.answers.resize(degree);
    int n = 0;
    for_each_query(j, [&](auto e, auto i) {
      std::copy_n(stream.x + reading[i] * p, p, &ws.x[std::size_t(n) * p]);
      ws.edge[n] = int(e - first);
      ws.multiplier[n++] = settings.is_pulled() ? edges[graph.reverse[e]].multiplier : 0.0;
    });
    Agent& agent = agents[j];
    bool is_finite = true;
    if (const auto r = reading[j]; r >= 0) {
      const double* x = stream.x + r * p;
      if constexpr (Agent::ADAPTS_FIRST) {
        const Answer before = agent.adapt(settings, paces[j], ws.agent, x, stream.y[r]);
        record.prediction[r] = before.value;
        record.variance[r] = before.variance;
      }
      own[j].value = agent.take_reading(settings, ws.agent, x, stream.y[r], degree);
      own[j].std = agent.state.target.std;
      if constexpr (!Agent::ADAPTS_FIRST) {
        is_finite =
            std::abs(own[j].value) <= LARGEST && agent.kernel(settings).diagonal(x) <= LARGEST;
        if (!settings.standardization.is_on()) record.prediction[r] = own[j].value;
        if (settings.is_adaptive()) around[j] = average_log_scale(j);
      }
    } else {
      agent.listen(ws.agent);
    }
    agent.answer(settings, ws.agent, {n, ws.x.data(), ws.multiplier.data(), ws.edge.data()},
                 edges.data() + first, ws.answers.data(), agents[next].D.used_memory());
    for (int q = 0; q < n; ++q) {
      is_finite = is_finite && (Agent::ADAPTS_FIRST || std::abs(ws.answers[q].value) <= LARGEST);
      given[first + ws.edge[q]] = ws.answers[q];
    }
    if (!is_finite && ws.diverged < 0) ws.diverged = j;
  }

  double average_log_scale(int j) const {  // of the neighbours
    double total = 0.0;
    for (auto e = graph.start[j]; e < graph.start[j + 1]; ++e)
      total += agents[graph.neighbour[e]].state.adaptation.log_scale;
    return total / graph.degree(j);  // NaN without neighbours
  }

  void update_some(Workspace& ws, std::size_t from, std::size_t to) {
    ws.agent.tape.rewind();
    for (std::size_t n = from; n < to; ++n) {
      const int next = touched[std::min(n + 1, to - 1)];
      agents[next].prefetch_update();
      prefetch_ends(next, graph.reverse, given);
      prefetch_ends(next, graph.neighbour, own);
      update(touched[n], ws);
    }
  }

  void update(int i, Workspace& ws) {
    const int degree = graph.degree(i);
    const auto first = graph.start[i];
    ws.askers.clear();
    if (settings.is_pulled()) for_each_query(i, [&](auto, auto j) { ws.askers.push_back(own[j]); });
    ws.answers.resize(degree);
    for (int k = 0; k < degree && reading[i] >= 0; ++k)
      ws.answers[k] = given[graph.reverse[first + k]];
    apart[i] = agents[i].update(settings, paces[i], ws.agent,
                                {degree, edges.data() + first, ws.answers.data()}, ws.askers.data(),
                                around[i]);
  }

  void finish() {
    double total = 0.0;
    std::int64_t n = 0;
    for (auto r = stream.start[steps_made]; r < stream.start[steps_made + 1]; ++r) {
      total += apart[stream.agent[r]];
      n += graph.degree(int(stream.agent[r]));
    }
    record.asked[steps_made] = n;
    record.disagreement[steps_made] = n > 0 ? total / double(n) : 0.0;
  }

  // An agent diverged in the first round: take back what the step has changed.
  int take_back(int agent) {
    if constexpr (!Agent::ADAPTS_FIRST)
      for (const Unscaled& old : unscaled) {
        agents[old.agent].state.target = old.target;
        std::copy(old.weights.begin(), old.weights.end(), agents[old.agent].D.weights());
      }
    return agent;
  }

  // Move all slabs to a new arena, without the holes that growing left (14 kB per agent instead of
  // 22, at 100,000 agents of 30 atoms).
  void compact() {
    Arena fresh;
    std::vector<Dictionary*> all;
    for (Agent& agent : agents) all.push_back(&agent.D);
    for (auto& [i, old] : saved) all.push_back(&old.D);
    std::sort(all.begin(), all.end(), [](auto a, auto b) { return a->weights() < b->weights(); });
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k % 1024 == 0) arena.give_back_below(all[k]->weights());
      all[k]->move_to(fresh);
    }
    arena.swap(fresh);
  }

  void restore() {
    for (auto& [i, old] : saved) {
      agents[i].D.assign(old.D, old.D.m, true);
      agents[i].state = old.state;
      agents[i].resume();
      std::copy(old.edges.begin(), old.edges.end(), edges.begin() + graph.start[i]);
    }
    saved.clear();
    steps_made = 0;
  }
};

}  // namespace halk
