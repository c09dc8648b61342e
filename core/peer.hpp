// One agent by itself, in a network of one whose neighbours are elsewhere: makes, by hand, exactly
// the step that it makes among them.
#pragma once
#include "network.hpp"
#include "tape.hpp"

namespace halk {

template <class Agent>
struct Peer {
  Network<Agent>& network;
  Agent& agent = network.agents[0];
  typename Agent::Workspace& ws = network.workspaces[0]->agent;
  typename Agent::Edge* edges = network.edges.data();
  const int degree = int(network.edges.size());

  // Infinite where the kernel itself leaves the finite numbers.
  double predict(const double* x) {
    Array scratch;
    if (!(agent.kernel(network.settings).diagonal(x) <= LARGEST))
      return std::numeric_limits<double>::infinity();
    return agent.predict(network.settings, x, scratch);
  }

  // Learn a reading (second order); returns what the queries carry.
  double adapt(const double* x, double y) {
    return guard([&] {
      agent.adapt(network.settings, network.paces[0], ws, x, y);
      return agent.take_reading(network.settings, ws, x, y, degree);
    });
  }

  // What the agent answers to queries.
  void answer(const Queries& queries, typename Agent::Answer* out) {
    ws.tape.rewind();
    agent.listen(ws);
    agent.answer(network.settings, ws, queries, edges, out, {});
  }

  // The rest of a step: a reading at x if there is one (else null) with one answer per edge, and
  // the queries that pull, in the order of neighbours.
  double update(const double* x, double y, const typename Agent::Answer* answers, double around,
                const Queries& queries, const Asker* askers) {
    return guard([&] {
      if (x)
        agent.take_reading(network.settings, ws, x, y, degree);
      else
        agent.listen(ws);
      std::vector<typename Agent::Answer> given(queries.n);
      agent.answer(network.settings, ws, queries, edges, given.data(), {});
      ws.tape.rewind();
      return agent.update(network.settings, network.paces[0], ws, {degree, edges, answers}, askers,
                          around);
    });
  }

 private:
  template <class F>
  double guard(F f) {
    network.save(0);
    ws.tape.rewind();
    return network.take_back_on_error(f);
  }
};

}  // namespace halk
