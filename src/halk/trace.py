"""What was seen while a network learned: named columns, one row every few steps."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halk._atomic import replacing
from halk._validation import require

__all__ = ["Trace"]

Columns = dict[str, NDArray[Any]]
PathLike = str | os.PathLike[str]

_SUMMARY = (
    "step", "running_loss", "test_error", "disagreement", "violation_worst",
    "order_mean", "order_max", "multiplier_max", "length_scale_median", "bytes",
    "seconds",
)  # fmt: skip
_KEY = b"halk-trace"


class Trace:
    """Measures of a run, in memory.

    Parameters
    ----------
    columns : mapping of str to array (n_rows,)
        Measures of the network.
    agents : mapping of str to array (n_rows, n_agents) or (n_rows, n_agents, n)
        Measures of every agent at the same rows; may be empty.
    metadata : mapping of str to str
        What was run: settings, versions.

    Examples
    --------
    >>> trace = Trace({"step": [10, 20], "loss": [0.5, 0.25]})
    >>> trace["loss"]
    array([0.5 , 0.25])
    >>> trace
    Trace(2 rows: step, loss)
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        agents: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
        self.agents: Columns = {
            name: np.asarray(value) for name, value in (agents or {}).items()
        }
        self.metadata = dict(metadata or {})
        for name, value in (self._columns | self.agents).items():
            rule = f"have one entry per row ({len(self)})"
            require(value.shape[:1] == (len(self),), name, rule, value.shape)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the measures of the network."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return next((len(column) for column in self._columns.values()), 0)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return a column by name."""
        if name not in self._columns:
            known = ", ".join(self.columns)
            raise KeyError(f"column must be one of {known}, got {name!r}")
        return self._columns[name]

    def __repr__(self) -> str:
        return f"Trace({len(self)} rows: {', '.join(self.columns)})"

    def summary(self) -> dict[str, float]:
        """Return the main measures at the last row; empty for a trace without rows.

        Examples
        --------
        >>> Trace({"step": [10, 20], "running_loss": [0.5, 0.25]}).summary()
        {'step': 20, 'running_loss': 0.25}
        """
        if len(self) == 0:
            return {}
        return {name: self[name][-1].item() for name in _SUMMARY if name in self}

    def to_parquet(self, path: PathLike) -> None:
        """Write the trace to a Parquet file, whole or not at all.

        Measures of agents become lists, one entry per agent; metadata go into the
        schema.
        """
        arrow, parquet = _arrow()
        table = {name: arrow.array(column) for name, column in self._columns.items()}
        shapes = {}
        for name, value in self.agents.items():
            size = int(np.prod(value.shape[1:]))
            flat = arrow.array(np.ascontiguousarray(value).ravel())
            table[f"agents.{name}"] = arrow.FixedSizeListArray.from_arrays(flat, size)
            shapes[name] = value.shape[1:]
        content = json.dumps({"shapes": shapes, "metadata": self.metadata})
        with replacing(path) as file:
            made = arrow.table(table).replace_schema_metadata({_KEY: content})
            parquet.write_table(made, file)

    @classmethod
    def from_parquet(cls, path: PathLike) -> Trace:
        """Read a trace that :meth:`to_parquet` wrote.

        Raises
        ------
        ValueError
            If the file is no Parquet file, or not of a trace.
        """
        arrow, parquet = _arrow()
        try:
            with open(path, "rb") as file:
                table = parquet.read_table(file)
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # no such file, no permission, ...
            raise ValueError(f"{path} must be a Parquet file: {error}") from None
        content = (table.schema.metadata or {}).get(_KEY)
        if content is None:
            raise ValueError(f"{path} must be a trace: to_parquet did not write it")
        about = json.loads(content)
        columns = {
            name: table[name].to_numpy()
            for name in table.column_names
            if not name.startswith("agents.")
        }
        agents = {
            name: table[f"agents.{name}"]
            .combine_chunks()
            .flatten()
            .to_numpy()
            .reshape(-1, *shape)
            for name, shape in about["shapes"].items()
        }
        return cls(columns, agents, about["metadata"])


def _arrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'halk[io]'"
        ) from None
