r"""The neighbour model, plain and slow: co-kriging by every sensor from what it hears.

Agent i hears a value per step from itself (j = 0) and its K nearest sensors: a reading,
an estimate, or a guess (an estimate for which nobody read anything at that step). With
transform g, L = 2W lags and decay lam = 1 - 1 / memory::

    MOMENTS   count, mean and variance of each heard sensor, decayed, shrunk to those of
              all heard ones with the weight of one decorrelation time tau
    TABLE     S[k, j, l] <- lam S[k, j, l] + z_k(s) z_j(s - l),  s = t - W;
              A_jk(l) = S lam^(l/2) / n
    PRIOR     B_jk(l) = sqrt(c_j c_k) R_jk ac(l),  R = sill exp(-d / range)
    PREDICT   C = (1 - alpha) A + alpha B + ridge I;  m = c'C^-1 z,  v = C_00 - c'C^-1 c
    step t    judge own reading; say it or an estimate; hear; nowcast t, fill t - W;
              replay; learn row t - W
    REPLAY    hide an own reading behind a remembered gap; score transforms, and pairs
              of ridge and nu; count |z - m| / sqrt v in the histogram of its case

Draws come from splitmix64, anew for each agent, step, mode and hearing. Every function
says in one line what it computes; constants are those of the core.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

FILL, NOW, AHEAD = range(3)
GUESS, ESTIMATE, READING, SHIFTED, RETURNED = range(5)
EDGES = 20 * np.exp(-np.log(200) * np.arange(40, -1, -1) / 40)
MIDDLE = np.sqrt(EDGES[1:] * EDGES[:-1])
PRIOR = (
    10 * np.exp(-(MIDDLE**2) / 2) * MIDDLE / np.sum(np.exp(-(MIDDLE**2) / 2) * MIDDLE)
)
RIDGE, NU = (0.002, 0.01, 0.05), np.array([3.0, 12.0, 50.0])
RANGES = np.array([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 25.0])
MASK = 2**64 - 1


def uniforms(key: int, step: int, mode: int, hearing: int) -> Iterator[float]:
    """Yield the draws of a step: splitmix64."""
    which = 8 * step + 2 * mode + (1 if hearing == 0 else 0) + 1
    state = (key + which * 0xD1B54A32D192ED03) & MASK
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def log_uniform(u: float, n: int) -> int:
    """Return a number from 1 to n, its logarithm uniform."""
    return min(int(np.exp(u * np.log(n + 1.0))), n)


def forward(x: Any, g: int) -> Any:
    """Return x under transform g: identity, root, log(1 + x)."""
    x = np.asarray(x, float) if g == 0 else np.maximum(x, 0.0)
    return (x, np.sqrt(np.abs(x)), np.log1p(np.abs(x)))[g]


def inverse(y: Any, g: int) -> Any:
    """Return what transform g makes y of."""
    if g == 0:
        return y
    y = np.clip(y, 0, 1e25 if g == 1 else 115)
    return y**2 if g == 1 else np.expm1(y)


class Agent:
    """One sensor and what it heard; ``said`` are messages (kind, value, old, new)."""

    def __init__(self, near: Any, blind: Any, apart: Any, key: int, c: Any) -> None:
        self.near, self.blind, self.key, self.c = near, blind, key, c
        self.k1, self.W = len(near), c["window"]
        self.L = 2 * self.W + 1
        self.lam = 1 - 1 / c["memory"]
        off = apart.sum()
        self.d = apart / (off / (self.k1 * (self.k1 - 1)) if off > 0 else 1.0)
        k1 = self.k1
        self.count, self.mean, self.square = np.zeros(k1), *np.zeros((2, 3, k1))
        self.centre, self.sd = np.zeros((3, k1)), np.ones((3, k1))
        self.S, self.n = np.zeros((k1, k1, self.L), np.float32), 1e-9
        self.ac, self.cross = np.zeros(self.L), np.zeros((k1, k1))
        self.alpha, self.tau, self.age, self.nonneg = np.ones(3), 1.0, 0, True
        self.loss, self.told_loss = np.zeros((3, 4, 3)), np.zeros((3, 4, 3))
        self.loss[:, 1:], self.loss[:, 2, 2] = 1e-9, 0
        self.chosen = np.array([[0, 1, 2]] * 3)
        self.score, self.told_score = np.zeros((3, 8, 40)), np.zeros((3, 8, 40))
        self.gaps: list[Any] = []
        self.repeats = self.pairs = 0
        self.early = np.zeros((k1, 7))
        self.started = False
        self.rewind()

    def rewind(self) -> None:
        """Forget what was heard last; start from early moments."""
        if self.started:
            self.count, rest = self.early[:, 0].copy(), self.early[:, 1:].T
            self.mean, self.square = rest[:3].copy(), rest[3:].copy()
            self.shrink()
        self.started = True
        self.value: dict[tuple[int, int], float] = {}
        self.kind: dict[tuple[int, int], int] = {}
        self.lagged = np.zeros((self.k1, self.L), np.float32)
        self.last, self.run = np.nan, 0
        self.saved: dict[int, Any] = {}
        self.rejects: list[Any] = []
        self.recent: list[Any] = []
        self.shifted: Any = None
        self.back = self.run_start = self.first = 0
        self.is_stuck = False

    def heard(self, u: int, j: int) -> bool:
        """Return whether j read something at step u."""
        return self.kind.get((u, j), GUESS) >= READING

    def z(self, x: float, g: int, j: int = 0) -> float:
        """Return a value of sensor j, standardized."""
        return float((forward(x, g) - self.centre[g, j]) / self.sd[g, j])

    def restore(self, m: float, g: int) -> float:
        """Return an own reading, from a standardized one."""
        return float(inverse(self.centre[g, 0] + self.sd[g, 0] * np.clip(m, -6, 6), g))

    # ------------------------------------------------------------------- hear

    def hear(self, t: int, said: Any, hearing: int) -> None:
        """Take in the values of step t."""
        self.age += 1
        for j, o in enumerate(self.near):
            kind, x, old, new = said[o]
            self.value[t, j], self.kind[t, j] = x, kind
            step = [float(forward(new, g) - forward(old, g)) for g in range(3)]
            if kind == SHIFTED:
                self.saved[j] = t, self.count[j], *self.mean[:, j], *self.square[:, j]
                keep = np.clip(self.count[j], 12, 50)
                if self.count[j] <= 1:
                    self.mean[:, j] = [forward(old, g) for g in range(3)]
                share = keep / self.count[j] if self.count[j] > 1 else 0.0
                self.mean[:, j] += step
                self.square[:, j] *= share
                self.count[j] = keep
            if kind == RETURNED and j in self.saved:
                since, count, *rest = self.saved.pop(j)
                self.mean[:, j] = rest[:3]
                self.square[:, j] = np.array(rest[3:]) * self.lam ** (t - since)
                self.count[j] = count * self.lam ** (t - since)
                for u in range(max(since, t - 2 * self.W), t):
                    self.value[u, j], self.kind[u, j] = np.nan, GUESS
            self.count[j] *= self.lam
            self.square[:, j] *= self.lam
            if kind >= READING or (self.count[j] > 0 and not np.isnan(x)):
                self.add(j, x, 1.0)
            if kind >= READING and x < 0:
                self.nonneg, self.chosen[:, 0] = False, 0
            later = j in self.saved and self.early[j, 0] >= 12
            if hearing == 0 and t < self.c["memory"] and not later:
                self.early[j] = self.count[j], *self.mean[:, j], *self.square[:, j]
        early = hearing == 0 and t < 2 * self.W and (t < 8 or t % 4 == 0)
        if early and self.c["is_robust"]:
            self.clean_start(t)
        self.shrink()

    def add(self, j: int, x: float, weight: float) -> None:
        """Count a value of sensor j."""
        self.count[j] += weight
        for g in range(3):
            apart = forward(x, g) - self.mean[g, j]
            self.mean[g, j] += apart * weight / self.count[j]
            self.square[g, j] += weight * apart * (forward(x, g) - self.mean[g, j])

    def clean_start(self, t: int) -> None:
        """Count again, without values 10 MADs off both their sensor and their step."""
        of = {j: [u for u in range(t + 1) if self.heard(u, j)] for j in range(self.k1)}
        every = np.array([self.value[u, j] for j in of for u in of[j]])
        if len(every) < 5:
            return
        middle = np.median(every)
        spread = np.median(np.abs(every - middle))
        self.nonneg = True
        for j in [j for j in of if of[j]]:
            own = np.array([self.value[u, j] for u in of[j]])
            m, d = middle, spread
            if len(own) >= 5:
                m = np.median(own)
                d = max(np.median(np.abs(own - m)), 0.25 * spread)
            self.count[j], self.mean[:, j], self.square[:, j] = 0, 0, 0
            for u in range(t + 1):
                x = self.value[u, j]
                if self.heard(u, j) and abs(x - m) > 10 * d > 0:
                    now = [self.value[u, k] for k in of if self.heard(u, k)]
                    if abs(x - np.median(now)) > 10 * d:
                        x = self.value[u, j] = float(m)
                        self.kind[u, j] = GUESS
                if not np.isnan(x):
                    self.add(j, x, self.lam ** (t - u))
                    self.nonneg = self.nonneg and x >= 0
        if not self.nonneg:
            self.chosen[:, 0] = 0

    def shrink(self) -> None:
        """Mean and std per heard sensor, shrunk to those of all."""
        n = self.count.sum()
        if n <= 0:
            return
        for g in range(3):
            m = self.count @ self.mean[g] / n
            v = np.sum(self.square[g] + self.count * (self.mean[g] - m) ** 2) / n
            total = self.count + self.tau
            self.centre[g] = (self.count * self.mean[g] + self.tau * m) / total
            own = self.square[g] + self.count * (self.mean[g] - self.centre[g]) ** 2
            least = 1e-6 * v + 1e-20 * m * m + 1e-200
            self.sd[g] = np.sqrt((own + self.tau * v) / total + least)

    # ---------------------------------------------------------------- predict

    def inputs(self, at: int, last: int, mode: int, hide: Any, used: Any) -> Any:
        """Return inputs (sensor, step, is estimate) for the own reading at ``at``."""
        W = self.W
        reach = 2 * W if mode == AHEAD else W
        stale = reach if mode == AHEAD else min(self.c["stale"], W)
        first = max(at - reach, 0, last - 2 * W)
        end = min(at + W, last) if mode == FILL else min(at - 1, last)
        rows: list[Any] = []
        own, nearest = [], 2 * W + 1

        def heard(j: int, side: int, far: int) -> list[int]:
            steps = range(max(hide[side][j], 1), far + 1)
            us = [at + (2 * side - 1) * w for w in steps]
            return [u for u in us if first <= u <= end and self.heard(u, j)]

        for side in range(2):
            two = heard(0, side, 2 * W)[:2]
            rows += [(0, u, False) for u in two]
            own.append(two[0] if two else -1)
            nearest = min([nearest] + [abs(at - u) for u in two])
        p = self.c["period"]
        for side in range(2 if mode == FILL else 1):
            if p > 0 and nearest > 3:
                u, sign = at, 2 * side - 1
                u += sign * p
                while abs(u - at) < max(hide[side][0], 1) or (side == 0 and u > end):
                    u += sign * p
                new = u not in [row[1] for row in rows]
                if new and first <= u <= end and self.heard(u, 0):
                    rows.append((0, u, False))
        for j in range(1, self.k1):
            if hide[0][j] == 0 and at <= last and self.heard(at, j):
                rows.append((j, at, False))
                rows += [(j, u, False) for u in own if u >= 0 and self.heard(u, j)]
                continue
            if hide[0][j] == 0 and used[j] and self.kind.get((at, j)) == ESTIMATE:
                rows.append((j, at, True))
            rows += [(j, u, False) for s in (0, 1) for u in heard(j, s, stale)[:1]]
        limits = (2, 8, 24) if mode == AHEAD else (1, 3, 11)
        case = sum(nearest > limit for limit in limits)
        if not any(u == at and not e for _, u, e in rows):
            case += 4
        return rows, case

    def covariances(self, rows: Any, at: int) -> Any:
        """Return A and B of inputs and target."""
        points = [*rows, (0, at, False)]
        n = len(points)
        A, B = np.zeros((n, n)), np.zeros((n, n))
        for a, (j, u, e) in enumerate(points):
            for b, (k, v, _) in enumerate(points):
                lag = abs(v - u)
                if lag < self.L:
                    late, early = (k, j) if v >= u else (j, k)
                    A[a, b] = self.S[late, early, lag] * self.lam ** (lag / 2) / self.n
                    B[a, b] = self.cross[j, k] * self.ac[lag]
            A[a, a] += e
            B[a, a] += e
        return A, B

    def condition(self, A: Any, B: Any, alpha: float, ridge: float, z: Any) -> Any:
        """Return mean and std of the last given the others."""
        C = (1 - alpha) * A + alpha * B
        n, least = len(z), 1e-3 * C[-1, -1] + 1e-6
        C[range(n), range(n)] += ridge
        U, y = np.zeros((n, n + 1)), np.zeros(n)
        for i in range(n):
            row = C[i] - U[:i, i] @ U[:i]
            U[i] = row / np.sqrt(row[i]) if row[i] > 1e-6 else 0
            y[i] = (z[i] - U[:i, i] @ y[:i]) / np.sqrt(row[i]) if row[i] > 1e-6 else 0
        m, v = U[:, n] @ y, C[n, n] - U[:, n] @ U[:, n]
        return np.clip(m, -6, 6), np.sqrt(max(v, least))

    def standardize(self, rows: Any, g: int) -> Any:
        """Return the inputs' values."""
        return np.clip([self.z(self.value[u, j], g, j) for j, u, _ in rows], -6, 6)

    def predict(
        self, at: int, last: int, mode: int, used: bool, hidden: int = 0
    ) -> Any:
        """Return mean and std of the standardized reading, its case, the transform."""
        hide = np.zeros((2, self.k1), int)
        hide[0] = at - last if mode == AHEAD else 0
        if hidden:
            hide[:, 0] = hidden
        rows, case = self.inputs(at, last, mode, hide, [used] * self.k1)
        g, r, c = self.chosen[mode]
        A, B = self.covariances(rows, at)
        m, sd = self.condition(A, B, self.alpha[c], RIDGE[r], self.standardize(rows, g))
        return m, sd, case, g

    def estimate(self, mode: int, m: float, sd: float, case: int, g: int) -> Any:
        """Return value, std, low, high and bin."""
        if not (self.count > 0).any():
            return (np.nan, np.nan, np.nan, np.nan), -1
        half = sd * self.quantile(mode, case, 0.83 * (1 - self.c["coverage"]))
        one = sd * self.quantile(mode, case, 0.083) / 1.6448536269514722
        far = max(3.0, abs(m)) if self.age < 8 * self.W else 6.0
        ends = np.clip([m, m + one, m - one, m - half, m + half], -far, far)
        at = [self.restore(e, g) for e in ends]
        return (at[0], (at[1] - at[2]) / 2, at[3], at[4]), case % 4

    def quantile(self, mode: int, case: int, miss: float) -> float:
        """Return the quantile of scores that this share of readings exceeds."""
        counts = self.score[mode, case] + self.told_score[mode, case] + PRIOR
        total = np.append(0, np.cumsum(counts))
        target = min((1 - miss) * (total[-1] + 1), (1 - miss / 4) * total[-1])
        k = min(int(np.argmax(total[1:] >= target)), 39)
        part = np.clip((target - total[k]) / max(counts[k], 1e-12), 0, 1)
        return float(EDGES[k] + part * (EDGES[k + 1] - EDGES[k]))

    # ------------------------------------------------------------ replay, learn

    def replay(self, at: int, last: int, mode: int, u: Iterator[float]) -> None:
        """Hide the own reading at ``at``; score the candidates and the interval."""
        hide = np.zeros((2, self.k1), int)
        used = self.blind
        if mode == AHEAD:
            hide[0] = log_uniform(next(u), 2 * self.W)
            last, used = at - hide[0, 0], [False] * self.k1
        elif len(self.gaps) < 8 or next(u) < 0.25:
            length = log_uniform(next(u), self.W)
            hide[0, 0] = int(next(u) * length) + 1
            hide[1, 0] = length - hide[0, 0] + 1
        else:
            hide = self.gaps[int(next(u) * len(self.gaps))]
        rows, case = self.inputs(at, last, mode, hide, used)
        A, B = self.covariances(rows, at)
        x, unit = self.value[at, 0], self.sd[0, 0]
        g0, r0, c0 = self.chosen[mode]
        self.loss[mode] *= 0.997
        for g in range(3 if self.nonneg else 1):
            z = self.standardize(rows, g)
            for r in range(3):
                for c in range(3):
                    m, sd = self.condition(A, B, self.alpha[c], RIDGE[r], z)
                    error = abs(x - self.restore(m, g)) / unit
                    if g == g0:
                        self.loss[mode, 1 + r, c] += error
                    if (r, c) == (r0, c0):
                        self.loss[mode, 0, g] += error
                    if (g, r, c) == (g0, r0, c0):
                        score = abs(self.z(x, g) - m) / sd
                        k = np.clip(np.searchsorted(EDGES, score) - 1, 0, 39)
                        self.score[mode, case] *= 0.98
                        self.score[mode, case, k] += 1
        total = self.loss[mode] / self.loss[mode, 1:].sum() + self.told_loss[mode]
        g = int(total[0].argmin()) if self.nonneg else 0
        self.chosen[mode] = g, *divmod(int(total[1:].argmin()), 3)

    def forget(self) -> None:
        """Forget losses and scores of four steps."""
        rate = max(2 / (self.age + 2 * self.W), 1 / self.c["memory"])
        self.loss *= max(1 - 4 * rate, 0)
        self.score *= max(1 - 4 * rate, 0)

    def be_told(self, agents: Any) -> None:
        """Learn the neighbours' losses and scores."""
        self.told_loss[:], self.told_score[:] = 0, 0
        for other in (agents[o] for o in self.near[1:]):
            self.told_score += other.score
            for mode in range(3):
                pairs = other.loss[mode, 1:]
                if pairs[0, 0] > 1e-6 and other.nonneg == self.nonneg:
                    self.told_loss[mode] += 0.25 / pairs.sum() * other.loss[mode]

    def remember_gap(self, at: int, last: int, u: Iterator[float]) -> None:
        """Keep who was silent around an own gap, and for how long on each side."""
        e = len(self.gaps)
        if e == 128:
            if next(u) >= 0.25:
                return
            e = int(next(u) * 128)
        gap = np.zeros((2, self.k1), int)
        for side in range(2):
            for j in [j for j in range(self.k1) if not self.heard(at, j)]:
                us = [at + (2 * side - 1) * w for w in range(1, self.W + 1)]
                spoke = [0 <= u <= last and self.heard(u, j) for u in us]
                gap[side, j] = 1 + (spoke.index(True) if any(spoke) else self.W)
        self.gaps[e : e + 1] = [gap]

    def learn(self, at: int) -> None:
        """Take row ``at`` into the table; fit the prior."""
        g = self.chosen[FILL, 0]
        self.lagged[:, 1:] = self.lagged[:, :-1].copy()
        for j in range(self.k1):
            x = self.value[at, j]
            known = self.count[j] > 0 and not np.isnan(x)
            self.lagged[j, 0] = np.clip(self.z(x, g, j), -5, 5) if known else 0
        now = self.lagged[:, 0]
        self.n = self.n * self.lam + 1
        self.S = np.float32(self.lam) * self.S + now[:, None, None] * self.lagged
        if at < 64 or at % 16 == 0:
            self.fit_prior()

    def fit_prior(self) -> None:
        """Fit sill, range and autocorrelation; shrinkage by the rows that count."""
        n, w = self.n, self.n / (self.n + 10)
        now, lags = self.S[:, :, 0].astype(float), np.arange(self.L)
        own = np.diag(now)
        pooled = (
            np.trace(self.S.astype(float)) / (own.sum() + 1e-9) * self.lam ** (lags / 2)
        )
        self.ac = (n * pooled + 10 * np.exp(-lags / 4)) / (n + 10)
        self.tau = max(2 * np.sum(self.ac**2) - 1, 1.0)
        self.alpha = NU / (NU + n / self.tau)
        low = np.tril_indices(self.k1, -1)
        y = (now / np.sqrt(np.outer(own + 1e-3, own + 1e-3)))[low]
        e = np.exp(-self.d[low] / RANGES[:, None])
        num, den = 8 + w * e @ y, 10 + w * np.sum(e**2, axis=1)
        sill = np.clip(num / den, 0, 0.98)
        error = sill**2 * den - 2 * sill * num + (1 - w) * np.log(RANGES / 2) ** 2
        best = int(error.argmin())
        R = sill[best] * np.exp(-self.d / RANGES[best])
        np.fill_diagonal(R, 1)
        self.cross = np.sqrt(np.outer(own + 10, own + 10)) / (n + 10) * R
