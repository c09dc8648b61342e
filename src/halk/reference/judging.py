r"""What a neighbour model believes, and the network around it: plain and slow.

A reading x is suspect if it is far from its own past, or follows a rejected one::

    |z - ac(l) z_last| > 4 sqrt(max(1 - ac(l)^2, 0.02))

A suspect is believed if |z - m| / sqrt v < gate q, predicted without it; ``gate`` is 5,
or 1.5 after a reject. Twelve rejects on end with mean(e)^2 > 4 var(e) are a level
shift: believed, and told. So is a median of the last eight residuals from neighbours
alone that is 5 stds off that of the sixteen before. Three suspects on end that fit the
level before take a shift back. A run of equal readings, too long for its history, is
stuck. Means of 24 residuals from neighbours alone are summed (Page): a drift.
"""

from typing import Any

import numpy as np

from halk.reference.neighbours import (
    AHEAD,
    ESTIMATE,
    FILL,
    GUESS,
    NOW,
    READING,
    RETURNED,
    SHIFTED,
    Agent,
    forward,
    uniforms,
)

ACCEPTED, SUSPECT, STUCK, SHIFT = 1, 2, 3, 4


class Judge(Agent):
    """An agent that judges its own readings; ``events`` are (step, what, from)."""

    def rewind(self) -> None:
        """Forget what was heard last."""
        super().rewind()
        self.events: list[Any] = []
        self.block: list[float] = []
        self.n_blocks, self.square_of_blocks = 0, 0.0
        self.sums, self.since, self.drifts = [0.0, 0.0], [-1.0, -1.0], False

    def look(self, t: int, x: float) -> int:
        """Return whether a reading is believed by itself."""
        if not self.c["is_robust"]:
            return ACCEPTED
        if not abs(x) <= 1e30:
            return SUSPECT
        self.run = self.run + 1 if x == self.last else 0
        self.last = x
        if self.run == 0:
            self.run_start, self.is_stuck = t, False
        odds = self.run * np.log((self.repeats + 1) / (self.pairs + 10))
        if self.run >= 5 and odds < np.log(1e-6):
            if not self.is_stuck:
                self.events.append((t, "stuck", self.run_start))
            self.is_stuck = True
            return STUCK
        self.repeats += self.run > 0
        self.pairs += 1
        if self.count.sum() < 5:
            return ACCEPTED
        if self.rejects:
            return SUSPECT
        g = self.chosen[NOW, 0]
        e, v = self.z(x, g), 1.0
        for lag in range(1, min(self.W, t) + 1):
            if self.heard(t - lag, 0):
                e -= self.ac[lag] * self.z(self.value[t - lag, 0], g)
                v = max(1 - self.ac[lag] ** 2, 0.02)
                break
        return SUSPECT if e**2 > 16 * v or (self.nonneg and x < 0) else ACCEPTED

    def judge(self, t: int, x: float, p: Any, kind: int) -> Any:
        """Return what to say of a suspect."""
        m, sd, case, g = p
        e = np.clip((self.z(x, 0 if x < 0 else g) - m) / sd, -1e6, 1e6)
        q, guess = self.quantile(NOW, case, 0.083), self.restore(m, g)
        if abs(e) < (1.5 if self.rejects else 5) * q:
            self.rejects, self.back = [], 0
            return READING, x, 0, 0
        if abs(x) > 1e30:
            return kind, guess, 0, 0
        if self.may_come_back(t):
            m, sd, _, g = self.predict(t, t, NOW, False, self.W + 1)
            _, count, *saved = self.saved[0]
            var = saved[3 + g] / max(count, 1)
            off = abs((forward(x, g) - saved[g]) / np.sqrt(var + 1e-200) - m)
            self.back = self.back + 1 if off < 3 * sd else 0
            if self.back >= 3:
                return self.come_back(t, x)
        if not self.rejects:
            self.first = t
        self.rejects = [*self.rejects, (e, x, guess)][-12:]
        a = np.array(self.rejects)
        if len(a) < 12 or not a[:, 0].mean() ** 2 > 4 * a[:, 0].var():
            return kind, guess, 0, 0
        return self.shift(t, x, self.first, a[:, 2].mean(), a[:, 1].mean())

    def may_come_back(self, t: int) -> bool:
        """Return whether the last shift may yet be taken back."""
        return self.shifted is not None and t - self.shifted[0] <= 12 * self.W

    def come_back(self, t: int, x: float) -> Any:
        """Take the last shift back."""
        self.events.append((t, "return", self.shifted[1]))
        self.rejects, self.recent, self.back, self.shifted = [], [], 0, None
        return RETURNED, x, 0, 0

    def shift(self, t: int, x: float, start: int, old: float, new: float) -> Any:
        """Accept another level, or take the last one back."""
        if self.may_come_back(t):
            before, after = self.shifted[2:]
            if abs(new - before) < 0.5 * abs(new - after):
                return self.come_back(t, x)
        self.events.append((t, "shift", start))
        self.rejects, self.recent, self.back = [], [], 0
        self.shifted = t, start, old, new
        return SHIFTED, x, old, new

    def watch(self, t: int, x: float) -> Any:
        """Compare an accepted reading with what the neighbours alone predict."""
        if self.k1 == 1 or self.n < 3 * self.W:
            return READING, x, 0, 0
        m, sd, _, g = self.predict(t, t, NOW, False, self.W + 1)
        e = self.z(x, g) - m
        self.watch_drift(t, e)
        self.recent = [*self.recent, (e / max(sd, 0.1), x, self.restore(m, g))][-24:]
        if len(self.recent) < 24:
            return READING, x, 0, 0
        a = np.array(self.recent)
        if abs(np.median(a[16:, 0]) - np.median(a[:16, 0])) <= 5:
            return READING, x, 0, 0
        return self.shift(t, x, t - 16, np.median(a[16:, 2]), np.median(a[16:, 1]))

    def watch_drift(self, t: int, e: float) -> None:
        """Sum means of residuals in both directions."""
        self.block.append(float(np.clip(e, -3, 3)))
        if len(self.block) < 24:
            return
        mean, self.block = float(np.mean(self.block)), []
        self.n_blocks += 1
        if self.n_blocks > 8:
            z = np.clip(mean / np.sqrt(max(self.square_of_blocks, 1e-4)), -3, 3)
            for d in range(2):
                if self.sums[d] == 0:
                    self.since[d] = t - 48
                self.sums[d] = max(self.sums[d] + (-z if d else z) - 0.75, 0)
                if self.sums[d] > 10 and not self.drifts:
                    self.events.append((t, "drift", self.since[d]))
                    self.drifts = True
            self.drifts = self.drifts and max(self.sums) > 0
        square = min(mean**2, 9 * self.square_of_blocks + 1e-2)
        rate = 1 / min(self.n_blocks, 60)
        self.square_of_blocks += rate * (square - self.square_of_blocks)


def run(
    values: Any, near: Any, apart: Any, keys: Any, hearings: int = 1, **c: Any
) -> Any:
    """Run all agents over values (steps, agents); return what the last hearing found.

    ``near[i]`` are the sensors that i hears, itself first, ``apart[i]`` how far apart.
    """
    plain = {"window": 24, "stale": 12, "period": 0, "memory": 700, "coverage": 0.9}
    c = {**plain, "is_robust": True, **c}
    T, V = values.shape
    blind = [[i not in near[j] for j in near[i]] for i in range(V)]
    agents = [Judge(near[i], blind[i], apart[i], keys[i], c) for i in range(V)]
    for hearing in range(hearings):
        out = {
            m: (np.full((T, V, 4), np.nan), np.full((T, V), -1)) for m in (FILL, NOW)
        }
        flag = np.zeros((T, V), int)
        replays = hearing == 0 or 3 * c["memory"] < T
        for agent in agents:
            if hearing:
                agent.rewind()
        for t in range(T):
            step(agents, values[t], t, hearing, replays, out, flag[t])
        for i, agent in enumerate(agents):
            for s in range(max(T - c["window"], 0), T):
                if not agent.heard(s, 0):
                    put(out[FILL], s, i, agent, FILL, T - 1)
    events = [(i, *event) for i, agent in enumerate(agents) for event in agent.events]
    return {"fill": out[FILL], "now": out[NOW], "flag": flag, "events": events}


def put(out: Any, s: int, i: int, agent: Agent, mode: int, last: int) -> float:
    """Publish an estimate."""
    out[0][s, i], out[1][s, i] = agent.estimate(
        mode, *agent.predict(s, last, mode, True)
    )
    return float(out[0][s, i, 0])


def step(
    agents: Any, x: Any, t: int, hearing: int, replays: bool, out: Any, flag: Any
) -> None:
    """Run all agents over one step."""
    if t % 24 == 0 or (t < 200 and t % 4 == 0):
        for agent in agents:
            agent.be_told(agents)
    flag[:] = [
        0 if np.isnan(v) else a.look(t, v) for a, v in zip(agents, x, strict=True)
    ]
    said = [
        (READING, v) if f == ACCEPTED else (GUESS, 0.0)
        for f, v in zip(flag, x, strict=True)
    ]
    for agent in agents:
        for j, o in enumerate(agent.near):
            agent.kind[t, j], agent.value[t, j] = said[o]
    spoken: list[Any] = [(READING, v, 0, 0) for v in x]
    for i, agent in enumerate(agents):
        if flag[i] == ACCEPTED:
            agent.rejects, agent.back = [], 0
            if agent.c["is_robust"] and (t + agent.key) % 2 == 0:
                spoken[i] = agent.watch(t, x[i])
        else:
            p = agent.predict(t, t, NOW, False)
            knows = bool((agent.count > 0).any())
            others = any(said[o][0] == READING for o in agent.near[1:])
            kind = ESTIMATE if knows and others else GUESS
            guess = agent.restore(p[0], p[3]) if knows else np.nan
            spoken[i] = kind, guess, 0, 0
            if flag[i] == SUSPECT:
                spoken[i] = agent.judge(t, x[i], p, kind)
                flag[i] = ACCEPTED if spoken[i][0] >= READING else SUSPECT
        flag[i] = SHIFT if spoken[i][0] == SHIFTED else flag[i]
    for i, agent in enumerate(agents):
        agent.hear(t, spoken, hearing)
        if replays and t % 4 == 0:
            agent.forget()
        rate = max(0.125, min(0.5, 60 / (t + 1))) if replays else 0.0
        for mode, s in ((FILL, t - agent.W), (NOW, t), (AHEAD, t)):
            u = uniforms(agent.key, t, mode, hearing)
            if s < 0:
                continue
            if agent.heard(s, 0):
                if next(u) < rate:
                    agent.replay(s, t, mode, u)
            elif mode != AHEAD:
                found = put(out[mode], s, i, agent, mode, t)
                if mode == FILL:
                    agent.remember_gap(s, t, u)
                    agent.value[s, 0] = found
        if t >= agent.W:
            agent.learn(t - agent.W)
