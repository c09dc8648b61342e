"""A model of every sensor of a network, from tables to predictions with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from halk._validation import Indices, Matrix, Vector
from halk.data.doctor import read_more
from halk.data.findings import Findings
from halk.data.readings import Readings
from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.data.suspicions import examine_far_out, examine_sizes, sort_readings
from halk.intervals import Intervals
from halk.learners import HALK
from halk.sensing import files, filling, learning
from halk.sensing.choices import Choices, Graph, inputs_of
from halk.sensing.learned import Learned
from halk.sensing.memory import Memory
from halk.sensing.nearness import nearness, threshold
from halk.sensing.reasons import Reason
from halk.sensing.scales import Moments
from halk.sensing.widening import tell_of_widths

COMPARED = 2_000
"""Readings that tell what is near."""

Tell = Callable[[float], None]


class Prediction(NamedTuple):
    """What a sensor would read, and between which values with which certainty.

    Attributes
    ----------
    value, low, high : arrays (n,)
        In the unit of the values. Where nothing near was learned, ``low`` and ``high``
        are NaN: an interval would be a guess.
    """

    value: Vector
    low: Vector
    high: Vector


class SensorModel:
    """A model of every sensor, learned from a table.

    Made by :func:`halk.fit` and by :meth:`load`.

    Attributes
    ----------
    schema : Schema
        Which columns are what, and their units.
    sensors : Sensors
    choices : Choices
        All parameters.
    reasons : tuple of Reason
        Every choice in a sentence.
    learner : HALK
        The functions, of inputs over their widths.
    findings : Findings
        What was said about the table.
    """

    def __init__(
        self,
        schema: Schema,
        sensors: Sensors,
        graph: Graph | None,
        choices: Choices,
        coverage: float,
        learner: HALK,
        spread: float,
    ) -> None:
        self.schema, self.sensors, self.graph = schema, sensors, graph
        self.choices, self.learner = choices, learner
        self.spread = spread  # of the first table: the unit of tolerances
        self.moments = Moments()  # of all values so far
        self.intervals = Intervals(len(sensors.names), coverage, memory=250)
        self.memory = Memory.empty(len(schema.inputs))
        self.learned = Learned.nothing(len(sensors.names))
        self.reasons: tuple[Reason, ...] = ()
        self.findings = Findings()
        self._near: float | None = None

    def __repr__(self) -> str:
        n, V = self.learned.n_readings, len(self.sensors.names)
        what = f"{self.schema.target} of {V} sensors, {n} readings"
        return f"SensorModel({what}, error {self.shown(self.learned.error)})"

    def shown(self, value: float) -> str:
        """Return a value with its unit, as users read it."""
        shown = f"{value:.3g}" if np.isfinite(value) else "-"
        return f"{shown} {self.schema.unit}".strip()

    # learning

    def learn(self, rows: Readings, tell: Tell = lambda share: None) -> Learned:
        """Learn readings that were never learned; return what came of them."""
        self._near = None
        return learning.learn(self, rows, tell)

    def update(
        self,
        readings: Any,
        *,
        missing: Sequence[float | str] = (),
        skip_bad: bool = False,
        tell: Tell = lambda share: None,
    ) -> Update:
        """Go on learning from more readings.

        Readings that were learned before are known again and left out.

        Parameters
        ----------
        readings : path, "-", frame, dataset or dict of columns
            With the columns that the first table had.
        """
        known = self.schema, self.sensors
        found = read_more(readings, *known, missing, skip_bad, has_values=True)
        table, rows, findings = found.table, found.readings, found.findings
        assert table is not None
        assert rows is not None
        read = sort_readings(rows.with_values())
        examine_sizes(table.path, self.schema, read.y, findings, self.memory.y)
        findings.refuse()
        if len(read.y):
            examine_far_out(
                table.path, self.schema, read, self.sensors, findings, self.memory.y
            )
        is_known = self.memory.is_known(read.sensor, read.x, read.y)
        fresh = Readings(read.sensor[~is_known], read.x[~is_known], read.y[~is_known])
        before, widths = self.learned.error, self.choices.parts
        gained = Learned.nothing(len(self.sensors.names))
        if len(fresh.y):
            gained = self.learn(fresh, tell)
            tell_of_widths(self, widths, findings)
        return Update(gained, int(is_known.sum()), before, findings)

    # predicting

    def predict(self, sensor: str, at: Mapping[str, Any]) -> Prediction:
        """Return what a sensor would read.

        Parameters
        ----------
        sensor : str
        at : dict
            Every input by name: a value or several.

        Examples
        --------
        >>> import halk
        >>> table = {"buoy": ["n", "n", "s", "s"], "depth_m": [0, 9, 0, 9],
        ...          "t_C": [20.0, 8.0, 22.0, 10.0]}
        >>> model = halk.fit(table, quick=True)
        >>> model.predict("n", {"depth_m": [0, 9]}).value.round()
        array([20.,  8.])
        """
        names = [one.name for one in self.schema.inputs]
        unknown, lacking = set(at) - set(names), set(names) - set(at)
        if unknown or lacking:
            raise ValueError(
                f"at must give {', '.join(names)}, got {', '.join(map(str, at))}"
            )
        columns = {name: np.atleast_1d(np.asarray(at[name])) for name in names}
        for name, column in columns.items():
            if column.dtype.kind == "M":  # finer than Python has times
                columns[name] = column.astype("datetime64[us]")
        longest = max(len(column) for column in columns.values())
        full = {
            name: list(np.broadcast_to(column, longest).tolist())
            for name, column in columns.items()
        }
        table = {self.schema.sensor: [str(sensor)] * longest} | full
        rows = read_more(table, self.schema, self.sensors).readings
        assert rows is not None
        return self.predicted(rows.sensor, rows.x)

    def predicted(self, agent: Indices, x: Matrix) -> Prediction:
        """Return predictions of sensors by number, at inputs as the schema has them."""
        Z = self.encoded(x, agent)
        value = self.learner.predict_readings(agent, Z)
        half = self.intervals.half_widths()[agent]
        is_far = nearness(self.learner, agent, Z) < self._threshold()
        half[np.isinf(half) | is_far] = np.nan
        return Prediction(value, value - half, value + half)

    def _threshold(self) -> float:
        if self._near is None:
            kept = slice(None, None, len(self.memory.y) // COMPARED + 1)
            agent, x = self.memory.agent[kept], self.memory.x[kept]
            self._near = threshold(self.learner, agent, self.encoded(x, agent))
        return self._near

    def fill(self, readings: Any, *, everywhere: bool = False, **options: Any) -> Any:
        """Return a table with predictions and intervals where values are missing.

        Parameters
        ----------
        readings : path, "-", frame, dataset or dict of columns
            As for :meth:`update`; without the column of values every row is a gap.
        everywhere : bool
            Predict at every row.
        **options
            ``missing`` and ``skip_bad``, as of :meth:`update`.

        Returns
        -------
        frame of the same library, or dict of columns
            With three columns more: the value's name and ``_predicted``, ``_low``,
            ``_high``.
        """
        return filling.fill(self, readings, everywhere=everywhere, **options)

    def encoded(self, x: Matrix, agent: Indices) -> Matrix:
        """Return what the kernel compares."""
        return inputs_of(self.choices, x, agent, self.schema, self.sensors)

    # files

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model; an earlier file is replaced whole, or not at all."""
        files.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SensorModel:
        """Return a model that was saved; it goes on as if it had never stopped."""
        return files.load(path, cls)


class Update(NamedTuple):
    """What came of more readings."""

    learned: Learned
    n_known: int  # that had been learned before
    error_before: float
    findings: Findings
