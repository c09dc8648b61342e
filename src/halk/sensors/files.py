"""Models of networks in files: a safetensors container, replaced whole or not at all.

A method that has a state is saved with it; any other is fitted again from its readings
when the file is opened, which comes to the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from halk._atomic import replacing
from halk.checkpoint import WRONG, Arrays, RefusedError, pack, refuse, unpack
from halk.data.findings import Finding
from halk.data.readings import Readings
from halk.data.schema import Schema
from halk.data.sensors import Sensors
from halk.errors import CheckpointError
from halk.sensors.batches import Batch, restore, state_of
from halk.sensors.comparison import Comparison
from halk.sensors.method import Graph, Site

if TYPE_CHECKING:
    from halk.sensors.model import SensorModel

_STATE = "state."


def save(model: SensorModel, path: str | PathLike[str]) -> None:
    """Save a model whole, or not at all."""
    header = {
        "schema": model.schema.as_dict(), "sensors": model.sensors.as_dict(),
        "batches": list(map(list, model.batches)), "seed": model.site.seed,
        "coverage": model.coverage,
        "comparison": model.comparison.as_dict(),
        "findings": [one.as_dict() for one in model.findings.sorted],
    }  # fmt: skip
    arrays: Arrays = {
        "sensor": model.readings.sensor, "x": model.readings.x, "y": model.readings.y
    }  # fmt: skip
    if model.sensors.positions is not None:
        arrays["positions"] = model.sensors.positions
    if model.sensors.attributes:
        arrays["attributes"] = np.column_stack([*model.sensors.attributes.values()])
    if model.site.graph is not None:
        arrays["pairs"], arrays["tolerance"] = model.site.graph
    header["has_state"] = _put(arrays, _STATE, state_of(model.method))
    with replacing(path) as file:
        file.write(pack({"sensors": header}, arrays))


def _put(arrays: Arrays, prefix: str, state: Mapping[str, NDArray[Any]] | None) -> bool:
    for name, values in (state or {}).items():
        arrays[prefix + name] = np.asarray(values)
    return state is not None


def _take(arrays: Arrays, prefix: str, is_there: bool) -> Arrays | None:
    names = [name for name in arrays if name.startswith(prefix)]
    state = {name.removeprefix(prefix): arrays.pop(name).copy() for name in names}
    return state if is_there else None


def load(path: str | PathLike[str], cls: type[SensorModel]) -> SensorModel:
    """Return the model of a file, or say why it is none."""
    try:
        header, arrays = unpack(Path(path).read_bytes())
        if "sensors" not in header:
            kind = header.get("learner", "another")
            kind = kind["learner"] if isinstance(kind, dict) else kind
            refuse(
                f"holds a {kind} learner, not a model that halk fit made",
                f"load it with {kind}.load, or make a model with `halk fit`",
            )
        return _rebuilt(header["sensors"], arrays, cls)
    except FileNotFoundError:
        raise CheckpointError(
            f"{path} does not exist; check the name, or make it with `halk fit`"
        ) from None
    except IsADirectoryError:
        raise CheckpointError(f"{path} is a folder; give a file in it") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    except RefusedError as refusal:
        raise CheckpointError(f"{path} {refusal}") from None
    except WRONG as error:
        raise CheckpointError(
            f"{path} is not consistent: {type(error).__name__}: {error}; take an older "
            f"copy, or learn again"
        ) from None


def _rebuilt(
    found: dict[str, Any], arrays: Arrays, cls: type[SensorModel]
) -> SensorModel:
    state = _take(arrays, _STATE, found["has_state"])
    own = {name: values.copy() for name, values in arrays.items()}
    graph = Graph(own["pairs"], own["tolerance"]) if "pairs" in own else None
    site = Site(
        Schema.from_dict(found["schema"]), _sensors(found["sensors"], own), graph,
        int(found["seed"]),
    )  # fmt: skip
    rows = Readings(own["sensor"], own["x"], own["y"])
    if not len(rows.sensor) == len(rows.x) == len(rows.y):
        refuse("is not consistent: numbers of readings differ")
    comparison = Comparison.from_dict(found["comparison"])
    batches = tuple(Batch(*map(int, one)) for one in found["batches"])
    method = restore(comparison, site, rows, batches, state)
    model = cls(site, comparison, method, rows, float(found["coverage"]))
    model.findings.found = [
        Finding(one["level"], one["code"], one["message"], one["advice"],
                tuple(one["places"]))
        for one in found["findings"]
    ]  # fmt: skip
    model.batches = batches
    return model


def _sensors(found: dict[str, Any], arrays: Arrays) -> Sensors:
    attributes = {
        str(name): np.ascontiguousarray(arrays["attributes"][:, k])
        for k, name in enumerate(found["attributes"])
    }
    return Sensors(
        tuple(found["names"]), arrays.get("positions"), bool(found["is_geographic"]),
        attributes, tuple(found["columns"]),
    )  # fmt: skip
