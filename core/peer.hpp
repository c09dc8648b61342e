// One agent by itself: a network of one, whose neighbours are elsewhere. It makes, by hand, exactly
// the step that it makes among them.
#pragma once
#include "network.hpp"
#include "tape.hpp"

namespace halk {

template <class Agent>
class Peer : public Network<Agent> {
 public:
  using Base = Network<Agent>;
  using Base::settings, Base::edges;
  using typename Base::Answer, typename Base::Edge, typename Base::Pace, typename Base::Settings;

  Peer(Settings s, std::vector<Pace> pace, std::vector<Edge> edges)
      : Base(std::move(s), alone(std::int64_t(edges.size())), std::move(pace), edges) {}

  // Infinite where the kernel itself leaves the finite numbers.
  double predict_one(const double* x) {
    if (!(agent.kernel(settings).diagonal(x) <= LARGEST))
      return std::numeric_limits<double>::infinity();
    return agent.predict(settings, x, scratch);
  }

  // Learn a reading (second order); returns what the queries carry.
  double adapt(const double* x, double y) {
    return guard([&] {
      agent.adapt(settings, this->paces[0], ws, x, y);
      return agent.take_reading(settings, ws, x, y, int(edges.size()));
    });
  }

  // What the agent answers to queries.
  void answer(const Queries& queries, Answer* out) {
    ws.tape.rewind();
    agent.listen(ws);
    agent.answer(settings, ws, queries, edges.data(), out, {});
  }

  // The rest of a step: a reading at x if there is one (else null) with one answer per edge, and
  // the queries that pull, in the order of neighbours.
  double update(const double* x, double y, const Answer* answers, double around,
                const Queries& queries, const Asker* askers) {
    const int degree = int(edges.size());
    return guard([&] {
      if (x)
        agent.take_reading(settings, ws, x, y, degree);
      else
        agent.listen(ws);
      std::vector<Answer> given(queries.n);
      agent.answer(settings, ws, queries, edges.data(), given.data(), {});
      ws.tape.rewind();
      return agent.update(settings, this->paces[0], ws, {degree, edges.data(), answers}, askers,
                          around);
    });
  }

  Agent& agent = this->agents[0];

 private:
  Array scratch;
  typename Agent::Workspace& ws = this->workspaces[0]->agent;

  static Graph alone(std::int64_t degree) {
    const std::vector<std::int64_t> nobody(degree, 0);
    return {{0, degree}, nobody, nobody};
  }
  template <class F>
  double guard(F f) {
    this->save(0);
    ws.tape.rewind();
    return this->take_back_on_error(f);
  }
};

}  // namespace halk
