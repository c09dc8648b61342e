// One agent by itself, with its own edges: makes exactly the step that it makes in a network.
#pragma once
#include "tape.hpp"
#include "target.hpp"

namespace halk {

template <class Agent>
struct Peer {
  using Settings = typename Agent::Settings;
  using Pace = typename Agent::Pace;
  using Edge = typename Agent::Edge;
  using Answer = typename Agent::Answer;

  Settings settings;
  Pace pace;
  std::vector<Edge> edges;
  Arena arena;
  Agent agent;
  typename Agent::Workspace workspace;
  Array scratch;

  Peer(Settings s, Pace pace, std::vector<Edge> edges)
      : settings(std::move(s)),
        pace(pace),
        edges(std::move(edges)),
        agent(arena, settings),
        workspace(arena, settings.kernel->p) {}
  Peer(const Peer&) = delete;

  // Infinite where the kernel itself leaves the finite numbers.
  double predict(const double* x) {
    if (!(agent.kernel(settings).diagonal(x) <= LARGEST))
      return std::numeric_limits<double>::infinity();
    return agent.predict(settings, x, scratch);
  }

  // Learn a reading (second order); returns what the queries carry.
  double adapt(const double* x, double y) {
    workspace.tape.rewind();
    agent.adapt(settings, pace, workspace, x, y);
    return agent.take_reading(settings, workspace, x, y, int(edges.size()));
  }

  // What the agent answers to queries.
  void answer(const Queries& queries, Answer* out) {
    workspace.tape.rewind();
    agent.listen(workspace);
    agent.answer(settings, workspace, queries, edges.data(), out, {});
  }

  // The rest of a step: a reading at x if there is one (else null) with one answer per edge, and
  // the queries that pull, in the order of neighbours.
  void update(const double* x, double y, const Answer* answers, double around,
              const Queries& queries, const Asker* askers) {
    const int degree = int(edges.size());
    take_back_on_error([&] {
      workspace.tape.rewind();
      if (x)
        agent.take_reading(settings, workspace, x, y, degree);
      else
        agent.listen(workspace);
      std::vector<Answer> given(queries.n);
      agent.answer(settings, workspace, queries, edges.data(), given.data(), {});
      workspace.tape.rewind();
      agent.update(settings, pace, workspace, {degree, edges.data(), answers}, askers, around);
    });
  }

  // An exception of a user's own component leaves the agent as it was before the call.
  template <class F>
  void take_back_on_error(F f) {
    if (!settings.is_python()) return f();
    Dictionary before = agent.D.make_like();
    before.assign(agent.D, agent.D.m, true);
    const auto old_state = agent.state;
    const auto old_edges = edges;
    try {
      f();
    } catch (...) {
      agent.D.assign(before, before.m, true);
      agent.state = old_state;
      agent.resume();
      edges = old_edges;
      throw;
    }
  }
};

}  // namespace halk
