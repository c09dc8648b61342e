"""Progressive validation: every reading is first predicted, then learned from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from halk._validation import Indices, Vector, finite_array, integer
from halk._version import __version__
from halk.errors import DivergenceError
from halk.learners.base import Learner
from halk.learners.newton import NewtonHALK
from halk.losses import as_loss
from halk.simulator import Readings, Record
from halk.trace import Columns, Trace

__all__ = ["progressive"]

_MOST_ROWS = 1000

Row = dict[str, float]
Rows = tuple[Row, Columns]
"""A row of the network, and that of its agents."""


def progressive(
    model: Learner,
    X: Any,
    Y: Any,
    every: int | None = None,
    test: tuple[Any, Any, Any] | None = None,
    progress: Callable[[Row], object] | None = None,
    agents: bool = False,
) -> Trace:
    """Let a model learn a stream, and return what was seen on the way.

    The model ends as after ``model.learn_many(X, Y)``, bit for bit.

    Parameters
    ----------
    model : Learner
        Mutated: it learns.
    X : array (n_steps, n_agents, n_features)
    Y : array (n_steps, n_agents)
        NaN where an agent has no reading.
    every : int, at least 1, optional
        Steps per row of the trace; by default so many that there are at most 1000 rows.
        The last row may have fewer.
    test : (agents, X, Y), optional
        Withheld points: who predicts at each, by index or name; inputs (n, n_features);
        targets (n,).
    progress : callable, optional
        Called with every new row, a dict of its columns.
    agents : bool, default False
        Whether to keep order, length scale and loss of every agent too.

    Returns
    -------
    Trace
        With the columns listed under Notes.

    Raises
    ------
    DivergenceError
        If learning diverges. The trace of the full rows before it is not lost: it is
        the error's attribute ``trace``.

    Notes
    -----
    A *window* is the steps since the row before. NaN marks a mean over nothing.

    - ``step``: steps the model has made, earlier calls included.
    - ``loss``, ``running_loss``: mean over the readings of the window, and over all of
      this call, of the loss of the prediction made before learning.
    - ``test_error``: root-mean-square error at the test points after the window; only
      with ``test``.
    - ``disagreement``: mean of ``h`` over the edges asked in the window.
    - ``violation_worst``, ``_mean``, ``_excess`` (mean of what is above 0), ``_share``
      (of edges above 0): of the running mean of ``h - tolerance`` per directed edge
      since the model began.
    - ``order_mean``, ``_max``: atoms, or features, that an agent predicts with;
      ``order_total``: those held in the whole network.
    - ``multiplier_mean``, ``_max``.
    - ``length_scale_median``, ``_min``, ``_max``: for models with one.
    - ``bytes``: sent per agent and step in the window; headers do not count.
    - ``seconds``: spent learning since the call; measuring does not count.

    Columns of edges are left out for a network without any.

    Examples
    --------
    >>> from halk import HALK, Network, kernels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 3, 1))
    >>> model = HALK(Network.path(3, tolerance=0.01), kernel=kernels.Gaussian(0.2))
    >>> trace = progressive(model, X, np.sin(6 * X[..., 0]), every=100)
    >>> trace["step"]
    array([100, 200, 300])
    >>> bool(trace["loss"][-1] < 0.2 * trace["loss"][0])
    True
    """
    n_steps = len(Y) if np.ndim(Y) else 0
    if every is None:
        every = max(1, -(-n_steps // _MOST_ROWS))
    every = integer("every", every, minimum=1)
    pieces = model.dense_pieces(X, Y, n_steps=every)
    if n_steps == 0:
        raise ValueError("X must hold at least one step, got none")
    model.prepare(np.shape(X)[2])
    measure = _Measure(model, np.shape(X)[2], test, agents)
    rows: list[Rows] = []
    try:
        for k, readings in enumerate(pieces):
            rows.append(measure.learn(readings, is_last=(k + 1) * every >= n_steps))
            if progress is not None:
                progress(rows[-1][0])
    except DivergenceError as error:
        error.trace = _make_trace(model, measure.empty, rows)
        raise
    return _make_trace(model, measure.empty, rows)


def measure_model(model: Learner) -> Row:
    """Return the measures of the model as it stands.

    Violations are the running means of ``h - tolerance`` over the model's whole life,
    with 0 for an edge never asked. Measures of edges are left out for a network without
    any, measures of length scales for a model without any.
    """
    order = model.model_order
    row: Row = {
        "order_mean": float(order.mean()),
        "order_max": int(order.max()),
        "order_total": model.n_atoms,
    }
    if model.network.n_edges:
        violations, multipliers = model.violations, model.multipliers
        row |= {
            "violation_worst": float(violations.max()),
            "violation_mean": float(violations.mean()),
            "violation_excess": float(np.maximum(violations, 0.0).mean()),
            "violation_share": float((violations > 0).mean()),
            "multiplier_mean": float(multipliers.mean()),
            "multiplier_max": float(multipliers.max()),
        }
    lengths = model.length_scales
    if lengths is not None:
        row |= {
            "length_scale_median": float(np.median(lengths)),
            "length_scale_min": float(lengths.min()),
            "length_scale_max": float(lengths.max()),
        }
    return row


def make_test(model: Learner, test: Any, n_features: int) -> Callable[[], float]:
    """Return a function that gives the root-mean-square error at some points.

    Parameters
    ----------
    model : Learner
    test : (agents, X, Y)
        Who predicts at each point, n indices or names; inputs (n, n_features); finite
        targets (n,). At least one point.
    n_features : int
    """
    if not isinstance(test, tuple | list) or len(test) != 3:
        raise TypeError(f"test must be (agents, X, Y), got {type(test).__name__}")
    agents, X, Y = test
    if np.ndim(agents) != 1 or len(agents) == 0:
        raise ValueError(f"test agents must be a sequence, not empty, got {agents!r}")
    index = np.array([model.network.index(agent) for agent in agents], np.int64)
    X = finite_array("test X", X, (len(index), n_features))
    Y = finite_array("test Y", Y, (len(index),))
    names = index.tolist()

    def error() -> float:
        miss = model.predict_readings(names, X) - Y
        return float(np.sqrt((miss**2).mean()))

    return error


class _Measure:
    """Lets the model learn one window after another, and measures what happens."""

    def __init__(self, model: Any, n_features: int, test: Any, agents: bool) -> None:
        self._model = model
        self._test = None if test is None else make_test(model, test, n_features)
        self._agents = agents
        self._sent = model.bytes_sent
        self._formula = as_loss(model.loss)
        self._loss, self._readings, self._seconds = 0.0, 0, 0.0
        none, whole = np.zeros(0), np.zeros(0, np.int64)
        row = self._row(Record(none, none, whole), none)
        self.empty = row, self._row_of_agents(whole, none)

    def learn(self, readings: Readings, is_last: bool) -> Rows:
        """Let the model learn a window; return the measures of network and agents."""
        began = perf_counter()
        record = self._model.observe(readings)
        if is_last and isinstance(self._model, NewtonHALK):
            self._model.search_again()
        self._seconds += perf_counter() - began
        losses = self._formula(record.prediction, readings.y)
        self._loss += float(losses.sum())
        self._readings += len(losses)
        return self._row(record, losses), self._row_of_agents(readings.agent, losses)

    def _row(self, record: Record, losses: Vector) -> Row:
        asked, model = int(record.asked.sum()), self._model
        turns = model.network.n_agents * max(len(record.asked), 1)
        row: Row = {
            "step": model.n_steps,
            "loss": _mean(float(losses.sum()), len(losses)),
            "running_loss": _mean(self._loss, self._readings),
        }
        if self._test is not None:
            row["test_error"] = self._test()
        if model.network.n_edges:
            total = float(record.disagreement @ record.asked)
            row["disagreement"] = _mean(total, asked)
        row |= measure_model(model)
        row["bytes"] = (model.bytes_sent - self._sent) / turns
        self._sent = model.bytes_sent
        row["seconds"] = self._seconds
        return row

    def _row_of_agents(self, agent: Indices, losses: Vector) -> Columns:
        if not self._agents:
            return {}
        V, lengths = self._model.network.n_agents, self._model.length_scales
        total = np.bincount(agent, weights=losses, minlength=V)
        times = np.bincount(agent, minlength=V)
        row = {
            "loss": np.where(times, total / np.maximum(times, 1), np.nan),
            "order": self._model.model_order,
        }
        return row if lengths is None else row | {"length_scale": lengths}


def _mean(total: float, number: int) -> float:
    return total / number if number else float("nan")


def _make_trace(model: Learner, empty: Rows, rows: list[Rows]) -> Trace:
    """Return the trace of the rows so far; ``empty`` has names, types and shapes."""
    names = inspect.signature(type(model)).parameters
    listed = ", ".join(f"{name}={getattr(model, name)!r}" for name in names)
    about = {"halk": __version__, "settings": f"{type(model).__name__}({listed})"}
    columns: Columns = {
        name: np.array([row[name] for row, _ in rows], type(value))
        for name, value in empty[0].items()
    }
    agents: Columns = {
        name: np.array([of[name] for _, of in rows], value.dtype).reshape(
            -1, *value.shape
        )
        for name, value in empty[1].items()
    }
    return Trace(columns, agents, about)
