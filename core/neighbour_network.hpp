// All agents of a neighbour model in one process, in lock step.
//
// A step is three rounds. Every agent judges its own reading; says it, or an estimate made from
// what the others read; hears what its neighbours said, estimates what it lacks and learns. An
// agent changes only its own state and reads only what others said, so that threads give the same
// bits.
#pragma once
#include <atomic>
#include <barrier>
#include <memory>
#include <system_error>
#include <thread>

#include "neighbours.hpp"

namespace halk::neighbours {

// Where what is found goes; rows are steps of the call, then agents. Null: not wanted.
struct Found {
  double *now = nullptr, *fill = nullptr;  // (value, std, low, high); row r of fill: step r - W
  std::int8_t *now_bin = nullptr, *fill_bin = nullptr, *flag = nullptr;
  double *predicted = nullptr, *z = nullptr;
};

struct Network {
  Settings settings;
  Tables tables;
  std::vector<Agent> agents;
  std::int64_t t = 0;  // steps heard
  bool is_first = true, replays = true;
  std::vector<Event> events;  // of the last call, in order

  explicit Network(const Settings& s) : settings(s), tables(settings) {}
  Network(const Network&) = delete;

  int size() const { return int(agents.size()); }
  void add(std::vector<std::int64_t> near, std::vector<std::int8_t> is_blind,
           std::vector<double> distance, std::uint64_t key) {
    agents.emplace_back(settings, tables, std::move(near), std::move(is_blind), std::move(distance),
                        key);
    said.resize(agents.size()), spoken.resize(agents.size());
    flags.resize(agents.size()), shifts.resize(agents.size());
  }

  // Take in values (n_steps, agents), NaN where there is no reading.
  void hear(const double* values, std::int64_t n_steps, const Found& found, int n_threads) {
    // Threads wait for each other thrice per step: below 64 agents each, on a busy machine, for
    // long.
    n_threads = std::clamp(n_threads, 1, std::max(1, size() / 64));
    while (int(workspaces.size()) < n_threads) workspaces.push_back(std::make_unique<Workspace>());
    for (auto& ws : workspaces)
      for (const Agent& a : agents) ws->prepare(a.k1, settings.lags());
    std::barrier barrier(n_threads);
    const auto work = [&](int id, int n) {
      Workspace& ws = *workspaces[id];
      const auto pause = [&] {
        if (n > 1) barrier.arrive_and_wait();
      };
      for (std::int64_t r = 0; r < n_steps; ++r) {
        const double* x = values + r * size();
        for (int i = id; i < size(); i += n) begin(i, t + r, x[i]);
        pause();
        for (int i = id; i < size(); i += n) speak(i, t + r, x[i], r, found, ws);
        pause();
        for (int i = id; i < size(); i += n) listen(i, t + r, r, found, ws);
        pause();
      }
    };
    std::vector<std::thread> threads;
    std::atomic<int> go = 0;  // 1: work, 2: not all threads could be made
    try {
      for (int id = 1; id < n_threads; ++id)
        threads.emplace_back([&, id] {
          go.wait(0);
          if (go == 1) work(id, n_threads);
        });
    } catch (const std::system_error&) {
      go = 2;
    }
    const bool is_shared = go != 2;
    if (is_shared) go = 1;
    go.notify_all();
    work(0, is_shared ? n_threads : 1);
    for (auto& thread : threads) thread.join();
    t += n_steps;
    collect_events();
  }

  // Fills of the last W steps (W, agents), which later steps would still change.
  void flush(double* fill, std::int8_t* bin) {
    Workspace ws;
    for (int i = 0; i < size(); ++i) {
      ws.prepare(agents[i].k1, settings.lags());
      for (std::int64_t r = 0; r < settings.window; ++r) {
        const auto at = t - settings.window + r;
        if (at < 0 || agents[i].is_heard(at, 0)) continue;
        publish(agents[i].estimate(agents[i].predict(at, t - 1, FILL, ALL, 0, ws), FILL),
                r * size() + i, fill, bin);
      }
    }
  }

  // What agent i would read `ahead` steps after the last.
  Estimate forecast(int i, int ahead, Workspace& ws) const {
    const Agent& a = agents[i];
    if (t == 0) return {};
    ws.prepare(a.k1, settings.lags());
    return a.estimate(a.predict(t - 1 + ahead, t - 1, AHEAD, NONE, 0, ws), AHEAD);
  }

  // Hear an archive again, knowing the level shifts that lasted.
  void rewind(const std::vector<Event>& lasting) {
    for (Agent& a : agents) a.rewind();
    for (auto& s : shifts) s.clear();
    for (auto e = lasting.rbegin(); e != lasting.rend(); ++e)
      shifts[std::size_t(e->sensor)].push_back(*e);
    // What would be replayed is in the table unless the first hearing is forgotten by then.
    replays = replays && double(t) > 3.0 * settings.memory;
    t = 0, is_first = false;
  }

 private:
  std::vector<Message> said, spoken;  // who has a plain reading; what everybody says
  std::vector<std::int8_t> flags;
  std::vector<std::vector<Event>> shifts;  // known in a second hearing, the next one last
  std::vector<std::unique_ptr<Workspace>> workspaces;

  static bool is_there(double x) { return !std::isnan(x); }

  void begin(int i, std::int64_t step, double x) {
    Agent& a = agents[i];
    if (step % settings.tell_every == 0 || (step < 200 && step % 4 == 0)) a.be_told(agents);
    flags[i] = is_there(x) ? a.look(step, x) : NO_READING;
    const bool is_plain = flags[i] == ACCEPTED;
    said[i] = {is_plain ? x : 0.0, is_plain ? READING : GUESS};
  }

  void speak(int i, std::int64_t step, double x, std::int64_t r, const Found& found,
             Workspace& ws) {
    Agent& a = agents[i];
    bool is_informed = false;
    for (int j = 0; j < a.k1; ++j) {
      const Message& m = said[a.near[j]];
      a.put(step, j, m.value, m.kind);
      is_informed |= j > 0 && m.kind == READING;
    }
    Message& out = spoken[i];
    double predicted = UNKNOWN, z = UNKNOWN;
    auto& known = shifts[i];
    const bool is_told = (flags[i] == ACCEPTED || flags[i] == SUSPECT) && !known.empty() &&
                         double(step) >= known.back().from;
    if (is_told) {
      const Event e = known.back();
      known.pop_back();
      out = a.shift(step, x, double(step), e.before, e.after);
      predicted = e.before;
    } else if (flags[i] == ACCEPTED) {
      a.s.n_rejects = a.s.n_back = 0.0;
      const bool is_turn = settings.is_robust && (std::uint64_t(step) + a.key) % 2 == 0;
      out = is_turn ? a.watch(step, x, ws) : Message{x, READING};
    } else {
      const Prediction p = a.predict(step, step, NOW, NONE, 0, ws);
      const int kind = is_informed && a.knows() ? ESTIMATE : GUESS;
      out = {a.knows() ? a.restore(p.mean, p.form) : UNKNOWN, kind};
      predicted = out.value;
      if (flags[i] == SUSPECT) out = a.judge(step, x, p, kind, &z, ws);
      if (flags[i] == SUSPECT && out.kind >= READING) flags[i] = ACCEPTED;
    }
    if (out.kind == SHIFTED) flags[i] = SHIFT;
    const std::size_t at = std::size_t(r) * size() + i;
    if (found.flag) found.flag[at] = flags[i];
    if (found.predicted) found.predicted[at] = predicted, found.z[at] = z;
  }

  void listen(int i, std::int64_t step, std::int64_t r, const Found& found, Workspace& ws) {
    Agent& a = agents[i];
    a.hear(step, spoken.data(), is_first, ws);
    if (replays && step % 4 == 0) a.forget(4.0);
    const double rate =
        replays ? std::max(settings.replay_rate, std::min(0.5, 60.0 / double(step + 1))) : 0.0;
    const std::size_t at = std::size_t(r) * size() + i;
    const auto late = step - settings.window;
    if (late >= 0) {
      a.begin_draws(step, is_first, FILL);
      if (a.is_heard(late, 0)) {
        if (a.draws.uniform() < rate) a.replay(late, step, FILL, ws);
      } else {
        const Estimate e = a.estimate(a.predict(late, step, FILL, ALL, 0, ws), FILL);
        publish(e, at, found.fill, found.fill_bin);
        a.remember_gap(late, step);
        a.value[a.cell(late, 0)] = e.value;
      }
    }
    if (a.is_heard(step, 0)) {
      for (Mode mode : {NOW, AHEAD}) {
        a.begin_draws(step, is_first, mode);
        if (a.draws.uniform() < rate) a.replay(step, step, mode, ws);
      }
    } else if (found.now) {
      publish(a.estimate(a.predict(step, step, NOW, ALL, 0, ws), NOW), at, found.now,
              found.now_bin);
    }
    if (late >= 0) a.learn(late);
  }

  static void publish(const Estimate& e, std::size_t at, double* out, std::int8_t* bin) {
    if (!out) return;
    out += 4 * at;
    out[0] = e.value, out[1] = e.std, out[2] = e.low, out[3] = e.high;
    bin[at] = std::int8_t(e.bin);
  }

  void collect_events() {
    events.clear();
    for (int i = 0; i < size(); ++i) {
      for (Event e : agents[i].events) e.sensor = i, events.push_back(e);
      agents[i].events.clear();
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.step < b.step; });
  }
};

}  // namespace halk::neighbours
