// One agent by itself, with its own edges: makes exactly the step that it makes in a network.
#pragma once
#include "target.hpp"

namespace halk {

template <class Agent>
struct Peer {
  using Settings = typename Agent::Settings;
  using Pace = typename Agent::Pace;
  using Edge = typename Agent::Edge;

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

  // A step: a reading at x if there is one (else null) with one answer per edge, NaN for none, and
  // n queries that pull, in the order of neighbours.
  void update(const double* x, double y, const double* answers, double around, int n,
              const double* queries, const double* multiplier, const Asker* askers) {
    Dictionary before(arena, settings.kernel->p);
    const auto old_state = agent.state;
    const auto old_edges = edges;
    if (settings.is_python()) before.assign(agent.D, agent.D.m, true);
    try {
      workspace.tape.rewind();
      if (x)
        agent.take_reading(settings, workspace, x, y);
      else
        agent.listen(workspace);
      std::vector<double> values(n);
      agent.answer(settings, workspace, n, queries, multiplier, values.data(), {});
      workspace.tape.rewind();
      agent.update(settings, pace, workspace, {int(edges.size()), edges.data(), answers}, askers,
                   around);
    } catch (...) {  // of a user's own component: as before the call
      if (settings.is_python()) agent.D.assign(before, before.m, true);
      agent.state = old_state;
      edges = old_edges;
      throw;
    }
  }
};

}  // namespace halk
