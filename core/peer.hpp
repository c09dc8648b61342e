// One agent by itself, with its own edges: makes exactly the step that it makes in a network.
#pragma once
#include <tuple>

#include "first_order.hpp"

namespace halk {

struct Peer {
  Settings settings;
  Pace pace;
  std::vector<double> tolerance, multipliers, violation;
  std::vector<std::int64_t> asked, readings;
  Arena arena;
  FirstOrder agent;
  FirstOrder::Workspace workspace;
  Array scratch;

  Peer(Settings s, Pace pace, std::vector<double> tolerances)
      : settings(std::move(s)),
        pace(pace),
        tolerance(std::move(tolerances)),
        multipliers(tolerance.size()),
        violation(tolerance.size()),
        asked(tolerance.size()),
        readings(1),
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
    const auto old =
        std::tuple(agent.scale, agent.target, agent.adaptation, multipliers, violation, asked);
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
      const Edges edges{int(tolerance.size()), answers,          tolerance.data(),
                        multipliers.data(),    violation.data(), asked.data()};
      agent.update(settings, pace, workspace, edges, askers, around);
      if (x) ++readings[0];
    } catch (...) {  // of a user's own component: as before the call
      if (settings.is_python()) agent.D.assign(before, before.m, true);
      std::tie(agent.scale, agent.target, agent.adaptation, multipliers, violation, asked) = old;
      throw;
    }
  }
};

}  // namespace halk
